//! Types of operands and results, from the table.

use super::Verifier;
use super::flow::count;
use crate::entities::{Inst, Value};
use crate::inst::InstData;
use crate::ops::{OpInfo, Opcode, OperandRule, ResultRule, TypeSet};
use crate::types::Type;
use warpsmith_diag::nearest;

impl<'a> Verifier<'a> {
    pub(super) fn inst(&mut self, inst: Inst) {
        let func = self.func;
        let data = &func.dfg[inst];
        if let InstData::Ptx { data, .. } = data {
            self.ptx(inst, &func.dfg.ptx[*data]);
            return;
        }
        let op = data.opcode();
        let info = op.info();
        let args = func.dfg.args(inst);
        let result = func.dfg.first_result(inst).map(|value| func.dfg.ty(value));
        let Some(t) = self.controlling_type(inst, info, args, result) else { return };
        if !self.type_is_allowed(inst, op, t) {
            return;
        }
        for (n, (&arg, &rule)) in args.iter().zip(info.operands).enumerate() {
            self.operand(inst, op, n, arg, rule, t);
        }
        self.results(inst, op, t, result);
        self.value_sizes(inst);
        self.specific(inst, data, t, result);
    }

    /// What `T` is: the type of the first operand that has the rule, else of the result.
    fn controlling_type(
        &mut self,
        inst: Inst,
        info: &OpInfo,
        args: &[Value],
        result: Option<Type>,
    ) -> Option<Type> {
        let of_operand =
            info.operands.iter().position(|rule| matches!(rule, OperandRule::T | OperandRule::Elements));
        let t = match of_operand.and_then(|n| args.get(n)) {
            Some(value) => self.func.dfg.ty(*value),
            None => result.unwrap_or(Type::INVALID),
        };
        // No result, as `jump` has none, leaves T open; a value without a type is another matter.
        if t.is_invalid() && (of_operand.is_some() || result.is_some()) {
            let what =
                args.first().filter(|_| of_operand.is_some()).map_or("the result".into(), |v| self.name(*v));
            self.inst_error(inst, "I0400", format!("{what} has no type"));
            return None;
        }
        Some(t)
    }

    fn type_is_allowed(&mut self, inst: Inst, op: Opcode, t: Type) -> bool {
        let set = op.info().types;
        if set == TypeSet::Any || set.contains(t) {
            return true;
        }
        if t.is_aggregate() {
            let message = format!("`{op}` takes {}, not {}", set.describe(), self.module.types.display(t));
            let note = "`extract_value` takes a struct or array apart";
            self.inst_error(inst, "I0401", message).notes.push(note.into());
            return false;
        }
        let message = format!("`{op}` takes {}, not {t}", set.describe());
        let sibling = sibling(op, t).map(|other| format!("did you mean `{other}`?"));
        self.inst_error(inst, "I0401", message).notes.extend(sibling);
        false
    }

    fn operand(&mut self, inst: Inst, op: Opcode, n: usize, arg: Value, rule: OperandRule, t: Type) {
        let ty = self.func.dfg.ty(arg);
        let wanted = match rule {
            OperandRule::T if ty == t => return,
            OperandRule::T => self.module.types.display(t).to_string(),
            OperandRule::I1 if ty == Type::I1 => return,
            OperandRule::I1 => "i1".into(),
            OperandRule::I8 if ty == Type::I8 => return,
            OperandRule::I8 => "i8".into(),
            OperandRule::I32 if ty == Type::I32 => return,
            OperandRule::I32 => "i32".into(),
            OperandRule::Bools | OperandRule::Amount => {
                let one = if rule == OperandRule::Bools { Type::I1 } else { Type::I32 };
                let each = t.with_element(one.element());
                if ty == one || Some(ty) == each {
                    return;
                }
                each.filter(|each| *each != one).map_or(one.to_string(), |each| format!("{one} or {each}"))
            }
            OperandRule::I64 if ty == Type::I64 => return,
            OperandRule::I64 => "i64".into(),
            OperandRule::Offset if matches!(ty, Type::I32 | Type::I64) => return,
            OperandRule::Offset => "i32 or i64".into(),
            OperandRule::Aggregate if ty.is_aggregate() => return,
            OperandRule::Aggregate => "a struct or array".into(),
            OperandRule::Ptr if ty.is_ptr() => return,
            OperandRule::Ptr => "a pointer".into(),
            OperandRule::Element if ty == t.element_type() => return,
            OperandRule::Element => t.element_type().to_string(),
            // Lists are compared with what they are for, not with the table.
            OperandRule::Elements
            | OperandRule::Fields
            | OperandRule::Arguments
            | OperandRule::OfTable
            | OperandRule::ReturnValue => return,
        };
        let name = self.name(arg);
        let shown = self.module.types.display(ty);
        let message = format!("operand {} of `{op}` must be {wanted}; {name} is {shown}", n + 1);
        let (span, text) = self.definition(arg);
        let note = conversion(ty, &wanted);
        let error = self.inst_error(inst, "I0402", message);
        error.notes.extend(note);
        if !span.is_none() {
            error.labels.push((span, text));
        }
    }

