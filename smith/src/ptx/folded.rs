//! Kernels whose results are constants: an assembler that folds them shows what it thinks instructions mean.

use super::scope::Class;
use super::{Config, Generator, Place, TARGETS, line};
use arbitrary::{Result, Unstructured};
use warpsmith_isa::{Target, Version};

/// Kernels `k0`, `k1` and so on, each of which stores one value, which depends on nothing, to its parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constants {
    /// The module without its header.
    pub body: String,
    /// The target.
    pub target: Target,
    /// The version that the instructions need.
    pub version: Version,
    /// How many bits each kernel stores.
    pub bits: Vec<u32>,
}

impl Constants {
    /// The whole module, with more kernels.
    pub fn module(&self, more: &str) -> String {
        let Constants { body, target, version, .. } = self;
        format!(".version {version}\n.target {target}\n.address_size 64\n\n{body}{more}")
    }

    /// A kernel of another name that stores a number as another kernel stores what it computes.
    pub fn kernel(name: &str, bits: u32, value: u64) -> String {
        format!(
            ".visible .entry {name}(.param .u64 out)\n{{\n  .reg .b64 %own;\n  .reg .b{bits} %value;\n  ld.param.u64 %own, [out];\n  \
             cvta.to.global.u64 %own, %own;\n  mov.b{bits} %value, {value:#x};\n  st.global.b{bits} [%own], %value;\n  ret;\n}}\n"
        )
    }
}

/// Makes kernels of a few instructions each.
pub fn constants(u: &mut Unstructured, config: &Config, kernels: usize) -> Result<Constants> {
    let target = match config.target {
        Some(target) => TARGETS.iter().copied().rfind(|t| t.sm <= target.sm).unwrap_or(TARGETS[0]),
        None => *u.choose(TARGETS)?,
    };
    let config =
        &Config { scopes: false, memory: false, reference: true, approximate: false, ..config.clone() };
    let mut g = Generator::new(u, config, target);
    let mut bits = Vec::new();
    for _ in 0..kernels {
        let start = g.out.len();
        match g.constant_kernel(bits.len())? {
            Some(width) => bits.push(width),
            None => g.out.truncate(start),
        }
    }
    let first = warpsmith_isa::TARGETS.iter().find(|row| row.target == target);
    let version = first.map_or(g.version, |row| row.since.max(g.version));
    Ok(Constants { body: g.out, target, version, bits })
}

impl Generator<'_, '_, '_> {
    fn constant_kernel(&mut self, n: usize) -> Result<Option<u32>> {
        self.place = Place::Function;
        self.out.push_str(&format!(".visible .entry k{n}(.param .u64 out)\n{{\n"));
        self.scopes.open();
        self.line(".reg .b64 %own, %acc, %h0, %h1, %t0, %t1;");
        self.line(".reg .b32 %s0, %s1, %s2;");
        self.line(".reg .b16 %q0, %q1;");
        self.line(".reg .pred %c0, %c1;");
        self.line("ld.param.u64 %own, [out];");
        self.line("cvta.to.global.u64 %own, %own;");
        self.line("mov.b64 %h0, 5;");
        self.line("mov.b64 %h1, 9;");
        self.line("mov.b64 %acc, 3;");
        self.declare()?;
        let before = self.out.len();
        for _ in 0..self.u.int_in_range(1..=2)? {
            self.operation(None)?;
        }
        // What the last instruction wrote: the account has it.
        let last = self.out[before..].lines().rev().find_map(|line| {
            let line = line.trim();
            let name = match line.strip_prefix('@') {
                Some(rest) if line.contains("%acc, %acc, 0x3779") => rest.split(' ').next()?,
                _ if line.starts_with("mad.wide.u32 %acc") || line.starts_with("mad.lo.u64 %acc") => line
                    .trim_end_matches(';')
                    .split(", ")
                    .find(|name| name.starts_with('%') && *name != "%acc" && !name.contains(' '))?,
                _ if line.starts_with("cvt.u32.u16 %s2") => line.trim_end_matches(';').split(", ").nth(1)?,
                _ => return None,
            };
            Some(name.to_owned()).filter(|name| name != "%s2")
        });
        let class = last.as_deref().and_then(|name| self.scopes.class(name));
        // The account itself is not asked about.
        let kept: String = self.out[before..]
            .lines()
            .filter(|line| !line.contains("%acc"))
            .map(|line| format!("{line}\n"))
            .collect();
        self.out.truncate(before);
        self.out.push_str(&kept);
        let bits = match (last, class) {
            (Some(name), Some(Class::Pred)) => {
                line!(self, "selp.b32 %s0, 1, 0, {name};");
                self.line("st.global.b32 [%own], %s0;");
                Some(32)
            }
            (Some(name), Some(Class::B16)) => {
                line!(self, "cvt.u32.u16 %s0, {name};");
                self.line("st.global.b32 [%own], %s0;");
                Some(32)
            }
            (Some(name), Some(Class::B32)) => {
                line!(self, "st.global.b32 [%own], {name};");
                Some(32)
            }
            (Some(name), Some(Class::B64)) => {
                line!(self, "st.global.b64 [%own], {name};");
                Some(64)
            }
            (_, Some(Class::B128) | None) | (None, _) => None,
        };
        self.line("ret;");
        self.out.push_str("}\n");
        self.scopes.close();
        Ok(bits)
    }
}
