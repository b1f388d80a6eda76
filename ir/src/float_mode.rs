//! How an operation on floats rounds, what it does with subnormals, and what it may do beyond its meaning.

use crate::classes::{Class, Conversion, FloatBinary, FloatUnary, Ternary};
use crate::ops::Opcode;
use crate::types::{Scalar, Type};
use bitflags::bitflags;
use std::fmt;

/// The directions of rounding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatRounding {
    /// `rn`: to nearest, ties to even.
    Nearest,
    /// `rz`: toward zero.
    Zero,
    /// `rm`: toward negative infinity.
    Down,
    /// `rp`: toward positive infinity.
    Up,
}

impl FloatRounding {
    /// All of them.
    pub const ALL: [FloatRounding; 4] =
        [FloatRounding::Nearest, FloatRounding::Zero, FloatRounding::Down, FloatRounding::Up];

    /// The word in the text form, which is PTX's.
    pub const fn name(self) -> &'static str {
        match self {
            FloatRounding::Nearest => "rn",
            FloatRounding::Zero => "rz",
            FloatRounding::Down => "rm",
            FloatRounding::Up => "rp",
        }
    }
}

bitflags! {
    /// What an operation on floats may do beyond its semantics: LLVM's fast-math flags, by LLVM's names.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct FastMath: u8 {
        /// A product and a sum that both have it may be rounded once.
        const CONTRACT = 1;
        /// Operands may be combined in another order.
        const REASSOC = 2;
        /// Operands and results are not NaN.
        const NNAN = 4;
        /// Operands and results are not infinite.
        const NINF = 8;
        /// The sign of a zero does not matter.
        const NSZ = 16;
        /// A quotient may be a product with the reciprocal.
        const ARCP = 32;
        /// The result is that of PTX's approximate instruction, where there is one.
        const AFN = 64;
    }
}

impl FastMath {
    /// No flag.
    pub const NONE: FastMath = FastMath::empty();
    /// All flags.
    pub const FAST: FastMath = FastMath::all();

    /// The words of the text form.
    const NAMES: [(FastMath, &'static str); 8] = [
        (FastMath::FAST, "fast"),
        (FastMath::CONTRACT, "contract"),
        (FastMath::REASSOC, "reassoc"),
        (FastMath::NNAN, "nnan"),
        (FastMath::NINF, "ninf"),
        (FastMath::NSZ, "nsz"),
        (FastMath::ARCP, "arcp"),
        (FastMath::AFN, "afn"),
    ];
}

/// How an operation on floats is done: the default is the plain one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatMode {
    /// The direction of rounding; without it, the one that the operation has.
    pub rounding: Option<FloatRounding>,
    /// Subnormal operands and results become zero of their sign.
    pub ftz: bool,
    /// The result is clamped to 0 to 1; NaN becomes 0.
    pub sat: bool,
    /// What it may do beyond its meaning.
    pub fast: FastMath,
}

impl FloatMode {
    /// The mode of a set of flags.
    pub const fn fast(fast: FastMath) -> FloatMode {
        FloatMode { rounding: None, ftz: false, sat: false, fast }
    }

    /// The mode that rounds in a direction.
    pub const fn rounded(rounding: FloatRounding) -> FloatMode {
        FloatMode { rounding: Some(rounding), ftz: false, sat: false, fast: FastMath::NONE }
    }

    /// The mode with what a word of the text form adds. `None` for words that say nothing of floats.
    pub fn with_word(self, word: &str) -> Option<FloatMode> {
        if let Some(rounding) = FloatRounding::ALL.into_iter().find(|rounding| rounding.name() == word) {
            return Some(FloatMode { rounding: Some(rounding), ..self });
        }
        let flag = FastMath::NAMES.into_iter().find(|(_, name)| *name == word);
        match (word, flag) {
            ("ftz", _) => Some(FloatMode { ftz: true, ..self }),
            ("sat", _) => Some(FloatMode { sat: true, ..self }),
            (_, Some((flag, _))) => Some(FloatMode { fast: self.fast | flag, ..self }),
            _ => None,
        }
    }

