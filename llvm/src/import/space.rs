//! Which pointers point into one state space for certain.
//!
//! LLVM's pointers are nearly all generic. What a kernel is given points to global memory, what `alloca` makes to local memory, and what is
//! made of those by arithmetic, phis and selects to the same; a fixed point over the values of a function finds them, so that loads and
//! stores name their space and the parameters of blocks have one type.

use super::function::local;
use super::signature::{Incoming, Signature};
use crate::module::body::{Body, Inst, InstKind};
use crate::module::constants::{Constant, ConstantKind};
use crate::module::ops::CastOp;
use crate::module::types::Type;
use crate::module::{GlobalValue, Module, ValueId};
use warpsmith_base::FxHashSet;
use warpsmith_ir as ir;

/// What is known of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Space {
    /// Nothing has been seen yet, or it is undefined.
    Unknown,
    /// The null pointer, which is the same address in global memory.
    Null,
    Global,
    Shared,
    Const,
    Local,
    Param,
    Generic,
}

/// The space of OpenCL's constant memory while it is imported: a number that no file can have. It is global memory that nothing writes, since
/// a launch passes the address of a buffer for it.
pub(super) const OPENCL_CONSTANT: u32 = 1 << 24 | 4;

impl Space {
    /// The type of the pointer.
    pub fn pointer(self) -> ir::Type {
        match self {
            Space::Global => ir::Type::PTR_GLOBAL,
            Space::Shared => ir::Type::PTR_SHARED,
            Space::Const => ir::Type::PTR_CONST,
            Space::Local => ir::Type::PTR_LOCAL,
            Space::Param => ir::Type::PTR_PARAM,
            Space::Unknown | Space::Null | Space::Generic => ir::Type::PTR,
        }
    }

    fn of_number(space: u32) -> Space {
        match space {
            1 | OPENCL_CONSTANT => Space::Global,
            3 | 7 => Space::Shared,
            4 => Space::Const,
            5 => Space::Local,
            101 => Space::Param,
            _ => Space::Generic,
        }
    }

    fn join(self, other: Space) -> Space {
        use Space::{Global, Null, Unknown};
        match (self, other) {
            (a, b) if a == b => a,
            (Unknown, other) | (other, Unknown) => other,
            (Null, Global) | (Global, Null) => Global,
            _ => Space::Generic,
        }
    }
}

struct Inference<'i, 'a> {
    module: &'i Module<'a>,
    body: &'i Body,
    spaces: Vec<Space>,
    kernel: bool,
    /// The parameters of a kernel and their parts.
    arguments: FxHashSet<ValueId>,
}

/// What is known of each value of a function; of those that are not pointers, nothing.
pub(super) fn infer(module: &Module<'_>, body: &Body, signature: &Signature, kernel: bool) -> Vec<Space> {
    let mut arguments = FxHashSet::default();
    if kernel {
        arguments.extend((0..body.num_params).map(|n| ValueId(body.first_value + n)));
        for inst in &body.insts {
            if let (InstKind::ExtractValue { aggregate, .. }, Some(value)) = (&inst.kind, inst.value)
                && arguments.contains(aggregate)
            {
                arguments.insert(value);
            }
        }
    }
    let mut inference =
        Inference { module, body, spaces: vec![Space::Unknown; body.types.len()], kernel, arguments };
    for (n, param) in signature.params.iter().enumerate().take(body.num_params as usize) {
        inference.spaces[n] = match param {
            Incoming::Value(Some(ir::Type::PTR_GLOBAL)) if kernel => Space::Global,
            Incoming::ByValue { size: 1.., .. }
                if kernel && only_read(body, ValueId(body.first_value + n as u32)) =>
            {
                Space::Param
            }
            Incoming::ByValue { .. } => Space::Local,
            Incoming::Value(_) | Incoming::Bytes(_) | Incoming::Variadic => {
                inference.declared(ValueId(body.first_value + n as u32))
            }
        };
    }
    // What depends on other values: all else is known when it has been looked at once.
    let mut pending: Vec<&Inst> = Vec::new();
    for inst in &body.insts {
        let Some(n) = inst.value.and_then(|value| local(body, value)) else { continue };
        if !matches!(module.types.get(inst.ty), Type::Pointer { .. }) {
            inference.spaces[n] = Space::Generic;
            continue;
        }
        let new = inference.of_pointer(inst);
        inference.spaces[n] = inference.spaces[n].join(new);
        if inst.kind.hands_on_pointers() {
            pending.push(inst);
        }
    }
    // Each value goes up a lattice of four steps, so that this ends.
    loop {
        let mut changed = false;
        for inst in &pending {
            let Some(n) = inst.value.and_then(|value| local(body, value)) else { continue };
            let new = inference.of_pointer(inst);
            let joined = inference.spaces[n].join(new);
            if joined != inference.spaces[n] {
                inference.spaces[n] = joined;
                changed = true;
            }
        }
        if !changed {
            return inference.spaces;
        }
    }
}

impl InstKind {
    /// True for what [`Inference::of_pointer`] asks other values of.
    fn hands_on_pointers(&self) -> bool {
        matches!(
            self,
            InstKind::Gep { .. }
                | InstKind::Phi { .. }
                | InstKind::Select { .. }
                | InstKind::Freeze(_)
                | InstKind::Cast { .. }
                | InstKind::Load { .. }
        )
    }
}

