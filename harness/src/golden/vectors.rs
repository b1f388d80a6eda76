//! A statement of `tests/oracle` as a kernel: each thread loads all registers that the statement declares, executes it, and stores
//! the registers that it writes.

use super::{Case, Check};
use crate::runs::digest;
use serde_json::json;
use warpsmith::interp::SplitMix64;
use warpsmith::isa::{Mnemonic, Mod, ScalarType, TypeClass};
use warpsmith::launch::literal;
use warpsmith_semantics::value::half::{BF16, F16, Half};

/// Threads of a case, and bytes that a register takes in memory.
pub(super) const THREADS: usize = 32;
pub(super) const SLOT: usize = 8;

pub(super) struct Register {
    pub(super) name: String,
    pub(super) ty: ScalarType,
}

/// The family and the case of a row, if its statement computes registers from registers.
pub(super) fn case(row: &str) -> Option<(String, Case)> {
    let section = row.split('\t').nth(2)?;
    let pure = ["9.7.1.", "9.7.2.", "9.7.3.", "9.7.4.", "9.7.5.", "9.7.6.", "9.7.7.", "9.7.8.", "9.7.18."];
    let moved = ["9.7.9.7", "9.7.9.21", "9.7.9.22"];
    if !pure.iter().any(|p| section.starts_with(p)) && !moved.contains(&section) {
        return None;
    }
    make(row, None)
}

/// The family and the case of a row, if its statement exchanges registers among all threads of a warp.
pub(super) fn of_warp(row: &str) -> Option<(String, Case)> {
    let fields: Vec<&str> = row.split('\t').collect();
    let (family, statement) = (fields.get(1)?, fields.get(8)?);
    if !["shfl.sync", "vote.sync", "match.sync", "redux.sync"].contains(family) || statement.starts_with('@')
    {
        return None;
    }
    // All threads of the warp take part.
    let mask = statement.trim().trim_end_matches(';').rsplit(',').next()?.trim();
    if ["-1", "0xffffffff", "0xFFFFFFFF"].contains(&mask) {
        return make(row, None);
    }
    mask.starts_with('%').then(|| make(row, Some(mask))).flatten()
}

/// The kernel of a row; the register `mask`, if there is one, has all bits set.
fn make(row: &str, mask: Option<&str>) -> Option<(String, Case)> {
    let fields: Vec<&str> = row.split('\t').collect();
    let [id, family, _, version, target, "ok", _, decls, statement, ""] = fields[..] else {
        return None;
    };
    let decls = decls.replace("\\n", " ");
    let registers = declared(&decls)?;
    let (mnemonic, operands) = apart(statement)?;
    let op = mnemonic.opcode().text().split('.').next().unwrap_or_default();
    // ptxas drops the guard of `testp`, and folds a signed field from a constant position past the end whatever the operand is.
    if op == "testp" && statement.starts_with('@') || op == "bfe" && operands.ends_with(" 255, 255") {
        return None;
    }
    let approximates = mnemonic.mods().iter().any(|m| matches!(m.text(), "approx" | "full"));
    // It folds approximate instructions to rounded values, and those of the oldest targets flush subnormals without `.ftz`.
    if approximates && (registers.len() < 2 || target.starts_with("sm_1") && target.len() == 5) {
        return None;
    }
    // Not in the manual: ptxas takes it, and computes something else.
    if op == "madc" && mnemonic.types().next().is_some_and(|ty| ty.bits() == 16) {
        return None;
    }
    let reads_carry = ["addc", "subc", "madc"].contains(&op);
    let writes_carry = mnemonic.has(Mod::Cc);
    let written = written(operands);
    let results: Vec<usize> =
        (0..registers.len()).filter(|i| written.contains(&registers[*i].name.as_str())).collect();
    if results.is_empty() {
        return None;
    }
    let (inputs, carry) = (registers.len() * SLOT, results.len() * SLOT);
    let outputs = carry + if writes_carry { SLOT } else { 0 };
    let mut ptx = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to)\n{{\n{decls}\n\
         .reg .b64 %w_from, %w_to;\n.reg .b32 %w_tid, %w_bit;\nld.param.u64 %w_from, [from];\nld.param.u64 %w_to, [to];\nmov.u32 %w_tid, %tid.x;\n\
         mad.wide.u32 %w_from, %w_tid, {inputs}, %w_from;\nmad.wide.u32 %w_to, %w_tid, {outputs}, %w_to;\n"
    );
    for (i, r) in registers.iter().enumerate() {
        let (Register { name, .. }, bits, at) = (r, r.ty.bits(), i * SLOT);
        ptx += &match r.ty {
            ScalarType::Pred => {
                format!("ld.global.b32 %w_bit, [%w_from+{at}];\nsetp.ne.u32 {name}, %w_bit, 0;\n")
            }
            _ => format!("ld.global.b{bits} {name}, [%w_from+{at}];\n"),
        };
    }
    // The carry flag is the lowest bit of the thread's number before, and is stored afterwards.
    if reads_carry || writes_carry {
        ptx += "and.b32 %w_bit, %w_tid, 1;\nadd.cc.u32 %w_bit, %w_bit, 0xffffffff;\n";
    }
    ptx += &(statement.replace("\\n", "\n") + "\n");
    if writes_carry {
        ptx += &format!("addc.u32 %w_bit, 0, 0;\nst.global.b32 [%w_to+{carry}], %w_bit;\n");
    }
    for (i, r) in results.iter().enumerate() {
        let (Register { name, ty }, at) = (&registers[*r], i * SLOT);
        ptx += &match ty {
            ScalarType::Pred => {
                format!("selp.u32 %w_bit, 1, 0, {name};\nst.global.b32 [%w_to+{at}], %w_bit;\n")
            }
            ty => format!("st.global.b{} [%w_to+{at}], {name};\n", ty.bits()),
        };
    }
    ptx.push_str("ret;\n}\n");
    let values = inputs_of(id, &registers, &mnemonic, mask);
    let launch = json!({"entry": "k", "grid": [1], "block": [THREADS],
        "args": [{"buffer": literal::hex(&values)}, {"buffer_zero": THREADS * outputs}]});
    Some((family.into(), Case { name: id.into(), ptx, launch, check: check(&mnemonic) }))
}

