//! Random PTX: what no compiler of ours would write, too. Scopes that hide registers, declared vectors, parameterised names, irreducible loops,
//! `brx.idx`, calls through registers, every pure form of the tables and every form of `ld`, `st`, `atom` and `red`.
//!
//! A program has a kernel `k` with the parameters that [`crate::ir::PARAMS`] lists, and is launched as [`crate::GRID`] and [`crate::BLOCK`] say. By
//! construction:
//!
//! - it ends: loops count down registers that nothing else writes, recursion its argument;
//! - it has no races: a thread writes only its part of the output, of shared and of local memory; the variable `totals` is only reached by
//!   atomic operations whose order does not matter; what a neighbour wrote is read between two barriers;
//! - every register is written where it is declared, memory before it is read;
//! - what ends a kernel, or is out of bounds, stands behind guards that never hold;
//! - what the manual leaves open does not reach memory: divisors are not zero, NaNs are replaced, lanes that take no part are not asked.
//!
//! It ends by writing a digest of what each thread has in its registers.

mod body;
mod call;
mod catalog;
mod control;
mod folded;
mod memory;
mod op;
mod scope;
mod warp;

use arbitrary::{Arbitrary, Result, Unstructured};
use scope::{Class, Scopes};
use std::fmt::Write;
use warpsmith_isa::{Target, Version};

pub use folded::{Constants, constants};
pub use warpsmith_isa::Variant;

/// The targets that programs are made for.
pub const TARGETS: &[Target] = &[Target::sm(70), Target::sm(80), Target::sm(90), Target::sm(100)];

/// What programs may contain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Statements of the kernel, about.
    pub statements: usize,
    /// How deep scopes, loops and branches are nested, at most.
    pub depth: usize,
    /// How often a loop goes round, at most.
    pub trips: u32,
    /// Functions, at most.
    pub functions: usize,
    /// Memory in all spaces.
    pub memory: bool,
    /// Barriers, shuffles, votes: what threads do together.
    pub together: bool,
    /// Atomic operations.
    pub atomics: bool,
    /// Registers that are hidden by others of their name in an inner scope, parameterised names, declared vectors.
    pub scopes: bool,
    /// Instructions whose result is only bounded, such as `sin.approx`.
    pub approximate: bool,
    /// Only what the reference interpreter executes.
    pub reference: bool,
    /// The target; one of [`TARGETS`] at random if `None`.
    pub target: Option<Target>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            statements: 40,
            depth: 3,
            trips: 4,
            functions: 2,
            memory: true,
            together: true,
            atomics: true,
            scopes: true,
            approximate: true,
            reference: false,
            target: None,
        }
    }
}

/// A program as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The module.
    pub text: String,
    /// What it is for.
    pub target: Target,
    /// How many instructions it has.
    pub instructions: usize,
}

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        program(u, &Config::default())
    }
}

/// Makes a program.
pub fn program(u: &mut Unstructured, config: &Config) -> Result<Program> {
    let target = match config.target {
        Some(target) => TARGETS.iter().copied().rfind(|t| t.sm <= target.sm).unwrap_or(TARGETS[0]),
        None => *u.choose(TARGETS)?,
    };
    let mut g = Generator::new(u, config, target);
    g.module()?;
    let (instructions, version, body) = (g.instructions, g.version, g.out);
    // A target has its first version, and a text may say a later one than it needs.
    let first =
        warpsmith_isa::TARGETS.iter().find(|row| row.target == target).map_or(version, |row| row.since);
    let version = version.max(first);
    let mut text = String::with_capacity(body.len() + 64);
    // Writing to a string cannot fail.
    write!(text, ".version {version}\n.target {target}\n.address_size 64\n\n{body}").unwrap_or_default();
    Ok(Program { text, target, instructions })
}

/// A function for a program of others.
pub(crate) struct Donor {
    pub text: String,
    /// The declarations of its parameters, with `_` for their names. It returns 32 bits.
    pub params: Vec<String>,
    pub needs: Version,
}

