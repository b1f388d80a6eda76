//! Attributes of functions, parameters and calls.

use super::types::TypeId;
use crate::bitstream::{Block, Record};
use crate::error::{Error, Result};
use std::sync::Arc;
use warpsmith_base::FxHashMap;

/// One attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// One of LLVM's own, by its number, with a number where it has one.
    Number(u64, Option<u64>),
    /// One of LLVM's own with a type.
    Type(u64, Option<TypeId>),
    /// `"key"="value"`
    Text(String, Option<String>),
    /// A range of integers of up to 64 bits, from the first number up to the second; `None` for a wider one or a list of ranges.
    Range(u64, Option<[i64; 2]>),
}

/// LLVM's own attributes that mean something here: their numbers in files.
#[allow(missing_docs)]
pub mod known {
    pub const ALIGN: u64 = 1;
    pub const ALWAYS_INLINE: u64 = 2;
    pub const BYVAL: u64 = 3;
    pub const INLINE_HINT: u64 = 4;
    pub const NO_ALIAS: u64 = 9;
    pub const NO_INLINE: u64 = 14;
    pub const READ_NONE: u64 = 20;
    pub const READ_ONLY: u64 = 21;
    pub const SIGN_EXT: u64 = 24;
    pub const COLD: u64 = 36;
    pub const NON_NULL: u64 = 39;
    pub const DEREFERENCEABLE: u64 = 41;
    pub const CONVERGENT: u64 = 43;
    pub const RANGE: u64 = 92;
}

/// The names of LLVM's own attributes by number, for the dump.
const NAMES: &[(u64, &str)] = &[
    (1, "align"),
    (2, "alwaysinline"),
    (3, "byval"),
    (4, "inlinehint"),
    (5, "inreg"),
    (6, "minsize"),
    (7, "naked"),
    (8, "nest"),
    (9, "noalias"),
    (10, "nobuiltin"),
    (11, "nocapture"),
    (12, "noduplicate"),
    (13, "noimplicitfloat"),
    (14, "noinline"),
    (15, "nonlazybind"),
    (16, "noredzone"),
    (17, "noreturn"),
    (18, "nounwind"),
    (19, "optsize"),
    (20, "readnone"),
    (21, "readonly"),
    (22, "returned"),
    (23, "returns_twice"),
    (24, "signext"),
    (25, "alignstack"),
    (26, "ssp"),
    (27, "sspreq"),
    (28, "sspstrong"),
    (29, "sret"),
    (30, "sanitize_address"),
    (31, "sanitize_thread"),
    (32, "sanitize_memory"),
    (33, "uwtable"),
    (34, "zeroext"),
    (35, "builtin"),
    (36, "cold"),
    (37, "optnone"),
    (38, "inalloca"),
    (39, "nonnull"),
    (40, "jumptable"),
    (41, "dereferenceable"),
    (42, "dereferenceable_or_null"),
    (43, "convergent"),
    (44, "safestack"),
    (45, "argmemonly"),
    (46, "swiftself"),
    (47, "swifterror"),
    (48, "norecurse"),
    (49, "inaccessiblememonly"),
    (50, "inaccessiblememonly_or_argmemonly"),
    (51, "allocsize"),
    (52, "writeonly"),
    (53, "speculatable"),
    (54, "strictfp"),
    (55, "sanitize_hwaddress"),
    (56, "nocf_check"),
    (57, "optforfuzzing"),
    (58, "shadowcallstack"),
    (59, "speculative_load_hardening"),
    (60, "immarg"),
    (61, "willreturn"),
    (62, "nofree"),
    (63, "nosync"),
    (64, "sanitize_memtag"),
    (65, "preallocated"),
    (66, "no_merge"),
    (67, "null_pointer_is_valid"),
    (68, "noundef"),
    (69, "byref"),
    (70, "mustprogress"),
    (71, "no_callback"),
    (72, "hot"),
    (73, "no_profile"),
    (74, "vscale_range"),
    (75, "swift_async"),
    (76, "nosanitize_coverage"),
    (77, "elementtype"),
    (78, "disable_sanitizer_instrumentation"),
    (79, "nosanitize_bounds"),
    (80, "allocalign"),
    (81, "allocptr"),
    (82, "allockind"),
    (83, "presplitcoroutine"),
    (84, "fn_ret_thunk_extern"),
    (85, "skipprofile"),
    (86, "memory"),
    (87, "nofpclass"),
    (88, "optdebug"),
    (89, "writable"),
    (90, "coro_only_destroy_when_complete"),
    (91, "dead_on_unwind"),
    (92, "range"),
    (93, "sanitize_numerical_stability"),
    (94, "initializes"),
    (95, "hybrid_patchable"),
    (96, "sanitize_realtime"),
    (97, "sanitize_realtime_blocking"),
    (98, "coro_elide_safe"),
    (99, "noext"),
    (100, "nodivergencesource"),
    (101, "sanitize_type"),
    (102, "captures"),
    (103, "dead_on_return"),
    (104, "sanitize_alloc_token"),
    (105, "nocreateundeforpoison"),
];

