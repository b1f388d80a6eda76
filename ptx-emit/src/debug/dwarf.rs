//! The entries of `.debug_info`: units, types, functions, scopes, variables.

use super::section::{Bytes, Packer, push};
use super::{Class, Debug, Described, Located, Place, lines};
use crate::module::Plan;
use crate::names::Names;
use gimli::constants::*;
use gimli::write::{
    Address, AttributeValue, Dwarf, Expression, LineProgram, LineString, Location, LocationList, Sections,
    Unit, UnitEntryId, UnitId,
};
use gimli::{Encoding, Format, LineEncoding, SectionId};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_ir as ir;
use warpsmith_ir::debug::{self as source, DebugInfo, DebugType, ScopeKind, VariableKind};
use warpsmith_ir::entity::SecondaryMap;
use warpsmith_ir::{DebugTypeId, ScopeId};
use warpsmith_ptx::{Data, Module, Symbol};

/// DWARF 2, whose forms are those that ptxas walks.
const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 2, address_size: 8 };

/// The unit that everything is in.
const WHOLE: usize = 0;

/// Puts the sections of a module behind its functions: strings that `.loc` names, and with [`Debug::Full`] everything else.
pub(crate) fn sections(
    tree: &mut Module,
    plan: &Plan<'_>,
    functions: &[Described],
    names: &Names,
    strings: &lines::Strings,
) -> Result<(), Box<Diagnostic>> {
    let mut packer = Packer::default();
    let module = plan.module;
    if plan.debug == Debug::Full {
        let mut writer = Writer {
            dwarf: Dwarf::default(),
            units: Vec::new(),
            module,
            info: module.debug.as_deref(),
            symbols: Vec::new(),
            numbers: HashMap::default(),
            abstracts: HashMap::default(),
            calls: HashMap::default(),
            shared: HashMap::default(),
        };
        writer.unit();
        for scope in
            module.functions.values().filter_map(|func| func.debug.as_ref()).flat_map(|d| d.scopes.values())
        {
            if let ScopeKind::Inlined(of) = scope.kind {
                *writer.calls.entry(of).or_default() += 1;
            }
        }
        writer.globals(&names.globals);
        for described in functions {
            writer.function(described);
        }
        writer.types();
        let Writer { mut dwarf, symbols, .. } = writer;
        let mut sections = Sections::new(Bytes::new());
        let written = dwarf.write(&mut sections);
        written.map_err(|error| {
            Diagnostic::error(
                "E0005",
                Span::NONE,
                format!("the debug information cannot be written: {error}"),
            )
        })?;
        for id in [SectionId::DebugAbbrev, SectionId::DebugInfo, SectionId::DebugLoc] {
            let Some(bytes) = sections.get(id) else { continue };
            let needed = id != SectionId::DebugLoc;
            let pieces = bytes.pieces(tree, &mut packer, &symbols);
            if needed || !pieces.is_empty() {
                push(tree, id.name(), &pieces);
            }
        }
    }
    let mut pieces = Vec::new();
    for (name, label) in strings.all() {
        pieces.push(Data::Label(*label));
        let mut bytes = clean(name);
        bytes.push(0);
        packer.plain(tree, &bytes, &mut pieces);
    }
    if !pieces.is_empty() {
        push(tree, SectionId::DebugStr.name(), &pieces);
    }
    Ok(())
}

/// The bytes of a name; the end of a string cannot be in one.
fn clean(name: &str) -> Vec<u8> {
    name.bytes().map(|byte| if byte == 0 { b'?' } else { byte }).collect()
}

struct OneUnit {
    id: UnitId,
    /// The entries of types that something names.
    types: HashMap<DebugTypeId, UnitEntryId, FxBuildHasher>,
    /// Those that are not filled yet.
    work: Vec<(DebugTypeId, UnitEntryId)>,
}

struct Writer<'a> {
    dwarf: Dwarf,
    units: Vec<OneUnit>,
    module: &'a ir::Module,
    info: Option<&'a DebugInfo>,
    /// What numbered symbols are called.
    symbols: Vec<Symbol>,
    numbers: HashMap<Symbol, usize, FxBuildHasher>,
    /// The entries of functions that were inlined.
    abstracts: HashMap<(usize, ir::SubprogramId), UnitEntryId, FxBuildHasher>,
    /// How often each function was inlined.
    calls: HashMap<ir::SubprogramId, u32, FxBuildHasher>,
    /// The entries of the variables of functions that were inlined more often than a few times, as their source has them.
    shared: HashMap<Inherited<'a>, UnitEntryId, FxBuildHasher>,
}

