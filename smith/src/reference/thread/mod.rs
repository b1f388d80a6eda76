//! One thread: its frames, and what an instruction does to it.

mod memory;

pub(super) use memory::{access, is_known_atomic};

use super::compute::{compute, low, signed};
use super::load::{Func, Inst, Loaded, Op};
use super::memory::{FUNCTIONS, LOCAL, SHARED, View};
use super::{Launch, Stop, any};
use warpsmith_isa::{Mod, Opcode, ScalarType, StateSpace};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Ready,
    /// At a barrier of the block: its number, and how many threads it is for.
    Barrier(u32, Option<u32>),
    /// At an operation that the lanes of a mask do together.
    Warp(u32),
    Done,
}

/// A call that has not returned.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub function: usize,
    pub next: usize,
    pub registers: Vec<u128>,
    /// The width of each register.
    widths: Vec<u32>,
    slots: Vec<Vec<u8>>,
    /// Where its variables in local memory begin.
    local: u64,
    /// The slots of the caller that get what comes back.
    results: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub frames: Vec<Frame>,
    pub state: State,
    pub local: Vec<u8>,
    index: [u32; 3],
    carry: bool,
}

/// Where a thread is in its launch.
pub(super) struct Place<'l> {
    pub lane: usize,
    pub warp: usize,
    pub index: [u32; 3],
    pub launch: &'l Launch,
}

fn unknown<T>(inst: &Inst) -> Result<T, Stop> {
    Err(Stop::Unsupported(inst.mnemonic.to_string()))
}

impl Thread {
    pub fn new(kernel: usize, func: &Func, index: [u32; 3], params: &[Vec<u8>], rubbish: u8) -> Thread {
        let mut frame = Frame::new(kernel, func, 0, Vec::new(), rubbish);
        for (slot, bytes) in frame.slots.iter_mut().zip(params) {
            let len = slot.len().min(bytes.len());
            slot[..len].copy_from_slice(&bytes[..len]);
        }
        let local = vec![rubbish; func.local_bytes as usize];
        Thread { frames: vec![frame], state: State::Ready, local, index, carry: rubbish != 0 }
    }

    fn frame(&mut self) -> Result<&mut Frame, Stop> {
        self.frames.last_mut().ok_or(Stop::Deadlock)
    }