/// The name of one of LLVM's own attributes.
pub fn name(number: u64) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// The attributes of a function or a call: 0 are those of the result, 1 and up those of parameters, [`AttributeSet::FUNCTION`] its own.
#[derive(Clone, Default, Debug)]
pub struct AttributeSet {
    groups: Vec<Arc<(u32, Vec<Attribute>)>>,
}

impl AttributeSet {
    /// The index of the function's own attributes.
    pub const FUNCTION: u32 = u32::MAX;

    /// The attributes at an index.
    pub fn at(&self, index: u32) -> impl Iterator<Item = &Attribute> {
        self.groups.iter().filter(move |group| group.0 == index).flat_map(|group| &group.1)
    }

    /// Everything: index and attributes.
    pub fn groups(&self) -> &[Arc<(u32, Vec<Attribute>)>] {
        &self.groups
    }

    /// True if one of LLVM's own is there.
    pub fn has(&self, index: u32, number: u64) -> bool {
        self.at(index).any(|a| matches!(a, Attribute::Number(n, _) | Attribute::Type(n, _) | Attribute::Range(n, _) if *n == number))
    }

    /// The number of one of LLVM's own, `align 16`.
    pub fn number(&self, index: u32, number: u64) -> Option<u64> {
        self.at(index).find_map(|a| match a {
            Attribute::Number(n, value) if *n == number => *value,
            Attribute::Number(..) | Attribute::Type(..) | Attribute::Text(..) | Attribute::Range(..) => None,
        })
    }

    /// The type of one of LLVM's own, `byval(T)`.
    pub fn of_type(&self, index: u32, number: u64) -> Option<TypeId> {
        self.at(index).find_map(|a| match a {
            Attribute::Type(n, ty) if *n == number => *ty,
            Attribute::Number(..) | Attribute::Type(..) | Attribute::Text(..) | Attribute::Range(..) => None,
        })
    }

    /// `range(i32 0, 10)`
    pub fn range(&self, index: u32) -> Option<[i64; 2]> {
        self.at(index).find_map(|a| match a {
            Attribute::Range(known::RANGE, bounds) => *bounds,
            Attribute::Number(..) | Attribute::Type(..) | Attribute::Text(..) | Attribute::Range(..) => None,
        })
    }

    /// The value of `"key"="value"`, empty without one.
    pub fn text(&self, index: u32, key: &str) -> Option<&str> {
        self.at(index).find_map(|a| match a {
            Attribute::Text(name, value) if name == key => Some(value.as_deref().unwrap_or_default()),
            Attribute::Number(..) | Attribute::Type(..) | Attribute::Text(..) | Attribute::Range(..) => None,
        })
    }
}

