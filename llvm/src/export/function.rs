//! Functions: blocks, memory, calls, branches.

use super::types::{float, memory_type, name, space, splat};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use warpsmith_ir::{
    Attr, Block, BlockCall, Class, EntityRef, FastMath, FuncKind, Function, Inst, InstData, MemFlags, Module,
    Opcode, StackSlot, Type, Value,
};
use warpsmith_isa::StateSpace;

/// Nothing, or what is not written.
pub(super) type Written = Result<(), String>;

/// Writes one function.
pub(super) struct Writer<'a> {
    module: &'a Module,
    func: &'a Function,
    out: &'a mut String,
    temporaries: usize,
    /// The ways into each block: the block that an edge goes through, and what its parameters are.
    ways: BTreeMap<Block, Vec<(String, Vec<Value>)>>,
    /// Blocks that edges with arguments go through.
    detours: Vec<(String, Block)>,
}

/// Writes a function, or its declaration.
pub(super) fn write(out: &mut String, module: &Module, func: &Function) -> Written {
    let ret = match func.ret.as_slice() {
        [] => "void".to_owned(),
        [ty] => name(*ty).ok_or("its result's type")?,
        _ => return Err("several results".to_owned()),
    };
    if func.params.iter().any(|param| param.byval.is_some()) {
        return Err("a parameter by value in memory".to_owned());
    }
    let types: Option<Vec<String>> = func.params.iter().map(|param| name(param.ty)).collect();
    let types = types.ok_or("a parameter's type")?;
    if func.is_declaration() {
        return Err("a declaration".to_owned());
    }
    let params: Vec<String> = types
        .iter()
        .zip(func.param_values())
        .map(|(ty, value)| format!("{ty} {}", spelled(*value)))
        .collect();
    let kind = if func.kind == FuncKind::Kernel { "ptx_kernel " } else { "" };
    let linkage = if func.kind == FuncKind::Kernel || func.linkage.is_visible() { "" } else { "internal " };
    writeln!(out, "\ndefine {linkage}{kind}{ret} @\"{}\"({}) {{", func.name, params.join(", ")).ok();
    let mut writer = Writer { module, func, out, temporaries: 0, ways: BTreeMap::new(), detours: Vec::new() };
    writer.find_ways();
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        writer.block(block)?;
    }
    for (from, to) in std::mem::take(&mut writer.detours) {
        writer.out.push_str(&format!("{from}:\n  br label %{}\n", label(to)));
    }
    out.push_str("}\n");
    Ok(())
}

fn spelled(value: Value) -> String {
    format!("%v{}", value.index())
}

fn label(block: Block) -> String {
    format!("b{}", block.index())
}

