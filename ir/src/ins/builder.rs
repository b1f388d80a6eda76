//! The trait that makes instructions: a method for each row of the table.

use super::effects::effect_methods;
use crate::arg::PtxArgs;
use crate::attr::Attr;
use crate::dfg::Results;
use crate::effects::{AtomicOp, MemoryMode, MemoryOrder, MemoryScope, ShuffleKind, VoteKind};
use crate::entities::{Block, FuncId, GlobalId, Inst, StackSlot, Value};
use crate::float_mode::FloatMode;
use crate::function::Function;
use crate::inst::{BlockCall, InstData, JumpTableData, MemFlags, ValueList};
use crate::ops::{FloatCC, IntCC, Opcode, for_each_op};
use crate::ptx::{PtxData, Sreg};
use crate::types::Type;
use warpsmith_isa::Mnemonic;

/// One method of [`InstBuilder`]: those of regular shape are made here, the others are written below.
macro_rules! method {
    // It has an order and a scope besides its operands.
    (@ List $result:ident $doc:literal Cmpxchg cmpxchg) => {};
    (@ List $result:ident $doc:literal $variant:ident $name:ident) => {
        method!($doc List $result $variant $name);
    };
    (@ $shape:ident $result:ident $doc:literal $variant:ident $name:ident) => {
        method!($doc $shape $variant $name);
    };
    ($doc:literal Unary $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, x: Value) -> Value {
            self.regular(InstData::Unary { op: Opcode::$variant, arg: x }, None)
        }
    };
    ($doc:literal Convert $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, to: Type, x: Value) -> Value {
            self.regular(InstData::Unary { op: Opcode::$variant, arg: x }, Some(to))
        }
    };
    ($doc:literal Binary $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, x: Value, y: Value) -> Value {
            self.regular(InstData::Binary { op: Opcode::$variant, args: [x, y] }, None)
        }
    };
    ($doc:literal Ternary $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, x: Value, y: Value, z: Value) -> Value {
            self.regular(InstData::Ternary { op: Opcode::$variant, args: [x, y, z] }, None)
        }
    };
    ($doc:literal IntCompare $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, cond: IntCC, x: Value, y: Value) -> Value {
            self.regular(InstData::IntCompare { cond, args: [x, y] }, None)
        }
    };
    ($doc:literal FloatCompare $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, cond: FloatCC, x: Value, y: Value) -> Value {
            self.regular(InstData::FloatCompare { cond, args: [x, y] }, None)
        }
    };
    ($doc:literal Sreg $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, reg: Sreg) -> Value {
            self.regular(InstData::Sreg { reg }, None)
        }
    };
    ($doc:literal List TAndBools $variant:ident $name:ident) => {
        #[doc = $doc]
        fn $name(self, x: Value, y: Value) -> (Value, Value) {
            let results = self.list(Opcode::$variant, Attr::None, &[x, y]);
            (results.first(), results.into_iter().last().unwrap_or(results.first()))
        }
    };
    ($doc:literal List $result:ident $variant:ident $name:ident) => {};
    ($doc:literal $other:ident $variant:ident $name:ident) => {};
}

