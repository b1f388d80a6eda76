//! A tiny language of array expressions, compiled to a GPU kernel and run: what a front end on Warpsmith looks like.
//!
//!     cargo run --example expr_dsl -- "r = sqrt(x * x + y * y); x = x / r; y = y / r"
//!
//! A program is a list of assignments over arrays of f32, element by element: `+ - * /`, comparisons (1 or 0), `c ? a : b`,
//! `sqrt abs floor min max`, numbers, parentheses. The program becomes one kernel; every array is a parameter.

use std::error::Error;
use warpsmith::emit::Compiler;
use warpsmith::execute::execute;
use warpsmith::interp::Program;
use warpsmith::ir::{
    FloatCC, FuncKind, Function, FunctionBuilder, InstBuilder, IntCC, MemFlags, Module, Param, Sreg, Type,
    Value,
};
use warpsmith::isa::diagnostic::Diagnostic;
use warpsmith::isa::{ScalarType, Target};
use warpsmith::launch::{Arg, LaunchSpec};

enum Expr {
    Number(f32),
    Array(usize),
    Apply(&'static str, Vec<Expr>),
}

struct Parser<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
    arrays: Vec<&'a str>,
}

type Parse<T> = Result<T, String>;

impl<'a> Parser<'a> {
    fn new(mut text: &'a str) -> Self {
        let mut tokens = Vec::new();
        while let Some(first) = text.trim_start().chars().next() {
            text = text.trim_start();
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let end =
                if word(first) { text.find(|c| !word(c)).unwrap_or(text.len()) } else { first.len_utf8() };
            tokens.push(&text[..end]);
            text = &text[end..];
        }
        Parser { tokens: tokens.into_iter().peekable(), arrays: Vec::new() }
    }

    fn accept(&mut self, token: &str) -> bool {
        self.tokens.next_if_eq(&token).is_some()
    }

    fn expect(&mut self, token: &str) -> Parse<()> {
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
    fn program(&mut self) -> Parse<Vec<(usize, Expr)>> {
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
    fn choice(&mut self) -> Parse<Expr> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let yes = self.choice()?;
        self.expect(":")?;
        Ok(Expr::Apply("?", vec![condition, yes, self.choice()?]))
    }

    /// Operators of the level, left to right: comparisons, sums, products.
    fn binary(&mut self, level: usize) -> Parse<Expr> {
        const LEVELS: [&[&str]; 3] = [&["<", ">"], &["+", "-"], &["*", "/"]];
        let Some(operators) = LEVELS.get(level) else { return self.primary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.accept(operator)) {
            left = Expr::Apply(operator, vec![left, self.binary(level + 1)?]);
        }
        Ok(left)
    }

    fn primary(&mut self) -> Parse<Expr> {
        const FUNCTIONS: [(&str, usize); 5] = [("sqrt", 1), ("abs", 1), ("floor", 1), ("min", 2), ("max", 2)];
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
        if is_name {
            Ok(Expr::Array(self.array(token)))
        } else {
            Err(format!("expected an expression, found `{token}`"))
        }
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
        ("abs", &[x]) => b.ins().fabs(x),
        ("floor", &[x]) => b.ins().ffloor(x),
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
fn kernel(module: &mut Module, arrays: usize, program: &[(usize, Expr)]) -> Result<(), Vec<Diagnostic>> {
    let pointer = Param::new(Type::PTR_GLOBAL);
    let mut params = vec![Param::new(Type::I32)];
    params.extend(vec![pointer; arrays]);
    let kernel = module.add_function(Function::new("expr", FuncKind::Kernel, params, Vec::new()));
    let mut b = FunctionBuilder::new(module, kernel);
    let entry = b.entry_block();
    let (body, done) = (b.create_block(), b.create_block());
    let params = b.block_params(entry).to_vec();
    let [tid, block, size] = ["tid.x", "ctaid.x", "ntid.x"].map(|name| {
        let register = Sreg::from_name(name).expect("PTX has this register");
        b.ins().sreg(register)
    });
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

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(1).unwrap_or("r = sqrt(x * x + y * y); x = x / r; y = y / r".into());
    let mut parser = Parser::new(&text);
    let program = parser.program()?;
    let mut module = Module::new();
    kernel(&mut module, parser.arrays.len(), &program).map_err(|errors| errors[0].to_string())?;
    println!("{module}");

    let compiled = Compiler::new(Target::sm(80)).compile(&module).map_err(|errors| errors[0].to_string())?;
    println!("{}", compiled.text);

    // Eight elements an array: 1, 2, .. for the first, 2, 3, .. for the second, and so on.
    let data = |first: usize| (0..8).flat_map(|i| ((first + i) as f32).to_le_bytes()).collect();
    let buffers =
        (1..=parser.arrays.len()).map(|n| Arg::Buffer { bytes: data(n), element: Some(ScalarType::F32) });
    let args = [Arg::Value(8u32.to_le_bytes().to_vec())].into_iter().chain(buffers).collect();
    let launch = LaunchSpec::new("expr", [1, 1, 1], [32, 1, 1], args);
    let result = execute(&Program::load(&compiled.module).map_err(|errors| errors[0].clone())?, &launch)?;
    for (name, buffer) in parser.arrays.iter().zip(result.buffers.iter().skip(1).flatten()) {
        let floats =
            buffer.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        println!("{name} = {:?}", floats.collect::<Vec<f32>>());
    }
    Ok(())
}
