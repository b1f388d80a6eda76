//! A tiny language of array expressions, compiled to a GPU kernel and run: what a front end on Warpsmith looks like.
//!
//!     cargo run --example expr_dsl -- "r = sqrt(x * x + y * y); x = x / r; y = y / r"
//!
//! A program is a list of assignments over arrays of f32, element by element: `+ - * /`, comparisons (1 or 0), `c ? a : b`,
//! `sqrt min max`, numbers, parentheses. The program becomes one kernel; every array is a parameter.

use warpsmith::Diagnostics;
use warpsmith::emit::Compiler;
use warpsmith::interp::{Device, Launch, Program};
use warpsmith::ir::{FloatCC, FuncKind, Function, FunctionBuilder, InstBuilder, IntCC};
use warpsmith::ir::{MemFlags, Module, Param, Sreg, Type, Value};
use warpsmith::isa::Target;

enum Expr {
    Number(f32),
    Array(usize),
    Apply(&'static str, Vec<Expr>),
}

struct Parser<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
    arrays: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(mut text: &'a str) -> Self {
        let mut tokens = Vec::new();
        while let Some(first) = text.trim_start().chars().next() {
            text = text.trim_start();
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = text.find(|c| !word(c)).unwrap_or(text.len());
            let end = if word(first) { length } else { first.len_utf8() };
            tokens.push(&text[..end]);
            text = &text[end..];
        }
        Parser { tokens: tokens.into_iter().peekable(), arrays: Vec::new() }
    }

    fn accept(&mut self, token: &str) -> bool {
        self.tokens.next_if_eq(&token).is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        let found = self.tokens.peek().copied().unwrap_or("the end").to_owned();
        if self.accept(token) { Ok(()) } else { Err(format!("expected `{token}`, found {found}")) }
    }

    fn array(&mut self, name: &'a str) -> usize {
        self.arrays.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.arrays.push(name);
            self.arrays.len() - 1
        })
    }

    /// assignment { ";" assignment }
    fn program(&mut self) -> Result<Vec<(usize, Expr)>, String> {
        let mut assignments = Vec::new();
        while let Some(name) = self.tokens.next() {
            self.expect("=")?;
            let value = self.choice()?;
            assignments.push((self.array(name), value));
            if self.tokens.peek().is_some() {
                self.expect(";")?;
            }
        }
        Ok(assignments)
    }

    /// binary [ "?" choice ":" choice ]
    fn choice(&mut self) -> Result<Expr, String> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let yes = self.choice()?;
        self.expect(":")?;
        Ok(Expr::Apply("?", vec![condition, yes, self.choice()?]))
    }

    /// Operators of the level, left to right: comparisons, sums, products.
    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        const LEVELS: [&[&str]; 3] = [&["<", ">"], &["+", "-"], &["*", "/"]];
        let Some(operators) = LEVELS.get(level) else { return self.primary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.accept(operator)) {
            left = Expr::Apply(operator, vec![left, self.binary(level + 1)?]);
        }
        Ok(left)
    }

    fn primary(&mut self) -> Result<Expr, String> {
        const FUNCTIONS: [(&str, usize); 3] = [("sqrt", 1), ("min", 2), ("max", 2)];
        let token = self.tokens.next().ok_or("expected an expression, found the end")?;
        if let Ok(number) = token.parse() {
            return Ok(Expr::Number(number));
        }
        if token == "(" {
            let inner = self.choice()?;
            return self.expect(")").map(|()| inner);
        }
        if let Some((function, count)) = FUNCTIONS.into_iter().find(|(name, _)| *name == token) {
            self.expect("(")?;
            let mut args = vec![self.choice()?];
            while args.len() < count {
                self.expect(",")?;
                args.push(self.choice()?);
            }
            return self.expect(")").map(|()| Expr::Apply(function, args));
        }
        let is_name = token.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let unexpected = || format!("expected an expression, found `{token}`");
        is_name.then(|| Expr::Array(self.array(token))).ok_or_else(unexpected)
    }
}

