//! The version to begin with: the lowest that has the mnemonics and special registers of the code, asked of the gates in the tables. What their
//! operands, directives and declarations need besides, the validator says of the text ([`warpsmith_ptx::Refusal`]).

use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::{Diagnostic, Origin, Span};
use warpsmith_ir as ir;
use warpsmith_isa::{Mnemonic, Opcode, Target, Version, forms};
use warpsmith_lower::mach::{self, Op, Operand, Terminator};

/// An error with what it is about. The numbers of instructions are not those of the module that was given: passes have run.
pub fn located(
    error: Diagnostic,
    module: &ir::Module,
    func: &ir::Function,
    inst: Option<ir::Inst>,
) -> Diagnostic {
    let mut origin = Origin::of(&func.name);
    origin.place = inst.and_then(|inst| module.origin(func, inst).place);
    let noted = match (&origin.place, error.span.is_none()) {
        (Some(place), true) => error.note(format!("in `@{}`, made for {place}", func.name)),
        (None, true) => error.note(format!("in `@{}`", func.name)),
        (_, false) => error,
    };
    noted.origin(origin)
}

/// The version, or, where `limit` or the target does not reach, the operations that ask for more.
pub fn at_least(
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
        module,
        place: None,
        target,
        limit,
        version: since,
        errors: Vec::new(),
        mnemonics: FxHashSet::default(),
        latest: FxHashMap::default(),
        registers: FxHashSet::default(),
    };
    if since > limit {
        let text = format!("target {target} needs .version {since}, but {limit} is asked for");
        return Err(vec![Diagnostic::error("E0001", Span::NONE, text)]);
    }
    for function in &code.functions {
        search.function(&module.functions[function.id], function);
    }
    if search.errors.is_empty() { Ok(search.version) } else { Err(search.errors) }
}

struct Search<'a> {
    module: &'a ir::Module,
    /// What is looked at.
    place: Option<(&'a ir::Function, Option<ir::Inst>)>,
    target: Target,
    limit: Version,
    version: Version,
    errors: Vec<Diagnostic>,
    // What is used a thousand times is looked up, and reported, once.
    mnemonics: FxHashSet<Mnemonic>,
    /// The last one of each opcode, which most often comes again: to hash all of it costs more than to look it up.
    latest: FxHashMap<Opcode, Mnemonic>,
    registers: FxHashSet<ir::Sreg>,
}

impl<'a> Search<'a> {
    fn function(&mut self, func: &'a ir::Function, code: &mach::Function) {
        for inst in &code.insts {
            self.place = Some((func, inst.origin));
            let span = inst.origin.map_or(func.span, |origin| func.operation_span(origin));
            if let Op::Ptx(mnemonic) = inst.op {
                self.instruction(mnemonic, span);
            }
            for operand in code.inst_operands(inst) {
                if let Operand::Special(register) = operand
                    && self.registers.insert(*register)
                {
                    let lowest = register.reg().gate().lowest_version(self.target);
                    self.need(&|| format!("`%{register}`"), span, lowest);
                }
            }
        }
        // The other ways to end a block are as old as PTX.
        let table = code.blocks.values().find(|block| matches!(block.terminator, Terminator::Table { .. }));
        if let Some(block) = table {
            self.place = Some((func, block.origin));
            self.instruction(
                Mnemonic::new(Opcode::BrxIdx),
                block.origin.map_or(func.span, |origin| func.operation_span(origin)),
            );
        }
    }

    fn instruction(&mut self, mnemonic: Mnemonic, span: Span) {
        let is_latest = self.latest.insert(mnemonic.opcode(), mnemonic) == Some(mnemonic);
        if is_latest || !self.mnemonics.insert(mnemonic) {
            return;
        }
        let lowest = forms(&mnemonic).filter_map(|m| m.gate().lowest_version(self.target)).min();
        self.need(&|| format!("`{mnemonic}`"), span, lowest);
    }

    fn need(&mut self, what: &dyn Fn() -> String, span: Span, version: Option<Version>) {
        let (target, limit) = (self.target, self.limit);
        match version {
            None => {
                let text = format!("{} does not exist on target {target}", what());
                self.error("E0002", span, text);
            }
            Some(version) if version > limit => {
                let text = format!(
                    "{} needs .version {version} on target {target}, but {limit} is asked for",
                    what()
                );
                self.error("E0003", span, text);
            }
            Some(version) => self.version = self.version.max(version),
        }
    }

    fn error(&mut self, code: &'static str, span: Span, text: String) {
        let error = Diagnostic::error(code, span, text);
        self.errors.push(match self.place {
            Some((func, inst)) => located(error, self.module, func, inst),
            None => error,
        });
    }
}
