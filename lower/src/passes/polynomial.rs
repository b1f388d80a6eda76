//! Integers as sums of products of values, modulo the powers of two that their types wrap at.

use smallvec::SmallVec;
use warpsmith_ir::{Type, Value};

/// Terms of a sum, and factors of each.
const MAX_TERMS: usize = 8;
const MAX_FACTORS: usize = 3;

/// A product of values, in order.
pub(super) type Term = SmallVec<[Value; MAX_FACTORS]>;

/// A sum of products of values, each with a number, in order.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Polynomial(pub(super) SmallVec<[(Term, i64); 4]>);

impl Polynomial {
    pub(super) fn constant(number: i64) -> Polynomial {
        Polynomial([(Term::new(), number)].into_iter().collect())
    }

    pub(super) fn value(value: Value) -> Polynomial {
        Polynomial([(Term::from_slice(&[value]), 1)].into_iter().collect())
    }

    pub(super) fn add(&mut self, term: Term, number: i64) {
        match self.0.iter_mut().find(|(own, _)| *own == term) {
            Some((_, own)) => *own = own.wrapping_add(number),
            None => self.0.push((term, number)),
        }
    }

    pub(super) fn plus(mut self, other: &Polynomial, sign: i64) -> Option<Polynomial> {
        for (term, number) in &other.0 {
            self.add(term.clone(), number.wrapping_mul(sign));
        }
        (self.0.len() <= MAX_TERMS).then_some(self)
    }

    pub(super) fn times(self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (a, m) in &self.0 {
            for (b, n) in &other.0 {
                let mut term: Term = a.iter().chain(b).copied().collect();
                term.sort_unstable();
                if term.len() > MAX_FACTORS {
                    return None;
                }
                product.add(term, m.wrapping_mul(*n));
            }
        }
        (product.0.len() <= MAX_TERMS).then_some(product)
    }

    /// Its terms of several factors.
    pub(super) fn products(&self) -> Polynomial {
        Polynomial(self.0.iter().filter(|(term, _)| term.len() > 1).cloned().collect())
    }

    /// With numbers as a type has them, without those of 0, in order.
    pub(super) fn settled(mut self, ty: Type) -> Polynomial {
        self.0.iter_mut().for_each(|(_, number)| *number = ty.normalize(*number));
        self.0.retain(|(_, number)| *number != 0);
        self.0.sort_unstable();
        self
    }
}