/// A variable of a function as its source has it, in a unit.
type Inherited<'a> = (usize, ir::SubprogramId, VariableKind, &'a str, DebugTypeId, source::Declared);

/// A function that is inlined so often has its variables described once, and each call says where they are: with fewer calls that is longer.
const SHARED_FROM: u32 = 3;

impl<'a> Writer<'a> {
    fn unit(&mut self) {
        let none = source::Unit {
            file: ir::FileId::from_u32(0),
            producer: String::new(),
            language: 0x8001,
            directory: String::new(),
        };
        // One for all: ptxas 13.0 reads the abbreviations of each unit where the first unit's begin, whatever its header says, and
        // `gimli` writes each unit its own. The files and types of all units have numbers of the module's anyway; what is lost is who made which.
        let unit = self.info.and_then(|info| info.units.values().next().cloned()).unwrap_or(none);
        let text = |text: &str| LineString::String(text.as_bytes().to_vec());
        // ptxas makes the line table, whose files are those of `.file`. The one that is made here is dropped, and is not empty so that the unit
        // refers to one.
        let mut program =
            LineProgram::new(ENCODING, LineEncoding::default(), text("."), None, text("."), None);
        program.begin_sequence(Some(Address::Constant(0)));
        program.end_sequence(0);
        let id = self.dwarf.units.add(Unit::new(ENCODING, program));
        let producer = match unit.producer.as_str() {
            "" => concat!("Warpsmith ", env!("CARGO_PKG_VERSION")),
            producer => producer,
        };
        let name = self.module.files.get(unit.file).map_or("", String::as_str);
        let attributes = [
            (DW_AT_producer, self.string(producer)),
            (DW_AT_language, AttributeValue::Data2(unit.language)),
            (DW_AT_name, self.string(name)),
            (DW_AT_comp_dir, self.string(&unit.directory)),
            (DW_AT_stmt_list, AttributeValue::LineProgramRef),
            // What the addresses of location lists are added to.
            (DW_AT_low_pc, AttributeValue::Address(Address::Constant(0))),
        ];
        let made = self.dwarf.units.get_mut(id);
        let root = made.root();
        let told =
            attributes.into_iter().filter(|(name, _)| *name != DW_AT_comp_dir || !unit.directory.is_empty());
        told.for_each(|(name, value)| made.get_mut(root).set(name, value));
        self.units.push(OneUnit { id, types: HashMap::default(), work: Vec::new() });
    }

    /// A string in its place: behind a `DW_FORM_strp`, ptxas loses its way (13.5 and before; nvcc writes none either).
    fn string(&mut self, text: &str) -> AttributeValue {
        AttributeValue::String(clean(text))
    }

    fn symbol(&mut self, symbol: Symbol) -> Address {
        let next = self.symbols.len();
        let index = *self.numbers.entry(symbol).or_insert(next);
        if index == next {
            self.symbols.push(symbol);
        }
        Address::Symbol { symbol: index, addend: 0 }
    }

    fn add(&mut self, unit: usize, parent: UnitEntryId, tag: gimli::DwTag) -> UnitEntryId {
        self.dwarf.units.get_mut(self.units[unit].id).add(parent, tag)
    }

    fn set(&mut self, unit: usize, entry: UnitEntryId, name: gimli::DwAt, value: AttributeValue) {
        self.dwarf.units.get_mut(self.units[unit].id).get_mut(entry).set(name, value);
    }

    fn root(&self, unit: usize) -> UnitEntryId {
        self.dwarf.units.get(self.units[unit].id).root()
    }

    fn name(&mut self, unit: usize, entry: UnitEntryId, name: &str) {
        if !name.is_empty() {
            let value = self.string(name);
            self.set(unit, entry, DW_AT_name, value);
        }
    }

    fn declared(&mut self, unit: usize, entry: UnitEntryId, at: source::Declared) {
        if let Some(file) = self.file(at.file).filter(|_| at.line > 0) {
            self.set(unit, entry, DW_AT_decl_file, file);
            self.line(unit, entry, at.line);
        }
    }

    fn line(&mut self, unit: usize, entry: UnitEntryId, line: u32) {
        if line > 0 {
            self.set(unit, entry, DW_AT_decl_line, AttributeValue::Udata(line.into()));
        }
    }

