//! The pure instructions of PTX as lane operations: from a mnemonic to the functions of [`semantics`](crate::semantics).
//!
//! An instruction is pure if its destinations depend on its sources alone: arithmetic, logic, comparison, selection,
//! conversion, video. [`plan`] looks one up once per mnemonic and [`Plan::emit`] puts it into a function. Both decoders, of
//! PTX and of the IR's table-derived operations, go through here, so that a form means the same in both. A form without a
//! plan has no semantics: the decoder refuses it by name.
//!
//! ```
//! use warpsmith_interp::engine::{FunctionKind, ProgramBuilder, Width};
//! use warpsmith_interp::pure;
//! let mut program = ProgramBuilder::new();
//! let kernel = program.declare("k", FunctionKind::kernel([]));
//! let mut body = program.body(kernel);
//! let (a, d) = (body.reg(Width::W32), body.reg(Width::W32));
//! let one = body.constant(1.0f32.to_bits().into(), Width::W32);
//! let plan = pure::plan(&warpsmith_isa::Mnemonic::parse("add.rz.ftz.f32").unwrap(), 2, 32).unwrap();
//! assert_eq!((plan.sources(), plan.destinations()), (&[Width::W32; 2][..], &[Width::W32][..]));
//! plan.emit(&mut body, &[Some(d)], &[a, one], None);
//! ```

mod compare;
mod convert;
mod float;
mod half;
mod integer;
pub mod video;

use crate::engine::lanes::{self, LaneFn};
use crate::engine::{FunctionBuilder, Reg, Width};
use crate::semantics::Rounding;
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::{Mnemonic, Mod, ScalarType, TypeClass};

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slot {
    /// A destination of the instruction, `p|q` and vectors counted element by element.
    Dst(u8),
    /// A source of the instruction, counted alike.
    Src(u8),
    /// A value between two steps.
    Temp(u8, Width),
    /// A number.
    Constant(u64, Width),
    /// The carry flag `CC.CF`.
    Carry,
}

/// One lane operation.
#[derive(Clone, Debug)]
struct Step {
    function: LaneFn,
    dst: SmallVec<[Slot; 2]>,
    src: SmallVec<[Slot; 4]>,
}

/// How an instruction is executed: one lane operation, or a few.
#[derive(Clone, Debug)]
pub struct Plan {
    steps: SmallVec<[Step; 1]>,
    sources: SmallVec<[Width; 5]>,
    destinations: SmallVec<[Width; 2]>,
    carry: bool,
    /// A result narrower than its register extends its sign.
    signed: bool,
}

impl Plan {
    /// One step whose operands are the instruction's own.
    fn simple(function: LaneFn) -> Plan {
        Plan::with_constants(function, &[])
    }

    /// One step whose last arguments are constants.
    fn with_constants(function: LaneFn, constants: &[u64]) -> Plan {
        let signature = function.signature();
        let own = signature.src.len() - constants.len();
        let src = (0..own).map(|i| Slot::Src(i as u8));
        let extra = constants.iter().zip(&signature.src[own..]).map(|(c, w)| Slot::Constant(*c, *w));
        let dst = (0..signature.dst.len()).map(|i| Slot::Dst(i as u8)).collect();
        Plan::of(smallvec![Step { function, dst, src: src.chain(extra).collect() }])
    }

    fn of(steps: SmallVec<[Step; 1]>) -> Plan {
        let (mut sources, mut destinations) = (SmallVec::new(), SmallVec::new());
        let mut carry = false;
        let note = |list: &mut dyn FnMut(usize, Width), slot: Slot, width: Width| match slot {
            Slot::Dst(i) | Slot::Src(i) => list(usize::from(i), width),
            _ => {}
        };
        for step in &steps {
            let signature = step.function.signature();
            for (slot, width) in step.src.iter().zip(signature.src).filter(|(s, _)| matches!(s, Slot::Src(_)))
            {
                note(&mut |i, w| place(&mut sources, i, w), *slot, *width);
            }
            for (slot, width) in step.dst.iter().zip(signature.dst).filter(|(s, _)| matches!(s, Slot::Dst(_)))
            {
                note(&mut |i, w| place(&mut destinations, i, w), *slot, *width);
            }
            carry |= step.src.iter().chain(&step.dst).any(|s| *s == Slot::Carry);
        }
        Plan { steps, sources, destinations, carry, signed: false }
    }

