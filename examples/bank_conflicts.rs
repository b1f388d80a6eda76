//! Counts bank conflicts in shared memory: an observer in 40 lines, on a tile that is read by columns.
//!
//!     cargo run --release --example bank_conflicts

use std::collections::BTreeMap;
use warpsmith::interp::engine::Access;
use warpsmith::interp::observe::{AccessKind, Addresses, At, Interest, Observer};
use warpsmith::interp::{Device, Launch};
use warpsmith::isa::StateSpace;
use warpsmith::ptx::ValidatedModule;

/// By line: accesses of warps to shared memory, and the rounds that they take. More rounds than accesses are conflicts.
#[derive(Default)]
struct BankConflicts(BTreeMap<u32, (u64, u64)>);

impl Observer for BankConflicts {
    fn interest(&self) -> Interest {
        Interest { accesses: true, ..Interest::RARE }
    }

    fn access(
        &mut self,
        at: &At<'_>,
        _: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        if space != StateSpace::Shared {
            return;
        }
        // There are 32 banks of four bytes. In one round each gives one word, to all lanes that want it.
        let mut words = [const { Vec::new() }; 32];
        for lane in (0..32).filter(|lane| at.mask >> lane & 1 != 0) {
            let start = addresses.of(lane) / 4;
            for word in start..start + u64::from(access.bytes).div_ceil(4) * u64::from(access.count) {
                let bank: &mut Vec<u64> = &mut words[word as usize % 32];
                if !bank.contains(&word) {
                    bank.push(word);
                }
            }
        }
        let line = self.0.entry(at.line()).or_default();
        line.0 += 1;
        line.1 += words.iter().map(Vec::len).max().unwrap_or(0) as u64;
    }
}

/// A warp writes a tile of 32 by 32 by rows and reads it by columns; a row takes `STRIDE` bytes.
const TILE: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry columns() {
    .reg .b32 %r<8>;
    .reg .pred %p;
    .shared .align 4 .b8 tile[4224];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 4, %r2;
    mad.lo.u32 %r4, %r1, STRIDE, %r2;
    mov.u32 %r5, 0;
rows:
    st.shared.u32 [%r3], %r1;
    add.u32 %r3, %r3, STRIDE;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, 32;
    @%p bra rows;
    bar.warp.sync -1;
columns:
    ld.shared.u32 %r6, [%r4];
    add.u32 %r4, %r4, 4;
    sub.u32 %r5, %r5, 1;
    setp.gt.u32 %p, %r5, 0;
    @%p bra columns;
    ret;
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for stride in [128, 132] {
        let source = TILE.replace("STRIDE", &stride.to_string());
        let module = ValidatedModule::parse(&source)?;
        let program = warpsmith::Program::load(&module)?;
        let mut conflicts = BankConflicts::default();
        let launch = Launch::new("columns").block([32, 1, 1]);
        Device::new().launch_observed(&program, &launch, &mut conflicts)?;
        println!("rows of {stride} bytes:");
        for (line, (accesses, rounds)) in &conflicts.0 {
            let text = source.lines().nth(*line as usize - 1).unwrap_or_default().trim();
            println!("  line {line}: {accesses} accesses take {rounds} rounds   {text}");
        }
        let reads = conflicts.0.values().next_back().copied();
        assert_eq!(reads, Some((32, if stride == 128 { 1024 } else { 32 })));
    }
    Ok(())
}
