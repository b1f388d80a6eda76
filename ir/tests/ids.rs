//! References to what does not exist, or belongs to another function or module: the builder and the verifier report them, and never panic.

use arbitrary::{Result, Unstructured};
use warpsmith_ir::*;
use warpsmith_isa::StateSpace;

const TEXT: &str = "type Pair = {i8, [i32; 2]}\ntarget \"sm_80\"\nfile 0 \"a\"\nglobal @t: [i32; 4]\nglobal extern @i: texref\n\
    func @f(%a: i32, %s: byval(8, align 4)) -> i32 {\nstack %s: 16 align 8\nentry:\n  %b = iadd %a, 1 !0:1:2\n  %c = icmp eq %a, %b\n  brif %c, l(%b), m\n\
    l(%d: i32):\n  switch %d, m, [0: m, 1: l(%d)]\nm:\n  %p = stack_addr %s + 8\n  store %a, %p\n\
      %v = load.f32x4 %p\n  %e = extract %v, 1\n  %q = ptx.prmt.b32 %a, %b, 0x0123\n  %w = ptx.atom.global.add.u32 [@t], %q\n  %z = zero.Pair\n  %y = insert_value %z, %q, 1, 0\n  %x = extract_value.i32 %y, 1, 1\n  memcpy %p, %p, 8\n  %r = call @f(%x, %p)\n  ret %r\n}\n\
    kernel @k(%p: ptr<global>) {\nentry:\n  %f = func_addr @f\n  %t = global_addr @t\n  %x = load.i32 %t\n  store %x, %p\n  ret\n}\n";