    fn results(&mut self, inst: Inst, op: Opcode, t: Type, result: Option<Type>) {
        let func = self.func;
        let data = &func.dfg[inst];
        let rule = op.info().result;
        let found = func.dfg.results(inst).len();
        if !matches!(rule, ResultRule::OfCallee | ResultRule::OfCall) {
            let expected = rule.count();
            if found != expected {
                self.inst_error(
                    inst,
                    "I0410",
                    format!("`{op}` gives {}, not {found}", count(expected, "result")),
                );
                return;
            }
        }
        let Some(ty) = result else { return };
        let fits = match rule {
            ResultRule::None | ResultRule::OfCallee | ResultRule::OfCall | ResultRule::OfTable => true,
            ResultRule::PtrOfGlobal => {
                let InstData::GlobalAddr { global, .. } = data else { return };
                let global = self.module.globals.get(*global);
                // One that does not exist is reported apart.
                global.is_none_or(|global| global.ptr_type() == ty)
            }
            ResultRule::T
            | ResultRule::Bools
            | ResultRule::I32
            | ResultRule::I64
            | ResultRule::Ptr
            | ResultRule::PtrLocal
            | ResultRule::VectorOf
            | ResultRule::Shuffled
            | ResultRule::Element
            | ResultRule::OfSreg => func.result_type(data, None) == Some(ty),
            ResultRule::TAndBools | ResultRule::I32AndI1 => {
                let types = func.dfg.results(inst).into_iter().map(|value| func.dfg.ty(value));
                func.result_types(data, None).into_iter().eq(types)
            }
            ResultRule::Suffix
            | ResultRule::WiderInt
            | ResultRule::NarrowerInt
            | ResultRule::WiderFloat
            | ResultRule::NarrowerFloat
            | ResultRule::ToInt
            | ResultRule::ToFloat
            | ResultRule::SameBits
            | ResultRule::VectorOfT
            | ResultRule::ToPtr => rule.allows(op.info().types, t, ty),
        };
        if fits {
            return;
        }
        if let (InstData::Vec { .. }, true) = (data, ty.is_invalid()) {
            let given = func.dfg.args(inst).len();
            self.inst_error(inst, "I0411", format!("a vector cannot have {given} elements of type {t}"))
                .notes
                .push(format!(
                    "a vector has 2 to {} elements: i1, i8 to i128, floats or pointers",
                    Type::MAX_LANES
                ));
            return;
        }
        let wanted = match rule {
            ResultRule::Suffix => op.info().types.describe().to_string(),
            ResultRule::WiderInt => format!("an integer wider than {t}"),
            ResultRule::NarrowerInt => format!("an integer narrower than {t}"),
            ResultRule::WiderFloat => format!("a float wider than {t}"),
            ResultRule::NarrowerFloat => format!("a float narrower than {t}"),
            ResultRule::ToInt => TypeSet::Int.describe().into(),
            ResultRule::ToFloat => TypeSet::Float.describe().into(),
            ResultRule::SameBits => format!("a type of {} bits, and no pointer", t.bits()),
            ResultRule::ToPtr => "a pointer".into(),
            ResultRule::PtrOfGlobal => "the pointer to the global's space".into(),
            ResultRule::VectorOfT => format!("a vector of {t}"),
            ResultRule::None
            | ResultRule::T
            | ResultRule::Bools
            | ResultRule::TAndBools
            | ResultRule::I32
            | ResultRule::I32AndI1
            | ResultRule::Shuffled
            | ResultRule::I64
            | ResultRule::Ptr
            | ResultRule::PtrLocal
            | ResultRule::VectorOf
            | ResultRule::Element
            | ResultRule::OfSreg
            | ResultRule::OfCallee
            | ResultRule::OfCall
            | ResultRule::OfTable => func.result_type(data, None).unwrap_or(Type::INVALID).to_string(),
        };
        self.inst_error(inst, "I0411", format!("the result of `{op}` must be {wanted}, not {ty}"));
    }
}

