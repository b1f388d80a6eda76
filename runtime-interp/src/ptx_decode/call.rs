//! Calls: arguments and results between `.param` variables or registers and the formal parameters.

use super::body::Body;
use super::operand::Named;
use super::{Parameter, Place};
use crate::effects::Source;
use crate::engine::{Access, Actual, Address, Callee, CandidatesId, Formal, FuncId, Reg, Slot, Width};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_isa::StateSpace;
use warpsmith_ptx::scope::Binding;
use warpsmith_ptx::{Declarator, Id, Init, Module, Operand, Stmt, Symbol};

/// A result that comes back in the stack frame and belongs into a register.
struct Fetch {
    to: Reg,
    from: i64,
    bytes: u32,
}

impl<'m> Body<'_, 'm> {
    /// `call {(results),} callee {, (arguments)} {, list}`
    pub(super) fn call(&mut self, operands: &[Operand]) -> Option<()> {
        let module: &'m Module = self.decoder.module;
        let (results, rest) = match operands {
            [Operand::Group(results), rest @ ..] => (&module[*results], rest),
            rest => (&[][..], rest),
        };
        let (&callee, rest) = rest.split_first()?;
        let (arguments, rest) = match rest {
            [Operand::Group(arguments), rest @ ..] => (&module[*arguments], rest),
            rest => (&[][..], rest),
        };
        let Operand::Name(callee) = callee else { return None };
        let callee = match self.named(callee) {
            Named::Function(name) => {
                let known = self.decoder.known(name)?;
                if !known.defined {
                    let name = self.decoder.name(name);
                    self.refuse(undefined(name));
                    return Some(());
                }
                Callee::Direct(known.id)
            }
            Named::Reg(r, _) if r.width() == Width::W64 => {
                let Some(&Operand::Name(list)) = rest.first() else { return None };
                Callee::Indirect(r, self.candidates(list)?)
            }
            Named::Reg(..) | Named::Vector(..) | Named::Variable(_) | Named::Special(_) | Named::Other => {
                return None;
            }
        };
        // A call that can reach no function faults when it is executed.
        let Some(&model) = self.f.callees(&callee).first() else {
            self.f.call(callee, &[], &[]);
            return Some(());
        };
        let known = self.decoder.functions.get(self.decoder.declared.get(&model)?)?;
        if known.kernel || known.params.len() != arguments.len() || known.results.len() != results.len() {
            return None;
        }
        let (params, returns) = (known.params.clone(), known.results.clone());
        let mut actuals = Vec::with_capacity(arguments.len());
        for (operand, parameter) in arguments.iter().zip(&params) {
            match parameter[..] {
                [formal] => actuals.push(self.argument(*operand, formal)?),
                _ => actuals.extend(self.vector(*operand, parameter, false)?),
            }
        }
        let (mut targets, mut fetches) = (Vec::with_capacity(results.len()), Vec::new());
        for (operand, parameter) in results.iter().zip(&returns) {
            match parameter[..] {
                [formal] => targets.push(self.result(*operand, formal, &mut fetches)?),
                _ => targets.extend(self.vector(*operand, parameter, true)?),
            }
        }
        self.f.call(callee, &actuals, &targets);
        for Fetch { to, from, bytes } in fetches {
            self.f.load(Access::unsigned(StateSpace::Local, bytes as u8), &[to], Address::Stack(from));
        }
        Some(())
    }

    /// The elements of a vector register that is passed or returned as one.
    fn vector(&mut self, operand: Operand, parameter: &Parameter, result: bool) -> Option<Vec<Actual>> {
        let Operand::Name(name) = operand else { return None };
        let widths = parameter.iter().filter_map(|formal| match formal {
            Formal::Reg(width) => Some(*width),
            Formal::Stack { .. } => None,
        });
        if name == Symbol::SINK && result {
            return Some(widths.map(|width| Slot::Reg(self.f.reg(width))).collect());
        }
        let Named::Vector(registers, n, _) = self.named(name) else {
            self.refuse(format!(
                "`{}` is not a vector register, and the parameter is one",
                self.decoder.name(name)
            ));
            return None;
        };
        let registers = &registers[..usize::from(n)];
        if !registers.iter().map(|r| r.width()).eq(widths) {
            let name = self.decoder.name(name);
            self.refuse(format!(
                "the vector `{name}` has other elements than the parameter it is passed for"
            ));
            return None;
        }
        Some(registers.iter().map(|r| Slot::Reg(*r)).collect())
    }

    fn argument(&mut self, operand: Operand, formal: Formal) -> Option<Actual> {
        if let Operand::Name(name) = operand
            && let Named::Variable(Place::Stack { offset, bytes }) = self.named(name)
        {
            return match formal {
                Formal::Stack { .. } => Some(Slot::Stack { offset: offset as u32, bytes: bytes as u32 }),
                Formal::Reg(w) => {
                    let r = self.f.reg(w);
                    self.f.load(
                        Access::unsigned(StateSpace::Local, bytes as u8),
                        &[r],
                        Address::Stack(offset),
                    );
                    Some(Slot::Reg(r))
                }
            };
        }
        let w = match formal {
            Formal::Reg(w) => w,
            Formal::Stack { bytes, .. } => Width::for_bits(bytes.saturating_mul(8)),
        };
        let r = match self.source(operand, Some(w))? {
            Source::Reg(r) => r,
            Source::Bits(bits) => self.f.constant(bits.into(), w),
            Source::Not(_) | Source::Address(_) | Source::Sink => return None,
        };
        match formal {
            Formal::Reg(_) => Some(Slot::Reg(r)),
            Formal::Stack { bytes, align } => {
                let offset = self.f.local(bytes.into(), align.into());
                self.f.store(Access::unsigned(StateSpace::Local, bytes as u8), &[r], Address::Stack(offset));
                Some(Slot::Stack { offset: offset as u32, bytes })
            }
        }
    }

    fn result(&mut self, operand: Operand, formal: Formal, fetches: &mut Vec<Fetch>) -> Option<Actual> {
        if let Operand::Name(name) = operand
            && let Named::Variable(Place::Stack { offset, bytes }) = self.named(name)
            && matches!(formal, Formal::Stack { .. })
        {
            return Some(Slot::Stack { offset: offset as u32, bytes: bytes as u32 });
        }
        let to = match self.destinations(operand)?[..] {
            [Some((r, _))] => Some(r),
            [None] => None,
            _ => return None,
        };
        match formal {
            Formal::Reg(w) => Some(Slot::Reg(to.unwrap_or_else(|| self.f.reg(w)))),
            Formal::Stack { bytes, align } => {
                let from = self.f.local(bytes.into(), align.into());
                if let Some(to) = to {
                    fetches.push(Fetch { to, from, bytes });
                }
                Some(Slot::Stack { offset: from as u32, bytes })
            }
        }
    }

    /// The functions that an indirect call can reach: those of its list, or all that fit its prototype. Found once for each list and
    /// each layout of parameters: a module may have as many calls as functions.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else lists functions")]
    fn candidates(&mut self, list: Symbol) -> Option<CandidatesId> {
        let module: &'m Module = self.decoder.module;
        let binding = self.decoder.scopes.lookup(list)?.binding;
        let listed = match binding {
            // An array of functions names them in its initial value.
            Binding::Variable(_, declarator) => Listed::Array(declarator),
            Binding::List(stmt) => match module[stmt] {
                Stmt::CallTargets { .. } => Listed::Targets(stmt),
                Stmt::CallPrototype(prototype) => {
                    let prototype = &module[prototype];
                    let [params, results] =
                        [prototype.params, prototype.returns].map(|list| self.decoder.parameters(list, 0));
                    Listed::Layout(params, results)
                }
                _ => return None,
            },
            Binding::Label(_) | Binding::Function(_) | Binding::Special(_) => return None,
        };
        if let Some(known) = self.decoder.candidates.get(&listed) {
            return Some(*known);
        }
        let functions = match &listed {
            Listed::Array(declarator) => {
                let mut names = Vec::new();
                functions_of(module, &module[module[*declarator].init?], &mut names);
                self.defined(names.into_iter())
            }
            Listed::Targets(stmt) => match module[*stmt] {
                Stmt::CallTargets { targets, .. } => self.defined(module[targets].iter().map(|t| t.name)),
                _ => return None,
            },
            Listed::Layout(params, results) => self.fitting(params, results),
        };
        let id = self.f.candidates(functions);
        self.decoder.candidates.insert(listed, id);
        Some(id)
    }

    /// The functions that a call of such a layout can reach.
    fn fitting(&mut self, params: &[Parameter], results: &[Parameter]) -> Vec<FuncId> {
        let decoder = &mut *self.decoder;
        let by_sizes = decoder.by_sizes.get_or_insert_with(|| {
            let mut by_sizes: FxHashMap<Sizes, Vec<FuncId>> = FxHashMap::default();
            for known in decoder.functions.values().filter(|k| k.defined && !k.kernel) {
                by_sizes.entry(sizes(&known.params, &known.results)).or_default().push(known.id);
            }
            by_sizes.values_mut().for_each(|all| all.sort_unstable());
            by_sizes
        });
        let found = by_sizes.get(&sizes(params, results)).map_or(&[][..], Vec::as_slice);
        let known = |f: &FuncId| decoder.declared.get(f).and_then(|name| decoder.functions.get(name));
        // One call has one layout of parameters, the prototype's; functions that differ in alignment alone have another.
        let has = |f: &FuncId, params: &[Parameter], results: &[Parameter]| {
            known(f).is_some_and(|k| k.params == params && k.results == results)
        };
        let model = match found.iter().any(|f| has(f, params, results)) {
            true => Some((params, results)),
            false => found.first().and_then(known).map(|k| (&k.params[..], &k.results[..])),
        };
        let Some((params, results)) = model else { return Vec::new() };
        found.iter().filter(|f| has(f, params, results)).copied().collect()
    }

    fn defined(&self, names: impl Iterator<Item = Symbol>) -> Vec<FuncId> {
        names.filter_map(|name| self.decoder.known(name).filter(|k| k.defined).map(|k| k.id)).collect()
    }
}

