//! Declarations of variables, registers and parameters (manual 5.1 to 5.4).

use super::inst::LENIENCE;
use super::{Validator, has_feature};
use crate::codes;
use crate::scope::Binding;
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::limits::{CONST_BYTES, FUNCTION_PARAM_ALIGN, STATIC_SHARED_BYTES};
use warpsmith_isa::{ScalarType, StateSpace, TypeClass};

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Module level.
    Module,
    /// A body.
    Body,
    /// A parameter of an `.entry`.
    Kernel,
    /// A parameter or return parameter of a `.func`.
    Device,
    /// A parameter or return parameter of a `.callprototype`.
    Prototype,
}

impl Validator<'_> {
    /// A variable outside of functions.
    pub(super) fn module_variable(&mut self, id: Id<Decl>) {
        let m = self.m;
        let decl = &m[id];
        if !self.decl(decl, At::Module) {
            return;
        }
        for name in decl.names.ids() {
            self.declarator(decl, name, At::Module);
            self.bind_module_variable(id, decl, name);
        }
    }

    /// A variable or registers of a body.
    pub(super) fn body_variable(&mut self, id: Id<Decl>) {
        let m = self.m;
        let decl = &m[id];
        let fine = self.decl(decl, At::Body);
        for name in decl.names.ids() {
            if fine {
                self.declarator(decl, name, At::Body);
            }
            let bound = self.scopes.variable(id, name);
            self.clashes(bound.err());
        }
        if fine && decl.space == StateSpace::Shared {
            self.count_shared(decl);
        }
    }

    /// What is wrong with a declaration whatever it declares. False if nothing is known of its names then.
    pub(super) fn decl(&mut self, decl: &Decl, at: At) -> bool {
        let before = self.diagnostics.len();
        self.decl_space(decl, at);
        if at != At::Prototype {
            self.decl_type(decl, at);
        }
        if decl.managed && decl.space != StateSpace::Global {
            let message = "`.managed` variables must be in `.global`";
            self.error(codes::ATTRIBUTE, decl.span, message);
        }
        if decl.managed {
            self.gate(".attribute", "`.attribute(.managed)`", decl.span);
        }
        if decl.unified.is_some() {
            let message = "`.unified` is legal in relocatable code only (`ptxas --compile-only`)";
            self.error(codes::ATTRIBUTE, decl.span, message);
        }
        for align in [decl.align, decl.late_align, decl.ptr.and_then(|ptr| ptr.align)].into_iter().flatten() {
            if !align.is_power_of_two() {
                let message = format!("the alignment {align} is not a power of two");
                self.error(codes::ALIGN, decl.span, message);
            } else if align > FUNCTION_PARAM_ALIGN && decl.space == StateSpace::Param && at != At::Kernel {
                let message =
                    format!("the alignment {align} of a parameter is more than {FUNCTION_PARAM_ALIGN}");
                self.error(codes::ALIGN, decl.span, message);
            }
        }
        if decl.ptr.is_some_and(|ptr| !matches!(ptr.to, PtrTo::Space(_))) {
            self.gate(".ptr.opaque", "a pointer to a texture, sampler or surface", decl.span);
        }
        if (decl.ptr.is_some() || decl.late_align.is_some()) && at != At::Kernel {
            let message = "`.ptr` and an alignment after the type belong to parameters of an `.entry`";
            self.error(codes::SPACE, decl.span, message);
        }
        !self.diagnostics[before..].iter().any(Diagnostic::is_error)
    }

    fn decl_space(&mut self, decl: &Decl, at: At) {
        use StateSpace::*;
        let (span, context) = (decl.span, self.context);
        let mut wrong = |message: &str, note: &str| {
            let error = Diagnostic::error(codes::SPACE, span, message);
            self.report(if note.is_empty() { error } else { error.note(note) });
        };
        match (at, decl.space) {
            (At::Module | At::Body, Generic) => {
                wrong(
                    "the declaration names no state space",
                    "write `.global`, `.shared`, `.reg`... before the type",
                );
            }
            (_, Tex) => wrong("`.tex` variables are gone since PTX 1.5", "write `.global .texref`"),
            (_, Sreg) => wrong("special registers cannot be declared", ""),
            (At::Module, Reg | Local) => {
                let feature = if decl.space == Reg { ".reg.module" } else { ".local.module" };
                if !has_feature(feature, &context) {
                    let message = format!("`.{}` variables cannot be outside of functions", decl.space);
                    wrong(&message, "they could be before `.version 3.0`");
                }
            }
            (At::Module, Param) => wrong("parameters cannot be outside of functions", ""),
            (At::Kernel, space) if space != Param => {
                wrong("a parameter of an `.entry` must be in `.param`", "")
            }
            (At::Device | At::Prototype, space) if !matches!(space, Param | Reg) => {
                wrong("a parameter of a `.func` must be in `.param` or `.reg`", "");
            }
            _ => {}
        }
        if decl.bank.is_some() {
            wrong(
                "explicit banks of constant memory are gone since PTX 2.2",
                "drop the number after `.const`",
            );
        }
        if decl.linkage == Linkage::Common && decl.space != Global {
            wrong("`.common` variables must be in `.global`", "");
        }
        let feature = match decl.linkage {
            Linkage::Weak => ".weak",
            Linkage::Common => ".common",
            Linkage::Local | Linkage::Visible | Linkage::Extern => return,
        };
        self.gate(feature, &format!("`{feature}`"), span);
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "types of instructions alone are refused by name; the others are as old as PTX"
    )]
    fn decl_type(&mut self, decl: &Decl, at: At) {
        use ScalarType::*;
        let (ty, span) = (decl.ty, decl.span);
        let names = &self.m[decl.names];
        let arrays = !names.is_empty() && names.iter().all(|name| !self.m[name.dims].is_empty());
        let mut wrong = |message: String| self.error(codes::TYPE, span, message);
        match ty {
            B8 | B16 | B32 | B64 | B128 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | F16 | F32 | F64 => {}
            F16x2 if decl.space == StateSpace::Param && !arrays => {
                wrong("`.f16x2` cannot be in `.param`: write `.b32`".into())
            }
            F16x2 => {}
            Pred if decl.space != StateSpace::Reg => wrong("predicates exist in `.reg` only".into()),
            Pred if decl.vector != 1 => wrong("`.pred` has no vector types".into()),
            Pred => {}
            Texref | Samplerref | Surfref => {
                match (at, decl.space) {
                    (At::Module, StateSpace::Global) | (At::Kernel, StateSpace::Param) => {}
                    (At::Body, StateSpace::Global) => {
                        wrong(format!("`.{ty}` variables must be at module level"))
                    }
                    (At::Device, _) => {
                        wrong(format!("`.{ty}` cannot be a parameter of a `.func`: pass its address"))
                    }
                    _ => wrong(format!("`.{ty}` variables must be in `.global`")),
                }
                if decl.vector != 1 {
                    wrong(format!("`.{ty}` has no vector types"));
                }
                if decl.linkage == Linkage::Common {
                    wrong(format!("`.{ty}` cannot be `.common`"));
                }
                // ptxas lets arrays of samplers pass.
                let m = self.m;
                let scalar = m[decl.names].iter().any(|name| name.dims.is_empty());
                let unified = !self.context.independent_textures;
                if ty == Samplerref && matches!(at, At::Module | At::Kernel) && scalar && unified {
                    let message = "samplers exist in independent texture mode only";
                    let note = "write `.target ..., texmode_independent` (PTX ISA 9.0, 5.3)";
                    self.report(Diagnostic::error(codes::TYPE, span, message).note(note));
                }
            }
            _ => wrong(format!(
                "`.{ty}` is a type of instructions: declare `.b{}`",
                ty.bits().next_power_of_two().max(8)
            )),
        }
        if decl.vector != 1 {
            let bits = ty.bits() * u32::from(decl.vector);
            if bits > 128 {
                self.error(
                    codes::TYPE,
                    span,
                    format!("`.v{} .{ty}` has {bits} bits: vectors end at 128", decl.vector),
                );
            }
            if decl.space == StateSpace::Param {
                self.error(codes::TYPE, span, "vectors cannot be in `.param`: declare an array of bytes");
            }
        }
        let lenient = match ty {
            B128 if arrays => !has_feature(".type.b128", &self.context),
            B128 => {
                self.gate(".type.b128", "`.b128`", span);
                false
            }
            F16x2 => {
                self.gate(".type.f16x2", "`.f16x2`", span);
                arrays && decl.space == StateSpace::Param
            }
            _ => false,
        };
        if lenient {
            let message = format!("ptxas does not check the type of arrays, which `.{ty}` cannot be here");
            self.report(Diagnostic::warning(codes::LENIENT, span, message).note(LENIENCE));
        }
    }

    /// What is wrong with one name of a declaration, apart from the name.
    pub(super) fn declarator(&mut self, decl: &Decl, id: Id<Declarator>, at: At) {
        let declarator = self.m[id];
        let dims = &self.m[declarator.dims];
        let span = declarator.span;
        if decl.space == StateSpace::Reg {
            if !dims.is_empty() {
                // Its members are not reported as undeclared.
                self.lost.insert(declarator.name);
                let message = "registers cannot be arrays: write `%r<4>` for four of them";
                let error = Diagnostic::error(codes::ARRAY, span, message);
                self.report(match dims {
                    [Some(count)] => {
                        error.fix("declare", span, format!("{}<{count}>", self.name(declarator.name)))
                    }
                    _ => error,
                });
            }
        } else if let [first, rest @ ..] = dims {
            if rest.contains(&Some(0)) {
                self.error(codes::ARRAY, span, "only the first size of an array can be left open");
            }
            let open = matches!(first, None | Some(0));
            let parameter = matches!(at, At::Kernel | At::Device | At::Prototype);
            if open && declarator.init.is_none() && decl.linkage != Linkage::Extern && !parameter {
                let message = "an array without a size must be `.extern` or have an initial value";
                self.error(codes::ARRAY, span, message);
            }
        }
        if let Some(init) = declarator.init {
            let allowed = match (decl.linkage, decl.space) {
                _ if declarator.count.is_some() => {
                    Err("several variables declared at once have no initial values")
                }
                (Linkage::Extern, _) => Err("an `.extern` variable has its initial value elsewhere"),
                (_, StateSpace::Global | StateSpace::Const) => Ok(()),
                _ => Err("only `.global` and `.const` variables have initial values"),
            };
            match allowed {
                Ok(()) => self.initial_value(decl, &declarator, init),
                Err(message) => self.error(codes::INIT, self.m.init_span(init), message),
            }
        }
        if decl.space == StateSpace::Const && decl.linkage != Linkage::Extern {
            let size = self
                .m
                .bytes_of(decl, &declarator)
                .unwrap_or(0)
                .saturating_mul(declarator.count.unwrap_or(1).into());
            let align = u64::from(self.m.align_of(decl).max(1));
            let before = self.constants.bytes();
            self.constants.place(size, align);
            let total = self.constants.bytes();
            if total > CONST_BYTES && before <= CONST_BYTES {
                let message =
                    format!("the constants of the module take {total} bytes, {CONST_BYTES} at most");
                self.error(codes::LIMIT, span, message);
            }
            self.bodies_interact |= self.in_function.is_some();
        }
    }

    fn count_shared(&mut self, decl: &Decl) {
        let m = self.m;
        for declarator in &m[decl.names] {
            self.add_shared(decl, declarator, declarator.span);
        }
    }

    /// Counts a variable of the module for the function that names it, once.
    pub(super) fn use_shared(&mut self, decl: &Decl, name: Id<Declarator>, span: Span) {
        if self.shared_used.insert(name) {
            self.add_shared(decl, &self.m[name], span);
        }
    }

    fn add_shared(&mut self, decl: &Decl, declarator: &Declarator, span: Span) {
        let m = self.m;
        let align = u64::from(self.m.align_of(decl).max(1));
        let size = self
            .m
            .bytes_of(decl, declarator)
            .unwrap_or(0)
            .saturating_mul(declarator.count.unwrap_or(1).into());
        let before = self.shared.bytes();
        self.shared.place(size, align);
        let total = self.shared.bytes();
        let kernel = self.in_function.is_some_and(|f| m[f].kind == FunctionKind::Entry);
        if kernel && total > STATIC_SHARED_BYTES && before <= STATIC_SHARED_BYTES {
            let message = format!(
                "the shared variables of the kernel take {total} bytes, {STATIC_SHARED_BYTES} at most"
            );
            let note = "memory sized at launch can be larger: `.extern .shared .align 16 .b8 name[];` at module level";
            self.report(Diagnostic::error(codes::LIMIT, span, message).note(note));
        }
    }

    fn bind_module_variable(&mut self, id: Id<Decl>, decl: &Decl, name: Id<Declarator>) {
        let m = self.m;
        let declarator = m[name];
        let there = self.scopes.direct(declarator.name).filter(|_| declarator.count.is_none());
        let Some(there) = there else {
            let bound = self.scopes.module_variable(id, name);
            return self.clashes(bound.err());
        };
        let first = self.declared_at(there);
        let spelling = self.name(declarator.name);
        let message = match there.binding {
            Binding::Variable(other, other_name) => {
                let (other, other_declarator) = (&m[other], &m[other_name]);
                let external = |linkage| linkage == Linkage::Extern;
                if !self.same_variable(decl, &declarator, other, other_declarator) {
                    Some(format!("`{spelling}` is declared again with another type"))
                } else if !external(decl.linkage) && !external(other.linkage) {
                    Some(format!("`{spelling}` is declared twice in the same scope"))
                } else if external(other.linkage) && decl.linkage == Linkage::Local {
                    Some(format!(
                        "`{spelling}` was `.extern`: a definition without `.visible` is not seen outside"
                    ))
                } else {
                    let bound = self.scopes.module_variable(id, name);
                    return self.clashes(bound.err());
                }
            }
            Binding::Label(_) | Binding::Function(_) | Binding::List(_) | Binding::Special(_) => {
                Some(format!("`{spelling}` is declared again as a variable"))
            }
        };
        if let Some(message) = message {
            let error = Diagnostic::error(codes::DUPLICATE, declarator.span, message);
            self.report(error.label(first, "first declared here"));
        }
    }

    fn same_variable(&self, a: &Decl, a_name: &Declarator, b: &Decl, b_name: &Declarator) -> bool {
        let (a_dims, b_dims) = (&self.m[a_name.dims], &self.m[b_name.dims]);
        let open = |dim: &Option<u64>| matches!(dim, None | Some(0));
        let same_dims = a_dims.len() == b_dims.len()
            && a_dims
                .iter()
                .zip(b_dims)
                .enumerate()
                .all(|(i, (x, y))| x == y || (i == 0 && (open(x) || open(y))));
        let sized = a.linkage == Linkage::Extern && b.linkage == Linkage::Extern;
        (a.space, a.ty, a.vector) == (b.space, b.ty, b.vector) && (same_dims || (sized && a_dims == b_dims))
    }

    /// True for `.bN`, `.uN` and `.sN`.
    pub(super) fn is_integer(ty: ScalarType) -> bool {
        matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed)
    }

    /// The span of the first name of a declaration, or of the declaration.
    pub(super) fn first_name(&self, decl: &Decl) -> Span {
        self.m[decl.names].first().map_or(decl.span, |name| name.span)
    }
}
