//! A matrix statement of `tests/oracle` as a kernel: its registers, matrices in memory and descriptors come from pools of numbers of the statement's
//! types, and every register and byte that it writes is stored.

use self::inputs::Inputs;
use self::kernel::Kernel;
use super::{Case, Check};
use crate::runs::digest;
use serde_json::json;
use std::collections::BTreeSet;
use warpsmith::interp::SplitMix64;
use warpsmith::isa::{Mnemonic, ScalarType};
use warpsmith::launch::literal;
use warpsmith_semantics::value::half::{BF16, F16, Half};

/// Appends a line to a text.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => {{
        $text.push_str(&format!($($arg)*));
        $text.push('\n');
    }};
}

mod inputs;
mod kernel;

/// Numbers of 32 bits in each pool.
const POOL: usize = 64;
/// Bytes of matrices in memory.
const MEMORY: usize = 4096;
/// Bytes of the numbers that fill it, again and again: the next KiB starts with others.
const SOURCE: usize = 1024;
/// Bytes of the matrices of a warpgroup.
const TILES: usize = 40 << 10;
/// Where the second one lies.
const TILE_B: usize = 8 << 10;
/// More results of a thread than this are recorded as one number.
const WHOLE: usize = 4;
/// At most so many statements of a family, of those for one generation of hardware.
const PER_FAMILY: usize = 100;
/// Layouts in memory that a product of a warpgroup is tried with: leading and stride offsets, and bytes that the matrices start further on.
const LAYOUTS: [[u64; 3]; 6] =
    [[128, 256, 0], [16, 1024, 0], [256, 128, 0], [1024, 512, 32], [2048, 1024, 64], [512, 256, 128]];

/// Cases of the rows of a table: of every family as many as there are mnemonics, then others, evenly spread.
pub(super) fn cases(rows: &str) -> Vec<Case> {
    let mut families: Vec<(String, Vec<&str>, Vec<&str>)> = Vec::new();
    let mut known = BTreeSet::new();
    for row in rows.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [_, family, _, _, target, "ok", _, _, statement, _] = fields[..] else { continue };
        if parts(family).is_none() {
            continue;
        }
        // Statements for hardware that is not at hand take no room from the others.
        let later = target.strip_prefix("sm_").is_some_and(|sm| sm.len() > 2 && sm != "90a");
        let family = if later { format!("{family} of {target}") } else { family.to_owned() };
        let at = families.iter().position(|(name, ..)| *name == family).unwrap_or_else(|| {
            families.push((family, Vec::new(), Vec::new()));
            families.len() - 1
        });
        let mnemonic = statement.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        let (_, first, further) = &mut families[at];
        if known.insert((at, mnemonic)) { first.push(row) } else { further.push(row) }
    }
    let mut cases = Vec::new();
    for (family, first, further) in families {
        let rest = PER_FAMILY.saturating_sub(first.len());
        for row in spread(&first, PER_FAMILY).chain(spread(&further, rest)) {
            if !family.starts_with("wgmma") {
                cases.extend(case(row, 0));
                continue;
            }
            // The layout is another in each, and all of them are tried where A is in memory, too.
            let own = digest(row.as_bytes()) as usize % (4 * LAYOUTS.len());
            cases.extend(case(row, own));
            if row.contains(", d1, ") && cases.len() % 5 == 0 {
                cases.extend((1..4).filter_map(|more| case(row, (own + 7 * more) % (4 * LAYOUTS.len()))));
            }
        }
    }
    cases
}

/// At most so many of several, evenly spread.
fn spread<'a>(all: &'a [&'a str], most: usize) -> impl Iterator<Item = &'a str> {
    let count = all.len().min(most);
    (0..count).map(move |at| all[at * all.len() / count.max(1)])
}

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Result,
    /// A multiplicand, or what is stored.
    Element,
    Addend,
    Metadata,
    Stride,
    Address,
    Descriptor,
    /// A predicate: whether the addend counts.
    Flag,
    Immediate,
}

