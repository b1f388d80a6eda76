//! Calls into the system, which PTX declares and the driver defines (PTX interoperability guide, chapter 4), and the part of a
//! thread's stack that `alloca` gives (PTX ISA 9.0, 9.7.17).

use crate::engine::local::DYNAMIC;
use crate::engine::observe::{AccessKind, Addresses, Verdict};
use crate::engine::op::{Access, StackOp, System, SystemCall};
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{lane64, lanes_of, put};
use crate::engine::warp::Warp;
use crate::fault::FaultCode;
use crate::memory::bytes::{Concurrent, Mode};
use crate::memory::window;
use crate::printf::{self, Arguments};
use warpsmith_isa::StateSpace;

/// The longest string that is read from the guest's memory.
const LONGEST: usize = 1 << 20;
/// Bytes of text that count as one instruction.
const BYTES_PER_STEP: usize = 64;
/// What `malloc` and `free` of one thread count, in instructions of a warp.
const STEPS_PER_ALLOCATION: u64 = 32;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Executes a system call for the lanes of `here`, one after the other.
    pub fn system(&mut self, warp: &mut Warp, issue: Issue<'_>, op: &System) -> Fallible<()> {
        self.changes += 1;
        if let SystemCall::Malloc | SystemCall::Free = op.call {
            warp.extra += u64::from(issue.mask.count_ones()) * STEPS_PER_ALLOCATION;
        }
        let mut results = [0; 32];
        for lane in lanes_of(issue.mask) {
            let arg = |i: usize| op.args.get(i).map_or(0, |r| lane64(issue.frame, *r, lane));
            let issue = issue.only(1 << lane);
            results[lane] = match op.call {
                SystemCall::Printf => self.printf(warp, issue, arg(0), arg(1))?,
                SystemCall::Malloc => {
                    let address = self.cx.heap.and_then(|heap| heap.allocate(arg(0))).unwrap_or(0);
                    if self.cx.fresh != 0
                        && address != 0
                        && let Some((memory, at, _)) = self.cx.global_at(address)
                    {
                        memory.fill(at, arg(0) as usize, self.cx.fresh);
                    }
                    if WATCHED && address != 0 {
                        let at = self.at(issue);
                        self.observer.allocated(&at, address, arg(0));
                    }
                    address
                }
                SystemCall::Free => {
                    let address = arg(0);
                    if let (Some(heap), 1..) = (self.cx.heap, address) {
                        match heap.free(address) {
                            Ok(()) if WATCHED => {
                                let at = self.at(issue);
                                self.observer.freed(&at, address);
                            }
                            Ok(()) => {}
                            Err(message) => {
                                let fault = self.fault_at(issue, FaultCode::BadFree, address, message);
                                let at = self.at(issue);
                                if !WATCHED || self.observer.fault(&at, &fault, None) == Verdict::Stop {
                                    return Err(fault);
                                }
                            }
                        }
                    }
                    0
                }
                SystemCall::AssertFail => {
                    let mut text = |i| {
                        let bytes = self.string(warp, issue, arg(i), None)?;
                        Fallible::Ok(String::from_utf8_lossy(&bytes).into_owned())
                    };
                    let (assertion, file, function) = (text(0)?, text(1)?, text(3)?);
                    let message =
                        format!("{file}:{}: {function}: Assertion `{assertion}` failed", arg(2) as u32);
                    return Err(self.fault(issue, FaultCode::Assertion, message));
                }
            };
        }
        if let Some(dst) = op.dst {
            put(issue.frame, dst, issue.mask, &results);
        }
        Ok(())
    }

    /// `vprintf`: the number of arguments that the format took, or -1 if there is no format.
    fn printf(&mut self, warp: &mut Warp, issue: Issue<'_>, format: u64, list: u64) -> Fallible<u64> {
        if format == 0 {
            return Ok(u64::from(u32::MAX));
        }
        let format = self.string(warp, issue, format, None)?;
        let mut args = ArgumentList { runner: self, warp, issue, next: list, read: format.len() };
        let (text, taken) = printf::format(&format, &mut args)?;
        let work = args.read + text.len();
        // Formatting is work too, and limits must see it.
        warp.extra += (work / BYTES_PER_STEP) as u64;
        self.cx.output.push(self.cx.block_number(issue.block.id), text);
        Ok(taken.into())
    }

    /// The bytes at a generic address up to a zero, or up to `most` of them.
    fn string(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        address: u64,
        most: Option<usize>,
    ) -> Fallible<Vec<u8>> {
        let mut bytes = Vec::new();
        let most = most.unwrap_or(usize::MAX);
        let (start, rest) =
            if most == 0 { (std::ptr::null_mut(), 0) } else { self.at_address(warp, issue, address, 1)? };
        while bytes.len() < most {
            if bytes.len() >= LONGEST {
                let message = format!("the string at {address:#x} is longer than {LONGEST} bytes");
                return Err(self.fault(issue, FaultCode::OutOfBounds, message));
            }
            let at = bytes.len();
            if at as u64 >= rest {
                // Past the end: this names the memory.
                self.at_address(warp, issue, address.wrapping_add(at as u64), 1)?;
                let message = format!("the string at {address:#x} does not end within its memory");
                return Err(self.fault(issue, FaultCode::OutOfBounds, message));
            }
            // SAFETY: `at_address` found `rest` bytes there.
            match unsafe { Concurrent::load::<u8>(start.add(at)) } {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Ok(bytes)
    }

    /// The memory at a generic address that the lane of `here` reads, and how many bytes of it there are, `size` at least.
    fn at_address(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        address: u64,
        size: u64,
    ) -> Fallible<(*mut u8, u64)> {
        let (space, offset) = window::classify(address);
        let lane = issue.mask.trailing_zeros() as usize & 31;
        if WATCHED && self.interest.accesses {
            let at = self.at(issue);
            let access = Access::unsigned(StateSpace::Generic, size as u8);
            self.observer.access(&at, AccessKind::Load, &access, space, Addresses::Each(&[offset; 32]));
        }
        let found = if address.is_multiple_of(size) {
            self.memory_at(warp, issue, (AccessKind::Load, true), lane, space, offset)
        } else {
            None
        };
        match found {
            Some((at, rest)) if rest >= size => Ok((at, rest)),
            _ => Err(self.bad_access(warp, issue, (AccessKind::Load, true), space, offset, size)),
        }
    }

    /// `alloca stacksave stackrestore`. Threads of a warp may have allocated differently, so each has a top of its own.
    pub fn stack(&mut self, warp: &mut Warp, issue: Issue<'_>, op: &StackOp) -> Fallible<()> {
        self.changes += 1;
        match *op {
            StackOp::Save(dst) => self.save_stack(warp, issue, dst),
            StackOp::Restore(src) => {
                for lane in lanes_of(issue.mask) {
                    let value = lane64(issue.frame, src, lane);
                    let top = value.wrapping_sub(DYNAMIC);
                    if top > u64::from(warp.tops[lane]) {
                        let issue = issue.only(1 << lane);
                        let message = format!(
                            "`stackrestore` of {value:#x}, which is not a stack pointer that was saved"
                        );
                        return Err(self.fault(issue, FaultCode::OutOfBounds, message));
                    }
                    warp.tops[lane] = top as u32;
                }
            }
            StackOp::Allocate { dst, size, align } => {
                let mut addresses = [0; 32];
                let mut high = 0;
                for lane in lanes_of(issue.mask) {
                    let size = lane64(issue.frame, size, lane);
                    let start = u64::from(warp.tops[lane]).next_multiple_of(align.into());
                    let end = start.checked_add(size).and_then(|end| end.checked_next_multiple_of(8));
                    let most = self.cx.limits.stack.saturating_sub(u64::from(issue.stack_end));
                    let Some(end) = end.filter(|end| *end <= most.min(u64::from(u32::MAX / 2))) else {
                        let issue = issue.only(1 << lane);
                        let message = format!(
                            "`alloca` of {size} bytes at a multiple of {align}: a thread has {} bytes of stack, of which {} are taken",
                            self.cx.limits.stack,
                            u64::from(issue.stack_end) + u64::from(warp.tops[lane])
                        );
                        return Err(self.fault(issue, FaultCode::StackOverflow, message));
                    };
                    addresses[lane] = DYNAMIC + start;
                    warp.tops[lane] = end as u32;
                    high = high.max(end as u32);
                }
                if !warp.dynamic.reserve(high) {
                    let message = "no memory for what `alloca` gives";
                    return Err(self.fault(issue, FaultCode::OutOfMemory, message));
                }
                if self.cx.fresh != 0 {
                    for lane in lanes_of(issue.mask) {
                        let start = (addresses[lane] - DYNAMIC) as u32;
                        warp.dynamic.renew(lane, start..warp.tops[lane]);
                    }
                }
                put(issue.frame, dst, issue.mask, &addresses);
            }
        }
        Ok(())
    }

    fn save_stack(&self, warp: &Warp, issue: Issue<'_>, dst: Reg) {
        put(issue.frame, dst, issue.mask, &warp.tops.map(|top| DYNAMIC + u64::from(top)));
    }
}

/// The arguments of `vprintf` in the guest's memory.
struct ArgumentList<'r, 'a, const WATCHED: bool> {
    runner: &'r mut Runner<'a, WATCHED>,
    warp: &'r Warp,
    issue: Issue<'r>,
    next: u64,
    read: usize,
}

impl<const WATCHED: bool> Arguments for ArgumentList<'_, '_, WATCHED> {
    type Error = Box<crate::Fault>;

    fn next(&mut self, bytes: u64) -> Fallible<u64> {
        let address = self.next.checked_next_multiple_of(bytes).unwrap_or(self.next);
        self.next = address.wrapping_add(bytes);
        self.read += bytes as usize;
        let (at, _) = self.runner.at_address(self.warp, self.issue, address, bytes)?;
        // SAFETY: `at_address` found so many bytes there, aligned.
        Ok(unsafe {
            match bytes {
                4 => Concurrent::load::<u32>(at).into(),
                _ => Concurrent::load::<u64>(at),
            }
        })
    }

    fn string(&mut self, address: u64, most: Option<usize>) -> Fallible<Vec<u8>> {
        let text = self.runner.string(self.warp, self.issue, address, most)?;
        self.read += text.len();
        Ok(text)
    }
}