/// All sets of attributes of a module.
#[derive(Clone, Default, Debug)]
pub struct Attributes {
    groups: FxHashMap<u64, Arc<(u32, Vec<Attribute>)>>,
    sets: Vec<AttributeSet>,
    empty: AttributeSet,
}

impl Attributes {
    /// The set that a record names: 0 is none.
    pub fn set(&self, number: u32) -> &AttributeSet {
        let set = (number as usize).checked_sub(1).and_then(|n| self.sets.get(n));
        set.unwrap_or(&self.empty)
    }

    pub(super) fn read_groups(&mut self, mut block: Block<'_>) -> Result<()> {
        let mut record = Record::default();
        while block.next_record(&mut record)? {
            let &[group, index, ref rest @ ..] = record.ops.as_slice() else { continue };
            if record.code != 3 {
                continue;
            }
            let attributes = group_of(rest)
                .ok_or_else(|| Error::record(record.offset, "a group of attributes that is cut off"))?;
            self.groups.insert(group, Arc::new((index as u32, attributes)));
        }
        Ok(())
    }

    pub(super) fn read_sets(&mut self, mut block: Block<'_>) -> Result<()> {
        let mut record = Record::default();
        while block.next_record(&mut record)? {
            let groups = record.ops.iter().filter_map(|group| self.groups.get(group).cloned()).collect();
            self.sets.push(AttributeSet { groups });
        }
        Ok(())
    }
}

/// The attributes of a record; `None` if it is cut off.
fn group_of(mut ops: &[u64]) -> Option<Vec<Attribute>> {
    let mut all = Vec::new();
    let string = |ops: &mut &[u64]| {
        let end = ops.iter().position(|op| *op == 0)?;
        let text = super::read_types::text(&ops[..end]);
        *ops = &ops[end + 1..];
        Some(text)
    };
    let take = |ops: &mut &[u64]| {
        let (first, rest) = ops.split_first()?;
        *ops = rest;
        Some(*first)
    };
    while let Some(kind) = take(&mut ops) {
        all.push(match kind {
            0 => Attribute::Number(take(&mut ops)?, None),
            1 => Attribute::Number(take(&mut ops)?, Some(take(&mut ops)?)),
            3 => Attribute::Text(string(&mut ops)?, None),
            4 => Attribute::Text(string(&mut ops)?, Some(string(&mut ops)?)),
            5 => Attribute::Type(take(&mut ops)?, None),
            6 => Attribute::Type(take(&mut ops)?, Some(TypeId(u32::try_from(take(&mut ops)?).ok()?))),
            7 => {
                let number = take(&mut ops)?;
                let bits = take(&mut ops)?;
                let bounds = match *ops {
                    [low, high, ..] if bits <= 64 => Some([signed(low), signed(high)]),
                    _ => None,
                };
                skip_range(&mut ops, bits)?;
                Attribute::Range(number, bounds)
            }
            8 => {
                let (number, count) = (take(&mut ops)?, take(&mut ops)?);
                let bits = take(&mut ops)?;
                for _ in 0..count {
                    skip_range(&mut ops, bits)?;
                }
                Attribute::Range(number, None)
            }
            _ => return None,
        });
    }
    Some(all)
}

/// A number whose lowest bit is its sign.
fn signed(number: u64) -> i64 {
    let magnitude = (number >> 1) as i64;
    if number & 1 == 1 { magnitude.wrapping_neg() } else { magnitude }
}

/// Goes past the two bounds of a range.
fn skip_range(ops: &mut &[u64], bits: u64) -> Option<()> {
    let words = if bits > 64 {
        let (first, rest) = ops.split_first()?;
        *ops = rest;
        // How many words each of the bounds has, in the two halves of a word.
        (first & 0xffff_ffff).checked_add(first >> 32)?
    } else {
        2
    };
    *ops = ops.get(usize::try_from(words).ok()?..)?;
    Some(())
}
