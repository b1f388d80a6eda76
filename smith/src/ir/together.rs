//! What the lanes of a warp do together, at the place where all of them are: the beginning of the kernel.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, Opcode, ShuffleKind, Type, Value, VoteKind};

impl Generator<'_, '_, '_> {
    /// Exchanges, votes, matches and reductions of all lanes.
    pub(super) fn together(&mut self) -> Result<()> {
        let mask = self.b.ins().iconst(Type::I32, -1);
        let matches = self.config.target.is_none_or(|target| target.sm >= 70);
        for _ in 0..self.u.int_in_range(0..=4)? {
            match self.u.int_in_range(0..=7)? {
                3 | 4 if !matches => {}
                0 => {
                    let lane = self.value(Type::I32)?;
                    let known = self.b.ins().iconst(Type::I32, 31);
                    let lane = self.b.ins().band(lane, known);
                    let x = self.any()?;
                    let value = self.b.ins().shfl(*self.u.choose(ShuffleKind::ALL)?, x, lane, mask);
                    self.values.push(value);
                }
                1 => {
                    let x = self.value(Type::I1)?;
                    let value = self.b.ins().vote(*self.u.choose(VoteKind::ALL)?, x, mask);
                    self.values.push(value);
                }
                2 => {
                    let x = self.value(Type::I1)?;
                    let value = self.b.ins().ballot(x, mask);
                    self.values.push(value);
                }
                3 => {
                    let x = self.any_or_struct()?;
                    let x = self.settled(x);
                    let value = self.b.ins().match_any(x, mask);
                    self.values.push(value);
                }
                4 => {
                    let x = self.any_or_struct()?;
                    let x = self.settled(x);
                    let (lanes, all) = self.b.ins().match_all(x, mask);
                    self.values.extend([lanes, all]);
                }
                5 => {
                    let op = *self.u.choose(&Opcode::REDUCTIONS)?;
                    let types = self.flavour.types.iter().copied();
                    let types: Vec<Type> = types.filter(|ty| op.info().types.contains(*ty)).collect();
                    if !types.is_empty() {
                        let ty = *self.u.choose(&types)?;
                        let x = self.value(ty)?;
                        let value = self.b.ins().warp_reduce(op, x, mask);
                        self.values.push(value);
                    }
                }
                6 => self.b.ins().warp_sync(mask),
                _ => self.b.ins().barrier(),
            }
        }
        Ok(())
    }

    /// A struct or array of integers, or a scalar or vector.
    fn any_or_struct(&mut self) -> Result<Value> {
        let types = self.flavour.types.iter().copied().filter(|ty| ty.is_aggregate());
        let types: Vec<Type> = types.filter(|ty| self.is_of_integers(*ty)).collect();
        if types.is_empty() || self.u.ratio(1, 4)? {
            return self.any();
        }
        let ty = *self.u.choose(&types)?;
        self.built(ty)
    }

    /// Whether all that a type consists of are integers.
    fn is_of_integers(&self, ty: Type) -> bool {
        let types = &self.b.module().types;
        ty.is_int()
            || ty.is_aggregate()
                && (0..types.fields(ty))
                    .all(|n| types.field(ty, n).is_some_and(|(field, _)| self.is_of_integers(field)))
    }

    /// A value of a type that `shfl` and `match` take: scalars and vectors. Structs hold floats that may be NaN.
    fn any(&mut self) -> Result<Value> {
        let types = self.flavour.types.iter().copied().filter(|ty| !ty.is_aggregate());
        let types: Vec<Type> = types.collect();
        let ty = *self.u.choose(&types)?;
        self.value(ty)
    }
}