    /// The widths of the sources, in the instruction's order; elements of a vector one by one, `{!}c` last.
    pub fn sources(&self) -> &[Width] {
        &self.sources
    }

    /// The widths of the destinations; `p|q` is two.
    pub fn destinations(&self) -> &[Width] {
        &self.destinations
    }

    /// True if the instruction reads or writes the carry flag.
    pub fn uses_carry(&self) -> bool {
        self.carry
    }

    /// Emits the instruction.
    ///
    /// `dst` may leave destinations out, at the end or as `None`; `src` are registers or constants, a negated predicate having
    /// been negated before. A register wider than the instruction reads is cut, one wider than it writes is extended. A register
    /// may be a destination and a source, or several sources.
    pub fn emit(&self, body: &mut FunctionBuilder<'_>, dst: &[Option<Reg>], src: &[Reg], carry: Option<Reg>) {
        if src.len() != self.sources.len() {
            return body.error(format!("{} sources where {} are needed", src.len(), self.sources.len()));
        }
        if self.carry && carry.is_none() {
            return body.error("an instruction that uses the carry flag where there is none");
        }
        let src: SmallVec<[Reg; 5]> = src.iter().zip(&self.sources).map(|(r, w)| cut(body, *r, *w)).collect();
        let results: SmallVec<[Reg; 2]> = (self.destinations.iter().enumerate())
            .map(|(i, width)| match dst.get(i) {
                Some(Some(r)) if r.width() == *width && !self.clobbers(i, *r, &src) => *r,
                _ => body.reg(*width),
            })
            .collect();
        let mut temps: SmallVec<[Option<Reg>; 4]> = SmallVec::new();
        for (n, step) in self.steps.iter().enumerate() {
            // The complement of a comparison, say, is computed only where it is asked for.
            let asked = |slot: &Slot| match *slot {
                Slot::Dst(i) => matches!(dst.get(usize::from(i)), Some(Some(_))),
                _ => true,
            };
            let read = |slot: &Slot| self.steps[n + 1..].iter().any(|later| later.src.contains(slot));
            if !step.dst.iter().any(|slot| asked(slot) || read(slot)) {
                continue;
            }
            let mut resolve = |body: &mut FunctionBuilder<'_>, slot: &Slot| match *slot {
                Slot::Dst(i) => results[usize::from(i)],
                Slot::Src(i) => src[usize::from(i)],
                Slot::Constant(value, width) => body.constant(value.into(), width),
                Slot::Carry => carry.unwrap_or(Reg::ZERO),
                Slot::Temp(i, width) => {
                    let i = usize::from(i);
                    temps.resize(temps.len().max(i + 1), None);
                    *temps[i].get_or_insert_with(|| body.reg(width))
                }
            };
            let sources: SmallVec<[Reg; 4]> = step.src.iter().map(|s| resolve(body, s)).collect();
            let targets: SmallVec<[Reg; 2]> = step.dst.iter().map(|s| resolve(body, s)).collect();
            body.lanes(step.function, &targets, &sources);
        }
        for (i, r) in results.iter().enumerate() {
            if let Some(Some(d)) = dst.get(i)
                && d != r
            {
                if d.width() == r.width() {
                    body.copy(*d, *r);
                } else {
                    extend(body, *d, *r, self.signed);
                }
            }
        }
    }

    /// True if destination `i` in register `r` would be written before a later step reads `r` as a source: all sources of an
    /// instruction are read before any of its destinations is written.
    fn clobbers(&self, i: usize, r: Reg, src: &[Reg]) -> bool {
        let writes =
            |step: &Step| step.dst.iter().any(|slot| matches!(slot, Slot::Dst(d) if usize::from(*d) == i));
        let reads = |step: &Step| {
            step.src.iter().any(|slot| matches!(slot, Slot::Src(s) if src.get(usize::from(*s)) == Some(&r)))
        };
        self.steps.iter().skip_while(|step| !writes(step)).skip(1).any(reads)
    }
}

/// Sets an element of a list that grows as needed.
fn place<const N: usize>(list: &mut SmallVec<[Width; N]>, i: usize, width: Width)
where
    [Width; N]: smallvec::Array<Item = Width>,
{
    list.resize(list.len().max(i + 1), width);
    list[i] = width;
}

