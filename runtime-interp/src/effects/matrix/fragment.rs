//! `wmma.load` and `wmma.store` (PTX ISA 9.0, 9.7.14.4.3 and 9.7.14.4.4): each lane moves its part of a matrix by accesses of its own.
//!
//! Where elements of a register are neighbours in memory too, it is one access; else one for each, and the lane packs them.

use super::super::{Source, address as address_of, value};
use super::Registers;
use crate::engine::lanes::vector;
use crate::engine::{Access, Address, FunctionBuilder, MatrixOp, Reg, Special, Width};
use warpsmith_isa::{Extent, Instruction, Mod, Operation, StateSpace};
use warpsmith_semantics::matrix::{Accumulator, Element, Fragment, Packing, Role, is_transposed};

/// What an instruction moves.
struct Move {
    fragment: Fragment,
    /// Bits of an element.
    bits: usize,
    /// Neighbours in memory are of one column.
    by_columns: bool,
    /// Elements from one row, or column, to the next.
    line: u16,
    space: StateSpace,
}

impl Move {
    fn of(i: &Instruction) -> Option<Move> {
        let shape = i.shape()?;
        let [m, n, k] = shape.map(usize::from);
        let operation = i.operation();
        let (role, extent) = if operation == Operation::WmmaLoadA {
            (Role::A, Extent::Mk)
        } else if operation == Operation::WmmaLoadB {
            (Role::B, Extent::Kn)
        } else if matches!(operation, Operation::WmmaLoadC | Operation::WmmaStoreD) {
            (Role::Accumulator, Extent::Mn)
        } else {
            return None;
        };
        let ty = i.ty()?;
        let (bits, per_register) = if role == Role::Accumulator {
            let accumulator = Accumulator::from_scalar(ty)?;
            (ty.bits() as usize, accumulator.per_register())
        } else {
            let bits = Packing::Tight.stride(Element::from_scalar(ty)?) as usize;
            (bits, if bits == 64 { 1 } else { 32 / bits })
        };
        let (side, other) = match role {
            Role::A => (m, k),
            Role::B => (n, k),
            Role::Accumulator => (m, n),
        };
        let by_columns = i.has(Mod::Col);
        let line = extent.line(shape, by_columns);
        let transposed = is_transposed([m, n, k]);
        let fragment = Fragment { role, side, other, per_register, transposed };
        Some(Move { fragment, bits, by_columns, line, space: i.space() })
    }

    /// The line and the place in it of an element.
    fn place(&self, lane: usize, register: usize, part: usize) -> [usize; 2] {
        let [row, column] = self.fragment.place(lane, register, part);
        if self.by_columns { [column, row] } else { [row, column] }
    }

    /// How many registers one access moves: two of an accumulator whose elements are neighbours in memory, which asks for an
    /// address that is a multiple of both sizes together.
    fn together(&self) -> usize {
        let pairs = self.fragment.role == Role::Accumulator && self.bits >= 32;
        if pairs && self.place(0, 1, 0) == [0, 1] { 2 } else { 1 }
    }

    /// The elements of a register lie side by side.
    fn side_by_side(&self) -> bool {
        self.fragment.per_register == 1 || self.place(0, 0, 1) == [0, 1]
    }
}

/// The addresses of a lane's elements.
struct Addresses {
    /// The address of the lane's first element.
    first: Reg,
    /// Bytes from one line to the next.
    step: Step,
    /// Sums that have been computed: lines further on.
    further: Vec<(usize, Reg)>,
}

#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    Register(Reg),
}

