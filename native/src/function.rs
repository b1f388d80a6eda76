//! Functions of a module, called from Rust with values of Rust's types.

use crate::codes;
use crate::context::{CELLS, Context, REGISTERS, Region};
use crate::fault::Fault;
use crate::unit::Unit;
use std::marker::PhantomData;
use warpsmith_diag::{Diagnostic, Diagnostics, Span};
use warpsmith_ir::{Module, Type};

mod sealed {
    pub trait Sealed {}
}

/// A type of Rust's that a scalar of the IR is passed as: integers of either sign, `bool` for `i1`, `f32` and `f64`.
pub trait Scalar: Copy + sealed::Sealed {
    /// The type in the IR.
    const TYPE: Type;
    #[doc(hidden)]
    fn to_bits(self) -> u128;
    #[doc(hidden)]
    fn from_bits(bits: u128) -> Self;
}

macro_rules! scalars {
    ($($ty:ty as $ir:ident, |$x:ident| $to:expr, |$b:ident| $from:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Scalar for $ty {
            const TYPE: Type = Type::$ir;
            fn to_bits(self) -> u128 { let $x = self; $to }
            fn from_bits($b: u128) -> Self { $from }
        }
    )*};
}
scalars! {
    bool as I1, |x| x.into(), |b| b & 1 != 0;
    u8 as I8, |x| x.into(), |b| b as u8;
    i8 as I8, |x| (x as u8).into(), |b| b as i8;
    u16 as I16, |x| x.into(), |b| b as u16;
    i16 as I16, |x| (x as u16).into(), |b| b as i16;
    u32 as I32, |x| x.into(), |b| b as u32;
    i32 as I32, |x| (x as u32).into(), |b| b as i32;
    u64 as I64, |x| x.into(), |b| b as u64;
    i64 as I64, |x| (x as u64).into(), |b| b as i64;
    u128 as I128, |x| x, |b| b;
    i128 as I128, |x| x as u128, |b| b as i128;
    f32 as F32, |x| f32::to_bits(x).into(), |b| f32::from_bits(b as u32);
    f64 as F64, |x| f64::to_bits(x).into(), |b| f64::from_bits(b as u64);
}

/// A tuple of [`Scalar`]s: the arguments of a function.
pub trait Arguments: sealed::Sealed {
    /// The types in the IR.
    const TYPES: &'static [Type];
    #[doc(hidden)]
    type Cells: AsRef<[u64]>;
    #[doc(hidden)]
    fn cells(self) -> Self::Cells;
}

/// What a function returns: nothing, a [`Scalar`], or a tuple of them.
pub trait Results: sealed::Sealed {
    /// The types in the IR.
    const TYPES: &'static [Type];
    #[doc(hidden)]
    fn read(cells: &[u64]) -> Self;
}

fn bits_at(cells: &[u64], n: usize) -> u128 {
    u128::from(cells[CELLS * n]) | u128::from(cells[CELLS * n + 1]) << 64
}

macro_rules! tuples {
    ($(($($name:ident $n:literal),*) $count:literal;)*) => {$(
        impl<$($name: Scalar),*> sealed::Sealed for ($($name,)*) {}
        impl<$($name: Scalar),*> Arguments for ($($name,)*) {
            const TYPES: &'static [Type] = &[$($name::TYPE),*];
            type Cells = [u64; CELLS * $count];
            #[allow(non_snake_case, unused_mut)]
            fn cells(self) -> Self::Cells {
                let ($($name,)*) = self;
                let mut cells = [0; CELLS * $count];
                $({
                    let bits = $name.to_bits();
                    (cells[CELLS * $n], cells[CELLS * $n + 1]) = (bits as u64, (bits >> 64) as u64);
                })*
                cells
            }
        }
        impl<$($name: Scalar),*> Results for ($($name,)*) {
            const TYPES: &'static [Type] = &[$($name::TYPE),*];
            #[allow(unused_variables, clippy::unused_unit)]
            fn read(cells: &[u64]) -> Self { ($($name::from_bits(bits_at(cells, $n)),)*) }
        }
    )*};
}
tuples! {
    () 0;
    (A 0) 1;
    (A 0, B 1) 2;
    (A 0, B 1, C 2) 3;
    (A 0, B 1, C 2, D 3) 4;
    (A 0, B 1, C 2, D 3, E 4) 5;
    (A 0, B 1, C 2, D 3, E 4, F 5) 6;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6) 7;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7) 8;
}

