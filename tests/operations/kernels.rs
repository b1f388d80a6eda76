//! Kernels that do one operation each, made of the table of operations: every operation on every type that its row allows, scalars of all
//! widths and formats and vectors of odd and even lengths; every conversion between them; every way of rounding that PTX has; reductions and
//! shuffles of vectors; atomic accesses; operations of a warp.

use std::fmt::Write;
use warpsmith::ir::{
    AtomicOp, AttrKind, FloatCC, FloatMode, IntCC, Opcode, OperandRule, ResultRule, Scalar, Shape, Type,
};

/// Bytes between the operands of a thread, and between its results: the largest value is as large.
pub const STEP: u32 = 128;
/// Operands of a thread.
pub const OPERANDS: u32 = 4;
/// Threads of a launch: a warp.
pub const THREADS: u32 = 32;

/// All kernels on one type.
pub struct Unit {
    /// The type.
    pub ty: Type,
    /// What each kernel does, for messages; the kernel is `k` and its position.
    pub names: Vec<String>,
    /// The module.
    pub text: String,
}

/// The integers: those of registers, those between, and the least and greatest of each size.
const WIDTHS: [u32; 18] = [1, 2, 3, 7, 8, 9, 16, 24, 31, 32, 33, 48, 63, 64, 65, 96, 127, 128];
const FLOATS: [Type; 11] = [
    Type::F16,
    Type::BF16,
    Type::TF32,
    Type::F32,
    Type::F64,
    Type::E4M3,
    Type::E5M2,
    Type::E2M3,
    Type::E3M2,
    Type::E2M1,
    Type::UE8M0,
];
const ELEMENTS: [Scalar; 14] = [
    Scalar::I1,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::I128,
    Scalar::F16,
    Scalar::BF16,
    Scalar::TF32,
    Scalar::F32,
    Scalar::F64,
    Scalar::E4M3,
    Scalar::UE8M0,
    Scalar::Ptr,
];
/// Lengths that PTX has packed forms of, and lengths that nothing has.
const LANES: [u32; 5] = [2, 3, 4, 5, 7];

/// The types that operations are tried on.
pub fn types() -> Vec<Type> {
    let ints = WIDTHS.into_iter().filter_map(Type::int);
    let vectors =
        LANES.into_iter().flat_map(|lanes| ELEMENTS.into_iter().filter_map(move |e| Type::vector(e, lanes)));
    ints.chain(FLOATS).chain([Type::PTR, Type::PTR_GLOBAL]).chain(vectors).collect()
}

/// The instructions of a kernel.
#[derive(Default)]
struct Body {
    text: String,
}

impl Body {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text += "  ";
        self.text += line.as_ref();
        self.text.push('\n');
    }

    /// The operand of a number, as a value of a type.
    fn operand(&mut self, n: usize, ty: Type) -> String {
        let (name, at) = (format!("%x{n}"), STEP as usize * n);
        match ty.bytes() {
            Some(_) => self.line(format!("{name} = load.{ty} %p + {at}")),
            // A part of a byte.
            None => {
                self.line(format!("{name}.b = load.i8 %p + {at}"));
                self.line(format!("{name}.i = trunc.i{} {name}.b", ty.bits()));
                self.line(format!("{name} = bitcast.{ty} {name}.i"));
            }
        }
        name
    }

    /// Stores a result; of what may be NaN, zero for it, as the bits of a NaN are not said.
    fn result(&mut self, n: u32, name: &str, ty: Type, computed: bool) {
        let at = STEP * n;
        let element = ty.element_type();
        let mut value = name.to_owned();
        if computed && element.is_float() {
            self.line(format!("{name}.n = fcmp num {name}, {name}"));
            self.line(format!("{name}.z = zero.{ty}"));
            self.line(format!("{name}.v = select {name}.n, {name}, {name}.z"));
            value = format!("{name}.v");
        }
        match ty.bytes() {
            // Of a tf32, 13 bits say nothing.
            Some(_) if element == Type::TF32 => {
                let bits = Type::I32.element();
                let bits = if ty.is_vector() { Type::vector(bits, ty.lanes()) } else { Some(Type::I32) };
                let bits = bits.expect("as many lanes");
                self.line(format!("{name}.t = bitcast.{bits} {value}"));
                self.line(format!("{name}.l = lshr {name}.t, 13"));
                self.line(format!("store {name}.l, %q + {at}"));
            }
            Some(_) => self.line(format!("store {value}, %q + {at}")),
            None => {
                self.line(format!("{name}.i = bitcast.i{} {value}", ty.bits()));
                self.line(format!("{name}.b = zext.i8 {name}.i"));
                self.line(format!("store {name}.b, %q + {at}"));
            }
        }
    }
}