impl Addresses {
    fn new(
        body: &mut FunctionBuilder<'_>,
        moved: &Move,
        at: Address,
        stride: Option<&Source>,
    ) -> Option<Addresses> {
        let base = as_value(body, at, moved.space)?;
        let step = match stride {
            None => Step::Constant(bytes(moved, i64::from(moved.line))),
            Some(Source::Bits(stride)) => Step::Constant(bytes(moved, i64::from(*stride as u32))),
            Some(other) => {
                let elements = value(body, Some(other), Width::W32)?;
                let (d, bits) = (body.reg(Width::W64), body.constant(moved.bits as u128, Width::W32));
                let function = vector(|n: u32, bits: u32| u64::from(n) * u64::from(bits) / 8);
                body.lanes(function, &[d], &[elements, bits]);
                Step::Register(d)
            }
        };
        // The formula is linear in a lane's two numbers: so many lines, and so many elements in a line, for each of them.
        let [of_group, of_member] = [moved.place(4, 0, 0), moved.place(1, 0, 0)];
        let (lane, first) = (body.reg(Width::W32), body.reg(Width::W64));
        body.special(lane, Special::LaneId);
        let weight = |body: &mut FunctionBuilder<'_>, [lines, elements]: [usize; 2]| {
            let within = bytes(moved, elements as i64);
            match step {
                Step::Constant(step) => {
                    body.constant((lines as i64 * step + within) as u64 as u128, Width::W64)
                }
                Step::Register(step) => {
                    let d = body.reg(Width::W64);
                    let [lines, within] =
                        [lines as u64, within as u64].map(|c| body.constant(c.into(), Width::W64));
                    let function = vector(|step: u64, lines: u64, within: u64| {
                        step.wrapping_mul(lines).wrapping_add(within)
                    });
                    body.lanes(function, &[d], &[step, lines, within]);
                    d
                }
            }
        };
        let (group, member) = (weight(body, of_group), weight(body, of_member));
        let function = vector(|base: u64, lane: u32, group: u64, member: u64| {
            let own = u64::from(lane / 4).wrapping_mul(group);
            base.wrapping_add(own).wrapping_add(u64::from(lane % 4).wrapping_mul(member))
        });
        body.lanes(function, &[first], &[base, lane, group, member]);
        Some(Addresses { first, step, further: Vec::new() })
    }

    /// The address of an element of every lane.
    fn of(&mut self, body: &mut FunctionBuilder<'_>, moved: &Move, register: usize, part: usize) -> Address {
        // What lane 0 has, the others have at the same distance from their first.
        let [lines, elements] = moved.place(0, register, part);
        let within = bytes(moved, elements as i64);
        match self.step {
            Step::Constant(step) => Address::Reg(self.first, lines as i64 * step + within),
            Step::Register(_) if lines == 0 => Address::Reg(self.first, within),
            Step::Register(step) => {
                let known = self.further.iter().find(|(known, _)| *known == lines).map(|(_, r)| *r);
                let start = known.unwrap_or_else(|| {
                    let d = body.reg(Width::W64);
                    let count = body.constant(lines as u128, Width::W64);
                    let function = vector(|first: u64, step: u64, lines: u64| {
                        first.wrapping_add(step.wrapping_mul(lines))
                    });
                    body.lanes(function, &[d], &[self.first, step, count]);
                    self.further.push((lines, d));
                    d
                });
                Address::Reg(start, within)
            }
        }
    }
}

fn bytes(moved: &Move, elements: i64) -> i64 {
    elements.wrapping_mul(moved.bits as i64) / 8
}

/// An address as a 64-bit value.
fn as_value(body: &mut FunctionBuilder<'_>, at: Address, space: StateSpace) -> Option<Reg> {
    let generic = space == StateSpace::Generic;
    Some(match at {
        Address::Reg(r, offset) => {
            let (d, c) = (body.reg(Width::W64), body.constant(offset as u64 as u128, Width::W64));
            match r.width() {
                Width::W64 => body.lanes(vector(|a: u64, c: u64| a.wrapping_add(c)), &[d], &[r, c]),
                Width::W32 => {
                    body.lanes(vector(|a: u32, c: u64| u64::from(a.wrapping_add(c as u32))), &[d], &[r, c]);
                }
                Width::Pred | Width::W128 => return None,
            }
            d
        }
        // Hardware takes the name of a shared variable for a generic address as it is: nothing lies there.
        Address::Symbol(symbol, offset) => body.program().address(symbol, offset, false),
        Address::Stack(offset) => {
            let d = body.reg(Width::W64);
            body.stack_address(d, offset, generic);
            d
        }
        Address::Absolute(address) => body.constant(address.into(), Width::W64),
    })
}