fn module() -> Module {
    parse_module(TEXT.replace("%s: byval", "%bytes: byval")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// An index: of something that exists if there is a chance of it, just beyond, or far away.
fn any<E: EntityRef>(u: &mut Unstructured<'_>, count: usize) -> Result<E> {
    Ok(E::new(match u.int_in_range(0..=9u8)? {
        0 => count,
        1 => u32::MAX as usize - 1,
        2 => u.int_in_range(0..=1 << 20)?,
        _ => u.int_in_range(0..=count.max(1) - 1)?,
    }))
}

fn values(u: &mut Unstructured<'_>, func: &Function) -> Result<Vec<Value>> {
    (0..u.int_in_range(0..=4)?).map(|_| any(u, func.dfg.num_values())).collect()
}

fn any_type(u: &mut Unstructured<'_>) -> Result<Type> {
    let types = [
        Type::INVALID,
        Type::I1,
        Type::I8,
        Type::I32,
        Type::I64,
        Type::I128,
        Type::F16,
        Type::F32,
        Type::E2M1,
        Type::PTR,
        Type::PTR_PARAM,
        Type::aggregate(AggregateId::from_u32(u.int_in_range(0..=3)?)),
        Type::vector(Scalar::F32, 4).unwrap_or(Type::I8),
        Type::vector(Scalar::I8, 32).unwrap_or(Type::I8),
    ];
    u.choose(&types).copied()
}

/// An instruction of any operation, in a shape that fits it, on any operands.
fn any_inst(u: &mut Unstructured<'_>, func: &mut Function) -> Result<InstData> {
    let value = |u: &mut Unstructured<'_>, func: &Function| any::<Value>(u, func.dfg.num_values());
    let of = |u: &mut Unstructured<'_>, shapes: &[Shape]| -> Result<Opcode> {
        let fitting: Vec<Opcode> =
            Opcode::ALL.iter().copied().filter(|op| shapes.contains(&op.info().shape)).collect();
        u.choose(&fitting).copied()
    };
    let list = |u: &mut Unstructured<'_>, func: &mut Function| -> Result<ValueList> {
        let values = values(u, func)?;
        Ok(ValueList::from_slice(&values, &mut func.dfg.pool))
    };
    let path = |u: &mut Unstructured<'_>, func: &mut Function| -> Result<Path> {
        let steps = (0..u.int_in_range(0..=3)?).map(|_| u.int_in_range(0..=3)).collect::<Result<_>>()?;
        let made = func.dfg.paths.push(steps);
        if u.arbitrary()? { Ok(made) } else { any(u, func.dfg.paths.len()) }
    };
    let call = |u: &mut Unstructured<'_>, func: &mut Function| -> Result<BlockCall> {
        let (block, args) = (any(u, func.dfg.num_blocks())?, values(u, func)?);
        Ok(BlockCall::new(block, &args, &mut func.dfg.pool))
    };
    let two = |u: &mut Unstructured<'_>, func: &Function| Ok([value(u, func)?, value(u, func)?]);
    Ok(match u.int_in_range(0..=29)? {
        0 => InstData::IntConst { value: u.arbitrary()? },
        1 => InstData::FloatConst { bits: u.arbitrary()? },
        2 => InstData::Unary { op: of(u, &[Shape::Unary, Shape::Convert])?, arg: value(u, func)? },
        3 => InstData::Binary { op: of(u, &[Shape::Binary])?, args: two(u, func)? },
        4 => InstData::Ternary {
            op: of(u, &[Shape::Ternary])?,
            args: [value(u, func)?, value(u, func)?, value(u, func)?],
        },
        5 => InstData::IntCompare { cond: *u.choose(IntCC::ALL)?, args: two(u, func)? },
        6 => InstData::FloatCompare { cond: *u.choose(FloatCC::ALL)?, args: two(u, func)? },
        7 => InstData::Load { flags: MemFlags::PLAIN, offset: u.arbitrary()?, ptr: value(u, func)? },
        8 => InstData::Store { flags: MemFlags::PLAIN, offset: u.arbitrary()?, args: two(u, func)? },
        9 => InstData::Index { scale: u.arbitrary()?, args: two(u, func)? },
        10 => InstData::StackAddr { slot: any(u, func.stack_slots.len())?, offset: u.arbitrary()? },
        11 => InstData::GlobalAddr { global: any(u, 2)?, offset: u.arbitrary()? },
        12 => InstData::FuncAddr { func: any(u, 2)? },
        13 => InstData::Vec { args: list(u, func)? },
        14 => InstData::Extract { lane: u.arbitrary()?, arg: value(u, func)? },
        15 => InstData::Insert { lane: u.arbitrary()?, args: two(u, func)? },
        16 => InstData::Call { callee: any(u, 2)?, args: list(u, func)? },
        17 => InstData::CallIndirect { args: list(u, func)? },
        18 => {
            let operands = (0..u.int_in_range(0..=5)?).map(|_| any_operand(u)).collect::<Result<Vec<_>>>()?;
            let made = func.dfg.ptx.push(PtxData::new(mnemonic!("fma.rn.f32"), operands));
            let data = if u.arbitrary()? { made } else { any(u, func.dfg.ptx.len())? };
            InstData::Ptx { data, args: list(u, func)? }
        }
        19 => InstData::Jump { dest: call(u, func)? },
        20 => InstData::Brif { cond: value(u, func)?, dests: [call(u, func)?, call(u, func)?] },
        21 => {
            let data =
                JumpTableData { default: call(u, func)?, cases: vec![(u.arbitrary()?, call(u, func)?)] };
            let made = func.dfg.jump_tables.push(data);
            let table = if u.arbitrary()? { made } else { any(u, func.dfg.jump_tables.len())? };
            InstData::Switch { arg: value(u, func)?, table }
        }
        22 => InstData::Return { args: list(u, func)? },
        23 => InstData::Sreg { reg: Sreg::all().next().ok_or(arbitrary::Error::IncorrectFormat)? },
        24 => InstData::Zero,
        25 => InstData::Aggregate { args: list(u, func)? },
        26 => InstData::ExtractValue { path: path(u, func)?, arg: value(u, func)? },
        27 => InstData::InsertValue { path: path(u, func)?, args: two(u, func)? },
        28 => InstData::MemBlock {
            op: of(u, &[Shape::MemBlock])?,
            flags: MemFlags::PLAIN,
            source: MemFlags::PLAIN,
            args: [value(u, func)?, value(u, func)?, value(u, func)?],
        },
        _ => InstData::Trap,
    })
}

