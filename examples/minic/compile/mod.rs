//! From text to IR in one pass: each construct is built as it is read. Locals are stack slots, of which the compiler makes registers.
//!
//! [`Front`] is the state of the pass. What reads and builds is in a file for each part of the language.

mod expressions;
mod items;
mod statements;
mod tokens;
mod variables;

use std::collections::HashMap;
use warpsmith::diag::{Diagnostic, Diagnostics, Source};
use warpsmith::ir::debug::{DebugBuilder, Encoding};
use warpsmith::ir::{
    Block, DebugTypeId, EntityRef, FuncId, FunctionBuilder, Module, ScopeId, Type, UnitId, Value,
};
use warpsmith::isa::StateSpace;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;
type Builder<'m> = FunctionBuilder<'m>;

/// One of [`Front::types`] with so many `*`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Ty(usize, u8);

const VOID: Ty = Ty(0, 0);
const INT: Ty = Ty(1, 0);
const FLOAT: Ty = Ty(2, 0);

/// The most `*` that a type is written with.
const MOST_STARS: u8 = 8;

/// The language that a debugger is told, with C's syntax for expressions.
const DW_LANG_C99: u16 = 0x0c;

/// A value, or what is so many bytes behind an address.
#[derive(Clone, Copy)]
enum Kind {
    Value(Value),
    Memory(Value, i32),
}

type Operand = (Ty, Kind);
type Fields<'a> = Vec<(Ty, &'a str)>;

struct Front<'a> {
    source: Source,
    /// Words, numbers, signs and texts, and where each begins.
    tokens: Vec<(&'a str, usize)>,
    next: usize,
    unit: UnitId,
    /// `void`, `int`, `float`, and the structs: the name, the type of the IR, the fields.
    types: Vec<(&'a str, Type, Fields<'a>)>,
    /// What a debugger is told each of them is, and a pointer to it, and so on; nothing is `void`.
    described: Vec<Vec<Option<DebugTypeId>>>,
    functions: HashMap<&'a str, (FuncId, Vec<Ty>, Ty)>,
    // Of the function that is being read.
    ret: Ty,
    scopes: Vec<Vec<(&'a str, Operand)>>,
    /// The innermost of them, as a debugger knows it.
    scope: ScopeId,
    /// Where `continue` and `break` of each loop go.
    loops: Vec<[Block; 2]>,
    depth: u32,
}

/// Compiles a program. `name` is what places in it are called by.
pub fn compile(name: &str, text: &str) -> std::result::Result<Module, Diagnostics> {
    let mut module = Module::new();
    let mut debug = DebugBuilder::new(&mut module);
    let file = debug.file(name);
    let unit = debug.unit(file, "minic", DW_LANG_C99, "");
    let int = debug.base("int", 4, Encoding::Signed);
    let float = debug.base("float", 4, Encoding::Float);
    let described = [None, Some(int), Some(float)].map(|ty| pointers(&mut debug, ty)).to_vec();
    let types = [("void", Type::I32), ("int", Type::I32), ("float", Type::F32)];
    let types = types.map(|(name, ty)| (name, ty, Vec::new())).to_vec();
    let source = Source::new(name, text);
    let tokens = tokens::tokens(text);
    let mut front = Front {
        source: source.clone(),
        tokens,
        next: 0,
        unit,
        types,
        described,
        functions: HashMap::new(),
        ret: VOID,
        scopes: Vec::new(),
        scope: ScopeId::new(0),
        loops: Vec::new(),
        depth: 0,
    };
    front.program(&mut module).map_err(|error| Diagnostics::new(source, vec![*error]))?;
    Ok(module)
}

/// A type, and pointers to it, one more than are read: an array of them is one too.
fn pointers(debug: &mut DebugBuilder<'_>, ty: Option<DebugTypeId>) -> Vec<Option<DebugTypeId>> {
    let pointer = |to: &Option<DebugTypeId>| Some(Some(debug.pointer(*to, StateSpace::Generic)));
    std::iter::successors(Some(ty), pointer).take(MOST_STARS as usize + 2).collect()
}
