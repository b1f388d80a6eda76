//! A matrix product on a Hopper GPU as the author of a DSL writes it: tiles arrive through the Tensor Memory Accelerator in a ring of
//! stages, barriers in shared memory say when, and a warpgroup multiplies the stage that is there while the next ones are on their way.
//!
//!     cargo run --example tma_wgmma
//!
//! Each block of 128 threads computes 64 x 64 elements of C = A * B^T in f32; A and B hold f16, K contiguous, and are described by tensor
//! maps whose box is 64 x 64 with a swizzle of 128 bytes. Every PTX instruction is named with `mnemonic!`, checked when this file is
//! compiled; its operands are values, addresses and constants, checked by the verifier when the kernel is.

use warpsmith::Diagnostics;
use warpsmith::emit::Compiler;
use warpsmith::ir::{
    Extent, FuncKind, Function, FunctionBuilder, Global, InstBuilder, IntCC, Module, Param, PtxArg, Sreg,
    Type, Value, at, at_offset, braces, mnemonic, tensor,
};
use warpsmith::isa::{StateSpace, Target, Variant};

/// The side of a tile: 64 f16 are the 128 bytes of the swizzle.
const SIDE: i64 = 64;
const TILE_BYTES: i64 = SIDE * SIDE * 2;
const STAGES: i64 = 4;
/// The f32 sums that each of the 128 threads holds.
const SUMS: usize = 32;

/// What the parts of the kernel have in common.
struct Kernel<'m> {
    b: FunctionBuilder<'m>,
    /// Tensor maps of A and B, and the first row of either that this block needs.
    maps: [Value; 2],
    rows: [Value; 2],
    /// The ring: tiles of A, then of B, and a barrier for each stage.
    tiles: Value,
    barriers: Value,
    is_leader: Value,
}