/// The case of a row, if its statement moves or multiplies the matrices of a warp or a warpgroup; of matrices in memory that are laid out as
/// `layout` says: a swizzle, and one of [`LAYOUTS`].
fn case(row: &str, layout: usize) -> Option<Case> {
    let fields: Vec<&str> = row.split('\t').collect();
    let [id, family, _, version, target, "ok", _, decls, statement, module] = fields[..] else {
        return None;
    };
    let parts = parts(family)?;
    let wide = family.starts_with("wgmma");
    let (decls, module) = (decls.replace("\\n", "\n"), module.replace("\\n", "\n"));
    let (guard, mnemonic, operands) = apart(statement)?;
    let operands = split(operands);
    let mut inputs = Inputs {
        id,
        family,
        name: mnemonic.to_string(),
        decls: &decls,
        wide,
        layout,
        seed: digest(id.as_bytes()),
        at_b: false,
        body: String::new(),
        results: Vec::new(),
        stored: false,
    };
    for (index, operand) in operands.iter().enumerate() {
        inputs.operand(part_of(&parts, index, operand, &decls), operand, operands[0])?;
        // Matrices that a warpgroup reads from memory: the second operand may be registers.
        if wide && index == 1 {
            inputs.at_b = true;
        }
    }
    if let Some((negated, register)) = guard {
        line!(inputs.body, "setp.{}.u32 {register}, 1, 0;", if negated { "eq" } else { "ne" });
    }
    if inputs.results.is_empty() && !inputs.stored {
        return None;
    }
    let kernel = Kernel::new(&inputs, version, target, &module, &statement.replace("\\n", "\n"));
    let (pools, memory) = numbers(&mnemonic);
    let launch = json!({"entry": "k", "grid": [1], "block": [kernel.threads], "args": [
        {"buffer": literal::hex(&pools)},
        {"buffer": literal::hex(&memory)},
        {"buffer_zero": kernel.bytes},
        {"buffer_zero": MEMORY},
    ]});
    let name = if wide { format!("{id}.{layout}") } else { id.into() };
    Some(Case { name, ptx: kernel.ptx, launch, check: Check::Bits })
}

/// The parts of a family's operands, in their order.
fn parts(family: &str) -> Option<Vec<Part>> {
    use Part::*;
    Some(match family {
        "mma" | "wmma.mma" => vec![Result, Element, Element, Addend],
        "mma.sp" => vec![Result, Element, Element, Addend, Metadata],
        "movmatrix" => vec![Result, Element],
        "ldmatrix" => vec![Result, Address],
        "stmatrix" => vec![Address, Element],
        "wmma.load" => vec![Result, Address, Stride],
        "wmma.store" => vec![Address, Element, Stride],
        "wgmma.mma_async" => vec![Result, Element, Element, Flag],
        "wgmma.mma_async.sp" => vec![Result, Element, Element, Metadata, Immediate, Flag],
        _ => return None,
    })
}

fn part_of(parts: &[Part], index: usize, operand: &str, decls: &str) -> Part {
    let part = parts.get(index).copied().unwrap_or(Part::Immediate);
    let wide = registers(operand, decls).first().and_then(|name| class(decls, name));
    match part {
        // A matrix in shared memory.
        Part::Element if !operand.starts_with('{') && wide == Some(ScalarType::B64) => Part::Descriptor,
        part => part,
    }
}

/// The register of a guard, and whether it is negated.
type Guard<'s> = Option<(bool, &'s str)>;

/// The guard, the mnemonic and the operands of a single statement.
fn apart(statement: &str) -> Option<(Guard<'_>, Mnemonic, &str)> {
    let statement = statement.trim().strip_suffix(';').filter(|s| !s.contains([';', '\\']))?;
    let (guard, rest) = match statement.strip_prefix('@') {
        Some(guarded) => {
            let (name, rest) = guarded.split_once(' ')?;
            let negated = name.starts_with('!');
            (Some((negated, name.trim_start_matches('!'))), rest)
        }
        None => (None, statement),
    };
    let (name, operands) = rest.trim().split_once(' ')?;
    Some((guard, Mnemonic::parse(name).ok()?, operands.trim()))
}

