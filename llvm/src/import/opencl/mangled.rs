//! The names that clang gives to OpenCL's built-in functions (Itanium C++ ABI, 5.1): what they are called and which types they take.

/// The element of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Element {
    Signed,
    Unsigned,
    Float,
    /// Events, images, `void`.
    Other,
}

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Param {
    /// What it is, or its elements are, or what it points to.
    pub element: Element,
    pub is_pointer: bool,
    /// The size in memory of what it is or points to: a vector of three has that of four. 0 for [`Element::Other`].
    pub bytes: u32,
}

/// What is read; `None` where the name is of no function, or has more in it than OpenCL's have.
type Read<T> = Option<T>;

struct Reader<'a> {
    rest: &'a str,
    /// The types that may be named again.
    known: Vec<Param>,
}

/// The name of a function and its parameters.
pub(super) fn read(symbol: &str) -> Read<(&str, Vec<Param>)> {
    let rest = symbol.strip_prefix("_Z")?;
    let (name, rest) = identifier(rest)?;
    let mut params = Vec::new();
    if rest == "v" {
        return Some((name, params));
    }
    let mut reader = Reader { rest, known: Vec::new() };
    while !reader.rest.is_empty() {
        params.push(reader.ty()?);
    }
    Some((name, params))
}

const NOTHING: Param = Param { element: Element::Other, is_pointer: false, bytes: 0 };

/// An identifier behind its length.
fn identifier(text: &str) -> Read<(&str, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = text.get(..digits)?.parse().ok()?;
    let end = digits.checked_add(length)?;
    Some((text.get(digits..end)?, text.get(end..)?))
}

impl Reader<'_> {
    fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// One of the types that have been read before: `S_`, `S0_`, `S1_`, ...
    fn again(&mut self) -> Read<Param> {
        let (number, rest) = self.rest.split_once('_')?;
        self.rest = rest;
        let n = match number {
            "" => 0,
            digits => usize::from_str_radix(digits, 36).ok()?.checked_add(1)?,
        };
        self.known.get(n).copied()
    }

    fn ty(&mut self) -> Read<Param> {
        if self.eat("S") {
            return self.again();
        }
        if self.eat("Dv") {
            let (lanes, rest) = self.rest.split_once('_')?;
            let lanes = lanes.parse::<u32>().ok().filter(|lanes| *lanes <= 16)?;
            self.rest = rest;
            let of = self.ty()?;
            let lanes = if lanes == 3 { 4 } else { lanes };
            return Some(self.note(Param { bytes: of.bytes * lanes, ..of }));
        }
        if self.eat("P") {
            // OpenCL's pointers lead to types with an address space: those whose number is 0 are known types too, although nothing names them.
            self.qualifiers()?;
            let to = self.ty()?;
            self.note(to);
            return Some(self.note(Param { is_pointer: true, ..to }));
        }
        if self.eat("U7_Atomic") {
            return self.ty().map(|ty| self.note(ty));
        }
        if self.qualifiers()? {
            return self.ty().map(|ty| self.note(ty));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            self.rest = identifier(self.rest)?.1;
            return Some(self.note(NOTHING));
        }
        let of = |element, bytes| Param { element, is_pointer: false, bytes };
        if self.eat("Dh") {
            return Some(of(Element::Float, 2));
        }
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..)?;
        Some(match letter {
            'a' | 'c' => of(Element::Signed, 1),
            's' => of(Element::Signed, 2),
            'i' => of(Element::Signed, 4),
            'l' => of(Element::Signed, 8),
            'h' | 'b' => of(Element::Unsigned, 1),
            't' => of(Element::Unsigned, 2),
            'j' => of(Element::Unsigned, 4),
            'm' => of(Element::Unsigned, 8),
            'f' => of(Element::Float, 4),
            'd' => of(Element::Float, 8),
            'v' => NOTHING,
            _ => return None,
        })
    }

    /// Takes the qualifiers of a type, its address space among them; true if it has any.
    fn qualifiers(&mut self) -> Read<bool> {
        let before = self.rest.len();
        loop {
            if self.rest.starts_with('U') && !self.rest.starts_with("U7_Atomic") {
                self.rest = identifier(self.rest.get(1..)?)?.1;
            } else if !["V", "K", "r"].into_iter().any(|qualifier| self.eat(qualifier)) {
                return Some(self.rest.len() < before);
            }
        }
    }

    fn note(&mut self, ty: Param) -> Param {
        self.known.push(ty);
        ty
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, Param, read};

    #[test]
    fn names_and_parameters() {
        let plain = |element, bytes| Param { element, is_pointer: false, bytes };
        let (float, signed, unsigned, other) = (
            plain(Element::Float, 4),
            plain(Element::Signed, 4),
            plain(Element::Unsigned, 4),
            plain(Element::Other, 0),
        );
        let four = |of: Param| Param { bytes: of.bytes * 4, ..of };
        let to = |of: Param| Param { is_pointer: true, ..of };
        for (symbol, name, params) in [
            ("_Z13get_global_idj", "get_global_id", &[unsigned][..]),
            ("_Z12get_work_dimv", "get_work_dim", &[]),
            ("_Z15get_image_width14ocl_image2d_ro", "get_image_width", &[other]),
            ("_Z5clampDv4_iS_S_", "clamp", &[four(signed); 3]),
            ("_Z8shuffle2Dv4_fS_Dv4_j", "shuffle2", &[four(float), four(float), four(unsigned)]),
            ("_Z5frexpDv3_fPU3AS1Dv3_i", "frexp", &[four(float), to(four(signed))]),
            ("_Z6sincosDv4_fPU3AS1S_", "sincos", &[four(float), to(four(float))]),
            ("_Z10atomic_addPU3AS1Vjj", "atomic_add", &[to(unsigned), unsigned]),
            (
                "_Z11vload_half4mPKDh",
                "vload_half4",
                &[plain(Element::Unsigned, 8), to(plain(Element::Float, 2))],
            ),
            ("_Z17wait_group_eventsiP9ocl_event", "wait_group_events", &[signed, to(other)]),
            // With private and generic pointers, as clang numbers the types.
            ("_Z1gPfS0_", "g", &[to(float); 2]),
            (
                "_Z1hPDv4_fPfS_PU3AS1VU7_AtomiciS6_PiS8_",
                "h",
                &[to(four(float)), to(float), four(float), to(signed), to(signed), to(signed), to(signed)],
            ),
            (
                "_Z37atomic_compare_exchange_weak_explicitPVU7_AtomiciPii12memory_orderS4_12memory_scope",
                "atomic_compare_exchange_weak_explicit",
                &[to(signed), to(signed), signed, other, other, other],
            ),
        ] {
            assert_eq!(read(symbol), Some((name, params.to_vec())), "{symbol}");
        }
        for symbol in [
            "",
            "_Z",
            "_Z99a",
            "_Z1aS_",
            "_Z1aDv",
            "_Z1aDv99_f",
            "_Z1aPU",
            "_ZN1a1bEv",
            "_Z1aS1z_",
            "main",
            "_Z1a\u{e9}",
        ] {
            assert_eq!(read(symbol), None, "{symbol}");
        }
    }
}
