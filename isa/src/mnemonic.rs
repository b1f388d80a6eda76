//! Names of instructions: an opcode and its modifiers, as text and as one small value.

use crate::hash;
use crate::tables::*;
use crate::{Mod, Opcode, ScalarType, StateSpace};
use std::fmt;
use std::hash::{Hash, Hasher};
use warpsmith_diag::nearest;

/// What the matcher must know of a modifier.
pub(crate) struct ModInfo {
    /// 0 where order does not matter; modifiers of one other kind are distinguished by their order.
    pub kind: u8,
    /// True where it may be written twice.
    pub repeatable: bool,
    /// True where ptxas takes it on any instruction, without a meaning.
    pub overlooked: bool,
    /// The number in its name.
    pub number: u16,
    /// The sides of the matrix shape it names, or zeros.
    pub shape: [u16; 3],
}

/// Looks a name up in a generated table.
pub(crate) fn find<T: Copy>(text: &str, table: &[u16], names: &[&str], all: &[T]) -> Option<T> {
    let mask = table.len() - 1;
    let mut slot = hash::slot(text, table.len());
    loop {
        match table[slot] {
            0 => return None,
            index if names[index as usize - 1] == text => return Some(all[index as usize - 1]),
            _ => slot = (slot + 1) & mask,
        }
    }
}

impl Opcode {
    /// The text: `cp.async.bulk`.
    pub fn text(self) -> &'static str {
        OPCODE_TEXT[self as usize]
    }

    /// The inverse of [`Opcode::text`].
    pub fn from_text(text: &str) -> Option<Self> {
        find(text, &OPCODE_HASH, &OPCODE_TEXT, &OPCODE_ALL)
    }

    /// Every opcode, by name.
    pub fn all() -> impl ExactSizeIterator<Item = Opcode> + Clone {
        OPCODE_ALL.iter().copied()
    }

    /// Its forms.
    pub fn forms(self) -> &'static [crate::Form] {
        let (start, end) = OPCODE_FORMS[self as usize];
        &FORMS[start as usize..end as usize]
    }
}

impl Mod {
    /// The text after the dot: `shared::cta`.
    pub fn text(self) -> &'static str {
        MOD_TEXT[self as usize]
    }

    /// The inverse of [`Mod::text`].
    pub fn from_text(text: &str) -> Option<Self> {
        find(text, &MOD_HASH, &MOD_TEXT, &MOD_ALL)
    }

    /// Every modifier.
    pub fn all() -> impl ExactSizeIterator<Item = Mod> + Clone {
        MOD_ALL.iter().copied()
    }

    /// The type a type modifier names.
    pub fn scalar(self) -> Option<ScalarType> {
        // The generator lists the scalar types first and in their own order.
        ScalarType::ALL.get(self as usize).copied()
    }

    /// The modifier that names a type.
    pub fn of_scalar(ty: ScalarType) -> Mod {
        MOD_ALL[ty as usize]
    }

    /// The state space that a modifier such as `.shared::cta` names.
    pub fn space(self) -> Option<StateSpace> {
        crate::SpaceModifier::of(self).map(crate::SpaceModifier::space)
    }

    /// The number in the name: 4 in `.v4`, and N of a matrix shape such as `.m64n128k16`; 0 where there is none.
    pub fn number(self) -> u32 {
        MOD_INFO[self as usize].number.into()
    }

    /// The sides M, N and K of a matrix shape such as `.m16n8k32`; K is 0 in `.m8n8`.
    pub fn shape(self) -> Option<[u16; 3]> {
        let shape = MOD_INFO[self as usize].shape;
        (shape[0] > 0).then_some(shape)
    }

    /// True where it may be written twice.
    pub fn repeatable(self) -> bool {
        MOD_INFO[self as usize].repeatable
    }

    /// True where ptxas takes it on any instruction and passes over it.
    pub fn overlooked(self) -> bool {
        MOD_INFO[self as usize].overlooked
    }

    /// True where only the order of this and `other` distinguishes them.
    pub fn ordered_with(self, other: Mod) -> bool {
        let kind = MOD_INFO[self as usize].kind;
        kind != 0 && kind == MOD_INFO[other as usize].kind
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Mod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.text())
    }
}

impl fmt::Debug for Mod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An instruction's whole name: an opcode and its modifiers as written.
///
/// ```
/// use warpsmith_isa::{Mnemonic, Mod, Opcode};
/// let add = Mnemonic::parse("add.rn.f32").unwrap();
/// assert_eq!(add, Mnemonic::new(Opcode::Add).with(Mod::Rn).with(Mod::F32));
/// assert_eq!(add.to_string(), "add.rn.f32");
/// ```
#[derive(Clone, Copy, Eq)]
pub struct Mnemonic {
    opcode: Opcode,
    len: u16,
    mods: [Mod; Mnemonic::MAX_MODS],
}

