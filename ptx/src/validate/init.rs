//! Initial values (manual 5.4.4).

use super::Validator;
use crate::codes;
use crate::scope::Binding;
use crate::tree::*;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{ScalarType, StateSpace, TypeClass};

/// What the lists of textures, samplers and surfaces can set, and to which names (manual 5.3).
const TEXTURE: &[&str] = &[
    "width",
    "height",
    "depth",
    "channel_data_type",
    "channel_order",
    "normalized_coords",
    "filter_mode",
    "addr_mode_0",
    "addr_mode_1",
    "addr_mode_2",
    "array_size",
    "num_mipmap_levels",
    "num_samples",
];
const SAMPLER: &[&str] =
    &["filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2", "force_unnormalized_coords"];
const SURFACE: &[&str] =
    &["width", "height", "depth", "channel_data_type", "channel_order", "array_size", "memory_layout"];
const VALUES: &[&str] = &[
    "nearest",
    "linear",
    "wrap",
    "mirror",
    "clamp_ogl",
    "clamp_to_edge",
    "clamp_to_border",
    "true",
    "false",
];

impl Validator<'_> {
    pub(super) fn initial_value(&mut self, decl: &Decl, declarator: &Declarator, init: Id<Init>) {
        let span = self.m.init_span(init);
        let value = self.m[init];
        if decl.ty.class() == TypeClass::Opaque {
            return self.opaque_value(decl.ty, &value, span);
        }
        if matches!(decl.ty, ScalarType::F16 | ScalarType::F16x2) {
            self.error(codes::INIT, span, format!("`.{}` variables have no initial values", decl.ty));
            return;
        }
        self.value(decl, &self.m[declarator.dims], &value, span);
    }

    /// One value of an array of these sizes, or of a vector, or a scalar.
    fn value(&mut self, decl: &Decl, dims: &[Option<u64>], value: &Init, span: Span) {
        let [size, inner @ ..] = dims else {
            return match decl.vector {
                1 => self.scalar_value(decl, value, span),
                n => self.vector_value(decl, n.into(), value, span),
            };
        };
        let limit = size.filter(|size| *size > 0).unwrap_or(u64::MAX);
        let Some(len) = self.list_len(value) else {
            self.error(codes::INIT, span, "an array is initialised with a list in braces");
            return;
        };
        if len == 0 && size.is_none_or(|size| size == 0) {
            self.error(
                codes::INIT,
                span,
                "an array without a size takes it from its values, and there are none",
            );
            return;
        }
        if len as u64 > limit {
            self.error(codes::INIT, span, format!("{len} values for {limit} elements"));
            return;
        }
        match *value {
            Init::List(list) => {
                for id in list.ids() {
                    let span = self.element_span(id, span);
                    let element = self.m[id];
                    self.value(decl, inner, &element, span);
                }
            }
            // Lists of integers are flat.
            _ if !inner.is_empty() || decl.vector != 1 => {
                self.error(codes::INIT, span, "an integer stands where a list in braces is expected");
            }
            Init::Const(_)
            | Init::Address { .. }
            | Init::Mask(_)
            | Init::Bytes(_)
            | Init::Ints(_)
            | Init::Field { .. } => self.integers(decl, span),
        }
    }

    fn list_len(&self, value: &Init) -> Option<usize> {
        match value {
            Init::List(list) => Some(list.len()),
            Init::Bytes(bytes) => Some(bytes.len()),
            Init::Ints(ints) => Some(ints.len()),
            Init::Const(_) | Init::Address { .. } | Init::Mask(_) | Init::Field { .. } => None,
        }
    }

    fn vector_value(&mut self, decl: &Decl, n: usize, value: &Init, span: Span) {
        match self.list_len(value) {
            None => {
                self.error(codes::INIT, span, format!("a vector is initialised with {n} values in braces"))
            }
            Some(len) if len != n => {
                self.error(codes::INIT, span, format!("{len} values for a vector of {n}"))
            }
            Some(_) => match *value {
                Init::List(list) => {
                    for id in list.ids() {
                        let span = self.element_span(id, span);
                        let element = self.m[id];
                        self.scalar_value(decl, &element, span);
                    }
                }
                Init::Const(_)
                | Init::Address { .. }
                | Init::Mask(_)
                | Init::Bytes(_)
                | Init::Ints(_)
                | Init::Field { .. } => self.integers(decl, span),
            },
        }
    }

    fn element_span(&self, id: Id<Init>, list: Span) -> Span {
        let span = self.m.init_span(id);
        if span.is_none() { list } else { span }
    }

    /// Integers, which every type but floats takes, truncated.
    fn integers(&mut self, decl: &Decl, span: Span) {
        if decl.ty.is_float() {
            let message = format!("an integer cannot initialise `.{}`", decl.ty);
            self.report(Diagnostic::error(codes::INIT, span, message).note("write `1.0` or `0f3F800000`"));
        }
    }

    fn scalar_value(&mut self, decl: &Decl, value: &Init, span: Span) {
        let ty = decl.ty;
        match *value {
            Init::Const(Const::Int { .. }) => self.integers(decl, span),
            Init::Const(_) => {
                if !matches!(ty.class(), TypeClass::Float | TypeClass::Bits) {
                    self.error(
                        codes::INIT,
                        span,
                        format!("a floating-point constant cannot initialise `.{ty}`"),
                    );
                }
            }
            Init::Address { name, generic, offset } => {
                if !matches!(ty, ScalarType::U32 | ScalarType::U64) {
                    let message = format!("an address cannot initialise `.{ty}`");
                    self.report(Diagnostic::error(codes::INIT, span, message).note("declare `.u64`"));
                }
                self.address_value(name, generic, offset, span);
            }
            Init::Mask(mask) => {
                let Mask { mask, of } = self.m[mask];
                self.mask_type(ty, of, span);
                if mask == 0 || mask.count_ones() != 8 || mask.trailing_zeros() % 8 != 0 {
                    let message = format!("the mask {mask:#x} does not select one byte");
                    self.error(codes::INIT, span, message);
                }
                self.gate(".mask", "a mask in an initial value", span);
                match of {
                    MaskOf::Int(_) => self.gate(".mask.constant", "a mask of a constant", span),
                    MaskOf::Address { name, generic, offset } => {
                        self.address_value(name, generic, offset, span)
                    }
                }
            }
            Init::List(_) | Init::Bytes(_) | Init::Ints(_) => {
                self.error(codes::INIT, span, format!("a list cannot initialise one `.{ty}`"));
            }
            Init::Field { .. } => {
                let message = "properties are set of textures, samplers and surfaces only";
                self.error(codes::INIT, span, message);
            }
        }
    }

    /// The types that one byte of a constant or of an address can initialise.
    fn mask_type(&mut self, ty: ScalarType, of: MaskOf, span: Span) {
        let fits = match of {
            MaskOf::Int(_) => Self::is_integer(ty),
            MaskOf::Address { .. } => matches!(ty, ScalarType::U8 | ScalarType::U32 | ScalarType::U64),
        };
        if !fits {
            let message = format!("a byte of an address or constant cannot initialise `.{ty}`");
            self.report(Diagnostic::error(codes::INIT, span, message).note("declare `.u8`"));
        } else if ty.bits() != 8 {
            let message = format!("a mask selects one byte, which fills only part of `.{ty}`");
            let note = "ptxas takes it, the manual does not";
            self.report(Diagnostic::warning(codes::LENIENT, span, message).note(note));
        }
    }

    fn address_value(&mut self, name: Symbol, generic: bool, offset: i64, span: Span) {
        let m = self.m;
        let spelling = &m[name];
        if generic {
            self.gate(".generic", "`generic()`", span);
        }
        match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Variable(decl, _)) => {
                if !matches!(m[decl].space, StateSpace::Global | StateSpace::Const) {
                    let message =
                        format!("`{spelling}` is in `.{}`: its address is not known yet", m[decl].space);
                    let note = "the address of a `.global` or `.const` variable can be an initial value";
                    self.report(Diagnostic::error(codes::INIT, span, message).note(note));
                }
            }
            Some(Binding::Function(_)) if offset != 0 => {
                let message =
                    format!("a constant cannot be added to the address of the function `{spelling}`");
                self.error(codes::INIT, span, message);
            }
            // The linker fills in the address of an `.extern` function: `nvcc -rdc=true` writes such tables.
            Some(Binding::Function(function)) if !generic => match m[function].kind {
                FunctionKind::Entry => self.gate(".init.entry", "a kernel as initial value", span),
                FunctionKind::Func => {}
            },
            Some(_) => self.error(codes::INIT, span, format!("`{spelling}` cannot be an initial value")),
            None => self.unknown_name(name, span),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "opaque types are three")]
    fn opaque_value(&mut self, ty: ScalarType, value: &Init, span: Span) {
        let Init::List(list) = *value else {
            let message = format!("`.{ty}` is initialised with a list such as `{{ width = 16 }}`");
            self.error(codes::INIT, span, message);
            return;
        };
        let known = match ty {
            ScalarType::Texref => TEXTURE,
            ScalarType::Samplerref => SAMPLER,
            _ => SURFACE,
        };
        let m = self.m;
        for id in list.ids() {
            let at = self.element_span(id, span);
            match m[id] {
                Init::Field { name, value } => {
                    if !known.contains(&&m[name]) {
                        let message = format!("`{}` is not a property of `.{ty}`", &m[name]);
                        let note = format!("it has {}", known.join(", "));
                        self.report(Diagnostic::error(codes::INIT, at, message).note(note));
                    }
                    if let FieldValue::Name(value) = value
                        && !VALUES.contains(&&m[value])
                    {
                        let message = format!("`{}` is not a value of a property", &m[value]);
                        let note = format!("known are {}", VALUES.join(", "));
                        self.report(Diagnostic::error(codes::INIT, at, message).note(note));
                    }
                }
                Init::Const(_)
                | Init::Address { .. }
                | Init::Mask(_)
                | Init::List(_)
                | Init::Bytes(_)
                | Init::Ints(_) => self.error(codes::INIT, at, "expected `property = value`"),
            }
        }
    }
}
