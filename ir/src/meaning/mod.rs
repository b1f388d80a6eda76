//! What the core operations compute.
//!
//! The operations on vectors are those of their elements; a plan is of scalars.
//!
//! [`plan`] is the one table: the interpreter of the IR runs its plans on warps, and the optimiser evaluates them to fold constants. What
//! a value looks like in a register: integers with zeros above, `i1` as a predicate, floats as their bits.
//!
//! ```
//! use warpsmith_ir::{InstData, IntCC, Opcode, Type, Value, meaning};
//! let args = [Value::from_u32(0), Value::from_u32(1)];
//! let add = InstData::Binary { op: Opcode::Iadd, args };
//! let plan = meaning::plan(&add, &[Type::I8, Type::I8], Type::I8).unwrap();
//! assert_eq!(plan.evaluate(&[200, 100]).unwrap()[..], [44]);
//! let less = InstData::IntCompare { cond: IntCC::Slt, args };
//! let plan = meaning::plan(&less, &[Type::I8, Type::I8], Type::I1).unwrap();
//! assert_eq!(plan.evaluate(&[200, 100]).unwrap()[..], [1]);
//! ```

mod arithmetic;
mod convert;
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the verifier lets the formats and operations by that have modes"
)]
mod mode;
mod narrow;
// Its functions are written for every width of register, one of which is that of the arithmetic.
#[allow(clippy::useless_conversion)]
mod wide;

use crate::attr::Attr;
use crate::classes::{Class, Conversion, PointerBinary, PointerUnary, Ternary};
use crate::{InstData, Opcode, Type};
use warpsmith_semantics::lanes::portable as vector;
use warpsmith_semantics::{Plan, Width};

pub use arithmetic::select;
pub(crate) use narrow::format as narrow_format;
pub use wide::{bit_field_insert, compare_integers, integer, keep};

