//! OpenCL C's built-in functions (OpenCL C 3.0 specification, 6.15), which clang leaves to a library as calls of overloaded functions: on NVIDIA's GPUs
//! each is a few operations or a function of the math library.
//!
//! Pipes and queues are refused by name.

mod atomic;
mod convert;
mod copy;
mod element;
mod group;
mod image;
mod kinds;
mod lanes;
mod mangled;
mod memory;
mod print;
mod special;
mod table;
mod vector;
mod work;

use super::function::{Builder, Values};
use super::space::OPENCL_CONSTANT;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::module::body::{Call, Inst};
use kinds::Builtin;
use mangled::{Element, Param};
use warpsmith_ir::{InstBuilder, Type, Value};

/// True for the function that clang puts the body of a kernel in. The kernel only calls it, and it is marked as never to be inlined, as kernels are.
pub(super) fn is_kernel_body(name: &str) -> bool {
    name.starts_with("__clang_ocl_kern_imp_")
}

/// Makes constant memory global memory that nothing writes: an argument of a launch is the address of a buffer, and a pointer may lead to one or to a
/// variable of the program.
pub(super) fn prepare(module: &mut Module<'_>) {
    const CONSTANT: u32 = 4;
    let versions = ["opencl.ocl.version", "opencl.cxx.version"];
    if !versions.into_iter().any(|name| module.metadata.named.contains_key(name)) {
        return;
    }
    module.types.move_pointers(CONSTANT, OPENCL_CONSTANT);
    for global in module.globals.iter_mut().filter(|global| global.space == CONSTANT) {
        global.space = OPENCL_CONSTANT;
    }
}

/// An operand of a function.
struct Operand {
    /// Its elements.
    values: Values,
    element: Element,
    /// The size in memory of what it is or points to.
    bytes: u32,
}

/// The operands of a function, and what its result is made of.
struct Operands {
    all: Vec<Operand>,
    /// The elements of the result; 1 where there is none.
    lanes: usize,
    /// The type of one of them.
    result: Option<Type>,
}

impl Operands {
    /// An operand of one element.
    fn scalar(&self, n: usize) -> Result<Value> {
        self.all.get(n).and_then(|operand| operand.values.first()).copied().ok_or_else(missing)
    }

    fn vector(&self, n: usize) -> Result<&Operand> {
        self.all.get(n).ok_or_else(missing)
    }

    /// The operands of one element of the result. Scalars serve all of them.
    fn lane(&self, lane: usize) -> Result<Values> {
        let of = |operand: &Operand| match operand.values.as_slice() {
            [only] => Some(*only),
            many => many.get(lane).copied(),
        };
        self.all.iter().map(|operand| of(operand).ok_or_else(missing)).collect()
    }

    fn is_signed(&self, n: usize) -> bool {
        self.all.get(n).is_some_and(|operand| operand.element == Element::Signed)
    }

    /// The type of the result's elements.
    fn result(&self) -> Result<Type> {
        self.result.ok_or_else(missing)
    }
}

/// What a function is for that clang calls for a language construct and that a GPU has nothing for.
fn refused(symbol: &str) -> Option<&'static str> {
    let pipes = [
        "__read_pipe_",
        "__write_pipe_",
        "__reserve_",
        "__work_group_reserve_",
        "__sub_group_reserve_",
        "__commit_",
        "__work_group_commit_",
        "__sub_group_commit_",
        "__get_pipe_",
    ];
    if pipes.into_iter().any(|prefix| symbol.starts_with(prefix)) && symbol.contains("pipe") {
        return Some("a pipe");
    }
    symbol.starts_with("__enqueue_kernel_").then_some("a queue")
}

fn missing() -> Error {
    Error::unsupported("an OpenCL function with other operands than it has")
}