/// The operation that does to this type what another does to its own: `fadd` for `iadd` on floats.
#[expect(clippy::wildcard_enum_match_arm, reason = "a hint for those that are mixed up")]
fn sibling(op: Opcode, t: Type) -> Option<&'static str> {
    const PAIRS: [(&[Opcode], &[Opcode]); 9] = [
        (&[Opcode::Iadd], &[Opcode::Fadd]),
        (&[Opcode::Isub], &[Opcode::Fsub]),
        (&[Opcode::Imul], &[Opcode::Fmul]),
        (&[Opcode::Sdiv, Opcode::Udiv], &[Opcode::Fdiv]),
        (&[Opcode::Ineg], &[Opcode::Fneg]),
        (&[Opcode::Iabs], &[Opcode::Fabs]),
        (&[Opcode::Smin, Opcode::Umin], &[Opcode::Fmin]),
        (&[Opcode::Smax, Opcode::Umax], &[Opcode::Fmax]),
        (&[Opcode::Icmp], &[Opcode::Fcmp]),
    ];
    let found = PAIRS.iter().find_map(|(ints, floats)| {
        let other = if ints.contains(&op) {
            floats
        } else if floats.contains(&op) {
            ints
        } else {
            return None;
        };
        other.first()
    });
    let found = found.or(match op {
        Opcode::Iadd | Opcode::Isub if t.is_ptr() => Some(&Opcode::Ptradd),
        Opcode::Iconst => Some(&Opcode::Fconst),
        Opcode::Fconst => Some(&Opcode::Iconst),
        Opcode::Trunc => Some(&Opcode::Fptrunc),
        Opcode::Fptrunc => Some(&Opcode::Trunc),
        Opcode::Zext | Opcode::Sext => Some(&Opcode::Fpext),
        Opcode::Fpext => Some(&Opcode::Zext),
        _ => None,
    })?;
    let other = match op {
        Opcode::Iadd | Opcode::Isub if t.is_ptr() => Opcode::Ptradd,
        _ => *found,
    };
    other.info().types.contains(t).then(|| other.name())
}

/// The conversion that would make an operand fit.
fn conversion(ty: Type, wanted: &str) -> Option<String> {
    let to =
        Type::from_name(wanted).or_else(|| nearest(wanted, ["i32"].into_iter()).and_then(Type::from_name))?;
    if to == Type::I1 {
        return ty.is_int().then(|| "`icmp ne` with 0 makes a condition of it".into());
    }
    let op = match (ty.is_int(), to.is_int(), ty.is_float(), to.is_float()) {
        (true, true, ..) if ty.bits() > to.bits() => "trunc",
        (true, true, ..) => "zext.T` or `sext",
        (_, _, true, true) if ty.bits() > to.bits() => "fptrunc",
        (_, _, true, true) if ty.bits() < to.bits() => "fpext",
        (true, _, _, true) => "sitofp.T` or `uitofp",
        (_, true, true, _) => "fptosi.T` or `fptoui",
        _ if ty.is_ptr() && to.is_ptr() => "addrspacecast",
        _ if ty.is_ptr() && to == Type::I64 => return Some("`ptrtoint` gives the address".into()),
        _ => return None,
    };
    Some(format!("`{}.{to}` converts it", op.replace(".T", &format!(".{to}"))))
}
