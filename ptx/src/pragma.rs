//! The strings of `.pragma` (manual chapter 12).

use std::fmt;

/// What a string of a `.pragma` asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pragma {
    /// `nounroll`: loops are not unrolled (manual 12.1).
    NoUnroll,
    /// `used_bytes_mask N`: a bit for each byte of the next load that the program uses (manual 12.2).
    UsedBytesMask(u32),
    /// `enable_smem_spilling`: registers may be spilled to shared memory (manual 12.3).
    EnableSmemSpilling,
    /// `mma_throughput`: matrix instructions are scheduled for throughput (PTX ISA 9.4, 12.5).
    MmaThroughput,
    /// `frequency N`: how often a basic block is executed (manual 12.4).
    Frequency(u64),
}

/// What is wrong with a string of a `.pragma`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PragmaError<'t> {
    /// It is none that PTX has.
    Unknown(&'t str),
    /// It lacks its value.
    NoValue(&'static str),
    /// It has another value than it can have.
    BadValue(&'static str, &'t str),
}

impl fmt::Display for PragmaError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PragmaError::Unknown(text) => write!(f, "unknown pragma `{text}`"),
            PragmaError::NoValue(name) => write!(f, "the pragma `{name}` needs a value"),
            PragmaError::BadValue(name, value) => {
                let value: Vec<&str> = value.split_ascii_whitespace().collect();
                write!(f, "`{}` is not a value of the pragma `{name}`", value.join(" "))
            }
        }
    }
}

impl Pragma {
    /// Reads a string.
    ///
    /// ```
    /// use warpsmith_ptx::Pragma;
    /// assert_eq!(Pragma::parse("used_bytes_mask 0xfff"), Ok(Pragma::UsedBytesMask(0xfff)));
    /// assert!(Pragma::parse("frequency 0").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Pragma, PragmaError<'_>> {
        let trimmed = text.trim_ascii();
        let (name, value) = trimmed.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((trimmed, ""));
        let value = value.trim_ascii();
        let integer = |name: &'static str| match value {
            "" => Err(PragmaError::NoValue(name)),
            _ => integer(value).ok_or(PragmaError::BadValue(name, value)),
        };
        match name {
            "nounroll" => Ok(Pragma::NoUnroll),
            "enable_smem_spilling" => Ok(Pragma::EnableSmemSpilling),
            "mma_throughput" => Ok(Pragma::MmaThroughput),
            // ptxas drops what does not fit 32 bits.
            "used_bytes_mask" => Ok(Pragma::UsedBytesMask(integer("used_bytes_mask")? as u32)),
            "frequency" => match integer("frequency")? {
                n @ 1.. => Ok(Pragma::Frequency(u64::try_from(n).unwrap_or(u64::MAX))),
                _ => Err(PragmaError::BadValue("frequency", value)),
            },
            _ => Err(PragmaError::Unknown(text)),
        }
    }

    /// The first word of a string, if PTX has such a pragma.
    pub fn name_of(text: &str) -> Option<&'static str> {
        let name = text.split_ascii_whitespace().next()?;
        ["nounroll", "used_bytes_mask", "enable_smem_spilling", "mma_throughput", "frequency"]
            .into_iter()
            .find(|n| *n == name)
    }
}

fn integer(value: &str) -> Option<i128> {
    let (negative, digits) = match value.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, value),
    };
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let magnitude = parsed.ok()? as i128;
    Some(if negative { magnitude.wrapping_neg() } else { magnitude })
}