/// The plan of an instruction with operands of these types, each in one register, and a result of this type. `None` if its result does not
/// depend on its operands alone, if a value takes several registers, or if the operation has no meaning on these types.
pub fn plan(inst: &InstData, operands: &[Type], result: Type) -> Option<Plan> {
    match inst {
        InstData::Unary { op, .. } | InstData::Binary { op, .. } | InstData::Ternary { op, .. } => {
            operation(*op, operands, result)
        }
        InstData::IntCompare { cond, .. } => {
            let ty = *operands.first()?;
            let simple = arithmetic::integer_compare(*cond, ty).map(Plan::simple);
            simple.or_else(|| wide::comparison(*cond, ty))
        }
        InstData::List { op, attr: Attr::Float(mode), .. } => match mode.computes_plainly() {
            true => operation(*op, operands, result),
            false => mode::plan(*op, *mode, *operands.first()?, result),
        },
        InstData::List { op, .. } => match op.class() {
            Class::Overflow(overflow) => wide::overflowing(overflow, *operands.first()?),
            Class::IntUnary(_)
            | Class::IntBinary(_)
            | Class::FloatUnary(_)
            | Class::FloatBinary(_)
            | Class::PointerUnary(_)
            | Class::PointerBinary(_)
            | Class::Ternary(_)
            | Class::Conversion(_)
            | Class::List(_)
            | Class::Alone => None,
        },
        InstData::FloatCompare { cond, .. } if narrow::concerns(operands, result) => {
            narrow::comparison(*cond, *operands.first()?)
        }
        InstData::FloatCompare { cond, .. } => {
            arithmetic::float_compare(*cond, *operands.first()?).map(Plan::simple)
        }
        InstData::Index { scale, .. } => pointer(*operands.get(1)?, i64::from(*scale)),
        InstData::IntConst { .. }
        | InstData::FloatConst { .. }
        | InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::GlobalAddr { .. }
        | InstData::FuncAddr { .. }
        | InstData::Vec { .. }
        | InstData::Extract { .. }
        | InstData::Insert { .. }
        | InstData::Zero
        | InstData::Aggregate { .. }
        | InstData::ExtractValue { .. }
        | InstData::InsertValue { .. }
        | InstData::MemBlock { .. }
        | InstData::Sreg { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::Ptx { .. }
        | InstData::Jump { .. }
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return { .. }
        | InstData::Trap => None,
    }
}

/// The plan of an operation that its opcode and types say all of. The tables over each class are in [`arithmetic`] and [`convert`].
fn operation(op: Opcode, operands: &[Type], to: Type) -> Option<Plan> {
    let from = *operands.first()?;
    let moves = matches!(op, Opcode::Select | Opcode::Bitcast | Opcode::Splat);
    if narrow::concerns(operands, to) && !moves {
        return narrow::operation(op, from, to);
    }
    match op.class() {
        Class::IntUnary(unary) => {
            arithmetic::int_unary(unary, from).map(Plan::simple).or_else(|| wide::operation(op, from))
        }
        Class::IntBinary(binary) => {
            arithmetic::int_binary(binary, from).map(Plan::simple).or_else(|| wide::operation(op, from))
        }
        Class::FloatUnary(op) => arithmetic::float_unary(op, from).map(Plan::simple),
        Class::FloatBinary(op) => arithmetic::float_binary(op, from).map(Plan::simple),
        Class::PointerUnary(PointerUnary::Ptrtoint) => same_bits(from, to),
        Class::PointerBinary(PointerBinary::Ptradd) => pointer(*operands.get(1)?, 1),
        Class::Ternary(Ternary::Fshl | Ternary::Fshr | Ternary::Ubfx | Ternary::Sbfx) => {
            wide::operation(op, from)
        }
        Class::Ternary(Ternary::Select) => Some(Plan::simple(select(register(to)?))),
        Class::Ternary(Ternary::Fma) => arithmetic::fma(from).map(Plan::simple),
        Class::Conversion(op) => conversion(op, from, to),
        // Variants of instructions of their own, of which `plan` knows more than an opcode.
        Class::Overflow(_) | Class::List(_) | Class::Alone => None,
    }
}

fn conversion(op: Conversion, from: Type, to: Type) -> Option<Plan> {
    match op {
        Conversion::Trunc | Conversion::Zext => convert::integer(from, to, false),
        Conversion::Sext => convert::integer(from, to, true),
        Conversion::Fptrunc | Conversion::Fpext => convert::float(from, to),
        Conversion::Sitofp => convert::from_integer(from, to, true),
        Conversion::Uitofp => convert::from_integer(from, to, false),
        Conversion::Fptosi => convert::to_integer(from, to, true),
        Conversion::Fptoui => convert::to_integer(from, to, false),
        Conversion::Bitcast | Conversion::Inttoptr => same_bits(from, to),
        // Where the spaces lie is for whoever has memory to say.
        Conversion::Addrspacecast => None,
        // A vector is several values.
        Conversion::Splat => None,
    }
}

/// The width of the register of a value that takes one.
fn register(ty: Type) -> Option<Width> {
    if ty.is_vector() {
        return None;
    }
    match ty.bits() {
        0 => None,
        1 => Some(Width::Pred),
        bits => Some(Width::for_bits(bits)),
    }
}

/// The same bits as another type of one register of the same width.
fn same_bits(from: Type, to: Type) -> Option<Plan> {
    let (width, other) = (register(from)?, register(to)?);
    if width != other || from.bits() != to.bits() {
        return None;
    }
    Some(Plan::simple(match width {
        Width::Pred => vector(|a: bool| a),
        Width::W32 => vector(|a: u32| a),
        Width::W64 => vector(|a: u64| a),
        Width::W128 => vector(|a: u128| a),
    }))
}

/// `ptradd` and `index`: the offset is signed.
fn pointer(offset: Type, scale: i64) -> Option<Plan> {
    let function = match register(offset)? {
        Width::W64 => vector(|p: u64, i: u64, scale: u64| p.wrapping_add(i.wrapping_mul(scale))),
        Width::W32 if offset.bits() == 32 => {
            vector(|p: u64, i: i32, scale: u64| p.wrapping_add((i as i64 as u64).wrapping_mul(scale)))
        }
        Width::Pred | Width::W32 | Width::W128 => return None,
    };
    Some(Plan::with_constants(function, &[scale as u64]))
}
