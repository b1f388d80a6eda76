//! Names that people gave to values, blocks and stack slots: one text a function, ranges into it.

use crate::compact::renumbered;
use crate::entities::{Block, StackSlot, Value};
use crate::function::Function;
use crate::layout::grow_for;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

/// A name: a range of the function's text of names. Empty means no name.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct NameRange {
    start: u32,
    len: u32,
}

/// The bytes of a name, about as many as are usual.
const USUAL_NAME: usize = 6;

/// The names of one function. They need not be unique: the printer makes them so.
#[derive(Clone, Default, Debug)]
pub struct Names {
    text: String,
    values: SecondaryMap<Value, NameRange>,
    blocks: SecondaryMap<Block, NameRange>,
    slots: SecondaryMap<StackSlot, NameRange>,
}

/// What can have a name.
pub trait Named: EntityRef {
    #[doc(hidden)]
    fn range(self, names: &Names) -> (u32, u32);
    #[doc(hidden)]
    fn exists(self, func: &Function) -> bool;
    #[doc(hidden)]
    fn set_range(self, names: &mut Names, range: (u32, u32));
}

macro_rules! named {
    ($($entity:ident $field:ident |$func:ident, $it:ident| $exists:expr;)*) => {$(
        impl Named for $entity {
            fn range(self, names: &Names) -> (u32, u32) {
                let NameRange { start, len } = names.$field[self];
                (start, len)
            }

            fn exists(self, $func: &Function) -> bool {
                let $it = self;
                $exists
            }

            fn set_range(self, names: &mut Names, (start, len): (u32, u32)) {
                grow_for(&mut names.$field, self);
                names.$field[self] = NameRange { start, len };
            }
        }
    )*};
}
named! {
    Value values |func, value| func.dfg.has_value(value);
    Block blocks |func, block| func.dfg.has_block(block);
    StackSlot slots |func, slot| func.stack_slots.is_valid(slot);
}

impl Names {
    /// The name of an entity.
    pub fn get(&self, entity: impl Named) -> Option<&str> {
        let (start, len) = entity.range(self);
        if len == 0 { None } else { self.text.get(start as usize..start as usize + len as usize) }
    }

    /// Makes room for the names of values up to a number.
    pub(crate) fn reserve(&mut self, values: usize) {
        if let Some(last) = values.checked_sub(1) {
            grow_for(&mut self.values, Value::new(last));
            self.text.reserve(values * USUAL_NAME);
        }
    }

    /// Takes over new numbers of values and blocks, whose old ones are given.
    pub(crate) fn renumber(&mut self, values: &PrimaryMap<Value, Value>, blocks: &PrimaryMap<Block, Block>) {
        self.values = renumbered(&self.values, values);
        self.blocks = renumbered(&self.blocks, blocks);
    }

    /// Names an entity. Characters that the text form does not allow in names become `_`; an empty name is none.
    pub fn set(&mut self, entity: impl Named, name: &str) {
        let start = self.text.len();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        if name.chars().all(allowed) && !name.starts_with(|c: char| c.is_ascii_digit()) {
            self.text.push_str(name);
        } else {
            self.text.push('_');
            self.text.extend(name.chars().map(|c| if allowed(c) { c } else { '_' }));
        }
        entity.set_range(self, (start as u32, (self.text.len() - start) as u32));
    }

    /// Names an entity with what is known to be a legal name.
    pub(crate) fn set_checked(&mut self, entity: impl Named, name: &str) {
        entity.set_range(self, (self.text.len() as u32, name.len() as u32));
        self.text.push_str(name);
    }
}