/// Methods that take a constant in place of the second operand.
macro_rules! immediates {
    ($($(#[$doc:meta])* $name:ident $op:ident,)*) => {$(
        $(#[$doc])*
        fn $name(mut self, x: Value, y: i64) -> Value {
            let y = self.imm(x, y);
            self.$op(x, y)
        }
    )*};
}

/// Methods that take a constant amount in place of the second operand.
macro_rules! constant_shifts {
    ($($(#[$doc:meta])* $name:ident $op:ident,)*) => {$(
        $(#[$doc])*
        fn $name(mut self, x: Value, amount: u32) -> Value {
            let amount = self.operand(InstData::IntConst { value: Type::I32.normalize(amount.into()) }, Type::I32);
            self.$op(x, amount)
        }
    )*};
}

macro_rules! inst_builder {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:ident $shape:ident ($($operand:ident)*) $result:ident $types:ident [$($flag:ident)*];)*) => {
        /// A method for each operation. Operands of types that the operation does not take are accepted here and reported by
        /// the verifier.
        pub trait InstBuilder: Sized {
            /// The function that is being built.
            fn func(&mut self) -> &mut Function;

            /// Makes any instruction, with a result for each type.
            fn build(self, data: InstData, results: &[Type]) -> (Inst, Results);

            /// Makes a constant before the instruction that is to be made, for its operand.
            fn operand(&mut self, data: InstData, ty: Type) -> Value;

            /// An integer constant of the type of a value, for the instruction that is to be made.
            fn imm(&mut self, like: Value, value: i64) -> Value {
                let ty = self.func().dfg.ty(like);
                self.operand(InstData::IntConst { value: ty.normalize(value) }, ty)
            }

            /// Makes an instruction that has one result, whose type follows from the operands and `suffix`. A type that does
            /// not follow, which takes operands of wrong types, is invalid until the verifier reports it.
            fn regular(mut self, data: InstData, suffix: Option<Type>) -> Value {
                let ty = self.func().result_type(&data, suffix).unwrap_or(Type::INVALID);
                self.typed(data, ty)
            }

            /// Makes an instruction that has one result of a type.
            #[inline]
            fn typed(self, data: InstData, ty: Type) -> Value {
                self.build(data, &[ty]).1.first()
            }

            $(method!(@ $shape $result $($doc)+ $variant $name);)*

            /// An integer constant, wrapped to the type.
            fn iconst(self, ty: Type, value: i64) -> Value {
                self.typed(InstData::IntConst { value: ty.normalize(value) }, ty)
            }

            /// An integer constant of any width by its bits, those above the width cut off.
            fn iconst_bits(self, ty: Type, bits: u128) -> Value {
                self.regular(InstData::int_const(ty, bits), Some(ty))
            }

            /// Makes an instruction of [`Shape::List`](crate::Shape::List), whose results have the types that its operands say.
            fn list(mut self, op: Opcode, attr: Attr, operands: &[Value]) -> Results {
                let func = self.func();
                let args = ValueList::from_slice(operands, &mut func.dfg.pool);
                let data = InstData::List { op, attr, args };
                let types = func.result_types(&data, None);
                self.build(data, &types).1
            }

            effect_methods! {}

            /// An operation of one operand by its opcode, which gives a value of the operand's type.
            fn unary(self, op: Opcode, x: Value) -> Value {
                self.regular(InstData::Unary { op, arg: x }, None)
            }

            /// An operation of two operands by its opcode, for front ends that keep their operators in a table.
            fn binary(self, op: Opcode, x: Value, y: Value) -> Value {
                self.regular(InstData::Binary { op, args: [x, y] }, None)
            }

            /// An operation on floats done in another way than the plain one: `fadd` rounded toward zero, `fmul` that may be contracted, `fdiv afn`.
            /// The default mode gives the plain instruction.
            fn float(mut self, op: Opcode, mode: FloatMode, operands: &[Value]) -> Value {
                let data = match (mode == FloatMode::default(), operands) {
                    (true, &[arg]) => InstData::Unary { op, arg },
                    (true, &[x, y]) => InstData::Binary { op, args: [x, y] },
                    (true, &[x, y, z]) => InstData::Ternary { op, args: [x, y, z] },
                    _ => {
                        let args = ValueList::from_slice(operands, &mut self.func().dfg.pool);
                        InstData::List { op, attr: Attr::Float(mode), args }
                    }
                };
                self.regular(data, None)
            }

            /// A conversion from or to a float that rounds in another way than the plain one.
            fn float_convert(mut self, op: Opcode, mode: FloatMode, to: Type, x: Value) -> Value {
                let data = match mode == FloatMode::default() {
                    true => InstData::Unary { op, arg: x },
                    false => {
                        let args = ValueList::from_slice(&[x], &mut self.func().dfg.pool);
                        InstData::List { op, attr: Attr::Float(mode), args }
                    }
                };
                self.regular(data, Some(to))
            }

            /// The first operand with `len` bits from `pos` on replaced by the low bits of the second.
            fn bfi(self, x: Value, bits: Value, pos: Value, len: Value) -> Value {
                self.list(Opcode::Bfi, Attr::None, &[x, bits, pos, len]).first()
            }

            /// Elements of two vectors, one behind the other: for each of the result its position among them.
            fn shuffle(self, x: Value, y: Value, lanes: &[u8]) -> Value {
                self.list(Opcode::Shuffle, Attr::Lanes(lanes.into()), &[x, y]).first()
            }

            /// All elements of a vector put together by one of [`Opcode::REDUCTIONS`], from the first to the last.
            fn reduce(self, op: Opcode, vector: Value) -> Value {
                self.list(Opcode::Reduce, Attr::With(op), &[vector]).first()
            }

            /// The element that an `i32` names; zero for one that is not there.
            fn extract_at(self, vector: Value, lane: Value) -> Value {
                self.list(Opcode::ExtractAt, Attr::None, &[vector, lane]).first()
            }

            /// The vector with the element that an `i32` names replaced.
            fn insert_at(self, vector: Value, element: Value, lane: Value) -> Value {
                self.list(Opcode::InsertAt, Attr::None, &[vector, element, lane]).first()
            }

            /// A floating-point constant by its bits.
            fn fconst(self, ty: Type, bits: u64) -> Value {
                self.typed(InstData::FloatConst { bits }, ty)
            }

            /// An `f32` constant.
            fn f32const(self, value: f32) -> Value {
                self.fconst(Type::F32, value.to_bits() as u64)
            }

            /// An `f64` constant.
            fn f64const(self, value: f64) -> Value {
                self.fconst(Type::F64, value.to_bits())
            }

            immediates! {
                /// The sum with a constant, wrapped to the operand's type.
                iadd_imm iadd,
                /// The difference to a constant, wrapped to the operand's type.
                isub_imm isub,
                /// The low half of the product with a constant, wrapped to the operand's type.
                imul_imm imul,
                /// The signed quotient by a constant, wrapped to the operand's type.
                sdiv_imm sdiv,
                /// The unsigned quotient by a constant, wrapped to the operand's type.
                udiv_imm udiv,
                /// The signed remainder by a constant, wrapped to the operand's type.
                srem_imm srem,
                /// The unsigned remainder by a constant, wrapped to the operand's type.
                urem_imm urem,
                /// Bitwise and with a constant, wrapped to the operand's type.
                band_imm band,
                /// Bitwise or with a constant, wrapped to the operand's type.
                bor_imm bor,
                /// Bitwise exclusive or with a constant, wrapped to the operand's type.
                bxor_imm bxor,
                /// The lesser, signed, of the operand and a constant, wrapped to the operand's type.
                smin_imm smin,
                /// The greater, signed, of the operand and a constant, wrapped to the operand's type.
                smax_imm smax,
                /// The lesser, unsigned, of the operand and a constant, wrapped to the operand's type.
                umin_imm umin,
                /// The greater, unsigned, of the operand and a constant, wrapped to the operand's type.
                umax_imm umax,
            }

            constant_shifts! {
                /// A shift left, by a constant amount.
                shl_imm shl,
                /// A shift right, zeros coming in, by a constant amount.
                lshr_imm lshr,
                /// A shift right, sign bits coming in, by a constant amount.
                ashr_imm ashr,
            }

            /// Compares an integer with a constant, wrapped to its type.
            fn icmp_imm(mut self, cond: IntCC, x: Value, y: i64) -> Value {
                let y = self.imm(x, y);
                self.icmp(cond, x, y)
            }

            /// A pointer moved by a constant number of bytes.
            fn ptradd_imm(mut self, ptr: Value, bytes: i64) -> Value {
                let bytes = self.operand(InstData::IntConst { value: bytes }, Type::I64);
                self.ptradd(ptr, bytes)
            }

            /// An integer constant by its unsigned value, wrapped to the type.
            fn u64const(self, ty: Type, value: u64) -> Value {
                self.iconst(ty, value.cast_signed())
            }

            /// An `f16` constant by its bits.
            fn f16const(self, bits: u16) -> Value {
                self.fconst(Type::F16, bits.into())
            }

            /// A `bf16` constant by its bits.
            fn bf16const(self, bits: u16) -> Value {
                self.fconst(Type::BF16, bits.into())
            }

            /// Reads memory at `ptr + offset`.
            fn load(self, ty: Type, flags: MemFlags, ptr: Value, offset: i32) -> Value {
                self.typed(InstData::Load { flags, offset, ptr }, ty)
            }

            /// Writes memory at `ptr + offset`.
            fn store(self, flags: MemFlags, value: Value, ptr: Value, offset: i32) -> Inst {
                self.build(InstData::Store { flags, offset, args: [value, ptr] }, &[]).0
            }

            /// The pointer moved by a signed index times a constant.
            fn index(self, ptr: Value, index: Value, scale: i32) -> Value {
                self.regular(InstData::Index { scale, args: [ptr, index] }, None)
            }

            /// The address of a stack slot.
            fn stack_addr(self, slot: StackSlot, offset: i32) -> Value {
                self.regular(InstData::StackAddr { slot, offset }, None)
            }

            /// The address of a global, as a pointer of the type [`Global::ptr_type`](crate::Global::ptr_type).
            fn global_addr(self, ptr_type: Type, global: GlobalId, offset: i32) -> Value {
                self.build(InstData::GlobalAddr { global, offset }, &[ptr_type]).1.first()
            }

            /// The address of a function, for [`InstBuilder::call_indirect`].
            fn func_addr(self, func: FuncId) -> Value {
                self.regular(InstData::FuncAddr { func }, None)
            }

            /// A vector of the elements.
            fn vec(mut self, elements: &[Value]) -> Value {
                let args = ValueList::from_slice(elements, &mut self.func().dfg.pool);
                self.regular(InstData::Vec { args }, None)
            }

            /// One element of a vector.
            fn extract(self, vector: Value, lane: u8) -> Value {
                self.regular(InstData::Extract { lane, arg: vector }, None)
            }

            /// The vector with one element replaced.
            fn insert(self, vector: Value, element: Value, lane: u8) -> Value {
                self.regular(InstData::Insert { lane, args: [vector, element] }, None)
            }

            /// The value of a type whose bits are all zero.
            fn zero(self, ty: Type) -> Value {
                self.regular(InstData::Zero, Some(ty))
            }

            /// A struct or array of its fields.
            fn aggregate(mut self, ty: Type, fields: &[Value]) -> Value {
                let args = ValueList::from_slice(fields, &mut self.func().dfg.pool);
                self.regular(InstData::Aggregate { args }, Some(ty))
            }

            /// The part of an aggregate that a path leads to, of the type that [`TypeTable::at_path`](crate::TypeTable::at_path) says.
            fn extract_value(mut self, ty: Type, aggregate: Value, path: &[u32]) -> Value {
                let path = self.func().dfg.paths.push(path.into());
                self.regular(InstData::ExtractValue { path, arg: aggregate }, Some(ty))
            }

            /// The aggregate with the part that a path leads to replaced.
            fn insert_value(mut self, aggregate: Value, part: Value, path: &[u32]) -> Value {
                let path = self.func().dfg.paths.push(path.into());
                self.regular(InstData::InsertValue { path, args: [aggregate, part] }, None)
            }

            /// Copies `size` bytes between memory that does not overlap. Both addresses are aligned as the flags say; 1 if they do not.
            fn memcpy(self, flags: MemFlags, to: Value, from: Value, size: Value) -> Inst {
                self.build(InstData::MemBlock { op: Opcode::Memcpy, flags, source: flags, args: [to, from, size] }, &[]).0
            }

            /// Copies `size` bytes between memory that may overlap.
            fn memmove(self, flags: MemFlags, to: Value, from: Value, size: Value) -> Inst {
                self.build(InstData::MemBlock { op: Opcode::Memmove, flags, source: flags, args: [to, from, size] }, &[]).0
            }

            /// Copies `size` bytes, as [`memcpy`](InstBuilder::memcpy) or [`memmove`](InstBuilder::memmove) does, from an address with an alignment of its own.
            fn mem_block_from(self, op: Opcode, flags: MemFlags, source: MemFlags, args: [Value; 3]) -> Inst {
                self.build(InstData::MemBlock { op, flags, source, args }, &[]).0
            }

            /// Fills `size` bytes of memory with an `i8`.
            fn memset(self, flags: MemFlags, to: Value, byte: Value, size: Value) -> Inst {
                self.build(InstData::MemBlock { op: Opcode::Memset, flags, source: flags, args: [to, byte, size] }, &[]).0
            }

            /// Calls a function that returns values of these types.
            fn call(mut self, callee: FuncId, returns: &[Type], args: &[Value]) -> Results {
                let args = ValueList::from_slice(args, &mut self.func().dfg.pool);
                self.build(InstData::Call { callee, args }, returns).1
            }

            /// Calls the function at an address, which takes values of the types of these and returns values of those.
            fn call_indirect(mut self, callee: Value, returns: &[Type], args: &[Value]) -> Results {
                let pool = &mut self.func().dfg.pool;
                let mut list = ValueList::from_slice(&[callee], pool);
                list.extend(args.iter().copied(), pool);
                self.build(InstData::CallIndirect { args: list }, returns).1
            }

            /// An operation of the PTX tables, with the operands as PTX orders them, without the destinations: those are the
            /// results, as many as the form must have, of the types that the tables give. See [`PtxArgs`] for what an operand
            /// can be; the verifier names the operand that is wrong.
            ///
            /// ```
            /// # use warpsmith_ir::*;
            /// # fn f(b: &mut FunctionBuilder, bar: Value, x: Value, y: Value, z: Value) {
            /// let sum = b.ins().ptx(mnemonic!("fma.rz.f32"), (x, y, z)).first();
            /// let state = b.ins().ptx(mnemonic!("mbarrier.arrive.expect_tx.shared.b64"), (at(bar), 4096)).first();
            /// # }
            /// ```
            fn ptx(self, mnemonic: Mnemonic, operands: impl PtxArgs) -> Results {
                let (data, args) = operands.list(mnemonic);
                let results = data.required_types();
                self.ptx_data(data, &args, &results)
            }

            /// An operation of the PTX tables with the types of its results given: those of a pair (`d|p`) that may be left out, or others than the
            /// usual ones, such as `f32` for what `.b32` moves.
            fn ptx_typed(self, mnemonic: Mnemonic, operands: impl PtxArgs, results: &[Type]) -> Results {
                let (data, args) = operands.list(mnemonic);
                self.ptx_data(data, &args, results)
            }

            /// An operation of the PTX tables: its constant part, the values among its operands, the types of its results.
            fn ptx_data(mut self, data: PtxData, args: &[Value], results: &[Type]) -> Results {
                let data = data.resolved_alone(results.len());
                let dfg = &mut self.func().dfg;
                let args = ValueList::from_slice(args, &mut dfg.pool);
                let data = dfg.ptx.push(data);
                self.build(InstData::Ptx { data, args }, results).1
            }

            /// Goes to a block.
            fn jump(mut self, block: Block, args: &[Value]) -> Inst {
                let dest = BlockCall::new(block, args, &mut self.func().dfg.pool);
                self.build(InstData::Jump { dest }, &[]).0
            }

            /// Goes to one of two blocks.
            fn brif(mut self, cond: Value, then: Block, then_args: &[Value], otherwise: Block, else_args: &[Value]) -> Inst {
                let pool = &mut self.func().dfg.pool;
                let dests = [BlockCall::new(then, then_args, pool), BlockCall::new(otherwise, else_args, pool)];
                self.build(InstData::Brif { cond, dests }, &[]).0
            }

            /// Goes to the block of the operand's value. The values of the cases are wrapped to the operand's type.
            fn switch(mut self, value: Value, default: BlockCall, mut cases: Vec<(i64, BlockCall)>) -> Inst {
                let dfg = &mut self.func().dfg;
                let ty = dfg.ty(value);
                cases.iter_mut().for_each(|(case, _)| *case = ty.normalize(*case));
                let table = dfg.jump_tables.push(JumpTableData { default, cases });
                self.build(InstData::Switch { arg: value, table }, &[]).0
            }

            /// Returns.
            fn ret(mut self, values: &[Value]) -> Inst {
                let args = ValueList::from_slice(values, &mut self.func().dfg.pool);
                self.build(InstData::Return { args }, &[]).0
            }

            /// Ends the launch with an error.
            fn trap(self) -> Inst {
                self.build(InstData::Trap, &[]).0
            }
        }
    };
}
for_each_op!(inst_builder);