/// The registers of declarations such as `.reg .f32 %f32_<4>, %x;`; `None` if there are others, or of a size without a slot.
fn declared(decls: &str) -> Option<Vec<Register>> {
    let mut registers = Vec::new();
    for decl in decls.split(';').map(str::trim).filter(|d| !d.is_empty()) {
        let (ty, names) = decl.strip_prefix(".reg .")?.split_once(' ')?;
        let ty = ScalarType::from_name(ty)?;
        if ty != ScalarType::Pred && ![16, 32, 64].contains(&ty.bits()) {
            return None;
        }
        for name in names.split(',').map(str::trim) {
            let Some(several) = name.strip_suffix('>') else {
                registers.push(Register { name: name.to_owned(), ty });
                continue;
            };
            let (prefix, count) = several.split_once('<')?;
            let count: usize = count.parse().ok().filter(|n| *n <= 8)?;
            registers.extend((0..count).map(|i| Register { name: format!("{prefix}{i}"), ty }));
        }
    }
    (!registers.is_empty()).then_some(registers)
}

/// The mnemonic of a single statement and its operands.
fn apart(statement: &str) -> Option<(Mnemonic, &str)> {
    let statement = statement.trim().strip_suffix(';').filter(|s| !s.contains([';', '\\']))?;
    let unguarded = match statement.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ')?.1,
        None => statement,
    };
    let (name, operands) = unguarded.trim().split_once(' ')?;
    Some((Mnemonic::parse(name).ok()?, operands.trim()))
}

/// The names in the first operand.
fn written(operands: &str) -> Vec<&str> {
    let mut depth = 0i32;
    let end = operands.find(|c| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    });
    let names = operands[..end.unwrap_or(operands.len())].split(['{', '}', ',', '|', ' ']);
    names.filter(|n| n.starts_with('%')).map(|n| n.split('.').next().unwrap_or(n)).collect()
}

fn check(mnemonic: &Mnemonic) -> Check {
    let ty = mnemonic.types().next().unwrap_or(ScalarType::B32);
    let op = mnemonic.opcode().text();
    let has = |text: &str| mnemonic.mods().iter().any(|m| m.text() == text);
    let approximates = has("approx") || op.contains(".approx");
    // What else is approximate has the bits of the unit that computes it.
    let approximate = op == "tanh" || has("2pi") || ty == ScalarType::F64 && approximates;
    match ty {
        _ if approximate => Check::Approximate(ty),
        ScalarType::F64 => Check::Double,
        // What ptxas folds keeps the payload of NaN; the code that it makes, `FADD`, does not.
        ScalarType::F32 if ["abs", "neg"].contains(&op) => Check::Number(ty),
        _ => Check::Bits,
    }
}

/// Edge cases and random values for every register of every thread, the same whenever they are made.
pub(super) fn inputs_of(
    id: &str,
    registers: &[Register],
    mnemonic: &Mnemonic,
    mask: Option<&str>,
) -> Vec<u8> {
    let mut random = SplitMix64::new(digest(id.as_bytes()));
    let mut next = || random.next();
    // The bound on the error of `sin` and `cos` holds near zero only (PTX ISA 9.0, 9.7.3.18).
    let near_zero = ["sin", "cos"].contains(&mnemonic.opcode().text());
    let of_instruction = mnemonic.types().last();
    let mut bytes = Vec::with_capacity(THREADS * registers.len() * SLOT);
    for thread in 0..THREADS {
        let special = SPECIAL.get(thread);
        for register in registers {
            // An untyped register holds what the instruction takes it for.
            let ty = match (register.ty.class(), of_instruction) {
                (TypeClass::Bits, Some(ty)) if ty.bits() == register.ty.bits() => ty,
                _ => register.ty,
            };
            let value = match ty {
                _ if mask == Some(register.name.as_str()) => u64::MAX,
                _ if near_zero => {
                    let near = || (next() % 6_000_000) as f32 * 1e-6 - 3.0;
                    special.copied().unwrap_or_else(near).to_bits().into()
                }
                _ if thread % 2 == 0 => edge(ty, next()),
                _ => plain(ty, next()),
            };
            bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
    bytes
}

/// For `sin` and `cos`.
const SPECIAL: [f32; 8] = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -1e-40, 1e-30];

const FLOATS: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -3.0,
    255.0,
    65504.0,
    1e-5,
    -1e-7,
    1e30,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    // Subnormal as f32, and the neighbourhood of its greatest number.
    1e-40,
    -1e-45,
    3.4e38,
    -1e38,
];

