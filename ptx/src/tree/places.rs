//! Where the parts of a module stand in its text.

use super::*;
use warpsmith_diag::Span;

impl Module {
    /// Where an item stands in the text.
    pub fn item_span(&self, index: usize) -> Span {
        self.item_spans[index]
    }

    /// Where a statement stands in the text; an instruction without its guard.
    pub fn stmt_span(&self, id: Id<Stmt>) -> Span {
        self.stmt_spans[id.index()]
    }

    /// Where the guard of an instruction stands in the text, from its predicate on.
    pub fn guard_span(&self, id: Id<Stmt>) -> Span {
        let Stmt::Inst(Inst { guard: Some(guard), .. }) = self[id] else { return Span::NONE };
        let before = self.marks.guards.partition_point(|start| *start < self.stmt_span(id).start);
        match before.checked_sub(1).filter(|_| !self.stmt_span(id).is_none()) {
            Some(index) => {
                let start = self.marks.guards[index];
                Span::new(start, start + self[guard.predicate()].len() as u32)
            }
            None => Span::NONE,
        }
    }

    /// Where a word of an instruction's mnemonic stands in the text, with the dot before it: 0 is the opcode's first word. Past the last
    /// word: the whole mnemonic.
    pub fn word_span(&self, id: Id<Stmt>, word: usize) -> Span {
        let (span, Stmt::Inst(inst)) = (self.stmt_span(id), self[id]) else { return Span::NONE };
        if span.is_none() {
            return span;
        }
        let text = &self[inst.mnemonic];
        let spread = self.marks.spread.binary_search_by_key(&span.start, |(start, _)| *start);
        let spread = spread.ok().map(|index| &self.marks.spread[index].1);
        let mut at = 0;
        let mut whole = span.start;
        for (index, part) in text.split_inclusive('.').enumerate() {
            // The dot belongs to the word after it.
            let len = part.trim_end_matches('.').len() + usize::from(index > 0);
            let start =
                spread.and_then(|starts| starts.get(index).copied()).unwrap_or(span.start + at as u32);
            whole = start + len as u32;
            if index == word {
                return Span::new(start, whole);
            }
            at += len;
        }
        Span::new(span.start, whole)
    }

    /// Where an operand stands in the text.
    pub fn operand_span(&self, id: Id<Operand>) -> Span {
        self.operand_spans[id.index()]
    }

    /// Where the name in an operand stands in the text: `x` of `[x+4]`, `x.y` and `x+4`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other operands have no name of their own")]
    pub fn operand_name_span(&self, id: Id<Operand>) -> Span {
        let span = self.operand_span(id);
        let (name, bracket) = match self[id] {
            Operand::Component { name, .. } | Operand::Offset { name, .. } => (name, 0),
            Operand::AddressName(name) | Operand::Address { name, .. } => (name, 1),
            _ => return span,
        };
        if span.is_none() {
            return span;
        }
        let loose = self.marks.loose.binary_search_by_key(&span.start, |(bracket, _)| *bracket);
        let start = match loose {
            Ok(index) if bracket == 1 => self.marks.loose[index].1,
            _ => span.start + bracket,
        };
        Span::new(start, start + self[name].len() as u32)
    }

    /// Where an initial value stands in the text.
    pub fn init_span(&self, id: Id<Init>) -> Span {
        self.init_spans[id.index()]
    }

    /// Where a directive of a function stands in the text.
    pub fn directive_span(&self, id: Id<Directive>) -> Span {
        self.directive_spans[id.index()]
    }

    /// Where a piece of a section stands in the text.
    pub fn data_span(&self, id: Id<Data>) -> Span {
        self.data_spans[id.index()]
    }
}