/// What one operation is written with.
struct Form {
    words: String,
    /// The type in its name.
    suffix: Option<Type>,
    /// What stands behind the operands.
    tail: String,
    /// An operation for all elements, of operands that may have one for each: `select`, shifts.
    each: bool,
}

/// The conditions, modes of rounding, lanes, operations that an operation is written with.
fn forms(op: Opcode, t: Type) -> Vec<Form> {
    let info = op.info();
    let form = |words: String, suffix: Option<Type>, tail: String| Form { words, suffix, tail, each: false };
    let mut all = match info.shape {
        Shape::IntCompare => {
            IntCC::ALL.iter().map(|cc| form(format!("{} ", cc.name()), None, String::new())).collect()
        }
        Shape::FloatCompare => {
            FloatCC::ALL.iter().map(|cc| form(format!("{} ", cc.name()), None, String::new())).collect()
        }
        Shape::Convert => {
            let to = types().into_iter().filter(|to| info.result.allows(info.types, t, *to));
            to.flat_map(|to| {
                modes(op, t, to).into_iter().map(move |words| form(words, Some(to), String::new()))
            })
            .collect()
        }
        _ => match op.attr_kind() {
            AttrKind::With => {
                let fits = Opcode::REDUCTIONS
                    .into_iter()
                    .filter(|with| with.info().types.contains(t.element_type()));
                fits.map(|with| form(format!("{with} "), None, String::new())).collect()
            }
            AttrKind::Lanes => {
                let n = t.lanes();
                let list = |of: &mut dyn Iterator<Item = u32>| {
                    format!(", [{}]", of.map(|lane| lane.to_string()).collect::<Vec<_>>().join(", "))
                };
                let (reversed, mixed) =
                    (list(&mut (0..n).rev()), list(&mut (0..n + 1).map(|i| i * 5 % (2 * n))));
                vec![form(String::new(), None, reversed), form(String::new(), None, mixed)]
            }
            AttrKind::Float => {
                modes(op, t, t).into_iter().map(|words| form(words, None, String::new())).collect()
            }
            _ => vec![form(String::new(), None, String::new())],
        },
    };
    if t.is_vector()
        && info.operands.iter().any(|rule| matches!(rule, OperandRule::Amount | OperandRule::Bools))
    {
        all.push(Form { words: String::new(), suffix: None, tail: String::new(), each: true });
    }
    all
}

/// The ways of rounding and of flushing that an operation has, and its approximation.
fn modes(op: Opcode, t: Type, to: Type) -> Vec<String> {
    if !op.takes_float_mode() {
        return vec![String::new()];
    }
    let mut words = vec![String::new()];
    for mode in ["rn", "rz", "rm", "rp", "ftz", "sat", "afn", "ftz afn", "rz ftz sat"] {
        let made = mode.split(' ').try_fold(FloatMode::default(), |made, word| made.with_word(word));
        let made = made.expect("these are words of modes");
        // An approximation of one element is that of all.
        if made.refusal(op, t, to).is_none() && !(t.lanes() > 3 && mode != "rz") {
            words.push(format!("{mode} "));
        }
    }
    if op.is_approximate() {
        words.remove(0);
    }
    // Only what the IR's own meaning is exact for: where PTX has no approximation, `afn` is the plain operation.
    words
}

/// True for operations that one kernel of the kind below tries: values in, values out.
fn computes(op: Opcode) -> bool {
    match op.info().shape {
        Shape::Unary
        | Shape::Binary
        | Shape::Ternary
        | Shape::Convert
        | Shape::IntCompare
        | Shape::FloatCompare => {
            // Addresses of no memory are the affair of other tests.
            !matches!(op, Opcode::Addrspacecast | Opcode::Inttoptr)
        }
        Shape::List => matches!(
            op,
            Opcode::Bfi
                | Opcode::UaddOverflow
                | Opcode::SaddOverflow
                | Opcode::UsubOverflow
                | Opcode::SsubOverflow
                | Opcode::UmulOverflow
                | Opcode::SmulOverflow
                | Opcode::ExtractAt
                | Opcode::InsertAt
                | Opcode::Shuffle
                | Opcode::Reduce
                | Opcode::Expect
        ),
        _ => false,
    }
}

