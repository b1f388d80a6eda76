//! The entries of `.debug_info`: units, types, functions, scopes, variables.

mod place;
mod program;
mod types;

pub(super) use place::register_number;

use super::lists::share_ends;
use super::section::{Bytes, Packer, push};
use super::{Debug, Described, lines};
use crate::module::Plan;
use crate::names::Names;
use gimli::constants::*;
use gimli::write::{
    Address, AttributeValue, Dwarf, LineProgram, LineString, Sections, Unit, UnitEntryId, UnitId,
};
use gimli::{Encoding, Format, LineEncoding, SectionId};
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_ir as ir;
use warpsmith_ir::DebugTypeId;
use warpsmith_ir::debug::{self as source, DebugInfo, ScopeKind, VariableKind};
use warpsmith_ptx::{Data, Module, Symbol};

/// DWARF 2, whose forms are those that ptxas walks.
const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 2, address_size: 8 };

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
        let mut writer = Writer::new(module);
        writer.globals(&names.globals);
        for described in functions {
            writer.function(described);
        }
        writer.fill_types();
        let Writer { mut dwarf, symbols, .. } = writer;
        let mut sections = Sections::new(Bytes::new());
        let written = dwarf.write(&mut sections);
        let written =
            written.and_then(|()| share_ends(&mut sections.debug_loc.0, &mut sections.debug_info.0));
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
    let mut bytes = name.as_bytes().to_vec();
    if bytes.contains(&0) {
        bytes.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'?');
    }
    bytes
}

struct Writer<'a> {
    dwarf: Dwarf,
    /// The unit that everything is in.
    unit: UnitId,
    /// The entries of types that something names.
    types: FxHashMap<DebugTypeId, UnitEntryId>,
    /// Those that are not filled yet.
    unfilled: Vec<(DebugTypeId, UnitEntryId)>,
    module: &'a ir::Module,
    info: Option<&'a DebugInfo>,
    /// What numbered symbols are called.
    symbols: Vec<Symbol>,
    numbers: FxHashMap<Symbol, usize>,
    /// The entries of functions that were inlined.
    abstracts: FxHashMap<ir::SubprogramId, UnitEntryId>,
    /// How often each function was inlined.
    calls: FxHashMap<ir::SubprogramId, u32>,
    /// The entries of the variables of functions that were inlined more often than a few times, as their source has them.
    shared: FxHashMap<Inherited<'a>, UnitEntryId>,
}

/// A variable of a function as its source has it.
type Inherited<'a> = (ir::SubprogramId, VariableKind, &'a str, DebugTypeId, source::Declared);

impl<'a> Writer<'a> {
    fn new(module: &'a ir::Module) -> Self {
        // ptxas makes the line table, whose files are those of `.file`. The one that is made here is dropped, and is not empty so that the unit
        // refers to one.
        let text = |text: &str| LineString::String(text.as_bytes().to_vec());
        let mut program =
            LineProgram::new(ENCODING, LineEncoding::default(), text("."), None, text("."), None);
        program.begin_sequence(Some(Address::Constant(0)));
        program.end_sequence(0);
        let mut dwarf = Dwarf::default();
        let unit = dwarf.units.add(Unit::new(ENCODING, program));
        let mut writer = Writer {
            dwarf,
            unit,
            types: FxHashMap::default(),
            unfilled: Vec::new(),
            module,
            info: module.debug.as_deref(),
            symbols: Vec::new(),
            numbers: FxHashMap::default(),
            abstracts: FxHashMap::default(),
            calls: FxHashMap::default(),
            shared: FxHashMap::default(),
        };
        writer.describe_unit();
        for debug in module.functions.values().filter_map(|func| func.debug.as_ref()) {
            for scope in debug.scopes.values() {
                if let ScopeKind::Inlined(of) = scope.kind {
                    *writer.calls.entry(of).or_default() += 1;
                }
            }
        }
        writer
    }

    fn describe_unit(&mut self) {
        let none = source::Unit {
            file: ir::FileId::from_u32(0),
            producer: String::new(),
            language: DW_LANG_Mips_Assembler.0,
            directory: String::new(),
        };
        // One for all: ptxas 13.0 reads the abbreviations of each unit where the first unit's begin, whatever its header says, and
        // `gimli` writes each unit its own. The files and types of all units have numbers of the module's anyway; what is lost is who made which.
        let of_module = self.first_unit().unwrap_or(&none);
        let producer = match of_module.producer.as_str() {
            "" => concat!("Warpsmith ", env!("CARGO_PKG_VERSION")),
            producer => producer,
        };
        let root = self.root();
        let producer = self.string(producer);
        self.set(root, DW_AT_producer, producer);
        self.set(root, DW_AT_language, AttributeValue::Data2(of_module.language));
        let name = self.string(self.module.files.get(of_module.file).map_or("", String::as_str));
        self.set(root, DW_AT_name, name);
        if !of_module.directory.is_empty() {
            let directory = self.string(&of_module.directory);
            self.set(root, DW_AT_comp_dir, directory);
        }
        self.set(root, DW_AT_stmt_list, AttributeValue::LineProgramRef);
        // What the addresses of location lists are added to.
        self.set(root, DW_AT_low_pc, AttributeValue::Address(Address::Constant(0)));
    }

    /// The unit of the module that gives the one that is written its name.
    fn first_unit(&self) -> Option<&'a source::Unit> {
        self.info?.units.values().next()
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

    fn add(&mut self, parent: UnitEntryId, tag: gimli::DwTag) -> UnitEntryId {
        /// Attributes that most entries have no more of.
        const ATTRIBUTES: usize = 6;
        let unit = self.dwarf.units.get_mut(self.unit);
        let entry = unit.add(parent, tag);
        unit.get_mut(entry).reserve(ATTRIBUTES);
        entry
    }

    fn set(&mut self, entry: UnitEntryId, name: gimli::DwAt, value: AttributeValue) {
        self.dwarf.units.get_mut(self.unit).get_mut(entry).set(name, value);
    }

    fn root(&self) -> UnitEntryId {
        self.dwarf.units.get(self.unit).root()
    }

    fn name(&mut self, entry: UnitEntryId, name: &str) {
        if !name.is_empty() {
            let value = self.string(name);
            self.set(entry, DW_AT_name, value);
        }
    }

    fn declared(&mut self, entry: UnitEntryId, at: source::Declared) {
        if let Some(file) = self.file(at.file).filter(|_| at.line > 0) {
            self.set(entry, DW_AT_decl_file, file);
            self.line(entry, at.line);
        }
    }

    fn line(&mut self, entry: UnitEntryId, line: u32) {
        if line > 0 {
            self.set(entry, DW_AT_decl_line, AttributeValue::Udata(line.into()));
        }
    }

    /// The number of a file, which is that of its `.file`.
    fn file(&self, file: ir::FileId) -> Option<AttributeValue> {
        self.module.files.get(file)?;
        Some(AttributeValue::Udata(u64::from(file.as_u32()) + 1))
    }

    fn has_type(&mut self, entry: UnitEntryId, ty: DebugTypeId) {
        let ty = self.type_entry(ty);
        self.set(entry, DW_AT_type, AttributeValue::UnitRef(ty));
    }
}
