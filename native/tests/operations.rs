//! Every operation on scalars that the table says all about, at every width and format, on numbers at the edges and on random ones: what the
//! compiled code gives is what the IR's own meaning gives.

use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ir::{FloatCC, IntCC, Module, Opcode, OperandRule, ResultRule, Shape, Type};
use warpsmith_native::{Arg, Kernel};

const THREADS: u32 = 96;
/// Bytes of a thread's operands, and of its results.
const STEP: usize = 64;

/// Operands: for each thread four of 16 bytes, of which numbers at the edges of the width come first.
fn operands(bits: u32, float: bool) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1du64.wrapping_mul(u64::from(bits) + 3);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (u128::from(state) << 64 | u128::from(state.rotate_left(29))) ^ u128::from(state >> 17)
    };
    let ones = u128::MAX >> (128 - bits);
    let top = 1u128 << (bits - 1);
    let mut edges =
        vec![0, 1, 2, ones, ones - 1, top, top - 1, top | 1, 5, u128::from(bits), u128::from(bits) - 1, 31];
    if float {
        let (fraction, bias) = match bits {
            16 => (10, 15u128),
            32 => (23, 127),
            _ => (52, 1023),
        };
        let of = |exponent: u128, fraction_bits: u128| exponent << fraction | fraction_bits;
        edges.extend([
            of(bias, 0),
            of(bias - 1, 0),
            of(bias, 1),
            of(2 * bias, (1 << fraction) - 1),
            of(1, 0),
        ]);
        edges.extend([of(bias + 1, 1 << (fraction - 1)) | top, of(bias, 0) | top, of(bias + 6, 77)]);
    }
    let mut bytes = Vec::new();
    for thread in 0..THREADS as usize {
        for place in 0..4 {
            let random = next();
            let value = match (thread + 5 * place * (thread / 7 + 1)) % 3 {
                0 => edges[(random >> 64) as usize % edges.len()],
                1 => edges[(thread * 7 + place * 3) % edges.len()] ^ (random & 3),
                _ => random & ones,
            };
            bytes.extend((value & ones).to_le_bytes());
        }
    }
    bytes
}

/// The kernel of an operation: operands are loaded, the result stored, NaNs but those of `f64` alone as zero.
fn kernel(op: Opcode, words: &str, t: Type, to: Option<Type>) -> String {
    let info = op.info();
    let mut body = String::new();
    let mut names = Vec::new();
    for (n, rule) in info.operands.iter().enumerate() {
        let at = 16 * n;
        let mut load = |ty: Type| match ty {
            Type::I1 => body += &format!("  %b{n} = load.i8 %p + {at}\n  %x{n} = trunc.i1 %b{n}\n"),
            ty => body += &format!("  %x{n} = load.{ty} %p + {at}\n"),
        };
        match rule {
            OperandRule::Bools => load(Type::I1),
            OperandRule::Amount | OperandRule::I32 => load(Type::I32),
            _ => load(t),
        }
        names.push(format!("%x{n}"));
    }
    if matches!(op, Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem) {
        // What PTX leaves open is left to each.
        body += &format!("  %zero = icmp eq %x1, 0\n  %d = select.{t} %zero, 1, %x1\n");
        names[1] = "%d".to_owned();
    }
    if op == Opcode::Fcopysign {
        body += &format!("  %num = fcmp num %x1, %x1\n  %pos = zero.{t}\n  %s = select %num, %x1, %pos\n");
        names[1] = "%s".to_owned();
    }
    let suffix = to.map(|to| format!(".{to}")).unwrap_or_default();
    let two = matches!(info.result, ResultRule::TAndBools);
    let results = if two { "%r, %o" } else { "%r" };
    body += &format!("  {results} = {op}{suffix} {words}{}\n", names.join(", "));
    let result = match info.result {
        ResultRule::Bools => Type::I1,
        _ => to.unwrap_or(t),
    };
    let mut store = |name: &str, ty: Type, at: u32| {
        if ty == Type::I1 {
            body += &format!("  {name}.b = zext.i8 {name}\n  store {name}.b, %q + {at}\n");
        } else if ty.is_float() && (ty, t) != (Type::F64, Type::F64) {
            body += &format!(
                "  {name}.n = fcmp num {name}, {name}\n  {name}.z = zero.{ty}\n  {name}.v = select {name}.n, {name}, {name}.z\n  store {name}.v, %q + {at}\n"
            );
        } else {
            body += &format!("  store {name}, %q + {at}\n");
        }
    };
    store("%r", result, 0);
    if two {
        store("%o", Type::I1, 16);
    }
    format!(
        "kernel @k(%out: ptr<global>, %in: ptr<global>) {{\nentry:\n  %t = sreg.tid.x\n  %p = index %in, %t, {STEP}\n  %q = index %out, %t, {STEP}\n{body}  ret\n}}\n"
    )
}

