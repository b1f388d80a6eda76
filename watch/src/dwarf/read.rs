//! The entries of a unit: functions, calls and variables.

mod types;

use super::assemble::Sections;
use super::{Call, Dwarf, Function, Place, Type, Variable};
use gimli::{AttributeValue, DebuggingInformationEntry, EndianSlice, LittleEndian, UnitHeader, UnitOffset};
use std::ops::Range;
use std::sync::Arc;
use warpsmith_base::FxHashMap;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// Reads one unit.
pub(super) struct Reader<'a, 'd> {
    sections: &'a Sections,
    header: UnitHeader<Slice<'a>>,
    types: FxHashMap<UnitOffset, Type>,
    /// The namespaces and classes around what is in one: `geo::Base`.
    around: FxHashMap<UnitOffset, Arc<str>>,
    dwarf: &'d mut Dwarf,
    /// Bytes that may still be read more than once.
    left: &'d mut usize,
}

impl<'a, 'd> Reader<'a, 'd> {
    pub(super) fn new(
        sections: &'a Sections,
        header: UnitHeader<Slice<'a>>,
        dwarf: &'d mut Dwarf,
        left: &'d mut usize,
    ) -> Self {
        Reader { sections, header, types: FxHashMap::default(), around: FxHashMap::default(), dwarf, left }
    }

