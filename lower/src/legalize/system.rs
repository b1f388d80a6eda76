//! Calls of the system (PTX writer's guide to interoperability, chapter 4), and what is never reached.

use super::*;
use warpsmith_ir::{Linkage, MemFlags, Param, StackSlotData, Symbol, printf};

impl Legalizer<'_> {
    /// Branches that go to a block that is never reached go the other way.
    pub(super) fn skip_unreachable(&mut self) {
        let never = |func: &Function, block: Block| {
            let first = func.layout.first_inst(block);
            first.is_some_and(|inst| func.dfg.opcode(inst) == Opcode::Unreachable)
        };
        for block in self.func.layout.blocks().collect::<Vec<_>>() {
            let Some(inst) = self.func.terminator(block) else { continue };
            let InstData::Brif { dests: [yes, no], .. } = &self.func.dfg[inst] else { continue };
            let dest = match (never(self.func, yes.block), never(self.func, no.block)) {
                (true, false) => no.clone(),
                (false, true) => yes.clone(),
                (true, true) | (false, false) => continue,
            };
            self.func.dfg.replace_inst(inst, InstData::Jump { dest });
        }
    }

    /// The pointer as a generic one.
    pub(super) fn generic(&mut self, ptr: Value) -> Value {
        match self.func.dfg.ty(ptr) == Type::PTR {
            true => ptr,
            false => self.raw_convert(Opcode::Addrspacecast, Type::PTR, ptr),
        }
    }

    /// Calls a function of the system, which is declared with the first call.
    pub(super) fn system(
        &mut self,
        inst: Inst,
        name: &str,
        params: &[Type],
        ret: Option<Type>,
        args: &[Value],
    ) -> Option<Value> {
        let ret: Vec<Type> = ret.into_iter().collect();
        let id = match self.module.symbol(name) {
            None => {
                let params = params.iter().copied().map(Param::new).collect();
                let mut function = Function::new(name, FuncKind::Func, params, ret.clone());
                function.linkage = Linkage::Extern;
                self.module.add_function(function)
            }
            Some(Symbol::Func(id)) => id,
            Some(Symbol::Global(_)) => {
                let note = "rename the variable";
                self.unsupported(
                    inst,
                    format!("`@{name}` is the system's function, and a variable here"),
                    note,
                );
                return None;
            }
        };
        let known = &self.module.functions[id];
        let alike = known.ret == ret && known.params.iter().map(|param| &param.ty).eq(params);
        if !known.name.is_empty() && !alike {
            let note = "the system calls are as the interoperability guide declares them";
            self.unsupported(
                inst,
                format!("`@{name}` is declared otherwise than the system's function"),
                note,
            );
            return None;
        }
        let results = self.ins().call(id, &ret, args);
        results.get(0)
    }

    /// The generic address of a text that ends in a zero.
    fn text(&mut self, text: &[u8]) -> Value {
        let id = self.module.intern_string(text);
        let address = self.ins().global_addr(Type::PTR_GLOBAL, id, 0);
        self.generic(address)
    }

    pub(super) fn printf(&mut self, inst: Inst, format: &[u8], args: &[Value]) -> Value {
        // The verifier has seen to the format.
        let wanted = printf::arguments(format).unwrap_or_default();
        let (offsets, size) = printf::layout(&wanted);
        let slot = self.func.stack_slots.push(StackSlotData { size: size.max(8), align: 8 });
        let list = self.ins().stack_addr(slot, 0);
        for ((argument, &value), at) in wanted.iter().zip(args).zip(offsets) {
            let promoted = self.promoted(*argument, value);
            self.ins().store(MemFlags::PLAIN, promoted, list, at as i32);
        }
        let list = self.generic(list);
        let format = self.text(format);
        let called = self.system(inst, "vprintf", &[Type::PTR, Type::PTR], Some(Type::I32), &[format, list]);
        called.unwrap_or_else(|| self.int(Type::I32, 0))
    }

    /// An argument as C promotes it.
    fn promoted(&mut self, argument: printf::Argument, value: Value) -> Value {
        let ty = self.ty(value);
        match argument {
            printf::Argument::Int { signed } if ty.bits() < 32 => {
                let op = if signed && ty != Type::I1 { Opcode::Sext } else { Opcode::Zext };
                self.extended(op, ty, Type::I32, value)
            }
            printf::Argument::Float if ty != Type::F64 => self.raw_convert(Opcode::Fpext, Type::F64, value),
            printf::Argument::Pointer if ty.is_ptr() => self.raw1(Opcode::Ptrtoint, value),
            printf::Argument::Int { .. }
            | printf::Argument::Long
            | printf::Argument::Float
            | printf::Argument::Text
            | printf::Argument::Pointer => value,
        }
    }

    pub(super) fn assert(&mut self, inst: Inst, message: &[u8], cond: Value) {
        let (fail, next) = (self.func.dfg.make_block(), self.func.dfg.make_block());
        let Some(here) = self.func.layout.block_of(inst) else { return };
        self.func.layout.split_block(next, inst);
        self.func.layout.insert_block_after(fail, next);
        let trap = self.func.at_end(fail).build(InstData::Trap, &[]).0;
        self.func.at_end(here).brif(cond, next, &[], fail, &[]);
        let at = std::mem::replace(&mut self.at, trap);
        let name = self.func.name.clone();
        let place = self.module.place(self.func, inst).map(|(file, at)| (file.to_owned(), at.line));
        let (file, line) = place.unwrap_or_default();
        let (message, file) = (self.text(message), self.text(file.as_bytes()));
        let function = self.text(name.as_bytes());
        let (line, size) = (self.int(Type::I32, line.into()), self.int(Type::I64, 1));
        self.system(inst, "__assertfail", ASSERT_FAIL, None, &[message, file, line, function, size]);
        self.at = at;
        self.func.layout.remove_inst(inst);
    }
}

/// The parameters of `__assertfail`: message, file, line, function, size of a character.
const ASSERT_FAIL: &[Type] = &[Type::PTR, Type::PTR, Type::I32, Type::PTR, Type::I64];