/// The low bits of a register as one of another width.
fn cut(body: &mut FunctionBuilder<'_>, r: Reg, width: Width) -> Reg {
    let function = match (r.width(), width) {
        (a, b) if a == b => return r,
        (Width::W64, Width::W32) => lanes::vector(|a: u64| a as u32),
        (Width::W128, Width::W32) => lanes::vector(|a: u128| a as u32),
        (Width::W128, Width::W64) => lanes::vector(|a: u128| a as u64),
        (Width::W32, Width::W64) => lanes::vector(|a: u32| u64::from(a)),
        _ => {
            body.error(format!("a register of {} bits where {} are read", r.width().bits(), width.bits()));
            return Reg::ZERO;
        }
    };
    let d = body.reg(width);
    body.lanes(function, &[d], &[r]);
    d
}

/// Copies a result to a register of another width.
fn extend(body: &mut FunctionBuilder<'_>, d: Reg, r: Reg, signed: bool) {
    let function = match (r.width(), d.width(), signed) {
        (Width::W32, Width::W64, false) => lanes::vector(|a: u32| u64::from(a)),
        (Width::W32, Width::W64, true) => lanes::vector(|a: i32| i64::from(a)),
        (Width::W64, Width::W32, _) => lanes::vector(|a: u64| a as u32),
        (Width::W32, Width::W128, false) => lanes::vector(|a: u32| u128::from(a)),
        (Width::W64, Width::W128, false) => lanes::vector(|a: u64| u128::from(a)),
        (Width::W32, Width::W128, true) => lanes::vector(|a: i32| i128::from(a) as u128),
        (Width::W64, Width::W128, true) => lanes::vector(|a: i64| i128::from(a) as u128),
        _ => {
            return body.error(format!(
                "a result of {} bits in a register of {}",
                r.width().bits(),
                d.width().bits()
            ));
        }
    };
    body.lanes(function, &[d], &[r]);
}

/// A mnemonic taken apart for the lookup.
struct Name {
    op: &'static str,
    mods: SmallVec<[Mod; 8]>,
    types: SmallVec<[ScalarType; 3]>,
    sources: usize,
}

impl Name {
    fn new(mnemonic: &Mnemonic, sources: usize) -> Name {
        Name {
            op: mnemonic.opcode().text(),
            mods: mnemonic.mods().iter().copied().collect(),
            types: mnemonic.types().collect(),
            sources,
        }
    }

    fn has(&self, text: &str) -> bool {
        self.mods.iter().any(|m| m.text() == text)
    }

    /// The first type named.
    fn ty(&self) -> Option<ScalarType> {
        self.types.first().copied()
    }

    fn rounding(&self) -> Rounding {
        self.explicit_rounding().unwrap_or_default()
    }

    fn explicit_rounding(&self) -> Option<Rounding> {
        self.mods.iter().find_map(|m| {
            Some(match m.text() {
                "rn" | "rni" => Rounding::Nearest,
                "rz" | "rzi" => Rounding::Zero,
                "rm" | "rmi" => Rounding::Down,
                "rp" | "rpi" => Rounding::Up,
                "rna" => Rounding::NearestAway,
                _ => return None,
            })
        })
    }
}

/// The plan of an instruction, `None` if it is not pure or has no semantics.
///
/// Two things are not in the mnemonic: the number of source operands, elements of vectors counted one by one (`min.f32` takes two
/// or three), and the size of the first destination's register (`cvt.s8.s32` extends its result to it).
pub fn plan(mnemonic: &Mnemonic, sources: usize, destination_bits: u32) -> Option<Plan> {
    let name = Name::new(mnemonic, sources);
    if name.op.starts_with('v') {
        return video::plan(&name);
    }
    match name.op {
        "set" | "setp" | "selp" | "slct" | "testp" => return compare::plan(&name),
        "cvt" => return convert::plan(&name, destination_bits),
        "cvt.pack" => return convert::pack(&name),
        _ => {}
    }
    match name.ty()? {
        ScalarType::F32 | ScalarType::F64 | ScalarType::F32x2 => float::plan(&name),
        ScalarType::F16 | ScalarType::BF16 | ScalarType::F16x2 | ScalarType::BF16x2 => half::plan(&name),
        ty if matches!(ty.class(), TypeClass::Float) => None,
        _ => integer::plan(&name),
    }
}
