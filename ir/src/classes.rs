//! The core operations distinguished by their operands, so that a table over one kind of operation is an exhaustive match: what selects,
//! evaluates or folds them names every one, and a new row of the table fails the build where it is not named.

use crate::ops::{Opcode, for_each_op};

/// Sorts the rows of the table into classes, by shape and by what `T` may be, one row a step. A row that fits no arm does not compile.
macro_rules! sort {
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Unary $o:tt $r:ident Int $f:tt; $($rest:tt)*) => {
        sort! { @IntUnary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Unary $o:tt $r:ident BoolInt $f:tt; $($rest:tt)*) => {
        sort! { @IntUnary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Unary $o:tt $r:ident Float $f:tt; $($rest:tt)*) => {
        sort! { @FloatUnary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Unary $o:tt $r:ident Ptr $f:tt; $($rest:tt)*) => {
        sort! { @PointerUnary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Binary $o:tt $r:ident Int $f:tt; $($rest:tt)*) => {
        sort! { @IntBinary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Binary $o:tt $r:ident BoolInt $f:tt; $($rest:tt)*) => {
        sort! { @IntBinary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Binary $o:tt $r:ident Float $f:tt; $($rest:tt)*) => {
        sort! { @FloatBinary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Binary $o:tt $r:ident Ptr $f:tt; $($rest:tt)*) => {
        sort! { @PointerBinary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Ternary $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Ternary $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Convert $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Conversion $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident IntConst $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident FloatConst $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident IntCompare $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident FloatCompare $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Load $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Store $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Index $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident StackAddr $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident GlobalAddr $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident FuncAddr $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Vec $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Extract $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Insert $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Zero $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Aggregate $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident ExtractValue $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident InsertValue $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident MemBlock $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Sreg $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Call $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident CallIndirect $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Ptx $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Jump $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Brif $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Switch $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Return $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident Trap $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @Alone $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident List $o:tt TAndBools Int $f:tt; $($rest:tt)*) => {
        sort! { @Overflow $v $lists $($rest)* }
    };
    ($lists:tt $(#[$m:meta])* $v:ident $n:ident List $o:tt $r:ident $t:ident $f:tt; $($rest:tt)*) => {
        sort! { @List $v $lists $($rest)* }
    };
    (@IntUnary $v:ident [{$($iu:tt)*} $ib:tt $fu:tt $fb:tt $pu:tt $pb:tt $t:tt $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [{$($iu)* $v} $ib $fu $fb $pu $pb $t $c $ov $l $a] $($rest)* }
    };
    (@IntBinary $v:ident [$iu:tt {$($ib:tt)*} $fu:tt $fb:tt $pu:tt $pb:tt $t:tt $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu {$($ib)* $v} $fu $fb $pu $pb $t $c $ov $l $a] $($rest)* }
    };
    (@FloatUnary $v:ident [$iu:tt $ib:tt {$($fu:tt)*} $fb:tt $pu:tt $pb:tt $t:tt $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib {$($fu)* $v} $fb $pu $pb $t $c $ov $l $a] $($rest)* }
    };
    (@FloatBinary $v:ident [$iu:tt $ib:tt $fu:tt {$($fb:tt)*} $pu:tt $pb:tt $t:tt $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu {$($fb)* $v} $pu $pb $t $c $ov $l $a] $($rest)* }
    };
    (@PointerUnary $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt {$($pu:tt)*} $pb:tt $t:tt $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb {$($pu)* $v} $pb $t $c $ov $l $a] $($rest)* }
    };
    (@PointerBinary $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt $pu:tt {$($pb:tt)*} $t:tt $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb $pu {$($pb)* $v} $t $c $ov $l $a] $($rest)* }
    };
    (@Ternary $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt $pu:tt $pb:tt {$($t:tt)*} $c:tt $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb $pu $pb {$($t)* $v} $c $ov $l $a] $($rest)* }
    };
    (@Conversion $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt $pu:tt $pb:tt $t:tt {$($c:tt)*} $ov:tt $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb $pu $pb $t {$($c)* $v} $ov $l $a] $($rest)* }
    };
    (@Overflow $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt $pu:tt $pb:tt $t:tt $c:tt {$($ov:tt)*} $l:tt $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb $pu $pb $t $c {$($ov)* $v} $l $a] $($rest)* }
    };
    (@List $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt $pu:tt $pb:tt $t:tt $c:tt $ov:tt {$($l:tt)*} $a:tt] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb $pu $pb $t $c $ov {$($l)* $v} $a] $($rest)* }
    };
    (@Alone $v:ident [$iu:tt $ib:tt $fu:tt $fb:tt $pu:tt $pb:tt $t:tt $c:tt $ov:tt $l:tt {$($a:tt)*}] $($rest:tt)*) => {
        sort! { [$iu $ib $fu $fb $pu $pb $t $c $ov $l {$($a)* $v}] $($rest)* }
    };
    ([{$($iu:ident)*} {$($ib:ident)*} {$($fu:ident)*} {$($fb:ident)*} {$($pu:ident)*} {$($pb:ident)*} {$($t:ident)*} {$($c:ident)*} {$($ov:ident)*} {$($l:ident)*} {$($a:ident)*}]) => {
        class! {
            /// An operation of one integer, or of one truth value.
            IntUnary $($iu)*
        }
        class! {
            /// An operation of two integers, or of two truth values.
            IntBinary $($ib)*
        }
        class! {
            /// An operation of one float.
            FloatUnary $($fu)*
        }
        class! {
            /// An operation of two floats.
            FloatBinary $($fb)*
        }
        class! {
            /// An operation of one pointer.
            PointerUnary $($pu)*
        }
        class! {
            /// An operation of a pointer and an offset.
            PointerBinary $($pb)*
        }
        class! {
            /// An operation of three operands.
            Ternary $($t)*
        }
        class! {
            /// An operation of one operand whose result's type is written with it.
            Conversion $($c)*
        }
        class! {
            /// An operation of two integers with two results: what wraps, and whether it did.
            Overflow $($ov)*
        }
        class! {
            /// Any other operation of a list of operands.
            ListOp $($l)*
        }

        /// Which class an operation is of.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Class {
            /// [`InstData::Unary`](crate::InstData::Unary) of an integer.
            IntUnary(IntUnary),
            /// [`InstData::Binary`](crate::InstData::Binary) of integers.
            IntBinary(IntBinary),
            /// [`InstData::Unary`](crate::InstData::Unary) of a float.
            FloatUnary(FloatUnary),
            /// [`InstData::Binary`](crate::InstData::Binary) of floats.
            FloatBinary(FloatBinary),
            /// [`InstData::Unary`](crate::InstData::Unary) of a pointer.
            PointerUnary(PointerUnary),
            /// [`InstData::Binary`](crate::InstData::Binary) of a pointer and an offset.
            PointerBinary(PointerBinary),
            /// [`InstData::Ternary`](crate::InstData::Ternary).
            Ternary(Ternary),
            /// [`InstData::Unary`](crate::InstData::Unary) with the result's type in its name.
            Conversion(Conversion),
            /// [`InstData::List`](crate::InstData::List) with two results: an integer, and whether it wrapped.
            Overflow(Overflow),
            /// [`InstData::List`](crate::InstData::List) otherwise.
            List(ListOp),
            /// A variant of [`InstData`](crate::InstData) of its own.
            Alone,
        }

        impl Opcode {
            /// The class of the operation.
            pub const fn class(self) -> Class {
                match self {
                    $(Opcode::$iu => Class::IntUnary(IntUnary::$iu),)*
                    $(Opcode::$ib => Class::IntBinary(IntBinary::$ib),)*
                    $(Opcode::$fu => Class::FloatUnary(FloatUnary::$fu),)*
                    $(Opcode::$fb => Class::FloatBinary(FloatBinary::$fb),)*
                    $(Opcode::$pu => Class::PointerUnary(PointerUnary::$pu),)*
                    $(Opcode::$pb => Class::PointerBinary(PointerBinary::$pb),)*
                    $(Opcode::$t => Class::Ternary(Ternary::$t),)*
                    $(Opcode::$c => Class::Conversion(Conversion::$c),)*
                    $(Opcode::$ov => Class::Overflow(Overflow::$ov),)*
                    $(Opcode::$l => Class::List(ListOp::$l),)*
                    $(Opcode::$a => Class::Alone,)*
                }
            }
        }
    };
}

