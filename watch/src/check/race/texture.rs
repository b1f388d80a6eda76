//! What reads memory past the coherent caches: fetches from textures, `ld.global.nc` and `ldu`. None sees for certain what the same launch has
//! written.

use super::Race;
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Site};
use warpsmith_base::FxHashMap;
use warpsmith_interp::Program;
use warpsmith_interp::engine::{Access, TextureOp};
use warpsmith_interp::observe::{AccessKind, Addresses, At, OperationKind};
use warpsmith_isa::{Operation, StateSpace};

/// Memory is followed in units of so many bytes.
const WORD: u64 = 4;

/// An operation that reads past the coherent caches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    Texture,
    /// `ld.global.nc`, `ldu`
    ReadOnly,
}

/// What a launch has written, if it reads past the coherent caches at all.
#[derive(Default)]
pub(super) struct Fetches {
    /// For each operation, whether it does; empty if none does.
    fetches: Vec<Option<Path>>,
    /// The last writer of each word.
    written: FxHashMap<u64, Writer>,
}

#[derive(Clone, Copy)]
struct Writer {
    pc: u32,
    block: [u32; 3],
    warp: u32,
    lane: u32,
    /// A bit for each byte of the word that someone has written.
    bytes: u8,
}

impl Fetches {
    pub fn new(program: &Program) -> Fetches {
        let path = |pc| {
            let kind = program.operation(pc)?.kind;
            if matches!(kind, OperationKind::Texture(TextureOp::Fetch(_))) {
                return Some(Path::Texture);
            }
            let operation = program.instruction(pc)?.operation();
            let read_only = matches!(operation, Operation::LdNoncoherent | Operation::Ldu);
            (read_only && matches!(kind, OperationKind::Load(_))).then_some(Path::ReadOnly)
        };
        let mut fetches: Vec<Option<Path>> = (0..program.operations()).map(path).collect();
        if fetches.iter().all(Option::is_none) {
            fetches.clear();
        }
        Fetches { fetches, written: FxHashMap::default() }
    }

    /// True if the launch reads past the coherent caches.
    #[inline]
    pub fn matter(&self) -> bool {
        !self.fetches.is_empty()
    }
}

impl Race {
    /// Takes note of a write to global memory, and looks whether what reads past the coherent caches reads what was written.
    pub(super) fn fetched(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        addresses: &Addresses<'_>,
    ) {
        let path = self.fetches.fetches.get(at.pc as usize).copied().flatten();
        if path.is_none() && kind == AccessKind::Load {
            return;
        }
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        let mut stale: Option<(u32, u64, Writer)> = None;
        let mut count = 0;
        for lane in lanes_of(at.mask) {
            let address = addresses.of(lane);
            let end = address.saturating_add(bytes.max(1));
            let words = address / WORD..=(end - 1) / WORD;
            let of_word = |word: u64| {
                let inside = |byte: &u64| (address..end).contains(&(word * WORD + byte));
                (0..WORD).filter(inside).fold(0u8, |mask, byte| mask | 1 << byte)
            };
            if path.is_none() {
                for word in words {
                    let earlier = self.fetches.written.get(&word).map_or(0, |writer| writer.bytes);
                    let (lane, bytes) = (lane as u32, of_word(word) | earlier);
                    let writer = Writer { pc: at.pc, block: at.block, warp: at.warp, lane, bytes };
                    self.fetches.written.insert(word, writer);
                }
                continue;
            }
            let written = |word| self.fetches.written.get(&word).filter(|w| w.bytes & of_word(word) != 0);
            if let Some(writer) = words.into_iter().find_map(written) {
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
            let (message, note) = match path {
                Some(Path::ReadOnly) => (
                    "a load that is not coherent reads what this launch has written",
                    "`.nc` and `ldu` are for memory that nobody writes while the kernel runs, whatever barriers lie between: read by a plain `ld` (9.7.9.9, 9.7.9.10)",
                ),
                Some(Path::Texture) | None => (
                    "a texture fetch reads texels that this launch has written",
                    "the texture path is not coherent with writes of the same launch, whatever barriers lie between: read by `suld`, or fetch in the next launch",
                ),
            };
            Finding::new(Checker::Race, codes::STALE_FETCH, message, fetch).site(store).note(note)
        });
    }
}
