//! The lowest `.version` that a module's features need on a target.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_ir as ir;
use warpsmith_isa::limits;
use warpsmith_isa::{Clause, Directive, Mnemonic, Opcode, Target, Version, forms};
use warpsmith_lower::mach::{self, Op, Operand, RegClass, Terminator};

/// Finds the version, or, where `limit` or the target does not reach, says which operations ask for more.
pub fn lowest(
    module: &ir::Module,
    code: &mach::Module,
    target: Target,
    limit: Option<Version>,
) -> Result<Version, Vec<Diagnostic>> {
    let Some(since) = target.since() else {
        return Err(vec![Diagnostic::error("E0001", Span::NONE, format!("PTX has no target {target}"))]);
    };
    let limit = limit.unwrap_or(Version::LATEST);
    let mut search = Search {
        target,
        limit,
        version: since,
        errors: Vec::new(),
        mnemonics: HashSet::default(),
        registers: HashSet::default(),
    };
    if since > limit {
        let text = format!("target {target} needs .version {since}, but {limit} is asked for");
        return Err(vec![Diagnostic::error("E0001", Span::NONE, text)]);
    }
    for func in module.functions.values() {
        for name in crate::module::directive_names(&func.attrs) {
            if let Some(directive) = Directive::from_name(name) {
                search.need(&format!("`{name}`"), func.span, lowest_of(directive.gates, since, target));
            }
        }
    }
    for func in module.functions.values().filter(|func| func.kind == ir::FuncKind::Kernel) {
        let bytes = func.param_space();
        if bytes > limits::SMALL_KERNEL_PARAM_BYTES
            && let Some(directive) = Directive::from_name(".param.large")
        {
            let what = format!("{bytes} bytes of kernel parameters");
            search.need(&what, func.span, lowest_of(directive.gates, since, target));
        }
    }
    for function in &code.functions {
        search.function(&module.functions[function.id], function);
    }
    if search.errors.is_empty() { Ok(search.version) } else { Err(search.errors) }
}

struct Search {
    target: Target,
    limit: Version,
    version: Version,
    errors: Vec<Diagnostic>,
    // What is used a thousand times is looked up, and reported, once.
    mnemonics: HashSet<Mnemonic, FxBuildHasher>,
    registers: HashSet<ir::Sreg, FxBuildHasher>,
}

impl Search {
    fn function(&mut self, func: &ir::Function, code: &mach::Function) {
        for inst in &code.insts {
            let span = inst.origin.map_or(func.span, |origin| func.operation_span(origin));
            if let Op::Ptx(mnemonic) = inst.op {
                self.instruction(mnemonic, span);
            }
            for operand in code.inst_operands(inst) {
                if let Operand::Special(register) = operand
                    && self.registers.insert(*register)
                {
                    let lowest = register.reg().gate().lowest_version(self.target);
                    self.need(&format!("`%{register}`"), span, lowest);
                }
            }
        }
        if !code.prototypes.is_empty() {
            self.need(
                "a call through an address",
                func.span,
                (self.target.sm >= 20).then_some(Version::new(2, 1)),
            );
        }
        // The other ways to end a block are as old as PTX.
        let table = code.blocks.values().find(|block| matches!(block.terminator, Terminator::Table { .. }));
        if let Some(block) = table {
            self.instruction(
                Mnemonic::new(Opcode::BrxIdx),
                block.origin.map_or(func.span, |origin| func.operation_span(origin)),
            );
        }
        if code.vregs.values().any(|&class| class == RegClass::B128) {
            let version = Version::new(8, 3);
            self.need("a 128-bit register", func.span, (self.target.sm >= 70).then_some(version));
        }
    }

    fn instruction(&mut self, mnemonic: Mnemonic, span: Span) {
        if !self.mnemonics.insert(mnemonic) {
            return;
        }
        let lowest = forms(&mnemonic).filter_map(|m| m.gate().lowest_version(self.target)).min();
        self.need(&format!("`{mnemonic}`"), span, lowest);
    }

    fn need(&mut self, what: &str, span: Span, version: Option<Version>) {
        let (target, limit) = (self.target, self.limit);
        match version {
            None => {
                let text = format!("{what} does not exist on target {target}");
                self.errors.push(Diagnostic::error("E0002", span, text));
            }
            Some(version) if version > limit => {
                let text =
                    format!("{what} needs .version {version} on target {target}, but {limit} is asked for");
                self.errors.push(Diagnostic::error("E0003", span, text));
            }
            Some(version) => self.version = self.version.max(version),
        }
    }
}

/// The lowest version from `since` on that the clauses allow.
fn lowest_of(clauses: &[Clause], since: Version, target: Target) -> Option<Version> {
    let allowed = |version: &Version| clauses.iter().all(|clause| clause.allows(*version, target));
    Version::known().filter(|&version| version >= since).find(allowed)
}