    /// The instruction that the thread is at, which it has not executed.
    pub fn at<'p>(&self, loaded: &'p Loaded) -> Option<&'p Inst> {
        let frame = self.frames.last()?;
        loaded.funcs[frame.function].insts.get(frame.next)
    }

    /// Executes the next instruction, or begins to wait at it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all else computes, or is not described")]
    pub fn step(&mut self, loaded: &Loaded, memory: &mut View, place: &Place) -> Result<(), Stop> {
        let Some(inst) = self.at(loaded) else {
            return self.leave(memory);
        };
        if let Some((register, negated)) = inst.guard
            && (self.frame()?.registers[register] != 0) == negated
        {
            self.frame()?.next += 1;
            return Ok(());
        }
        let m = &inst.mnemonic;
        match m.opcode() {
            Opcode::Bra => {
                let [Op::Label(label)] = inst.operands.as_slice() else { return unknown(inst) };
                return self.go(loaded, *label);
            }
            Opcode::BrxIdx => {
                let index = self.value(&inst.operands[0], ScalarType::U32, place)?;
                let Some(Op::Targets(list)) = inst.operands.get(1) else { return unknown(inst) };
                let function = self.frame()?.function;
                let target = loaded.funcs[function].targets.get(list).and_then(|all| all.get(index as usize));
                return match target {
                    Some(label) => self.go(loaded, *label),
                    None => Err(Stop::Fault(format!("brx.idx with index {index}"))),
                };
            }
            Opcode::Call => return self.call(loaded, inst, memory, place),
            Opcode::Ret => return self.leave(memory),
            Opcode::Exit => {
                self.state = State::Done;
                return Ok(());
            }
            Opcode::Trap => return Err(Stop::Fault("trap".to_owned())),
            Opcode::Bar | Opcode::BarCta | Opcode::Barrier | Opcode::BarrierCta if m.has(Mod::Arrive) => {
                return unknown(inst);
            }
            Opcode::Bar
            | Opcode::BarCta
            | Opcode::Barrier
            | Opcode::BarrierCta
            | Opcode::BarRed
            | Opcode::BarCtaRed
            | Opcode::BarrierRed
            | Opcode::BarrierCtaRed => {
                let reduces = super::together::reduces(m.opcode());
                let sources = inst.operands.len() - usize::from(reduces);
                let first = usize::from(reduces);
                let number = self.value(&inst.operands[first], ScalarType::U32, place)? as u32;
                let count = match sources - usize::from(reduces) {
                    2 => Some(self.value(&inst.operands[first + 1], ScalarType::U32, place)? as u32),
                    _ => None,
                };
                self.state = State::Barrier(number, count);
                return Ok(());
            }
            Opcode::Shfl | Opcode::Vote | Opcode::Match | Opcode::Redux | Opcode::Elect | Opcode::BarWarp => {
                let Some(mask) = inst.operands.last().filter(|_| m.has(Mod::Sync)) else {
                    return unknown(inst);
                };
                self.state = State::Warp(self.value(mask, ScalarType::B32, place)? as u32);
                return Ok(());
            }
            Opcode::Ld | Opcode::Ldu => self.load(inst, memory, place)?,
            Opcode::St => self.store(inst, memory, place)?,
            Opcode::Atom | Opcode::Red => self.atomic(inst, memory, place)?,
            Opcode::Mov => self.movement(inst, place)?,
            Opcode::Cvta | Opcode::CvtaTo => self.convert_address(inst, place)?,
            Opcode::Isspacep => return unknown(inst),
            Opcode::Membar | Opcode::Fence | Opcode::Nanosleep | Opcode::Prefetch | Opcode::Prefetchu => {}
            _ => self.computation(inst, place)?,
        }
        self.frame()?.next += 1;
        Ok(())
    }

    fn go(&mut self, loaded: &Loaded, label: usize) -> Result<(), Stop> {
        let frame = self.frame()?;
        match loaded.funcs[frame.function].labels.get(&label) {
            Some(&next) => frame.next = next,
            None => return Err(Stop::Unsupported("a label of another function".to_owned())),
        }
        Ok(())
    }

    fn leave(&mut self, memory: &mut View) -> Result<(), Stop> {
        let Some(frame) = self.frames.pop() else { return Err(Stop::Deadlock) };
        match self.frames.last_mut() {
            None => self.state = State::Done,
            Some(caller) => {
                memory.local.truncate(frame.local as usize);
                for (n, slot) in frame.results.iter().enumerate() {
                    let bytes = &frame.slots[n];
                    let len = bytes.len().min(caller.slots[*slot].len());
                    caller.slots[*slot][..len].copy_from_slice(&bytes[..len]);
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all else is what is called")]
    fn call(&mut self, loaded: &Loaded, inst: &Inst, memory: &mut View, place: &Place) -> Result<(), Stop> {
        let mut results: &[Op] = &[];
        let mut arguments: &[Op] = &[];
        let mut callee = None;
        for operand in &inst.operands {
            match operand {
                Op::Group(all) if callee.is_none() => results = all,
                Op::Group(all) => arguments = all,
                Op::Prototype => {}
                other => callee = Some(other),
            }
        }
        let Some(callee) = callee else { return unknown(inst) };
        let function = match callee {
            Op::Function(n) => *n,
            other => {
                let address = self.value(other, ScalarType::U64, place)? as u64;
                (address.wrapping_sub(FUNCTIONS) / 16) as usize
            }
        };
        let Some(func) = loaded.funcs.get(function).filter(|f| !f.insts.is_empty()) else {
            return Err(Stop::Unsupported("a call of a function without a body".to_owned()));
        };
        let slots = |all: &[Op]| -> Option<Vec<usize>> {
            all.iter().map(|op| if let Op::Slot(slot) = op { Some(*slot) } else { None }).collect()
        };
        let (Some(results), Some(given)) = (slots(results), slots(arguments)) else { return unknown(inst) };
        if self.frames.len() > 200 {
            return Err(Stop::Fault("calls are nested too deeply".to_owned()));
        }
        let local = (memory.local.len() as u64).next_multiple_of(256);
        let rubbish = place.launch.rubbish();
        memory.local.resize((local + func.local_bytes) as usize, rubbish);
        let mut frame = Frame::new(function, func, local, results, rubbish);
        let caller = self.frame()?;
        caller.next += 1;
        for (n, slot) in given.iter().enumerate() {
            let into = &mut frame.slots[func.returns + n];
            let len = into.len().min(caller.slots[*slot].len());
            into[..len].copy_from_slice(&caller.slots[*slot][..len]);
        }
        self.frames.push(frame);
        Ok(())
    }

    /// The value of a source that an instruction reads as a type.
    pub fn value(&mut self, op: &Op, ty: ScalarType, place: &Place) -> Result<u128, Stop> {
        let launch = place.launch;
        Ok(match op {
            Op::Reg(register) => self.frame()?.registers[*register],
            Op::Int(bits) if ty.is_float() => return Err(Stop::Unsupported(format!("{bits} as a float"))),
            // Constants have 64 bits (4.5.1); ptxas puts zeros above them where 128 are stored, whatever their sign.
            Op::Int(bits) => low((*bits).into(), ty.bits().max(1)),
            Op::F32(bits) => (*bits).into(),
            Op::F64(bits) if ty == ScalarType::F32 => (f64::from_bits(*bits) as f32).to_bits().into(),
            Op::F64(bits) => (*bits).into(),
            Op::Special(name) => {
                let axis = |values: [u32; 3]| match name.rsplit_once('.') {
                    Some((_, "x")) => Some(values[0]),
                    Some((_, "y")) => Some(values[1]),
                    Some((_, "z")) => Some(values[2]),
                    _ => None,
                };
                let base = name.split_once('.').map_or(name.as_str(), |(base, _)| base);
                let found = match base {
                    "%tid" => axis(self.index),
                    "%ctaid" => axis(place.index),
                    "%ntid" => axis(launch.block),
                    "%nctaid" => axis(launch.grid),
                    "%laneid" => Some(place.lane as u32),
                    "%warpid" => Some(place.warp as u32),
                    "WARP_SZ" => Some(32),
                    "%lanemask_eq" => Some(1 << place.lane),
                    "%lanemask_lt" => Some((1 << place.lane) - 1),
                    "%lanemask_le" => Some(u32::MAX >> (31 - place.lane)),
                    "%lanemask_gt" => Some(!(u32::MAX >> (31 - place.lane))),
                    "%lanemask_ge" => Some(!((1 << place.lane) - 1)),
                    _ => None,
                };
                match found {
                    Some(value) => value.into(),
                    None => return Err(Stop::Unsupported(name.clone())),
                }
            }
            Op::Address(StateSpace::Local, at) => (self.frame()?.local + at).into(),
            Op::Address(_, at) => (*at).into(),
            // The distance has 32 bits (`docs/findings.md`); what is generated stays inside the variable, where more bits say nothing more.
            Op::Element(variable, bytes, index) => {
                let index = self.value(index, ScalarType::U32, place)? as u32;
                let start = self.value(variable, ScalarType::U64, place)?;
                start + u128::from(index.wrapping_mul(*bytes))
            }
            Op::Function(n) => (FUNCTIONS + 16 * *n as u64).into(),
            Op::Not(op) => u128::from(self.value(op, ty, place)? == 0),
            Op::Sum(op, offset) => {
                let value = self.value(op, ty, place)?;
                low(value.wrapping_add(*offset as i128 as u128), ty.bits())
            }
            Op::Neg(op) => return Err(Stop::Unsupported(format!("the negative of {op:?}"))),
            other @ (Op::Slot(_)
            | Op::Label(_)
            | Op::Targets(_)
            | Op::Prototype
            | Op::Vector(_)
            | Op::Group(_)
            | Op::Pair(_)
            | Op::At(..)
            | Op::Sink) => return Err(Stop::Unsupported(format!("{other:?} as a value"))),
        })
    }

    /// Writes a result; a register takes as many bits as it has.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what cannot be written is said so")]
    pub fn write(&mut self, op: &Op, value: u128) -> Result<(), Stop> {
        match op {
            Op::Reg(register) => {
                let frame = self.frame()?;
                let bits = frame.widths[*register];
                frame.registers[*register] = low(value, bits);
                Ok(())
            }
            Op::Sink => Ok(()),
            other => Err(Stop::Unsupported(format!("{other:?} as a destination"))),
        }
    }
}

impl Frame {
    fn new(function: usize, func: &Func, local: u64, results: Vec<usize>, rubbish: u8) -> Frame {
        let word = u128::from_le_bytes([rubbish; 16]);
        Frame {
            function,
            next: 0,
            registers: func.registers.iter().map(|&bits| low(word, bits)).collect(),
            widths: func.registers.clone(),
            slots: func.slots.iter().map(|&bytes| vec![rubbish; bytes]).collect(),
            local,
            results,
        }
    }
}

/// Sources of an instruction that computes, at most.
const MOST_SOURCES: usize = 8;

/// Moves and arithmetic.
impl Thread {
    fn movement(&mut self, inst: &Inst, place: &Place) -> Result<(), Stop> {
        let [to, from] = inst.operands.as_slice() else { return unknown(inst) };
        let Some(ty) = inst.mnemonic.types().next() else { return unknown(inst) };
        let lanes = any(&inst.mnemonic, &[Mod::V2, Mod::V4]);
        match (to, from) {
            (Op::Vector(to), Op::Vector(from)) if lanes => {
                let values =
                    from.iter().map(|op| self.value(op, ty, place)).collect::<Result<Vec<_>, _>>()?;
                to.iter().zip(values).try_for_each(|(op, value)| self.write(op, value))
            }
            (Op::Vector(parts), from) => {
                let value = self.value(from, ty, place)?;
                let bits = ty.bits() / parts.len() as u32;
                for (n, part) in parts.iter().enumerate() {
                    self.write(part, low(value >> (bits * n as u32), bits))?;
                }
                Ok(())
            }
            (to, Op::Vector(parts)) => {
                let bits = ty.bits() / parts.len() as u32;
                let mut value = 0;
                for (n, part) in parts.iter().enumerate() {
                    value |= low(self.value(part, ty, place)?, bits) << (bits * n as u32);
                }
                self.write(to, value)
            }
            (to, from) => {
                let value = self.value(from, ty, place)?;
                self.write(to, value)
            }
        }
    }

    fn convert_address(&mut self, inst: &Inst, place: &Place) -> Result<(), Stop> {
        let [to, from] = inst.operands.as_slice() else { return unknown(inst) };
        let value = self.value(from, ScalarType::U64, place)? as u64;
        let window = match () {
            () if any(&inst.mnemonic, &[Mod::Shared, Mod::SharedCta]) => SHARED,
            () if inst.mnemonic.has(Mod::Local) => LOCAL,
            () if any(&inst.mnemonic, &[Mod::Global, Mod::Const]) => 0,
            () => return unknown(inst),
        };
        let to_generic = inst.mnemonic.opcode() == Opcode::Cvta;
        let value = if to_generic { value.wrapping_add(window) } else { value.wrapping_sub(window) };
        self.write(to, value.into())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not listed has the type that the instruction names"
    )]
    fn computation(&mut self, inst: &Inst, place: &Place) -> Result<(), Stop> {
        let Some((to, sources)) = inst.operands.split_first() else { return unknown(inst) };
        let m = &inst.mnemonic;
        let first = m.types().next().unwrap_or(ScalarType::B32);
        let last = m.types().last().unwrap_or(first);
        let mut args = [0; MOST_SOURCES];
        let Some(args) = args.get_mut(..sources.len()) else { return unknown(inst) };
        for (n, op) in sources.iter().enumerate() {
            // The type that a constant is read as: of a comparison and a conversion the type of what is compared, of a shift or a field 32 bits.
            let ty = match m.opcode() {
                Opcode::Shl | Opcode::Shr if n == 1 => ScalarType::U32,
                Opcode::Bfe if n > 0 => ScalarType::U32,
                Opcode::Bfi if n > 1 => ScalarType::U32,
                Opcode::Lop3 | Opcode::Prmt => ScalarType::B32,
                Opcode::Set | Opcode::Setp if n == 2 => ScalarType::Pred,
                Opcode::Selp if n == 2 => ScalarType::Pred,
                Opcode::Slct if n == 2 => last,
                Opcode::Set | Opcode::Cvt => last,
                Opcode::Dp4a | Opcode::Dp2aLo | Opcode::Dp2aHi if n == 2 => ScalarType::S32,
                Opcode::MulWide | Opcode::MadWide if n == 2 => ScalarType::S64,
                _ => first,
            };
            args[n] = self.value(op, ty, place)?;
        }
        let Some([result, second]) = compute(m, args, &mut self.carry) else { return unknown(inst) };
        let result = match m.opcode() {
            Opcode::Cvt if first.is_signed() => signed(result, first.bits()) as u128,
            // What a division by zero leaves is not said either.
            Opcode::Div | Opcode::Rem
                if place.launch.other_rubbish && !first.is_float() && low(args[1], first.bits()) == 0 =>
            {
                !result
            }
            _ => result,
        };
        match to {
            Op::Pair(both) => {
                self.write(&both[0], result)?;
                self.write(&both[1], second)
            }
            op => self.write(op, result),
        }
    }
}
