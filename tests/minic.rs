//! The example language `examples/minic`: its demonstration, its errors, and random programs against what they should compute.

#[path = "../examples/minic/compile/mod.rs"]
mod compile;

use compile::compile;
use std::fmt::Write;
use warpsmith::emit::Debug;
use warpsmith::watch::debug::{Debugger, Script};
use warpsmith::{Compiler, Device, Launch, OptLevel, Program, Target};

/// Runs a kernel on a buffer at a level, or, without one, by the IR's own meaning; what it leaves there and prints.
fn run(
    source: &str,
    level: Option<OptLevel>,
    kernel: &str,
    data: &[i32],
) -> Result<(Vec<i32>, String), String> {
    let module = compile("test.c", source).map_err(|errors| errors.to_string())?;
    let program = match level {
        Some(level) => {
            let compiler = Compiler::new(Target::sm(80)).with_opt_level(level).with_verify_each(true);
            let compiled = compiler.compile(&module).map_err(|errors| errors.to_string())?;
            Program::load(&compiled.module).map_err(|errors| errors.to_string())?
        }
        None => Program::from_ir(&module).map_err(|errors| errors.to_string())?,
    };
    let mut device = Device::new();
    let buffer = device.upload(data).map_err(|fault| fault.to_string())?;
    let launch = Launch::new(kernel).block([64, 1, 1]).arg(buffer).arg(data.len() as i32);
    device.launch(&program, &launch).map_err(|fault| fault.to_string())?;
    let printed = String::from_utf8_lossy(&device.take_output()).into_owned();
    Ok((device.download(buffer).map_err(|fault| fault.to_string())?, printed))
}

const LEVELS: [Option<OptLevel>; 4] = [None, Some(OptLevel::O0), Some(OptLevel::O1), Some(OptLevel::O3)];

#[test]
fn the_demonstration_prints_and_asserts() {
    let source = include_str!("../examples/minic/squares.c");
    for level in LEVELS {
        let numbers: Vec<i32> = (0..64).collect();
        let (data, printed) = run(source, level, "squares", &numbers).unwrap();
        assert_eq!(data[..3], [85344, 1, 2], "{level:?}");
        assert_eq!(printed, "the squares add up to 85344, the numbers to 2016.000000\n", "{level:?}");
        let large = run(source, level, "squares", &[1000; 64]).unwrap_err();
        assert!(large.contains("tile[0].value < 1000000") && large.contains("test.c"), "{level:?}: {large}");
    }
}

/// The debugger knows the program's lines, variables and types.
#[test]
fn the_debugger_prints_variables() {
    let source = include_str!("../examples/minic/squares.c");
    let module = compile("squares.c", source).unwrap();
    let compiler = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O0).with_debug(Debug::Full);
    let compiled = compiler.compile(&module).unwrap();
    let program = Program::load(&compiled.module).unwrap();
    let commands = "break squares.c:18\nrun\nprint n\nprint data[63]\ndelete 1\nbreak squares.c:23\ncontinue\nprint half\nprint other\nptype other\nprint tile[1].value\n";
    let mut script = Script::new(commands).with_file("squares.c", source);
    let mut debugger = Debugger::new("squares.ptx", &compiled.text, &compiled.module, &program, &mut script);
    debugger.session(&mut |debugger| {
        let mut device = Device::new();
        let data = device.upload(&(0..64).collect::<Vec<i32>>())?;
        let launch = Launch::new("squares").block([64, 1, 1]).arg(data).arg(64i32);
        device.launch_observed(&program, &launch, debugger).map(drop)
    });
    let output = script.output();
    for expected in ["$1 = 64", "$2 = 63", "$3 = 32", "{value = 1024, weight = 32}", "int value;", "$5 = 1"] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
}

#[test]
fn mistakes_are_errors_with_their_place() {
    let in_kernel = |body: &str| format!("struct P {{ int x; }};\nkernel void k(int* d, int n) {{ {body} }}");
    for (body, expected) in [
        ("int x = 1.5;", "2:40"),
        ("x = 1;", "unknown name `x`"),
        ("P p; p.y = 1;", "`P` has no field `y`"),
        ("1 = 2;", "this cannot be assigned"),
        ("break;", "`break` outside of a loop"),
        ("f(1);", "unknown function `f`"),
        ("sqrt(1.0, 2.0);", "`sqrt` takes 1 arguments, not 2"),
        ("d[1.5] = 1;", "this is of type `float`, not `int`"),
        ("n[0] = 1;", "`int` is not a pointer"),
        ("int y = n +;", "expected a name, found `;`"),
        ("int y = 9999999999;", "expected a number"),
        ("if (n", "expected `)`, found `}`"),
        ("void x;", "expected `*`, found `x`"),
        ("n = 1.5 % n;", "this is not for a `float`"),
        ("n = !d;", "this is of type `int*`, not `truth value`"),
        ("printf(n);", "expected a text, found `n`"),
        ("printf(\"%d %d\", n);", "printf"),
        (&format!("int y = {}n{};", "(".repeat(5000), ")".repeat(5000)), "nested too deep"),
    ] {
        let errors = match compile("test.c", &in_kernel(body)) {
            Err(errors) => errors.to_string(),
            Ok(module) => warpsmith::ir::verify(&module).unwrap_err().to_string(),
        };
        assert!(errors.contains(expected), "{body}: {errors}");
    }
}

