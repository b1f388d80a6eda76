//! What instructions and constant expressions do, in LLVM's numbering.

use super::types::{Type, TypeId, Types};

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident: $($number:literal $variant:ident $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// The operation of a number.
            pub fn numbered(number: u64) -> Option<$name> {
                Some(match number { $($number => $name::$variant,)* _ => return None })
            }

            /// What `.ll` files call it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

numbered! {
    /// A cast.
    CastOp:
    0 Trunc "trunc", 1 Zext "zext", 2 Sext "sext", 3 FpToUi "fptoui", 4 FpToSi "fptosi", 5 UiToFp "uitofp", 6 SiToFp "sitofp",
    7 FpTrunc "fptrunc", 8 FpExt "fpext", 9 PtrToInt "ptrtoint", 10 IntToPtr "inttoptr", 11 BitCast "bitcast",
    12 AddrSpaceCast "addrspacecast", 13 PtrToAddr "ptrtoaddr",
}

impl CastOp {
    /// The cast of a number.
    pub fn of(number: u64) -> Option<CastOp> {
        CastOp::numbered(number)
    }
}

numbered! {
    /// An operation with two operands; floats are 100 above integers here.
    BinaryOp:
    0 Add "add", 1 Sub "sub", 2 Mul "mul", 3 Udiv "udiv", 4 Sdiv "sdiv", 5 Urem "urem", 6 Srem "srem", 7 Shl "shl", 8 Lshr "lshr",
    9 Ashr "ashr", 10 And "and", 11 Or "or", 12 Xor "xor",
    100 Fadd "fadd", 101 Fsub "fsub", 102 Fmul "fmul", 104 Fdiv "fdiv", 106 Frem "frem",
}

impl BinaryOp {
    /// The operation of a number, which integers and floats share.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not a vector is one element; what is not a number has no operations"
    )]
    pub fn of(number: u64, types: &Types, ty: TypeId) -> Option<BinaryOp> {
        let element = match types.get(ty) {
            Type::Vector { element, .. } => *element,
            _ => ty,
        };
        match types.get(element) {
            Type::Integer(_) => BinaryOp::numbered(number).filter(|_| number < 100),
            Type::Half
            | Type::BFloat
            | Type::Float
            | Type::Double
            | Type::X86Fp80
            | Type::Fp128
            | Type::PpcFp128 => {
                // Division of floats has the number of the signed one, 4, and so has the remainder, 6.
                BinaryOp::numbered(number.checked_add(100)?)
            }
            _ => None,
        }
    }
}

numbered! {
    /// A comparison; `F*` compare floats.
    Predicate:
    0 FFalse "false", 1 FOeq "oeq", 2 FOgt "ogt", 3 FOge "oge", 4 FOlt "olt", 5 FOle "ole", 6 FOne "one", 7 FOrd "ord",
    8 FUno "uno", 9 FUeq "ueq", 10 FUgt "ugt", 11 FUge "uge", 12 FUlt "ult", 13 FUle "ule", 14 FUne "une", 15 FTrue "true",
    32 Eq "eq", 33 Ne "ne", 34 Ugt "ugt", 35 Uge "uge", 36 Ult "ult", 37 Ule "ule", 38 Sgt "sgt", 39 Sge "sge", 40 Slt "slt",
    41 Sle "sle",
}

impl Predicate {
    /// The comparison of a number.
    pub fn of(number: u64) -> Option<Predicate> {
        Predicate::numbered(number)
    }

    /// True if floats are compared.
    pub const fn is_float(self) -> bool {
        (self as u32) < Predicate::Eq as u32
    }
}

numbered! {
    /// What an `atomicrmw` does.
    RmwOp:
    0 Xchg "xchg", 1 Add "add", 2 Sub "sub", 3 And "and", 4 Nand "nand", 5 Or "or", 6 Xor "xor", 7 Max "max", 8 Min "min",
    9 Umax "umax", 10 Umin "umin", 11 Fadd "fadd", 12 Fsub "fsub", 13 Fmax "fmax", 14 Fmin "fmin", 15 UincWrap "uinc_wrap",
    16 UdecWrap "udec_wrap", 17 UsubCond "usub_cond", 18 UsubSat "usub_sat", 19 Fmaximum "fmaximum", 20 Fminimum "fminimum",
    21 FmaximumNum "fmaximumnum", 22 FminimumNum "fminimumnum",
}

