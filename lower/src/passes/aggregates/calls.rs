//! Calls and returns: what is passed in memory, and what as parts.

use super::boundary;
use super::memory::Form;
use super::split::Splitter;
use crate::passes::{insert_before, take_over_name};
use warpsmith_ir::{FuncId, Inst, InstBuilder, InstData, MemFlags, Type, Value, ValueList};

impl Splitter<'_> {
    pub(super) fn call(&mut self, inst: Inst, callee: FuncId, args: &[Value]) {
        let functions = self.functions;
        let target = &functions[callee];
        let passed: Vec<Value> = args.iter().map(|&arg| self.argument(inst, arg, true)).collect();
        let args = ValueList::from_slice(&passed, &mut self.func.dfg.pool);
        self.replace_call(inst, InstData::Call { callee, args }, &target.ret, target.passed);
    }

    pub(super) fn call_indirect(&mut self, inst: Inst, args: &[Value]) {
        let passed: Vec<Value> = args.iter().map(|&arg| self.argument(inst, arg, false)).collect();
        let args = ValueList::from_slice(&passed, &mut self.func.dfg.pool);
        let ret: Vec<Type> =
            self.func.dfg.results(inst).into_iter().map(|value| self.func.dfg.ty(value)).collect();
        let passed = boundary::passed(self.types, &ret);
        self.replace_call(inst, InstData::CallIndirect { args }, &ret, passed);
    }

    /// An argument as it is passed: the address of a large one, where the callee says that it is passed in memory.
    fn argument(&mut self, inst: Inst, arg: Value, by_address: bool) -> Value {
        let ty = self.func.dfg.ty(arg);
        match self.form(arg) {
            None => arg,
            Some(Form::Memory(memory)) if by_address => self.pointer(inst, memory),
            Some(Form::Memory(memory)) => {
                let passed = boundary::passed_whole(self.types, ty);
                self.load(inst, passed, memory, MemFlags::PLAIN)
            }
            Some(Form::Parts(parts)) => {
                let passed = boundary::passed_whole(self.types, ty);
                boundary::build(self.func, self.types, inst, passed, &mut parts.into_iter()).unwrap_or(arg)
            }
        }
    }

    /// Replaces a call by one that passes its arguments, and unpacks its result.
    fn replace_call(&mut self, inst: Inst, data: InstData, ret: &[Type], passed: Option<Type>) {
        let results: Vec<Value> = self.func.dfg.results(inst).into_iter().collect();
        let Some(passed) = passed.filter(|_| results.len() > 1 || ret.iter().any(|ty| ty.is_aggregate()))
        else {
            return self.func.dfg.replace_inst(inst, data);
        };
        self.changes += 1;
        let call = insert_before(self.func, inst, data, passed);
        let whole = boundary::whole(self.types, ret);
        let memory = (!self.is_small(whole)).then(|| {
            let memory = self.slot(whole);
            let to = self.pointer(inst, memory);
            self.func.before(inst).store(MemFlags::PLAIN, call, to, 0);
            memory
        });
        let mut parts = match memory {
            Some(_) => Vec::new(),
            None => boundary::open(self.func, self.types, inst, call, whole),
        }
        .into_iter();
        for (n, (&result, &ty)) in results.iter().zip(ret).enumerate() {
            let form = match memory {
                Some(memory) => {
                    let offset = match results.len() {
                        1 => 0,
                        _ => self.types.field(whole, n as u64).map_or(0, |(_, offset)| offset),
                    };
                    match ty.is_aggregate() && !self.is_small(ty) {
                        true => Form::Memory(memory.at(offset)),
                        false => self.read(inst, ty, memory.at(offset), MemFlags::PLAIN),
                    }
                }
                None => Form::Parts(parts.by_ref().take(self.types.parts(ty) as usize).collect()),
            };
            match form {
                Form::Parts(parts) if !ty.is_aggregate() => {
                    if let Some(&part) = parts.first() {
                        take_over_name(self.func, result, part);
                        self.func.dfg.replace_value(result, part);
                    }
                }
                form @ (Form::Parts(_) | Form::Memory(_)) => self.forms[result] = Some(form),
            }
        }
        self.func.layout.remove_inst(inst);
    }

    pub(super) fn ret(&mut self, inst: Inst, values: &[Value]) {
        let own = self.own;
        let Some(passed) =
            own.passed.filter(|_| own.ret.len() > 1 || own.ret.iter().any(|ty| ty.is_aggregate()))
        else {
            return;
        };
        let whole = boundary::whole(self.types, &own.ret);
        let value = if self.is_small(whole) {
            let parts: Vec<Value> = values.iter().flat_map(|&value| self.parts(value)).collect();
            boundary::build(self.func, self.types, inst, passed, &mut parts.into_iter())
        } else {
            let memory = match (values, values.first().and_then(|&value| self.form(value))) {
                ([_], Some(Form::Memory(memory))) => memory,
                _ => {
                    let memory = self.slot(whole);
                    for (n, &value) in values.iter().enumerate() {
                        let offset = self.types.field(whole, n as u64).map_or(0, |(_, offset)| offset);
                        self.write_value(inst, memory.at(offset), value);
                    }
                    memory
                }
            };
            Some(self.load(inst, passed, memory, MemFlags::PLAIN))
        };
        let Some(value) = value else { return };
        let args = ValueList::from_slice(&[value], &mut self.func.dfg.pool);
        self.func.dfg.replace_inst(inst, InstData::Return { args });
        self.changes += 1;
    }
}
