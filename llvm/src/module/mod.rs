//! A module of LLVM, read from bitcode: types, globals, functions, constants, attributes and metadata at once, bodies when they are asked
//! for.
//!
//! Values have one numbering: globals, functions and aliases in the order of their records, the constants of the module, and in each
//! function its parameters, its constants and the results of its instructions.

pub mod attributes;
pub mod body;
mod body_read;
pub mod constants;
mod globals;
pub mod metadata;
pub mod ops;
mod read_types;
pub mod types;

use crate::bitstream::{Block, Entry, Record};
use crate::error::{Error, Result};
use attributes::Attributes;
use constants::Constant;
pub use globals::{Alias, Function, GlobalVar};
use metadata::MetadataList;
use read_types::text;
use types::{Type, TypeId, Types};

/// A value, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub u32);

/// What the number of a value of the module denotes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GlobalValue {
    /// In [`Module::globals`].
    Global(usize),
    /// In [`Module::functions`].
    Function(usize),
    /// In [`Module::aliases`].
    Alias(usize),
}

/// A group of symbols of which one module's are taken.
#[derive(Clone, Debug)]
pub struct Comdat {
    /// Its name.
    pub name: String,
    /// 1: any, 2: all must be equal, 3: the largest, 4: there must be one only, 5: as large.
    pub selection: u64,
}

/// A module.
#[derive(Clone, Default, Debug)]
pub struct Module<'a> {
    /// Who wrote the file: `LLVM22.1.8`.
    pub producer: String,
    /// The target triple.
    pub triple: String,
    /// The data layout.
    pub data_layout: String,
    /// The name of the source file.
    pub source_filename: String,
    /// Assembly outside of functions.
    pub asm: String,
    /// The types.
    pub types: Types,
    /// The sets of attributes.
    pub attributes: Attributes,
    /// Variables.
    pub globals: Vec<GlobalVar>,
    /// Functions, those that are only declared too.
    pub functions: Vec<Function<'a>>,
    /// Other names of variables and functions.
    pub aliases: Vec<Alias>,
    /// The values of the module before its constants.
    pub values: Vec<GlobalValue>,
    /// The constants of the module.
    pub constants: Vec<Constant>,
    /// Metadata.
    pub metadata: MetadataList,
    /// The names of scopes of atomic accesses, by number.
    pub scopes: Vec<String>,
    /// The tags of operand bundles, by number.
    pub bundle_tags: Vec<String>,
    /// Groups of symbols.
    pub comdats: Vec<Comdat>,
    sections: Vec<String>,
    /// 1: names are in a table of symbols; 2: in a table of strings.
    version: u64,
    strtab: &'a [u8],
    /// Bytes of text beyond which a dump writes out no more parts of constants: so many for each byte of the file.
    pub(crate) text_limit: usize,
}

const MODULE: u32 = 8;
const PARAM_ATTR: u32 = 9;
const PARAM_ATTR_GROUP: u32 = 10;
const CONSTANTS: u32 = 11;
const FUNCTION: u32 = 12;
const IDENTIFICATION: u32 = 13;
const VALUE_SYMTAB: u32 = 14;
const METADATA: u32 = 15;
const METADATA_ATTACHMENT: u32 = 16;
const TYPES: u32 = 17;
const OPERAND_BUNDLE_TAGS: u32 = 21;
const METADATA_KIND: u32 = 22;
const STRTAB: u32 = 23;
const SYNC_SCOPES: u32 = 26;

/// The texts of a block whose records are one each.
fn read_texts(mut block: Block<'_>, texts: &mut Vec<String>) -> Result<()> {
    let mut record = Record::default();
    while block.next_record(&mut record)? {
        texts.push(text(&record.ops));
    }
    Ok(())
}