// The modifiers that are written: every emitted instruction is looked up by its mnemonic, and most have two or three.
impl PartialEq for Mnemonic {
    fn eq(&self, other: &Self) -> bool {
        self.opcode == other.opcode && self.mods() == other.mods()
    }
}

impl Hash for Mnemonic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // What stands behind the modifiers is always the same.
        let [first, second, ..] = self.mods;
        let begins = (first as u64) << 16 | second as u64;
        state.write_u64((self.opcode as u64) << 48 | u64::from(self.len) << 32 | begins);
        self.mods().iter().skip(2).for_each(|modifier| state.write_u16(*modifier as u16));
    }
}

/// Why a text names no instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MnemonicError {
    /// No opcode begins the text.
    UnknownOpcode {
        /// The opcode whose name is nearest.
        nearest: Option<Opcode>,
    },
    /// A part after the opcode is not a modifier of any instruction.
    UnknownModifier {
        /// The bytes of the text that hold it, without its dot.
        range: std::ops::Range<usize>,
        /// The modifier whose name is nearest.
        nearest: Option<Mod>,
    },
    /// More modifiers than any instruction has.
    TooManyModifiers,
}

impl fmt::Display for MnemonicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MnemonicError::UnknownOpcode { nearest: Some(o) } => {
                write!(f, "no such instruction; did you mean `{o}`?")
            }
            MnemonicError::UnknownOpcode { nearest: None } => write!(f, "no such instruction"),
            MnemonicError::UnknownModifier { nearest: Some(m), .. } => {
                write!(f, "no such modifier; did you mean `{m}`?")
            }
            MnemonicError::UnknownModifier { nearest: None, .. } => write!(f, "no such modifier"),
            MnemonicError::TooManyModifiers => write!(f, "more than {} modifiers", Mnemonic::MAX_MODS),
        }
    }
}

impl std::error::Error for MnemonicError {}

/// The last parts of opcodes that ptxas also finds among the modifiers.
const FLOATING: &[&str] = &["noComplete"];

impl Mnemonic {
    /// How many modifiers a mnemonic can hold: the longest form of `mma` has as many.
    pub const MAX_MODS: usize = 14;

    /// A mnemonic without modifiers.
    pub const fn new(opcode: Opcode) -> Self {
        // Behind the modifiers stands filler, which nothing reads.
        Mnemonic { opcode, len: 0, mods: [Mod::Pred; Mnemonic::MAX_MODS] }
    }

    /// The mnemonic with one more modifier at its end.
    ///
    /// # Panics
    ///
    /// Beyond [`Mnemonic::MAX_MODS`] modifiers; [`Mnemonic::try_with`] does not.
    pub const fn with(self, modifier: Mod) -> Self {
        match self.try_with(modifier) {
            Some(mnemonic) => mnemonic,
            None => panic!("too many modifiers"),
        }
    }

    /// The mnemonic with one more modifier at its end, if there is room.
    pub const fn try_with(mut self, modifier: Mod) -> Option<Self> {
        if self.len as usize == Self::MAX_MODS {
            return None;
        }
        self.mods[self.len as usize] = modifier;
        self.len += 1;
        Some(self)
    }

    /// The mnemonic with the modifiers of a slice at its end, if there is room.
    pub fn with_all(self, modifiers: &[Mod]) -> Option<Self> {
        modifiers.iter().try_fold(self, |mnemonic, &modifier| mnemonic.try_with(modifier))
    }