impl Kernel<'_> {
    fn int(&mut self, value: i64) -> Value {
        self.b.ins().iconst(Type::I32, value)
    }

    fn sreg(&mut self, name: &str) -> Value {
        self.b.ins().sreg(Sreg::from_name(name).expect("a PTX register"))
    }

    /// The barrier of a stage, and its tiles of A and B.
    fn stage(&mut self, stage: Value) -> (Value, [Value; 2]) {
        let barrier = self.b.ins().index(self.barriers, stage, 8);
        let a = self.b.ins().index(self.tiles, stage, TILE_BYTES as i32);
        let all = self.b.ins().iconst(Type::I64, STAGES * TILE_BYTES);
        (barrier, [a, self.b.ins().ptradd(a, all)])
    }

    /// Runs `body` in one thread only.
    fn leader(&mut self, wanted: Value, body: impl FnOnce(&mut Self)) {
        let (only, join) = (self.b.create_block(), self.b.create_block());
        let wanted = self.b.ins().band(wanted, self.is_leader);
        self.b.ins().brif(wanted, only, &[], join, &[]);
        self.b.switch_to_block(only);
        body(self);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(join);
    }

    /// Orders both tiles of step `k` into a stage; its barrier completes when all bytes are there.
    fn load(&mut self, stage: Value, k: Value) {
        let (barrier, tiles) = self.stage(stage);
        self.b.ins().ptx(
            mnemonic!("mbarrier.arrive.expect_tx.shared::cta.b64"),
            (PtxArg::sink(), at(barrier), 2 * TILE_BYTES),
        );
        let side = self.int(SIDE);
        let column = self.b.ins().imul(k, side);
        for ((tile, map), row) in tiles.into_iter().zip(self.maps).zip(self.rows) {
            self.b.ins().ptx(
                mnemonic!("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"),
                (at(tile), tensor(map, [column, row]), at(barrier)),
            );
        }
    }

    /// Spins until the barrier has completed the phase.
    fn wait(&mut self, barrier: Value, phase: Value) {
        let (spin, ready) = (self.b.create_block(), self.b.create_block());
        self.b.ins().jump(spin, &[]);
        self.b.switch_to_block(spin);
        let done = self
            .b
            .ins()
            .ptx(mnemonic!("mbarrier.try_wait.parity.shared::cta.b64"), (at(barrier), phase))
            .first();
        self.b.ins().brif(done, ready, &[], spin, &[]);
        self.b.switch_to_block(ready);
    }

    /// What `wgmma` wants to know of a tile (PTX ISA 9.0, 9.7.15.5.1): its address in units of 16 bytes, 1024 bytes from one group of eight
    /// rows to the next, swizzled by 128 bytes.
    fn descriptor(&mut self, tile: Value) -> Value {
        let address = self.b.ins().ptrtoint(tile);
        let mask = self.b.ins().iconst(Type::I64, 0x3ffff);
        let address = self.b.ins().band(address, mask);
        let four = self.int(4);
        let start = self.b.ins().lshr(address, four);
        let layout = self.b.ins().iconst(Type::I64, 1 << 62 | (1024 >> 4) << 32 | 1 << 16);
        self.b.ins().bor(start, layout)
    }

    /// Adds the product of two tiles to the sums, 16 columns at a time.
    fn multiply(&mut self, tiles: [Value; 2], sums: &mut Vec<Value>) {
        let descriptors = tiles.map(|tile| self.descriptor(tile));
        self.b.ins().ptx(mnemonic!("wgmma.fence.sync.aligned"), ());
        for step in 0..SIDE / 16 {
            let offset = self.b.ins().iconst(Type::I64, (step * 32) >> 4);
            let [a, b] = descriptors.map(|descriptor| self.b.ins().iadd(descriptor, offset));
            // Accumulate; neither operand negated, neither transposed.
            let operands = (braces(sums.iter().copied()), a, b, 1, 1, 1, 0, 0);
            let added =
                self.b.ins().ptx(mnemonic!("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"), operands);
            *sums = added.into_iter().collect();
        }
        self.b.ins().ptx(mnemonic!("wgmma.commit_group.sync.aligned"), ());
        self.b.ins().ptx(mnemonic!("wgmma.wait_group.sync.aligned"), (0,));
    }

    /// Writes the sums: of each group of 8 columns, a thread has two neighbours in one row and two in the eighth row below.
    fn store(&mut self, c: Value, columns: Value, sums: &[Value]) {
        let tid = self.sreg("tid.x");
        // 16 rows a warp, a row for each four lanes.
        let (warp, group) = (self.bits(tid, 5, 3), self.bits(tid, 2, 7));
        let sixteen = self.int(16);
        let row = self.b.ins().imul(warp, sixteen);
        let row = self.b.ins().iadd(row, group);
        let row = self.b.ins().iadd(row, self.rows[0]);
        let pair = self.bits(tid, 0, 3);
        let column = self.b.ins().iadd(pair, pair);
        let column = self.b.ins().iadd(column, self.rows[1]);
        let start = self.b.ins().imul(row, columns);
        let start = self.b.ins().iadd(start, column);
        let upper = self.b.ins().index(c, start, 4);
        let lower = self.b.ins().index(upper, columns, 8 * 4);
        for (group, four) in sums.chunks(4).enumerate() {
            for (line, two) in [upper, lower].into_iter().zip(four.chunks(2)) {
                let place = at_offset(line, group as i64 * 8 * 4);
                self.b.ins().ptx(mnemonic!("st.global.v2.f32"), (place, braces(two.iter().copied())));
            }
        }
    }

    /// `value >> shift & mask`
    fn bits(&mut self, value: Value, shift: i64, mask: i64) -> Value {
        let (shift, mask) = (self.int(shift), self.int(mask));
        let shifted = self.b.ins().lshr(value, shift);
        self.b.ins().band(shifted, mask)
    }
}

