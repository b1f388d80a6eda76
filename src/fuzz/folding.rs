//! What ptxas folds: kernels whose results are constants, beside kernels that store what the engine computes.
//!
//! Where both have the same machine code, ptxas has folded the instructions and agrees. Where they differ in the immediates of the instructions
//! that make the constant and in nothing else, it has folded them to another constant. Everything else it has not folded, which says nothing.

use super::{Case, Failure, NoCode, Oracle, Tools, Verdict};
use crate::launch::{LaunchSpec, execute};
use crate::{Program, ptx};
use arbitrary::Unstructured;
use warpsmith_smith::Random;
use warpsmith_smith::ptx::{Config, Constants, constants};

/// Kernels of a module: an assembler is started once for all of them.
const KERNELS: usize = 24;

/// What came of a module of constants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Folded {
    /// Kernels that ptxas has made constants of, the same as the engine.
    pub same: u32,
    /// Kernels that it has not folded.
    pub unfolded: u32,
}

/// What came of a comparison.
pub type FoldingResult = Result<(Verdict, Folded), Failure>;

/// Makes a module of constants of a seed, and compares what ptxas folds with the engine. `None` without a ptxas.
pub fn folding(seed: u64, config: &Config, tools: &dyn Tools) -> Option<(Case, FoldingResult)> {
    let bytes = Random::new(seed).bytes(KERNELS * 400);
    let made = constants(&mut Unstructured::new(&bytes), config, KERNELS).ok()?;
    let description = "{\"entry\": \"k0\", \"grid\": [1], \"block\": [1], \"args\": [{\"buffer_zero\": 8}]}";
    let case = |text| Case::new(text, description.to_owned()).ok();
    let plain = case(made.module(""))?;
    let fail = |oracle, what: String| Err(Failure { oracle, what });
    let module = match ptx::ValidatedModule::parse(plain.text.as_str()) {
        Ok(module) => module,
        Err(errors) => return Some((plain, fail(Oracle::Accept, format!("PTX is rejected: {}", errors[0])))),
    };
    let program = match Program::load(&module) {
        Ok(program) => program,
        Err(errors) => return Some((plain, fail(Oracle::Accept, format!("is not loaded: {}", errors[0])))),
    };
    let mut verdict = Verdict::default();
    let mut more = String::new();
    for (n, &bits) in made.bits.iter().enumerate() {
        let launch = LaunchSpec { entry: format!("k{n}"), ..plain.launch.clone() };
        verdict.runs += 1;
        let left = match execute(&program, &launch) {
            Ok(execution) => execution.buffers.into_iter().flatten().next()?,
            Err(fault) => return Some((plain, fail(Oracle::Accept, format!("k{n} faults: {fault}")))),
        };
        let word = u64::from_le_bytes(left.get(..8)?.try_into().ok()?);
        more += &Constants::kernel(&format!("c{n}"), bits, word);
    }
    let both = case(made.module(&more))?;
    let code = match tools.ptxas(&both.text, made.target)? {
        Ok(code) => code,
        Err(NoCode::Rejected(said)) => {
            return Some((both, fail(Oracle::Ptxas, format!("ptxas rejects: {said}"))));
        }
        Err(NoCode::Crashed(how)) => {
            verdict.ptxas_crashed = Some(how);
            return Some((both, Ok((verdict, Folded::default()))));
        }
    };
    let mut folded = Folded::default();
    for n in 0..made.bits.len() {
        let (Some(k), Some(c)) =
            (section(&code, &format!(".text.k{n}")), section(&code, &format!(".text.c{n}")))
        else {
            return Some((both, fail(Oracle::Ptxas, format!("the code has no kernel k{n}"))));
        };
        match compare(k, c) {
            Same::Yes => folded.same += 1,
            Same::Unfolded => folded.unfolded += 1,
            Same::Otherwise => {
                let what = format!(
                    "kernel k{n} is folded to another constant than the engine computes, which c{n} has"
                );
                return Some((both, fail(Oracle::Folding, what)));
            }
        }
    }
    Some((both, Ok((verdict, folded))))
}

enum Same {
    Yes,
    Unfolded,
    Otherwise,
}

/// Compares the code of two kernels, in instructions of 16 bytes whose immediates are bytes 4 to 7.
fn compare(k: &[u8], c: &[u8]) -> Same {
    if k.len() != c.len() {
        return Same::Unfolded;
    }
    let mut differ = 0;
    for (a, b) in k.chunks(16).zip(c.chunks(16)).filter(|(a, b)| a != b) {
        let but = |bytes: &[u8]| -> Vec<u8> {
            bytes.iter().enumerate().filter(|(n, _)| !(4..8).contains(n)).map(|(_, b)| *b).collect()
        };
        if but(a) != but(b) {
            return Same::Unfolded;
        }
        differ += 1;
    }
    match differ {
        0 => Same::Yes,
        1 | 2 => Same::Otherwise,
        _ => Same::Unfolded,
    }
}

/// A section of an ELF file of 64 bits.
fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(file.get(at..at.checked_add(bytes)?)?);
        usize::try_from(u64::from_le_bytes(word)).ok()
    };
    let (table, size, count, names) =
        (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?, number(0x3e, 2)?);
    let header = |n: usize| table.checked_add(n.checked_mul(size)?);
    let texts = number(header(names)? + 0x18, 8)?;
    (0..count).find_map(|n| {
        let header = header(n)?;
        let text = file.get(texts.checked_add(number(header, 4)?)?..)?;
        let found = text.split(|byte| *byte == 0).next()? == name.as_bytes();
        let (from, bytes) = (number(header + 0x18, 8)?, number(header + 0x20, 8)?);
        if found { file.get(from..from.checked_add(bytes)?) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::{Same, compare};

    #[test]
    fn immediates_are_told_from_other_code() {
        let code = [0u8; 48];
        assert!(matches!(compare(&code, &code), Same::Yes));
        let mut other = code;
        other[16 + 5] = 1;
        assert!(matches!(compare(&code, &other), Same::Otherwise));
        other[16 + 9] = 1;
        assert!(matches!(compare(&code, &other), Same::Unfolded));
        assert!(matches!(compare(&code, &code[..32]), Same::Unfolded));
    }
}
