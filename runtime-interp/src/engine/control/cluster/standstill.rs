//! Why a cluster cannot go on, or does not: in the words of the fault that ends the launch.

use super::{Cluster, ClusterState};
use crate::engine::async_op::AsyncOp;
use crate::engine::block::locate;
use crate::engine::context::Context;
use crate::engine::op::Op;
use crate::engine::warp::{State, Warp};
use crate::fault::{Fault, FaultCode};

impl Cluster {
    /// Says where the threads are that run and get nowhere, and whether they read memory there.
    pub fn describe_standstill(&self, cx: &Context<'_>) -> (Fault, bool) {
        let (mut fault, mut asks) = (Fault::new(FaultCode::Deadlock, ""), false);
        for (block, member) in self.blocks.iter().zip(&self.state.members) {
            for warp in block.warps() {
                let Some(group) = warp.groups.iter().find(|g| g.state == State::Ready) else { continue };
                asks |= warp.patience.asks;
                if fault.message.is_empty() {
                    locate(&mut fault, cx, member.id, warp.index, group.mask, group.pc);
                    let at = cx.at(member.id, warp.index, group.pc, group.mask);
                    fault.message = format!(
                        "block {:?} warp {} lanes {:#010x} are in `{}`",
                        member.id,
                        warp.index,
                        group.mask,
                        at.mnemonic()
                    );
                }
            }
        }
        (fault, asks)
    }

    /// Says who waits for whom.
    pub(super) fn deadlock(&mut self, cx: &Context<'_>) -> Box<Fault> {
        let mut fault = Fault::new(FaultCode::Deadlock, "");
        let mut waits = Vec::new();
        let clustered = self.blocks.len() > 1;
        let state = &self.state;
        for (rank, (block, member)) in self.blocks.iter_mut().zip(&state.members).enumerate() {
            for warp in block.warps_mut() {
                for i in 0..warp.groups.len() {
                    let g = warp.groups[i];
                    if waits.is_empty() {
                        locate(&mut fault, cx, member.id, warp.index, g.mask, g.pc);
                    }
                    let at = cx.at(member.id, warp.index, g.pc, g.mask);
                    let what = match g.state {
                        State::Barrier { id, arrived: true } => format!("at barrier {id} for other warps"),
                        State::Barrier { id, arrived: false } => {
                            format!("at barrier {id} for lanes {:#010x} of their warp", warp.alive & !g.mask)
                        }
                        State::Collective(members) => {
                            format!("for lanes {:#010x} of their warp", members & warp.alive & !g.mask)
                        }
                        State::Cluster => "at the barrier of the cluster for other threads".into(),
                        State::Mbarrier { .. } => match asked(cx, state, rank, warp, i) {
                            Some((rank, offset)) => format!("for {}", state.describe(rank, offset)),
                            None if matches!(cx.program.code[g.pc as usize].op, Op::Matrix(_)) => {
                                "for the other warps of its warpgroup to start the product".into()
                            }
                            None => "for an mbarrier object".into(),
                        },
                        State::Ready => "for an answer that does not come".into(),
                    };
                    let of = if clustered { format!("block {:?} ", member.id) } else { String::new() };
                    let source = match at.line() {
                        0 => String::new(),
                        line => format!(" of line {line}"),
                    };
                    waits.push(format!(
                        "{of}warp {} lanes {:#010x} wait in `{}`{source} {what}",
                        warp.index,
                        g.mask,
                        at.mnemonic()
                    ));
                }
            }
        }
        let (shown, more) = (waits.len().min(4), waits.len().saturating_sub(4));
        let whole = if clustered { "cluster" } else { "block" };
        fault.message = format!("no thread of the {whole} can go on: {}", waits[..shown].join("; "));
        if more > 0 {
            fault.message += &format!("; and {more} more groups of lanes");
        }
        Box::new(fault)
    }
}

/// The mbarrier object that the first lane of a group asks.
fn asked(
    cx: &Context<'_>,
    state: &ClusterState,
    rank: usize,
    warp: &mut Warp,
    g: usize,
) -> Option<(usize, usize)> {
    let group = warp.groups[g];
    let Op::Async(op) = &cx.program.code[group.pc as usize].op else { return None };
    let AsyncOp::Mbarrier(op) = &**op else { return None };
    let activation = *warp.activation(group.frame);
    let frame = warp.frame(activation.place(), cx.constants);
    let addresses = crate::engine::access::addresses(frame, &op.at, activation.stack);
    state.operand(rank, &op.at, addresses[group.mask.trailing_zeros() as usize & 31], 8).ok()
}