/// Operands, apart at the commas outside of braces and brackets.
fn split(operands: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0i32, 0, Vec::new());
    for (at, c) in operands.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(operands[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(operands[start..].trim());
    found
}

/// The registers that an operand names.
fn registers(operand: &str, decls: &str) -> Vec<String> {
    let names = operand.split(|c: char| !(c.is_ascii_alphanumeric() || "_%$".contains(c)));
    names.filter(|name| class(decls, name).is_some()).map(str::to_owned).collect()
}

/// The type of a declared register.
fn class(decls: &str, register: &str) -> Option<ScalarType> {
    decls.split(';').find_map(|decl| {
        let (ty, names) = decl.trim().strip_prefix(".reg .")?.split_once(' ')?;
        let declares = names.split(',').map(str::trim).any(|name| match name.strip_suffix('>') {
            Some(several) => several.split_once('<').is_some_and(|(prefix, count)| {
                let number = register.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
                number.zip(count.parse().ok()).is_some_and(|(number, count): (u32, u32)| number < count)
            }),
            None => name == register,
        });
        declares.then(|| ScalarType::from_name(ty)).flatten()
    })
}

/// The pools (multiplicands, addends, metadata) and the memory of a case, the same whenever they are made, and for all cases of the same types.
fn numbers(mnemonic: &Mnemonic) -> (Vec<u8>, Vec<u8>) {
    let types: Vec<ScalarType> = mnemonic.types().collect();
    // Destination, multiplicands, addend: of fewer types all are the same.
    let element = types.get(1).or(types.first()).copied().unwrap_or(ScalarType::B16);
    let addend = types.last().copied().unwrap_or(ScalarType::B16);
    let mut random = SplitMix64::new(digest(format!("{element} {addend}").as_bytes()));
    let fill = |ty: ScalarType, bytes: usize, random: &mut SplitMix64| -> Vec<u8> {
        let size = (ty.bits() as usize / 8).max(1);
        let mut out = Vec::new();
        while out.len() < bytes {
            out.extend_from_slice(&number(ty, random).to_le_bytes()[..size]);
        }
        out
    };
    let mut pools = fill(element, POOL * 4, &mut random);
    pools.extend(fill(addend, POOL * 4, &mut random));
    // Which two of four elements are there, in order; of tf32, which one of two.
    let choices: &[u32] =
        if element == ScalarType::TF32 { &[0x4, 0xe] } else { &[0x4, 0x8, 0x9, 0xc, 0xd, 0xe] };
    for _ in 0..POOL {
        let word = (0..8)
            .fold(0u32, |word, i| word | choices[(random.next() % choices.len() as u64) as usize] << (4 * i));
        pools.extend_from_slice(&word.to_le_bytes());
    }
    let memory = fill(element, SOURCE, &mut random);
    (pools, memory)
}

/// A number of a type: mostly of moderate size, so that sums are of many, now and then any bits.
fn number(ty: ScalarType, random: &mut SplitMix64) -> u64 {
    let bits = random.next();
    let spread = (bits >> 32 & 15) as i32 - 8;
    let near = ((bits & 0xff_ffff) as f64 / f64::from(1 << 23) - 1.0) * 2f64.powi(spread);
    let any = random.next().is_multiple_of(24);
    match ty {
        _ if any => random.next(),
        ScalarType::F16 => F16::narrow(near).into(),
        ScalarType::BF16 => BF16::narrow(near).into(),
        ScalarType::F32 | ScalarType::TF32 => (near as f32).to_bits().into(),
        ScalarType::F64 => near.to_bits(),
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_and_registers() {
        let decls = ".reg .b32 r<62>; .reg .f32 f<88>;\n.reg .b64 d<3>, a;";
        assert_eq!(split("{a,b}, [c+4], d"), ["{a,b}", "[c+4]", "d"]);
        assert_eq!(registers("{f0,f87}", decls), ["f0", "f87"]);
        assert_eq!(registers("[a+16]", decls), ["a"]);
        assert_eq!(class(decls, "r62"), None);
        assert_eq!(class(decls, "d2"), Some(ScalarType::B64));
    }

    #[test]
    fn a_product_runs() {
        let row = "id\tmma\t9.7.14.5.14\t9.0\tsm_90\tok\t\t.reg .b32 r<82>;\tmma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {r0,r1}, {r40,r41,r42,r43}, {r60,r61}, {r80,r81};\t";
        let case = case(row, 0).unwrap();
        let buffers = super::super::run(&case).unwrap();
        let out = buffers[2].as_ref().unwrap();
        assert_eq!(out.len(), 32 * 16);
        assert!(out.iter().any(|byte| *byte != 0));
    }
}