/// The kernels that do every operation on a type.
pub fn operations(ty: Type) -> Unit {
    let mut unit = Unit { ty, names: Vec::new(), text: String::new() };
    for &op in Opcode::ALL {
        if !computes(op) || !op.info().types.contains(ty) {
            continue;
        }
        if op == Opcode::Bswap && !ty.element_type().bits().is_multiple_of(8) {
            continue;
        }
        for form in forms(op, ty) {
            let body = operation(op, ty, &form);
            let suffix = form.suffix.map_or(String::new(), |suffix| format!(".{suffix}"));
            let each = if form.each { " each" } else { "" };
            unit.push(format!("{op}{suffix} {}{ty}{}{each}", form.words, form.tail), &body);
        }
    }
    unit
}

impl Unit {
    fn push(&mut self, name: String, body: &Body) {
        let n = self.names.len();
        self.names.push(name);
        write!(
            self.text,
            "kernel @k{n}(%out: ptr<global>, %in: ptr<global>) {{\nentry:\n  %t = sreg.tid.x\n  %p = index %in, %t, {}\n\
             \x20 %q = index %out, %t, {}\n{}  ret\n}}\n",
            STEP * OPERANDS,
            STEP * 2,
            body.text
        )
        .expect("a string takes it");
    }
}

fn operation(op: Opcode, t: Type, form: &Form) -> Body {
    let info = op.info();
    let mut body = Body::default();
    let mut names = Vec::new();
    for (n, rule) in info.operands.iter().enumerate() {
        let one_or_each = |one: Type| match form.each {
            true => Type::vector(one.element(), t.lanes()).expect("as many lanes"),
            false => one,
        };
        let ty = match rule {
            OperandRule::T => t,
            OperandRule::Bools => one_or_each(Type::I1),
            OperandRule::Amount => one_or_each(Type::I32),
            OperandRule::I32 | OperandRule::Offset => Type::I32,
            OperandRule::Element => t.element_type(),
            other => unreachable!("`{op}` takes {other:?}"),
        };
        names.push(body.operand(n, ty));
        // Amounts are small and large, positions are there or just behind.
        if *rule == OperandRule::I32 {
            body.line(format!("%small{n} = urem {}, {}", names[n], t.lanes() + 1));
            names[n] = format!("%small{n}");
        }
    }
    if matches!(op, Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem) {
        // PTX leaves division by zero open.
        body.line(format!("%none = zero.{t}\n  %is_none = icmp eq %x1, %none\n  %ones = bnot %none"));
        body.line("%divisor = select %is_none, %ones, %x1");
        names[1] = "%divisor".to_owned();
    }
    if op == Opcode::Fcopysign {
        // So it does the sign of a NaN that was computed; one in memory has its own.
        body.line(format!("%num = fcmp num %x1, %x1\n  %pos = zero.{t}\n  %sign = select %num, %x1, %pos"));
        names[1] = "%sign".to_owned();
    }
    let suffix = form.suffix.map(|to| format!(".{to}")).unwrap_or_default();
    let two = matches!(info.result, ResultRule::TAndBools);
    let results = if two { "%r, %o" } else { "%r" };
    body.line(format!("{results} = {op}{suffix} {}{}{}", form.words, names.join(", "), form.tail));
    let bools = if t.is_vector() { Type::vector(Scalar::I1, t.lanes()) } else { Some(Type::I1) };
    let bools = bools.expect("as many lanes");
    let result = match info.result {
        ResultRule::T | ResultRule::TAndBools => t,
        ResultRule::Bools => bools,
        ResultRule::I64 => Type::I64,
        ResultRule::Element => t.element_type(),
        ResultRule::Shuffled => {
            let lanes = form.tail.split(',').count() as u32 - 1;
            Type::vector(t.element(), lanes).expect("lanes that a vector may have")
        }
        _ => form.suffix.expect("the type is in the name"),
    };
    let moves = matches!(
        op,
        Opcode::Bitcast
            | Opcode::Select
            | Opcode::Shuffle
            | Opcode::ExtractAt
            | Opcode::InsertAt
            | Opcode::Splat
    );
    body.result(0, "%r", result, !moves);
    if two {
        body.result(1, "%o", bools, false);
    }
    body
}

/// The types of atomic accesses.
pub const ATOMIC: [Type; 10] = [
    Type::I8,
    Type::I16,
    Type::I32,
    Type::I64,
    Type::I128,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
    Type::PTR,
];