macro_rules! class {
    ($(#[$doc:meta])* $name:ident $($variant:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl From<$name> for Opcode {
            fn from(op: $name) -> Opcode {
                match op { $($name::$variant => Opcode::$variant,)* }
            }
        }
    };
}

macro_rules! start {
    ($($rows:tt)*) => { sort! { [{} {} {} {} {} {} {} {} {} {} {}] $($rows)* } };
}
for_each_op!(start);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Shape;

    #[test]
    fn classes_follow_the_shapes() {
        for &op in Opcode::ALL {
            let (shapes, back): (&[Shape], Opcode) = match op.class() {
                Class::IntUnary(of) => (&[Shape::Unary], of.into()),
                Class::FloatUnary(of) => (&[Shape::Unary], of.into()),
                Class::PointerUnary(of) => (&[Shape::Unary], of.into()),
                Class::IntBinary(of) => (&[Shape::Binary], of.into()),
                Class::FloatBinary(of) => (&[Shape::Binary], of.into()),
                Class::PointerBinary(of) => (&[Shape::Binary], of.into()),
                Class::Ternary(of) => (&[Shape::Ternary], of.into()),
                Class::Conversion(of) => (&[Shape::Convert], of.into()),
                Class::Overflow(of) => (&[Shape::List], of.into()),
                Class::List(of) => (&[Shape::List], of.into()),
                Class::Alone => continue,
            };
            assert_eq!(back, op);
            assert!(shapes.contains(&op.info().shape), "{op}");
        }
    }
}