    /// The number of a file, which is that of its `.file`.
    fn file(&self, file: ir::FileId) -> Option<AttributeValue> {
        self.module.files.get(file)?;
        Some(AttributeValue::Udata(u64::from(file.as_u32()) + 1))
    }

    fn has_type(&mut self, unit: usize, entry: UnitEntryId, ty: DebugTypeId) {
        let ty = self.type_entry(unit, ty);
        self.set(unit, entry, DW_AT_type, AttributeValue::UnitRef(ty));
    }

    // Types.

    /// The entry of a type, which is filled at the end.
    fn type_entry(&mut self, unit: usize, ty: DebugTypeId) -> UnitEntryId {
        if let Some(entry) = self.units[unit].types.get(&ty) {
            return *entry;
        }
        let tag = match self.info.and_then(|info| info.types.get(ty)) {
            Some(DebugType::Base { .. }) | None => DW_TAG_base_type,
            Some(DebugType::Pointer { .. }) => DW_TAG_pointer_type,
            Some(DebugType::Reference { .. }) => DW_TAG_reference_type,
            Some(DebugType::Composite { kind: source::Composite::Struct, .. }) => DW_TAG_structure_type,
            Some(DebugType::Composite { kind: source::Composite::Union, .. }) => DW_TAG_union_type,
            Some(DebugType::Composite { kind: source::Composite::Class, .. }) => DW_TAG_class_type,
            Some(DebugType::Array { .. } | DebugType::Vector { .. }) => DW_TAG_array_type,
            Some(DebugType::Enum { .. }) => DW_TAG_enumeration_type,
            Some(DebugType::Typedef { .. }) => DW_TAG_typedef,
            Some(DebugType::Const(_)) => DW_TAG_const_type,
            Some(DebugType::Volatile(_)) => DW_TAG_volatile_type,
            Some(DebugType::Function { .. }) => DW_TAG_subroutine_type,
        };
        let root = self.root(unit);
        let entry = self.add(unit, root, tag);
        let one = &mut self.units[unit];
        one.types.insert(ty, entry);
        one.work.push((ty, entry));
        entry
    }

    fn types(&mut self) {
        for unit in 0..self.units.len() {
            while let Some((ty, entry)) = self.units[unit].work.pop() {
                self.describe(unit, ty, entry);
            }
        }
    }

    fn describe(&mut self, unit: usize, ty: DebugTypeId, entry: UnitEntryId) {
        let Some(info) = self.info else { return };
        let Some(ty) = info.types.get(ty) else { return };
        let bytes = |size: u64| AttributeValue::Udata(size);
        match ty {
            DebugType::Base { name, size, encoding } => {
                self.name(unit, entry, name);
                self.set(unit, entry, DW_AT_byte_size, bytes((*size).into()));
                let encoding = match encoding {
                    source::Encoding::Address => DW_ATE_address,
                    source::Encoding::Boolean => DW_ATE_boolean,
                    source::Encoding::Float => DW_ATE_float,
                    source::Encoding::Signed => DW_ATE_signed,
                    source::Encoding::SignedChar => DW_ATE_signed_char,
                    source::Encoding::Unsigned => DW_ATE_unsigned,
                    source::Encoding::UnsignedChar => DW_ATE_unsigned_char,
                };
                self.set(unit, entry, DW_AT_encoding, AttributeValue::Data1(encoding.0));
            }
            DebugType::Pointer { to, space } => {
                if let Some(to) = to {
                    self.has_type(unit, entry, *to);
                }
                self.set(unit, entry, DW_AT_byte_size, bytes(8));
                let class = AttributeValue::Data1(Class::of(*space) as u8);
                self.set(unit, entry, DW_AT_address_class, class);
            }
            DebugType::Reference { to } => {
                self.has_type(unit, entry, *to);
                self.set(unit, entry, DW_AT_byte_size, bytes(8));
                self.set(unit, entry, DW_AT_address_class, AttributeValue::Data1(Class::Generic as u8));
            }
            DebugType::Composite { name, size, declared, members, .. } => {
                self.name(unit, entry, name);
                self.set(unit, entry, DW_AT_byte_size, bytes(*size));
                if let Some(declared) = declared {
                    self.declared(unit, entry, *declared);
                }
                for member in members {
                    self.member(unit, entry, member);
                }
            }
            DebugType::Array { element, dimensions } => {
                self.has_type(unit, entry, *element);
                for length in dimensions {
                    self.dimension(unit, entry, *length);
                }
            }
            DebugType::Vector { element, lanes } => {
                self.set(unit, entry, DW_AT_GNU_vector, AttributeValue::Flag(true));
                self.has_type(unit, entry, *element);
                self.dimension(unit, entry, (*lanes).into());
            }
            DebugType::Enum { name, base, enumerators } => {
                self.name(unit, entry, name);
                let size = info.size_of(*base).unwrap_or(4);
                self.set(unit, entry, DW_AT_byte_size, bytes(size));
                for source::Enumerator { name, value } in enumerators {
                    let one = self.add(unit, entry, DW_TAG_enumerator);
                    self.name(unit, one, name);
                    self.set(unit, one, DW_AT_const_value, AttributeValue::Sdata(*value));
                }
            }
            DebugType::Typedef { name, of } => {
                self.name(unit, entry, name);
                self.has_type(unit, entry, *of);
            }
            DebugType::Const(of) | DebugType::Volatile(of) => self.has_type(unit, entry, *of),
            DebugType::Function { params, ret } => {
                self.set(unit, entry, DW_AT_prototyped, AttributeValue::Flag(true));
                if let Some(ret) = ret {
                    self.has_type(unit, entry, *ret);
                }
                for param in params {
                    let one = self.add(unit, entry, DW_TAG_formal_parameter);
                    self.has_type(unit, one, *param);
                }
            }
        }
    }

