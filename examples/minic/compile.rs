//! From text to IR in one pass: each construct is built as it is read. Locals are stack slots, of which the compiler makes registers.

use std::collections::HashMap;
use warpsmith::diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith::ir::debug::{
    Composite, DebugBuilder, Declared, Encoding, Member, ScopeKind, Storage, VariableKind,
};
use warpsmith::ir::{
    Block, DebugTypeId, Extent, FileId, FloatCC, FuncId, FuncKind, Function, FunctionBuilder,
};
use warpsmith::ir::{EntityRef, ScopeId, Sreg, StackSlot, Type, UnitId, Value};
use warpsmith::ir::{Global, InstBuilder, IntCC, MemFlags, Module, Param};
use warpsmith::{isa::StateSpace, math};

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

/// Operators from the loosest to the tightest.
const LEVELS: [&str; 10] = ["||", "&&", "|", "^", "&", "== !=", "<= >= < >", "<< >>", "+ -", "* / %"];

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
    let tokens = tokens(text);
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

fn tokens(source: &str) -> Vec<(&str, usize)> {
    const LONG: [&str; 8] = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let word = |c: char| c.is_alphanumeric() || c == '_' || first.is_ascii_digit() && c == '.';
        let comment = rest.starts_with("//");
        let len = match first {
            '"' => rest[1..].find('"').map_or(1, |end| end + 2),
            _ if comment => rest.find('\n').unwrap_or(rest.len()),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            c => LONG.iter().find(|long| rest.starts_with(**long)).map_or(c.len_utf8(), |long| long.len()),
        };
        if !comment && !first.is_whitespace() {
            found.push((&rest[..len], at));
        }
        at += len;
    }
    found.push(("", at));
    found
}