impl<T: Scalar> Results for T {
    const TYPES: &'static [Type] = &[T::TYPE];

    fn read(cells: &[u64]) -> T {
        T::from_bits(bits_at(cells, 0))
    }
}

/// What a call may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Rounds of loops and calls, together.
    pub rounds: u64,
    /// Bytes of stack slots of all nested calls together; at most 2^39.
    pub local: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rounds: 1 << 36, local: 64 << 10 }
    }
}

impl Limits {
    /// The context of a call.
    pub(crate) fn context(self, unit: &Unit, regions: &[Region]) -> Context {
        Context {
            fuel: self.rounds.min(i64::MAX as u64) as i64,
            depth: unit.depth().into(),
            local: 0,
            local_len: regions.first().map_or(0, |local| local.len),
            regions: regions.as_ptr(),
            region_count: regions.len() as u64,
            address: 0,
            registers: [0; REGISTERS],
        }
    }
}

/// A function of a module as machine code, called with values of these types.
///
/// Each call begins with the module's variables as they are before anything runs: it depends on its arguments alone.
pub struct Function<A, R> {
    unit: Unit,
    limits: Limits,
    types: PhantomData<fn(A) -> R>,
}

impl<A: Arguments, R: Results> Function<A, R> {
    /// Compiles a function of a module, and all that it calls. The module is verified first.
    pub fn compile(module: &Module, name: &str) -> Result<Self, Diagnostics> {
        warpsmith_ir::verify(module)?;
        let refused = |error| Diagnostics::new(module.source.clone(), vec![error]);
        let Some(id) = module.function(name) else {
            let message = format!("the module has no function `{name}`");
            return Err(refused(Diagnostic::error(codes::UNKNOWN, Span::NONE, message)));
        };
        let function = &module.functions[id];
        let params: Vec<Type> = function.params.iter().map(|param| param.ty).collect();
        if params != A::TYPES || function.ret != R::TYPES {
            let message = format!(
                "`{name}` is called as a function of {:?} that returns {:?}, and it takes {params:?} and returns {:?}",
                A::TYPES,
                R::TYPES,
                function.ret
            );
            return Err(refused(Diagnostic::error(codes::SIGNATURE, function.span, message)));
        }
        Ok(Function { unit: Unit::compile(module, id)?, limits: Limits::default(), types: PhantomData })
    }

    /// The function with other limits.
    pub fn with_limits(self, limits: Limits) -> Self {
        Function { limits, ..self }
    }

    /// The operations in it that are evaluated by the definitions that the interpreter has too, rather than by code of its own.
    pub fn shared(&self) -> &[String] {
        self.unit.shared()
    }

    /// Calls the function.
    pub fn call(&self, args: A) -> Result<R, Fault> {
        let mut memory = self.unit.memory(self.limits.local.min(1 << 39));
        let regions: Vec<Region> = regions(&mut memory);
        let mut context = self.limits.context(&self.unit, &regions);
        let mut results = [0; CELLS * 8];
        // SAFETY: the types were compared with the function's when it was compiled, there are at most eight results, and `memory` is our own.
        unsafe { self.unit.call(&mut context, args.cells().as_ref(), &mut results)? };
        Ok(R::read(&results))
    }
}

/// Pieces of memory as compiled code sees them.
pub(crate) fn regions(memory: &mut [Vec<u8>]) -> Vec<Region> {
    memory.iter_mut().map(|bytes| Region { base: bytes.as_mut_ptr(), len: bytes.len() as u64 }).collect()
}

impl<A, R> std::fmt::Debug for Function<A, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("limits", &self.limits).finish_non_exhaustive()
    }
}
