//! Functions: headers, redeclarations, directives, aliases (manual 11.2 and 11.4).

use super::Validator;
use super::debug::Place as PragmaPlace;
use super::decl::At;
use crate::codes;
use crate::scope::Binding;
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::memory::Layout;
use warpsmith_isa::{StateSpace, limits};

/// What is known of a function by its name.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) latest: Id<Function>,
    pub(super) defined: Option<Id<Function>>,
}

impl Validator<'_> {
    pub(super) fn function(&mut self, id: Id<Function>) {
        let m = self.m;
        let function = &m[id];
        if !self.share.holds(function.body) {
            return self.bind_function(id, function);
        }
        self.header(function);
        self.bind_function(id, function);
        let Some(body) = function.body else {
            if function.kind == FunctionKind::Entry {
                self.gate(".entry.declaration", "the declaration of a kernel", function.span);
                if let Some(first) = function.directives.get(0) {
                    let message = "the directives of a kernel belong to its definition, not to a declaration";
                    self.error(codes::DIRECTIVE, m.directive_span(first), message);
                }
            }
            // The names of parameters are checked against each other only.
            let clashes = self.scopes.enter(id);
            self.clashes(clashes);
            self.scopes.leave();
            return;
        };
        self.in_function = Some(id);
        self.shared = Layout::default();
        self.shared_used.clear();
        self.cta_group = None;
        let clashes = self.scopes.enter(id);
        self.clashes(clashes);
        self.body(body);
        self.scopes.leave();
        self.in_function = None;
    }

    fn body(&mut self, body: List<Stmt>) {
        let m = self.m;
        for id in body.ids() {
            match m[id] {
                Stmt::Open | Stmt::Close => self.bind(id),
                Stmt::Decl(decl) => self.body_variable(decl),
                Stmt::Label(_) => {}
                Stmt::Inst(inst) => self.inst(id, inst),
                Stmt::Loc(loc) => self.loc(loc, m.stmt_span(id)),
                Stmt::LocIntermediate(_) => {
                    self.gate(".loc_intermediate", "`.loc_intermediate`", m.stmt_span(id))
                }
                Stmt::Pragma(strings) => self.pragmas(strings, m.stmt_span(id), PragmaPlace::Body),
                Stmt::BranchTargets { name, targets } => self.branch_targets(id, name, targets),
                Stmt::CallTargets { targets, .. } => self.call_targets(id, targets),
                Stmt::CallPrototype(prototype) => self.prototype(id, prototype),
                Stmt::Target(names) => {
                    self.bodies_interact = true;
                    self.target(names, m.stmt_span(id), false);
                }
            }
            if self.errors() > super::MAX_ERRORS {
                return;
            }
        }
    }

    fn header(&mut self, function: &Function) {
        if function.linkage == Linkage::Weak {
            self.gate(".weak", "`.weak`", function.span);
        }
        if function.unified.is_some() {
            let message = "`.unified` is legal in relocatable code only (`ptxas --compile-only`)";
            self.error(codes::ATTRIBUTE, function.span, message);
        }
        if function.linkage == Linkage::Extern && function.body.is_some() {
            let message = format!("`{}` is `.extern`, so it cannot have a body", self.name(function.name));
            self.error(codes::EXTERN_BODY, function.name_span, message);
        }
        let at = match function.kind {
            FunctionKind::Entry => At::Kernel,
            FunctionKind::Func => At::Device,
        };
        self.params(function.returns, function.params, at);
        if at == At::Kernel {
            self.kernel_space(function);
        }
        let named = self.m[function.returns]
            .iter()
            .chain(&self.m[function.params])
            .flat_map(|decl| &self.m[decl.names]);
        let unnamed: Vec<Span> =
            named.filter(|name| name.name == Symbol::SINK).map(|name| name.span).collect();
        if at == At::Device {
            for span in unnamed {
                self.error(
                    codes::PARAM,
                    span,
                    "a parameter of a `.func` needs a name: `_` is for prototypes",
                );
            }
        }
        self.check_directives(function.directives, !function.returns.is_empty());
        if function.body.is_none() {
            self.of_definitions(function.directives);
        }
    }

    /// The rules of parameter lists, of functions and of prototypes.
    pub(super) fn params(&mut self, returns: List<Decl>, params: List<Decl>, at: At) {
        let m = self.m;
        for list in [returns, params] {
            for decl in &m[list] {
                if self.decl(decl, at) {
                    for name in decl.names.ids() {
                        self.declarator(decl, name, at);
                    }
                }
            }
        }
        let open = |decl: &Decl| {
            m[decl.names].iter().any(|name| matches!(m[name.dims].first(), Some(None | Some(0))))
        };
        for decl in m[returns].iter().filter(|decl| open(decl)) {
            let span = self.first_name(decl);
            self.error(codes::PARAM, span, "a return parameter cannot be an array without a size");
        }
        for (index, decl) in m[params].iter().enumerate().filter(|(_, decl)| open(decl)) {
            let span = self.first_name(decl);
            if at == At::Kernel {
                self.error(
                    codes::PARAM,
                    span,
                    "a parameter of an `.entry` cannot be an array without a size",
                );
            } else if index + 1 != params.len() {
                self.error(codes::PARAM, span, "only the last parameter can be an array without a size");
            } else {
                self.gate(".param.unsized", "a parameter that is an array without a size", span);
            }
        }
        if returns.len() > 1 && m[returns].iter().any(|decl| decl.space != StateSpace::Reg) {
            let span = self.first_name(&m[returns][1]);
            self.error(codes::PARAM, span, "several return parameters must all be in `.reg`");
        }
    }

    fn kernel_space(&mut self, function: &Function) {
        let m = self.m;
        let mut layout = Layout::default();
        for decl in &m[function.params] {
            let align = u64::from(self.m.align_of(decl).max(1));
            for name in &m[decl.names] {
                // An array without a size is an error of its own.
                if m[name.dims].iter().any(Option::is_none) {
                    return;
                }
                let bytes = self.m.bytes_of(decl, name).unwrap_or(u64::MAX);
                _ = layout.place(bytes, align);
            }
        }
        let size = layout.bytes();
        if size > limits::KERNEL_PARAM_BYTES {
            let taken = if size == u64::MAX { "2^64 bytes or more".into() } else { format!("{size} bytes") };
            let message = format!(
                "the parameters of `{}` take {taken}, {} at most",
                self.name(function.name),
                limits::KERNEL_PARAM_BYTES
            );
            self.error(codes::LIMIT, function.name_span, message);
        } else if size > limits::SMALL_KERNEL_PARAM_BYTES {
            let what =
                format!("{size} bytes of kernel parameters (more than {})", limits::SMALL_KERNEL_PARAM_BYTES);
            self.gate(".param.large", &what, function.name_span);
        }
    }

    /// Binds the name of a function and holds it against earlier declarations.
    fn bind_function(&mut self, id: Id<Function>, function: &Function) {
        let m = self.m;
        let name = self.name(function.name);
        let defined = function.body.is_some().then_some(id);
        let Some(there) = self.scopes.direct(function.name) else {
            let bound = self.scopes.function(id);
            self.clashes(bound.err());
            self.functions.insert(function.name, Known { latest: id, defined });
            return;
        };
        let first = self.declared_at(there);
        let known = self.functions.get(&function.name).copied();
        let (Some(known), Binding::Function(_)) = (known, there.binding) else {
            let error = Diagnostic::error(
                codes::DUPLICATE,
                function.name_span,
                format!("`{name}` is declared again as a function"),
            );
            self.report(error.label(first, "first declared here"));
            return;
        };
        let before = &m[known.latest];
        let problem = if known.defined.is_some() && (defined.is_some() || before.kind == function.kind) {
            Some(format!("`{name}` has been defined already"))
        } else if before.kind != function.kind {
            Some(format!("`{name}` is declared both as `.entry` and as `.func`"))
        } else if !linkages_agree(before.linkage, function.linkage, defined.is_some()) {
            Some(format!("`{name}` is declared again with another linkage"))
        } else {
            self.signature_conflict(before, function)
                .map(|what| format!("`{name}` is declared again with {what}"))
        };
        if let Some(message) = problem {
            let error = Diagnostic::error(codes::DUPLICATE, function.name_span, message);
            self.report(error.label(before.name_span, "first declared here"));
        }
        // A plain definition keeps the linkage of its declaration; calls see the latest parameters.
        let bound = self.scopes.function(id);
        self.clashes(bound.err());
        self.functions.insert(function.name, Known { latest: id, defined: known.defined.or(defined) });
    }

    /// How two declarations of one function differ, if they do.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other directives are not compared")]
    pub(super) fn signature_conflict(&self, a: &Function, b: &Function) -> Option<&'static str> {
        if a.returns.len() != b.returns.len() || a.params.len() != b.params.len() {
            return Some("another number of parameters");
        }
        let m = self.m;
        let pairs = m[a.returns].iter().zip(&m[b.returns]).chain(m[a.params].iter().zip(&m[b.params]));
        for (x, y) in pairs {
            if x.space != y.space {
                return Some("a parameter in another state space");
            }
            let sizes = |decl: &Decl| m[decl.names].first().map(|name| &m[name.dims]);
            if (x.ty, x.vector) != (y.ty, y.vector) || sizes(x) != sizes(y) {
                return Some("a parameter of another type");
            }
            if self.m.align_of(x) != self.m.align_of(y) {
                return Some("another alignment of a parameter");
            }
        }
        let abi = |f: &Function| {
            let mut found = (false, None, None);
            for directive in &m[f.directives] {
                match directive {
                    Directive::NoReturn => found.0 = true,
                    Directive::AbiPreserve(n) => found.1 = Some(*n),
                    Directive::AbiPreserveControl(n) => found.2 = Some(*n),
                    _ => {}
                }
            }
            found
        };
        let (x, y) = (abi(a), abi(b));
        if x.0 != y.0 {
            return Some("or without `.noreturn`");
        }
        (x != y && a.kind == FunctionKind::Func).then_some("another `.abi_preserve`")
    }

    /// Finds directives that a declaration cannot have.
    fn of_definitions(&mut self, directives: List<Directive>) {
        for id in directives.ids() {
            if let Directive::Language(_) | Directive::MinPerCtaMemory(_) = self.m[id] {
                let message = "a declaration has no body for this directive to speak of";
                self.error(codes::DIRECTIVE, self.m.directive_span(id), message);
            }
        }
    }

    /// The directives between a header and its body.
    pub(super) fn check_directives(&mut self, directives: List<Directive>, has_returns: bool) {
        let m = self.m;
        let mut seen_sizes = [None; 2];
        let (mut clusters, mut blocks, mut required) = (None, None, false);
        let mut preserve = [None; 2];
        for id in directives.ids() {
            let span = m.directive_span(id);
            let (name, count) = match m[id] {
                Directive::MaxNReg(n) => (".maxnreg", Some(n)),
                Directive::MinNCtaPerSm(n) => (".minnctapersm", Some(n)),
                Directive::MaxNTid(dims) => {
                    seen_sizes[0] = Some(span);
                    (".maxntid", Some(least(dims)))
                }
                Directive::ReqNTid(dims) => {
                    seen_sizes[1] = Some(span);
                    (".reqntid", Some(least(dims)))
                }
                Directive::MaxNCtaPerSm(_) => {
                    let error =
                        Diagnostic::error(codes::DEPRECATED, span, "`.maxnctapersm` is gone since PTX 2.1");
                    self.report(error.note("write `.minnctapersm`"));
                    continue;
                }
                Directive::ReqNCtaPerCluster(_) => {
                    required = true;
                    (".reqnctapercluster", None)
                }
                Directive::Language(_) => (".language", None),
                Directive::MinPerCtaMemory(_) => (".minperctamemory", None),
                Directive::ExplicitCluster => (".explicitcluster", None),
                Directive::MaxClusterRank(_) => {
                    clusters = Some(span);
                    (".maxclusterrank", None)
                }
                Directive::BlocksAreClusters => {
                    blocks = Some(span);
                    (".blocksareclusters", None)
                }
                Directive::NoReturn => {
                    if has_returns {
                        self.error(codes::DIRECTIVE, span, "a `.noreturn` function has no return parameters");
                    }
                    if preserve.iter().any(Option::is_some) {
                        self.error(codes::DIRECTIVE, span, "`.noreturn` must come before `.abi_preserve`");
                    }
                    if directives
                        .ids()
                        .take_while(|other| *other != id)
                        .any(|other| m[other] == Directive::NoReturn)
                    {
                        self.error(codes::DIRECTIVE, span, "`.noreturn` is there already");
                    }
                    (".noreturn", None)
                }
                Directive::AbiPreserve(n) => {
                    self.preserve(".abi_preserve", n, 239, &mut preserve[0], span);
                    (".abi_preserve", None)
                }
                Directive::AbiPreserveControl(n) => {
                    self.preserve(".abi_preserve_control", n, 11, &mut preserve[1], span);
                    (".abi_preserve_control", None)
                }
                Directive::Pragma(strings) => {
                    self.pragmas(strings, span, PragmaPlace::Header);
                    continue;
                }
            };
            if count == Some(0) {
                self.error(codes::DIRECTIVE, span, format!("`{name}` must be at least 1"));
            }
            self.gate(name, &format!("`{name}`"), span);
        }
        if let [Some(max), Some(req)] = seen_sizes {
            let error =
                Diagnostic::error(codes::DIRECTIVE, req, "`.maxntid` and `.reqntid` exclude each other");
            self.report(error.label(max, "`.maxntid` is here"));
        }
        if let (Some(blocks), true) = (blocks, !required || seen_sizes[1].is_none()) {
            let message = "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`";
            self.error(codes::DIRECTIVE, blocks, message);
        }
        if let (Some(span), true) = (clusters, required) {
            let message = "`.maxclusterrank` and `.reqnctapercluster` exclude each other";
            self.error(codes::DIRECTIVE, span, message);
        }
    }

    fn preserve(&mut self, name: &str, n: u32, most: u32, seen: &mut Option<Span>, span: Span) {
        if let Some(first) = *seen {
            let error = Diagnostic::error(codes::DIRECTIVE, span, format!("`{name}` is there already"));
            self.report(error.label(first, "first written here"));
        }
        *seen = Some(span);
        if n > most {
            let message = format!("`{name} {n}` is more than {}", self.context.target);
            self.report(Diagnostic::error(codes::DIRECTIVE, span, message).note(format!("at most {most}")));
        }
    }

    pub(super) fn alias(&mut self, alias: Symbol, aliasee: Symbol, span: Span) {
        self.gate(".alias", "`.alias`", span);
        let m = self.m;
        let (alias_name, aliasee_name) = (&m[alias], &m[aliasee]);
        let found = [alias, aliasee].map(|name| self.functions.get(&name).copied());
        let mut error = |message: String| self.error(codes::ALIAS, span, message);
        for (name, known) in [(alias_name, found[0]), (aliasee_name, found[1])] {
            if known.is_none() {
                error(format!("no function `{name}` is declared"));
            }
        }
        let [Some(alias_known), Some(aliasee_known)] = found else { return };
        let (declared, target) = (&m[alias_known.latest], &m[aliasee_known.latest]);
        if let Some(earlier) = self.aliases.get(&alias) {
            let message = format!("`{alias_name}` is an alias of `{}` already", &m[*earlier]);
            return self.error(codes::ALIAS, span, message);
        }
        let message = if declared.kind == FunctionKind::Entry || target.kind == FunctionKind::Entry {
            Some("a kernel has no aliases and is none".to_owned())
        } else if alias_known.defined.is_some() {
            Some(format!("`{alias_name}` has a body, so it cannot be an alias"))
        } else if matches!(target.linkage, Linkage::Weak | Linkage::Extern) {
            let linkage = target.linkage.name().unwrap_or_default();
            Some(format!("`{aliasee_name}` is `.{linkage}`, so it cannot be aliased"))
        } else {
            let conflict = self.signature_conflict(target, declared);
            conflict.map(|what| format!("`{alias_name}` and `{aliasee_name}` differ: {what}"))
        };
        match message {
            Some(message) => self.error(codes::ALIAS, span, message),
            None => {
                self.aliases.insert(alias, aliasee);
            }
        }
    }
}

fn least(dims: Dims) -> u32 {
    dims.size.into_iter().min().unwrap_or(0)
}

/// Whether a further declaration may have this linkage. A definition may leave out `.visible` or `.weak`.
fn linkages_agree(before: Linkage, now: Linkage, defines: bool) -> bool {
    before == now || (defines && now == Linkage::Local && matches!(before, Linkage::Visible | Linkage::Weak))
}
