//! Which instructions of which threads a trace shows.

use std::ops::RangeInclusive;
use std::str::FromStr;
use warpsmith_isa::Class;

/// One condition, as `--trace-filter` takes it: `kernel=NAME`, `block=N`, `block=X,Y,Z`, `warp=A-B`, `thread=N`, `thread=X,Y,Z`,
/// `class=NAME` or `line=A-B`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The kernel.
    Kernel(String),
    /// Blocks.
    Block(Position),
    /// Warps of a block.
    Warp(RangeInclusive<u32>),
    /// Threads of a block.
    Thread(Position),
    /// Classes of instructions.
    Class(Vec<Class>),
    /// Lines of PTX.
    Line(RangeInclusive<u32>),
}

/// A block of a grid, or a thread of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// By its numbers in x, y and z.
    At([u32; 3]),
    /// By its number in all, or a range of them.
    Number(RangeInclusive<u32>),
}

impl Position {
    fn is(&self, at: [u32; 3], shape: [u32; 3]) -> bool {
        match self {
            Position::At(wanted) => *wanted == at,
            Position::Number(range) => {
                let [x, y, z] = at.map(u64::from);
                let number = (z * u64::from(shape[1]) + y) * u64::from(shape[0]) + x;
                u32::try_from(number).is_ok_and(|n| range.contains(&n))
            }
        }
    }
}

impl FromStr for Position {
    type Err = String;

    fn from_str(text: &str) -> Result<Position, String> {
        if !text.contains(',') {
            return Ok(Position::Number(range(text)?));
        }
        let parts: Vec<u32> = text.split(',').map(number).collect::<Result<_, _>>()?;
        match parts[..] {
            [x, y] => Ok(Position::At([x, y, 0])),
            [x, y, z] => Ok(Position::At([x, y, z])),
            _ => Err(format!("`{text}` is neither N, A-B nor X,Y,Z")),
        }
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to)?);
    if from <= to { Ok(from..=to) } else { Err(format!("{from}-{to} is an empty range")) }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        Ok(match key {
            "kernel" => Condition::Kernel(value.into()),
            "block" => Condition::Block(value.parse()?),
            "warp" => Condition::Warp(range(value)?),
            "thread" => Condition::Thread(value.parse()?),
            "class" if value == "memory" => {
                Condition::Class(Class::ALL.iter().copied().filter(|c| c.is_memory()).collect())
            }
            "class" => Condition::Class(vec![value.parse()?]),
            "line" => Condition::Line(range(value)?),
            _ => return Err(format!("`{key}` is not one of kernel, block, warp, thread, class, line")),
        })
    }
}

/// Conditions together. Of those of one kind, one must hold; of those of different kinds, all.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Filter {
    conditions: Vec<Condition>,
}

impl Filter {
    /// A filter of these conditions.
    pub fn new(conditions: impl IntoIterator<Item = Condition>) -> Filter {
        Filter { conditions: conditions.into_iter().collect() }
    }

    /// True if there is no condition for which `of` gives an answer, or one that it answers with yes.
    fn any(&self, of: impl Fn(&Condition) -> Option<bool>) -> bool {
        let mut answers = self.conditions.iter().filter_map(of).peekable();
        answers.peek().is_none() || answers.any(|yes| yes)
    }

    pub(super) fn kernel(&self, name: &str) -> bool {
        self.any(|c| if let Condition::Kernel(n) = c { Some(n == name) } else { None })
    }

    pub(super) fn statement(&self, line: u32, class: Class) -> bool {
        self.any(|c| if let Condition::Line(range) = c { Some(range.contains(&line)) } else { None })
            && self.any(|c| if let Condition::Class(of) = c { Some(of.contains(&class)) } else { None })
    }

    pub(super) fn block(&self, at: [u32; 3], grid: [u32; 3]) -> bool {
        self.any(|c| if let Condition::Block(p) = c { Some(p.is(at, grid)) } else { None })
    }

    pub(super) fn warp(&self, warp: u32) -> bool {
        self.any(|c| if let Condition::Warp(range) = c { Some(range.contains(&warp)) } else { None })
    }

    /// The lanes of a warp that are wanted.
    pub(super) fn lanes(&self, warp: u32, block: [u32; 3]) -> u32 {
        if !self.conditions.iter().any(|c| matches!(c, Condition::Thread(_))) {
            return u32::MAX;
        }
        let wanted = |lane: &u32| {
            let n = 32 * warp + lane;
            let at = [n % block[0], n / block[0] % block[1], n / block[0] / block[1]];
            self.any(|c| if let Condition::Thread(p) = c { Some(p.is(at, block)) } else { None })
        };
        (0..32).filter(wanted).fold(0, |mask, lane| mask | 1 << lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(conditions: &[&str]) -> Filter {
        Filter::new(conditions.iter().map(|c| c.parse().unwrap()))
    }

    #[test]
    fn conditions_of_one_kind_add_and_of_several_restrict() {
        let f = filter(&["line=3-5", "line=9", "class=memory"]);
        assert!(f.statement(4, Class::Load) && f.statement(9, Class::Async));
        assert!(!f.statement(6, Class::Load) && !f.statement(4, Class::Float));
        assert!(f.kernel("any") && f.block([1, 2, 3], [9; 3]) && f.warp(7));
    }

    #[test]
    fn threads_go_by_number_and_by_position() {
        let block = [8, 8, 2];
        assert_eq!(filter(&["thread=0"]).lanes(0, block), 1);
        assert_eq!(filter(&["thread=1,1"]).lanes(0, block), 1 << 9);
        assert_eq!(filter(&["thread=30-33"]).lanes(1, block), 3);
        assert!(filter(&["block=1,0,0"]).block([1, 0, 0], [2; 3]));
        assert!(filter(&["block=5"]).block([1, 0, 1], [2; 3]));
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |text: &str| text.parse::<Condition>().unwrap_err();
        assert_eq!(message("lane=3"), "`lane` is not one of kernel, block, warp, thread, class, line");
        assert_eq!(message("line=5-3"), "5-3 is an empty range");
        assert_eq!(message("block=1,2,3,4"), "`1,2,3,4` is neither N, A-B nor X,Y,Z");
        assert!(message("class=memry").contains("memory, integer"));
    }
}