numbered! {
    /// The order of an atomic access.
    Ordering:
    0 NotAtomic "not_atomic", 1 Unordered "unordered", 2 Monotonic "monotonic", 3 Acquire "acquire", 4 Release "release",
    5 AcqRel "acq_rel", 6 SeqCst "seq_cst",
}

numbered! {
    /// Who sees a symbol, and what happens when several modules define it.
    Linkage:
    0 External "external", 2 Appending "appending", 3 Internal "internal", 4 LinkOnceOld "linkonce", 5 ExternalImport "external",
    6 ExternalExport "external", 7 ExternWeak "extern_weak", 8 Common "common", 9 Private "private", 10 WeakOdrOld "weak_odr",
    11 LinkOnceOdrOld "linkonce_odr", 12 AvailableExternally "available_externally", 13 PrivateOld "private", 14 PrivateOlder "private",
    15 ExternalHidden "external", 1 WeakOld "weak", 16 Weak "weak", 17 WeakOdr "weak_odr", 18 LinkOnce "linkonce",
    19 LinkOnceOdr "linkonce_odr",
}

impl Linkage {
    /// The linkage of a number; others mean external, as LLVM reads them.
    pub fn of(number: u64) -> Linkage {
        Linkage::numbered(number).unwrap_or(Linkage::External)
    }

    /// True if no other module sees the symbol.
    pub const fn is_local(self) -> bool {
        matches!(self, Linkage::Internal | Linkage::Private | Linkage::PrivateOld | Linkage::PrivateOlder)
    }

    /// True if another definition may take its place.
    pub const fn is_weak(self) -> bool {
        matches!(
            self,
            Linkage::Weak
                | Linkage::WeakOld
                | Linkage::WeakOdr
                | Linkage::WeakOdrOld
                | Linkage::LinkOnce
                | Linkage::LinkOnceOld
                | Linkage::LinkOnceOdr
                | Linkage::LinkOnceOdrOld
                | Linkage::Common
                | Linkage::ExternWeak
                | Linkage::AvailableExternally
        )
    }
}

/// Fast-math flags of an instruction: what LLVM's `FastMathMap` numbers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FastMath(pub u32);

#[allow(missing_docs)]
impl FastMath {
    pub const NNAN: FastMath = FastMath(1 << 1);
    pub const NINF: FastMath = FastMath(1 << 2);
    pub const NSZ: FastMath = FastMath(1 << 3);
    pub const ARCP: FastMath = FastMath(1 << 4);
    pub const CONTRACT: FastMath = FastMath(1 << 5);
    pub const AFN: FastMath = FastMath(1 << 6);
    pub const REASSOC: FastMath = FastMath(1 << 7);
    const FAST_OLD: u64 = 1;
    const ALL: FastMath = FastMath(0xfe);
    const NAMES: [(FastMath, &str); 7] = [
        (FastMath::REASSOC, "reassoc"),
        (FastMath::NNAN, "nnan"),
        (FastMath::NINF, "ninf"),
        (FastMath::NSZ, "nsz"),
        (FastMath::ARCP, "arcp"),
        (FastMath::CONTRACT, "contract"),
        (FastMath::AFN, "afn"),
    ];
}

impl FastMath {
    /// The flags of a field of a record.
    pub fn of(bits: u64) -> FastMath {
        if bits & FastMath::FAST_OLD != 0 { FastMath::ALL } else { FastMath(bits as u32 & FastMath::ALL.0) }
    }

    /// True if the flags have all of these.
    pub const fn has(self, flags: FastMath) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The flags as `.ll` files write them, with a blank in front of each.
    pub fn text(self) -> String {
        if self.has(FastMath::ALL) {
            return " fast".to_owned();
        }
        let named = FastMath::NAMES.iter().filter(|(flag, _)| self.has(*flag));
        named.map(|(_, name)| format!(" {name}")).collect()
    }
}