/// The bitcode in a file: behind Darwin's wrapper if it has one. With where it starts.
fn unwrap(data: &[u8]) -> Result<(&[u8], u64)> {
    if !data.starts_with(&[0xde, 0xc0, 0x17, 0x0b]) {
        return Ok((data, 0));
    }
    let word = |n: usize| {
        let bytes = data.get(n * 4..n * 4 + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        bytes.map(u32::from_le_bytes).ok_or_else(|| Error::container(0, "a wrapper that is cut off"))
    };
    let (start, size) = (word(2)? as usize, word(3)? as usize);
    let inner = start.checked_add(size).and_then(|end| data.get(start..end));
    Ok((inner.ok_or_else(|| Error::container(0, "a wrapper of more bytes than the file has"))?, start as u64))
}

/// True if the bytes begin like bitcode.
pub fn is_bitcode(data: &[u8]) -> bool {
    data.starts_with(b"BC\xC0\xDE") || data.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
}

impl<'a> Module<'a> {
    /// Reads a module.
    ///
    /// # Errors
    /// The first thing that is wrong, with the byte of its record; a file of several modules.
    pub fn read(data: &'a [u8]) -> Result<Module<'a>> {
        let (data, base) = unwrap(data)?;
        let text_limit = (1 << 20) + 256 * data.len();
        let mut module = Module { text_limit, ..Module::default() };
        let mut found: Option<Block<'a>> = None;
        let mut top = Block::top(data, base)?;
        let mut record = Record::default();
        while let Some(entry) = top.next(&mut record)? {
            let Entry::Block(mut block) = entry else {
                return Err(Error::container(record.offset, "a record outside of all blocks"));
            };
            match block.id {
                IDENTIFICATION => {
                    while block.next_record(&mut record)? {
                        if record.code == 1 {
                            module.producer = text(&record.ops);
                        }
                    }
                }
                MODULE if found.is_some() => {
                    return Err(Error::unsupported("a file of several modules").at(block.offset()));
                }
                MODULE => found = Some(block),
                STRTAB if module.strtab.is_empty() => {
                    while block.next_record(&mut record)? {
                        module.strtab = record.blob.filter(|_| record.code == 1).unwrap_or(module.strtab);
                    }
                }
                // Tables for linkers of native code, and what other versions may add.
                _ => {}
            }
        }
        let block =
            found.ok_or_else(|| Error::container(base, "no module: the file has none of its blocks"))?;
        module.read_module(block)?;
        Ok(module)
    }

    fn read_module(&mut self, mut block: Block<'a>) -> Result<()> {
        let mut record = Record::default();
        let mut bodies: Vec<Block<'a>> = Vec::new();
        while let Some(entry) = block.next(&mut record)? {
            match entry {
                Entry::Block(inner) => match inner.id {
                    PARAM_ATTR => self.attributes.read_sets(inner)?,
                    PARAM_ATTR_GROUP => self.attributes.read_groups(inner)?,
                    TYPES => read_types::read(inner, &mut self.types)?,
                    CONSTANTS => constants::read(inner, &mut record, &mut self.types, &mut self.constants)?,
                    FUNCTION => bodies.push(inner),
                    METADATA => self.metadata.read(inner)?,
                    METADATA_KIND => self.metadata.read_kinds(inner)?,
                    VALUE_SYMTAB => self.read_names(inner)?,
                    SYNC_SCOPES => read_texts(inner, &mut self.scopes)?,
                    OPERAND_BUNDLE_TAGS => read_texts(inner, &mut self.bundle_tags)?,
                    // Orders of uses, summaries: nothing depends on them.
                    _ => {}
                },
                Entry::Record => self.read_record(&record)?,
            }
        }
        let mut bodies = bodies.into_iter();
        for function in self.functions.iter_mut().filter(|function| !function.is_declaration) {
            let Some(body) = bodies.next() else {
                return Err(Error::record(block.offset(), format!("@{} has no body", function.name)));
            };
            function.body = Some(body);
        }
        if let Some(body) = bodies.next() {
            return Err(Error::record(body.offset(), "a body of no function"));
        }
        self.check()
    }

    fn read_record(&mut self, record: &Record<'a>) -> Result<()> {
        let ops = record.ops.as_slice();
        match record.code {
            1 => {
                self.version = ops.first().copied().unwrap_or(0);
                if !(1..=2).contains(&self.version) {
                    let message =
                        format!("version {} of the format of modules: 1 and 2 are known", self.version);
                    return Err(Error::unsupported(message).at(record.offset));
                }
            }
            2 => self.triple = text(ops),
            3 => {
                self.data_layout = text(ops);
                self.types.set_layout(&self.data_layout);
            }
            4 => self.asm = text(ops),
            5 => self.sections.push(text(ops)),
            7 => {
                let global = globals::global(self, record)?;
                self.values.push(GlobalValue::Global(self.globals.len()));
                self.globals.push(global);
            }
            8 => {
                let function = globals::function(self, record)?;
                self.values.push(GlobalValue::Function(self.functions.len()));
                self.functions.push(function);
            }
            12 => {
                let (name, rest) = self.symbol_name(record)?;
                let (selection, old_name) = match rest {
                    [selection, _, chars @ ..] => (*selection, text(chars)),
                    [selection] => (*selection, String::new()),
                    [] => (1, String::new()),
                };
                let name = if self.version >= 2 { name } else { old_name };
                self.comdats.push(Comdat { name, selection });
            }
            9 | 14 => {
                let alias = globals::alias(self, record)?;
                self.values.push(GlobalValue::Alias(self.aliases.len()));
                self.aliases.push(alias);
            }
            // It has a number among the values, and which function it is a program would find out when it starts.
            18 => {
                let (name, _) = self.symbol_name(record)?;
                return Err(Error::unsupported(format!("the ifunc `@{name}`")).at(record.offset));
            }
            16 => self.source_filename = text(ops),
            // Offsets into the file, names of garbage collectors, a hash.
            _ => {}
        }
        Ok(())
    }

    /// The name of a symbol and the fields behind it.
    fn symbol_name<'r>(&self, record: &'r Record<'a>) -> Result<(String, &'r [u64])> {
        if self.version < 2 {
            return Ok((String::new(), &record.ops));
        }
        let wrong = || Error::record(record.offset, "a name outside of the table of strings");
        let [start, len, rest @ ..] = record.ops.as_slice() else { return Err(wrong()) };
        let (start, len) =
            (usize::try_from(*start).map_err(|_| wrong())?, usize::try_from(*len).map_err(|_| wrong())?);
        let bytes = start.checked_add(len).and_then(|end| self.strtab.get(start..end)).ok_or_else(wrong)?;
        Ok((String::from_utf8_lossy(bytes).into_owned(), rest))
    }

    /// The table of symbols of old modules.
    fn read_names(&mut self, mut block: Block<'a>) -> Result<()> {
        let mut record = Record::default();
        while block.next_record(&mut record)? {
            let (skip, value) = match (record.code, record.ops.first()) {
                (1, Some(value)) => (1, *value),
                (3, Some(value)) => (2, *value),
                _ => continue,
            };
            let name = text(record.ops.get(skip..).unwrap_or_default());
            if self.version >= 2 || name.is_empty() {
                continue;
            }
            match usize::try_from(value).ok().and_then(|value| self.values.get(value)) {
                Some(GlobalValue::Global(n)) => self.globals[*n].name = name,
                Some(GlobalValue::Function(n)) => self.functions[*n].name = name,
                Some(GlobalValue::Alias(n)) => self.aliases[*n].name = name,
                None => {
                    return Err(Error::record(
                        record.offset,
                        format!("a name for value {value}, which does not exist"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// What later parts rely on: the constants and initialisers name values that exist.
    fn check(&self) -> Result<()> {
        let count = self.num_values();
        for constant in &self.constants {
            body::check_constant(constant, count)?;
        }
        for global in &self.globals {
            if let Some(init) = global.init.filter(|init| init.0 >= count) {
                let message =
                    format!("@{} is initialised with value {}, which does not exist", global.name, init.0);
                return Err(Error::record(global.offset, message));
            }
        }
        for alias in &self.aliases {
            if alias.target.0 >= count {
                let message = format!("@{} is value {}, which does not exist", alias.name, alias.target.0);
                return Err(Error::record(alias.offset, message));
            }
        }
        Ok(())
    }

    /// How many values the module has: those of functions follow.
    pub fn num_values(&self) -> u32 {
        (self.values.len() + self.constants.len()) as u32
    }

    /// The constant of a number.
    pub fn constant(&self, value: ValueId) -> Option<&Constant> {
        self.constants.get((value.0 as usize).checked_sub(self.values.len())?)
    }

    /// The global value of a number.
    pub fn global_value(&self, value: ValueId) -> Option<GlobalValue> {
        self.values.get(value.0 as usize).copied()
    }

    /// The name of a global value.
    pub fn name_of(&self, value: GlobalValue) -> &str {
        match value {
            GlobalValue::Global(n) => self.globals.get(n).map_or("", |global| &global.name),
            GlobalValue::Function(n) => self.functions.get(n).map_or("", |function| &function.name),
            GlobalValue::Alias(n) => self.aliases.get(n).map_or("", |alias| &alias.name),
        }
    }

    /// The type of a value of the module.
    pub fn value_type(&mut self, value: ValueId) -> Option<TypeId> {
        match self.global_value(value) {
            Some(GlobalValue::Global(n)) => Some(self.types.pointer(self.globals.get(n)?.space)),
            Some(GlobalValue::Function(n)) => Some(self.types.pointer(self.functions.get(n)?.space)),
            Some(GlobalValue::Alias(n)) => Some(self.types.pointer(self.aliases.get(n)?.space)),
            None => self.constant(value).map(|constant| constant.ty),
        }
    }

    /// The type of a function.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a function has no signature")]
    pub fn signature(&self, ty: TypeId) -> Option<(bool, TypeId, &[TypeId])> {
        match self.types.get(ty) {
            Type::Function { varargs, ret, params } => Some((*varargs, *ret, params)),
            _ => None,
        }
    }
}
