//! Functions called from Rust, their faults, and what is refused.

use warpsmith_ir::Module;
use warpsmith_native::{FaultKind, Function, Limits};

fn module(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn values_of_every_type_pass_through() {
    let module = module(
        "func @mixed(%a: i1, %b: i8, %c: i128, %d: f32, %e: f64) -> i1, i8, i128, f32, f64 {
         entry:
           %n = bnot %a
           %x = ineg %b
           %y = iadd %c, 1
           %z = fneg %d
           %w = fadd %e, %e
           ret %n, %x, %y, %z, %w
         }",
    );
    type Mixed = (bool, i8, u128, f32, f64);
    let mixed = Function::<Mixed, Mixed>::compile(&module, "mixed").unwrap();
    assert_eq!(mixed.call((true, 5, u64::MAX.into(), 1.5, 2.25)), Ok((false, -5, 1 << 64, -1.5, 4.5)));
    assert!(mixed.shared().is_empty());
}

#[test]
fn calls_recursion_memory_and_switches() {
    let module = module(
        "const @weights: [i32; 4] = [1, 10, 100, 1000]
         func @fib(%n: i32) -> i64 {
         entry:
           %small = icmp ult %n, 2
           brif %small, base, more
         base:
           %r = zext.i64 %n
           ret %r
         more:
           %a = isub %n, 1
           %b = isub %n, 2
           %x = call @fib(%a)
           %y = call @fib(%b)
           %s = iadd %x, %y
           ret %s
         }
         func @weigh(%n: i32) -> i32 {
           stack %room: 16 align 16
         entry:
           %table = global_addr @weights
           %i = band %n, 3
           %p = index %table, %i, 4
           %w = load.i32 %p
           %q = stack_addr %room + 8
           store %w, %q
           switch %n, other, [0: zero, 3: three]
         zero:
           ret 7
         three:
           %back = load.i32 %q
           ret %back
         other:
           ret -1
         }",
    );
    let fib = Function::<(u32,), u64>::compile(&module, "fib").unwrap();
    assert_eq!(fib.call((20,)), Ok(6765));
    let weigh = Function::<(i32,), i32>::compile(&module, "weigh").unwrap();
    assert_eq!([0, 1, 3].map(|n| weigh.call((n,))), [Ok(7), Ok(-1), Ok(1000)]);
}

#[test]
fn nothing_a_function_does_hurts_the_host() {
    let module = module(
        "func @spin() {
         entry:
           jump entry2
         entry2:
           jump entry2
         }
         func @deep(%n: i64) -> i64 {
         entry:
           %m = iadd %n, 1
           %r = call @deep(%m)
           ret %r
         }
         func @reach(%at: i64) -> i32 {
           stack %room: 8 align 8
         entry:
           %p = stack_addr %room
           %q = ptradd %p, %at
           %x = load.i32 %q
           ret %x
         }
         func @anywhere(%at: i64) -> i32 {
         entry:
           %p = inttoptr.ptr %at
           store.i32 0, %p
           ret 0
         }
         func @jump(%to: i64) -> i32 {
         entry:
           %f = func_addr @target
           %a = ptrtoint %f
           %b = iadd %a, %to
           %g = inttoptr.ptr %b
           %x = call_indirect.i32 %g(%to)
           ret %x
         }
         func @target(%x: i64) -> i32 {
         entry:
           ret 5
         }
         func @trap() { 
         entry:
           trap
         }",
    );
    let kind = |fault: Result<i32, warpsmith_native::Fault>| fault.map_err(|fault| fault.kind);
    let spin = Function::<(), ()>::compile(&module, "spin").unwrap();
    let mut limits = Limits::default();
    limits.rounds = 1000;
    let fault = spin.with_limits(limits).call(()).unwrap_err();
    assert_eq!((fault.kind, fault.function.as_str()), (FaultKind::StepLimit, "spin"));
    let deep = Function::<(i64,), i64>::compile(&module, "deep").unwrap();
    assert_eq!(deep.call((0,)).unwrap_err().kind, FaultKind::StackOverflow);
    let reach = Function::<(i64,), i32>::compile(&module, "reach").unwrap();
    assert!(reach.call((4,)).is_ok());
    for at in [1 << 20, -8, i64::MIN, i64::MAX - 7, 64 << 10] {
        assert_eq!(kind(reach.call((at & !3,))), Err(FaultKind::OutOfBounds), "{at}");
    }
    assert_eq!(kind(reach.call((2,))), Err(FaultKind::Misaligned));
    let anywhere = Function::<(i64,), i32>::compile(&module, "anywhere").unwrap();
    for at in [0, 4, -4, 1 << 40, 1 << 47, i64::MIN] {
        assert_eq!(kind(anywhere.call((at,))), Err(FaultKind::OutOfBounds), "{at:#x}");
    }
    let jump = Function::<(i64,), i32>::compile(&module, "jump").unwrap();
    assert_eq!(kind(jump.call((0,))), Ok(5));
    assert_eq!(kind(jump.call((16,))), Err(FaultKind::BadCall));
    let trap = Function::<(), ()>::compile(&module, "trap").unwrap();
    assert_eq!(trap.call(()).unwrap_err().kind, FaultKind::Trap);
}

#[test]
fn what_is_not_compiled_is_refused_by_name() {
    let module = module(
        "func @votes(%c: i1) -> i1 {
         entry:
           %x = vote any %c, -1
           ret %x
         }",
    );
    let errors = Function::<(bool,), bool>::compile(&module, "votes").unwrap_err();
    assert_eq!(errors[0].code, "N0002");
    assert!(errors[0].message.contains("vote"), "{errors}");
    let errors = Function::<(u32,), bool>::compile(&module, "votes").unwrap_err();
    assert_eq!(errors[0].code, "N0004");
    let errors = Function::<(u32,), bool>::compile(&module, "quotes").unwrap_err();
    assert_eq!(errors[0].code, "N0003");
}