/// The bits of a number as a float of the type; `None` if it is none.
fn float(ty: ScalarType, value: f64) -> Option<u64> {
    Some(match ty {
        ScalarType::F16 => F16::narrow(value).into(),
        ScalarType::BF16 => BF16::narrow(value).into(),
        ScalarType::F32 => (value as f32).to_bits().into(),
        ScalarType::F64 => value.to_bits(),
        _ => return None,
    })
}

fn edge(ty: ScalarType, random: u64) -> u64 {
    let pick = |value: u64| FLOATS[(value % FLOATS.len() as u64) as usize];
    let halves = |element| {
        let of = |value: f64| float(element, value).unwrap_or(0);
        of(pick(random)) | of(pick(random >> 8)) << 16
    };
    if let Some(bits) = float(ty, pick(random)) {
        return bits;
    }
    match ty {
        ScalarType::F16x2 => halves(ScalarType::F16),
        ScalarType::BF16x2 => halves(ScalarType::BF16),
        ty => {
            let mask = u64::MAX >> (64 - ty.bits().clamp(1, 64));
            let top = mask ^ mask >> 1;
            let edges =
                [0, 1, 2, 7, 31, 32, 63, 64, mask, mask - 1, top, top - 1, top + 1, mask / 3, 0x80, 0xff];
            edges[(random % 16) as usize] & mask
        }
    }
}

/// Any bits; floats as often near one as anywhere.
fn plain(ty: ScalarType, random: u64) -> u64 {
    match float(ty, (random >> 11) as f64 * 2f64.powi(-50) - 4.0) {
        Some(near) if random & 1 == 0 => near,
        _ => random & (u64::MAX >> (64 - ty.bits().clamp(1, 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(decls: &str, statement: &str) -> Option<(String, Case)> {
        case(&format!("id\tf\t9.7.1.1\t9.0\tsm_90\tok\t\t{decls}\t{statement}\t"))
    }

    #[test]
    fn the_registers_of_a_statement() {
        assert_eq!(written("%a|%p, %b, {%c, %d}"), ["%a", "%p"]);
        assert_eq!(written("{%a, %b}, %c"), ["%a", "%b"]);
        assert_eq!(written("%a.b0, %b.h1, %c"), ["%a"]);
        assert!(written("_, %b").is_empty());
        let names = |d| declared(d).map(|r| r.into_iter().map(|r| r.name).collect::<Vec<_>>());
        assert_eq!(names(".reg .f32 %f<2>; .reg .pred %p<1>;").unwrap(), ["%f0", "%f1", "%p0"]);
        assert!(names(".reg .b128 %q<2>;").is_none() && names(".shared .b32 s;").is_none());
    }

    #[test]
    fn a_case_computes_what_its_statement_means() {
        let (_, case) = row(".reg .s32 %s<3>;", "add.s32 %s0, %s1, %s2;").unwrap();
        let buffers = super::super::run(&case).unwrap();
        let [Some(from), Some(to)] = &buffers[..] else { panic!("two buffers") };
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut varied = false;
        for thread in 0..THREADS {
            let (a, b) = (word(from, thread * 24 + 8), word(from, thread * 24 + 16));
            assert_eq!(word(to, thread * 8), a.wrapping_add(b));
            varied |= a != 0 && b != 0;
        }
        assert!(varied);
        let (_, case) = row(".reg .s32 %s<3>;", "addc.cc.s32 %s0, %s1, %s2;").unwrap();
        let buffers = super::super::run(&case).unwrap();
        let [Some(from), Some(to)] = &buffers[..] else { panic!("two buffers") };
        for thread in 0..THREADS {
            let (a, b) = (word(from, thread * 24 + 8), word(from, thread * 24 + 16));
            let sum = u64::from(a) + u64::from(b) + (thread as u64 & 1);
            assert_eq!([word(to, thread * 16), word(to, thread * 16 + 8)], [sum as u32, (sum >> 32) as u32]);
        }
        assert!(row(".reg .f32 %f<1>; .reg .pred %p<2>;", "@!%p1 testp.finite.f32 %p0, %f0;").is_none());
        let (_, guarded) = row(".reg .s32 %s<3>; .reg .pred %p<1>;", "@!%p0 add.s32 %s0, %s1, %s2;").unwrap();
        assert!(super::super::run(&guarded).is_ok());
    }
}
