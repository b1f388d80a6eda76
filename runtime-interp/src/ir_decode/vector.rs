//! Vectors, lane by lane, and the operations whose operands are a list.

use super::function::Body;
use super::values::{self, Regs};
use crate::engine::lanes::portable as vector;
use crate::engine::{Reg, Width};
use smallvec::SmallVec;
use warpsmith_ir::{Attr, Inst, InstData, Opcode, Type, Value, meaning};

/// The elements of a vector, each in a register.
pub(super) type Elements = SmallVec<[Reg; 8]>;

impl Body<'_, '_> {
    /// One element of a vector in a register.
    pub(super) fn element(&mut self, vector: Value, lane: u32) -> Reg {
        let (ty, src) = (self.ty(vector), self.regs(vector));
        match values::element(ty, lane) {
            (i, _, true) => src[i],
            (i, shift, false) => {
                let d = self.body.reg(Width::W32);
                values::extract_bits(&mut self.body, d, src[i], shift, values::element_mask(ty));
                d
            }
        }
    }

    /// All elements of a vector; those of a scalar are the scalar, so often.
    pub(super) fn elements(&mut self, value: Value, lanes: u32) -> Elements {
        match self.ty(value).is_vector() {
            true => (0..lanes).map(|lane| self.element(value, lane)).collect(),
            false => SmallVec::from_elem(self.one(value), lanes as usize),
        }
    }

    /// Puts elements into the registers of a vector.
    pub(super) fn join(&mut self, ty: Type, dst: &Regs, elements: &[Reg]) {
        let mut words: SmallVec<[Reg; 8]> = SmallVec::from_elem(Reg::ZERO, dst.len());
        for (lane, &part) in elements.iter().enumerate() {
            match values::element(ty, lane as u32) {
                (i, _, true) => words[i] = part,
                (i, shift, false) => {
                    let mask = values::element_mask(ty);
                    words[i] = values::insert_bits(&mut self.body, words[i], part, shift, mask);
                }
            }
        }
        dst.iter().zip(&words).for_each(|(d, w)| self.body.copy(*d, *w));
    }

    /// An operation on vectors: the same on their elements. The results are vectors of as many lanes.
    pub(super) fn compute_lanes(&mut self, inst: Inst, results: &[(Type, Regs)]) {
        let args = self.function.dfg.args(inst);
        let lanes = results.first().map_or(1, |(ty, _)| ty.lanes());
        let types: SmallVec<[Type; 4]> = args.iter().map(|arg| self.ty(*arg).element_type()).collect();
        let sources: SmallVec<[Elements; 4]> = args.iter().map(|arg| self.elements(*arg, lanes)).collect();
        let to = results.first().map_or(Type::INVALID, |(ty, _)| ty.element_type());
        let mut all: SmallVec<[Elements; 2]> = SmallVec::from_elem(Elements::new(), results.len());
        for lane in 0..lanes as usize {
            let src: SmallVec<[Reg; 4]> = sources.iter().map(|of_arg| of_arg[lane]).collect();
            let dst: SmallVec<[Reg; 2]> =
                results.iter().map(|(ty, _)| self.body.reg(values::element_width(*ty))).collect();
            self.apply(inst, &types, to, &dst, &src);
            all.iter_mut().zip(&dst).for_each(|(of_result, d)| of_result.push(*d));
        }
        for ((ty, dst), elements) in results.iter().zip(&all) {
            self.join(*ty, dst, elements);
        }
    }

    /// An operation of [`Shape::List`](warpsmith_ir::Shape::List).
    pub(super) fn list(&mut self, inst: Inst, op: Opcode, attr: &Attr, args: &[Value]) {
        if self.threads(inst, op, attr, args) {
            return;
        }
        let function = self.function;
        let results: SmallVec<[(Type, Regs); 2]> = (function.dfg.results(inst).into_iter())
            .map(|result| (self.ty(result), self.regs(result)))
            .collect();
        match (op, attr, args) {
            (Opcode::Iconst, ..) => {}
            (Opcode::Bfi, _, [a, b, at, length]) => {
                self.bit_field_insert(&results[0], [*a, *b, *at, *length])
            }
            (Opcode::Shuffle, Attr::Lanes(lanes), [a, b]) => {
                let ty = self.ty(*a);
                let mut all = self.elements(*a, ty.lanes());
                all.extend(self.elements(*b, ty.lanes()));
                let picked: Elements = lanes.iter().map(|lane| all[usize::from(*lane)]).collect();
                self.join(results[0].0, &results[0].1, &picked);
            }
            (Opcode::Reduce, Attr::With(with), [arg]) => self.reduce(&results[0], *with, *arg),
            (Opcode::ExtractAt, _, [arg, at]) => {
                let ty = self.ty(*arg);
                let (elements, at) = (self.elements(*arg, ty.lanes()), self.one(*at));
                let dst = results[0].1[0];
                let mut found = self.body.reg(dst.width());
                let zero = self.body.constant(0, dst.width());
                self.body.copy(found, zero);
                for (lane, element) in elements.into_iter().enumerate() {
                    let here = self.is_lane(at, lane);
                    let next = self.body.reg(dst.width());
                    self.body.lanes(meaning::select(dst.width()), &[next], &[here, element, found]);
                    found = next;
                }
                self.body.copy(dst, found);
            }
            (Opcode::InsertAt, _, [arg, part, at]) => {
                let ty = self.ty(*arg);
                let (elements, part, at) = (self.elements(*arg, ty.lanes()), self.one(*part), self.one(*at));
                let changed: Elements = (elements.into_iter().enumerate())
                    .map(|(lane, element)| {
                        let here = self.is_lane(at, lane);
                        let next = self.body.reg(element.width());
                        self.body.lanes(meaning::select(element.width()), &[next], &[here, part, element]);
                        next
                    })
                    .collect();
                self.join(ty, &results[0].1, &changed);
            }
            _ if results.first().is_some_and(|(ty, _)| ty.is_vector()) => self.compute_lanes(inst, &results),
            _ => {
                let types: SmallVec<[Type; 4]> = args.iter().map(|arg| self.ty(*arg)).collect();
                let src: SmallVec<[Reg; 4]> = args.iter().map(|arg| self.one(*arg)).collect();
                let dst: SmallVec<[Reg; 2]> = results.iter().map(|(_, regs)| regs[0]).collect();
                let to = results.first().map_or(Type::INVALID, |(ty, _)| *ty);
                self.apply(inst, &types, to, &dst, &src);
            }
        }
    }