    fn member(&mut self, unit: usize, composite: UnitEntryId, member: &source::Member) {
        let entry = self.add(unit, composite, DW_TAG_member);
        self.name(unit, entry, &member.name);
        self.has_type(unit, entry, member.ty);
        if let Some((width, from)) = member.bits {
            // DWARF 2 counts from the highest bit of the storage (5.5.4).
            let storage = self.info.and_then(|info| info.size_of(member.ty)).unwrap_or(4);
            let above = (storage * 8).saturating_sub(u64::from(width) + u64::from(from));
            self.set(unit, entry, DW_AT_byte_size, AttributeValue::Udata(storage));
            self.set(unit, entry, DW_AT_bit_size, AttributeValue::Udata(width.into()));
            self.set(unit, entry, DW_AT_bit_offset, AttributeValue::Udata(above));
        }
        let mut place = Expression::new();
        place.op_plus_uconst(member.offset);
        self.set(unit, entry, DW_AT_data_member_location, AttributeValue::Exprloc(place));
    }

    fn dimension(&mut self, unit: usize, array: UnitEntryId, length: u64) {
        let entry = self.add(unit, array, DW_TAG_subrange_type);
        if let Some(last) = length.checked_sub(1) {
            self.set(unit, entry, DW_AT_upper_bound, AttributeValue::Udata(last));
        }
    }

    // What there is of the program.

    fn globals(&mut self, names: &SecondaryMap<ir::GlobalId, Symbol>) {
        let Some(info) = self.info else { return };
        for variable in &info.globals {
            let Some(global) = self.module.globals.get(variable.global) else { continue };
            let unit = WHOLE;
            let root = self.root(unit);
            let entry = self.add(unit, root, DW_TAG_variable);
            if global.name != variable.name {
                let name = self.string(&global.name);
                self.set(unit, entry, DW_AT_MIPS_linkage_name, name);
            }
            self.name(unit, entry, &variable.name);
            self.has_type(unit, entry, variable.ty);
            self.declared(unit, entry, variable.declared);
            if global.linkage.is_visible() {
                self.set(unit, entry, DW_AT_external, AttributeValue::Flag(true));
            }
            let place = Place::Symbol(names[variable.global], 0, Class::of(global.space));
            self.location(unit, entry, std::iter::once((None, &place)));
        }
    }