fn any_operand(u: &mut Unstructured<'_>) -> Result<PtxOperand> {
    Ok(match u.int_in_range(0..=11)? {
        0..=3 => PtxOperand::Value,
        4 => PtxOperand::Neg,
        5 => PtxOperand::Address(u.arbitrary()?),
        6 => PtxOperand::Global(any(u, 2)?),
        7 => PtxOperand::GlobalAddress(any(u, 2)?, u.arbitrary()?),
        8 => PtxOperand::Func(any(u, 2)?),
        9 => PtxOperand::Vector(u.arbitrary()?),
        10 => PtxOperand::Bracket(u.int_in_range(0..=5)?),
        _ => PtxOperand::Sink,
    })
}

/// Every error has a place: a span, or words that name function and instruction.
fn verified(module: &Module) {
    let Err(errors) = verify(module) else { return };
    for error in errors.iter() {
        let named = error.message.contains('@')
            || error.message.contains("of the module")
            || error.notes.iter().any(|note| note.contains('@'));
        assert!(!error.span.is_none() || named, "an error without a place: {error:?}");
    }
}

#[test]
fn the_verifier_takes_any_reference() {
    arbtest::arbtest(|u| {
        let mut module = module();
        let id = FuncId::from_u32(u.int_in_range(0..=1)?);
        let func = &mut module.functions[id];
        for _ in 0..u.int_in_range(1..=3)? {
            let data = any_inst(u, func)?;
            match u.int_in_range(0..=3)? {
                0 => {
                    let types =
                        (0..u.int_in_range(0..=2)?).map(|_| any_type(u)).collect::<Result<Vec<_>>>()?;
                    let inst = func.dfg.make_inst(data, &types);
                    let blocks: Vec<Block> = func.layout.blocks().collect();
                    func.layout.prepend_inst(inst, *u.choose(&blocks)?);
                }
                1 => {
                    let inst: Inst = any::<Inst>(u, func.dfg.num_insts())?;
                    if inst.index() < func.dfg.num_insts() {
                        func.dfg.replace_inst(inst, data);
                    }
                }
                2 => {
                    let inst = Inst::from_u32(u.int_in_range(0..=func.dfg.num_insts() as u32 - 1)?);
                    func.dfg.replace_inst(inst, data);
                    let loc = func.locs.push(LocData::new(any(u, 1)?, 1, 1));
                    func.inst_locs[inst] =
                        if u.arbitrary()? { loc } else { any::<Loc>(u, func.locs.len())? }.into();
                }
                _ => func.layout.append_block(Block::from_u32(u.int_in_range(0..=40)?)),
            }
        }
        if u.ratio(1, 8)? {
            module.order.push(if u.arbitrary()? {
                Symbol::Func(any(u, 2)?)
            } else {
                Symbol::Global(any(u, 2)?)
            });
        }
        verified(&module);
        Ok(())
    })
    .budget_ms(2_000);
}

#[test]
fn the_builder_takes_any_reference() {
    arbtest::arbtest(|u| {
        let mut module = module();
        let fresh = Function::new("g", FuncKind::Func, vec![Param::new(Type::I32)], vec![Type::I32]);
        let own = module.add_function(fresh);
        let id = if u.ratio(3, 4)? { own } else { any(u, 3)? };
        let mut b = FunctionBuilder::new(&mut module, id);
        for _ in 0..u.int_in_range(1..=12)? {
            let (blocks, count) = (b.func().dfg.num_blocks(), b.func().dfg.num_values());
            let block = any::<Block>(u, blocks)?;
            let (x, y): (Value, Value) = (any(u, count)?, any(u, count)?);
            let variable = any::<Variable>(u, 2)?;
            let ty = any_type(u)?;
            match u.int_in_range(0..=24)? {
                0 => drop(b.entry_block()),
                1 => drop(b.create_block()),
                2 => b.switch_to_block(block),
                3 => b.seal_block(block),
                4 => drop(b.append_block_param(block, ty)),
                5 => drop(b.block_params(block).to_vec()),
                6 => b.set_name(x, "x"),
                7 => b.set_name(block, "b"),
                8 => b.set_name(any::<StackSlot>(u, 1)?, "s"),
                9 => b.set_loc(Some(LocData::new(any(u, 1)?, 1, 1))),
                10 => drop(b.call(any(u, 3)?, &[x, y]).get(0)),
                11 => drop(b.global_addr(any(u, 2)?)),
                12 => drop(b.declare_var(ty)),
                13 => b.def_var(variable, x),
                14 => drop(b.use_var(variable)),
                15 => drop(b.ins().iadd(x, y)),
                16 => drop(b.ins().brif(x, block, &[y], block, &[])),
                17 => drop(b.ins().jump(block, &[x])),
                18 => {
                    let default = BlockCall { block, args: ValueList::new() };
                    b.ins().switch(x, default.clone(), vec![(1, default)]);
                }
                19 => drop(b.ins().vec(&[x, y, y])),
                20 => drop(b.ins().ptx_typed(mnemonic!("add.f32"), (x, y), &[ty])),
                21 => drop(b.ins().load(ty, MemFlags::PLAIN, x, 0)),
                22 => drop(b.ins().select(x, y, y)),
                23 => {
                    b.add_global(Global::new("late", StateSpace::Global, ty, Extent::One));
                    b.add_function(Function::new("later", FuncKind::Func, Vec::new(), vec![ty]));
                }
                _ => drop(b.ins().ret(&[x])),
            }
        }
        if let Err(errors) = b.finalize() {
            assert!(
                errors.iter().all(|error| error.message.contains('@') || error.message.contains("func")),
                "{errors:?}"
            );
        }
        verified(&module);
        Ok(())
    })
    .budget_ms(2_000);
}

