//! Block parameters of variables that are one value in every predecessor.
//!
//! Values that have become one are a class, in a union-find structure. When two classes join, a parameter can become redundant only if it has
//! incoming values of both; so those of the class with fewer users are looked at again, and the users of the other one are not. Each is
//! therefore looked at O(log n) times, whatever the order in which parameters fall.

use super::FunctionBuilder;
use crate::entities::Value;
use warpsmith_base::FxHashMap;

/// What values have become.
#[derive(Default)]
struct Classes {
    /// A step towards the value that a value has become.
    step: FxHashMap<Value, Value>,
}

impl Classes {
    /// The value that a value has become. Halves the path, so that the next look is shorter.
    fn find(&mut self, mut value: Value) -> Value {
        while let Some(&next) = self.step.get(&value) {
            let Some(&further) = self.step.get(&next) else { return next };
            self.step.insert(value, further);
            value = further;
        }
        value
    }
}

impl FunctionBuilder<'_> {
    /// Replaces parameters whose incoming values are all one value.
    pub(super) fn remove_redundant_phis(&mut self) {
        let mut classes = Classes::default();
        let mut users: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
        for (n, phi) in self.phis.iter().enumerate() {
            phi.incoming.iter().for_each(|value| users.entry(*value).or_default().push(n));
        }
        let mut work: Vec<usize> = (0..self.phis.len()).rev().collect();
        while let Some(n) = work.pop() {
            let phi = &self.phis[n];
            let value = phi.value;
            if classes.step.contains_key(&value) {
                continue;
            }
            let mut others = phi.incoming.iter().map(|v| classes.find(*v)).filter(|v| *v != value);
            let only = match others.next() {
                Some(first) if others.all(|other| other == first) => first,
                Some(_) => continue,
                None => self.zero(self.phis[n].variable, self.phis[n].block),
            };
            classes.step.insert(value, only);
            let (mut many, mut few) =
                (users.remove(&value).unwrap_or_default(), users.remove(&only).unwrap_or_default());
            if many.len() < few.len() {
                std::mem::swap(&mut many, &mut few);
            }
            work.extend(&few);
            many.append(&mut few);
            users.insert(only, many);
        }
        for n in 0..self.phis.len() {
            let value = self.phis[n].value;
            let became = classes.find(value);
            if became != value {
                self.func_mut().dfg.replace_value(value, became);
            }
        }
    }
}
