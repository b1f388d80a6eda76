//! What verifies compiles: sizes, counts and names at the edge of what PTX takes either stop the verifier, at a place, or compile.

use arbitrary::Unstructured;
use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_ir::{
    self as ir, Extent, FuncKind, Function, FunctionBuilder, Global, InstBuilder, IntCC, LocData, MemFlags,
    Param, Type, verify,
};
use warpsmith_isa::{StateSpace, Target};

/// The first errors of the verifier, or nothing if the module compiles at all levels, as it then must.
fn outcome(module: &ir::Module, target: Target) -> Vec<String> {
    if let Err(errors) = verify(module) {
        return errors.iter().map(ToString::to_string).collect();
    }
    for level in [OptLevel::O0, OptLevel::O2] {
        let compiled = Compiler::new(target).with_opt_level(level).with_line_info(true).compile(module);
        if let Err(errors) = compiled {
            panic!("it verifies and does not compile at {level}: {}\n{errors:?}", summary(module));
        }
    }
    Vec::new()
}

fn summary(module: &ir::Module) -> String {
    module.to_string().chars().take(2000).collect()
}

fn parsed(text: &str) -> ir::Module {
    ir::parse_module(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn refused(text: &str, expected: &str) {
    let errors = outcome(&parsed(text), Target::sm(80));
    assert!(errors.first().is_some_and(|error| error.contains(expected)), "{errors:?}\nexpected {expected}");
    let errors = verify(&parsed(text)).unwrap_err();
    assert!(!errors[0].span.is_none() && !errors[0].notes.is_empty(), "{:?}", errors[0]);
}

fn taken(text: &str) {
    assert_eq!(outcome(&parsed(text), Target::sm(80)), [""; 0]);
}

const USE: &str = "kernel @k(%p: ptr<global>) {\nentry:\n  %a = global_addr @g\n  %v = ptrtoint %a\n  store %v, %p\n  ret\n}\n";

#[test]
fn variables_fit_their_memory() {
    taken(&format!("shared @g: [i8; 49152]\n{USE}"));
    refused(&format!("shared @g: [i8; 49153]\n{USE}"), "take 49153 bytes, 49152 at most");
    // Only what a kernel reaches counts, by calls and by addresses of functions.
    taken(&format!("shared @g: [i8; 40000]\nshared @h: [i8; 40000]\n{USE}"));
    let callee = "func @f() -> ptr<shared> {\nentry:\n  %a = global_addr @g\n  ret %a\n}\n";
    let direct = "kernel @k(%p: ptr<global>) {\nentry:\n  %a = call @f()\n  store %a, %p\n  ret\n}\n";
    let indirect = direct.replace("call @f()", "func_addr @f");
    for kernel in [direct, &indirect] {
        refused(&format!("shared @g: [i8; 49153]\n{callee}{kernel}"), "that kernel `@k` names take 49153");
    }
    taken(&format!("const @g: [i8; 65536]\n{USE}"));
    refused(&format!("const @g: [i8; 65537]\n{USE}"), "the constants of the module take 65537 bytes");
    taken(&format!("shared extern @g: [i32]\n{USE}"));
    taken(&format!("global @g: [i64; 1000000000000]\n{USE}"));
}

#[test]
fn parameters_fit_their_space() {
    let kernel = |n: usize| {
        let params: Vec<String> = (0..n).map(|i| format!("%x{i}: i32")).collect();
        format!("kernel @k({}) {{\nentry:\n  ret\n}}\n", params.join(", "))
    };
    taken(&kernel(1088));
    taken(&kernel(8191));
    refused(&kernel(8192), "the parameters of `@k` take 32768 bytes, 32764 at most");
    refused(&kernel(100_000), "the parameters of `@k` take 400000 bytes");
    refused(&format!("target \"sm_61\"\n{}", kernel(1089)), "take 4356 bytes, 4352 at most");
    taken("kernel @k(%s: byval(16, align 32768)) {\nentry:\n  ret\n}\n");
    refused(
        "kernel @k(%s: byval(16, align 65536)) {\nentry:\n  ret\n}\n",
        "parameter 0 of `@k` is more than 32768",
    );
    refused(
        "func export @f(%s: byval(4294967295, align 1)) {\nentry:\n  ret\n}\n",
        "the parameters of `@f` take 4294967295",
    );
    // What a function reads of it through an address is a copy, what a caller passes is copied.
    taken(
        "func @f(%s: byval(32764, align 4)) -> ptr {\nentry:\n  %a = addrspacecast.ptr %s\n  ret %a\n}\n\
         kernel @k(%p: ptr<global>) {\nentry:\n  %a = call @f(%p)\n  store %a, %p\n  ret\n}\n",
    );
    taken("func export @f(%s: byval(16, align 128)) {\nentry:\n  ret\n}\n");
    refused(
        "func export @f(%s: byval(16, align 256)) {\nentry:\n  ret\n}\n",
        "parameter 0 of `@f` is more than 128",
    );
}

#[test]
fn stack_slots_fit_local_memory() {
    let kernel = |slots: &str| {
        format!(
            "kernel @k(%p: ptr<global>) {{\n{slots}entry:\n  %a = stack_addr %s\n  %v = ptrtoint %a\n  store %v, %p\n  ret\n}}\n"
        )
    };
    taken(&kernel("stack %s: 524288 align 8\n"));
    refused(&kernel("stack %s: 524289 align 8\n"), "take 524289 bytes, 524288 at most");
    refused(&kernel("stack %s: 4294967295 align 8\n"), "take 4294967295 bytes");
    // ptxas 13.0 crashes at this alignment.
    refused(&kernel("stack %s: 16 align 1073741824\n"), "take 1073741824 bytes");
    refused(&kernel("stack %s: 262145\nstack %t: 262144\n"), "524288 at most");
}

#[test]
fn names_of_locals_do_not_meet() {
    // Dots are written otherwise, and names need not be unique: two ways for two slots to have one name.
    let text = "kernel @k(%p: ptr<global>) {\nstack %a.b: 8\nstack %a_$_b: 8\nentry:\n  %x = stack_addr %a.b\n  %y = stack_addr %a_$_b\n  %i = ptrtoint %x\n  %j = ptrtoint %y\n  store %i, %p\n  store %j, %p\n  ret\n}\n";
    taken(text);
    let mut module = parsed(text);
    let func = &mut module.functions[ir::FuncId::from_u32(0)];
    for slot in func.stack_slots.keys().collect::<Vec<_>>() {
        func.names.set(slot, "same");
    }
    assert_eq!(outcome(&module, Target::sm(80)), [""; 0]);
    // `__local` has the parameter `__local_param_0`, and a slot `param_0`.
    taken(
        "func export @__local(%x: i64) -> i64 {\nstack %param_0: 8\nentry:\n  %a = stack_addr %param_0\n  %v = ptrtoint %a\n  %r = iadd %v, %x\n  ret %r\n}\n",
    );
    // Labels and symbols: a call in a function with such a label.
    let text = "func @$L1(%x: i32) -> i32 noinline {\nentry:\n  ret %x\n}\nkernel @k(%p: ptr<global>, %c: i32) {\nentry:\n  %b = icmp eq %c, 0\n  brif %b, x, y\nx:\n  %r = call @$L1(%c)\n  store %r, %p\n  ret\ny:\n  store %c, %p\n  jump x\n}\n";
    taken(text);
    let compiled = Compiler::new(Target::sm(80)).compile(parsed(text)).unwrap();
    assert!(!compiled.text.contains("$L1:"), "{}", compiled.text);
}

#[test]
fn any_text_is_a_name() {
    let words = ["WARP_SZ", "function_name", "inlined_at"];
    let others = ["%tid", "%r0", "%", "_", "$", "", "a b", "1x", "a.b", "é", "a\0"];
    for name in words.into_iter().chain(others) {
        let mut module = ir::Module::new();
        let id = module.add_function(Function::new(name, FuncKind::Kernel, Vec::new(), Vec::new()));
        let mut b = FunctionBuilder::new(&mut module, id);
        b.entry_block();
        b.ins().ret(&[]);
        b.finalize().unwrap();
        let errors = outcome(&module, Target::sm(80));
        let refused = errors.iter().any(|error| error.contains("I0302"));
        assert_eq!((refused, errors.is_empty()), (name.is_empty(), !name.is_empty()), "`{name}`: {errors:?}");
    }
    // Everything else is a name: ptxas takes the names of instructions, types and directives.
    for name in ["add", "entry", "b32", "global", "_x", "$x", "main", "param0", "retval0", "true", "WARP_SZ_"]
    {
        taken(&format!("kernel @{name}(%x: i32) {{\nentry:\n  ret\n}}\n"));
    }
}

#[test]
fn tables_of_a_switch_are_split() {
    let cases = 5_000;
    let mut module = ir::Module::new();
    let params = vec![Param::new(Type::PTR_GLOBAL), Param::new(Type::I32)];
    let id = module.add_function(Function::new("k", FuncKind::Kernel, params, Vec::new()));
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let (p, x) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    let blocks: Vec<_> = (0..7).map(|_| b.create_block()).collect();
    let call = |block| ir::BlockCall { block, args: ir::ValueList::new() };
    let targets = (0..cases).map(|n| (n, call(blocks[n as usize % 6]))).collect();
    b.ins().switch(x, call(blocks[6]), targets);
    for (n, block) in blocks.iter().enumerate() {
        b.switch_to_block(*block);
        let number = b.ins().iconst(Type::I32, n as i64);
        let _ = b.ins().icmp(IntCC::Eq, number, x);
        b.ins().store(MemFlags::PLAIN, number, p, 0);
        b.ins().ret(&[]);
    }
    b.finalize().unwrap();
    let text = Compiler::new(Target::sm(80)).compile(&module).unwrap().text;
    let tables: Vec<usize> =
        text.lines().filter(|l| l.contains(".branchtargets")).map(|l| l.matches(',').count() + 1).collect();
    assert!(tables.len() >= 5 && tables.iter().all(|targets| *targets <= 1024), "{tables:?}");
    assert_eq!(tables.iter().sum::<usize>(), cases as usize, "every case is in a table");
}

/// Sizes, alignments and numbers near the edges of types and limits.
fn edge(u: &mut Unstructured<'_>) -> arbitrary::Result<u64> {
    let power = 1u64 << u.int_in_range(0..=63u32)?;
    Ok(match u.int_in_range(0..=4u8)? {
        0 => power,
        1 => power - 1,
        2 => power + 1,
        3 => u.int_in_range(0..=70_000u64)?,
        _ => u.int_in_range(0..=9u64)?,
    })
}

/// An alignment, most often a possible one.
fn alignment(u: &mut Unstructured<'_>) -> arbitrary::Result<u32> {
    let most = u.int_in_range(3..=31u32)?;
    Ok(if u.ratio(7, 8)? { 1 << u.int_in_range(0..=most)? } else { edge(u)? as u32 })
}

/// A name, most often a possible one.
fn any_name(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    const PARTS: [&str; 9] = ["k", "_", "$", "param_", "$L", "__local_", "0", "tid", "r"];
    const WRONG: [&str; 5] = ["%", ".", "WARP_SZ", " ", "é"];
    let parts: String =
        (0..u.int_in_range(0..=3)?).map(|_| u.choose(&PARTS).copied()).collect::<Result<_, _>>()?;
    Ok(match u.ratio(1, 16)? {
        true => parts + u.choose(&WRONG)?,
        false => format!("{}{parts}", u.choose(&["a", "b", "_x", "$", "__local"])?),
    })
}

/// A module of a kernel and a function that use variables, parameters and slots of any sizes, with any names.
fn any_module(u: &mut Unstructured<'_>) -> arbitrary::Result<ir::Module> {
    let mut module = ir::Module::new();
    let file =
        module.files.push(["a.c", "a\"b", "a\\b", "a\nb", "", "é"][u.int_in_range(0..=5)?].to_string());
    let mut globals = Vec::new();
    for _ in 0..u.int_in_range(0..=2)? {
        let space = *u.choose(&[StateSpace::Global, StateSpace::Const, StateSpace::Shared])?;
        let ty = *u.choose(&[Type::I8, Type::I32, Type::F64, Type::F16, Type::PTR])?;
        let extent = if u.arbitrary()? { Extent::Array(edge(u)?) } else { Extent::One };
        let mut global = Global::new(any_name(u)?, space, ty, extent);
        global.align = if u.arbitrary()? { Some(alignment(u)?) } else { None };
        globals.push(module.add_global(global));
    }
    for kind in [FuncKind::Func, FuncKind::Kernel] {
        let params = (0..u.int_in_range(0..=2)?).map(|_| match u.arbitrary()? {
            true => Ok(Param::byval(edge(u)? as u32, alignment(u)?)),
            false => Ok(Param::new(*u.choose(&[Type::I64, Type::I8, Type::F16, Type::PTR])?)),
        });
        let params = params.collect::<arbitrary::Result<_>>()?;
        let mut function = Function::new(any_name(u)?, kind, params, Vec::new());
        if kind == FuncKind::Kernel {
            function.attrs.maxnreg = if u.arbitrary()? { Some(edge(u)? as u32) } else { None };
            function.attrs.minnctapersm = if u.arbitrary()? { Some(edge(u)? as u32) } else { None };
            let sizes = [u.int_in_range(0..=1025)?, u.int_in_range(0..=2)?, u.int_in_range(0..=65)?];
            function.attrs.reqntid = if u.arbitrary()? { Some(sizes) } else { None };
        }
        let id = module.add_function(function);
        let mut b = FunctionBuilder::new(&mut module, id);
        b.entry_block();
        let line = edge(u)? as u32;
        b.set_loc(Some(LocData::new(file, line, edge(u)? as u32)));
        let offset = edge(u)? as i32;
        let zero = b.ins().iconst(Type::I64, 0);
        let at = b.ins().inttoptr(Type::PTR_GLOBAL, zero);
        for _ in 0..u.int_in_range(0..=2)? {
            let slot = b.create_stack_slot(edge(u)? as u32, alignment(u)?);
            b.set_name(slot, &any_name(u)?);
            let address = b.ins().stack_addr(slot, offset);
            b.ins().store(MemFlags::PLAIN, address, at, 0);
        }
        for &global in &globals {
            let ty = b.module().globals[global].ptr_type();
            let address = b.ins().global_addr(ty, global, offset);
            b.ins().store(MemFlags::PLAIN, address, at, 0);
        }
        b.ins().ret(&[]);
        b.finalize().expect("the builder was used as it should be");
    }
    Ok(module)
}

#[test]
fn any_sizes_and_names_verify_or_compile() {
    let mut compiled = 0;
    arbtest::arbtest(|u| {
        let module = any_module(u)?;
        let errors = outcome(&module, Target::sm(90));
        compiled += usize::from(errors.is_empty());
        Ok(())
    })
    .budget_ms(3_000);
    assert!(compiled > 20, "of the modules only {compiled} were sound");
}
