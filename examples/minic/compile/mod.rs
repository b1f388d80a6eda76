//! From text to IR in one pass: each construct is built as it is read. Variables are stack slots, of which the compiler makes registers.
//!
//! [`Front`] is the program that is being read: its tokens (`tokens.rs`), types and functions. [`Body`] is the function that is being read:
//! its statements (`statements.rs`) and expressions (`expressions.rs`).

mod expressions;
mod statements;
mod tokens;

use expressions::Operand;
use std::collections::HashMap;
use warpsmith::diag::{Diagnostic, Diagnostics, Source};
use warpsmith::ir::debug::{DebugBuilder, Declared, Encoding, VariableKind};
use warpsmith::ir::{Block, DebugTypeId, FileId, FuncId, FuncKind, Function, FunctionBuilder, InstBuilder};
use warpsmith::ir::{Module, Param, ScopeId, Type, UnitId};
use warpsmith::isa::StateSpace;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;
type Named<'a> = (Ty, &'a str);

/// One of [`Front::types`] with so many `*`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ty(usize, usize);

const VOID: Ty = Ty(0, 0);
const BOOL: Ty = Ty(1, 0);
const INT: Ty = Ty(2, 0);
const FLOAT: Ty = Ty(3, 0);

/// The most `*` that a type is written with.
const MOST_STARS: usize = 8;

struct Front<'a> {
    source: Source,
    /// Words, numbers, signs and texts, and where each begins.
    tokens: Vec<(&'a str, usize)>,
    next: usize,
    file: FileId,
    unit: UnitId,
    /// The name, the type of the IR, the type for debuggers, the fields of a struct.
    types: Vec<(&'a str, Type, Option<DebugTypeId>, Vec<Named<'a>>)>,
    /// With the types of the parameters and of the result.
    functions: HashMap<&'a str, (FuncId, Vec<Ty>, Ty)>,
}

struct Body<'f, 'a> {
    front: &'f mut Front<'a>,
    b: FunctionBuilder<'f>,
    ret: Ty,
    /// What is known here, the innermost last.
    variables: Vec<(&'a str, Operand)>,
    /// The block that is being read, as a debugger knows it.
    scope: ScopeId,
    /// Where `continue` and `break` of each loop go.
    loops: Vec<[Block; 2]>,
    depth: u32,
}

/// Compiles a program. `name` is what places in it are called by.
pub fn compile(name: &str, text: &str) -> std::result::Result<Module, Diagnostics> {
    const DW_LANG_C99: u16 = 0x0c;
    let mut module = Module::new();
    let mut debug = DebugBuilder::new(&mut module);
    let file = debug.file(name);
    let unit = debug.unit(file, "minic", DW_LANG_C99, "");
    let types = vec![
        ("void", Type::I32, None, vec![]),
        // What comparisons give. No program has this word.
        ("truth value", Type::I1, None, vec![]),
        ("int", Type::I32, Some(debug.base("int", 4, Encoding::Signed)), vec![]),
        ("float", Type::F32, Some(debug.base("float", 4, Encoding::Float)), vec![]),
    ];
    let (source, tokens) = (Source::new(name, text), tokens::tokens(text));
    let functions = HashMap::new();
    let mut front = Front { source: source.clone(), tokens, next: 0, file, unit, types, functions };
    front.program(&mut module).map_err(|error| Diagnostics::new(source, vec![*error]))?;
    Ok(module)
}

impl<'a> Front<'a> {
    fn program(&mut self, module: &mut Module) -> Result<()> {
        while !self.peek().is_empty() {
            if self.accept("struct") { self.structure(module)? } else { self.function(module)? }
        }
        Ok(())
    }

