//! Mnemonics that PTX does not have: which one was meant.
//!
//! A mnemonic is read against every form of every opcode with the same first word. The reading with the fewest faults wins: a word without a
//! place and an empty place that it could have filled count as one. The faults are then reported one by one, each at its word, and the mnemonic
//! that the reading amounts to is the suggestion.

use crate::check::{Context, Resolved};
use crate::form::Slot;
use crate::instruction::Filled;
use crate::resolve::fill_all;
use crate::violation::{Fix, Place, Remedy, Violation, list};
use crate::{Form, Mnemonic, Mod, Opcode, Operand, ScalarType, codes};
use smallvec::SmallVec;
use warpsmith_diag::nearest;

/// What other assemblers, languages and compilers call things. The second column may be a whole mnemonic's beginning.
const FOREIGN_OPCODES: [(&str, &str); 22] = [
    ("__syncthreads", "bar.sync"),
    ("__syncwarp", "bar.warp.sync"),
    ("syncthreads", "bar.sync"),
    ("barrier0", "bar.sync"),
    ("bar0", "bar.sync"),
    ("load", "ld"),
    ("ldg", "ld.global.nc"),
    ("store", "st"),
    ("jmp", "bra"),
    ("br", "bra"),
    ("branch", "bra"),
    ("cmp", "setp"),
    ("move", "mov"),
    ("fadd", "add"),
    ("fsub", "sub"),
    ("fmul", "mul"),
    ("fdiv", "div"),
    ("ffma", "fma"),
    ("imad", "mad.lo"),
    ("iadd", "add"),
    ("return", "ret"),
    ("convert", "cvt"),
];
const FOREIGN_MODIFIERS: [(&str, &str); 16] = [
    ("i8", "s8"),
    ("i16", "s16"),
    ("i32", "s32"),
    ("i64", "s64"),
    ("i128", "b128"),
    ("int", "s32"),
    ("uint", "u32"),
    ("long", "s64"),
    ("half", "f16"),
    ("float", "f32"),
    ("double", "f64"),
    ("bfloat16", "bf16"),
    ("slt", "lt"),
    ("sgt", "gt"),
    ("sle", "le"),
    ("sge", "ge"),
];

/// Of several modifiers that would do, those that nearly every program means.
const CUSTOMARY: [&str; 5] = ["eq", "rn", "rni", "sync", "lo"];

/// The longest name that is looked into; longer ones are only reported.
const LONGEST: usize = 200;

/// How one form reads a mnemonic.
struct Reading {
    form: &'static Form,
    filled: Filled,
    /// Words without a place: their index and, if one is meant, the slot and its modifier.
    extra: SmallVec<[(usize, Option<Repair>); 4]>,
    /// The first word of the opcode that stands behind a modifier.
    astray: Option<usize>,
    /// Words of the opcode that are not there.
    absent: SmallVec<[&'static str; 2]>,
    /// Empty slots that must be filled, without those that an extra word repairs.
    missing: SmallVec<[usize; 4]>,
    cost: Cost,
}

/// What a word without a place was meant to be.
#[derive(Clone, Copy)]
struct Repair {
    slot: Option<usize>,
    text: &'static str,
    /// True for a misspelling, false for another type or modifier of the same kind.
    certain: bool,
    /// How unlike the type is that takes the place of another.
    unlike: u32,
}

/// Faults; how deep the repairs cut; distance in operands; whether version and target forbid it; how unlike
/// the types are; extra words.
type Cost = (usize, usize, usize, bool, u32, usize);

/// Why there is no instruction of this name, given the operands that it was written with. Empty if there is one.
pub fn of_text(text: &str, operands: &[Operand], cx: &Context) -> Vec<Violation> {
    let words: Vec<&str> = text.get(..LONGEST.min(text.len())).unwrap_or("").split('.').collect();
    let head = words[0];
    if text.len() <= LONGEST
        && let Some(found) = explain(text, &words, operands, cx)
        && !found.is_empty()
    {
        return found;
    }
    let meant = meant_opcode(head);
    let rest = text.get(head.len()..).filter(|_| text.len() <= LONGEST).unwrap_or("");
    let fix =
        meant.map(|opcode| corrected(&format!("{opcode}{rest}"), operands, cx).unwrap_or(opcode.into()));
    vec![Violation {
        code: codes::UNKNOWN_WORD,
        place: Place::Word(0),
        message: format!("unknown instruction `{}`", clip(head)),
        expected: None,
        found: None,
        help: None,
        fix: fix.map(|text| Fix { remedy: Remedy::Mnemonic(text), certain: false }),
        section: "9.7",
    }]
}

fn clip(word: &str) -> &str {
    word.get(..40).unwrap_or(word)
}

/// The name of an instruction that someone meant by another word.
fn meant_opcode(head: &str) -> Option<&'static str> {
    let lower = head.to_ascii_lowercase();
    let foreign = FOREIGN_OPCODES.iter().find(|(name, _)| *name == lower).map(|(_, ours)| *ours);
    foreign.or_else(|| nearest(&lower, Opcode::all().map(|opcode| first_word(opcode.text()))))
}

