//! Bulk copies, of tensors and of bytes, and accesses of tensor memory: constant arguments say which of the other arguments count, and the instruction has a modifier for each.

use super::rules::{Found, Source};
use warpsmith_isa::Mnemonic;

/// The instruction of a name. `flag` gives the constant that an argument is, counted from the end of the list: 0 is the last.
pub(super) fn find(name: &str, args: usize, flag: &dyn Fn(usize) -> i64) -> Option<Found> {
    if let Some(name) = name.strip_prefix("tcgen05.") {
        return tensor_memory(name, flag);
    }
    let name = name.strip_prefix("cp.async.bulk.")?;
    match name.strip_prefix("tensor.") {
        Some(name) => tensor(name, args, flag),
        None => bytes(name, flag),
    }
}

fn found(mnemonic: &str, order: impl IntoIterator<Item = usize>) -> Option<Found> {
    let order = order.into_iter().map(Source::Argument).collect();
    Some(Found { mnemonic: Mnemonic::parse(mnemonic).ok()?, order: Some(order) })
}

fn optional(set: bool, modifier: &str) -> &str {
    if set { modifier } else { "" }
}

fn bytes(name: &str, flag: &dyn Fn(usize) -> i64) -> Option<Found> {
    let hint = |set: bool| optional(set, ".L2::cache_hint");
    let last = flag(0) != 0;
    match name {
        "global.to.shared.cluster" => {
            let many = flag(1) != 0;
            let mnemonic = format!(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{}{}",
                optional(many, ".multicast::cluster"),
                hint(last)
            );
            found(&mnemonic, [0, 2, 3, 1].into_iter().chain(many.then_some(4)).chain(last.then_some(5)))
        }
        "global.to.shared.cta" => {
            let mnemonic =
                format!("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{}", hint(last));
            found(&mnemonic, [0, 2, 3, 1].into_iter().chain(last.then_some(4)))
        }
        "prefetch.L2" => {
            let mnemonic = format!("cp.async.bulk.prefetch.L2.global{}", hint(last));
            found(&mnemonic, [0, 1].into_iter().chain(last.then_some(2)))
        }
        "shared.cta.to.global" => {
            let mnemonic = format!("cp.async.bulk.global.shared::cta.bulk_group{}", hint(last));
            found(&mnemonic, [0, 1, 2].into_iter().chain(last.then_some(3)))
        }
        // The mask is behind the flag.
        "shared.cta.to.global.bytemask" => {
            let hinted = flag(1) != 0;
            let mnemonic = format!("cp.async.bulk.global.shared::cta.bulk_group{}.cp_mask", hint(hinted));
            found(&mnemonic, [0, 1, 2].into_iter().chain(hinted.then_some(3)).chain([5]))
        }
        _ => None,
    }
}

/// Loads and stores of tensor memory (PTX ISA 9.0, 9.7.16.8): where, how far apart the halves are if there are two, what, and whether halves share registers.
fn tensor_memory(name: &str, flag: &dyn Fn(usize) -> i64) -> Option<Found> {
    let (way, shape) = name.split_once('.')?;
    let packed = match way {
        "ld" => ".pack::16b",
        "st" => ".unpack::16b",
        _ => return None,
    };
    let mnemonic = format!("tcgen05.{way}.sync.aligned.{shape}{}.b32", optional(flag(0) != 0, packed));
    let operands = 1 + usize::from(shape.starts_with("16x32bx2")) + usize::from(way == "st");
    found(&mnemonic, 0..operands)
}

/// Which way a tensor is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// To shared memory of a cluster.
    Load,
    /// To that of the block.
    LoadBlock,
    Prefetch,
    /// To global memory, also as the operand of a reduction.
    Store,
}