    fn function(&mut self, described: &Described) {
        let module = self.module;
        let func = &module.functions[described.id];
        let (Some(info), Some(debug)) = (self.info, &func.debug) else {
            // A function without a source is told by its symbol.
            let root = self.root(0);
            let entry = self.add(0, root, DW_TAG_subprogram);
            self.name(0, entry, &func.name);
            self.code(0, entry, described.begin, described.end);
            return;
        };
        let subprogram = &info.subprograms[debug.subprogram];
        let unit = WHOLE;
        let root = self.root(unit);
        let entry = self.add(unit, root, DW_TAG_subprogram);
        self.subprogram(unit, entry, subprogram, Some(&func.name));
        if func.linkage != ir::Linkage::Local {
            self.set(unit, entry, DW_AT_external, AttributeValue::Flag(true));
        }
        self.code(unit, entry, described.begin, described.end);
        // What ptxas makes of places on the stack counts from it.
        if described.locations.iter().any(|located| located.place.on_stack()) {
            let frame = Expression::raw(vec![DW_OP_call_frame_cfa.0]);
            self.set(unit, entry, DW_AT_frame_base, AttributeValue::Exprloc(frame));
        }

        // Those of a variable stand together, in the order of variables.
        let located = |variable: ir::DebugVar| {
            let all = &described.locations;
            let first = all.partition_point(|place| place.variable < variable);
            &all[first..first + all[first..].partition_point(|place| place.variable == variable)]
        };
        // Parameters come first, and in their order.
        let mut variables: Vec<_> = debug.variables.iter().collect();
        variables.sort_by_key(|(_, variable)| match variable.kind {
            VariableKind::Parameter(number) => number,
            VariableKind::Local => u32::MAX,
        });
        let mut of_scope: SecondaryMap<ScopeId, Vec<ir::DebugVar>> = SecondaryMap::new();
        variables.into_iter().for_each(|(id, variable)| of_scope[variable.scope].push(id));
        // Scopes come behind their parents. One without instructions and variables is left out.
        let mut used: SecondaryMap<ScopeId, bool> = SecondaryMap::new();
        let with_code = described.scopes.iter().map(|(scope, ..)| *scope);
        for scope in with_code.chain(debug.variables.values().map(|variable| variable.scope)) {
            for (scope, _) in debug.around(scope) {
                used[scope] = true;
            }
        }
        let mut entries: SecondaryMap<ScopeId, Option<UnitEntryId>> = SecondaryMap::new();
        for (id, scope) in &debug.scopes {
            let parent = scope.parent.and_then(|parent| entries[parent]).unwrap_or(entry);
            if id != debug.root() && !used[id] {
                continue;
            }
            let made = match scope.kind {
                ScopeKind::Function => entry,
                ScopeKind::Block => self.add(unit, parent, DW_TAG_lexical_block),
                ScopeKind::Inlined(of) => {
                    let origin = self.inlined(unit, of);
                    let entry = self.add(unit, parent, DW_TAG_inlined_subroutine);
                    self.set(unit, entry, DW_AT_abstract_origin, AttributeValue::UnitRef(origin));
                    if let Some(file) = self.file(scope.at.file) {
                        self.set(unit, entry, DW_AT_call_file, file);
                    }
                    self.set(unit, entry, DW_AT_call_line, AttributeValue::Udata(scope.at.line.into()));
                    // DWARF 2 has no column of a call; `inlined_at` tells it.
                    entry
                }
            };
            entries[id] = Some(made);
            let inlined = match scope.kind {
                ScopeKind::Inlined(of) => Some(of),
                ScopeKind::Function | ScopeKind::Block => None,
            };
            for &id in &of_scope[id] {
                self.variable(unit, made, inlined, &debug.variables[id], located(id));
            }
        }
        for (scope, begin, end) in &described.scopes {
            if let Some(of) = entries[*scope].filter(|of| *of != entry) {
                self.bounds(unit, of, *begin, *end);
            }
        }
    }

    /// A variable of a function, or of a call of one that was inlined.
    fn variable(
        &mut self,
        unit: usize,
        scope: UnitEntryId,
        inlined: Option<ir::SubprogramId>,
        variable: &'a source::DebugVariable,
        places: &[Located],
    ) {
        let tag = match variable.kind {
            VariableKind::Parameter(_) => DW_TAG_formal_parameter,
            VariableKind::Local => DW_TAG_variable,
        };
        let entry = self.add(unit, scope, tag);
        let often = |of: &ir::SubprogramId| self.calls.get(of).is_some_and(|calls| *calls >= SHARED_FROM);
        match inlined.filter(often) {
            None => self.variable_of_source(unit, entry, variable),
            Some(of) => {
                let key = (unit, of, variable.kind, variable.name.as_str(), variable.ty, variable.declared);
                let origin = match self.shared.get(&key) {
                    Some(origin) => *origin,
                    None => {
                        let function = self.inlined(unit, of);
                        let origin = self.add(unit, function, tag);
                        self.variable_of_source(unit, origin, variable);
                        self.shared.insert(key, origin);
                        origin
                    }
                };
                self.set(unit, entry, DW_AT_abstract_origin, AttributeValue::UnitRef(origin));
            }
        }
        self.location(unit, entry, places.iter().map(|place| (place.range, &place.place)));
    }