/// The registers between `value`'s parts: `d = low | high << shift`.
fn join(body: &mut FunctionBuilder<'_>, d: Reg, part: Reg, shift: usize) {
    let shift = body.constant(shift as u128, Width::W32);
    body.lanes(vector(|d: u32, part: u32, shift: u32| d | part << (shift & 31)), &[d], &[d, part, shift]);
}

/// `wmma.load`
pub(in crate::effects) fn load(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let moved = Move::of(i)?;
    let Fragment { per_register, .. } = moved.fragment;
    body.matrix(MatrixOp::Converge);
    let mut addresses = Addresses::new(body, &moved, address_of(src.first())?, src.get(1))?;
    let width = if moved.bits == 64 { Width::W64 } else { Width::W32 };
    let own = moved.fragment.registers();
    // A register that is written may be one that the address comes from.
    let loaded: Registers = (0..own).map(|_| body.reg(width)).collect();
    let together = moved.together();
    if moved.side_by_side() {
        let access = Access::unsigned(moved.space, if width == Width::W64 { 8 } else { 4 });
        for (number, registers) in loaded.chunks(together).enumerate() {
            let at = addresses.of(body, &moved, number * together, 0);
            body.load(access, registers, at);
        }
    } else {
        for (register, d) in loaded.iter().enumerate() {
            let access = Access::unsigned(moved.space, (moved.bits / 8) as u8);
            for part in 0..per_register {
                let at = addresses.of(body, &moved, register, part);
                if part == 0 {
                    body.load(access, &[*d], at);
                } else {
                    let element = body.reg(Width::W32);
                    body.load(access, &[element], at);
                    join(body, *d, element, part * moved.bits);
                }
            }
        }
    }
    // Registers past those that hold the matrix hold it again.
    for (register, d) in dst.iter().enumerate() {
        if let Some(d) = d {
            body.copy(*d, loaded[register % own]);
        }
    }
    Some(())
}

/// `wmma.store`
pub(in crate::effects) fn store(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    src: &[Source],
) -> Option<()> {
    let moved = Move::of(i)?;
    let Fragment { per_register, .. } = moved.fragment;
    let own = moved.fragment.registers();
    let width = if moved.bits == 64 { Width::W64 } else { Width::W32 };
    let values: Registers =
        src.get(1..=own)?.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?;
    body.matrix(MatrixOp::Converge);
    let mut addresses = Addresses::new(body, &moved, address_of(src.first())?, src.get(1 + own))?;
    let together = moved.together();
    if moved.side_by_side() {
        let access = Access::unsigned(moved.space, if width == Width::W64 { 8 } else { 4 });
        for (number, registers) in values.chunks(together).enumerate() {
            let at = addresses.of(body, &moved, number * together, 0);
            body.store(access, registers, at);
        }
    } else {
        for (register, r) in values.iter().enumerate() {
            let access = Access::unsigned(moved.space, (moved.bits / 8) as u8);
            for part in 0..per_register {
                let at = addresses.of(body, &moved, register, part);
                let element = if part == 0 {
                    *r
                } else {
                    let (d, shift) =
                        (body.reg(Width::W32), body.constant((part * moved.bits) as u128, Width::W32));
                    body.lanes(vector(|r: u32, shift: u32| r >> (shift & 31)), &[d], &[*r, shift]);
                    d
                };
                body.store(access, &[element], at);
            }
        }
    }
    Some(())
}