    /// Truth values as bits of a number, the first lowest.
    pub(super) fn pack_bools(&mut self, bools: &[Reg], width: Width) -> Reg {
        let or = match width {
            Width::W32 => vector(|all: u32, one: bool, n: u32| all | u32::from(one) << n),
            Width::W64 => vector(|all: u64, one: bool, n: u32| all | u64::from(one) << n),
            Width::Pred | Width::W128 => vector(|all: u128, one: bool, n: u32| all | u128::from(one) << n),
        };
        let mut all = self.body.constant(0, width);
        for (n, bool) in bools.iter().enumerate() {
            let (next, n) = (self.body.reg(width), self.body.constant(n as u128, Width::W32));
            self.body.lanes(or, &[next], &[all, *bool, n]);
            all = next;
        }
        all
    }

    /// The bits of a number as truth values.
    pub(super) fn unpack_bools(&mut self, bools: &[Reg], whole: Reg) {
        let bit = match whole.width() {
            Width::W32 => vector(|all: u32, n: u32| all >> n & 1 != 0),
            Width::W64 => vector(|all: u64, n: u32| all >> n & 1 != 0),
            Width::Pred | Width::W128 => vector(|all: u128, n: u32| all >> n & 1 != 0),
        };
        for (n, bool) in bools.iter().enumerate() {
            let n = self.body.constant(n as u128, Width::W32);
            self.body.lanes(bit, &[*bool], &[whole, n]);
        }
    }

    /// True in the lanes where an `i32` is the number of an element.
    fn is_lane(&mut self, at: Reg, lane: usize) -> Reg {
        let number = self.body.constant(lane as u128, Width::W32);
        let here = self.body.reg(Width::Pred);
        self.body.lanes(vector(|a: u32, b: u32| a == b), &[here], &[at, number]);
        here
    }

    /// `bfi`, element by element.
    fn bit_field_insert(&mut self, (ty, dst): &(Type, Regs), args: [Value; 4]) {
        let sources = args.map(|arg| self.elements(arg, ty.lanes()));
        let element = ty.element_type();
        let width = values::element_width(*ty);
        let (Some(function), Some(keep)) = (meaning::bit_field_insert(width), meaning::keep(element)) else {
            return self.body.error(format!("bfi of {ty} has no meaning"));
        };
        let made: Elements = (0..ty.lanes() as usize)
            .map(|lane| {
                let [whole, kept] = [(); 2].map(|()| self.body.reg(width));
                self.body.lanes(function, &[whole], &[0, 1, 2, 3].map(|n: usize| sources[n][lane]));
                self.body.compute(&keep, &[Some(kept)], &[whole], None);
                kept
            })
            .collect();
        match ty.is_vector() {
            true => self.join(*ty, dst, &made),
            false => self.body.copy(dst[0], made[0]),
        }
    }

    /// `reduce`: from the first element to the last.
    fn reduce(&mut self, (ty, dst): &(Type, Regs), with: Opcode, arg: Value) {
        let lanes = self.ty(arg).lanes();
        let elements = self.elements(arg, lanes);
        let operands = [arg, arg];
        let Some(plan) = meaning::plan(&InstData::Binary { op: with, args: operands }, &[*ty, *ty], *ty)
        else {
            return self.body.error(format!("{with} of {ty} has no meaning"));
        };
        let mut sum = elements[0];
        for element in &elements[1..] {
            let next = self.body.reg(sum.width());
            self.body.compute(&plan, &[Some(next)], &[sum, *element], None);
            sum = next;
        }
        self.body.copy(dst[0], sum);
    }
}