    /// A variable's name, type and declaration.
    fn variable_of_source(&mut self, unit: usize, entry: UnitEntryId, variable: &source::DebugVariable) {
        self.name(unit, entry, &variable.name);
        self.has_type(unit, entry, variable.ty);
        // It is declared where its function is. Without a file debuggers take that of the unit.
        let of_unit = self.info.and_then(|info| info.units.values().next()).map(|unit| unit.file);
        match of_unit == Some(variable.declared.file) {
            true => self.line(unit, entry, variable.declared.line),
            false => self.declared(unit, entry, variable.declared),
        }
    }

    /// What is known of a function of the source, whose code has a symbol, if it has code.
    fn subprogram(
        &mut self,
        unit: usize,
        entry: UnitEntryId,
        subprogram: &source::Subprogram,
        symbol: Option<&str>,
    ) {
        // A function that is inlined everywhere has no symbol. gdb calls it by its linkage name if it is told one, which users know in
        // languages alone whose names it can read in that.
        let language = self.info.and_then(|info| info.units.get(subprogram.unit)).map(|unit| unit.language);
        let inlined = subprogram.linkage_name.as_deref().filter(|_| language.is_some_and(mangles));
        // First: where it comes behind the name, ptxas (12.9 to 13.5) crashes at the first variable on the stack.
        if let Some(name) = symbol.or(inlined).filter(|name| *name != subprogram.name) {
            let name = self.string(name);
            self.set(unit, entry, DW_AT_MIPS_linkage_name, name);
        }
        self.name(unit, entry, &subprogram.name);
        self.declared(unit, entry, subprogram.declared);
        if language.is_some_and(is_c) {
            self.set(unit, entry, DW_AT_prototyped, AttributeValue::Flag(true));
        }
        let ty = subprogram.ty.and_then(|ty| self.info?.types.get(ty));
        if let Some(DebugType::Function { ret: Some(ret), .. }) = ty {
            self.has_type(unit, entry, *ret);
        }
    }

    /// The entry of a function that is inlined somewhere.
    fn inlined(&mut self, unit: usize, id: ir::SubprogramId) -> UnitEntryId {
        if let Some(entry) = self.abstracts.get(&(unit, id)) {
            return *entry;
        }
        let root = self.root(unit);
        let entry = self.add(unit, root, DW_TAG_subprogram);
        self.abstracts.insert((unit, id), entry);
        if let Some(subprogram) = self.info.and_then(|info| info.subprograms.get(id)) {
            self.subprogram(unit, entry, subprogram, None);
        }
        self.set(unit, entry, DW_AT_inline, AttributeValue::Inline(DW_INL_inlined));
        entry
    }

    fn code(&mut self, unit: usize, entry: UnitEntryId, begin: Symbol, end: Symbol) {
        self.bounds(unit, entry, begin, end);
    }

    fn bounds(&mut self, unit: usize, entry: UnitEntryId, begin: Symbol, end: Symbol) {
        for (name, label) in [(DW_AT_low_pc, begin), (DW_AT_high_pc, end)] {
            let address = self.symbol(label);
            self.set(unit, entry, name, AttributeValue::Address(address));
        }
    }

    // Locations.

    fn location<'p>(
        &mut self,
        unit: usize,
        entry: UnitEntryId,
        places: impl ExactSizeIterator<Item = (Option<(Symbol, Symbol)>, &'p Place)> + Clone,
    ) {
        let Some((range, first)) = places.clone().next() else { return };
        let class = if places.clone().all(|(_, place)| place.class() == first.class()) {
            first.class()
        } else {
            Class::Register
        };
        // A constant has no address.
        if !matches!((range, first), (None, Place::Constant(_))) {
            self.set(unit, entry, DW_AT_address_class, AttributeValue::Data1(class as u8));
        }
        match (range, first) {
            (None, Place::Constant(bits)) if places.len() == 1 => {
                self.set(unit, entry, DW_AT_const_value, AttributeValue::Sdata(*bits));
            }
            (None, place) if places.len() == 1 => {
                let place = self.expression(place);
                self.set(unit, entry, DW_AT_location, AttributeValue::Exprloc(place));
            }
            _ => {
                let mut list = Vec::with_capacity(places.len());
                for (range, place) in places {
                    let Some((begin, end)) = range else { continue };
                    let (begin, end) = (self.symbol(begin), self.symbol(end));
                    list.push(Location::StartEnd { begin, end, data: self.expression(place) });
                }
                let made = self.dwarf.units.get_mut(self.units[unit].id);
                let list = made.locations.add(LocationList(list));
                made.get_mut(entry).set(DW_AT_location, AttributeValue::LocationListRef(list));
            }
        }
    }

