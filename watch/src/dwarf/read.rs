//! The entries of a unit: functions, calls, variables and types.

use super::assemble::Sections;
use super::{Around, Call, Composite, Dwarf, Function, MOST_DEPTH, Place, Type, Variable, place};
use gimli::{AttributeValue, DebuggingInformationEntry, EndianSlice, LittleEndian, UnitHeader, UnitOffset};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use warpsmith_isa::StateSpace;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// Reads one unit.
pub(super) struct Reader<'a, 'd> {
    sections: &'a Sections,
    header: UnitHeader<Slice<'a>>,
    types: FxHashMap<UnitOffset, Type>,
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
        Reader { sections, header, types: FxHashMap::default(), dwarf, left }
    }

    pub(super) fn unit(&mut self) -> gimli::Result<()> {
        let abbreviations = gimli::DebugAbbrev::new(self.sections.get(".debug_abbrev"), LittleEndian);
        let abbreviations = self.header.abbreviations(&abbreviations)?;
        let header = self.header;
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
                        self.dwarf.functions.push(Function { name, linkage, line, text: text.clone() });
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

    fn bounds(&self, entry: &Entry<'a>) -> Option<Range<u64>> {
        let address = |name| match entry.attr_value(name) {
            Some(AttributeValue::Addr(address)) => Some(address),
            _ => None,
        };
        let (low, high) = (address(gimli::DW_AT_low_pc)?, address(gimli::DW_AT_high_pc)?);
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
                    self.dwarf.warnings.push(format!("the location of `{name}`: {why}"));
                    None
                }
            })
            .collect();
        if let (true, Some(bits)) = (places.is_empty(), Self::number(entry, gimli::DW_AT_const_value)) {
            places.push((None, Place::Constant(bits)));
        }
        let space = Self::class(entry).and_then(space);
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
        self.dwarf.warnings.push(format!("the location list at {offset} has no end"));
        found
    }

    fn type_of(&mut self, entry: &Entry<'a>, abbreviations: &gimli::Abbreviations, depth: u32) -> Type {
        match entry.attr_value(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(offset)) => self.type_at(offset, abbreviations, depth),
            Some(AttributeValue::DebugInfoRef(offset)) => match offset.to_unit_offset(&self.header) {
                Some(offset) => self.type_at(offset, abbreviations, depth),
                None => Type::Unknown,
            },
            _ => Type::Unknown,
        }
    }

    fn type_at(&mut self, offset: UnitOffset, abbreviations: &gimli::Abbreviations, depth: u32) -> Type {
        if let Some(known) = self.types.get(&offset) {
            return known.clone();
        }
        if depth > MOST_DEPTH {
            return Type::Unknown;
        }
        // A structure notes that it is being described; circles without one end at the depth.
        let header = self.header;
        let made = match header.entry(abbreviations, offset) {
            Ok(entry) => self.described(&entry, abbreviations, depth + 1),
            Err(error) => {
                self.dwarf.warnings.push(format!("a type: {error}"));
                Type::Unknown
            }
        };
        self.types.insert(offset, made.clone());
        made
    }

    fn described(&mut self, entry: &Entry<'a>, abbreviations: &gimli::Abbreviations, depth: u32) -> Type {
        let name = || self.string(entry, gimli::DW_AT_name).unwrap_or_default();
        let size = Self::number(entry, gimli::DW_AT_byte_size)
            .and_then(|size| u64::try_from(size).ok())
            .unwrap_or(0);
        match entry.tag() {
            gimli::DW_TAG_base_type => {
                let encoding = match entry.attr_value(gimli::DW_AT_encoding) {
                    Some(AttributeValue::Encoding(encoding)) => encoding.0,
                    other => other.and_then(|value| value.udata_value()).unwrap_or(0) as u8,
                };
                let name = name();
                let made = Type::Base(name.as_str().into(), size, encoding);
                self.dwarf.named.insert(name, made.clone());
                made
            }
            gimli::DW_TAG_pointer_type => {
                let space = Self::class(entry).and_then(space).unwrap_or(StateSpace::Generic);
                match self.type_of(entry, abbreviations, depth) {
                    Type::Unknown => Type::Pointer(space, None),
                    to => Type::Pointer(space, Some(Box::new(to))),
                }
            }
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                let space = Self::class(entry).and_then(space).unwrap_or(StateSpace::Generic);
                match self.type_of(entry, abbreviations, depth) {
                    Type::Unknown => Type::Pointer(space, None),
                    to => Type::Reference(space, Box::new(to)),
                }
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let word = if entry.tag() == gimli::DW_TAG_union_type { "union" } else { "struct" };
                let name =
                    format!("{word} {}", self.string(entry, gimli::DW_AT_name).unwrap_or("{...}".into()));
                let made = Arc::new(Composite { name, size, members: OnceLock::new() });
                self.types.insert(entry.offset(), Type::Around(Around(Arc::downgrade(&made))));
                self.dwarf.composites.push(made.clone());
                let mut members = Vec::new();
                for child in self.children(entry, abbreviations) {
                    if child.tag() != gimli::DW_TAG_member {
                        continue;
                    }
                    let ty = self.type_of(&child, abbreviations, depth).by_value();
                    let name = self.string(&child, gimli::DW_AT_name).unwrap_or_default();
                    let offset = member_offset(&child);
                    let width = Self::number(&child, gimli::DW_AT_bit_size);
                    let above = Self::number(&child, gimli::DW_AT_bit_offset);
                    let bits = width.zip(above).and_then(|(width, above)| {
                        let storage = i64::try_from(ty.bytes()).ok()?.checked_mul(8)?;
                        let lowest = storage.checked_sub(above)?.checked_sub(width)?;
                        Some((u32::try_from(lowest).ok()?, u32::try_from(width).ok()?))
                    });
                    members.push((name, ty, offset, bits));
                }
                made.members.get_or_init(|| members);
                Type::Composite(made)
            }
            gimli::DW_TAG_array_type => {
                let mut ty = self.type_of(entry, abbreviations, depth).by_value();
                let children = self.children(entry, abbreviations);
                for child in children.iter().rev().filter(|child| child.tag() == gimli::DW_TAG_subrange_type)
                {
                    let last = Self::number(child, gimli::DW_AT_upper_bound);
                    let count = Self::number(child, gimli::DW_AT_count);
                    let length = count.or(last.and_then(|last| last.checked_add(1))).unwrap_or(0);
                    ty = Type::Array(Box::new(ty), u64::try_from(length).unwrap_or(0));
                }
                ty
            }
            gimli::DW_TAG_enumeration_type => {
                let name = name();
                let children = self.children(entry, abbreviations);
                let scoped =
                    matches!(entry.attr_value(gimli::DW_AT_enum_class), Some(AttributeValue::Flag(true)));
                let names = children.iter().filter_map(|child| {
                    // nvcc gives those of a class of C++ by their linkage names.
                    let known = self.string(child, gimli::DW_AT_name)?;
                    let known = crate::names::demangled(&known).into_owned();
                    let known = if scoped { format!("{name}::{known}") } else { known };
                    Some((known, Self::number(child, gimli::DW_AT_const_value)?))
                });
                let made = Type::Enum(name.as_str().into(), size.max(1), names.collect());
                self.dwarf.named.insert(name, made.clone());
                made
            }
            gimli::DW_TAG_typedef => {
                let made = self.type_of(entry, abbreviations, depth);
                if let (Some(name), false) = (self.string(entry, gimli::DW_AT_name), made == Type::Unknown) {
                    self.dwarf.named.insert(name, made.clone());
                }
                made
            }
            gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {
                self.type_of(entry, abbreviations, depth)
            }
            _ => Type::Unknown,
        }
    }

    fn children(&self, entry: &Entry<'a>, abbreviations: &gimli::Abbreviations) -> Vec<Entry<'a>> {
        let mut found = Vec::new();
        let Ok(mut tree) = self.header.entries_tree(abbreviations, Some(entry.offset())) else {
            return found;
        };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            found.push(child.entry().clone());
        }
        found
    }
}

/// Address classes, as debuggers count them (PTX interoperability guide, 5.2). Registers are no memory.
fn space(class: u64) -> Option<StateSpace> {
    match class {
        4 => Some(StateSpace::Const),
        5 => Some(StateSpace::Global),
        6 => Some(StateSpace::Local),
        7 => Some(StateSpace::Param),
        8 => Some(StateSpace::Shared),
        12 => Some(StateSpace::Generic),
        _ => None,
    }
}

/// `DW_OP_plus_uconst N`, or the number alone.
fn member_offset(entry: &Entry<'_>) -> u64 {
    let bytes = match entry.attr_value(gimli::DW_AT_data_member_location) {
        Some(AttributeValue::Exprloc(expression)) => expression.0,
        Some(AttributeValue::Block(bytes)) => bytes,
        Some(value) => return value.udata_value().unwrap_or(0),
        None => return 0,
    };
    match bytes.slice().split_first() {
        Some((&0x23, mut rest)) => place::unsigned(&mut rest).unwrap_or(0),
        _ => 0,
    }
}
