//! Every form of the tables whose operation computes has a plan, with every alternative of every modifier beside every other, and the
//! plan takes the operands that the form has.

use warpsmith_isa::sample::{Arg, Sample, pairs_of_form};
use warpsmith_isa::{Instruction, Opcode, Operation, Rounding, ScalarType, Target, forms};
use warpsmith_semantics::{Meaning, Width, Written, plan};

/// The types of an argument's registers, the elements of vectors and pairs one by one; `None` for what is not a register.
fn types(arg: &Arg) -> Vec<Option<ScalarType>> {
    match arg {
        Arg::Reg(ty) | Arg::Not(ty) | Arg::Neg(ty) | Arg::Part(ty, _) => vec![Some(*ty)],
        Arg::Vector(elements) => elements.iter().flat_map(types).collect(),
        Arg::Pair(pair) => pair.iter().flat_map(types).collect(),
        _ => vec![None],
    }
}

/// True if a plan that reads or writes these widths is given registers of these types: predicates for predicates, and for a width of
/// 64 bits no narrower ones. (A conversion may be given wider ones.)
fn fit(widths: &[Width], types: &[Option<ScalarType>]) -> bool {
    let fits = |width: &Width, ty: &Option<ScalarType>| match (width, ty) {
        (_, None) => true,
        (Width::Pred, Some(ty)) => *ty == ScalarType::Pred,
        (Width::W32, Some(ty)) => *ty != ScalarType::Pred,
        (Width::W64 | Width::W128, Some(ty)) => ty.bits() >= width.bits(),
    };
    widths.len() == types.len() && widths.iter().zip(types).all(|(width, ty)| fits(width, ty))
}

fn resolved(sample: &Sample) -> Instruction {
    let form = forms(&sample.mnemonic).find(|i| std::ptr::eq(i.form(), sample.form));
    form.and_then(|i| i.with_operand_count(sample.operands.len()))
        .expect("a sample is an instance of its form")
}

/// True for what ptxas takes and the manual has no meaning for: of bf16, `fma` with another rounding than to nearest, which ptxas makes
/// code for f16 of; and `testp` without a property.
fn means_nothing(instruction: &Instruction) -> bool {
    match instruction.operation() {
        Operation::FmaHalf => instruction.rounding() != Some(Rounding::Nearest),
        Operation::Testp => instruction.number_class().is_none(),
        _ => false,
    }
}

#[test]
fn every_form_that_computes_has_a_plan() {
    let (mut wrong, mut planned, mut computed) = (Vec::new(), 0, 0);
    for form in Opcode::all().flat_map(Opcode::forms) {
        if !matches!(Meaning::of(form.operation), Meaning::Computes(_)) {
            continue;
        }
        computed += 1;
        for sample in pairs_of_form(form, Target::sm(50)) {
            let text = format!("{} of `{}`", sample.mnemonic, form.usage());
            let instruction = resolved(&sample);
            if matches!(Meaning::of_instruction(&instruction), Meaning::Refused(_)) {
                continue;
            }
            let plan = plan(&instruction, &Written::default());
            let Some(plan) = plan else {
                if !means_nothing(&instruction) {
                    wrong.push(format!("{text} has no plan"));
                }
                continue;
            };
            if means_nothing(&instruction) {
                wrong.push(format!("{text} has a plan"));
            }
            planned += 1;
            let (dst, src) = sample.operands.split_at(sample.destinations);
            let (dst, src): (Vec<_>, Vec<_>) =
                (dst.iter().flat_map(types).collect(), src.iter().flat_map(types).collect());
            // A second predicate may be left out, and the result of a conversion fills a wider register.
            let conversion = form.opcode == Opcode::Cvt;
            let written = &plan.destinations()[..dst.len().min(plan.destinations().len())];
            if !fit(plan.sources(), &src) || !(conversion || fit(written, &dst)) {
                wrong.push(format!("{text} takes {dst:?} and {src:?}, its plan {plan:?}"));
            }
        }
    }
    assert!(computed > 200 && planned > 3000, "{computed} forms and {planned} plans are too few");
    assert!(wrong.is_empty(), "{} of {planned}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_effect_has_no_plan() {
    for form in Opcode::all().flat_map(Opcode::forms) {
        if matches!(Meaning::of(form.operation), Meaning::Computes(_)) {
            continue;
        }
        for sample in pairs_of_form(form, Target::sm(50)).into_iter().take(1) {
            assert!(plan(&resolved(&sample), &Written::default()).is_none(), "{}", sample.mnemonic);
        }
    }
}