/// Runs a kernel both ways; what differs.
fn difference(text: &str, input: &[u8]) -> Option<String> {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let program = Program::from_ir(&module).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut device = Device::new();
    let out = device.upload(&vec![0u8; STEP * THREADS as usize]).unwrap();
    let data = device.upload(input).unwrap();
    let launch = Launch::new("k").grid([1; 3]).block([THREADS, 1, 1]).arg(out).arg(data);
    device.launch(&program, &launch).unwrap();
    let expected = device.read(out).unwrap();

    let kernel = match Kernel::compile(&module, "k") {
        Ok(kernel) => kernel,
        Err(errors) => return Some(format!("{} {}", errors[0].code, errors[0].message)),
    };
    // The host has no remainder of floats: that operation alone has one definition.
    assert!(kernel.shared().iter().all(|name| name.starts_with("frem of")), "{:?}\n{text}", kernel.shared());
    let mut args = [Arg::Buffer(vec![0; expected.len()]), Arg::Buffer(input.to_vec())];
    kernel.launch([1; 3], [THREADS, 1, 1], &mut args).unwrap();
    let [Arg::Buffer(found), _] = args else { unreachable!("the first argument is a buffer") };
    let at = expected.iter().zip(&found).position(|(a, b)| a != b)?;
    let thread = at / STEP;
    let (from, row) = (thread * STEP, |bytes: &[u8], at: usize| {
        u128::from_le_bytes(bytes[at..at + 16].try_into().expect("16 bytes"))
    });
    let given: Vec<String> = (0..4).map(|n| format!("{:#x}", row(input, from + 16 * n))).collect();
    Some(format!(
        "{}: the IR means {:#x}, the code gives {:#x} (byte {})",
        given.join(", "),
        row(&expected, from),
        row(&found, from),
        at % STEP
    ))
}

fn types() -> Vec<Type> {
    let ints = [2, 7, 8, 16, 24, 31, 32, 33, 63, 64, 65, 96, 127, 128].into_iter().filter_map(Type::int);
    ints.chain([Type::I1, Type::F16, Type::BF16, Type::F32, Type::F64]).collect()
}

#[test]
fn every_operation_at_every_type() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for &op in Opcode::ALL {
        let info = op.info();
        let listed = matches!(
            op,
            Opcode::Bfi
                | Opcode::UaddOverflow
                | Opcode::SaddOverflow
                | Opcode::UsubOverflow
                | Opcode::SsubOverflow
                | Opcode::UmulOverflow
                | Opcode::SmulOverflow
        );
        let regular = matches!(
            info.shape,
            Shape::Unary
                | Shape::Binary
                | Shape::Ternary
                | Shape::Convert
                | Shape::IntCompare
                | Shape::FloatCompare
        );
        let apart = matches!(op, Opcode::Bitcast | Opcode::Splat) || op.is_approximate();
        if !(listed || regular) || apart {
            continue;
        }
        let words: Vec<&str> = match info.shape {
            Shape::IntCompare => IntCC::ALL.iter().map(|cc| cc.name()).collect(),
            Shape::FloatCompare => FloatCC::ALL.iter().map(|cc| cc.name()).collect(),
            _ => vec![""],
        };
        for t in types().into_iter().filter(|t| info.types.contains(*t)) {
            if op == Opcode::Bswap && !t.bits().is_multiple_of(8) {
                continue;
            }
            let targets: Vec<Option<Type>> = match info.shape {
                Shape::Convert => types()
                    .into_iter()
                    .filter(|to| info.result.allows(info.types, t, *to))
                    .map(Some)
                    .collect(),
                _ => vec![None],
            };
            let input = operands(t.bits().max(8), t.is_float());
            for to in targets {
                for word in &words {
                    let text = kernel(op, &format!("{word} "), t, to);
                    tried += 1;
                    if let Some(what) = difference(&text, &input) {
                        wrong.push(format!("{op} {word} {t} {to:?}: {what}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 700, "{tried}");
}