impl<'a> Front<'a> {
    fn peek(&self) -> &'a str {
        self.tokens[self.next].0
    }

    fn bump(&mut self) -> &'a str {
        let token = self.peek();
        self.next += usize::from(!token.is_empty());
        token
    }

    fn accept(&mut self, text: &str) -> bool {
        self.peek() == text && !self.bump().is_empty()
    }

    fn fail<T>(&self, at: usize, message: impl Into<String>) -> Result<T> {
        let (token, start) = self.tokens[at];
        let span = Span::new(start as u32, (start + token.len()) as u32);
        Err(Box::new(Diagnostic::error("minic", span, message)))
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = if self.peek().is_empty() { "the end".into() } else { format!("`{}`", self.peek()) };
        self.fail(self.next, format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) { Ok(()) } else { self.expected(&format!("`{text}`")) }
    }

    fn name(&mut self) -> Result<&'a str> {
        let is_name = self.peek().starts_with(|c: char| c.is_alphabetic() || c == '_');
        if is_name { Ok(self.bump()) } else { self.expected("a name") }
    }

    /// The type that begins here, if one does.
    fn base(&self) -> Option<usize> {
        self.types.iter().position(|(known, ..)| *known == self.peek())
    }

    fn ty(&mut self) -> Result<Ty> {
        let Some(base) = self.base() else { return self.expected("a type") };
        self.bump();
        let mut ty = Ty(base, 0);
        while ty.1 < MOST_STARS && self.accept("*") {
            ty.1 += 1;
        }
        Ok(ty)
    }

    fn typed_name(&mut self) -> Result<(Ty, &'a str)> {
        let ty = self.ty()?;
        if ty.0 == VOID.0 { self.expected("a `*` that is not of `void`") } else { Ok((ty, self.name()?)) }
    }

    /// The type of the IR.
    fn ir(&self, ty: Ty) -> Type {
        if ty.1 > 0 { Type::PTR } else { self.types[ty.0].1 }
    }

    /// The type that a debugger is told.
    fn told(&self, ty: Ty) -> Option<DebugTypeId> {
        self.described[ty.0][usize::from(ty.1)]
    }

    fn spelled(&self, ty: Ty) -> String {
        format!("`{}{}`", self.types[ty.0].0, "*".repeat(ty.1.into()))
    }

    fn program(&mut self, module: &mut Module) -> Result<()> {
        while !self.peek().is_empty() {
            if !self.accept("struct") {
                self.function(module)?;
                continue;
            }
            let (name, mut fields) = (self.name()?, Vec::new());
            self.expect("{")?;
            while !self.accept("}") {
                fields.push(self.typed_name()?);
                self.expect(";")?;
            }
            let types: Vec<Type> = fields.iter().map(|(ty, _)| self.ir(*ty)).collect();
            let ty = module.types.structure(&types);
            let members = fields.iter().enumerate().filter_map(|(n, (field, name))| {
                let (_, offset) = module.types.field(ty, n as u64)?;
                Some(Member { name: (*name).into(), ty: self.told(*field)?, offset, bits: None })
            });
            let (members, size) = (members.collect(), module.types.size(ty));
            let mut debug = DebugBuilder::new(module);
            let told = debug.composite(Composite::Struct, name, size, members);
            self.described.push(pointers(&mut debug, Some(told)));
            self.types.push((name, ty, fields));
            self.expect(";")?;
        }
        Ok(())
    }

    fn function(&mut self, module: &mut Module) -> Result<()> {
        let kernel = self.accept("kernel");
        self.ret = self.ty()?;
        let at = self.next;
        let (name, mut params) = (self.name()?, Vec::new());
        self.expect("(")?;
        while !self.accept(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            params.push(self.typed_name()?);
        }
        let types = params.iter().map(|(ty, _)| match ty {
            Ty(_, 1..) if kernel => Param::new(Type::PTR_GLOBAL),
            ty => Param::new(self.ir(*ty)),
        });
        let kind = if kernel { FuncKind::Kernel } else { FuncKind::Func };
        let returns = if self.ret == VOID { vec![] } else { vec![self.ir(self.ret)] };
        let id = module.add_function(Function::new(name, kind, types.collect(), returns));
        if !kernel {
            let types = params.iter().map(|(ty, _)| *ty).collect();
            self.functions.insert(name, (id, types, self.ret));
        }

        let place = self.declared(at);
        let subprogram = DebugBuilder::new(module).subprogram(self.unit, name, place, None);
        let mut builder = FunctionBuilder::new(module, id);
        let b = &mut builder;
        let entry = b.entry_block();
        self.scope = b.set_subprogram(subprogram);
        self.here(b, at);
        self.scopes.push(vec![]);
        for (n, ((ty, name), value)) in (1..).zip(params.into_iter().zip(b.block_params(entry).to_vec())) {
            let value = if kernel && ty.1 > 0 { b.ins().addrspacecast(Type::PTR, value) } else { value };
            self.declare(b, at, VariableKind::Parameter(n), name, ty, value);
        }
        self.expect("{")?;
        self.block(b)?;
        self.scopes.pop();
        if self.ret == VOID {
            b.ins().ret(&[])
        } else {
            b.ins().trap()
        };
        builder.finalize().or_else(|errors| self.fail(at, errors.to_string()))
    }

    // Statements.

    /// What is built from now on comes from this token.
    fn here(&self, b: &mut Builder, at: usize) {
        let place = self.source.position(self.tokens[at].1 as u32);
        b.set_location(FileId::new(0), place.line, place.column, self.scope);
    }

    fn declared(&self, at: usize) -> Declared {
        let place = self.source.position(self.tokens[at].1 as u32);
        Declared { file: FileId::new(0), line: place.line }
    }

    /// Reads something whose variables are known in it alone.
    fn scoped(
        &mut self,
        b: &mut Builder,
        read: impl FnOnce(&mut Self, &mut Builder) -> Result<()>,
    ) -> Result<()> {
        let (outer, place) = (self.scope, self.source.position(self.tokens[self.next].1 as u32));
        self.scope = b.create_scope(ScopeKind::Block, outer, FileId::new(0), place.line, place.column);
        self.scopes.push(vec![]);
        read(self, b)?;
        self.scopes.pop();
        self.scope = outer;
        Ok(())
    }

    /// Goes on in a block that all branches to are known of.
    fn enter(&self, b: &mut Builder, block: Block) {
        b.seal_block(block);
        b.switch_to_block(block);
    }

    fn declare(
        &mut self,
        b: &mut Builder,
        at: usize,
        kind: VariableKind,
        name: &'a str,
        ty: Ty,
        value: Value,
    ) {
        let (slot, address) = self.slot(b, ty, 1);
        b.ins().store(MemFlags::PLAIN, value, address, 0);
        self.tell(b, at, kind, name, ty, Storage::Slot(slot, 0));
        self.bind(name, (ty, Kind::Memory(address, 0)));
    }

    /// Tells a debugger of a variable, and where it is from here on.
    fn tell(&self, b: &mut Builder, at: usize, kind: VariableKind, name: &str, ty: Ty, storage: Storage) {
        if let Some(ty) = self.told(ty) {
            let variable = b.declare_variable(name, kind, ty, self.scope, self.declared(at));
            b.bind_variable(variable, None, storage);
        }
    }

    fn slot(&self, b: &mut Builder, ty: Ty, len: u64) -> (StackSlot, Value) {
        let types = &b.module().types;
        let (size, align) = (types.size(self.ir(ty)) * len, types.align(self.ir(ty)));
        let slot = b.create_stack_slot(size as u32, align);
        (slot, b.ins().stack_addr(slot, 0))
    }

    fn bind(&mut self, name: &'a str, operand: Operand) {
        self.scopes.last_mut().expect("functions have a scope").push((name, operand));
    }

    fn block(&mut self, b: &mut Builder) -> Result<()> {
        self.scoped(b, |front, b| {
            while !front.accept("}") {
                front.statement(b)?;
            }
            Ok(())
        })
    }

    /// Hostile input must not exhaust the stack.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        let read =
            if self.depth > 100 { self.fail(self.next, "this is nested too deep") } else { read(self) };
        self.depth -= 1;
        read
    }

    fn statement(&mut self, b: &mut Builder) -> Result<()> {
        self.nested(|front| {
            front.here(b, front.next);
            match front.peek() {
                "{" => front.expect("{").and_then(|()| front.block(b)),
                "if" => front.branch(b),
                "for" | "while" => front.scoped(b, Self::repeat),
                _ => front.simple(b).and_then(|()| front.expect(";")),
            }
        })
    }

    fn branch(&mut self, b: &mut Builder) -> Result<()> {
        let [yes, no, end] = [(); 3].map(|()| b.create_block());
        self.bump();
        self.expect("(")?;
        let cond = self.condition(b)?;
        self.expect(")")?;
        b.ins().brif(cond, yes, &[], no, &[]);
        self.enter(b, yes);
        self.statement(b)?;
        b.ins().jump(end, &[]);
        self.enter(b, no);
        if self.accept("else") {
            self.statement(b)?;
        }
        b.ins().jump(end, &[]);
        self.enter(b, end);
        Ok(())
    }

    /// `while (c) s` and `for (a; c; n) s`, whose `n` is read and built before `s`.
    fn repeat(&mut self, b: &mut Builder) -> Result<()> {
        let [head, body, end] = [(); 3].map(|()| b.create_block());
        let is_for = self.bump() == "for";
        self.expect("(")?;
        if is_for {
            self.simple(b)?;
            self.expect(";")?;
        }
        b.ins().jump(head, &[]);
        b.switch_to_block(head);
        let cond = if self.peek() == ";" { b.ins().iconst(Type::I1, 1) } else { self.condition(b)? };
        b.ins().brif(cond, body, &[], end, &[]);
        let mut next = head;
        if is_for {
            self.expect(";")?;
            next = b.create_block();
            b.switch_to_block(next);
            self.simple(b)?;
            b.ins().jump(head, &[]);
        }
        self.expect(")")?;
        self.enter(b, body);
        self.loops.push([next, end]);
        self.statement(b)?;
        self.loops.pop();
        b.ins().jump(next, &[]);
        b.seal_block(next);
        b.seal_block(head);
        self.enter(b, end);
        Ok(())
    }

    /// A statement that ends in a semicolon, without it. Nothing reaches what is behind a jump; it is built all the same.
    fn simple(&mut self, b: &mut Builder) -> Result<()> {
        let at = self.next;
        match self.peek() {
            ";" | ")" => return Ok(()),
            "return" => {
                self.bump();
                let values = if self.ret == VOID { vec![] } else { vec![self.expr_of(b, self.ret)?] };
                b.ins().ret(&values);
            }
            word @ ("break" | "continue") => {
                self.bump();
                let Some([next, end]) = self.loops.last() else {
                    return self.fail(at, format!("`{word}` outside of a loop"));
                };
                b.ins().jump(if word == "break" { *end } else { *next }, &[]);
            }
            "assert" => {
                self.bump();
                let start = self.tokens[self.next].1 + 1;
                self.expect("(")?;
                let cond = self.condition(b)?;
                let message = &self.source.text()[start..self.tokens[self.next].1];
                self.here(b, at);
                b.ins().assert(cond, message);
                return self.expect(")");
            }
            "shared" => return self.declaration(b),
            _ if self.base().is_some() => return self.declaration(b),
            _ => {
                let (ty, place) = self.expr(b)?;
                if self.accept("=") {
                    let Kind::Memory(ptr, offset) = place else {
                        return self.fail(at, "this cannot be assigned");
                    };
                    let value = self.expr_of(b, ty)?;
                    b.ins().store(MemFlags::PLAIN, value, ptr, offset);
                }
                return Ok(());
            }
        }
        let unreached = b.create_block();
        self.enter(b, unreached);
        Ok(())
    }

    fn declaration(&mut self, b: &mut Builder) -> Result<()> {
        let (at, shared) = (self.next, self.accept("shared"));
        let (ty, name) = self.typed_name()?;
        if !self.accept("[") {
            let value = match self.accept("=") {
                true => self.expr_of(b, ty)?,
                false => b.ins().zero(self.ir(ty)),
            };
            self.declare(b, at, VariableKind::Local, name, ty, value);
            return Ok(());
        }
        let Ok(len @ 1..=4096) = self.peek().parse::<u64>() else { return self.expected("1 to 4096") };
        self.bump();
        self.expect("]")?;
        let address = if shared {
            let unique = format!("{name}.{}", b.module().globals.len());
            let global = Global::new(unique, StateSpace::Shared, self.ir(ty), Extent::Array(len));
            let global = b.add_global(global);
            b.global_addr(global)
        } else {
            self.slot(b, ty, len).1
        };
        let address = b.ins().addrspacecast(Type::PTR, address);
        let ty = Ty(ty.0, ty.1 + 1);
        self.tell(b, at, VariableKind::Local, name, ty, Storage::Value(address));
        self.bind(name, (ty, Kind::Value(address)));
        Ok(())
    }

    // Expressions.

    fn value(&self, b: &mut Builder, (ty, kind): Operand) -> Value {
        match kind {
            Kind::Value(value) => value,
            Kind::Memory(ptr, offset) => b.ins().load(self.ir(ty), MemFlags::PLAIN, ptr, offset),
        }
    }

    /// The value as one of a type: an `int` becomes a `float` by itself, a `float` an `int` by a cast.
    fn converted(&self, b: &mut Builder, at: usize, operand: Operand, to: Ty, cast: bool) -> Result<Value> {
        let value = self.value(b, operand);
        match (operand.0, to) {
            (from, to) if from == to && to != VOID => Ok(value),
            (INT, FLOAT) => Ok(b.ins().sitofp(Type::F32, value)),
            (FLOAT, INT) if cast => Ok(b.ins().fptosi(Type::I32, value)),
            (Ty(_, 1..), Ty(_, 1..)) if cast => Ok(value),
            (from, to) => {
                self.fail(at, format!("this is of type {}, not {}", self.spelled(from), self.spelled(to)))
            }
        }
    }

    /// An expression as an `i1`.
    fn condition(&mut self, b: &mut Builder) -> Result<Value> {
        let at = self.next;
        let operand = self.expr(b)?;
        self.truth(b, at, operand)
    }

    fn truth(&self, b: &mut Builder, at: usize, operand: Operand) -> Result<Value> {
        let value = self.converted(b, at, operand, INT, false)?;
        Ok(b.ins().icmp_imm(IntCC::Ne, value, 0))
    }

    /// An expression of a type.
    fn expr_of(&mut self, b: &mut Builder, ty: Ty) -> Result<Value> {
        let at = self.next;
        let operand = self.expr(b)?;
        self.converted(b, at, operand, ty, false)
    }

    fn expr(&mut self, b: &mut Builder) -> Result<Operand> {
        self.nested(|front| front.binary(b, 0))
    }

    fn binary(&mut self, b: &mut Builder, level: usize) -> Result<Operand> {
        let Some(operators) = LEVELS.get(level) else { return self.prefix(b) };
        let mut left = self.binary(b, level + 1)?;
        loop {
            let at = self.next;
            let Some(op) = operators.split(' ').find(|op| self.accept(op)) else { return Ok(left) };
            self.here(b, at);
            left = if level < 2 {
                let (left, result) = (self.truth(b, at, left)?, b.declare_var(Type::I1));
                let [more, end] = [(); 2].map(|()| b.create_block());
                b.def_var(result, left);
                let [yes, no] = if op == "&&" { [more, end] } else { [end, more] };
                b.ins().brif(left, yes, &[], no, &[]);
                self.enter(b, more);
                let right = self.binary(b, level + 1)?;
                let right = self.truth(b, at, right)?;
                b.def_var(result, right);
                b.ins().jump(end, &[]);
                self.enter(b, end);
                let truth = b.use_var(result);
                truth_value(b, truth)
            } else {
                // What is on the left is read before what is on the right does anything.
                let first = (left.0, Kind::Value(self.value(b, left)));
                let right = self.binary(b, level + 1)?;
                self.here(b, at);
                self.arithmetic(b, at, op, first, right)?
            }
        }
    }

    fn arithmetic(&self, b: &mut Builder, at: usize, op: &str, x: Operand, y: Operand) -> Result<Operand> {
        if let (Ty(_, 1..), "+") = (x.0, op) {
            let index = self.converted(b, at, y, INT, false)?;
            let Kind::Memory(address, _) = self.element(b, at, x, index)?.1 else { return Ok(x) };
            return Ok((x.0, Kind::Value(address)));
        }
        let ty = if [x.0, y.0].contains(&FLOAT) { FLOAT } else { INT };
        let (x, y) = (self.converted(b, at, x, ty, false)?, self.converted(b, at, y, ty, false)?);
        let (int, float) = match op {
            "==" => (IntCC::Eq, FloatCC::Eq),
            "!=" => (IntCC::Ne, FloatCC::Neu),
            "<" => (IntCC::Slt, FloatCC::Lt),
            "<=" => (IntCC::Sle, FloatCC::Le),
            ">" => (IntCC::Sgt, FloatCC::Gt),
            ">=" => (IntCC::Sge, FloatCC::Ge),
            _ => {
                let ins = b.ins();
                let value = match (op, ty) {
                    ("+", INT) => ins.iadd(x, y),
                    ("-", INT) => ins.isub(x, y),
                    ("*", INT) => ins.imul(x, y),
                    ("/", INT) => ins.sdiv(x, y),
                    ("%", INT) => ins.srem(x, y),
                    ("&", INT) => ins.band(x, y),
                    ("|", INT) => ins.bor(x, y),
                    ("^", INT) => ins.bxor(x, y),
                    ("<<", INT) => ins.shl(x, y),
                    (">>", INT) => ins.ashr(x, y),
                    ("+", _) => ins.fadd(x, y),
                    ("-", _) => ins.fsub(x, y),
                    ("*", _) => ins.fmul(x, y),
                    ("/", _) => ins.fdiv(x, y),
                    _ => return self.fail(at, format!("`{op}` is not for a `float`")),
                };
                return Ok((ty, Kind::Value(value)));
            }
        };
        let ins = b.ins();
        let truth = if ty == INT { ins.icmp(int, x, y) } else { ins.fcmp(float, x, y) };
        Ok(truth_value(b, truth))
    }

    /// What a pointer points to, so many elements on.
    fn element(&self, b: &mut Builder, at: usize, pointer: Operand, index: Value) -> Result<Operand> {
        let Ty(base, stars @ 1..) = pointer.0 else {
            return self.fail(at, format!("{} is no pointer", self.spelled(pointer.0)));
        };
        let (ty, ptr) = (Ty(base, stars - 1), self.value(b, pointer));
        let size = b.module().types.size(self.ir(ty));
        Ok((ty, Kind::Memory(b.ins().index(ptr, index, size as i32), 0)))
    }

    fn prefix(&mut self, b: &mut Builder) -> Result<Operand> {
        let (op, at) = (self.peek(), self.next);
        if !["-", "!", "~"].contains(&op) {
            return self.postfix(b);
        }
        self.bump();
        let operand = self.nested(|front| front.prefix(b))?;
        self.here(b, at);
        let value = self.value(b, operand);
        let value = match (op, operand) {
            ("-", (FLOAT, _)) => b.ins().fneg(value),
            ("-", (INT, _)) => b.ins().ineg(value),
            ("~", (INT, _)) => b.ins().bnot(value),
            ("!", _) => {
                let truth = self.truth(b, at, operand)?;
                let not = b.ins().bnot(truth);
                return Ok(truth_value(b, not));
            }
            _ => return self.fail(at, format!("`{op}` is not for {}", self.spelled(operand.0))),
        };
        Ok((operand.0, Kind::Value(value)))
    }

    fn postfix(&mut self, b: &mut Builder) -> Result<Operand> {
        let mut operand = self.primary(b)?;
        loop {
            let at = self.next;
            if self.accept("[") {
                let index = self.expr_of(b, INT)?;
                self.expect("]")?;
                self.here(b, at);
                operand = self.element(b, at, operand, index)?;
            } else if self.accept(".") {
                operand = self.field(b, operand)?;
            } else {
                return Ok(operand);
            }
        }
    }

    fn field(&mut self, b: &mut Builder, (ty, whole): Operand) -> Result<Operand> {
        let (at, name) = (self.next, self.name()?);
        let fields = if ty.1 == 0 { &self.types[ty.0].2[..] } else { &[] };
        let Some(n) = fields.iter().position(|(_, known)| *known == name) else {
            return self.fail(at, format!("{} has no field `{name}`", self.spelled(ty)));
        };
        let kind = match whole {
            Kind::Value(value) => Kind::Value(b.extract_value(value, &[n as u32])),
            Kind::Memory(ptr, offset) => {
                let field = b.module().types.field(self.ir(ty), n as u64);
                Kind::Memory(ptr, offset + field.map_or(0, |(_, behind)| behind as i32))
            }
        };
        Ok((fields[n].0, kind))
    }

    fn primary(&mut self, b: &mut Builder) -> Result<Operand> {
        let (text, at) = (self.peek(), self.next);
        if self.accept("(") {
            if self.base().is_none() {
                let inner = self.expr(b)?;
                return self.expect(")").map(|()| inner);
            }
            let ty = self.ty()?;
            self.expect(")")?;
            let operand = self.nested(|front| front.prefix(b))?;
            return Ok((ty, Kind::Value(self.converted(b, at, operand, ty, true)?)));
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let (ty, value) = match (text.parse::<u32>(), text.parse()) {
                (Ok(int), _) => (INT, b.ins().iconst(Type::I32, i64::from(int))),
                (_, Ok(float)) if text.contains('.') => (FLOAT, b.ins().f32const(float)),
                _ => return self.expected("a number"),
            };
            self.bump();
            return Ok((ty, Kind::Value(value)));
        }
        let name = self.name()?;
        if self.accept("(") {
            return self.call(b, at, name);
        }
        if let Some((_, local)) = self.scopes.iter().flatten().rev().find(|(known, _)| *known == name) {
            return Ok(*local);
        }
        let register = match name {
            "threadIdx" => Sreg::TID_X,
            "blockIdx" => Sreg::CTAID_X,
            "blockDim" => Sreg::NTID_X,
            _ => return self.fail(at, format!("there is no `{name}` here")),
        };
        Ok((INT, Kind::Value(b.ins().sreg(register))))
    }

    fn call(&mut self, b: &mut Builder, at: usize, name: &str) -> Result<Operand> {
        let (mut args, mut format) = (Vec::new(), None);
        while !self.accept(")") {
            if !args.is_empty() || format.is_some() {
                self.expect(",")?;
            } else if let Some(text) = self.peek().strip_prefix('"') {
                format = Some(text.trim_end_matches('"').replace("\\n", "\n"));
                self.bump();
                continue;
            }
            let (at, arg) = (self.next, self.expr(b)?);
            args.push((at, (arg.0, Kind::Value(self.value(b, arg)))));
        }
        self.here(b, at);
        let values: Vec<Value> = args.iter().map(|(_, arg)| self.value(b, *arg)).collect();
        let library = math::Function::new(name, Type::F32)
            .filter(|f| f.ulp().is_some() && f.signature().0.iter().all(|ty| *ty == Type::F32));
        let value = match (name, format, &args[..]) {
            ("printf", Some(format), _) => b.ins().printf(&format, &values),
            ("barrier", None, []) => {
                b.ins().barrier();
                return Ok((VOID, Kind::Value(b.ins().iconst(Type::I32, 0))));
            }
            _ => {
                let (id, params, ret) = match (self.functions.get(name).cloned(), library) {
                    (Some(own), _) => own,
                    (None, Some(f)) => {
                        let known = b.module().function(&f.symbol());
                        let id = known.unwrap_or_else(|| b.add_function(f.declaration()));
                        (id, vec![FLOAT; f.signature().0.len()], FLOAT)
                    }
                    (None, None) => return self.fail(at, format!("there is no function `{name}` for this")),
                };
                if params.len() != args.len() {
                    let message = format!("`{name}` takes {} arguments, not {}", params.len(), args.len());
                    return self.fail(at, message);
                }
                let converted = args.iter().zip(params);
                let values: Result<Vec<Value>> =
                    converted.map(|((at, arg), ty)| self.converted(b, *at, *arg, ty, false)).collect();
                let result = b.call(id, &values?).get(0);
                return Ok((ret, Kind::Value(result.unwrap_or_else(|| b.ins().iconst(Type::I32, 0)))));
            }
        };
        Ok((INT, Kind::Value(value)))
    }
}

/// A condition as a number.
fn truth_value(b: &mut Builder, truth: Value) -> Operand {
    (INT, Kind::Value(b.ins().zext(Type::I32, truth)))
}