fn tensor(name: &str, args: usize, flag: &dyn Fn(usize) -> i64) -> Option<Found> {
    let (name, dimensions) = name.rsplit_once('.')?;
    let rank: usize = dimensions.strip_suffix('d')?.parse().ok()?;
    let (way, op, mode) = if let Some(mode) = name.strip_prefix("g2s.cta.") {
        (Way::LoadBlock, None, mode)
    } else if let Some(mode) = name.strip_prefix("g2s.") {
        (Way::Load, None, mode)
    } else if let Some(mode) = name.strip_prefix("prefetch.") {
        (Way::Prefetch, None, mode)
    } else if let Some(mode) = name.strip_prefix("s2g.") {
        (Way::Store, None, mode)
    } else {
        let (op, mode) = name.strip_prefix("reduce.")?.split_once('.')?;
        (Way::Store, Some(op), mode)
    };
    let stores = way == Way::Store;
    // How it is written, how many coordinates and how many offsets it has.
    let (mode, coordinates, offsets) = match mode {
        "tile" => ("tile", rank, 0),
        "tile.gather4" => ("tile::gather4", 5, 0),
        "tile.scatter4" => ("tile::scatter4", 5, 0),
        "im2col" if stores => ("im2col_no_offs", rank, 0),
        "im2col" => ("im2col", rank, rank.checked_sub(2)?),
        "im2col.w" => ("im2col::w", rank, 2),
        "im2col.w.128" => ("im2col::w::128", rank, 2),
        _ => return None,
    };
    let hint = |set: bool| optional(set, ".L2::cache_hint");
    // The arguments before the coordinates: where to or from, the mbarrier object, the map.
    let (before, map) = match way {
        Way::Load | Way::LoadBlock => (3, 2),
        Way::Prefetch => (1, 0),
        Way::Store => (2, 1),
    };
    let places = [map].into_iter().chain(before..before + coordinates);
    let shifts = before + coordinates..before + coordinates + offsets;
    let behind = shifts.end;
    match way {
        Way::Load => {
            // Behind the offsets: the mask, the policy, whether they count, and how many blocks work together.
            let (many, hinted, group) = (flag(2) != 0, flag(1) != 0, flag(0));
            if behind + 5 != args {
                return None;
            }
            let group = match group {
                0 => "",
                1 => ".cta_group::1",
                2 => ".cta_group::2",
                _ => return None,
            };
            let mnemonic = format!(
                "cp.async.bulk.tensor.{dimensions}.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes{}{group}{}",
                optional(many, ".multicast::cluster"),
                hint(hinted)
            );
            let order = [0].into_iter().chain(places).chain([1]).chain(shifts);
            found(&mnemonic, order.chain(many.then_some(behind)).chain(hinted.then_some(behind + 1)))
        }
        Way::LoadBlock => {
            let hinted = flag(0) != 0;
            let mnemonic = format!(
                "cp.async.bulk.tensor.{dimensions}.shared::cta.global.{mode}.mbarrier::complete_tx::bytes{}",
                hint(hinted)
            );
            let order = [0].into_iter().chain(places).chain([1]).chain(shifts);
            found(&mnemonic, order.chain(hinted.then_some(behind)))
        }
        Way::Prefetch => {
            let hinted = flag(0) != 0;
            let mnemonic =
                format!("cp.async.bulk.prefetch.tensor.{dimensions}.L2.global.{mode}{}", hint(hinted));
            found(&mnemonic, places.chain(shifts).chain(hinted.then_some(behind)))
        }
        Way::Store => {
            let hinted = flag(0) != 0;
            let mnemonic = match op {
                Some(op) => format!(
                    "cp.reduce.async.bulk.tensor.{dimensions}.global.shared::cta.{op}.{mode}.bulk_group{}",
                    hint(hinted)
                ),
                None => format!(
                    "cp.async.bulk.tensor.{dimensions}.global.shared::cta.{mode}.bulk_group{}",
                    hint(hinted)
                ),
            };
            found(&mnemonic, places.chain([0]).chain(hinted.then_some(behind)))
        }
    }
}
