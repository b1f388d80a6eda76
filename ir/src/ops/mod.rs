//! The core operations, as one table. The opcode enum, the parser, the printer, the builder's methods, the verifier's typing
//! rules and the traits that passes ask for are all made from it; `docs/ir.md` says the same in prose.

mod conditions;
mod rules;
mod table;
mod traits;

pub use conditions::{FloatCC, IntCC};
pub use rules::{OperandRule, ResultRule, Shape, TypeSet};
pub(crate) use table::for_each_op;
pub use traits::Traits;

use std::fmt;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in the text form.
    pub name: &'static str,
    /// How it is written.
    pub shape: Shape,
    /// The operands' types.
    pub operands: &'static [OperandRule],
    /// The result's type.
    pub result: ResultRule,
    /// What `T` may be.
    pub types: TypeSet,
    /// What it does.
    pub traits: Traits,
    /// What it means, in one line.
    pub doc: &'static str,
}

macro_rules! define_opcodes {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:ident $shape:ident ($($operand:ident)*) $result:ident $types:ident [$($flag:ident)*];)*) => {
        /// A core operation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Opcode { $($(#[doc = $doc])+ $variant,)* }

        /// The table, in the order of [`Opcode`].
        static OPS: &[OpInfo] = &[$(OpInfo {
            name: stringify!($name),
            shape: Shape::$shape,
            operands: &[$(OperandRule::$operand,)*],
            result: ResultRule::$result,
            types: TypeSet::$types,
            traits: Traits::NONE$(.union(Traits::$flag))*,
            doc: concat!($($doc,)+),
        },)*];

        impl Opcode {
            /// Every core operation, in the table's order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];
        }
    };
}
for_each_op!(define_opcodes);

impl Opcode {
    /// The row of the table.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The inverse of [`Opcode::name`].
    pub fn from_name(name: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The traits of the core operation. Those of an `sreg`, a `load` or a table-derived operation depend on more:
    /// [`Function::traits`](crate::Function::traits).
    #[inline]
    pub fn traits(self) -> Traits {
        self.info().traits
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_round_trip() {
        for &op in Opcode::ALL {
            assert_eq!(Opcode::from_name(op.name()), Some(op));
        }
        for &cond in IntCC::ALL {
            assert_eq!(IntCC::from_name(cond.name()), Some(cond));
            assert_eq!((cond.swapped().swapped(), cond.inverse().inverse()), (cond, cond));
        }
        for &cond in FloatCC::ALL {
            assert_eq!(FloatCC::from_name(cond.name()), Some(cond));
            assert_eq!((cond.swapped().swapped(), cond.inverse().inverse()), (cond, cond));
        }
    }
}