    fn structure(&mut self, module: &mut Module) -> Result<()> {
        let name = self.name()?;
        self.expect("{")?;
        let fields = self.list(";", "}")?;
        self.expect(";")?;
        let ty = module.types.structure(&fields.iter().map(|(ty, _)| self.ir(*ty)).collect::<Vec<_>>());
        let mut debug = DebugBuilder::new(module);
        let typed: Vec<_> =
            fields.iter().filter_map(|f| Some((f.1, self.debug_type(&mut debug, f.0)?))).collect();
        let typed = debug.structure(name, ty, &typed);
        self.types.push((name, ty, Some(typed), fields));
        Ok(())
    }

    fn function(&mut self, module: &mut Module) -> Result<()> {
        let (kernel, ret) = (self.accept("kernel"), self.ty()?);
        let (at, name) = (self.next, self.name()?);
        self.expect("(")?;
        let params = self.list(",", ")")?;
        let kind = if kernel { FuncKind::Kernel } else { FuncKind::Func };
        let passed = |ty: Ty| if kernel && ty.1 > 0 { Type::PTR_GLOBAL } else { self.ir(ty) };
        let types = params.iter().map(|(ty, _)| Param::new(passed(*ty))).collect();
        let returned = if ret == VOID { vec![] } else { vec![self.ir(ret)] };
        let id = module.add_function(Function::new(name, kind, types, returned));
        if !kernel {
            self.functions.insert(name, (id, params.iter().map(|(ty, _)| *ty).collect(), ret));
        }

        let subprogram = DebugBuilder::new(module).subprogram(self.unit, name, self.declared(at), None);
        let mut b = FunctionBuilder::new(module, id);
        let entry = b.entry_block();
        let scope = b.set_subprogram(subprogram);
        let mut body = Body { front: self, b, ret, variables: vec![], scope, loops: vec![], depth: 0 };
        body.here(at);
        for (n, param) in params.into_iter().enumerate() {
            let mut value = body.b.block_params(entry)[n];
            if kernel && param.0.1 > 0 {
                value = body.b.ins().addrspacecast(Type::PTR, value);
            }
            body.local(at, VariableKind::Parameter(n as u32 + 1), param, value);
        }
        body.front.expect("{")?;
        body.block()?;
        match ret {
            VOID => body.b.ins().ret(&[]),
            _ => body.b.ins().trap(),
        };
        body.b.finalize().map_err(|errors| self.error(at, errors.to_string()))
    }

    /// Types and names up to a token. The last one need not have a separator behind it.
    fn list(&mut self, separator: &str, end: &str) -> Result<Vec<Named<'a>>> {
        let mut list = Vec::new();
        while !self.accept(end) {
            list.push(self.typed_name()?);
            if self.peek() != end {
                self.expect(separator)?;
            }
        }
        Ok(list)
    }

    fn typed_name(&mut self) -> Result<Named<'a>> {
        let ty = self.ty()?;
        if ty == VOID { Err(self.expected("`*`")) } else { Ok((ty, self.name()?)) }
    }

    /// The type that begins here, if one does.
    fn base(&self) -> Option<usize> {
        self.types.iter().position(|(known, ..)| *known == self.peek())
    }

    fn ty(&mut self) -> Result<Ty> {
        let base = self.base().ok_or_else(|| self.expected("a type"))?;
        self.bump();
        Ok(Ty(base, (0..MOST_STARS).take_while(|_| self.accept("*")).count()))
    }

    /// The type of the IR.
    fn ir(&self, ty: Ty) -> Type {
        if ty.1 > 0 { Type::PTR } else { self.types[ty.0].1 }
    }

    /// The type for debuggers.
    fn debug_type(&self, debug: &mut DebugBuilder, ty: Ty) -> Option<DebugTypeId> {
        let pointer = |to, _| Some(debug.pointer(to, StateSpace::Generic));
        (0..ty.1).fold(self.types[ty.0].2, pointer)
    }

    fn spelled(&self, ty: Ty) -> String {
        format!("`{}{}`", self.types[ty.0].0, "*".repeat(ty.1))
    }

    fn declared(&self, at: usize) -> Declared {
        Declared { file: self.file, line: self.source.position(self.tokens[at].1 as u32).line }
    }
}