    fn expression(&mut self, place: &Place) -> Expression {
        let mut encoded = Encoded::default();
        encoded.place(place);
        if encoded.symbols.is_empty() {
            return Expression::raw(encoded.bytes);
        }
        // Each byte stands as an operation without operands.
        let mut out = Expression::new();
        let mut from = 0;
        for (at, symbol) in encoded.symbols {
            encoded.bytes[from..at].iter().for_each(|byte| out.op(gimli::DwOp(*byte)));
            out.op_addr(self.symbol(symbol));
            from = at;
        }
        encoded.bytes[from..].iter().for_each(|byte| out.op(gimli::DwOp(*byte)));
        out
    }
}

/// The operations of a place: the numbers of registers are longer than `gimli` writes them.
#[derive(Default)]
struct Encoded {
    bytes: Vec<u8>,
    /// The addresses of symbols, in front of which bytes.
    symbols: Vec<(usize, Symbol)>,
}

impl Encoded {
    fn op(&mut self, op: gimli::DwOp) -> &mut Vec<u8> {
        self.bytes.push(op.0);
        &mut self.bytes
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Registers(registers) => {
                for (name, size) in registers {
                    unsigned(self.op(DW_OP_regx), *name);
                    if registers.len() > 1 {
                        unsigned(self.op(DW_OP_piece), (*size).into());
                    }
                }
            }
            Place::Memory(name, offset) => {
                let bytes = self.op(DW_OP_bregx);
                unsigned(bytes, *name);
                signed(bytes, (*offset).into());
            }
            Place::Constant(bits) => {
                match u8::try_from(*bits) {
                    Ok(small @ 0..32) => _ = self.op(gimli::DwOp(DW_OP_lit0.0 + small)),
                    _ => signed(self.op(DW_OP_consts), *bits),
                }
                self.op(DW_OP_stack_value);
            }
            Place::Symbol(symbol, offset, _) => {
                self.symbols.push((self.bytes.len(), *symbol));
                match u64::try_from(*offset) {
                    Ok(0) => {}
                    Ok(offset) => unsigned(self.op(DW_OP_plus_uconst), offset),
                    Err(_) => {
                        signed(self.op(DW_OP_consts), (*offset).into());
                        self.op(DW_OP_plus);
                    }
                }
            }
            Place::Pieces(pieces) => {
                for (place, size) in pieces {
                    if let Some(place) = place {
                        self.place(place);
                    }
                    // Several registers say how much of the value each has.
                    if !matches!(place, Some(Place::Registers(registers)) if registers.len() > 1) {
                        unsigned(self.op(DW_OP_piece), (*size).into());
                    }
                }
            }
        }
    }
}

/// True for C, where a function may have no prototype.
fn is_c(language: u16) -> bool {
    [DW_LANG_C, DW_LANG_C89, DW_LANG_C99, DW_LANG_C11, DW_LANG_C17].iter().any(|known| known.0 == language)
}

/// True for languages whose linkage names gdb reads: C++, Rust, D.
fn mangles(language: u16) -> bool {
    [DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14]
        .into_iter()
        .chain([DW_LANG_C_plus_plus_17, DW_LANG_C_plus_plus_20, DW_LANG_Rust, DW_LANG_D])
        .any(|known| known.0 == language)
}

/// The number by which DWARF names a register: the bytes of its name, the first one highest (PTX interoperability guide, 5.3).
pub(super) fn register_number(name: &str) -> Option<u64> {
    (name.len() <= 8).then(|| name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte)))
}

/// LEB128.
fn unsigned(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return;
        }
    }
}

fn signed(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        let done = (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0);
        out.push(if done { low } else { low | 0x80 });
        if done {
            return;
        }
    }
}
