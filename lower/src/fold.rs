//! What an operation gives for constant operands. The functions are those that the engine runs: of the core operations the table of
//! [`meaning`], of operations of the PTX tables their plans. Where a float result would be NaN there is no answer, since targets differ
//! in its bits.

use smallvec::SmallVec;
use warpsmith_ir::{Function, Inst, InstData, Opcode, PtxData, PtxOperand, Traits, Type, Value, meaning};
use warpsmith_semantics::{Plan, Selection, Selector, Width, Written, plan};

/// A constant of up to 64 bits: integers in the form of [`Type::normalize`], floats as their bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// An integer.
    Int(i64),
    /// The bits of a float.
    Float(u64),
}

/// What an instruction gives when its operands are the constants that `constant` knows of.
pub fn instruction(
    func: &Function,
    inst: Inst,
    constant: impl Fn(Value) -> Option<Constant>,
) -> Option<Constant> {
    let dfg = &func.dfg;
    // Of two results, one constant is not all.
    let to = dfg.ty(dfg.first_result(inst).filter(|_| dfg.results(inst).len() == 1)?);
    match &dfg[inst] {
        InstData::IntConst { value } => (to.bits() <= 64).then_some(Constant::Int(*value)),
        InstData::FloatConst { bits } => Some(Constant::Float(*bits)),
        InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] } => match constant(*cond)? {
            Constant::Int(0) => constant(*no),
            Constant::Int(_) => constant(*yes),
            Constant::Float(_) => None,
        },
        InstData::Ptx { data, args } => {
            let alone = dfg.results(inst).len() == 1;
            let args = args.as_slice(&dfg.pool);
            alone.then(|| table_operation(&dfg.ptx[*data], args, to, |v| dfg.ty(v), constant)).flatten()
        }
        data => {
            let args = dfg.args(inst);
            // Most instructions have an operand that is not a constant: those are done with before anything is made.
            if args.iter().any(|arg| constant(*arg).is_none()) {
                return None;
            }
            let values: Option<SmallVec<[u128; 3]>> =
                args.iter().map(|arg| bits(dfg.ty(*arg), constant(*arg)?)).collect();
            let values = values?;
            let operands: SmallVec<[Type; 3]> = args.iter().map(|arg| dfg.ty(*arg)).collect();
            evaluate(&meaning::plan(data, &operands, to)?, &values, to)
        }
    }
}

/// What an operation gives for constants of these types, as one of a type.
pub fn computed(data: &InstData, operands: &[(Constant, Type)], to: Type) -> Option<Constant> {
    let mut values = [0; 3];
    for (value, (constant, ty)) in values.iter_mut().zip(operands) {
        *value = bits(*ty, *constant)?;
    }
    let values = values.get(..operands.len())?;
    // Integers, which most rules are about, without a plan.
    if let Some(&(Constant::Int(_), from)) = operands.first()
        && to.bits() <= 64
    {
        if let InstData::IntCompare { cond, .. } = data {
            let &[a, b] = values else { return None };
            return Some(Constant::Int(meaning::compare_integers(*cond, from.bits(), a, b).into()));
        }
        if let Some(result) = meaning::integer(data.opcode(), from.bits(), values) {
            return Some(Constant::Int(to.normalize(result as i64)));
        }
    }
    let types: SmallVec<[Type; 3]> = operands.iter().map(|(_, ty)| *ty).collect();
    evaluate(&meaning::plan(data, &types, to)?, values, to)
}

/// A number as a constant of a float type, rounded to nearest.
pub fn float(ty: Type, value: f64) -> Option<Constant> {
    match ty {
        Type::F64 => Some(Constant::Float(value.to_bits())),
        Type::F32 => Some(Constant::Float((value as f32).to_bits().into())),
        Type::F16 | Type::BF16 => {
            let narrow = InstData::Unary { op: Opcode::Fptrunc, arg: Value::from_u32(0) };
            computed(&narrow, &[(Constant::Float(value.to_bits()), Type::F64)], ty)
        }
        _ => None,
    }
}

/// True for the types that constants have.
fn is_small(ty: Type) -> bool {
    !ty.is_vector() && ty.bits() <= 64 && (ty.is_int() || ty.is_float())
}

/// The bits of a constant as a register has them.
fn bits(ty: Type, constant: Constant) -> Option<u128> {
    if !is_small(ty) {
        return None;
    }
    let all = match constant {
        Constant::Int(value) => value as u64,
        Constant::Float(bits) => bits,
    };
    Some(u128::from(all & (u64::MAX >> (64 - ty.bits()))))
}