impl Builder<'_, '_, '_> {
    /// The call of a function that no module defines; false if it is none of OpenCL's that are known here.
    pub fn opencl(&mut self, inst: &Inst, call: &Call, symbol: &str) -> Result<bool> {
        if let Some(space) = table::address_space(symbol) {
            return self.address_space_pointer(inst, call, space);
        }
        if symbol == "printf" {
            return self.print_vectors(inst, call);
        }
        if symbol == "__translate_sampler_initializer" {
            return self.sampler_of_flags(inst, call);
        }
        if let Some(what) = refused(symbol) {
            return Err(Error::unsupported(format!("{what} of OpenCL (`{symbol}`)")));
        }
        let Some((name, params)) = mangled::read(symbol) else { return Ok(false) };
        let image = image::Function::of(name, symbol);
        let builtin = table::find(name);
        let sized = memory::Sized::of(name);
        let conversion = convert::Conversion::of(name);
        if builtin.is_none() && sized.is_none() && conversion.is_none() && image.is_none() {
            return Ok(false);
        }
        let operands = self.operands(inst, call, &params)?;
        // Only copies have pointers as results: their events.
        let has_event = matches!(builtin, Some(Builtin::AsyncCopy { .. }));
        if !has_event && operands.result.is_some_and(Type::is_ptr) {
            return Err(missing());
        }
        let values = if let Some(image) = image {
            self.image_access(&image, &operands)
        } else if let Some(builtin) = builtin {
            self.builtin(builtin, call, &operands)
        } else if let Some(sized) = sized {
            self.sized_access(sized, &operands)
        } else if let Some(conversion) = conversion {
            self.converted(conversion, &operands)
        } else {
            return Ok(false);
        };
        let values = values.map_err(|mut error| {
            error.message = format!("{} (OpenCL's `{name}`)", error.message);
            error
        })?;
        self.result(inst, &values)?;
        Ok(true)
    }

    fn operands(&mut self, inst: &Inst, call: &Call, params: &[Param]) -> Result<Operands> {
        let args = self.body.args(call).to_vec();
        if args.len() != params.len() {
            return Err(missing());
        }
        let mut all = Vec::new();
        for (arg, param) in args.into_iter().zip(params) {
            let values = self.value(arg)?;
            let is_right = |value: &Value| {
                let ty = self.type_of(*value);
                match (param.is_pointer, param.element) {
                    (true, _) => ty.is_ptr(),
                    (false, Element::Signed | Element::Unsigned) => ty.is_int(),
                    (false, Element::Float) => ty.is_float(),
                    (false, Element::Other) => true,
                }
            };
            if values.is_empty() || !values.iter().all(is_right) {
                return Err(missing());
            }
            all.push(Operand { values, element: param.element, bytes: param.bytes });
        }
        let parts = self.parts(inst.ty)?;
        Ok(Operands { all, lanes: parts.len().max(1), result: parts.first().map(|part| part.ty) })
    }

    fn builtin(&mut self, builtin: Builtin, call: &Call, operands: &Operands) -> Result<Values> {
        match builtin {
            Builtin::Work(work) => self.work_items(work, call, operands),
            Builtin::Barrier => {
                self.b.ins().barrier();
                Ok(Values::new())
            }
            Builtin::Fence => {
                self.b.ins().fence(warpsmith_ir::MemoryOrder::AcqRel, warpsmith_ir::MemoryScope::Gpu);
                Ok(Values::new())
            }
            Builtin::Nothing => Ok(Values::new()),
            Builtin::Element(function) => {
                let mut out = Values::new();
                for lane in 0..operands.lanes {
                    let x = operands.lane(lane)?;
                    out.push(self.element(function, &x, operands)?);
                }
                Ok(out)
            }
            Builtin::Parts(parts) => self.float_parts(parts, operands),
            Builtin::Any => self.any_or_all(operands, true),
            Builtin::All => self.any_or_all(operands, false),
            Builtin::Dot if operands.vector(0)?.element != Element::Float => {
                self.dot_of_bytes(kinds::DotBytes { packed: None, accumulates: false }, operands)
            }
            Builtin::Dot => {
                let (x, y) = (operands.vector(0)?, operands.vector(1)?);
                Ok(Values::from_slice(&[self.dot(&x.values, &y.values)?]))
            }
            Builtin::Length => {
                let length = self.length(&operands.vector(0)?.values)?;
                Ok(Values::from_slice(&[length]))
            }
            Builtin::Distance => {
                let (x, y) = (operands.vector(0)?, operands.vector(1)?);
                let difference: Values =
                    x.values.iter().zip(&y.values).map(|(x, y)| self.b.ins().fsub(*x, *y)).collect();
                let length = self.length(&difference)?;
                Ok(Values::from_slice(&[length]))
            }
            Builtin::Normalize => self.normalized(&operands.vector(0)?.values),
            Builtin::Cross => self.cross(operands),
            Builtin::Shuffle => self.shuffled(operands),
            Builtin::Atomic(signed, unsigned) => {
                let op = if operands.is_signed(0) { signed } else { unsigned };
                self.atomic_builtin(op, operands)
            }
            Builtin::Count(by) => self.atomic_count(by, operands),
            Builtin::AtomicExchangeIf => self.atomic_exchange_if(operands),
            Builtin::AtomicObject(op) => self.atomic_object(op, call, operands),
            Builtin::SubGroup(number) => self.sub_group_number(number, operands),
            Builtin::SubGroupBarrier => self.sub_group_barrier(),
            Builtin::Collective(group, what) => self.collective(group, what, operands),
            Builtin::Exchange(exchange) => self.exchanged(exchange, operands),
            Builtin::Elect => self.elected(operands),
            Builtin::AllEqual => self.all_equal(operands),
            Builtin::Ballot(ballot) => self.ballot(ballot, operands),
            Builtin::LaneMask(mask) => self.lane_mask(mask),
            Builtin::Cluster(by) => self.cluster(by, operands),
            Builtin::DotBytes(dot) => self.dot_of_bytes(dot, operands),
            Builtin::Clock(clock) => self.clock(clock, operands),
            Builtin::FenceOf => self.fence_of(operands),
            Builtin::AsyncCopy { strided } => self.async_copy(strided, operands),
        }
    }
}
