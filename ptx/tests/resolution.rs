//! What the validator resolves instructions to, form by form.

use warpsmith_isa::{Mod, Operation};
use warpsmith_ptx::{Stmt, ValidatedModule};

/// The instructions of a function body: their operations and the places of their operands.
fn resolved(version: &str, target: &str, body: &str) -> Vec<(Operation, String)> {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.func (.param .b32 r) g(.param .b32 x);\n.func h();\n\
         .func f() {{ .reg .b32 r<4>; .reg .b64 d<4>; .reg .b16 s<4>; .reg .pred p<4>; .param .b32 in; .param .b32 out;\n{body}\nret; }}"
    );
    let module = ValidatedModule::parse(&text).unwrap_or_else(|errors| panic!("{:?}", errors[0]));
    let body = module.functions().last().and_then(|function| function.body).expect("it has a body");
    let instructions = body.ids().filter(|stmt| matches!(module[*stmt], Stmt::Inst(_)));
    let mut all: Vec<_> = instructions
        .map(|stmt| {
            let instruction = module.instruction(stmt).expect("every instruction is resolved");
            let places: Vec<_> = instruction.places().map(|place| place.name).collect();
            (instruction.operation(), places.join(" "))
        })
        .collect();
    assert_eq!(all.pop().map(|(operation, _)| operation), Some(Operation::Ret));
    all
}

#[test]
fn optional_operands_are_told_apart() {
    let body = "bar.sync 1; bar.sync 1, 64; bar.red.popc.u32 r1, 1, p1; bar.red.popc.u32 r1, 1, 64, p1;\n\
                mbarrier.try_wait.b64 p1, [d1], d2; mbarrier.try_wait.b64 p1, [d1], d2, r1;";
    let found = resolved("8.0", "sm_90", body);
    let places: Vec<_> = found.iter().map(|(_, places)| places.as_str()).collect();
    assert_eq!(places, ["a", "a b", "d a c", "d a b c", "p a state", "p a state hint"]);
    assert_eq!(found[2].0, Operation::BarRed);
    assert_eq!(found[5].0, Operation::MbarrierTryWait);
}

/// What has been validated before is not validated again: in any order, and where other operands stand in between.
#[test]
fn repeated_statements_are_resolved_as_the_first() {
    let statements = [
        ("mbarrier.try_wait.b64 p1, [d1], d2;", "p a state"),
        ("mbarrier.try_wait.b64 p1, [d1], d2, r1;", "p a state hint"),
        ("bar.red.popc.u32 r1, 1, p1;", "d a c"),
        ("bar.red.popc.u32 r1, r2, p1;", "d a c"),
        ("bar.red.popc.u32 r1, r2, r3, p1;", "d a b c"),
        ("ld.shared.b32 r1, [d1];", "d a"),
        ("ld.shared.b32 r1, [d1+4];", "d a"),
    ];
    for rotation in 0..statements.len() {
        let mut order = statements.repeat(3);
        order.rotate_left(rotation);
        let body: Vec<_> = order.iter().map(|(statement, _)| *statement).collect();
        let found = resolved("8.0", "sm_90", &body.join("\n"));
        assert!(
            found.iter().map(|(_, places)| &**places).eq(order.iter().map(|(_, places)| *places)),
            "{found:?}"
        );
    }
}

#[test]
fn forms_are_told_apart_by_their_operands() {
    let body = "mov.b32 r1, r2; mov.b32 r1, {s1, s2}; mov.b32 {s1, s2}, r1; add.u32 r1, r2, r3; add.f32 r1, r2, r3;\n\
                add.cc.u32 r1, r2, r3; vote.sync.any.pred p1, p2, -1;";
    let operations: Vec<_> =
        resolved("8.0", "sm_90", body).into_iter().map(|(operation, _)| operation).collect();
    use Operation::*;
    assert_eq!(operations, [Mov, Mov, Mov, AddInteger, AddFloat, AddCarry, VoteSync]);
}

#[test]
fn calls_are_resolved_by_their_parts() {
    let body = "call h; call (out), g, (in); p: .callprototype _ (); call d1, p;";
    let places: Vec<_> = resolved("8.0", "sm_90", body).into_iter().map(|(_, places)| places).collect();
    assert_eq!(places, ["callee", "results callee arguments", "callee list"]);
}

#[test]
fn modifiers_are_read_by_kind_and_defaults_hold() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { .reg .b32 r; .reg .b64 d;\n\
                red.global.add.u32 [d], r; ld.acquire.sys.shared.u32 r, [d]; bar.arrive 1, 64; barrier.sync.aligned 1; ret; }";
    let module = ValidatedModule::parse(text).unwrap_or_else(|errors| panic!("{:?}", errors[0]));
    let body = module.functions().next().and_then(|function| function.body).expect("it has a body");
    let found: Vec<_> = body.ids().filter_map(|stmt| module.instruction(stmt)).collect();
    let [red, ld, arrive, sync, _] = found[..] else { panic!("{found:?}") };
    use warpsmith_isa::{Order, Scope, StateSpace, Traits};
    assert_eq!((red.order(), red.scope()), (Some(Order::Relaxed), Some(Scope::Gpu)));
    assert!(red.traits().contains(Traits::REDUCTION) && !red.has(Mod::Relaxed));
    assert_eq!(
        (ld.order(), ld.scope(), ld.space()),
        (Some(Order::Acquire), Some(Scope::Sys), StateSpace::Shared)
    );
    assert!(!arrive.traits().contains(Traits::WAIT) && arrive.is_aligned());
    assert!(sync.traits().contains(Traits::WAIT | Traits::ARRIVE) && sync.is_aligned());
}