impl Writer<'_> {
    pub(super) fn ty(&self, value: Value) -> Type {
        self.func.dfg.ty(value)
    }

    pub(super) fn value(&self, value: Value) -> String {
        spelled(self.func.dfg.resolve(value))
    }

    pub(super) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("%t{}", self.temporaries)
    }

    pub(super) fn line(&mut self, text: impl Display) {
        writeln!(self.out, "  {text}").ok();
    }

    pub(super) fn put(&mut self, result: &str, instruction: impl Display) -> Written {
        self.line(format_args!("{result} = {instruction}"));
        Ok(())
    }

    pub(super) fn call(&mut self, result: &str, ty: &str, function: &str, args: &[String]) {
        self.line(format_args!("{result} = call {ty} @{function}({})", args.join(", ")));
    }

    /// The block that the n-th way out of a block goes through. It is a block of its own, since two ways between the same blocks may differ in their arguments.
    fn detour(from: Block, n: usize) -> String {
        format!("e{}.{n}", from.index())
    }

    fn find_ways(&mut self) {
        let func = self.func;
        for block in func.layout.blocks() {
            let Some(terminator) = func.terminator(block) else { continue };
            for (n, call) in func.dfg.targets(terminator).enumerate() {
                let through = Self::detour(block, n);
                let args = call.args(&func.dfg.pool).to_vec();
                self.ways.entry(call.block).or_default().push((through.clone(), args));
                self.detours.push((through, call.block));
            }
        }
    }

    fn block(&mut self, block: Block) -> Written {
        let func = self.func;
        self.out.push_str(&format!("{}:\n", label(block)));
        let ways = self.ways.get(&block).cloned().unwrap_or_default();
        if func.layout.entry() == Some(block) {
            if !ways.is_empty() {
                return Err("a branch to the first block".to_owned());
            }
            let slots: Vec<(StackSlot, u32, u32)> =
                func.stack_slots.iter().map(|(slot, data)| (slot, data.size, data.align)).collect();
            for (slot, size, align) in slots {
                let n = slot.index();
                self.line(format_args!("%g{n} = alloca [{size} x i8], align {align}"));
                self.line(format_args!("%s{n} = addrspacecast ptr %g{n} to ptr addrspace(5)"));
            }
        } else {
            for (n, &param) in func.dfg.block_params(block).iter().enumerate() {
                let ty = name(self.ty(param)).ok_or("a parameter's type")?;
                let from: Vec<String> = ways
                    .iter()
                    .map(|(through, args)| format!("[ {}, %{through} ]", self.value(args[n])))
                    .collect();
                self.line(format_args!("{} = phi {ty} {}", spelled(param), from.join(", ")));
            }
        }
        for inst in func.layout.insts(block) {
            self.inst(block, inst)?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each shape")]
    fn inst(&mut self, block: Block, inst: Inst) -> Written {
        let func = self.func;
        let op = func.dfg.opcode(inst);
        let refused = || Err(format!("`{op}`"));
        let result = func.dfg.first_result(inst);
        let ty = result.map_or(Type::INVALID, |value| self.ty(value));
        let result = result.map(spelled).unwrap_or_default();
        match &func.dfg[inst] {
            &InstData::IntConst { value } => {
                let text = name(ty).ok_or("a type")?;
                // An addition of zero names a constant.
                self.put(&result, format_args!("add {text} {}, {}", splat(ty, value), splat(ty, 0)))
            }
            &InstData::FloatConst { bits } => {
                let (text, value) = (name(ty).ok_or("a type")?, float(ty, bits).ok_or("a float's format")?);
                self.put(&result, format_args!("select i1 true, {text} {value}, {text} {value}"))
            }
            &InstData::Unary { op, arg } => match op.class() {
                Class::IntUnary(op) => self.int_unary(&result, op, arg),
                Class::FloatUnary(op) => self.float_unary(&result, op, arg),
                Class::PointerUnary(op) => self.pointer_unary(&result, op, arg),
                Class::Conversion(op) => self.conversion(&result, op, arg, ty),
                Class::IntBinary(_)
                | Class::FloatBinary(_)
                | Class::PointerBinary(_)
                | Class::Ternary(_)
                | Class::Overflow(_)
                | Class::List(_)
                | Class::Alone => refused(),
            },
            &InstData::Binary { op, args } => match op.class() {
                Class::IntBinary(op) => self.int_binary(&result, op, args),
                Class::FloatBinary(op) => self.float_binary(&result, op, args),
                Class::PointerBinary(_) => self.index(&result, 1, args),
                Class::IntUnary(_)
                | Class::FloatUnary(_)
                | Class::PointerUnary(_)
                | Class::Conversion(_)
                | Class::Ternary(_)
                | Class::Overflow(_)
                | Class::List(_)
                | Class::Alone => refused(),
            },
            &InstData::Ternary { op, args } => match op.class() {
                Class::Ternary(op) => self.ternary(&result, op, args),
                Class::IntUnary(_)
                | Class::FloatUnary(_)
                | Class::PointerUnary(_)
                | Class::Conversion(_)
                | Class::IntBinary(_)
                | Class::FloatBinary(_)
                | Class::PointerBinary(_)
                | Class::Overflow(_)
                | Class::List(_)
                | Class::Alone => refused(),
            },
            &InstData::IntCompare { cond, args } => self.int_compare(&result, cond, args),
            &InstData::FloatCompare { cond, args } => self.float_compare(&result, cond, args),
            &InstData::Load { flags, offset, ptr } => {
                let at = self.address(ptr, offset)?;
                let (how, align) = (volatile(flags), flags.align(ty));
                if let Some(text) = memory_type(ty) {
                    return self.put(&result, format_args!("load{how} {text}, {at}, align {align}"));
                }
                let (bits, held) = in_bytes(ty).ok_or("a type in memory")?;
                let bytes = self.temporary();
                self.put(&bytes, format_args!("load{how} i{held}, {at}, align {align}"))?;
                if ty == Type::I1 {
                    // Any byte but zero is true.
                    return self.put(&result, format_args!("icmp ne i{held} {bytes}, 0"));
                }
                if !ty.is_vector() {
                    return self.put(&result, format_args!("trunc i{held} {bytes} to i{bits}"));
                }
                let low = self.temporary();
                self.put(&low, format_args!("trunc i{held} {bytes} to i{bits}"))?;
                self.put(&result, format_args!("bitcast i{bits} {low} to <{bits} x i1>"))
            }
            &InstData::Store { flags, offset, args: [value, ptr] } => {
                let ty = self.ty(value);
                let at = self.address(ptr, offset)?;
                let (how, align, mut value) = (volatile(flags), flags.align(ty), self.value(value));
                if let Some(text) = memory_type(ty) {
                    self.line(format_args!("store{how} {text} {value}, {at}, align {align}"));
                    return Ok(());
                }
                let (bits, held) = in_bytes(ty).ok_or("a type in memory")?;
                if ty.is_vector() {
                    let low = self.temporary();
                    self.put(&low, format_args!("bitcast <{bits} x i1> {value} to i{bits}"))?;
                    value = low;
                }
                let bytes = self.temporary();
                self.put(&bytes, format_args!("zext i{bits} {value} to i{held}"))?;
                self.line(format_args!("store{how} i{held} {bytes}, {at}, align {align}"));
                Ok(())
            }
            &InstData::Index { scale, args } => self.index(&result, scale, args),
            &InstData::StackAddr { slot, offset } => self.put(
                &result,
                format_args!("getelementptr i8, ptr addrspace(5) %s{}, i64 {offset}", slot.index()),
            ),
            &InstData::GlobalAddr { global, offset } => {
                let global = &self.module.globals[global];
                let space = space(global.space).ok_or("a state space")?;
                self.put(
                    &result,
                    format_args!(
                        "getelementptr i8, ptr addrspace({space}) @\"{}\", i64 {offset}",
                        global.name
                    ),
                )
            }
            InstData::Vec { args } => {
                let (text, args) = (name(ty).ok_or("a type")?, args.as_slice(&func.dfg.pool));
                let mut vector = "poison".to_owned();
                for (lane, &arg) in args.iter().enumerate() {
                    let next = if lane + 1 == args.len() { result.clone() } else { self.temporary() };
                    let (element, arg) = (name(self.ty(arg)).ok_or("a type")?, self.value(arg));
                    self.put(
                        &next,
                        format_args!("insertelement {text} {vector}, {element} {arg}, i32 {lane}"),
                    )?;
                    vector = next;
                }
                Ok(())
            }
            &InstData::Extract { lane, arg } => {
                let (text, arg) = (name(self.ty(arg)).ok_or("a type")?, self.value(arg));
                self.put(&result, format_args!("extractelement {text} {arg}, i32 {lane}"))
            }
            &InstData::Insert { lane, args: [vector, element] } => {
                let (text, part) = (name(ty).ok_or("a type")?, name(self.ty(element)).ok_or("a type")?);
                let (vector, element) = (self.value(vector), self.value(element));
                self.put(&result, format_args!("insertelement {text} {vector}, {part} {element}, i32 {lane}"))
            }
            InstData::Sreg { reg } => {
                // Those of 32 bits that every target has.
                let register = reg.to_string();
                if ty != Type::I32 {
                    return refused();
                }
                self.call(&result, "i32", &format!("llvm.nvvm.read.ptx.sreg.{register}"), &[]);
                Ok(())
            }
            InstData::Call { callee, args } => {
                let callee = &self.module.functions[*callee];
                let args: Option<Vec<String>> = args
                    .as_slice(&func.dfg.pool)
                    .iter()
                    .map(|&arg| Some(format!("{} {}", name(self.ty(arg))?, self.value(arg))))
                    .collect();
                let args = args.ok_or("an argument's type")?.join(", ");
                let of = &callee.name;
                match name(ty) {
                    Some(ty) => self.put(&result, format_args!("call {ty} @\"{of}\"({args})")),
                    None => {
                        self.line(format_args!("call void @\"{of}\"({args})"));
                        Ok(())
                    }
                }
            }
            InstData::Jump { .. } => {
                self.line(format_args!("br label %{}", Self::detour(block, 0)));
                Ok(())
            }
            &InstData::Brif { cond, .. } => {
                let [yes, no] = [0, 1].map(|n| Self::detour(block, n));
                self.line(format_args!("br i1 {}, label %{yes}, label %{no}", self.value(cond)));
                Ok(())
            }
            &InstData::Switch { arg, table } => {
                let (text, arg) = (name(self.ty(arg)).ok_or("a type")?, self.value(arg));
                let table: &[(i64, BlockCall)] = &func.dfg.jump_tables[table].cases;
                let cases: Vec<String> = (1..)
                    .zip(table)
                    .map(|(n, (case, _))| format!("{text} {case}, label %{}", Self::detour(block, n)))
                    .collect();
                let default = Self::detour(block, 0);
                self.line(format_args!("switch {text} {arg}, label %{default} [ {} ]", cases.join(" ")));
                Ok(())
            }
            InstData::Return { args } => {
                match args.as_slice(&func.dfg.pool) {
                    [] => self.line("ret void"),
                    [value, ..] => {
                        let (ty, value) = (name(self.ty(*value)).ok_or("a type")?, self.value(*value));
                        self.line(format_args!("ret {ty} {value}"));
                    }
                }
                Ok(())
            }
            InstData::Trap => {
                self.line("call void @llvm.trap()");
                self.line("unreachable");
                Ok(())
            }
            InstData::Zero => {
                let text = name(ty).ok_or("a type")?;
                self.put(
                    &result,
                    format_args!("select i1 true, {text} zeroinitializer, {text} zeroinitializer"),
                )
            }
            InstData::List { op, attr, args } => self.list(inst, *op, attr, args.as_slice(&func.dfg.pool)),
            InstData::FuncAddr { .. }
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::CallIndirect { .. }
            | InstData::Ptx { .. } => refused(),
        }
    }

    /// What is said beside the operands.
    fn list(&mut self, inst: Inst, op: Opcode, attr: &Attr, args: &[Value]) -> Written {
        let results = self.func.dfg.results(inst);
        let ty = if results.is_empty() { Type::INVALID } else { self.ty(results.first()) };
        let result = if results.is_empty() { String::new() } else { spelled(results.first()) };
        match (attr, args) {
            (Attr::Wide(bits), []) => {
                let text = name(ty).ok_or("a type")?;
                self.put(&result, format_args!("add {text} {bits}, 0"))
            }
            (Attr::Lanes(lanes), &[a, b]) => {
                let (text, a, b) = (name(self.ty(a)).ok_or("a type")?, self.value(a), self.value(b));
                let mask = lanes.iter().map(|lane| format!("i32 {lane}")).collect::<Vec<_>>().join(", ");
                let count = lanes.len();
                self.put(
                    &result,
                    format_args!("shufflevector {text} {a}, {text} {b}, <{count} x i32> <{mask}>"),
                )
            }
            // What may be done is not done: flags change nothing of what a program means.
            (Attr::Float(mode), _)
                if mode.rounding.is_none()
                    && !mode.ftz
                    && !mode.sat
                    && !mode.fast.contains(FastMath::AFN) =>
            {
                match (op.class(), args) {
                    (Class::FloatUnary(op), &[a]) => self.float_unary(&result, op, a),
                    (Class::FloatBinary(op), &[a, b]) => self.float_binary(&result, op, [a, b]),
                    (Class::Ternary(op), &[a, b, c]) => self.ternary(&result, op, [a, b, c]),
                    (Class::Conversion(op), &[a]) => self.conversion(&result, op, a, ty),
                    _ => Err(format!("`{op}`")),
                }
            }
            (Attr::None, []) if op == Opcode::Unreachable => {
                self.line("unreachable");
                Ok(())
            }
            (Attr::None, &[a, _]) if op == Opcode::Expect => {
                let text = name(ty).ok_or("a type")?;
                let a = self.value(a);
                self.put(&result, format_args!("select i1 true, {text} {a}, {text} {a}"))
            }
            (Attr::None, &[a, b, position, length]) if op == Opcode::Bfi => {
                self.insert_field(&result, [a, b, position, length])
            }
            (Attr::None, &[a, b]) if let Class::Overflow(op) = op.class() => {
                let second = results.get(1).map(spelled).unwrap_or_default();
                self.overflowing([&result, &second], op, [a, b])
            }
            _ => Err(format!("`{op}`")),
        }
    }

    /// A pointer moved by a signed number of elements.
    fn index(&mut self, result: &str, scale: i32, [ptr, by]: [Value; 2]) -> Written {
        let pointer = name(self.ty(ptr)).ok_or("a pointer's type")?;
        let (ty, mut by) = (name(self.ty(by)).ok_or("a type")?, self.value(by));
        let ptr = self.value(ptr);
        if ty != "i64" {
            let wide = self.temporary();
            self.put(&wide, format_args!("sext {ty} {by} to i64"))?;
            by = wide;
        }
        let bytes = self.temporary();
        self.put(&bytes, format_args!("mul i64 {by}, {scale}"))?;
        self.put(result, format_args!("getelementptr i8, {pointer} {ptr}, i64 {bytes}"))
    }

    /// The pointer that an access goes to, with its type.
    fn address(&mut self, ptr: Value, offset: i32) -> Result<String, String> {
        if self.ty(ptr).space() == Some(StateSpace::Param) {
            return Err("an access to parameters".to_owned());
        }
        let pointer = name(self.ty(ptr)).ok_or("a pointer's type")?;
        let ptr = self.value(ptr);
        let at = self.temporary();
        self.put(&at, format_args!("getelementptr i8, {pointer} {ptr}, i64 {offset}"))?;
        Ok(format!("{pointer} {at}"))
    }
}

/// The bits of what memory holds in bytes of their own, with zeros above them, and those of the bytes: integers of odd widths, vectors of truth values.
fn in_bytes(ty: Type) -> Option<(u32, u32)> {
    let truths = ty.element_type() == Type::I1;
    if !(ty.is_int() || truths) || ty.bits().is_multiple_of(8) {
        return None;
    }
    Some((ty.bits(), ty.bytes()? * 8))
}

fn volatile(flags: MemFlags) -> &'static str {
    if flags.volatile { " volatile" } else { "" }
}