/// A random number generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The variables of a program: `v0` to `v3`, the fields of `p`, the elements of `a`, the counters of loops `i0` to `i2`, `threadIdx`.
#[derive(Clone, Default)]
struct State {
    v: [i32; 4],
    p: [i32; 2],
    a: [i32; 8],
    i: [i32; 3],
    f: f32,
    thread: i32,
}

enum Expr {
    Int(i32),
    Var(usize),
    Field(usize),
    Element(Box<Expr>),
    Counter(usize),
    Thread,
    FromFloat,
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

enum Stmt {
    SetVar(usize, Expr),
    SetField(usize, Expr),
    SetElement(Expr, Expr),
    /// `f = f * .. + ..`
    SetFloat(Expr),
    /// `p = mix(p, e)`
    Mix(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Counter, number of rounds, body, and what leaves it early.
    For(usize, i32, Vec<Stmt>, Option<Expr>),
}

fn expr(r: &mut Random, depth: u32) -> Expr {
    if depth == 0 || r.below(4) == 0 {
        return match r.below(7) {
            0 => Expr::Int(r.pick(&[0, 1, 2, 7, 31, 100, 65535, i32::MAX])),
            1 => Expr::Field(r.below(2) as usize),
            2 => Expr::Counter(r.below(3) as usize),
            3 => Expr::Thread,
            4 => Expr::FromFloat,
            _ => Expr::Var(r.below(4) as usize),
        };
    }
    let inner = |r: &mut Random| Box::new(expr(r, depth - 1));
    match r.below(8) {
        0 => Expr::Element(inner(r)),
        1 => Expr::Unary(r.pick(&["-", "~", "!"]), inner(r)),
        _ => {
            let op = r.pick(&[
                "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&",
                "||",
            ]);
            Expr::Binary(op, inner(r), inner(r))
        }
    }
}

fn body(r: &mut Random, depth: u32, free: usize) -> Vec<Stmt> {
    let count = 1 + r.below(4);
    (0..count)
        .map(|_| match r.below(if depth == 0 { 6 } else { 9 }) {
            0 => Stmt::SetField(r.below(2) as usize, expr(r, 3)),
            1 => Stmt::SetElement(expr(r, 2), expr(r, 3)),
            2 => Stmt::SetFloat(expr(r, 2)),
            3 => Stmt::Mix(expr(r, 3)),
            4 | 5 => Stmt::SetVar(r.below(4) as usize, expr(r, 4)),
            6 if free < 3 => {
                let leave = if r.below(2) == 0 { Some(expr(r, 2)) } else { None };
                Stmt::For(free, r.below(5) as i32, body(r, depth - 1, free + 1), leave)
            }
            _ => Stmt::If(expr(r, 3), body(r, depth - 1, free), body(r, depth - 1, free)),
        })
        .collect()
}

impl Expr {
    fn text(&self) -> String {
        match self {
            Expr::Int(n) => n.to_string(),
            Expr::Var(n) => format!("v{n}"),
            Expr::Field(n) => format!("p.{}", ["low", "high"][*n]),
            Expr::Element(at) => format!("a[{} & 7]", at.text()),
            Expr::Counter(n) => format!("i{n}"),
            Expr::Thread => "threadIdx".into(),
            Expr::FromFloat => "(int) f".into(),
            Expr::Unary(op, x) => format!("({op}{})", x.text()),
            // What C leaves open is not asked: no divisor is 0, no shift too far.
            Expr::Binary(op @ ("/" | "%"), x, y) => format!("({} {op} ({} | 1))", x.text(), y.text()),
            Expr::Binary(op @ ("<<" | ">>"), x, y) => format!("({} {op} ({} & 31))", x.text(), y.text()),
            Expr::Binary(op, x, y) => format!("({} {op} {})", x.text(), y.text()),
        }
    }

