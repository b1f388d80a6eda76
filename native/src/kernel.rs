//! Kernels whose threads run one after another.

use crate::codes;
use crate::context::{CELLS, address};
use crate::fault::{Fault, FaultKind};
use crate::function::{Limits, regions};
use crate::unit::Unit;
use warpsmith_diag::{Diagnostic, Diagnostics, Span};
use warpsmith_ir::{FuncKind, Module, Type};

/// An argument of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// The bytes of a value.
    Value(Vec<u8>),
    /// Memory that a pointer points to, which holds what the kernel leaves in it.
    Buffer(Vec<u8>),
}

/// A kernel as machine code: each thread runs from its beginning to its end before the next, so that kernels whose threads wait for each other
/// are not compiled.
///
/// It is what the IR means by itself, for kernels without races. Addresses are not those of the engine.
pub struct Kernel {
    unit: Unit,
    name: String,
    params: Vec<Type>,
    limits: Limits,
}

impl Kernel {
    /// Compiles a kernel of a module. The module is verified first.
    pub fn compile(module: &Module, name: &str) -> Result<Kernel, Diagnostics> {
        warpsmith_ir::verify(module)?;
        let refused = |error| Diagnostics::new(module.source.clone(), vec![error]);
        let found = module.function(name).filter(|id| module.functions[*id].kind == FuncKind::Kernel);
        let Some(id) = found else {
            let message = format!("the module has no kernel `{name}`");
            return Err(refused(Diagnostic::error(codes::UNKNOWN, Span::NONE, message)));
        };
        let function = &module.functions[id];
        let scalar = |ty: Type| !ty.is_vector() && !ty.is_aggregate();
        if !function.params.iter().all(|param| param.byval.is_none() && scalar(param.ty)) {
            let message = format!("`{name}` has parameters that are neither numbers nor pointers");
            return Err(refused(Diagnostic::error(codes::OPERATION, function.span, message)));
        }
        let params = function.params.iter().map(|param| param.ty).collect();
        let unit = Unit::compile(module, id)?;
        Ok(Kernel { unit, name: name.to_owned(), params, limits: Limits::default() })
    }

    /// The kernel with other limits: `rounds` are those of all threads together.
    pub fn with_limits(self, limits: Limits) -> Kernel {
        Kernel { limits, ..self }
    }

    /// The operations in it that are evaluated by the definitions that the interpreter has too, rather than by code of its own.
    pub fn shared(&self) -> &[String] {
        self.unit.shared()
    }

    /// Runs all threads of a grid, block by block.
    pub fn launch(&self, grid: [u32; 3], block: [u32; 3], args: &mut [Arg]) -> Result<(), Fault> {
        let bad = || Fault {
            kind: FaultKind::BadLaunch,
            function: self.name.clone(),
            span: Span::NONE,
            address: None,
            thread: None,
        };
        let threads = block.iter().try_fold(1u32, |product, n| product.checked_mul(*n)).ok_or_else(bad)?;
        if args.len() != self.params.len() || threads == 0 || threads > 1024 || grid.contains(&0) {
            return Err(bad());
        }
        let mut memory = self.unit.memory(self.limits.local.min(1 << 39));
        // Without local memory and globals the first region is that of the local memory all the same.
        if memory.is_empty() {
            memory.push(Vec::new());
        }
        let mut cells = vec![0u64; CELLS * args.len()];
        for (n, (arg, ty)) in args.iter_mut().zip(&self.params).enumerate() {
            match arg {
                Arg::Value(bytes) => {
                    if bytes.len() > 16 || bytes.len() as u32 != ty.bytes().unwrap_or(0) {
                        return Err(bad());
                    }
                    let mut all = [0; 16];
                    all[..bytes.len()].copy_from_slice(bytes);
                    // A condition is true in memory where its byte is not zero.
                    let bits = match *ty {
                        Type::I1 => u128::from(all[0] != 0),
                        ty => u128::from_le_bytes(all) & u128::MAX >> (128 - ty.bits().clamp(1, 128)),
                    };
                    (cells[CELLS * n], cells[CELLS * n + 1]) = (bits as u64, (bits >> 64) as u64);
                }
                Arg::Buffer(bytes) => {
                    if !ty.is_ptr() {
                        return Err(bad());
                    }
                    cells[CELLS * n] = address(memory.len(), 0);
                    memory.push(std::mem::take(bytes));
                }
            }
        }
        let outcome = self.threads(grid, block, &cells, &mut memory);
        // Buffers are the last pieces, in the order of the arguments.
        for arg in args.iter_mut().rev() {
            if let Arg::Buffer(bytes) = arg {
                *bytes = memory.pop().unwrap_or_default();
            }
        }
        outcome
    }

    fn threads(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        cells: &[u64],
        memory: &mut [Vec<u8>],
    ) -> Result<(), Fault> {
        let regions = regions(memory);
        let mut context = self.limits.context(&self.unit, &regions);
        for id in positions(grid) {
            for (number, thread) in positions(block).enumerate() {
                let number = number as u32;
                let mut registers = context.registers;
                for (n, dimensions) in [thread, block, id, grid].into_iter().enumerate() {
                    registers[3 * n..3 * n + 3].copy_from_slice(&dimensions);
                }
                (registers[12], registers[13]) = (number % 32, number / 32);
                (context.registers, context.local) = (registers, 0);
                // SAFETY: the arguments have two cells each, a kernel has no results, and the regions are `memory`.
                unsafe { self.unit.call(&mut context, cells, &mut []) }
                    .map_err(|fault| Fault { thread: Some((id, thread)), ..fault })?;
            }
        }
        Ok(())
    }
}

/// All positions, the first dimension fastest.
fn positions([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).finish_non_exhaustive()
    }
}