/// True if what a pointer leads to is loaded and nothing else.
fn only_read(body: &Body, pointer: ValueId) -> bool {
    let mut pointers = vec![pointer];
    let mut at = 0;
    while let Some(pointer) = pointers.get(at).copied() {
        at += 1;
        for inst in &body.insts {
            let mut used = false;
            body.operands(inst, |value| used |= value == pointer);
            if !used {
                continue;
            }
            match (&inst.kind, inst.value) {
                (InstKind::Load { access, .. }, _) if !access.volatile => {}
                (InstKind::Gep { base, .. }, Some(value)) if *base == pointer => pointers.push(value),
                _ => return false,
            }
        }
        // A function that takes much apart is not worth the search.
        if pointers.len() > 64 {
            return false;
        }
    }
    true
}

impl Inference<'_, '_> {
    /// What the type of a value says.
    fn declared(&self, value: ValueId) -> Space {
        let ty = local(self.body, value).and_then(|n| self.body.types.get(n));
        match ty.map(|ty| self.module.types.get(*ty)) {
            Some(Type::Pointer { space, .. }) => Space::of_number(*space),
            _ => Space::Generic,
        }
    }

    /// What is known of the pointer that an instruction makes.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a pointer from anywhere else may point anywhere")]
    fn of_pointer(&self, inst: &Inst) -> Space {
        let declared = match self.module.types.get(inst.ty) {
            Type::Pointer { space, .. } => Space::of_number(*space),
            _ => Space::Generic,
        };
        if declared != Space::Generic {
            return declared;
        }
        match &inst.kind {
            InstKind::Alloca { .. } => Space::Local,
            InstKind::Gep { base, .. } => self.of_value(*base),
            InstKind::Phi { incoming, .. } => self
                .body
                .edges(*incoming)
                .iter()
                .fold(Space::Unknown, |space, (value, _)| space.join(self.of_value(*value))),
            InstKind::Select { x, y, .. } => self.of_value(*x).join(self.of_value(*y)),
            InstKind::Freeze(x) | InstKind::Cast { op: CastOp::BitCast | CastOp::AddrSpaceCast, x, .. } => {
                self.of_value(*x)
            }
            // A slice of Rust arrives as integers.
            InstKind::Cast { op: CastOp::IntToPtr, x, .. } if self.arguments.contains(x) => Space::Global,
            InstKind::ExtractValue { .. }
                if inst.value.is_some_and(|value| self.arguments.contains(&value)) =>
            {
                Space::Global
            }
            InstKind::Load { ptr, .. } if self.kernel && self.of_value(*ptr) == Space::Param => Space::Global,
            _ => Space::Generic,
        }
    }

    fn of_value(&self, value: ValueId) -> Space {
        let Some(n) = local(self.body, value) else {
            return of_constant(self.module, Some(self.body), value, 0);
        };
        let params = self.body.num_params as usize;
        if (params..params + self.body.constants.len()).contains(&n) {
            return of_constant(self.module, Some(self.body), value, 0);
        }
        self.spaces.get(n).copied().unwrap_or(Space::Generic)
    }
}

/// What is known of a constant.
#[expect(clippy::wildcard_enum_match_arm, reason = "a pointer from anywhere else may point anywhere")]
pub(super) fn of_constant(module: &Module<'_>, body: Option<&Body>, value: ValueId, depth: u32) -> Space {
    match module.global_value(value) {
        Some(GlobalValue::Global(n)) => {
            return module
                .globals
                .get(n)
                .map_or(Space::Generic, |global| of_global(global.space, global.section.as_deref()));
        }
        Some(GlobalValue::Function(_) | GlobalValue::Alias(_)) => return Space::Generic,
        None => {}
    }
    let Some(constant) = find_constant(module, body, value) else { return Space::Generic };
    let declared = match module.types.get(constant.ty) {
        Type::Pointer { space, .. } => Space::of_number(*space),
        _ => Space::Generic,
    };
    if declared != Space::Generic || depth > 16 {
        return declared;
    }
    match &constant.kind {
        ConstantKind::Null => Space::Null,
        ConstantKind::Undef | ConstantKind::Poison => Space::Unknown,
        ConstantKind::Gep { base, .. } => of_constant(module, body, *base, depth + 1),
        ConstantKind::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, arg } => {
            of_constant(module, body, *arg, depth + 1)
        }
        _ => Space::Generic,
    }
}

/// The constant of a number, of a function or of its module.
pub(super) fn find_constant<'m>(
    module: &'m Module<'_>,
    body: Option<&'m Body>,
    value: ValueId,
) -> Option<&'m Constant> {
    let in_body =
        |body: &'m Body| body.constants.get(local(body, value)?.checked_sub(body.num_params as usize)?);
    body.and_then(in_body).or_else(|| module.constant(value))
}

/// Where a variable lies. Rust has no address spaces: there the section says so.
pub(super) fn of_global(space: u32, section: Option<&str>) -> Space {
    match (space, section) {
        (0, Some(".shared")) => Space::Shared,
        (0 | 1, _) => Space::Global,
        (space, _) => Space::of_number(space),
    }
}
