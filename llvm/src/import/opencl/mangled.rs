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
    let mut reader = Reader { rest, known: Vec::new() };
    let mut params = Vec::new();
    while !reader.rest.is_empty() {
        params.push(reader.ty()?);
    }
    if params == [NOTHING] {
        params.clear();
    }
    Some((name, params))
}

const NOTHING: Param = Param { element: Element::Other, is_pointer: false };

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
        let plain = |element| Param { element, is_pointer: false };
        if self.eat("S") {
            return self.again();
        }
        if self.eat("Dv") {
            let (_, rest) = self.rest.split_once('_')?;
            self.rest = rest;
            return self.ty().map(|ty| self.note(ty));
        }
        if self.eat("P") {
            let to = self.ty()?;
            return Some(self.note(Param { is_pointer: true, ..to }));
        }
        if self.rest.starts_with(['U', 'V', 'K', 'r']) {
            while let Some(qualifier) = self.rest.chars().next().filter(|c| "UVKr".contains(*c)) {
                self.rest = self.rest.get(1..)?;
                if qualifier == 'U' {
                    self.rest = identifier(self.rest)?.1;
                }
            }
            return self.ty().map(|ty| self.note(ty));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            self.rest = identifier(self.rest)?.1;
            return Some(self.note(NOTHING));
        }
        if self.eat("Dh") {
            return Some(plain(Element::Float));
        }
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..)?;
        Some(plain(match letter {
            'a' | 'c' | 's' | 'i' | 'l' => Element::Signed,
            'h' | 't' | 'j' | 'm' | 'b' => Element::Unsigned,
            'f' | 'd' => Element::Float,
            'v' => Element::Other,
            _ => return None,
        }))
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
        let plain = |element| Param { element, is_pointer: false };
        let (float, signed, unsigned) =
            (plain(Element::Float), plain(Element::Signed), plain(Element::Unsigned));
        let to = |of: Param| Param { is_pointer: true, ..of };
        for (symbol, name, params) in [
            ("_Z13get_global_idj", "get_global_id", &[unsigned][..]),
            ("_Z12get_work_dimv", "get_work_dim", &[]),
            ("_Z5clampDv4_iS_S_", "clamp", &[signed; 3]),
            ("_Z8shuffle2Dv4_fS_Dv4_j", "shuffle2", &[float, float, unsigned]),
            ("_Z5frexpDv4_fPU3AS1Dv4_i", "frexp", &[float, to(signed)]),
            ("_Z6sincosDv4_fPU3AS1S_", "sincos", &[float, to(float)]),
            ("_Z10atomic_addPU3AS1Vjj", "atomic_add", &[to(unsigned), unsigned]),
            ("_Z11vload_half4mPKDh", "vload_half4", &[unsigned, to(float)]),
            ("_Z17wait_group_eventsiP9ocl_event", "wait_group_events", &[signed, to(plain(Element::Other))]),
        ] {
            assert_eq!(read(symbol), Some((name, params.to_vec())), "{symbol}");
        }
        for symbol in ["", "_Z", "_Z99a", "_Z1aS_", "_Z1aDv", "_ZN1a1bEv", "_Z1aS1z_", "main", "_Z1a\u{e9}"] {
            assert_eq!(read(symbol), None, "{symbol}");
        }
    }
}
