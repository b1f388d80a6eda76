//! Looking names up: as they are, and as members of parameterised names.

use super::{Binding, Bound, Reading, Scopes};
use crate::tree::*;
use warpsmith_isa::SpecialReg;

impl Scopes<'_> {
    /// The depth of the innermost scope.
    pub fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    /// What a name means here. It is searched for once, until something else is bound.
    #[inline]
    pub fn lookup(&mut self, name: Symbol) -> Option<Bound> {
        let (at, found) = self.found[name.index()];
        if at == self.changes {
            return found;
        }
        let found = self.search(name);
        self.found[name.index()] = (self.changes, found);
        found
    }

    fn search(&mut self, name: Symbol) -> Option<Bound> {
        let family = self.family(name);
        let Some(direct) = self.direct[name.index()] else {
            return family.or_else(|| self.register(name));
        };
        // A branch to `%clock` is a branch to the register, whatever the label.
        if let Binding::Label(_) = direct.binding
            && let Some(register) = self.register(name)
        {
            return Some(register);
        }
        // Both in one scope: a label, or a name such as `%r07` beside `%r<8>`.
        family.filter(|family| family.depth >= direct.depth).or(Some(direct))
    }

    /// A special register, as it is bound outside of all scopes.
    fn register(&mut self, name: Symbol) -> Option<Bound> {
        self.special(name).map(|reg| Bound { binding: Binding::Special(reg), depth: 0 })
    }

    /// What is bound to a name itself, not to a prefix of it.
    pub fn direct(&self, name: Symbol) -> Option<Bound> {
        self.direct[name.index()]
    }

    /// What `prefix<n>` is bound to in the innermost scope that binds it, and n.
    pub fn family_named(&self, prefix: Symbol) -> Option<(u32, Bound)> {
        self.chain.get(self.families[prefix.index()] as usize).map(|family| (family.count, family.bound))
    }

    /// True if a name, which the module need not have, means something here.
    pub fn binds(&self, name: &str) -> bool {
        let names = self.module.names();
        let direct = names.find(name).is_some_and(|symbol| self.direct[symbol.index()].is_some());
        let family = split(name)
            .and_then(|(prefix, number)| Some((names.find(prefix)?, number)))
            .and_then(|(prefix, number)| self.member(prefix, number));
        direct || family.is_some() || SpecialReg::from_name(name).is_some()
    }

    /// The plain names that are bound here, without the members of parameterised ones.
    pub fn visible(&self) -> Vec<Symbol> {
        let bound = self.direct.iter().enumerate().filter(|(_, bound)| bound.is_some());
        bound.map(|(index, _)| Symbol::from_index(index)).collect()
    }

    fn special(&mut self, name: Symbol) -> Option<SpecialReg> {
        let module = self.module;
        *self.special[name.index()].get_or_insert_with(|| SpecialReg::from_name(&module[name]))
    }

    #[inline]
    pub(super) fn family(&mut self, name: Symbol) -> Option<Bound> {
        match self.reading(name) {
            Reading::Member(prefix, number) => self.member(prefix, number),
            Reading::Plain | Reading::Unknown => None,
        }
    }

    /// What `prefix` followed by a number means, from the inside out.
    #[inline]
    fn member(&self, prefix: Symbol, number: u32) -> Option<Bound> {
        let mut at = self.families[prefix.index()];
        while let Some(family) = self.chain.get(at as usize) {
            if number < family.count {
                return Some(family.bound);
            }
            at = family.outer;
        }
        None
    }

    #[inline]
    pub(super) fn reading(&mut self, name: Symbol) -> Reading {
        match self.readings[name.index()] {
            Reading::Unknown => self.read(name),
            known @ (Reading::Plain | Reading::Member(..)) => known,
        }
    }

    #[cold]
    fn read(&mut self, name: Symbol) -> Reading {
        let known = split(&self.module[name])
            .and_then(|(prefix, number)| Some((self.module.names().find(prefix)?, number)));
        let reading = known.map_or(Reading::Plain, |(prefix, number)| Reading::Member(prefix, number));
        self.readings[name.index()] = reading;
        reading
    }
}

/// True for a name that ends in a number without leading zeros, which are as good as none for clashes.
pub(super) fn number_is_plain(name: &str) -> bool {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits == 1 || (digits > 1 && name.as_bytes()[name.len() - digits] != b'0')
}

/// A name without its last digits, and the number that they are. Numbers past 32 bits belong to no family.
fn split(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((prefix, name[prefix.len()..].parse().ok()?))
}
