//! Copies by tensor map (PTX ISA 9.0, 9.7.9.25.5) as transfers, and changes of maps (9.7.9.26).
//!
//! A map is read and checked when the copy is issued, and so is every row of the tensor that it touches: what is in flight touches nothing
//! else. Rows move at the transfer's times.

use super::flight::{Issuer, Work};
use super::piece::{Piece, Signal, Source};
use super::places::{Spot, Target};
use super::progress::{reduce, written};
use crate::engine::async_op::{
    Completion, Group, OverrideOp, ReplaceOp, TensorAction, TensorOp, TransferAction,
};
use crate::engine::cluster::ClusterState;
use crate::engine::observe::{AccessKind, Addresses, Stage};
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{lane32, lane64, lanes_of};
use crate::fault::FaultCode;
use crate::memory::window;
use crate::tensor::tile::{Request, Row, Tile, convert, filled, pack_six};
use crate::tensor::{self, Descriptor, ElementType, Override, Run};
use smallvec::SmallVec;
use warpsmith_isa::StateSpace;

/// Bytes of a tensor map, and what its address is a multiple of.
const MAP_BYTES: u32 = 128;
const MAP_ALIGN: u64 = 64;

/// A tile on its way.
pub(super) struct TilePiece {
    /// In the tensor.
    rows: Vec<Row>,
    /// In shared memory.
    runs: Vec<Run>,
    element: ElementType,
    /// What the tile holds where the tensor ends; of a load only.
    fill: Option<Vec<u8>>,
    /// The block of the cluster whose memory a tile is stored from.
    rank: usize,
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Puts a copy by tensor map in flight.
    pub fn start_tensor(&mut self, issue: Issue<'_>, op: &TensorOp) -> Fallible<Next> {
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::new();
        let mut action = TransferAction::Store;
        let of = |at: &Access| crate::engine::access::addresses(issue.frame, at, issue.stack);
        let maps = of(&op.map);
        let shared = op.shared.as_ref().map(|at| (at, of(at)));
        let signals = if let Completion::Mbarrier(at) = &op.completion { Some((at, of(at))) } else { None };
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let map = self.tensor_map(one, &op.map, maps[lane])?;
            let coordinates: SmallVec<[i32; 5]> =
                op.coordinates.iter().map(|r| lane32(issue.frame, *r, lane) as i32).collect();
            let info: SmallVec<[u16; 3]> =
                op.info.iter().map(|r| lane32(issue.frame, *r, lane) as u16).collect();
            let map = match &op.replaced {
                None => map,
                Some(new) => self.overridden(one, map, new, (lane, &coordinates))?,
            };
            let load = matches!(op.action, TensorAction::Load { .. } | TensorAction::Prefetch);
            let request = Request { mode: op.mode, coordinates: &coordinates, info: &info, load };
            let misuse = |message: String| self.fault(one, FaultCode::BadOperand, message);
            let tile = Tile::new(&map, &request).map_err(misuse)?;
            if let TensorAction::Reduce(functions) = &op.action {
                let function = functions[map.element as usize].ok_or_else(|| {
                    misuse(format!(
                        "`elemtype` of the tensor map is {}, which has no such reduction",
                        map.element.name()
                    ))
                })?;
                action = TransferAction::Reduce { bytes: (map.element.bits() / 8) as u8, function };
            }
            let Some((at, addresses)) = &shared else { continue };
            let (rank, offset) = self.tile_operand(one, at, addresses[lane], &map, tile.bytes)?;
            let rows = tile.rows(&map).map_err(misuse)?;
            self.check_rows(one, &map, &rows)?;
            let bytes = tile.bytes as u32;
            let runs = tensor::runs(map.swizzle, map.element, offset as u32, bytes, load);
            let mut to = SmallVec::new();
            let fill = load.then(|| filled(&map, bytes));
            if let Some((object, addresses)) = &signals {
                let signal = self.shared_operand(one, object, addresses[lane], 8)?;
                self.tile_targets(one, op, lane, (rank, offset), signal, &mut to)?;
            } else {
                to.push(Target { at: Spot::Global(map.address), signal: None });
            }
            pieces.push(Piece {
                from: Source::Tile,
                read: bytes,
                bytes,
                to,
                signal: Signal { ignored: 0, report: op.report },
                tile: Some(Box::new(TilePiece { rows, runs, element: map.element, fill, rank })),
                ..Piece::of_lane(lane)
            });
        }
        if pieces.is_empty() {
            return Ok(Next::Advance);
        }
        let group = matches!(op.completion, Completion::Group(_)).then_some(Group::Bulk);
        let first = issue.block.cluster.flight.borrow().issued;
        self.launch(issue, group, Work::Move(action), pieces)?;
        if WATCHED {
            for lane in lanes_of(issue.mask) {
                let address = maps[lane];
                if op.map.space == StateSpace::Global || window::is_global(address) {
                    let place = Spot::Global(address).place(MAP_BYTES);
                    let at = self.at(issue.only(1 << lane));
                    self.observer.transfer(&at, first, Stage::Described(place));
                }
            }
        }
        Ok(Next::Advance)
    }

    /// What the map at a generic address describes.
    fn tensor_map(&mut self, one: Issue<'_>, at: &Access, address: u64) -> Fallible<Descriptor> {
        let (space, offset) = window::locate(at.space, address);
        let bad = |code: FaultCode, message: String| {
            let message = format!("the tensor map at {space} address {offset:#x}: {message}");
            self.fault_at(one, code, offset, message)
        };
        if !offset.is_multiple_of(MAP_ALIGN) {
            let message = format!("the address is not a multiple of {MAP_ALIGN}");
            return Err(bad(FaultCode::Misaligned, message));
        }
        let (memory, start, rest) = match space {
            StateSpace::Global => self.cx.global_at(offset).ok_or_else(|| {
                bad(FaultCode::OutOfBounds, self.cx.describe_global(offset, MAP_BYTES.into()))
            })?,
            StateSpace::Const => {
                (self.cx.constant, offset as usize, (self.cx.constant.len() as u64).saturating_sub(offset))
            }
            StateSpace::Param => {
                (self.cx.params, offset as usize, (self.cx.params.len() as u64).saturating_sub(offset))
            }
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Local
            | StateSpace::Shared
            | StateSpace::Tex => {
                let message = "a tensor map is in global or constant memory, or a parameter of the kernel";
                return Err(bad(FaultCode::OutOfBounds, message.into()));
            }
        };
        if rest < u64::from(MAP_BYTES) {
            let message = format!("{MAP_BYTES} bytes are read, and {rest} are there");
            return Err(bad(FaultCode::OutOfBounds, message));
        }
        let mut bytes = [0; MAP_BYTES as usize];
        memory.load_relaxed(start, &mut bytes);
        tensor::decode(&bytes).map_err(|error| bad(FaultCode::BadTensorMap, error.to_string()))
    }

    /// The map with the fields that the copy itself gives.
    fn overridden(
        &self,
        one: Issue<'_>,
        map: Descriptor,
        new: &OverrideOp,
        (lane, coordinates): (usize, &[i32]),
    ) -> Fallible<Descriptor> {
        let value = |r: &Reg| u64::from(lane32(one.frame, *r, lane));
        let dims = if new.sizes.is_empty() {
            None
        } else {
            if let Some(at) = coordinates.iter().position(|c| *c != 0) {
                let message = format!(
                    "coordinate {at} is {}; where a copy gives the sizes of the tensor all must be 0",
                    coordinates[at]
                );
                return Err(self.fault(one, FaultCode::BadOperand, message));
            }
            let (mut dims, mut strides) = (map.dims, map.strides);
            dims.iter_mut().zip(&new.sizes).for_each(|(dim, r)| *dim = value(r) & 0xffff);
            // Sixteenths of strides: 32 bits each, and four more in the upper word.
            let upper = new.upper.as_ref().map_or(0, &value);
            for (i, (stride, r)) in strides.iter_mut().zip(&new.lower).enumerate() {
                *stride = (value(r) | (upper >> (4 * i) & 15) << 32) << 4;
            }
            Some((dims, strides))
        };
        let new = Override { address: lane64(one.frame, new.address, lane), dims };
        map.with(&new).map_err(|error| {
            let message = format!("the tensor map with what the copy gives: {error}");
            self.fault(one, FaultCode::BadTensorMap, message)
        })
    }

    /// The place of a tile in shared memory.
    fn tile_operand(
        &self,
        one: Issue<'_>,
        at: &Access,
        address: u64,
        map: &Descriptor,
        bytes: u64,
    ) -> Fallible<(usize, usize)> {
        let extent = bytes.next_multiple_of(map.swizzle.span().into());
        one.block.cluster.operand(one.block.rank, at, address, extent).map_err(|(code, message)| {
            let message = format!("a tile of {extent} bytes in shared memory: {message}");
            self.fault_at(one, code, address, message)
        })
    }

    /// Every row must be there.
    fn check_rows(&self, one: Issue<'_>, map: &Descriptor, rows: &[Row]) -> Fallible<()> {
        let mut known = 0..0;
        for row in rows {
            let end = row.address + u64::from(row.bytes);
            if known.contains(&row.address) && end <= known.end {
                continue;
            }
            match self.cx.global_at(row.address).filter(|_| window::is_global(row.address)) {
                Some((_, _, rest)) if u64::from(row.bytes) <= rest => known = row.address..row.address + rest,
                _ => {
                    let place = self.cx.describe_global(row.address, row.bytes.into());
                    let message = format!(
                        "{} bytes of the tensor at `global_address` {:#x} of the map are at global address {:#x}: {place}",
                        row.bytes, map.address, row.address
                    );
                    return Err(self.fault_at(one, FaultCode::OutOfBounds, row.address, message));
                }
            }
        }
        Ok(())
    }

    /// Where a tile goes, and what is signalled.
    fn tile_targets(
        &self,
        one: Issue<'_>,
        op: &TensorOp,
        lane: usize,
        (rank, offset): (usize, usize),
        (tracker, object): (usize, usize),
        to: &mut SmallVec<[Target; 1]>,
    ) -> Fallible<()> {
        let misuse = |message: String| Err(self.fault(one, FaultCode::BadOperand, message));
        let pair = matches!(op.action, TensorAction::Load { pair: true });
        let members = one.block.cluster.members.len();
        // Of a pair of blocks, the one with the parity of the object's is signalled.
        let signalled = |rank: usize| if pair { rank & !1 | tracker & 1 } else { rank };
        let ranks = match op.multicast {
            None => {
                if signalled(rank) != tracker {
                    return misuse(format!(
                        "the destination is in block {rank} of the cluster, its mbarrier object in block {tracker}{}",
                        if pair { ", which is not of the same pair" } else { "" }
                    ));
                }
                1 << rank
            }
            Some((r, bits)) => lane32(one.frame, r, lane) & (u32::MAX >> (32 - bits)),
        };
        if ranks >> members.min(31) != 0 {
            return misuse(format!("multicast to blocks {ranks:#b} of a cluster of {members}"));
        }
        for rank in lanes_of(ranks) {
            let signal = signalled(rank);
            if signal >= members {
                return misuse(format!("block {rank} has no peer in a cluster of {members}"));
            }
            to.push(Target { at: Spot::Shared(rank, offset), signal: Some((signal, object)) });
        }
        Ok(())
    }

    /// Reads a tile.
    pub(super) fn read_tile(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        piece: &mut Piece,
    ) -> Fallible<()> {
        let Some(tile) = &mut piece.tile else { return Ok(()) };
        match tile.fill.take() {
            Some(mut data) => {
                for row in &tile.rows {
                    let spot = Spot::Global(row.address);
                    let (memory, offset) = self.live_memory(cluster, issuer, piece.lane, spot, row.bytes)?;
                    let into = &mut data[row.at as usize..][..row.bytes as usize];
                    memory.load_relaxed(offset, into);
                    convert(tile.element, into);
                    self.report(cluster, issuer, piece.lane, || Stage::Read(spot.part(row.at, row.bytes)));
                }
                piece.data = SmallVec::from_vec(data);
            }
            None => {
                piece.data.resize(piece.bytes as usize, 0);
                for run in &tile.runs {
                    let spot = Spot::Shared(tile.rank, run.shared as usize);
                    let (memory, offset) = self.live_memory(cluster, issuer, piece.lane, spot, run.bytes)?;
                    memory.load_relaxed(offset, &mut piece.data[run.at as usize..][..run.bytes as usize]);
                    self.report(cluster, issuer, piece.lane, || Stage::Read(spot.part(run.at, run.bytes)));
                }
                convert(tile.element, &mut piece.data);
            }
        }
        Ok(())
    }

    /// Writes a tile, or combines it with the tensor.
    pub(super) fn write_tile(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        action: TransferAction,
        piece: &Piece,
        tile: &TilePiece,
        target: &Target,
    ) -> Fallible<()> {
        if let Spot::Shared(rank, _) = target.at {
            for run in &tile.runs {
                let spot = Spot::Shared(rank, run.shared as usize);
                let (memory, offset) = self.live_memory(cluster, issuer, piece.lane, spot, run.bytes)?;
                memory.store_relaxed(offset, &piece.data[run.at as usize..][..run.bytes as usize]);
                self.report(cluster, issuer, piece.lane, || Stage::Written(spot.part(run.at, run.bytes)));
            }
            return Ok(());
        }
        for row in &tile.rows {
            let spot = Spot::Global(row.address);
            let (memory, offset) = self.live_memory(cluster, issuer, piece.lane, spot, row.bytes)?;
            let data = &piece.data[row.at as usize..];
            match action {
                TransferAction::Store if tile.element == ElementType::B6x16P32 => {
                    memory.store_relaxed(offset, &pack_six(data));
                }
                TransferAction::Store => memory.store_relaxed(offset, &data[..row.bytes as usize]),
                TransferAction::Reduce { bytes, function } => {
                    reduce(memory, offset, spot, function, bytes.into(), &data[..row.bytes as usize]);
                }
            }
            self.report(cluster, issuer, piece.lane, || written(action, spot.part(row.at, row.bytes)));
        }
        Ok(())
    }

    /// `tensormap.replace`
    pub fn replace_field(&mut self, issue: Issue<'_>, op: &ReplaceOp) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let address = addresses[lane];
            let bad = |code: FaultCode, message: String| self.fault_at(one, code, address, message);
            let spot =
                self.spot(issue.block, &op.at, address, MAP_BYTES, None).map_err(|(code, message)| {
                    bad(code, format!("a tensor map of {MAP_BYTES} bytes: {message}"))
                })?;
            let Some((memory, offset)) = self.memory(issue.block.cluster, spot, MAP_BYTES) else {
                return Err(bad(FaultCode::OutOfBounds, format!("there is no tensor map at {address:#x}")));
            };
            let mut bytes = [0; MAP_BYTES as usize];
            memory.load_relaxed(offset, &mut bytes);
            let value = lane64(issue.frame, op.value, lane);
            tensor::replace(&mut bytes, op.field, op.ordinal as usize, value, op.class)
                .map_err(|error| bad(FaultCode::BadTensorMap, error.to_string()))?;
            memory.store_relaxed(offset, &bytes);
            if WATCHED && self.interest.accesses {
                let at_pc = self.at(one);
                let (space, start) = match spot {
                    Spot::Global(address) => (StateSpace::Global, address),
                    Spot::Shared(rank, offset) => {
                        (StateSpace::Shared, window::in_member(offset as u64, rank as u32))
                    }
                };
                let part = Access { bytes: 16, count: 1, ..op.at };
                for i in (0..u64::from(MAP_BYTES)).step_by(16) {
                    let addresses = Addresses::Each(&[start + i; 32]);
                    self.observer.access(&at_pc, AccessKind::Store, &part, space, addresses);
                }
            }
        }
        Ok(Next::Advance)
    }
}