    /// Reads `opcode.modifier.modifier`. The opcode is the longest that fits; every modifier must be one that some instruction has.
    pub fn parse(text: &str) -> Result<Self, MnemonicError> {
        let mut opcode = None;
        let mut end = 0;
        loop {
            end += text[end..].find('.').unwrap_or(text.len() - end);
            match Opcode::from_text(&text[..end]) {
                Some(found) => opcode = Some((found, end)),
                // Every opcode is shorter: a hostile text must not cost the square of its length.
                None if end > 64 => break,
                None => {}
            }
            if end == text.len() {
                break;
            }
            end += 1;
        }
        let Some((opcode, end)) = opcode else {
            let head = text.split('.').next().unwrap_or(text);
            let nearest = nearest(head, Opcode::all().map(Opcode::text)).and_then(Opcode::from_text);
            return Err(MnemonicError::UnknownOpcode { nearest });
        };
        let mut mnemonic = Mnemonic::new(opcode);
        let mut start = end;
        while start < text.len() {
            start += 1;
            let end = start + text[start..].find('.').unwrap_or(text.len() - start);
            let part = &text[start..end];
            if FLOATING.contains(&part)
                && let Some(longer) = Opcode::from_text(&format!("{}.{part}", mnemonic.opcode.text()))
            {
                mnemonic.opcode = longer;
                start = end;
                continue;
            }
            let Some(modifier) = Mod::from_text(part) else {
                let nearest = nearest(part, Mod::all().map(Mod::text)).and_then(Mod::from_text);
                return Err(MnemonicError::UnknownModifier { range: start..end, nearest });
            };
            mnemonic = mnemonic.try_with(modifier).ok_or(MnemonicError::TooManyModifiers)?;
            start = end;
        }
        Ok(mnemonic)
    }

    /// The mnemonic of a text, for constants; [`mnemonic!`](crate::mnemonic) makes sure that it is evaluated by the compiler.
    ///
    /// # Panics
    ///
    /// Where [`Mnemonic::parse`] gives an error.
    pub const fn literal(text: &str) -> Self {
        let text = text.as_bytes();
        let (mut best, mut end, mut n) = (0, 0, 0);
        while n < OPCODE_TEXT.len() {
            let len = OPCODE_TEXT[n].len();
            if len > end
                && same(text, 0, OPCODE_TEXT[n].as_bytes())
                && (len == text.len() || text[len] == b'.')
            {
                (best, end) = (n, len);
            }
            n += 1;
        }
        assert!(end > 0, "no such instruction");
        let mut mnemonic = Mnemonic::new(OPCODE_ALL[best]);
        while end < text.len() {
            let start = end + 1;
            end = start;
            while end < text.len() && text[end] != b'.' {
                end += 1;
            }
            let mut n = 0;
            while n < MOD_TEXT.len()
                && !(MOD_TEXT[n].len() == end - start && same(text, start, MOD_TEXT[n].as_bytes()))
            {
                n += 1;
            }
            assert!(n < MOD_TEXT.len(), "no such modifier");
            mnemonic = mnemonic.with(MOD_ALL[n]);
        }
        mnemonic
    }

    /// The opcode.
    pub const fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// The modifiers as written.
    pub fn mods(&self) -> &[Mod] {
        &self.mods[..self.len as usize]
    }

    /// True when the modifier is written.
    pub fn has(&self, modifier: Mod) -> bool {
        self.mods().contains(&modifier)
    }

    /// The types named, in order.
    pub fn types(&self) -> impl Iterator<Item = ScalarType> + '_ {
        self.mods().iter().filter_map(|m| m.scalar())
    }

    /// The same instruction with its modifiers in the manual's order and none twice; unchanged where no form has these modifiers.
    pub fn canonical(&self) -> Mnemonic {
        let matched = self.opcode.forms().iter().find_map(|form| crate::resolve::fill(form, self.mods()));
        match matched {
            Some(filled) => {
                filled.iter().flatten().fold(Mnemonic::new(self.opcode), |m, &modifier| m.with(modifier))
            }
            None => *self,
        }
    }
}

/// True if `part` stands in `text` at `start`.
const fn same(text: &[u8], start: usize, part: &[u8]) -> bool {
    if part.len() > text.len() - start {
        return false;
    }
    let mut i = 0;
    while i < part.len() && text[start + i] == part[i] {
        i += 1;
    }
    i == part.len()
}

/// A [`Mnemonic`] from a literal, checked when the program is compiled: a misspelt one does not compile.
///
/// ```
/// use warpsmith_isa::{Mnemonic, mnemonic};
/// const ADD: Mnemonic = mnemonic!("add.rn.f32");
/// assert_eq!(Mnemonic::parse("add.rn.f32"), Ok(ADD));
/// assert_eq!(mnemonic!("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes").mods().len(), 4);
/// ```
///
/// ```compile_fail
/// const ADD: warpsmith_isa::Mnemonic = warpsmith_isa::mnemonic!("add.rnn.f32");
/// ```
#[macro_export]
macro_rules! mnemonic {
    ($text:literal) => {
        const { $crate::Mnemonic::literal($text) }
    };
}

impl fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.opcode.text())?;
        self.mods().iter().try_for_each(|m| write!(f, "{m}"))
    }
}

impl fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Mnemonic {
    type Err = MnemonicError;

    fn from_str(text: &str) -> Result<Self, MnemonicError> {
        Mnemonic::parse(text)
    }
}