    pub(super) fn unit(&mut self) -> gimli::Result<()> {
        let abbreviations = gimli::DebugAbbrev::new(self.sections.get(".debug_abbrev"), LittleEndian);
        let abbreviations = self.header.abbreviations(&abbreviations)?;
        let header = self.header;
        self.find_namespaces(&abbreviations)?;
        let mut entries = header.entries(&abbreviations);
        // The bounds of the scopes around, with their depths.
        let mut scopes: Vec<(isize, Option<Range<u64>>, u32)> = Vec::new();
        while let Some(entry) = entries.next_dfs()? {
            let entry = entry.clone();
            let depth = entry.depth();
            while scopes.last().is_some_and(|(at, ..)| *at >= depth) {
                scopes.pop();
            }
            match entry.tag() {
                gimli::DW_TAG_subprogram | gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    let around = scopes.last();
                    let inlined = u32::from(entry.tag() == gimli::DW_TAG_inlined_subroutine);
                    let level = around.map_or(0, |around| around.2).saturating_add(inlined);
                    let own = self.bounds(&entry);
                    if let (gimli::DW_TAG_subprogram, Some(text)) = (entry.tag(), &own)
                        && let Some(name) = self.name_of(&entry, &abbreviations)
                    {
                        let linkage = self.linkage(&entry);
                        let line = Self::number(&entry, gimli::DW_AT_decl_line)
                            .or_else(|| {
                                let origin = self.origin(&entry, &abbreviations)?;
                                Self::number(&origin, gimli::DW_AT_decl_line)
                            })
                            .and_then(|line| u32::try_from(line).ok());
                        let origin = self.origin(&entry, &abbreviations);
                        let result = self.result(origin.as_ref().unwrap_or(&entry), &abbreviations);
                        self.dwarf.functions.push(Function {
                            name,
                            linkage,
                            line,
                            result,
                            text: text.clone(),
                        });
                    }
                    if let (1, Some(text)) = (inlined, &own) {
                        let call = self.call(&entry, text.clone(), level, &abbreviations);
                        self.dwarf.calls.push(call);
                    }
                    let bounds = own.or_else(|| around.and_then(|around| around.1.clone()));
                    scopes.push((depth, bounds, level));
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let inside = !scopes.is_empty();
                    let scope = scopes.last().and_then(|around| around.1.clone());
                    let level = scopes.last().map_or(0, |around| around.2);
                    // Those of a function that was inlined everywhere have no text.
                    if inside == scope.is_some() {
                        self.variable(&entry, scope, level, &abbreviations);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes what stands in namespaces and in classes: types may be asked for before those are passed.
    fn find_namespaces(&mut self, abbreviations: &gimli::Abbreviations) -> gimli::Result<()> {
        /// Longer names of namespaces are cut.
        const MOST_BYTES: usize = 1 << 10;
        let header = self.header;
        let mut entries = header.entries(abbreviations);
        let mut around: Vec<(isize, Option<Arc<str>>)> = Vec::new();
        while let Some(entry) = entries.next_dfs()? {
            let entry = entry.clone();
            while around.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                around.pop();
            }
            let outer = around.last().and_then(|(_, name)| name.clone());
            if let Some(outer) = &outer {
                self.around.insert(entry.offset(), outer.clone());
            }
            let unnamed = match entry.tag() {
                gimli::DW_TAG_namespace => "(anonymous namespace)",
                gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_enumeration_type => "{...}",
                // What is in a function has no name outside of it.
                gimli::DW_TAG_subprogram => {
                    around.push((entry.depth(), None));
                    continue;
                }
                _ => continue,
            };
            let name = self.string(&entry, gimli::DW_AT_name).unwrap_or_else(|| unnamed.into());
            let name = match outer {
                Some(outer) if outer.len() + name.len() > MOST_BYTES => outer,
                Some(outer) => format!("{outer}::{name}").into(),
                None => name.into(),
            };
            around.push((entry.depth(), Some(name)));
        }
        Ok(())
    }

    /// A name with the namespaces and classes that its entry stands in.
    fn qualified(&self, entry: &Entry<'a>, name: &str) -> String {
        match self.around.get(&entry.offset()) {
            Some(around) => format!("{around}::{name}"),
            None => name.to_owned(),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "DWARF has many forms for a number")]
    fn bounds(&self, entry: &Entry<'a>) -> Option<Range<u64>> {
        let Some(AttributeValue::Addr(low)) = entry.attr_value(gimli::DW_AT_low_pc) else { return None };
        let high = match entry.attr_value(gimli::DW_AT_high_pc)? {
            AttributeValue::Addr(high) => high,
            // From DWARF 4 on it may be the difference.
            length => low.checked_add(length.udata_value()?)?,
        };
        (low < high).then_some(low..high)
    }

    /// The entry that describes what this one is a copy of: an inlined function or one of its variables.
    fn origin(&self, entry: &Entry<'a>, abbreviations: &gimli::Abbreviations) -> Option<Entry<'a>> {
        const MOST: u32 = 4;
        let mut found: Option<Entry<'a>> = None;
        for _ in 0..MOST {
            let of = found.as_ref().unwrap_or(entry);
            let next =
                of.attr_value(gimli::DW_AT_abstract_origin).or(of.attr_value(gimli::DW_AT_specification));
            let offset = match next {
                Some(AttributeValue::UnitRef(offset)) => offset,
                Some(AttributeValue::DebugInfoRef(offset)) => offset.to_unit_offset(&self.header)?,
                _ => break,
            };
            found = Some(self.header.entry(abbreviations, offset).ok()?);
        }
        found
    }

    /// The name of an entry, or of what it is a copy of.
    fn name_of(&self, entry: &Entry<'a>, abbreviations: &gimli::Abbreviations) -> Option<String> {
        let own = self.string(entry, gimli::DW_AT_name);
        own.or_else(|| self.string(&self.origin(entry, abbreviations)?, gimli::DW_AT_name))
    }

    fn linkage(&self, entry: &Entry<'a>) -> Option<String> {
        let new = self.string(entry, gimli::DW_AT_linkage_name);
        new.or_else(|| self.string(entry, gimli::DW_AT_MIPS_linkage_name))
    }

    fn call(
        &self,
        entry: &Entry<'a>,
        text: Range<u64>,
        level: u32,
        abbreviations: &gimli::Abbreviations,
    ) -> Call {
        let number = |name| match entry.attr_value(name) {
            Some(AttributeValue::FileIndex(index)) => u32::try_from(index).unwrap_or(0),
            Some(value) => value.udata_value().and_then(|value| u32::try_from(value).ok()).unwrap_or(0),
            None => 0,
        };
        let at = [gimli::DW_AT_call_file, gimli::DW_AT_call_line, gimli::DW_AT_call_column].map(number);
        let linkage = self.linkage(entry).or_else(|| self.linkage(&self.origin(entry, abbreviations)?));
        Call { text, level, function: self.name_of(entry, abbreviations), linkage, at: at.into() }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a name is text")]
    fn string(&self, entry: &Entry<'a>, name: gimli::DwAt) -> Option<String> {
        let text = match entry.attr_value(name)? {
            AttributeValue::String(text) => text,
            AttributeValue::DebugStrRef(offset) => {
                gimli::DebugStr::new(self.sections.get(".debug_str"), LittleEndian).get_str(offset).ok()?
            }
            _ => return None,
        };
        Some(text.to_string_lossy().into_owned())
    }

    fn number(entry: &Entry<'a>, name: gimli::DwAt) -> Option<i64> {
        let value = entry.attr_value(name)?;
        value.sdata_value().or_else(|| value.udata_value().map(|value| value as i64))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "DWARF has many forms for a number")]
    fn class(entry: &Entry<'a>) -> Option<u64> {
        match entry.attr_value(gimli::DW_AT_address_class)? {
            AttributeValue::AddressClass(class) => Some(class.0),
            other => other.udata_value(),
        }
    }

    fn variable(
        &mut self,
        entry: &Entry<'a>,
        scope: Option<Range<u64>>,
        level: u32,
        abbreviations: &gimli::Abbreviations,
    ) {
        let Some(name) = self.name_of(entry, abbreviations) else { return };
        let described = self.origin(entry, abbreviations);
        let name = match scope {
            None => self.qualified(described.as_ref().unwrap_or(entry), &name),
            Some(_) => name,
        };
        let ty = self.type_of(described.as_ref().unwrap_or(entry), abbreviations, 0);
        let parameter = entry.tag() == gimli::DW_TAG_formal_parameter;
        let mut places = Vec::new();
        match entry.attr_value(gimli::DW_AT_location) {
            Some(AttributeValue::Exprloc(expression)) => places.push((None, expression.0)),
            Some(AttributeValue::Block(bytes)) => places.push((None, bytes)),
            Some(AttributeValue::LocationListsRef(offset)) => {
                places.extend(self.list(offset.0).into_iter().map(|(range, bytes)| (Some(range), bytes)));
            }
            Some(AttributeValue::SecOffset(offset)) => {
                places.extend(self.list(offset).into_iter().map(|(range, bytes)| (Some(range), bytes)));
            }
            Some(AttributeValue::Data4(offset)) => {
                places.extend(
                    self.list(offset as usize).into_iter().map(|(range, bytes)| (Some(range), bytes)),
                );
            }
            _ => {}
        }
        let mut places: Vec<_> = places
            .into_iter()
            .filter_map(|(range, bytes)| match Place::read(bytes.slice(), self.sections) {
                Ok(place) => Some((range, place)),
                Err(why) => {
                    let at = entry.offset().to_debug_info_offset(&self.header).map_or(0, |at| at.0);
                    self.dwarf
                        .warnings
                        .push(format!("the location of `{name}` at .debug_info+{at:#x}: {why}"));
                    None
                }
            })
            .collect();
        if let (true, Some(bits)) = (places.is_empty(), Self::number(entry, gimli::DW_AT_const_value)) {
            places.push((None, Place::Constant(bits)));
        }
        let space = Self::class(entry).and_then(types::space);
        self.dwarf.variables.push(Variable { name, ty, parameter, level, scope, space, places });
    }

    /// A list of `.debug_loc`: pairs of addresses with expressions up to a pair of zeros (DWARF 2, 2.4.6).
    fn list(&mut self, offset: usize) -> Vec<(Range<u64>, Slice<'a>)> {
        let all = self.sections.get(".debug_loc");
        let mut found = Vec::new();
        let mut at = offset;
        loop {
            let word =
                |at: usize| Some(u64::from_le_bytes(all.get(at..at.checked_add(8)?)?.try_into().ok()?));
            let length =
                |at: usize| Some(u16::from_le_bytes(all.get(at..at.checked_add(2)?)?.try_into().ok()?));
            let (Some(from), Some(to)) = (word(at), at.checked_add(8).and_then(word)) else { break };
            if (from, to) == (0, 0) {
                return found;
            }
            let Some(len) = length(at + 16).map(usize::from) else { break };
            let Some(bytes) = all.get(at + 18..at + 18 + len) else { break };
            *self.left = self.left.saturating_sub(18 + len);
            if *self.left == 0 {
                return found;
            }
            if from < to {
                found.push((from..to, EndianSlice::new(bytes, LittleEndian)));
            }
            at += 18 + len;
        }
        self.dwarf.warnings.push(format!("the location list at .debug_loc+{offset:#x} has no end"));
        found
    }

    /// The entries right below one. Each entry that is passed on the way is charged for, because entries may nest deep, and each may be asked
    /// for those below it.
    fn children(&mut self, entry: &Entry<'a>, abbreviations: &gimli::Abbreviations) -> Vec<Entry<'a>> {
        let mut found = Vec::new();
        let header = self.header;
        let Ok(mut entries) = header.entries_at_offset(abbreviations, entry.offset()) else { return found };
        if !entry.has_children() || !matches!(entries.next_dfs(), Ok(Some(_))) {
            return found;
        }
        while *self.left > 0
            && let Ok(Some(child)) = entries.next_dfs()
            && child.depth() > 0
        {
            *self.left -= 1;
            if child.depth() == 1 {
                found.push(child.clone());
            }
        }
        found
    }
}