    fn value(&self, s: &State) -> i32 {
        match self {
            Expr::Int(n) => *n,
            Expr::Var(n) => s.v[*n],
            Expr::Field(n) => s.p[*n],
            Expr::Element(at) => s.a[(at.value(s) & 7) as usize],
            Expr::Counter(n) => s.i[*n],
            Expr::Thread => s.thread,
            Expr::FromFloat => s.f as i32,
            Expr::Unary(op, x) => match (*op, x.value(s)) {
                ("-", x) => x.wrapping_neg(),
                ("~", x) => !x,
                (_, x) => i32::from(x == 0),
            },
            Expr::Binary(op, x, y) => {
                let (x, y) = (x.value(s), y.value(s));
                match *op {
                    "+" => x.wrapping_add(y),
                    "-" => x.wrapping_sub(y),
                    "*" => x.wrapping_mul(y),
                    "/" => x.wrapping_div(y | 1),
                    "%" => x.wrapping_rem(y | 1),
                    "&" => x & y,
                    "|" => x | y,
                    "^" => x ^ y,
                    "<<" => x << (y & 31),
                    ">>" => x >> (y & 31),
                    "==" => i32::from(x == y),
                    "!=" => i32::from(x != y),
                    "<" => i32::from(x < y),
                    "<=" => i32::from(x <= y),
                    ">" => i32::from(x > y),
                    ">=" => i32::from(x >= y),
                    "&&" => i32::from(x != 0 && y != 0),
                    _ => i32::from(x != 0 || y != 0),
                }
            }
        }
    }
}

fn text(stmts: &[Stmt], to: &mut String) {
    for stmt in stmts {
        match stmt {
            Stmt::SetVar(n, e) => writeln!(to, "v{n} = {};", e.text()),
            Stmt::SetField(n, e) => writeln!(to, "p.{} = {};", ["low", "high"][*n], e.text()),
            Stmt::SetElement(at, e) => writeln!(to, "a[{} & 7] = {};", at.text(), e.text()),
            Stmt::SetFloat(e) => writeln!(to, "f = f * 0.5 + {};", e.text()),
            Stmt::Mix(e) => writeln!(to, "p = mix(p, {});", e.text()),
            Stmt::If(c, yes, no) => {
                writeln!(to, "if ({}) {{", c.text()).unwrap();
                text(yes, to);
                to.push_str("} else {\n");
                text(no, to);
                writeln!(to, "}}")
            }
            Stmt::For(n, rounds, inner, leave) => {
                writeln!(to, "for (i{n} = 0; i{n} < {rounds}; i{n} = i{n} + 1) {{").unwrap();
                text(inner, to);
                if let Some(leave) = leave {
                    writeln!(to, "if ({}) break;", leave.text()).unwrap();
                }
                writeln!(to, "}}")
            }
        }
        .unwrap();
    }
}

fn execute(stmts: &[Stmt], s: &mut State) {
    for stmt in stmts {
        match stmt {
            Stmt::SetVar(n, e) => s.v[*n] = e.value(s),
            Stmt::SetField(n, e) => s.p[*n] = e.value(s),
            Stmt::SetElement(at, e) => s.a[(at.value(s) & 7) as usize] = e.value(s),
            Stmt::SetFloat(e) => s.f = s.f * 0.5 + e.value(s) as f32,
            Stmt::Mix(e) => {
                let k = e.value(s);
                s.p = [s.p[1] ^ k, if k < 0 { s.p[0].wrapping_mul(k) } else { s.p[0].wrapping_sub(k) }];
            }
            Stmt::If(c, yes, no) => execute(if c.value(s) != 0 { yes } else { no }, s),
            Stmt::For(n, rounds, inner, leave) => {
                s.i[*n] = 0;
                while s.i[*n] < *rounds {
                    execute(inner, s);
                    if leave.as_ref().is_some_and(|leave| leave.value(s) != 0) {
                        break;
                    }
                    s.i[*n] += 1;
                }
            }
        }
    }
}

#[test]
fn random_programs_compute_what_they_should() {
    for seed in 1..=24u64 {
        let program = body(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 3, 0);
        let mut source = String::from(
            "struct Pair { int low; int high; };\n\
             Pair mix(Pair p, int k) {\nPair q;\nq.low = p.high ^ k;\n\
             if (k < 0) { q.high = p.low * k; return q; }\nq.high = p.low - k;\nreturn q;\n}\n\
             kernel void k(int* data, int n) {\n\
             int v0; int v1 = n; int v2; int v3 = 0 - 1; int i0; int i1; int i2; float f; Pair p; int a[8];\n\
             for (i0 = 0; i0 < 8; i0 = i0 + 1) a[i0] = i0 * 3;\ni0 = 0;\n",
        );
        text(&program, &mut source);
        source.push_str("data[threadIdx] = v0 ^ v1 * 3 ^ v2 * 5 ^ v3 * 7 ^ p.low * 11 ^ p.high * 13 ^ a[threadIdx & 7] ^ (int) f;\n}\n");
        let expected: Vec<i32> = (0..64)
            .map(|thread| {
                let a = std::array::from_fn(|n| n as i32 * 3);
                let mut s = State { v: [0, 64, 0, -1], a, thread, ..State::default() };
                execute(&program, &mut s);
                let State { v, p, a, f, .. } = s;
                let terms = [(v[1], 3), (v[2], 5), (v[3], 7), (p[0], 11), (p[1], 13)];
                terms.iter().fold(v[0] ^ a[(thread & 7) as usize] ^ f as i32, |sum, (x, by)| {
                    sum ^ i32::wrapping_mul(*x, *by)
                })
            })
            .collect();
        for level in LEVELS {
            let (found, _) = run(&source, level, "k", &[0; 64]).unwrap_or_else(|e| panic!("{e}\n{source}"));
            assert_eq!(found, expected, "seed {seed}, {level:?}:\n{source}");
        }
    }
}
