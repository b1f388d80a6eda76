//! What ptxas makes of a text: registers and instructions, weighted by the loops they are in.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;
use warpsmith_harness::ptxas::Toolbox;

/// A kernel in machine code.
#[derive(Clone, Debug)]
pub struct Sass {
    /// Instructions, each counted ten times for each loop around it.
    pub weighted: u64,
    pub registers: u32,
    /// Registers that its instructions name. ptxas takes more where the numbers it gives have gaps, so this says how many values are kept at once.
    pub named: usize,
}

/// The kernels of a PTX text. Empty without ptxas or nvdisasm.
pub fn of(text: &str) -> HashMap<String, Sass> {
    let toolbox = Toolbox::from_environment();
    let Some(ptxas) = toolbox.release("13.0").or_else(|| toolbox.newest()) else { return HashMap::new() };
    let cubin = ptxas.assemble(&rolled(text), super::TARGET).unwrap_or_else(|said| panic!("ptxas: {said}"));
    let file = std::env::temp_dir().join(format!("warpsmith-code-{}.cubin", std::process::id()));
    std::fs::write(&file, &cubin).expect("a temporary file");
    let disassembler = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/warpsmith-tools/bin/nvdisasm");
    let output = Command::new(disassembler).arg("-c").arg(&file).output();
    std::fs::remove_file(&file).expect("it was just written");
    let Ok(output) = output else { return HashMap::new() };
    let registers = registers(&cubin);
    let listing = String::from_utf8_lossy(&output.stdout);
    let sections = listing.split("\t.section\t.text.").skip(1);
    let kernels = sections.filter_map(|section| {
        let name = section.split([',', '\n']).next()?;
        let sass =
            Sass { weighted: weighted(section), registers: *registers.get(name)?, named: named(section) };
        Some((name.to_owned(), sass))
    });
    kernels.collect()
}

/// The text with an order to ptxas at each label to unroll no loop that begins there.
fn rolled(text: &str) -> String {
    let is_label = |line: &str| {
        // LLVM writes comments behind labels.
        let name = line.split("//").next().unwrap_or_default().trim().strip_suffix(':');
        name.is_some_and(|name| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == ','))
    };
    let lines = text.lines().filter(|line| !line.contains(".pragma"));
    lines.flat_map(|line| [line, if is_label(line) { "\n.pragma \"nounroll\";\n" } else { "\n" }]).collect()
}

/// Registers of each kernel, from what the cubin tells the driver: attribute 0x2f of `.nv.info`, a symbol and a number.
fn registers(cubin: &[u8]) -> HashMap<String, u32> {
    let number = |at: u64, bytes: u64| -> Option<u64> {
        let bytes = cubin.get(at as usize..(at + bytes) as usize)?;
        Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    let text =
        |at: u64| Some(String::from_utf8_lossy(cubin.get(at as usize..)?.split(|&byte| byte == 0).next()?));
    let read = || -> Option<HashMap<String, u32>> {
        let (table, size) = (number(0x28, 8)?, number(0x3a, 2)?);
        let header = |n: u64| table + n * size;
        let start = |n: u64| number(header(n) + 0x18, 8);
        let names = start(number(0x3e, 2)?)?;
        let section = |wanted: &str| {
            (0..number(0x3c, 2)?).find(|&n| {
                let name = number(header(n), 4).and_then(|name| text(names + name));
                name.is_some_and(|name| name == wanted)
            })
        };
        let (info, symbols) = (section(".nv.info")?, section(".symtab")?);
        let strings = start(number(header(symbols) + 0x28, 4)?)?;
        let (mut at, mut found) = (start(info)?, HashMap::new());
        let end = at + number(header(info) + 0x20, 8)?;
        while at < end {
            let (format, attribute, value) = (number(at, 1)?, number(at + 1, 1)?, number(at + 2, 2)?);
            at += 4;
            // Only the fourth format has bytes of its own behind it.
            if format != 4 {
                continue;
            }
            if attribute == 0x2f {
                let symbol = start(symbols)? + 24 * number(at, 4)?;
                let name = text(strings + number(symbol, 4)?)?;
                found.insert(name.into_owned(), number(at + 4, 4)? as u32);
            }
            at += value;
        }
        Some(found)
    };
    read().unwrap_or_default()
}

/// How many registers the instructions of a listing name, the upper ones of wide operands among them.
fn named(section: &str) -> usize {
    let mut found: HashSet<u32> = HashSet::new();
    for line in section.lines().map(str::trim).filter(|line| line.starts_with("/*") && line.ends_with(';')) {
        let text = line.rsplit("*/").next().unwrap_or_default();
        let mut words = text.split_whitespace().filter(|word| !word.starts_with('@'));
        let opcode = words.next().unwrap_or_default().trim_end_matches(';');
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        for (n, operand) in words.flat_map(|word| word.split(|c| !is_part(c))).enumerate() {
            let mut parts = operand.split('.');
            let number = parts.next().and_then(|part| part.strip_prefix('R')?.parse::<u32>().ok());
            let Some(number) = number else { continue };
            let wide = parts.any(|part| part == "64");
            let count = if n == 0 { width(opcode) } else { 1 + u32::from(wide) };
            found.extend(number..number + count);
        }
    }
    found.len()
}

/// How many registers an operation writes.
fn width(opcode: &str) -> u32 {
    let parts: Vec<&str> = opcode.split('.').collect();
    let has = |wanted: &str| parts.contains(&wanted);
    let to = parts.get(1).copied().unwrap_or_default();
    let pair = match parts[0] {
        "DADD" | "DMUL" | "DFMA" => true,
        "I2F" | "F2F" => to == "F64",
        "F2I" => matches!(to, "S64" | "U64"),
        _ => has("64") || has("WIDE"),
    };
    if has("128") { 4 } else { 1 + u32::from(pair) }
}

/// The sum over the instructions of a listing. A loop is what lies between the target of a branch back and the last such branch.
fn weighted(section: &str) -> u64 {
    let mut labels: HashMap<&str, usize> = HashMap::new();
    let mut instructions: Vec<&str> = Vec::new();
    for line in section.lines() {
        let line = line.trim();
        if let Some(label) = line.strip_prefix(".L_").and_then(|label| label.strip_suffix(':')) {
            labels.insert(label, instructions.len());
        } else if line.starts_with("/*") && line.ends_with(';') {
            instructions.push(line.rsplit("*/").next().unwrap_or_default().trim());
        }
    }
    let mut loops: HashMap<usize, usize> = HashMap::new();
    for (at, instruction) in instructions.iter().enumerate() {
        let target = instruction.split("`(.L_").nth(1).and_then(|rest| rest.split(')').next());
        if let Some(&start) = target.and_then(|target| labels.get(target))
            && start < at
            && !instruction.contains("CALL")
        {
            let end = loops.entry(start).or_default();
            *end = at.max(*end);
        }
    }
    let spans: HashSet<(usize, usize)> = loops.into_iter().collect();
    let counted = instructions.iter().enumerate().filter(|(_, text)| !text.starts_with("NOP"));
    let depth = |at: usize| spans.iter().filter(|(start, end)| (*start..=*end).contains(&at)).count() as u32;
    counted.map(|(at, _)| 10u64.pow(depth(at).min(6))).sum()
}
