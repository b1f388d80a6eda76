//! `printf` in its two meanings, that of the IR and that of `vprintf` in the emitted text, compared with the C library's: every conversion with every
//! flag, width, precision and length that C defines for it, on numbers at the edges.

#![allow(unsafe_code, reason = "the C library's function")]

use std::ffi::{CString, c_char, c_int};
use std::fmt::Write;
use warpsmith::ir::{self, FuncKind, Function, FunctionBuilder, InstBuilder, Module};
use warpsmith::{Compiler, Device, Launch, OptLevel, Program, Target};

unsafe extern "C" {
    fn snprintf(to: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

/// What one conversion prints.
#[derive(Clone, Copy)]
enum Value {
    Int(u32),
    Long(u64),
    Float(f64),
    /// The name of a global: `hello`, which holds its name, or `none`, which is empty.
    Text(&'static str),
}

/// A conversion with what it is given.
struct Case {
    format: String,
    /// Arguments of `*`.
    stars: Vec<i32>,
    value: Value,
}

impl Case {
    /// What C prints.
    fn expected(&self) -> String {
        let format = CString::new(format!("[{}]", self.format)).expect("a format without zeros");
        let mut buffer = vec![0u8; 4096];
        let (to, size, format) = (buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr());
        macro_rules! print {
            ($value:expr) => {
                // SAFETY: the format takes `int`s for its stars and then a value of this type; the buffer is as large as said.
                unsafe {
                    match self.stars[..] {
                        [] => snprintf(to, size, format, $value),
                        [a] => snprintf(to, size, format, a, $value),
                        [a, b, ..] => snprintf(to, size, format, a, b, $value),
                    }
                }
            };
        }
        let length = match self.value {
            Value::Int(value) => print!(value),
            Value::Long(value) => print!(value),
            Value::Float(value) => print!(value),
            Value::Text(value) => {
                let text =
                    CString::new(if value == "none" { "" } else { value }).expect("a text without zeros");
                print!(text.as_ptr())
            }
        };
        let length = usize::try_from(length).expect("C prints it");
        assert!(length < buffer.len(), "{} is longer than the buffer", self.format);
        buffer.truncate(length);
        String::from_utf8(buffer).expect("what C prints is ASCII")
    }

    fn write(&self, module: &mut String) {
        for star in &self.stars {
            writeln!(module, "  %s{} = iconst.i32 {star}", star.unsigned_abs()).expect("a string takes it");
        }
        let mut operands: String =
            self.stars.iter().map(|star| format!("%s{}, ", star.unsigned_abs())).collect();
        let line = match self.value {
            Value::Int(value) => format!("%v = iconst.i32 {value}"),
            Value::Long(value) => format!("%v = iconst.i64 {value}"),
            Value::Float(value) => format!("%v = fconst.f64 0d{:016x}", value.to_bits()),
            Value::Text(value) => format!("%g = global_addr @{value}\n  %v = addrspacecast.ptr %g"),
        };
        operands += "%v";
        let format = &self.format;
        writeln!(module, "  {line}\n  %n = printf \"[{format}]\\0a\", {operands}")
            .expect("a string takes it");
    }
}

/// Every conversion with every combination of the flags that C defines for it, and with widths and precisions.
fn cases() -> Vec<Case> {
    const INTS: [u32; 9] = [0, 1, 7, 42, 0x7f, 0xff, 0x8000, 0x7fff_ffff, 0x8000_0000];
    const LONGS: [u64; 5] = [0, 42, 0x8000_0000, i64::MAX as u64, 1 << 63];
    // Not 999,999.5: glibc loses the zeros of `%#g` where rounding adds a digit.
    const FLOATS: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -0.5,
        0.1,
        2.5,
        1.5,
        9.995,
        999_998.5,
        1e-4,
        9.999_95e-5,
        123_456.789,
        -1e10,
        1e22,
        1e100,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut all = Vec::new();
    let mut put = |flags: &str, lengths: &[&str], kinds: &str, precisions: &[&str], values: &[Value]| {
        for (n, chosen) in (0..1u32 << flags.len()).enumerate() {
            let flags: String = flags
                .chars()
                .enumerate()
                .filter(|(i, _)| chosen >> i & 1 != 0)
                .map(|(_, flag)| flag)
                .collect();
            for kind in kinds.chars() {
                for length in lengths {
                    for (i, value) in values.iter().enumerate() {
                        // A width and a precision of several, so that all of them meet all flags.
                        let widths = ["", "1", "12", "30", "*"];
                        let (width, precision) =
                            (widths[(i + n) % widths.len()], precisions[(i / 2 + n) % precisions.len()]);
                        let mut stars = Vec::new();
                        if width == "*" {
                            stars.push(if i % 2 == 0 { 11 } else { -13 });
                        }
                        if precision == ".*" {
                            stars.push(if i % 3 == 0 { 4 } else { -1 });
                        }
                        let format = format!("%{flags}{width}{precision}{length}{kind}");
                        all.push(Case { format, stars, value: *value });
                    }
                }
            }
        }
    };
    let ints = INTS.map(Value::Int);
    let longs = LONGS.map(Value::Long);
    let floats = FLOATS.map(Value::Float);
    let digits = ["", ".", ".0", ".1", ".5", ".15", ".*"];
    for (lengths, values) in [(&["", "h", "hh"][..], &ints[..]), (&["l", "ll", "j", "z", "t"], &longs)] {
        put("-+ 0", lengths, "di", &digits, values);
        put("-0", lengths, "u", &digits, values);
        put("-#0", lengths, "oxX", &digits, values);
    }
    put("-+ #0", &["", "l"], "fFeEgGaA", &digits, &floats);
    put("-", &[""], "c", &[""], &[Value::Int(65), Value::Int(0x141), Value::Int(126)]);
    put("-", &[""], "s", &digits, &[Value::Text("hello"), Value::Text("none"), Value::Text("hello")]);
    put("-", &[""], "p", &[""], &[Value::Long(0), Value::Long(0x7000_0000_1000), Value::Long(u64::MAX)]);
    all
}

/// A kernel for so many cases that its text stays small.
fn module(cases: &[Case]) -> String {
    let mut module = "global @hello: [i8; 6] = \"hello\\00\"\nglobal @none: [i8; 1] = \"\\00\"\n".to_owned();
    for (n, case) in cases.iter().enumerate() {
        writeln!(module, "func @f{n}() {{\nentry:").expect("a string takes it");
        case.write(&mut module);
        module += "  ret\n}\n";
    }
    module += "kernel @all() {\nentry:\n";
    (0..cases.len()).for_each(|n| module += &format!("  call @f{n}()\n"));
    module + "  ret\n}\n"
}

fn printed(program: &Program) -> String {
    let mut device = Device::new();
    device.launch(program, &Launch::new("all")).expect("it runs");
    String::from_utf8_lossy(&device.take_output()).into_owned()
}

fn parsed(text: &str) -> Module {
    ir::parse_module(text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn both_meanings_of_printf_print_what_c_prints() {
    let cases = cases();
    assert!(cases.len() > 4000, "{}", cases.len());
    let mut wrong = Vec::new();
    for cases in cases.chunks(500) {
        let module = parsed(&module(cases));
        let target: Target = "sm_80".parse().expect("a target of the tables");
        let compiled =
            Compiler::new(target).with_opt_level(OptLevel::O0).compile(&module).expect("it compiles");
        let meant = printed(&Program::from_ir(&module).expect("it has a meaning"));
        let emitted = printed(&Program::load(&compiled.module).expect("it loads"));
        assert_eq!(meant.lines().count(), cases.len());
        for ((case, meant), emitted) in cases.iter().zip(meant.lines()).zip(emitted.lines()) {
            let expected = case.expected();
            if meant != expected || emitted != expected {
                wrong.push(format!(
                    "{} {:?}: C {expected:?}, the IR {meant:?}, vprintf {emitted:?}",
                    case.format, case.stars
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// What `vprintf` is given at run time nobody has verified: bad conversions are printed as they are written, and those before and behind them are
/// done.
#[test]
fn a_format_that_is_none_is_printed_as_it_is() {
    for (format, expected) in [
        ("%d %q %d", "1 %q 2"),
        ("%", "%"),
        ("%d%", "1%"),
        ("%5-d %d", "%5-d 1"),
        ("%**d %d", "%**d 1"),
        ("%n%d", "%n1"),
        ("100%% %d", "100% 1"),
        ("%.3.3d %d", "%.3.3d 1"),
    ] {
        let text = format!(
            "global @format: [i8; {}] = \"{format}\\00\"\nfunc extern @vprintf(%f: ptr, %a: ptr) -> i32\n\
             kernel @all() {{\n  stack %list: 8 align 8\nentry:\n  %l = stack_addr %list\n  store.i32 1, %l\n  store.i32 2, %l + 4\n\
             \x20 %a = addrspacecast.ptr %l\n  %g = global_addr @format\n  %f = addrspacecast.ptr %g\n  %n = call @vprintf(%f, %a)\n  ret\n}}\n",
            format.len() + 1
        );
        let module = parsed(&text);
        let target: Target = "sm_80".parse().expect("a target of the tables");
        let compiled = Compiler::new(target).compile(&module).expect("it compiles");
        let emitted = printed(&Program::load(&compiled.module).expect("it loads"));
        let meant = printed(&Program::from_ir(&module).expect("it has a meaning"));
        assert_eq!((meant.as_str(), emitted.as_str()), (expected, expected), "{format}");
    }
}

/// Numbers are of the types that the format says, texts variables of the module, the same text one variable: for the parser, the builder and
/// the compiler.
#[test]
fn literals_are_arguments() {
    let mut module = parsed(
        "kernel @all() {\nentry:\n  %a = printf \"%d %lu %.1f %s|\", -5, 4294967296, 1.5, \"two words\"\n  %b = printf \"%c\", 65\n  ret\n}\n",
    );
    assert_eq!(module.globals.len(), 1);
    let again = Module::parse(module.to_string()).expect("what is printed is read");
    assert_eq!(again.to_string(), module.to_string());

    let id = module.add_function(Function::new("more", FuncKind::Kernel, vec![], vec![]));
    let mut b = FunctionBuilder::new(&mut module, id);
    b.entry_block();
    let texts = [b.string("two words"), b.string("two"), b.string("two words")];
    b.ins().printf("%s %s %s", &texts);
    b.ins().ret(&[]);
    b.finalize().expect("it is right");
    assert_eq!(module.globals.len(), 2);

    let target: Target = "sm_80".parse().expect("a target of the tables");
    let compiled = Compiler::new(target).compile(&module).expect("it compiles");
    let texts =
        compiled.text.lines().filter(|line| line.starts_with(".global") && line.contains("__ws_text_"));
    assert_eq!(texts.count(), 5, "{}", compiled.text);
    let emitted = Program::load(&compiled.module).expect("it loads");
    let meant = Program::from_ir(&module).expect("it has a meaning");
    for program in [&emitted, &meant] {
        assert_eq!(printed(program), "-5 4294967296 1.5 two words|A");
        let mut device = Device::new();
        device.launch(program, &Launch::new("more")).expect("it runs");
        assert_eq!(device.take_output(), b"two words two two words");
    }
}