#[test]
fn what_belongs_to_others_is_named() {
    let mut module = module();
    let g =
        module.add_function(Function::new("g", FuncKind::Func, vec![Param::new(Type::I32)], vec![Type::I32]));
    let mut b = FunctionBuilder::new(&mut module, g);
    let entry = b.entry_block();
    let n = b.block_params(entry)[0];
    let (foreign, block) = (Value::from_u32(77), Block::from_u32(88));
    let sum = b.ins().iadd(n, foreign);
    b.ins().jump(block, &[sum]);
    b.switch_to_block(block);
    b.switch_to_block(entry);
    let x = b.declare_var(Type::I32);
    b.def_var(x, foreign);
    b.call(FuncId::from_u32(9), &[n]);
    b.global_addr(GlobalId::from_u32(9));
    b.ins().ret(&[n]);
    let errors: Vec<String> = b.finalize().unwrap_err().iter().map(|error| error.to_string()).collect();
    let expected = expect_test::expect![[r#"
        error[I0035]: @g: `iadd` names v77, which the function does not have
        error[I0035]: @g: `jump` names block88, which the function does not have
        error[I0035]: @g: the function has no block88
        error[I0035]: @g: var0 is given v77, which the function does not have
        error[I0035]: @g: the module has no function func9
        error[I0035]: @g: the module has no global global9"#]];
    expected.assert_eq(&errors.join("\n"));
    // A function that has a body keeps it.
    let before = module.to_string();
    let mut b = FunctionBuilder::new(&mut module, FuncId::from_u32(0));
    b.entry_block();
    b.ins().trap();
    assert!(b.finalize().unwrap_err()[0].message.contains("`@f` has a body already"));
    assert_eq!(module.to_string(), before);
}

/// A body calls what is declared while it is built.
#[test]
fn functions_and_globals_are_added_while_a_body_is_built() {
    let mut module = Module::new();
    let params = vec![Param::new(Type::PTR_GLOBAL)];
    let id = module.add_function(Function::new("k", FuncKind::Kernel, params, Vec::new()));
    let mut b = FunctionBuilder::new(&mut module, id);
    let entry = b.entry_block();
    let p = b.block_params(entry)[0];
    let table = b.add_global(Global::new("table", StateSpace::Global, Type::I32, Extent::Array(4)));
    let mut helper =
        Function::new("helper", FuncKind::Func, vec![Param::new(Type::PTR_GLOBAL)], vec![Type::I32]);
    helper.linkage = Linkage::Extern;
    let helper = b.add_function(helper);
    let address = b.global_addr(table);
    let value = b.call(helper, &[address]).first();
    b.ins().store(MemFlags::PLAIN, value, p, 0);
    b.ins().ret(&[]);
    b.finalize().unwrap();
    verify(&module).unwrap();
    assert!(module.to_string().contains("call @helper(%v1)"), "{module}");
}
