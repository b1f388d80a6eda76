//! What threads do together: barriers of the block, and the operations of a warp's lanes that a mask names.

use super::compute::{low, signed};
use super::load::{Inst, Op};
use super::thread::{Place, State};
use super::{Block, Stop};
use warpsmith_isa::{Mod, Opcode, ScalarType};

/// True for a barrier that reduces predicates.
pub(super) fn reduces(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::BarRed | Opcode::BarCtaRed | Opcode::BarrierRed | Opcode::BarrierCtaRed)
}

impl Block<'_> {
    fn place(&self, thread: usize) -> Place<'_> {
        Place { lane: thread % 32, warp: thread / 32, index: self.index, launch: self.launch }
    }

    /// The value of an operand of the instruction that a thread waits at.
    fn value(&mut self, thread: usize, op: &Op, ty: ScalarType) -> Result<u128, Stop> {
        let place = Place { lane: thread % 32, warp: thread / 32, index: self.index, launch: self.launch };
        self.threads[thread].value(op, ty, &place)
    }

    fn go_on(&mut self, thread: usize) {
        self.threads[thread].state = State::Ready;
        if let Some(frame) = self.threads[thread].frames.last_mut() {
            frame.next += 1;
        }
    }

    /// Lets threads go on for which a barrier is complete.
    pub(super) fn release_barriers(&mut self) -> Result<bool, Stop> {
        let mut released = false;
        let numbers: Vec<(u32, Option<u32>)> = self
            .threads
            .iter()
            .filter_map(|t| {
                if let State::Barrier(number, count) = t.state { Some((number, count)) } else { None }
            })
            .collect();
        for (number, count) in numbers {
            let waiting: Vec<usize> = (0..self.threads.len())
                .filter(|&n| matches!(self.threads[n].state, State::Barrier(at, _) if at == number))
                .collect();
            let live = self.threads.iter().filter(|t| t.state != State::Done).count();
            let wanted = count.map_or(live, |count| count as usize);
            if waiting.is_empty() || waiting.len() < wanted {
                continue;
            }
            self.reduce(&waiting)?;
            waiting.into_iter().for_each(|thread| self.go_on(thread));
            released = true;
        }
        Ok(released)
    }

    /// The result of a barrier that reduces, for all that wait at it.
    fn reduce(&mut self, waiting: &[usize]) -> Result<(), Stop> {
        let mut holds = Vec::new();
        for &thread in waiting {
            let loaded = self.loaded;
            let Some(inst) = self.threads[thread].at(loaded) else { return Err(Stop::Deadlock) };
            if !reduces(inst.mnemonic.opcode()) {
                return Ok(());
            }
            let Some(op) = inst.operands.last() else { return Err(Stop::Deadlock) };
            holds.push(self.value(thread, op, ScalarType::Pred)? != 0);
        }
        for &thread in waiting {
            let loaded = self.loaded;
            let Some(inst) = self.threads[thread].at(loaded) else { return Err(Stop::Deadlock) };
            let result = match () {
                () if inst.mnemonic.has(Mod::Popc) => holds.iter().filter(|h| **h).count() as u128,
                () if inst.mnemonic.has(Mod::And) => holds.iter().all(|h| *h).into(),
                () if inst.mnemonic.has(Mod::Or) => holds.iter().any(|h| *h).into(),
                () => return Err(Stop::Unsupported(inst.mnemonic.to_string())),
            };
            self.threads[thread].write(&inst.operands[0], result)?;
        }
        Ok(())
    }

    /// Does what lanes wait for that are all there.
    pub(super) fn release_warps(&mut self) -> Result<bool, Stop> {
        let mut released = false;
        for first in 0..self.threads.len() {
            let State::Warp(mask) = self.threads[first].state else { continue };
            let base = first / 32 * 32;
            let lanes: Vec<usize> = (0..32)
                .filter(|lane| mask >> lane & 1 == 1)
                .map(|lane| base + lane)
                .filter(|&n| n < self.threads.len() && self.threads[n].state != State::Done)
                .collect();
            let here = |n: usize| {
                let frame = self.threads[n].frames.last();
                frame.map(|frame| (frame.function, frame.next))
            };
            let at = here(first);
            if lanes.iter().any(|&n| self.threads[n].state != State::Warp(mask) || here(n) != at) {
                continue;
            }
            let loaded = self.loaded;
            let Some(inst) = self.threads[first].at(loaded) else { return Err(Stop::Deadlock) };
            self.exchange(inst, &lanes, mask)?;
            lanes.into_iter().for_each(|thread| self.go_on(thread));
            released = true;
        }
        Ok(released)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not described here is said so")]
    fn exchange(&mut self, inst: &Inst, lanes: &[usize], mask: u32) -> Result<(), Stop> {
        let m = &inst.mnemonic;
        if m.opcode() == Opcode::BarWarp {
            return Ok(());
        }
        let unknown = || Stop::Unsupported(m.to_string());
        if m.opcode() == Opcode::Elect {
            // Any of them may lead, by the manual.
            let Some(Op::Pair(both)) = inst.operands.first() else { return Err(unknown()) };
            for &thread in lanes {
                self.threads[thread].write(&both[0], lanes[0] as u128 % 32)?;
                self.threads[thread].write(&both[1], u128::from(thread == lanes[0]))?;
            }
            return Ok(());
        }
        let ty = m.types().next().ok_or_else(unknown)?;
        let source = inst.operands.get(1).ok_or_else(unknown)?;
        let source_type = if m.opcode() == Opcode::Vote { ScalarType::Pred } else { ty };
        let mut values = Vec::new();
        for &lane in lanes {
            values.push(self.value(lane, source, source_type)?);
        }
        let mut results: Vec<[u128; 2]> = Vec::new();
        for (n, &thread) in lanes.iter().enumerate() {
            results.push(match m.opcode() {
                Opcode::Shfl => self.shuffle(inst, thread, lanes, &values)?,
                Opcode::Vote => {
                    let all = values.iter().all(|v| *v != 0);
                    let any = values.iter().any(|v| *v != 0);
                    let ballot =
                        lanes.iter().zip(&values).fold(0, |b, (l, v)| b | u128::from(*v != 0) << (l % 32));
                    match () {
                        () if m.has(Mod::All) => [all.into(), 0],
                        () if m.has(Mod::Any) => [any.into(), 0],
                        () if m.has(Mod::Uni) => [u128::from(all || !any), 0],
                        () if m.has(Mod::Ballot) => [ballot, 0],
                        () => return Err(unknown()),
                    }
                }
                Opcode::Match => {
                    let same = lanes.iter().zip(&values).filter(|(_, v)| **v == values[n]);
                    let same = same.fold(0, |b, (l, _)| b | 1u128 << (l % 32));
                    let all = values.iter().all(|v| *v == values[0]);
                    match () {
                        () if m.has(Mod::Any) => [same, 0],
                        () if m.has(Mod::All) => [if all { mask.into() } else { 0 }, all.into()],
                        () => return Err(unknown()),
                    }
                }
                Opcode::Redux => {
                    let number = |v: u128| if ty.is_signed() { signed(v, 32) } else { low(v, 32) as i128 };
                    let all = values.iter().map(|v| number(*v));
                    let result = match () {
                        () if ty.is_float() => return Err(unknown()),
                        () if m.has(Mod::Add) => all.sum(),
                        () if m.has(Mod::Min) => all.min().unwrap_or(0),
                        () if m.has(Mod::Max) => all.max().unwrap_or(0),
                        () if m.has(Mod::And) => all.fold(-1, |a, b| a & b),
                        () if m.has(Mod::Or) => all.fold(0, |a, b| a | b),
                        () if m.has(Mod::Xor) => all.fold(0, |a, b| a ^ b),
                        () => return Err(unknown()),
                    };
                    [low(result as u128, 32), 0]
                }
                _ => return Err(unknown()),
            });
        }
        for (&thread, [result, second]) in lanes.iter().zip(results) {
            match &inst.operands[0] {
                Op::Pair(both) => {
                    self.threads[thread].write(&both[0], result)?;
                    self.threads[thread].write(&both[1], second)?;
                }
                op => self.threads[thread].write(op, result)?,
            }
        }
        Ok(())
    }

    /// The pseudo code of section 9.7.9.6.
    fn shuffle(
        &mut self,
        inst: &Inst,
        thread: usize,
        lanes: &[usize],
        values: &[u128],
    ) -> Result<[u128; 2], Stop> {
        let lane = self.place(thread).lane as i64;
        let b = self.value(thread, &inst.operands[2], ScalarType::B32)? as i64 & 31;
        let c = self.value(thread, &inst.operands[3], ScalarType::B32)? as i64;
        let (clamp, segment) = (c & 31, c >> 8 & 31);
        let greatest = (lane & segment) | (clamp & !segment);
        let least = lane & segment;
        let m = &inst.mnemonic;
        let (from, holds) = match () {
            () if m.has(Mod::Up) => (lane - b, lane - b >= greatest),
            () if m.has(Mod::Down) => (lane + b, lane + b <= greatest),
            () if m.has(Mod::Bfly) => (lane ^ b, lane ^ b <= greatest),
            () if m.has(Mod::Idx) => {
                let from = least | (b & !segment);
                (from, from <= greatest)
            }
            () => return Err(Stop::Unsupported(m.to_string())),
        };
        let from = if holds { from } else { lane };
        let at = lanes.iter().position(|n| (n % 32) as i64 == from);
        match at {
            Some(at) => Ok([values[at], holds.into()]),
            None => Err(Stop::Fault("a shuffle from a lane that takes no part".to_owned())),
        }
    }
}