/// Adds the kernel `gemm(A: tensor map, B: tensor map, C, columns of C, K / 64)` to a module.
pub fn gemm(module: &mut Module) -> Result<(), Diagnostics> {
    let mut shared = |name: &str, ty, extent, align| {
        let global = Global { align: Some(align), ..Global::new(name, StateSpace::Shared, ty, extent) };
        module.add_global(global)
    };
    // More than the 48 KiB that a kernel may declare: the launch gives 2 * STAGES * TILE_BYTES.
    let tiles = shared("tiles", Type::I8, Extent::Dynamic, 1024);
    let barriers = shared("barriers", Type::I64, Extent::Array(STAGES as u64), 8);
    let map = Param::byval(128, 64);
    let params = vec![map, map, Param::new(Type::PTR_GLOBAL), Param::new(Type::I32), Param::new(Type::I32)];
    let kernel = module.add_function(Function::new("gemm", FuncKind::Kernel, params, Vec::new()));
    let mut b = FunctionBuilder::new(module, kernel);
    b.func_mut().attrs.reqntid = Some([128, 1, 1]);
    let entry = b.entry_block();
    let [map_a, map_b, c, columns, steps] = b.block_params(entry).try_into().expect("five parameters");
    let maps = [map_a, map_b].map(|map| b.ins().addrspacecast(Type::PTR, map));
    let (tiles, barriers) = (b.global_addr(tiles), b.global_addr(barriers));
    let registers =
        ["tid.x", "ctaid.y", "ctaid.x"].map(|name| Sreg::from_name(name).expect("a PTX register"));
    let [tid, down, across] = registers.map(|register| b.ins().sreg(register));
    let (zero, side) = (b.ins().iconst(Type::I32, 0), b.ins().iconst(Type::I32, SIDE));
    let rows = [down, across].map(|block| b.ins().imul(block, side));
    let is_leader = b.ins().icmp(IntCC::Eq, tid, zero);
    let mut kernel = Kernel { b, maps, rows, tiles, barriers, is_leader };
    kernel.body(c, columns, steps);
    kernel.b.finalize()
}

impl Kernel<'_> {
    fn body(&mut self, c: Value, columns: Value, steps: Value) {
        // The barriers, for the threads and for the accelerator; then the first loads.
        self.leader(self.is_leader, |k| {
            for stage in 0..STAGES {
                let barrier = at_offset(k.barriers, 8 * stage);
                k.b.ins().ptx(mnemonic!("mbarrier.init.shared::cta.b64"), (barrier, 1));
            }
            k.b.ins().ptx(mnemonic!("fence.proxy.async.shared::cta"), ());
        });
        self.b.ins().ptx(mnemonic!("bar.sync"), (0,));
        for stage in 0..STAGES {
            let stage = self.int(stage);
            let wanted = self.b.ins().icmp(IntCC::Slt, stage, steps);
            self.leader(wanted, |k| k.load(stage, stage));
        }
        // The loop's values: the step, and the sums.
        let (head, step, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let k = self.b.append_block_param(head, Type::I32);
        let mut sums: Vec<Value> = (0..SUMS).map(|_| self.b.append_block_param(head, Type::F32)).collect();
        let mut first = vec![self.int(0)];
        first.extend((0..SUMS).map(|_| self.b.ins().f32const(0.0)));
        self.b.ins().jump(head, &first);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp(IntCC::Slt, k, steps);
        self.b.ins().brif(more, step, &[], done, &[]);

        self.b.switch_to_block(step);
        // A stage is used again and again: its barrier's phase distinguishes the rounds.
        let stage = self.bits(k, 0, STAGES - 1);
        let phase = self.bits(k, STAGES.ilog2().into(), 1);
        let (barrier, tiles) = self.stage(stage);
        let totals = sums.clone();
        self.wait(barrier, phase);
        self.multiply(tiles, &mut sums);
        // When all threads are done with the stage, it takes the tiles of a later step.
        self.b.ins().ptx(mnemonic!("bar.sync"), (0,));
        let ahead = self.int(STAGES);
        let later = self.b.ins().iadd(k, ahead);
        let wanted = self.b.ins().icmp(IntCC::Slt, later, steps);
        self.leader(wanted, |kernel| kernel.load(stage, later));
        let one = self.int(1);
        let mut next = vec![self.b.ins().iadd(k, one)];
        next.extend(sums);
        self.b.ins().jump(head, &next);

        self.b.switch_to_block(done);
        self.store(c, columns, &totals);
        self.b.ins().ret(&[]);
    }
}

/// What the kernel is compiled for: `wgmma` is of this architecture alone.
pub const TARGET: Target = Target { sm: 90, variant: Variant::Arch };

#[allow(dead_code)]
fn main() -> Result<(), Diagnostics> {
    let mut module = Module::new();
    let compiled = gemm(&mut module).and_then(|()| Compiler::new(TARGET).compile(&module));
    println!("{}", compiled?.text);
    Ok(())
}
