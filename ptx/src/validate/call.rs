//! Calls against the signatures of what they call, and the lists of targets (manual 9.7.12.5 and 11.3).

use super::decl::At;
use super::{Validator, has_feature};
use crate::codes;
use crate::scope::{Binding, Bound};
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{Mod, ScalarType, StateSpace, TypeClass};

/// What a call must agree with.
#[derive(Clone, Copy)]
struct Callee {
    returns: List<Decl>,
    params: List<Decl>,
    span: Span,
}

impl Callee {
    fn function(function: &Function) -> Self {
        Callee { returns: function.returns, params: function.params, span: function.name_span }
    }
}

/// `1 argument`, `2 arguments`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {}", if n == 1 { what.trim_end_matches('s') } else { what })
}

impl Validator<'_> {
    pub(super) fn call(&mut self, id: Id<Stmt>, inst: Inst) {
        let m = self.m;
        let span = m.stmt_span(id);
        // What no instruction has is a word and no modifier, so that this follows the text.
        let modifiers = m[inst.mnemonic].split('.').enumerate().skip(1);
        for (word, modifier) in modifiers.filter(|(_, word)| Mod::from_text(word) != Some(Mod::Uni)) {
            let at = m.word_span(id, word);
            self.error(codes::MNEMONIC, at, format!("`call` has no modifier `.{modifier}`"));
        }
        // call {(returns),} target {, (arguments)} {, list}
        let mut operands = inst.operands.ids().peekable();
        let group = |operands: &mut std::iter::Peekable<_>| {
            operands.next_if(|operand: &Id<Operand>| matches!(m[*operand], Operand::Group(_)))
        };
        let returns = group(&mut operands);
        let target = operands.next();
        let arguments = group(&mut operands);
        let list = operands.next();
        let (Some(target), None) = (target, operands.next()) else {
            let note = "write `call (results), function, (arguments);`";
            let error = Diagnostic::error(codes::CALL, span, "the operands of this call are out of order");
            self.report(error.note(note));
            return;
        };
        let target_span = m.operand_span(target);
        let at = |group: Option<Id<Operand>>| group.map_or(target_span, |group| m.operand_span(group));
        let spans = [at(returns), at(arguments)];
        let members = |group: Option<Id<Operand>>| match group.map(|group| m[group]) {
            Some(Operand::Group(list)) => list,
            _ => List::EMPTY,
        };
        let (returns, arguments) = (members(returns), members(arguments));
        let Operand::Name(name) = m[target] else {
            return self.error(codes::CALL, target_span, "a function or a register is called");
        };
        match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Function(function)) => {
                let function = &m[function];
                if function.kind == FunctionKind::Entry {
                    let message = format!("`{}` is a kernel: only `.func` functions can be called", &m[name]);
                    return self.error(codes::CALL, target_span, message);
                }
                if let Some(list) = list {
                    let message = "a function that is called by its name takes no list of targets";
                    return self.error(codes::CALL, m.operand_span(list), message);
                }
                self.agree(Callee::function(function), returns, arguments, spans);
            }
            Some(Binding::Variable(decl, _)) if m[decl].space == StateSpace::Reg => {
                let decl = &m[decl];
                if !Self::is_integer(decl.ty) || decl.vector != 1 || !matches!(decl.ty.bits(), 32 | 64) {
                    let message = format!("a `.{}` register cannot hold the address of a function", decl.ty);
                    self.report(
                        Diagnostic::error(codes::CALL, target_span, message)
                            .note("a `.b64` or `.u64` register can"),
                    );
                }
                if let Some(first) = self.without_abi {
                    let message = "an indirect call needs the ABI, which this module turns off";
                    let error = Diagnostic::error(codes::CALL, span, message);
                    self.report(error.label(first, "by this declaration"));
                }
                match list {
                    Some(list) => self.indirect(list, returns, arguments, spans),
                    None => {
                        let message = "a call through a register names the functions that it may call";
                        let note =
                            "add the label of a `.callprototype` or `.calltargets` as the last operand";
                        self.report(Diagnostic::error(codes::CALL, span, message).note(note));
                    }
                }
            }
            Some(_) => self.error(
                codes::CALL,
                target_span,
                format!("`{}` is neither a function nor a register", &m[name]),
            ),
            None => self.unknown_name(name, target_span),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other statement is bound as a list")]
    fn indirect(
        &mut self,
        list: Id<Operand>,
        returns: List<Operand>,
        arguments: List<Operand>,
        spans: [Span; 2],
    ) {
        let m = self.m;
        let at = m.operand_span(list);
        let Operand::Name(name) = m[list] else {
            return self.error(codes::CALL, at, "expected the name of a prototype or of a list of targets");
        };
        match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::List(stmt)) => match m[stmt] {
                Stmt::CallPrototype(prototype) => {
                    let Prototype { returns: results, params, .. } = m[prototype];
                    let callee = Callee { returns: results, params, span: m.stmt_span(stmt) };
                    self.agree(callee, returns, arguments, spans);
                }
                Stmt::CallTargets { targets, .. } => {
                    for target in &m[targets] {
                        let bound = self.scopes.lookup(target.name).map(|bound| bound.binding);
                        if let Some(Binding::Function(function)) = bound {
                            self.agree(Callee::function(&m[function]), returns, arguments, spans);
                        }
                    }
                }
                _ => {
                    self.error(codes::CALL, at, format!("`{}` lists branch targets, not functions", &m[name]))
                }
            },
            Some(Binding::Variable(decl, declarator)) => {
                let table = matches!(m[decl].space, StateSpace::Global | StateSpace::Const);
                let init = m[declarator].init.map(|init| m[init]);
                let Some(Init::List(list)) = init.filter(|_| table) else {
                    let message = format!("`{}` is not a table of functions", &m[name]);
                    let note = "a `.const` or `.global` array that is initialised with functions is one";
                    self.report(Diagnostic::error(codes::CALL, at, message).note(note));
                    return;
                };
                for element in &m[list] {
                    let Init::Address { name, .. } = element else {
                        self.error(codes::CALL, at, format!("not all of `{}` are functions", &m[name]));
                        return;
                    };
                    let bound = self.scopes.lookup(*name).map(|bound| bound.binding);
                    if let Some(Binding::Function(function)) = bound {
                        self.agree(Callee::function(&m[function]), returns, arguments, spans);
                    }
                }
            }
            Some(_) => self.error(codes::CALL, at, format!("`{}` is not a list of functions", &m[name])),
            None => self.unknown_name(name, at),
        }
    }

    /// Holds results and arguments against the parameters of the callee.
    fn agree(&mut self, callee: Callee, returns: List<Operand>, arguments: List<Operand>, spans: [Span; 2]) {
        let m = self.m;
        let open = |decl: &Decl| {
            m[decl.names].first().is_some_and(|name| matches!(m[name.dims].first(), Some(None)))
        };
        // Variadic arguments may be left out, unless they are all there is.
        let least = match m[callee.params].last() {
            Some(last) if open(last) && callee.params.len() > 1 => callee.params.len() - 1,
            _ => callee.params.len(),
        };
        let counts = [
            ("results", returns.len(), callee.returns.len(), callee.returns.len()),
            ("arguments", arguments.len(), least, callee.params.len()),
        ];
        let mut fine = true;
        for ((what, found, least, most), span) in counts.into_iter().zip(spans) {
            if !(least..=most).contains(&found) {
                let message = format!("the call has {}, the function {most}", counted(found, what));
                self.report(
                    Diagnostic::error(codes::CALL, span, message).label(callee.span, "declared here"),
                );
                fine = false;
            }
        }
        if !fine {
            return;
        }
        for (operand, formal) in returns.ids().zip(&m[callee.returns]) {
            self.argument(operand, formal, true);
        }
        for (operand, formal) in arguments.ids().zip(&m[callee.params]) {
            self.argument(operand, formal, false);
        }
        if self.without_abi.is_some() || has_feature(".abi.none", &self.context) {
            return;
        }
        for decl in m[callee.returns].iter().chain(&m[callee.params]) {
            use ScalarType::*;
            let scalar = decl.vector == 1 && m[decl.names].first().is_none_or(|name| name.dims.is_empty());
            if scalar && matches!(decl.ty, Pred | U8 | S8 | U16 | S16) {
                let message = format!("`.{}` parameters cannot be passed to a function", decl.ty);
                let note = "declare `.b16` or a type of 32 bits or more; only in a module without the ABI, which a function with several results turns off, are there others";
                let at = self.first_name(decl);
                self.report(
                    Diagnostic::error(codes::CALL, spans[1], message).label(at, "declared here").note(note),
                );
                return;
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other operand can be passed")]
    fn argument(&mut self, operand: Id<Operand>, formal: &Decl, result: bool) {
        let m = self.m;
        let span = m.operand_span(operand);
        let Some(formal_name) = m[formal.names].first() else { return };
        let array = !formal_name.dims.is_empty();
        let message = match m[operand] {
            Operand::Name(Symbol::SINK) if result => None,
            Operand::Name(Symbol::SINK) => Some("an argument cannot be `_`".to_owned()),
            Operand::Const(_) if result => Some("a result cannot be a constant".to_owned()),
            Operand::Const(value) => constant_conflict(value, formal, array),
            Operand::Name(name) => match self.scopes.lookup(name) {
                Some(Bound { binding: Binding::Variable(id, declarator), .. }) => {
                    self.variable_conflict(&m[name], id, &m[declarator], formal)
                }
                Some(_) => Some(format!(
                    "`{}` cannot be passed: it is neither a register nor a `.param` variable",
                    &m[name]
                )),
                None => return self.unknown_name(name, span),
            },
            _ => Some("arguments and results are registers, constants or `.param` variables".to_owned()),
        };
        if let Some(message) = message {
            let error = Diagnostic::error(codes::CALL, span, message);
            self.report(error.label(formal_name.span, "the parameter is declared here"));
        }
    }

    /// Why a register or variable, written `spelling`, cannot be passed for a parameter.
    fn variable_conflict(
        &self,
        spelling: &str,
        id: Id<Decl>,
        name: &Declarator,
        formal: &Decl,
    ) -> Option<String> {
        let m = self.m;
        let decl = &m[id];
        let formal_name = m[formal.names].first()?;
        let array = !formal_name.dims.is_empty();
        match decl.space {
            StateSpace::Reg if array => {
                return Some(format!("`{spelling}` is a register, the parameter an array of bytes"));
            }
            StateSpace::Reg => {}
            StateSpace::Param => {
                let function = self.in_function.map(|function| &m[function]);
                let header = |f: &Function| {
                    [f.params, f.returns].iter().any(|list| list.range().contains(&id.index()))
                };
                if function.is_some_and(header) {
                    return Some(format!(
                        "`{spelling}`, a parameter of this function, cannot be passed on: load it first"
                    ));
                }
            }
            space @ (StateSpace::Generic
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Global
            | StateSpace::Local
            | StateSpace::Shared
            | StateSpace::Tex) => {
                return Some(format!(
                    "`{spelling}` is in `.{space}`: arguments are registers or `.param` variables"
                ));
            }
        }
        let given_array = !name.dims.is_empty();
        if array != given_array {
            let kind = |array| if array { "an array" } else { "a scalar" };
            return Some(format!("`{spelling}` is {}, the parameter {}", kind(given_array), kind(array)));
        }
        if array {
            let wanted = self.m.bytes_of(formal, formal_name);
            let given = self.m.bytes_of(decl, name);
            if let (Some(wanted), Some(given)) = (wanted, given)
                && wanted != given
                && wanted != 0
            {
                return Some(format!("`{spelling}` has {given} bytes, the parameter {wanted}"));
            }
        } else if !compatible((decl.ty, decl.vector), (formal.ty, formal.vector)) {
            return Some(format!("`{spelling}` is `.{}`, the parameter `.{}`", decl.ty, formal.ty));
        }
        let (given, wanted) = (self.m.align_of(decl), self.m.align_of(formal));
        (decl.space == StateSpace::Param && given != wanted && formal.space == StateSpace::Param)
            .then(|| format!("`{spelling}` is aligned to {given} bytes, the parameter to {wanted}"))
    }

    pub(super) fn branch_targets(&mut self, id: Id<Stmt>, name: Symbol, targets: List<Declarator>) {
        self.gate(".branchtargets", "`.branchtargets`", self.m.stmt_span(id));
        self.each_target(
            targets,
            |v, name, span| match v.scopes.lookup(name).map(|bound| bound.binding) {
                Some(Binding::Label(_) | Binding::List(_)) => {}
                Some(_) => v.error(codes::LIST, span, format!("`{}` is not a label", v.name(name))),
                None => v.unknown_name(name, span),
            },
            Some(name),
        );
        self.bind(id);
    }

    pub(super) fn call_targets(&mut self, id: Id<Stmt>, targets: List<Declarator>) {
        self.each_target(
            targets,
            |v, name, span| match v.scopes.lookup(name).map(|bound| bound.binding) {
                Some(Binding::Function(_)) => {}
                _ => v.error(codes::LIST, span, format!("`{}` is not a function", v.name(name))),
            },
            None,
        );
        self.bind(id);
    }

    /// Every target; `itself` is the list, which a list of branch targets may name.
    fn each_target(
        &mut self,
        targets: List<Declarator>,
        mut check: impl FnMut(&mut Self, Symbol, Span),
        itself: Option<Symbol>,
    ) {
        let m = self.m;
        for target in &m[targets] {
            if Some(target.name) == itself {
                continue;
            }
            let Some(count) = target.count else {
                check(self, target.name, target.span);
                continue;
            };
            for number in 0..count {
                let member = format!("{}{number}", &m[target.name]);
                match m.names().find(&member) {
                    Some(member) => check(self, member, target.span),
                    None => {
                        // The first that is missing ends it: the count may be billions.
                        self.error(
                            codes::UNKNOWN_NAME,
                            target.span,
                            format!("`{member}` is not declared here"),
                        );
                        break;
                    }
                }
            }
        }
    }

    pub(super) fn prototype(&mut self, id: Id<Stmt>, prototype: Id<Prototype>) {
        let Prototype { returns, params, directives, .. } = self.m[prototype];
        self.params(returns, params, At::Prototype);
        self.check_directives(directives, !returns.is_empty());
        self.bind(id);
    }
}

/// Why a constant cannot be the argument for a parameter.
fn constant_conflict(value: Const, formal: &Decl, array: bool) -> Option<String> {
    let class = formal.ty.class();
    let fits = match value {
        Const::Int { .. } => !matches!(class, TypeClass::Float | TypeClass::Pred),
        Const::F32(_) | Const::F64(_) => matches!(class, TypeClass::Float | TypeClass::Bits),
    };
    match (array, fits) {
        (true, _) => Some("a constant cannot be passed as an array of bytes".to_owned()),
        (false, false) => Some(format!("this constant cannot be passed as `.{}`", formal.ty)),
        (false, true) => None,
    }
}

/// Whether a register or variable can be passed for a parameter: equal sizes, and bits or the same sort of number.
fn compatible(given: (ScalarType, u8), wanted: (ScalarType, u8)) -> bool {
    let bits = |(ty, n): (ScalarType, u8)| ty.bits() * u32::from(n);
    let sort = |(ty, _): (ScalarType, u8)| match ty.class() {
        TypeClass::Bits | TypeClass::Packed => 0,
        TypeClass::Unsigned | TypeClass::Signed => 1,
        TypeClass::Float => 2,
        TypeClass::Pred => 3,
        TypeClass::Opaque => 4,
    };
    let (a, b) = (sort(given), sort(wanted));
    bits(given) == bits(wanted) && (a == b || (a == 0 && b < 3) || (b == 0 && a < 3))
}
