//! What a module says of the languages that it was made from (PTX ISA 9.4, 11.5.6 and 11.8.2).

use super::Symbol;
use std::fmt;

/// One text of an intermediate language, in `.nv_intermediate_source_section`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeBlock {
    /// `.ir_name`: what the language is called.
    pub ir_name: Symbol,
    /// `.sourceFileName`: the number of a `.file`.
    pub file: u32,
    /// What stands between `.source_begin` and `.source_end`, as it is.
    pub text: Symbol,
}

/// The languages of a `.language` directive, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Languages(u16);

/// Every language with a name, by its code.
const NAMES: &[(u32, &str)] = &[
    (0, "unknown"),
    (3, "ptx"),
    (4, "nvvm"),
    (5, "cuda c++"),
    (6, "cuda c++ tile"),
    (7, "tile ir"),
    (8, "python-cutile"),
    (9, "fortran"),
    (10, "optix"),
];

impl Languages {
    /// The highest code; 1 and 2 have no name.
    pub const LAST: u32 = 10;

    /// The set with another language; `None` for a code beyond [`Languages::LAST`].
    pub fn with(self, code: u32) -> Option<Languages> {
        (code <= Languages::LAST).then(|| Languages(self.0 | 1 << code))
    }

    /// The code of a name, in any case.
    ///
    /// ```
    /// use warpsmith_ptx::Languages;
    /// assert_eq!(Languages::code("CUDA C++"), Some(5));
    /// assert_eq!(Languages::code("c"), None);
    /// ```
    pub fn code(name: &str) -> Option<u32> {
        NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|&(code, _)| code)
    }

    /// The codes, lowest first.
    pub fn codes(self) -> impl Iterator<Item = u32> {
        (0..=Languages::LAST).filter(move |code| self.0 >> code & 1 == 1)
    }
}

impl fmt::Display for Languages {
    /// `"ptx", 1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, code) in self.codes().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            match NAMES.iter().find(|(known, _)| *known == code) {
                Some((_, name)) => write!(f, "\"{name}\"")?,
                None => write!(f, "{code}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