/// Makes a function of a name. The configuration says for which target.
pub(crate) fn function(u: &mut Unstructured, config: &Config, name: &str) -> Result<Donor> {
    let sm = config.target.unwrap_or(TARGETS[0]).sm;
    let target = TARGETS.iter().copied().rfind(|t| t.sm <= sm).unwrap_or(TARGETS[0]);
    let mut g = Generator::new(u, config, target);
    g.function(name)?;
    let params = g.functions.iter().flat_map(call::Signature::params).collect();
    Ok(Donor { text: g.out, params, needs: g.version })
}

/// Where a statement stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Kernel,
    Function,
}

struct Generator<'u, 'd, 'c> {
    u: &'u mut Unstructured<'d>,
    config: &'c Config,
    target: Target,
    catalog: &'static catalog::Catalog,
    version: Version,
    out: String,
    indent: usize,
    scopes: Scopes,
    labels: u32,
    /// Statements that may still be written.
    budget: usize,
    instructions: usize,
    functions: Vec<call::Signature>,
    place: Place,
    /// All threads of the block execute what is written here.
    together: bool,
    /// Threads may end before the others: nothing is done together later.
    may_leave: bool,
    /// The state space of the variable that starts with addresses.
    places_in: &'static str,
}

/// Appends a line of the body: an instruction or a declaration.
macro_rules! line {
    ($g:expr, $($text:tt)*) => {{
        let text = format!($($text)*);
        $g.line(&text);
    }};
}
use line;

impl<'u, 'd, 'c> Generator<'u, 'd, 'c> {
    fn new(u: &'u mut Unstructured<'d>, config: &'c Config, target: Target) -> Self {
        Generator {
            u,
            config,
            target,
            catalog: catalog::of_target(target),
            version: Version::new(6, 0),
            out: String::with_capacity(8192),
            indent: 1,
            scopes: Scopes::default(),
            labels: 0,
            budget: 0,
            instructions: 0,
            functions: Vec::new(),
            place: Place::Function,
            together: false,
            may_leave: false,
            places_in: "global",
        }
    }
}

