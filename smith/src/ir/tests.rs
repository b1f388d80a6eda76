use super::*;
use warpsmith_ir::{Promise, parse, verify};

#[test]
fn generated_modules_are_valid() {
    arbtest::arbtest(|u| {
        let module = module(u, &Config::default())?;
        if let Err(errors) = verify(&module) {
            panic!("{module}\n{errors:#?}");
        }
        Ok(())
    });
}

#[test]
fn every_regular_operation_appears() {
    let mut seen = std::collections::HashSet::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..2000)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        let module = module(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        for func in module.functions.values() {
            for block in func.layout.blocks() {
                seen.extend(func.layout.insts(block).map(|inst| func.dfg.opcode(inst)));
            }
        }
    }
    let missing: Vec<&Opcode> = Opcode::ALL.iter().filter(|op| !seen.contains(op)).collect();
    use Opcode as O;
    // What is on its way together follows from the schedule; the others end a thread, or show addresses and text.
    let left_out = [O::Activemask, O::Printf, O::Malloc, O::Free, O::Unreachable, O::Trap];
    let missing: Vec<&Opcode> = missing.into_iter().filter(|op| !left_out.contains(op)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn printing_and_reading_gives_the_same_module() {
    arbtest::arbtest(|u| {
        let module = module(u, &Config::default())?;
        let text = module.to_string();
        let read = parse(&text);
        assert!(read.diagnostics.is_empty(), "{text}\n{:#?}", read.diagnostics);
        warpsmith_ir::same::assert_same(&module, &read.module);
        assert_eq!(read.module.to_string(), text);
        Ok(())
    });
}

#[test]
fn operations_of_which_something_is_promised_appear() {
    let mut promised = std::collections::HashSet::new();
    for seed in 0..200 {
        let bytes = crate::Random::new(seed).bytes(2000);
        let module = module(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        for func in module.functions.values() {
            for block in func.layout.blocks() {
                let insts = func.layout.insts(block).filter(|&inst| func.dfg.promised(inst));
                promised.extend(insts.map(|inst| func.dfg.opcode(inst)));
            }
        }
    }
    // `contract` is a mode until legalisation.
    let is_made = |promise| promise != Promise::Contract;
    let all: Vec<&Opcode> = Opcode::ALL.iter().filter(|op| op.promise().is_some_and(is_made)).collect();
    assert!(all.iter().all(|op| promised.contains(op)), "{promised:?}");
}

#[test]
fn functions_that_stay_functions_write_where_their_caller_says() {
    let (mut in_global, mut anywhere) = (0, 0);
    for seed in 0..300 {
        let bytes = crate::Random::new(seed).bytes(2000);
        let module = module(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        for func in module.functions.values().filter(|func| func.attrs.inline == Inline::Never) {
            let mut insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
            let takes = |ty: Type| func.params.iter().any(|param| param.ty == ty && param.byval.is_none());
            if insts.any(|inst| func.dfg.opcode(inst) == Opcode::Store) {
                in_global += u32::from(takes(Type::PTR_GLOBAL));
                anywhere += u32::from(takes(Type::PTR));
            }
        }
    }
    assert!(in_global > 5 && anywhere > 5, "{in_global} and {anywhere}");
}

/// Loops that go on while their counter, extended, has not come to a bound that the counter may never meet.
#[test]
fn counters_are_narrower_than_their_bounds() {
    let mut extended = std::collections::HashMap::new();
    for seed in 0..300 {
        let bytes = crate::Random::new(seed).bytes(2000);
        let module = module(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
        for func in module.functions.values() {
            let dfg = &func.dfg;
            let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
            for inst in insts {
                let InstData::IntCompare { args: [next, _], .. } = dfg[inst] else { continue };
                let Some(&InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg }) =
                    dfg.def_data(next)
                else {
                    continue;
                };
                let Some(&InstData::Binary { op: Opcode::Iadd, args: [count, _] }) = dfg.def_data(arg) else {
                    continue;
                };
                if matches!(dfg.def(count), warpsmith_ir::ValueDef::Param(..)) && dfg.ty(count) == Type::I32 {
                    *extended.entry(op).or_insert(0) += 1;
                }
            }
        }
    }
    assert!([Opcode::Sext, Opcode::Zext].iter().all(|op| extended.get(op) > Some(&10)), "{extended:?}");
}