fn evaluate(plan: &Plan, operands: &[u128], to: Type) -> Option<Constant> {
    if !is_small(to) {
        return None;
    }
    let width = if to == Type::I1 { Width::Pred } else { Width::for_bits(to.bits()) };
    let result = *plan.evaluate_to(operands, &[width])?.first()? as u64 & (u64::MAX >> (64 - to.bits()));
    if to.is_int() {
        return Some(Constant::Int(to.normalize(result as i64)));
    }
    let is_number = match to {
        Type::F64 => !f64::from_bits(result).is_nan(),
        Type::F32 => !f32::from_bits(result as u32).is_nan(),
        Type::F16 => result & 0x7fff <= 0x7c00,
        Type::BF16 => result & 0x7fff <= 0x7f80,
        _ => false,
    };
    is_number.then_some(Constant::Float(result))
}

/// An operation of the PTX tables whose result depends on its operands alone.
fn table_operation(
    data: &PtxData,
    args: &[Value],
    to: Type,
    ty: impl Fn(Value) -> Type,
    constant: impl Fn(Value) -> Option<Constant>,
) -> Option<Constant> {
    if data.traits() != Traits::NONE {
        return None;
    }
    let mut args = args.iter();
    let mut next = || {
        let arg = *args.next()?;
        bits(ty(arg), constant(arg)?)
    };
    /// An operand: its bits, or a number that is rounded to the operand's width.
    enum Operand {
        Bits(u128),
        Double(f64),
    }
    let mut operands: SmallVec<[Operand; 5]> = SmallVec::new();
    let mut selection = Selection::default();
    for operand in &data.operands {
        let place = operands.len();
        operands.push(match *operand {
            PtxOperand::Value => Operand::Bits(next()?),
            PtxOperand::Not => Operand::Bits(next()? ^ 1),
            PtxOperand::Neg => {
                *selection.negated.get_mut(place)? = true;
                Operand::Bits(next()?)
            }
            PtxOperand::Part(part) => {
                let selector = Some(Selector::from_name(part.name())?);
                match place {
                    0 => selection.a = selector,
                    1 => selection.b = selector,
                    _ => return None,
                }
                Operand::Bits(next()?)
            }
            PtxOperand::Destination(part) => {
                selection.d = Some(Selector::from_name(part.name())?);
                continue;
            }
            PtxOperand::Int(value) => Operand::Bits(value as u128),
            PtxOperand::F32(bits) => Operand::Bits(bits.into()),
            PtxOperand::F64(bits) => Operand::Double(f64::from_bits(bits)),
            PtxOperand::Decimal(value) => Operand::Double(value),
            // The elements follow.
            PtxOperand::Vector(_) => continue,
            PtxOperand::Address(_)
            | PtxOperand::GlobalAddress(..)
            | PtxOperand::Global(_)
            | PtxOperand::Func(_)
            | PtxOperand::Bracket(_)
            | PtxOperand::Sink => return None,
        });
    }
    let plan =
        plan(data.instruction()?, &Written { destination_bits: to.bits(), selection, ..Written::default() })?;
    let values: SmallVec<[u128; 5]> = (operands.iter().zip(plan.sources()))
        .map(|(operand, width)| match *operand {
            Operand::Bits(bits) => bits,
            Operand::Double(value) if *width == Width::W64 => value.to_bits().into(),
            Operand::Double(value) => (value as f32).to_bits().into(),
        })
        .collect();
    (values.len() == operands.len()).then(|| evaluate(&plan, &values, to)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Opcode::*;
    use std::vec::Vec;
    use warpsmith_ir::{FloatCC, IntCC};

    fn args() -> [Value; 2] {
        [Value::from_u32(0), Value::from_u32(1)]
    }

    fn computed(data: InstData, operands: &[(Type, Constant)], to: Type) -> Option<Constant> {
        let types: Vec<Type> = operands.iter().map(|(ty, _)| *ty).collect();
        let values: Vec<u128> = operands.iter().map(|(ty, c)| bits(*ty, *c).unwrap()).collect();
        let planned = evaluate(&meaning::plan(&data, &types, to).unwrap(), &values, to);
        let swapped: Vec<(Constant, Type)> = operands.iter().map(|(ty, c)| (*c, *ty)).collect();
        assert_eq!(super::computed(&data, &swapped, to), planned);
        planned
    }

    fn int(constant: Option<Constant>) -> Option<i64> {
        match constant? {
            Constant::Int(value) => Some(value),
            Constant::Float(_) => panic!("a float"),
        }
    }

    fn float(constant: Option<Constant>) -> Option<u64> {
        match constant? {
            Constant::Float(bits) => Some(bits),
            Constant::Int(_) => panic!("an integer"),
        }
    }

    fn shift(op: Opcode, ty: Type, a: i64, b: i64) -> Option<i64> {
        let operands = [(ty, Constant::Int(a)), (Type::I32, Constant::Int(b))];
        int(computed(InstData::Binary { op, args: args() }, &operands, ty))
    }

    fn int_binary(op: Opcode, ty: Type, a: i64, b: i64) -> Option<i64> {
        let operands = [(ty, Constant::Int(a)), (ty, Constant::Int(b))];
        int(computed(InstData::Binary { op, args: args() }, &operands, ty))
    }

    fn int_unary(op: Opcode, ty: Type, a: i64) -> Option<i64> {
        int(computed(InstData::Unary { op, arg: args()[0] }, &[(ty, Constant::Int(a))], ty))
    }

    fn int_compare(cond: IntCC, ty: Type, a: i64, b: i64) -> bool {
        let operands = [(ty, Constant::Int(a)), (ty, Constant::Int(b))];
        int(computed(InstData::IntCompare { cond, args: args() }, &operands, Type::I1)) == Some(1)
    }

    fn convert(op: Opcode, from: Type, to: Type, constant: Constant) -> Option<Constant> {
        computed(InstData::Unary { op, arg: args()[0] }, &[(from, constant)], to)
    }

    fn float_binary(op: Opcode, ty: Type, a: u64, b: u64) -> Option<u64> {
        let operands = [(ty, Constant::Float(a)), (ty, Constant::Float(b))];
        float(computed(InstData::Binary { op, args: args() }, &operands, ty))
    }

    fn fma(ty: Type, a: u64, b: u64, c: u64) -> Option<u64> {
        let args = [0, 1, 2].map(Value::from_u32);
        let operands = [a, b, c].map(|bits| (ty, Constant::Float(bits)));
        float(computed(InstData::Ternary { op: Fma, args }, &operands, ty))
    }

    fn float_compare(cond: FloatCC, ty: Type, a: u64, b: u64) -> Option<bool> {
        let operands = [(ty, Constant::Float(a)), (ty, Constant::Float(b))];
        int(computed(InstData::FloatCompare { cond, args: args() }, &operands, Type::I1))
            .map(|value| value != 0)
    }

    /// What the one `ptx.*` operation of a function gives for constants as its operands.
    fn table(text: &str) -> Option<Constant> {
        let module =
            warpsmith_ir::parse_module(format!("kernel @k() {{\nentry:\n{text}\n  ret\n}}")).unwrap();
        let func = module.functions.values().next().unwrap();
        let known = |value: Value| match func.dfg[func.dfg.def_inst(value)?] {
            InstData::IntConst { value } => Some(Constant::Int(value)),
            InstData::FloatConst { bits } => Some(Constant::Float(bits)),
            _ => None,
        };
        let block = func.layout.entry().unwrap();
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            if matches!(func.dfg[inst], InstData::Ptx { .. }) {
                return instruction(func, inst, known);
            }
            next = func.layout.next_inst(inst);
        }
        panic!("no operation of the tables")
    }

    #[test]
    fn operations_of_the_tables_fold_as_they_run() {
        let cases = [
            ("%a = iconst.i32 0xff00\n%d = ptx.bfe.u32 %a, 4, 8", Some(Constant::Int(0xf0))),
            ("%a = iconst.i32 7\n%d = ptx.bfind.u32 %a", Some(Constant::Int(2))),
            ("%a = iconst.i32 -1\n%d = ptx.vadd.u32.u32.u32 %a:b0, %a:h1", Some(Constant::Int(0x1_00fe))),
            ("%a = fconst.f32 1.5\n%d = ptx.add.rz.f32 %a, 2.25", Some(Constant::Float(0x4070_0000))),
            ("%a = fconst.f32 1.5\n%d = ptx.min.f32 %a, %a", Some(Constant::Float(0x3fc0_0000))),
            ("%a = fconst.f32 -1.0\n%d = ptx.sqrt.approx.f32 %a", None),
        ];
        for (text, expected) in cases {
            assert_eq!(table(text), expected, "{text}");
        }
    }

    #[test]
    fn narrow_integers_wrap_and_clamp() {
        assert_eq!(int_binary(Iadd, Type::I8, 127, 1), Some(-128));
        assert_eq!(int_binary(Udiv, Type::I8, -1, 2), Some(127));
        assert_eq!(int_binary(Sdiv, Type::I8, -128, -1), Some(-128));
        assert_eq!(int_binary(Sdiv, Type::I64, i64::MIN, -1), Some(i64::MIN));
        assert_eq!(int_binary(Udiv, Type::I32, 5, 0), Some(-1));
        assert_eq!(int_binary(Urem, Type::I32, 5, 0), Some(-1));
        assert_eq!(int_binary(Srem, Type::I16, -5, 0), Some(-1));
        assert_eq!(int_binary(Umulhi, Type::I8, -1, -1), Some(-2));
        assert_eq!(int_binary(Smulhi, Type::I16, -32768, -32768), Some(16384));
        assert_eq!(shift(Shl, Type::I8, 1, 8), Some(0));
        assert_eq!(shift(Lshr, Type::I64, -1, 64), Some(0));
        assert_eq!(shift(Ashr, Type::I32, -8, 100), Some(-1));
        assert_eq!(shift(Shl, Type::I32, 1, -1), Some(0));
        assert_eq!(shift(Rotl, Type::I8, 0x41, 9), Some(-126));
        assert_eq!(shift(Rotr, Type::I64, 1, 64), Some(1));
        assert_eq!(shift(Rotr, Type::I32, 1, 1), Some(i64::from(i32::MIN)));
    }

    #[test]
    fn counts_know_the_width() {
        assert_eq!(int_unary(Clz, Type::I8, 1), Some(7));
        assert_eq!(int_unary(Clz, Type::I64, 0), Some(64));
        assert_eq!(int_unary(Ctz, Type::I16, 0), Some(16));
        assert_eq!(int_unary(Bitrev, Type::I8, 1), Some(-128));
        assert_eq!(int_unary(Popcnt, Type::I8, -1), Some(8));
        assert_eq!(int_unary(Iabs, Type::I32, i64::from(i32::MIN)), Some(i64::from(i32::MIN)));
    }

    #[test]
    fn one_bit_is_minus_one_when_signed() {
        assert!(int_compare(IntCC::Slt, Type::I1, 1, 0));
        assert!(int_compare(IntCC::Ult, Type::I1, 0, 1));
        assert_eq!(convert(Sext, Type::I1, Type::I32, Constant::Int(1)), Some(Constant::Int(-1)));
        assert_eq!(convert(Zext, Type::I8, Type::I32, Constant::Int(-1)), Some(Constant::Int(255)));
    }

    #[test]
    fn floats_fold_as_they_run() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(float_binary(Fadd, Type::F32, bits(0.1), bits(0.2)), Some(bits(0.1 + 0.2)));
        assert_eq!(float_binary(Fdiv, Type::F32, bits(0.0), bits(0.0)), None);
        assert_eq!(float_binary(Fmin, Type::F32, bits(0.0), bits(-0.0)), Some(bits(-0.0)));
        assert_eq!(float_binary(Fmax, Type::F32, bits(-0.0), bits(0.0)), Some(bits(0.0)));
        let odd = 1.0 + f32::EPSILON;
        assert_eq!(fma(Type::F32, bits(odd), bits(odd), bits(-1.0)), Some(bits(odd.mul_add(odd, -1.0))));
        let to_int = |op, to, x: f32| convert(op, Type::F32, to, Constant::Float(bits(x)));
        assert_eq!(to_int(Fptosi, Type::I8, 300.0), Some(Constant::Int(127)));
        assert_eq!(to_int(Fptoui, Type::I32, -1.5), Some(Constant::Int(0)));
        assert_eq!(to_int(Fptoui, Type::I64, 1e30), Some(Constant::Int(-1)));
        assert_eq!(to_int(Fptosi, Type::I32, f32::NAN), Some(Constant::Int(0)));
        assert_eq!(float_compare(FloatCC::Neu, Type::F32, bits(f32::NAN), bits(1.0)), Some(true));
        assert_eq!(float_compare(FloatCC::Ne, Type::F32, bits(f32::NAN), bits(1.0)), Some(false));
    }
}
