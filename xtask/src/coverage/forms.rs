//! Samples of the forms, and the core operations that become them.

use crate::in_root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::interp::Program;
use warpsmith::ir::{self, InstData, control_flow, sample::module};
use warpsmith::isa::coverage::Line;
use warpsmith::isa::sample::{Standing, of_form, standing};
use warpsmith::isa::{Opcode, SigKind, SigPresence, Signature, Target, Traits, forms};
use warpsmith::lower::mach::{Op, Operand};
use warpsmith::lower::{Options, Pipeline, legalize, select};
use warpsmith_semantics::Meaning;

/// The oldest target that an installed ptxas knows.
const OLDEST: Target = Target::sm(50);

/// How the samples of a line of the tables fare.
pub enum Measured {
    /// Control flow: the IR's own, and every body's.
    Control,
    /// No sample, for this reason.
    None(Standing),
    /// So many, of which so many are compiled and validated, and loaded by the engine.
    Samples { count: usize, validated: usize, executed: usize },
}

impl Measured {
    pub fn of(line: &Line) -> Measured {
        if line.forms[0].traits.intersects(Traits::TERMINATOR | Traits::CALL) {
            return Measured::Control;
        }
        let (mut count, mut validated, mut executed) = (0, 0, 0);
        for sample in line.forms.iter().flat_map(|form| of_form(form, OLDEST)) {
            count += 1;
            let compiler = Compiler::new(sample.target).with_opt_level(OptLevel::O0);
            let compiled =
                compiler.with_ptx_version(sample.version).compile(module(&[&sample], sample.target));
            if let Ok(compiled) = compiled {
                validated += 1;
                let refused = matches!(Meaning::of(sample.form.operation), Meaning::Refused(_));
                executed += usize::from(!refused && Program::load(&compiled.module).is_ok());
            }
        }
        match count {
            0 => Measured::None(standing(line.forms[0], &[], OLDEST)),
            _ => Measured::Samples { count, validated, executed },
        }
    }

    fn state(&self, taken: impl Fn(usize, usize) -> usize) -> String {
        match *self {
            Measured::Control => "yes".into(),
            Measured::None(Standing::Older) => "older".into(),
            Measured::None(Standing::OnlyPtxas) => "ptxas only".into(),
            Measured::None(_) => "-".into(),
            Measured::Samples { count, validated, executed } => match taken(validated, executed) {
                0 => "no".into(),
                taken if taken == count => "yes".into(),
                taken => format!("{taken} of {count}"),
            },
        }
    }

    pub fn validated(&self) -> String {
        self.state(|validated, _| validated)
    }

    pub fn executed(&self) -> String {
        self.state(|_, executed| executed)
    }
}

/// The core operations that were seen to become a form, by opcode and syntax of the form.
pub type CoreOperations = BTreeMap<(Opcode, &'static str), BTreeSet<&'static str>>;

/// The IR operations that a form is.
pub fn operations(line: &Line, core: &CoreOperations) -> String {
    let form = line.forms[0];
    let quoted = |all: &mut dyn Iterator<Item = &str>| {
        all.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    if let Some(own) = control_flow(form.opcode) {
        return quoted(&mut own.iter().map(|op| op.name()));
    }
    let derived = format!("`ptx.{}`", form.opcode);
    match core.get(&(form.opcode, form.syntax)) {
        Some(names) => format!("{derived}, {}", quoted(&mut names.iter().copied())),
        None => derived,
    }
}

/// Selects every file of `examples` and of the tests that compile, for an old and a new target, and notes what the core operations became.
pub fn core_operations() -> Result<CoreOperations, String> {
    let mut found = CoreOperations::new();
    for folder in ["examples", "tests/filetests/emit", "tests/filetests/run"] {
        let path = in_root(folder);
        let entries = std::fs::read_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for file in entries.flatten().map(|entry| entry.path()) {
            if file.extension().is_some_and(|extension| extension == "wir") {
                note(&file, &mut found)?;
            }
        }
    }
    Ok(found)
}

/// True if the operands are grouped as the places of the signature: a scalar here, so many in braces there.
fn is_grouped(signature: &Signature, mut operands: &[Operand]) -> bool {
    for place in signature.operands.iter().filter(|o| !matches!(o.presence, SigPresence::OnlyWith(_))) {
        let Some((first, rest)) = operands.split_first() else {
            return place.presence == SigPresence::Optional;
        };
        let count = match *first {
            Operand::Vector(count) => Some(u16::from(count)),
            _ => None,
        };
        operands = rest.get(count.map_or(0, usize::from)..).unwrap_or_default();
        let fits = match &place.kind {
            SigKind::Value(value) => value.count == count || value.counts.contains(&count.unwrap_or(0)),
            _ => true,
        };
        if !fits {
            return false;
        }
    }
    true
}

fn note(file: &Path, found: &mut CoreOperations) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let module = ir::parse_module(&text).map_err(|errors| format!("{}: {}", file.display(), errors[0]))?;
    for (target, level) in [(60, OptLevel::O0), (90, OptLevel::O0), (90, OptLevel::O2)] {
        // What the target does not have is compiled for the other.
        let Ok(legal) = legalize(std::borrow::Cow::Borrowed(&module), Target::sm(target)) else { continue };
        let mut module = legal.into_owned();
        let pipeline = Pipeline::for_level(level);
        pipeline
            .run(&mut module, &mut Options::default())
            .map_err(|errors| format!("{}: {}", file.display(), errors[0]))?;
        let Ok(code) = select(&module, Target::sm(target)) else { continue };
        for code in &code.functions {
            let func = &module.functions[code.id];
            for inst in &code.insts {
                let (Op::Ptx(mnemonic), Some(origin)) = (inst.op, inst.origin) else { continue };
                if matches!(func.dfg[origin], InstData::Ptx { .. }) {
                    continue;
                }
                let name = func.dfg.opcode(origin).name();
                let operands = code.inst_operands(inst);
                let form = forms(&mnemonic).find(|matched| is_grouped(&matched.signature(), operands));
                if let Some(matched) = form {
                    found.entry((matched.form().opcode, matched.form().syntax)).or_default().insert(name);
                }
            }
        }
    }
    Ok(())
}