fn first_word(text: &'static str) -> &'static str {
    text.split_once('.').map_or(text, |(first, _)| first)
}

/// The mnemonic that a text amounts to, if it is one already or can be made one.
fn corrected(text: &str, operands: &[Operand], cx: &Context) -> Option<String> {
    let words: Vec<&str> = text.split('.').collect();
    let found = explain(text, &words, operands, cx)?;
    match found.into_iter().find_map(|violation| violation.fix) {
        Some(Fix { remedy: Remedy::Mnemonic(text), .. }) => Some(text),
        _ => Some(text.to_owned()).filter(|text| Mnemonic::parse(text).is_ok()),
    }
}

/// `None` where no opcode begins with the first word; nothing wrong where a form fits.
fn explain(text: &str, words: &[&str], operands: &[Operand], cx: &Context) -> Option<Vec<Violation>> {
    let opcodes = Opcode::all().filter(|opcode| first_word(opcode.text()) == words[0]);
    let mut readings: Vec<Reading> =
        opcodes.flat_map(|o| o.forms()).map(|form| read(form, words, operands.len(), cx)).collect();
    let best = readings.iter().map(|reading| reading.cost).min()?;
    readings.retain(|reading| reading.cost == best);
    let customary = |r: &Reading| {
        let texts =
            r.missing.iter().flat_map(|&slot| r.form.slots[slot].alternatives).map(|a| a.modifier.text());
        r.absent.iter().copied().chain(texts).any(|text| CUSTOMARY.contains(&text))
    };
    let chosen = readings.iter().rev().max_by_key(|reading| customary(reading))?;
    Some(chosen.violations(text, words, &readings, operands, cx))
}

fn read(form: &'static Form, words: &[&str], operands: usize, cx: &Context) -> Reading {
    let mut left: SmallVec<[(usize, &str); 16]> = words.iter().copied().enumerate().skip(1).collect();
    let (mut absent, mut astray) = (SmallVec::<[&'static str; 2]>::new(), None);
    for word in form.opcode.text().split('.').skip(1) {
        match left.iter().position(|(_, other)| *other == word) {
            Some(0) => drop(left.remove(0)),
            Some(at) => {
                let (index, _) = left.remove(at);
                astray = astray.or(Some(index));
            }
            None => absent.push(word),
        }
    }
    let (mut known, mut known_at, mut extra) = (Vec::new(), Vec::new(), SmallVec::<[_; 4]>::new());
    for (index, word) in left {
        match Mod::from_text(word).filter(|_| known.len() < Mnemonic::MAX_MODS) {
            Some(modifier) => {
                known.push(modifier);
                known_at.push(index);
            }
            None => extra.push((index, None)),
        }
    }
    let (mut filled, mismatch) = fill_all(form, &known);
    extra.extend(mismatch.extra.iter().map(|&index| (known_at[index], None)));
    extra.sort_by_key(|(index, _)| *index);
    let mut missing = mismatch.missing;
    let faults = extra.len().max(missing.len() + absent.len()) + usize::from(astray.is_some());
    for (index, repair) in &mut extra {
        *repair = misplaced(form, words[*index], &missing)
            .or_else(|| meant_word(form, words[*index], &filled, &missing, &absent));
        match *repair {
            Some(Repair { slot: Some(slot), text, .. }) => {
                filled[slot] = Mod::from_text(text);
                missing.retain(|other| *other != slot);
            }
            Some(Repair { slot: None, text, .. }) => absent.retain(|word| *word != text),
            None => {}
        }
    }
    // One word too many and one place left: it stands where another should.
    if let ([slot], [(index, repair @ None)]) = (missing.as_slice(), extra.as_mut_slice())
        && Mod::from_text(words[*index]).is_some_and(|m| !form.slots.iter().any(|s| s.find(m).is_some()))
    {
        let text = form.slots[*slot].alternatives[0].modifier.text();
        *repair = Some(Repair { slot: Some(*slot), text, certain: false, unlike: 1000 });
        filled[*slot] = Mod::from_text(text);
        missing.clear();
    }
    let required = form.operands.iter().filter(|o| o.presence == crate::Presence::Always).count();
    let distance = required.saturating_sub(operands) + operands.saturating_sub(form.operands.len());
    let forbidden = !form.gates.iter().all(|clause| clause.allows(cx.version, cx.target));
    let weight = |repair: &Option<Repair>| match repair {
        Some(Repair { certain: true, .. }) => 0,
        None => 1,
        // What is spelt right is seldom what is wrong.
        Some(_) => 2,
    };
    let weights: usize = extra.iter().map(|(_, repair)| weight(repair)).sum();
    let unlike: u32 = extra.iter().flat_map(|(_, repair)| *repair).map(|repair| repair.unlike).sum();
    let depth = weights + missing.len() + absent.len();
    let cost = (faults, depth, distance, forbidden, unlike, extra.len());
    Reading { form, filled, extra, astray, absent, missing, cost }
}

/// What a word that has no place in a form was meant to be there.
fn meant_word(
    form: &'static Form,
    word: &str,
    filled: &Filled,
    missing: &[usize],
    absent: &[&'static str],
) -> Option<Repair> {
    let lower = word.to_ascii_lowercase();
    let foreign = foreign_modifier(&lower);
    let open = |slot: &usize| filled[*slot].is_none();
    let optional = (0..form.slots.len()).filter(open).filter(|slot| !missing.contains(slot));
    let slots: SmallVec<[usize; 16]> = missing.iter().copied().filter(open).chain(optional).collect();
    let within = |wanted: &str| {
        slots.iter().find_map(|&slot| {
            let found = form.slots[slot].alternatives.iter().find(|a| a.modifier.text() == wanted)?;
            Some(Repair { slot: Some(slot), text: found.modifier.text(), certain: true, unlike: 0 })
        })
    };
    if let Some(repair) = foreign.and_then(within) {
        return Some(repair);
    }
    let known = Mod::from_text(word);
    if let Some(near) = nearest(&lower, absent.iter().copied()) {
        return Some(Repair { slot: None, text: near, certain: known.is_none(), unlike: 0 });
    }
    // A word of the right kind in a place that must be filled, then a misspelling in any.
    for &slot in slots.iter().filter(|slot| missing.contains(slot)) {
        let alternatives = form.slots[slot].alternatives.iter().map(|a| a.modifier);
        let same_kind = alternatives.filter(|other| known.is_some_and(|m| m.ordered_with(*other)));
        let alike = |other: &Mod| match (known.and_then(Mod::scalar), other.scalar()) {
            (Some(a), Some(b)) => type_distance(a, b),
            _ => 0,
        };
        if let Some(other) = same_kind.min_by_key(alike) {
            let unlike = alike(&other);
            return Some(Repair { slot: Some(slot), text: other.text(), certain: false, unlike });
        }
    }
    let all = slots.iter().flat_map(|&slot| form.slots[slot].alternatives).map(|a| a.modifier.text());
    let near = within(nearest(&lower, all)?)?;
    Some(Repair { certain: known.is_none() && foreign.is_none(), ..near })
}

/// A modifier that stands behind one that it has to stand before: its own slot is empty. Of types the others are wrong as often.
fn misplaced(form: &Form, word: &str, missing: &[usize]) -> Option<Repair> {
    let modifier = Mod::from_text(word).filter(|modifier| modifier.scalar().is_none())?;
    let slot = missing.iter().copied().find(|&slot| form.slots[slot].find(modifier).is_some())?;
    Some(Repair { slot: Some(slot), text: modifier.text(), certain: true, unlike: 0 })
}

/// A modifier by the name that it has elsewhere.
pub(crate) fn foreign_modifier(lower: &str) -> Option<&'static str> {
    FOREIGN_MODIFIERS.iter().find(|(name, _)| *name == lower).map(|(_, ours)| *ours)
}

/// How unlike two types are: in width first.
fn type_distance(a: ScalarType, b: ScalarType) -> u32 {
    let kind = match () {
        _ if a.class() == b.class() => 0,
        _ if a.is_integer() == b.is_integer() => 1,
        _ => 2,
    };
    a.bits().abs_diff(b.bits()) * 4 + kind
}

impl Reading {
    fn violations(
        &self,
        text: &str,
        words: &[&str],
        ties: &[Reading],
        operands: &[Operand],
        cx: &Context,
    ) -> Vec<Violation> {
        let mut found: Vec<Violation> =
            self.extra.iter().map(|(index, repair)| self.extra_word(words, *index, *repair)).collect();
        found.extend(self.astray.map(|index| self.word_astray(words, index)));
        if !self.absent.is_empty() {
            // Forms that differ only in a word of the opcode: `mul.lo`, `mul.hi`.
            let choices: Vec<String> = ties.iter().map(|r| format!("`.{}`", r.absent.join("."))).collect();
            let mut unique: Vec<String> = Vec::new();
            choices.into_iter().for_each(|c| {
                if !unique.contains(&c) {
                    unique.push(c)
                }
            });
            found.push(self.missing_word(text, lacking(&unique), unique));
        }
        for &slot in &self.missing {
            let own = &self.form.slots[slot];
            // Forms that differ in what is missing only: their choices together.
            let others = ties
                .iter()
                .filter(|tie| self.missing.len() == 1 && tie.missing.len() == 1 && tie.absent.is_empty());
            let slots =
                others.map(|tie| &tie.form.slots[tie.missing[0]]).filter(|other| same_sort(own, other));
            let mut choices: Vec<String> = Vec::new();
            for alternative in std::iter::once(own).chain(slots).flat_map(|slot| slot.alternatives) {
                let text = format!("`{}`", alternative.modifier);
                if !choices.contains(&text) {
                    choices.push(text);
                }
            }
            found.push(self.missing_word(text, kind_of_slot(own, &choices), choices));
        }
        if let Some(first) = found.first_mut() {
            // Where several forms would do, the operands decide, or nobody does.
            let mut fixes = ties.iter().filter_map(|tie| tie.fix(text, operands, cx));
            let same_missing = ties.len() > 1 && !self.missing.is_empty() && self.absent.is_empty();
            first.fix = match same_missing && !self.is_customary() {
                false => self
                    .fix(text, operands, cx)
                    .map(|fix| Fix { certain: fix.certain && ties.len() == 1, ..fix }),
                true => {
                    let one = fixes.find(|fix| accepted(fix, operands, cx));
                    let other = fixes.find(|fix| accepted(fix, operands, cx));
                    one.filter(|_| other.is_none()).map(|fix| Fix { certain: false, ..fix })
                }
            };
            if first.fix.is_none() {
                first.help = Some(format!("a form that is near: `{}`", self.form.usage()));
            }
        }
        found
    }

    /// True if what is missing is what nearly every program has there.
    fn is_customary(&self) -> bool {
        let alternatives = self.missing.iter().flat_map(|&slot| self.form.slots[slot].alternatives);
        alternatives.into_iter().any(|a| CUSTOMARY.contains(&a.modifier.text()))
    }

    fn missing_word(&self, text: &str, what: String, choices: Vec<String>) -> Violation {
        Violation {
            code: codes::MODIFIER_MISSING,
            place: Place::Instruction,
            message: format!("`{text}` lacks {what}"),
            expected: (choices.len() > 1).then(|| list(choices.into_iter())),
            found: None,
            help: None,
            fix: None,
            section: self.form.section(),
        }
    }

    fn word_astray(&self, words: &[&str], index: usize) -> Violation {
        Violation {
            code: codes::MODIFIER_ORDER,
            place: Place::Word(index),
            message: format!(
                "`.{}` belongs to the name `{}`, which stands before all modifiers",
                words[index], self.form.opcode
            ),
            expected: None,
            found: None,
            help: None,
            fix: None,
            section: self.form.section(),
        }
    }

    fn extra_word(&self, words: &[&str], index: usize, repair: Option<Repair>) -> Violation {
        let (word, opcode) = (words[index], self.form.opcode);
        let known = Mod::from_text(word);
        let has_place = |m: Mod| self.form.slots.iter().any(|slot| slot.find(m).is_some());
        let others =
            || words[1..].iter().filter(|other| **other != word).filter_map(|other| Mod::from_text(other));
        let (code, message) = match known {
            None => (codes::UNKNOWN_WORD, format!("unknown modifier `.{}`", clip(word))),
            Some(m) if has_place(m) && words[1..index].contains(&word) => {
                (codes::MODIFIER_TWICE, format!("`{m}` is written twice"))
            }
            Some(m) if has_place(m) && others().any(|other| other.ordered_with(m)) => (
                codes::MODIFIER_ORDER,
                format!("`{m}` is out of order or one too many in `{}`", words.join(".")),
            ),
            Some(m) => (codes::MODIFIER, format!("`{m}` does not go with `{opcode}` here")),
        };
        // The word itself is what is expected, elsewhere.
        let is_misplaced = repair.is_some_and(|repair| repair.text == word);
        let expected = repair
            .filter(|_| !is_misplaced)
            .and_then(|repair| repair.slot)
            .map(|slot| list(self.form.slots[slot].alternatives.iter().map(|a| format!("`{}`", a.modifier))));
        Violation {
            code,
            place: Place::Word(index),
            message,
            expected,
            found: (!is_misplaced).then(|| format!("`.{}`", clip(word))),
            help: None,
            fix: None,
            section: self.form.section(),
        }
    }

    /// The mnemonic that was meant. Where a choice is left, the operands decide, or what is customary.
    fn fix(&self, text: &str, operands: &[Operand], cx: &Context) -> Option<Fix> {
        let mut certain = self.extra.iter().all(|(_, repair)| repair.is_some_and(|repair| repair.certain));
        certain &= self.absent.is_empty();
        let mut filled = self.filled;
        for &slot in &self.missing {
            let alternatives = self.form.slots[slot].alternatives;
            certain &= alternatives.len() == 1;
            let fits = |modifier: Mod| {
                let mut trial = filled;
                trial[slot] = Some(modifier);
                let mnemonic = self.mnemonic(&trial)?;
                Some(Resolved::new(&mnemonic, *cx).legal(operands).is_some())
            };
            let mut choices = alternatives.iter().map(|a| a.modifier);
            let customary =
                CUSTOMARY.iter().find_map(|word| alternatives.iter().find(|a| a.modifier.text() == *word));
            filled[slot] = match alternatives.all() {
                [one] => Some(one.modifier),
                _ if customary.is_some() => customary.map(|a| a.modifier),
                _ => Some(choices.find(|choice| fits(*choice) == Some(true))?),
            };
        }
        let meant = self.mnemonic(&filled)?.to_string();
        (meant != text).then_some(Fix { remedy: Remedy::Mnemonic(meant), certain })
    }

    fn mnemonic(&self, filled: &Filled) -> Option<Mnemonic> {
        let modifiers: SmallVec<[Mod; 16]> = filled.iter().flatten().copied().collect();
        Mnemonic::new(self.form.opcode).with_all(&modifiers)
    }
}

fn accepted(fix: &Fix, operands: &[Operand], cx: &Context) -> bool {
    let Remedy::Mnemonic(text) = &fix.remedy else { return false };
    Mnemonic::parse(text).is_ok_and(|meant| Resolved::new(&meant, *cx).legal(operands).is_some())
}

/// True for places that take modifiers of the same sort: types, roundings.
fn same_sort(a: &Slot, b: &Slot) -> bool {
    let types = |slot: &Slot| slot.alternatives.iter().all(|a| a.modifier.scalar().is_some());
    let rounds = |slot: &Slot| slot.alternatives.iter().all(|a| ROUNDINGS.contains(&a.modifier.text()));
    (types(a) && types(b)) || (rounds(a) && rounds(b))
}

/// The modifiers that say how to round, or how exactly to compute.
const ROUNDINGS: [&str; 12] =
    ["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "rs", "approx", "full"];

/// What a slot is for, as a message names it: "a type".
fn kind_of_slot(slot: &Slot, choices: &[String]) -> String {
    let all =
        |is: &dyn Fn(Mod) -> bool| choices.len() > 1 && slot.alternatives.iter().all(|a| is(a.modifier));
    let kinds: [(&dyn Fn(Mod) -> bool, &str); 5] = [
        (&|m| m.scalar().is_some(), "a type"),
        (&|m| ROUNDINGS.contains(&m.text()), "a rounding"),
        (&|m| m.space().is_some(), "a state space"),
        (&|m| m.shape().is_some(), "a shape"),
        (&|m| COMPARISONS.contains(&m.text()), "a comparison"),
    ];
    kinds.iter().find(|(is, _)| all(is)).map_or_else(|| lacking(choices), |(_, name)| (*name).to_owned())
}

const COMPARISONS: [&str; 14] =
    ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

fn lacking(choices: &[String]) -> String {
    match choices {
        [one] => one.clone(),
        _ => "a modifier".into(),
    }
}