/// Emits the value of an expression; `elements` are the current values of the arrays.
fn value(b: &mut FunctionBuilder, elements: &[Value], expr: &Expr) -> Value {
    let (name, args) = match expr {
        Expr::Number(number) => return b.ins().f32const(*number),
        Expr::Array(array) => return elements[*array],
        Expr::Apply(name, args) => (*name, args),
    };
    let args: Vec<Value> = args.iter().map(|arg| value(b, elements, arg)).collect();
    match (name, args.as_slice()) {
        ("+", &[x, y]) => b.ins().fadd(x, y),
        ("-", &[x, y]) => b.ins().fsub(x, y),
        ("*", &[x, y]) => b.ins().fmul(x, y),
        ("/", &[x, y]) => b.ins().fdiv(x, y),
        ("min", &[x, y]) => b.ins().fmin(x, y),
        ("max", &[x, y]) => b.ins().fmax(x, y),
        ("sqrt", &[x]) => b.ins().fsqrt(x),
        ("?", &[c, x, y]) => {
            let zero = b.ins().f32const(0.0);
            let taken = b.ins().fcmp(FloatCC::Neu, c, zero);
            b.ins().select(taken, x, y)
        }
        (comparison, &[x, y]) => {
            let (one, zero) = (b.ins().f32const(1.0), b.ins().f32const(0.0));
            let condition = b.ins().fcmp(if comparison == "<" { FloatCC::Lt } else { FloatCC::Gt }, x, y);
            b.ins().select(condition, one, zero)
        }
        (other, _) => unreachable!("the parser makes no `{other}` of that shape"),
    }
}

/// kernel @expr(%n: i32, a pointer per array): thread i computes element i.
fn kernel(module: &mut Module, arrays: usize, program: &[(usize, Expr)]) -> Result<(), Diagnostics> {
    let mut params = vec![Param::new(Type::I32)];
    params.extend(vec![Param::new(Type::PTR_GLOBAL); arrays]);
    let kernel = module.add_function(Function::new("expr", FuncKind::Kernel, params, Vec::new()));
    let mut b = FunctionBuilder::new(module, kernel);
    let entry = b.entry_block();
    let (body, done) = (b.create_block(), b.create_block());
    let params = b.block_params(entry).to_vec();
    let registers = ["tid.x", "ctaid.x", "ntid.x"].map(|name| Sreg::from_name(name).expect("a PTX register"));
    let [tid, block, size] = registers.map(|register| b.ins().sreg(register));
    let start = b.ins().imul(block, size);
    let i = b.ins().iadd(start, tid);
    let inside = b.ins().icmp(IntCC::Ult, i, params[0]);
    b.ins().brif(inside, body, &[], done, &[]);
    b.switch_to_block(body);
    let places: Vec<Value> = params[1..].iter().map(|array| b.ins().index(*array, i, 4)).collect();
    let mut elements: Vec<Value> =
        places.iter().map(|place| b.ins().load(Type::F32, MemFlags::default(), *place, 0)).collect();
    for (array, expr) in program {
        elements[*array] = value(&mut b, &elements, expr);
        b.ins().store(MemFlags::default(), elements[*array], places[*array], 0);
    }
    b.ins().jump(done, &[]);
    b.switch_to_block(done);
    b.ins().ret(&[]);
    b.finalize()
}

/// The module of a program.
pub fn compile(text: &str) -> Result<Module, Box<dyn std::error::Error>> {
    let mut parser = Parser::new(text);
    let program = parser.program()?;
    let mut module = Module::new();
    kernel(&mut module, parser.arrays.len(), &program)?;
    Ok(module)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).unwrap_or("r = sqrt(x * x + y * y); x = x / r; y = y / r".into());
    let mut parser = Parser::new(&text);
    let program = parser.program()?;
    let mut module = Module::new();
    kernel(&mut module, parser.arrays.len(), &program)?;
    let compiled = Compiler::new(Target::sm(80)).compile(&module)?;
    println!("{module}\n{}", compiled.text);

    // Eight elements an array: 1, 2, .. for the first, 2, 3, .. for the second, and so on.
    let mut device = Device::new();
    let mut launch = Launch::new("expr").block([32, 1, 1]).arg(8u32);
    let mut buffers = Vec::new();
    for first in 1..=parser.arrays.len() {
        let data: Vec<f32> = (first..first + 8).map(|n| n as f32).collect();
        buffers.push(device.upload(&data)?);
        launch = launch.arg(buffers[first - 1]);
    }
    let program = Program::load(&compiled.module)?;
    device.launch(&program, &launch)?;
    for (name, buffer) in parser.arrays.iter().zip(buffers) {
        println!("{name} = {:?}", device.download::<f32>(buffer)?);
    }
    Ok(())
}
