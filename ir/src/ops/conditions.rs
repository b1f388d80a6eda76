//! The conditions of comparisons.

use crate::words::words;

macro_rules! conditions {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $text:literal swaps $swapped:ident inverts $inverse:ident,)* }) => {
        words! { $(#[$meta])* $name { $($(#[$doc])* $variant $text,)* } }

        impl $name {
            /// The condition that holds for `(y, x)` exactly when this one holds for `(x, y)`.
            pub const fn swapped(self) -> $name {
                match self { $($name::$variant => $name::$swapped,)* }
            }

            /// The condition that holds exactly when this one does not.
            pub const fn inverse(self) -> $name {
                match self { $($name::$variant => $name::$inverse,)* }
            }
        }
    };
}

conditions! {
    /// How `icmp` compares.
    IntCC {
        /// Equal.
        Eq "eq" swaps Eq inverts Ne,
        /// Not equal.
        Ne "ne" swaps Ne inverts Eq,
        /// Signed less.
        Slt "slt" swaps Sgt inverts Sge,
        /// Signed less or equal.
        Sle "sle" swaps Sge inverts Sgt,
        /// Signed greater.
        Sgt "sgt" swaps Slt inverts Sle,
        /// Signed greater or equal.
        Sge "sge" swaps Sle inverts Slt,
        /// Unsigned less.
        Ult "ult" swaps Ugt inverts Uge,
        /// Unsigned less or equal.
        Ule "ule" swaps Uge inverts Ugt,
        /// Unsigned greater.
        Ugt "ugt" swaps Ult inverts Ule,
        /// Unsigned greater or equal.
        Uge "uge" swaps Ule inverts Ult,
    }
}

impl IntCC {
    /// Whether the condition holds for two numbers, which are given as signed ones and as unsigned ones.
    ///
    /// ```
    /// use warpsmith_ir::IntCC;
    /// assert!(IntCC::Slt.holds([-1i8, 1], [255u8, 1]) && IntCC::Ugt.holds([-1i8, 1], [255u8, 1]));
    /// ```
    #[inline]
    pub fn holds<S: Ord, U: Ord>(self, [x, y]: [S; 2], [a, b]: [U; 2]) -> bool {
        match self {
            IntCC::Eq => a == b,
            IntCC::Ne => a != b,
            IntCC::Slt => x < y,
            IntCC::Sle => x <= y,
            IntCC::Sgt => x > y,
            IntCC::Sge => x >= y,
            IntCC::Ult => a < b,
            IntCC::Ule => a <= b,
            IntCC::Ugt => a > b,
            IntCC::Uge => a >= b,
        }
    }
}

conditions! {
    /// How `fcmp` compares. The plain conditions are false if an operand is NaN; those that end in `u` are true.
    FloatCC {
        /// Equal.
        Eq "eq" swaps Eq inverts Neu,
        /// Not equal, neither NaN.
        Ne "ne" swaps Ne inverts Equ,
        /// Less.
        Lt "lt" swaps Gt inverts Geu,
        /// Less or equal.
        Le "le" swaps Ge inverts Gtu,
        /// Greater.
        Gt "gt" swaps Lt inverts Leu,
        /// Greater or equal.
        Ge "ge" swaps Le inverts Ltu,
        /// Equal, or a NaN.
        Equ "equ" swaps Equ inverts Ne,
        /// Not equal, or a NaN.
        Neu "neu" swaps Neu inverts Eq,
        /// Less, or a NaN.
        Ltu "ltu" swaps Gtu inverts Ge,
        /// Less or equal, or a NaN.
        Leu "leu" swaps Geu inverts Gt,
        /// Greater, or a NaN.
        Gtu "gtu" swaps Ltu inverts Le,
        /// Greater or equal, or a NaN.
        Geu "geu" swaps Leu inverts Lt,
        /// Neither is NaN.
        Num "num" swaps Num inverts Nan,
        /// At least one is NaN.
        Nan "nan" swaps Nan inverts Num,
    }
}