impl Generator<'_, '_, '_> {
    fn line(&mut self, text: &str) {
        if !text.starts_with(['.', '{', '}', '$']) || text.starts_with("@") {
            self.instructions += 1;
        }
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A label that nothing else has.
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    fn place_label(&mut self, label: &str) {
        self.out.push_str(label);
        self.out.push_str(":\n");
    }

    fn needs(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    fn module(&mut self) -> Result<()> {
        let words: Vec<String> = (1..=16u32).map(|n| n.wrapping_mul(0x9e37_79b9).to_string()).collect();
        self.out.push_str(&format!(".const .align 32 .b32 table[16] = {{{}}};\n", words.join(", ")));
        let words: Vec<String> = (1..=24u16).map(|n| n.wrapping_mul(0x9e37).to_string()).collect();
        self.out.push_str(&format!(".const .align 8 .b16 words[24] = {{{}}};\n", words.join(", ")));
        self.out.push_str(".visible .global .align 8 .b64 totals[9];\n");
        self.out.push_str(".global .align 8 .b32 arrived;\n");
        self.places()?;
        for n in 0..self.u.int_in_range(0..=self.config.functions)? {
            self.function(&format!("helper{n}"))?;
        }
        self.place = Place::Kernel;
        self.out.push_str(
            ".visible .entry k(.param .u64 out, .param .u32 n, .param .u64 in, .param .u64 x, .param .f32 f, .param .f64 d)\n{\n",
        );
        self.together = self.config.together && self.u.ratio(1, 2)?;
        self.may_leave = !self.together;
        let statements = self.config.statements;
        self.budget = self.u.int_in_range(statements / 2..=statements)?;
        self.scopes.open();
        self.kernel_prologue()?;
        self.declare()?;
        while self.budget > 0 && !self.u.is_empty() {
            self.statement(0)?;
        }
        self.digest()?;
        self.scopes.close();
        self.out.push_str("}\n");
        Ok(())
    }

    /// What every kernel begins with: the thread's number and its parts of memory, in registers that are only read.
    fn kernel_prologue(&mut self) -> Result<()> {
        line!(self, ".reg .b64 %own, %gen, %input, %shr, %acc, %h, %h0, %h1, %t0, %t1;");
        line!(self, ".reg .b32 %thread, %own_tid, %count, %s0, %s1, %s2;");
        line!(self, ".reg .b16 %q0, %q1;");
        line!(self, ".reg .pred %c0, %c1;");
        line!(self, ".shared .align 32 .b8 scratch[{}];", 32 * crate::BLOCK);
        line!(self, ".local .align 32 .b32 stack[16];");
        line!(self, ".local .align 8 .b32 few[4];");
        for text in [
            "mov.u32 %own_tid, %tid.x;",
            "mov.u32 %s0, %ctaid.x;",
            "mov.u32 %s1, %ntid.x;",
            "mad.lo.s32 %thread, %s0, %s1, %own_tid;",
            "ld.param.u32 %count, [n];",
            "ld.param.u64 %own, [out];",
            "cvta.to.global.u64 %own, %own;",
            "mul.wide.u32 %t0, %thread, 256;",
            "add.s64 %own, %own, %t0;",
            "cvta.global.u64 %gen, %own;",
            "ld.param.u64 %input, [in];",
            "cvta.to.global.u64 %input, %input;",
            "mul.wide.u32 %shr, %own_tid, 32;",
            "mov.u64 %t0, scratch;",
            "add.s64 %shr, %shr, %t0;",
            "ld.param.u64 %t1, [x];",
            "mov.b64 %h0, %t1;",
            "mov.b64 %h1, %t1;",
            "mov.b64 %acc, %t1;",
        ] {
            self.line(text);
        }
        for at in (0..32).step_by(8) {
            line!(self, "st.shared.b64 [%shr+{at}], %t1;");
        }
        for at in (0..64).step_by(8) {
            line!(self, "st.local.b64 [stack+{at}], %t1;");
        }
        for at in [0, 8] {
            line!(self, "st.local.b64 [few+{at}], %t1;");
        }
        if !self.together {
            line!(self, "setp.ge.u32 %c0, %thread, %count;");
            let leave = self.u.choose(&["ret;", "exit;"])?;
            line!(self, "@%c0 {leave}");
        }
        Ok(())
    }

    /// Writes what the thread has in its registers to the beginning of its part of the output.
    fn digest(&mut self) -> Result<()> {
        self.place_label("$finish");
        line!(self, "xor.b64 %h, %acc, 0xcbf29ce484222325;");
        for (name, class) in self.scopes.outermost() {
            match class {
                Class::Pred => line!(self, "selp.b64 %t0, 1, 0, {name};"),
                Class::B16 => line!(self, "cvt.u64.u16 %t0, {name};"),
                Class::B32 => line!(self, "cvt.u64.u32 %t0, {name};"),
                Class::B64 => line!(self, "mov.b64 %t0, {name};"),
                Class::B128 => {
                    line!(self, "mov.b128 {{%t0, %t1}}, {name};");
                    line!(self, "xor.b64 %h, %h, %t1;");
                    line!(self, "mul.lo.u64 %h, %h, 0x100000001b3;");
                }
            }
            line!(self, "xor.b64 %h, %h, %t0;");
            line!(self, "mul.lo.u64 %h, %h, 0x100000001b3;");
        }
        line!(self, "st.global.u64 [%own], %h;");
        if self.together && self.u.ratio(1, 2)? {
            self.last_vote()?;
        } else if self.config.atomics && self.u.ratio(1, 2)? {
            self.last_arrival()?;
        }
        line!(self, "ret;");
        Ok(())
    }
}
