//! Texture fetches of what the launch has written: the texture path is not coherent with stores of the same launch.

use super::Race;
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Site};
use rustc_hash::FxHashMap;
use warpsmith_interp::Program;
use warpsmith_interp::engine::{Access, TextureOp};
use warpsmith_interp::observe::{AccessKind, Addresses, At, OperationKind};
use warpsmith_isa::StateSpace;

/// Memory is followed in units of so many bytes.
const WORD: u64 = 4;

/// What a launch has written, if it fetches at all.
#[derive(Default)]
pub(super) struct Fetches {
    /// For each operation, whether it is a fetch; empty if none is.
    fetches: Vec<bool>,
    /// The last writer of each word.
    written: FxHashMap<u64, Writer>,
}

#[derive(Clone, Copy)]
struct Writer {
    pc: u32,
    block: [u32; 3],
    warp: u32,
    lane: u32,
}

impl Fetches {
    pub fn new(program: &Program) -> Fetches {
        let is_fetch = |pc| {
            let kind = program.operation(pc).map(|operation| operation.kind);
            matches!(kind, Some(OperationKind::Texture(TextureOp::Fetch(_))))
        };
        let mut fetches: Vec<bool> = (0..program.operations()).map(is_fetch).collect();
        if !fetches.contains(&true) {
            fetches.clear();
        }
        Fetches { fetches, written: FxHashMap::default() }
    }

    /// True if the launch fetches.
    #[inline]
    pub fn matter(&self) -> bool {
        !self.fetches.is_empty()
    }
}

impl Race {
    /// Takes note of a write to global memory, and looks whether a fetch reads what was written.
    pub(super) fn fetched(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        addresses: &Addresses<'_>,
    ) {
        let fetch = self.fetches.fetches.get(at.pc as usize).copied().unwrap_or(false);
        if !fetch && kind == AccessKind::Load {
            return;
        }
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        let mut stale: Option<(u32, u64, Writer)> = None;
        let mut count = 0;
        for lane in lanes_of(at.mask) {
            let address = addresses.of(lane);
            let words = address / WORD..=address.saturating_add(bytes.max(1) - 1) / WORD;
            if !fetch {
                let writer = Writer { pc: at.pc, block: at.block, warp: at.warp, lane: lane as u32 };
                self.fetches.written.extend(words.map(|word| (word, writer)));
                continue;
            }
            if let Some(writer) = words.into_iter().find_map(|word| self.fetches.written.get(&word)) {
                count += 1;
                stale.get_or_insert((lane as u32, address, *writer));
            }
        }
        let Some((lane, address, writer)) = stale else { return };
        let (map, shape) = (&self.map, self.block_shape);
        self.report.add(codes::STALE_FETCH, &[at.pc, writer.pc], count, || {
            let place = |site: Site| {
                let mut site = site.address(StateSpace::Global, address);
                site.memory = map.holding(StateSpace::Global, address).map(|p| p.relation(address, 1));
                site
            };
            let fetch = place(Site::of_lane(at, lane, shape));
            let mask = 1 << writer.lane;
            let earlier = At { pc: writer.pc, block: writer.block, warp: writer.warp, mask, group: mask, ..*at };
            let store = place(Site::of_lane(&earlier, writer.lane, shape)).role("written in the same launch");
            let message = "a texture fetch reads texels that this launch has written";
            Finding::new(Checker::Race, codes::STALE_FETCH, message, fetch).site(store).note(
                "the texture path is not coherent with writes of the same launch, whatever barriers lie between: read by `suld`, or fetch in the next launch",
            )
        });
    }
}