    /// Every word of the text form.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let rounding = FloatRounding::ALL.into_iter().map(FloatRounding::name);
        rounding.chain(["ftz", "sat"]).chain(FastMath::NAMES.into_iter().map(|(_, name)| name))
    }

    /// The mode without what flags of fast arithmetic allow.
    pub const fn exact(self) -> FloatMode {
        FloatMode { fast: FastMath::NONE, ..self }
    }

    /// True if the result is that of the plain operation: the flags that are left allow more and ask for nothing.
    pub const fn computes_plainly(self) -> bool {
        self.rounding.is_none() && !self.ftz && !self.sat && !self.fast.contains(FastMath::AFN)
    }

    /// Why an operation on a type, to a type, cannot be done so. `None` if it can.
    pub fn refusal(self, op: Opcode, t: Type, to: Type) -> Option<String> {
        let (from, to) = (t.element(), to.element());
        if let Some(narrow) = [from, to].into_iter().find(|scalar| scalar.is_narrow_float()) {
            // Powers of two are rounded as PTX's conversion to them does.
            let (rounds, way) = match (to, op) {
                (Scalar::UE8M0, Opcode::Fptrunc) => (
                    matches!(self.rounding, None | Some(FloatRounding::Zero | FloatRounding::Up)),
                    "toward zero or up",
                ),
                (Scalar::UE8M0, _) => {
                    (matches!(self.rounding, None | Some(FloatRounding::Zero)), "toward zero")
                }
                _ => (matches!(self.rounding, None | Some(FloatRounding::Nearest)), "to nearest"),
            };
            if op.is_approximate() {
                return Some(format!("`{op}` has no form for {narrow}"));
            }
            let plain = FloatMode { rounding: None, ..self.exact() }.computes_plainly();
            return (!(plain && rounds))
                .then(|| format!("`{op}` of {narrow} rounds {way}, and does no more"));
        }
        let rounding = match self.rounding {
            None => true,
            Some(rounding) => match rounds(op) {
                Rounds::No => false,
                Rounds::Arithmetic => {
                    rounding == FloatRounding::Nearest || matches!(from, Scalar::F32 | Scalar::F64)
                }
                Rounds::Narrowing if to == Scalar::F32 => true,
                Rounds::Narrowing => {
                    rounding == FloatRounding::Nearest
                        || (rounding == FloatRounding::Zero && from == Scalar::F32)
                }
                Rounds::FromInteger => {
                    rounding == FloatRounding::Nearest
                        || matches!(to, Scalar::F16 | Scalar::F32 | Scalar::F64)
                }
                Rounds::ToInteger => true,
            },
        };
        if !rounding {
            let word = self.rounding.map_or("rn", FloatRounding::name);
            return Some(format!("`{op}` of {t} does not round `{word}`"));
        }
        let half_arithmetic = from == Scalar::F16 && matches!(rounds(op), Rounds::Arithmetic);
        let simple = matches!(op, Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fma);
        let flushes = from == Scalar::F32
            && !matches!(rounds(op), Rounds::Narrowing | Rounds::FromInteger | Rounds::ToInteger)
            && !matches!(op, Opcode::Fpext | Opcode::Fcopysign | Opcode::Fround | Opcode::Frem)
            && !matches!(op, Opcode::Ffloor | Opcode::Fceil | Opcode::Ftrunc | Opcode::Fnearest)
            || half_arithmetic && simple;
        if self.ftz && !flushes {
            return Some(format!("`{op}` of {t} does not flush subnormals"));
        }
        if self.sat && !(simple && matches!(from, Scalar::F16 | Scalar::F32)) {
            return Some(format!("`{op}` of {t} does not saturate"));
        }
        if op.is_approximate() {
            if !self.fast.contains(FastMath::AFN) {
                return Some(format!("`{op}` has an approximate form only"));
            }
            if from == Scalar::F64 && !matches!(op, Opcode::Frsqrt | Opcode::Frcp) {
                return Some(format!("`{op}` has no form for f64"));
            }
        }
        let exact = self.rounding.is_some() && self.fast.contains(FastMath::AFN);
        (exact && matches!(op, Opcode::Fdiv | Opcode::Fsqrt))
            .then(|| format!("`{op}` is either approximate or rounds in a direction"))
    }
}

/// Every word with a space behind it.
impl fmt::Display for FloatMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rounding) = self.rounding {
            write!(f, "{} ", rounding.name())?;
        }
        f.write_str(if self.ftz { "ftz " } else { "" })?;
        f.write_str(if self.sat { "sat " } else { "" })?;
        if self.fast == FastMath::FAST {
            return f.write_str("fast ");
        }
        FastMath::NAMES
            .into_iter()
            .filter(|(flag, _)| self.fast.contains(*flag))
            .try_for_each(|(_, name)| write!(f, "{name} "))
    }
}

impl Opcode {
    /// True for operations that PTX has approximations of only.
    pub const fn is_approximate(self) -> bool {
        use Opcode::*;
        matches!(self, Frsqrt | Frcp | Fsin | Fcos | Fexp2 | Flog2 | Ftanh)
    }

    /// True where [`FastMath::AFN`] makes the operation on a type another one, PTX's approximation. The flag says nothing to all others.
    pub fn has_approximation(self, ty: Type) -> bool {
        self.is_approximate() || matches!(self, Opcode::Fdiv | Opcode::Fsqrt) && ty.element() == Scalar::F32
    }
}

/// How a direction of rounding applies to an operation.
#[derive(Clone, Copy)]
enum Rounds {
    No,
    Arithmetic,
    Narrowing,
    FromInteger,
    ToInteger,
}

fn rounds(op: Opcode) -> Rounds {
    match op.class() {
        Class::FloatUnary(FloatUnary::Fsqrt) | Class::Ternary(Ternary::Fma) => Rounds::Arithmetic,
        Class::FloatBinary(FloatBinary::Fadd | FloatBinary::Fsub | FloatBinary::Fmul | FloatBinary::Fdiv) => {
            Rounds::Arithmetic
        }
        Class::Conversion(Conversion::Fptrunc) => Rounds::Narrowing,
        Class::Conversion(Conversion::Sitofp | Conversion::Uitofp) => Rounds::FromInteger,
        Class::Conversion(Conversion::Fptosi | Conversion::Fptoui) => Rounds::ToInteger,
        Class::IntUnary(_)
        | Class::IntBinary(_)
        | Class::FloatUnary(_)
        | Class::FloatBinary(_)
        | Class::PointerUnary(_)
        | Class::PointerBinary(_)
        | Class::Ternary(_)
        | Class::Conversion(_)
        | Class::Overflow(_)
        | Class::List(_)
        | Class::Alone => Rounds::No,
    }
}

impl Opcode {
    /// True for the operations that may have a [`FloatMode`].
    pub const fn takes_float_mode(self) -> bool {
        matches!(
            self.class(),
            Class::FloatUnary(_)
                | Class::FloatBinary(_)
                | Class::Ternary(Ternary::Fma)
                | Class::Conversion(
                    Conversion::Fptrunc
                        | Conversion::Fpext
                        | Conversion::Sitofp
                        | Conversion::Uitofp
                        | Conversion::Fptosi
                        | Conversion::Fptoui
                )
        )
    }
}