/// Kernels of every atomic access to a type, each thread at a place of its own, in global and in shared memory.
pub fn atomics(ty: Type) -> Unit {
    let mut unit =
        Unit { ty, names: Vec::new(), text: format!("shared @cells: [i8; {}] align 16\n", STEP * THREADS) };
    for shared in [false, true] {
        let mut put = |name: String, line: &str, two: bool| {
            let mut body = Body::default();
            let (old, x, y) = (body.operand(0, ty), body.operand(1, ty), body.operand(2, ty));
            let at = match shared {
                true => {
                    body.line(format!("%cells = global_addr @cells\n  %at = index %cells, %t, {STEP}"));
                    "%at"
                }
                false => {
                    body.line(format!("%at = ptradd %q, {STEP}"));
                    "%at"
                }
            };
            // Half of the threads find what they look for.
            body.line(format!(
                "store {old}, {at}\n  %odd = trunc.i1 %t\n  %sought = select %odd, {old}, {x}"
            ));
            body.line(line.replace("AT", at).replace("X", &x).replace("Y", &y).replace("SOUGHT", "%sought"));
            body.result(0, "%r", ty, true);
            if two {
                body.line("%b = zext.i8 %o\n  store %b, %q + 64");
            }
            body.line(format!("%new = load.{ty} {at}"));
            body.result(1, "%new", ty, true);
            unit.push(format!("{name} {ty}{}", if shared { " shared" } else { "" }), &body);
        };
        for op in AtomicOp::ALL.iter().filter(|op| op.takes(ty)) {
            for order in ["relaxed", "seq_cst"] {
                put(format!("{op} {order}"), &format!("%r = atomic_rmw {op} {order} gpu AT, X"), false);
            }
        }
        put("cmpxchg".into(), "%r, %o = cmpxchg acq_rel relaxed cta AT, SOUGHT, Y", true);
        put("load".into(), &format!("%r = atomic_load.{ty} acquire gpu AT"), false);
        put("store".into(), &format!("atomic_store release gpu X, AT\n  %r = load.{ty} AT"), false);
    }
    unit
}

/// Kernels of all operations of a warp: on every type that memory holds, and on structs.
pub fn exchanges() -> impl Iterator<Item = Unit> {
    let types = types().into_iter().filter(|ty| ty.bytes().is_some());
    let structs = ["{i8, f64, i16}", "{i1, [f16; 3]}", "packed {i8, i64x2, f32}"];
    types.map(|ty| warp(ty, &ty.to_string())).chain(structs.into_iter().map(|text| warp(Type::I64, text)))
}

/// Kernels that exchange values of a type, or of a struct that `name` writes out, between the lanes of a warp.
fn warp(ty: Type, name: &str) -> Unit {
    let mut unit = Unit { ty, names: Vec::new(), text: String::new() };
    let parts = if name.starts_with('{') { name } else { "" };
    let mut put = |what: String, line: &str, two: bool, own: bool| {
        let mut body = Body::default();
        if parts.is_empty() {
            body.operand(0, ty);
        } else {
            body.line(format!("%x0 = load.{parts} %p"));
        }
        body.line("%any = load.i32 %p + 384\n  %lane = band %any, 31\n  %quarter = band %t, 24\n  %group = shl.i32 255, %quarter");
        body.line(line);
        match own {
            true if parts.is_empty() => body.result(0, "%r", ty, what.starts_with("warp_reduce")),
            _ => body.line("store %r, %q"),
        }
        if two {
            body.line("%b = zext.i8 %o\n  store %b, %q + 64");
        }
        unit.push(format!("{what} {name}"), &body);
    };
    for kind in ["idx", "up", "down", "bfly"] {
        put(format!("shfl {kind}"), &format!("%r = shfl {kind} %x0, %lane, 0xffffffff"), false, true);
    }
    // The lanes of a quarter have one value or three.
    let alike =
        "%from = band %lane, 3\n  %base = iadd %quarter, %from\n  %c = shfl idx %x0, %base, 0xffffffff\n";
    put("match_any".into(), &format!("{alike}  %r = match_any %c, %group"), false, false);
    let all = "%c = shfl idx %x0, %quarter, 0xffffffff\n";
    put("match_all".into(), &format!("{all}  %r, %o = match_all %c, %group"), true, false);
    put("match_all of others".into(), "%r, %o = match_all %x0, %group", true, false);
    for with in Opcode::REDUCTIONS {
        if parts.is_empty() && with.info().types.contains(ty) {
            put(format!("warp_reduce {with}"), &format!("%r = warp_reduce {with} %x0, %group"), false, true);
        }
    }
    if ty == Type::I1 && parts.is_empty() {
        for kind in ["all", "any", "uni"] {
            put(format!("vote {kind}"), &format!("%r = vote {kind} %x0, %group"), false, true);
        }
        put("ballot".into(), "%r = ballot %x0, %group", false, false);
    }
    unit
}