/// What is wrong with a call of a function that has no body.
fn undefined(name: &str) -> String {
    if name.starts_with("cuda") {
        return format!("call of `{name}`: kernels cannot launch kernels here");
    }
    format!(
        "call of `{name}`, which this module does not define and the system does not provide: load it together with the module that does"
    )
}

/// The names in an initial value.
fn functions_of(module: &Module, init: &Init, names: &mut Vec<Symbol>) {
    match *init {
        Init::Address { name, .. } => names.push(name),
        Init::List(list) => module[list].iter().for_each(|element| functions_of(module, element, names)),
        Init::Const(_) | Init::Mask(_) | Init::Bytes(_) | Init::Ints(_) | Init::Field { .. } => {}
    }
}

/// What names the functions that indirect calls can reach.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Listed {
    Array(Id<Declarator>),
    Targets(Id<Stmt>),
    /// The parameters and results of a prototype.
    Layout(Vec<Parameter>, Vec<Parameter>),
}

/// The sizes of parameters and results: whether each element is in a register, and its bits or bytes.
pub(super) type Sizes = [Vec<SmallVec<[(bool, u32); 1]>>; 2];

fn sizes(params: &[Parameter], results: &[Parameter]) -> Sizes {
    let size = |f: &Formal| match *f {
        Formal::Reg(w) => (true, w.bits()),
        Formal::Stack { bytes, .. } => (false, bytes),
    };
    [params, results].map(|list| list.iter().map(|p| p.iter().map(size).collect()).collect())
}
