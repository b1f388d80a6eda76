//! Which declaration a name means: scopes, label visibility and parameterised names.
//!
//! Names are looked up by symbol in dense tables, so that an operand costs a few loads. `.reg .b32 %r<100>` is one
//! entry for its prefix: `%r7` and `%r07` are resolved by taking digits off the name. How a name can be read so is found out
//! once, among the prefixes that the module declares anywhere.

use crate::tree::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use warpsmith_isa::SpecialReg;

/// The depth of the body of a function.
const BODY: u32 = 2;

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// A register, variable or parameter.
    Variable(Id<Decl>, Id<Declarator>),
    /// A label, by its statement.
    Label(Id<Stmt>),
    /// A function, by its latest declaration.
    Function(Id<Function>),
    /// A `.branchtargets`, `.calltargets` or `.callprototype`, by its statement.
    List(Id<Stmt>),
    /// A special register, unless a declaration takes its name.
    Special(SpecialReg),
}

/// A binding and the depth of its scope: 0 is the module, 1 the parameters of a function, 2 its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// What is bound.
    pub binding: Binding,
    /// Where.
    pub depth: u32,
}

/// A parameterised name.
#[derive(Clone, Copy)]
struct Family {
    count: u32,
    bound: Bound,
}

/// How a name can be read as the prefix of a parameterised name and a number.
#[derive(Clone, Copy)]
enum Reading {
    Unknown,
    None,
    One(Symbol, u32),
    Several,
}

enum Undo {
    Direct(Symbol, Option<Bound>),
    Family(Symbol, Option<Family>),
    Numbered(Symbol, u32),
}

/// The scopes at one point of a walk through a module.
pub struct Scopes<'m> {
    module: &'m Module,
    direct: Vec<Option<Bound>>,
    families: Vec<Option<Family>>,
    /// Whether a prefix is declared anywhere in the module.
    prefixes: Vec<bool>,
    readings: Vec<Reading>,
    special: Vec<Option<Option<SpecialReg>>>,
    /// By prefix and depth: the smallest number of a plain name that begins so, to find clashes with `<n>`.
    numbered: FxHashMap<(Symbol, u32), (u32, Bound)>,
    undo: Vec<Undo>,
    /// How long `undo` was when each scope was opened.
    marks: Vec<usize>,
    /// The labels of the body at hand, by scope in the order of opening.
    labels: Vec<(u32, Symbol, Id<Stmt>)>,
    opened: u32,
}

impl<'m> Scopes<'m> {
    /// The empty module scope.
    pub fn new(module: &'m Module) -> Self {
        let symbols = module.names().len();
        let mut prefixes = vec![false; symbols];
        for declarator in module.declarators.iter().filter(|d| d.count.is_some()) {
            prefixes[declarator.name.index()] = true;
        }
        Scopes {
            module,
            direct: vec![None; symbols],
            families: vec![None; symbols],
            prefixes,
            readings: vec![Reading::Unknown; symbols],
            special: vec![None; symbols],
            numbered: FxHashMap::default(),
            undo: Vec::new(),
            marks: Vec::new(),
            labels: Vec::new(),
            opened: 0,
        }
    }

    /// The depth of the innermost scope.
    pub fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    /// What a name means here.
    #[inline]
    pub fn lookup(&mut self, name: Symbol) -> Option<Bound> {
        let direct = self.direct[name.index()];
        let family = self.family(name);
        match (direct, family) {
            // A branch to `%clock` is a branch to the register, whatever the label.
            (Some(Bound { binding: Binding::Label(_), .. }), _) if self.special(name).is_some() => {
                self.special(name).map(|reg| Bound { binding: Binding::Special(reg), depth: 0 })
            }
            (Some(direct), Some(family)) if family.depth > direct.depth => Some(family),
            (Some(direct), _) => Some(direct),
            (None, Some(family)) => Some(family),
            (None, None) => self.special(name).map(|reg| Bound { binding: Binding::Special(reg), depth: 0 }),
        }
    }

    /// What is bound to a name itself, not to a prefix of it.
    pub fn direct(&self, name: Symbol) -> Option<Bound> {
        self.direct[name.index()]
    }

    /// What `prefix<n>` is bound to, and n.
    pub fn family_named(&self, prefix: Symbol) -> Option<(u32, Bound)> {
        self.families[prefix.index()].map(|family| (family.count, family.bound))
    }

    /// True if a name, which the module need not have, means something here.
    pub fn binds(&self, name: &str) -> bool {
        let direct =
            self.module.names().find(name).is_some_and(|symbol| self.direct[symbol.index()].is_some());
        direct || self.family_of(name).is_some() || SpecialReg::from_name(name).is_some()
    }

    /// The plain names that are bound here, not those that a count stands for.
    pub fn visible(&self) -> Vec<Symbol> {
        let bound = self.direct.iter().enumerate().filter(|(_, bound)| bound.is_some());
        bound.map(|(index, _)| Symbol::from_index(index)).collect()
    }

    fn special(&mut self, name: Symbol) -> Option<SpecialReg> {
        let module = self.module;
        *self.special[name.index()].get_or_insert_with(|| SpecialReg::from_name(&module[name]))
    }

    #[inline]
    fn family(&mut self, name: Symbol) -> Option<Bound> {
        if let Reading::Unknown = self.readings[name.index()] {
            let mut all = self.readings_of(&self.module[name]);
            let reading = match (all.next(), all.next()) {
                (None, _) => Reading::None,
                (Some((prefix, number)), None) => Reading::One(prefix, number),
                _ => Reading::Several,
            };
            drop(all);
            self.readings[name.index()] = reading;
        }
        match self.readings[name.index()] {
            Reading::One(prefix, number) => self.member(prefix, number),
            Reading::Several => self.family_of(&self.module[name]),
            Reading::None | Reading::Unknown => None,
        }
    }

    fn member(&self, prefix: Symbol, number: u32) -> Option<Bound> {
        self.families[prefix.index()].filter(|family| number < family.count).map(|family| family.bound)
    }

    fn family_of(&self, name: &str) -> Option<Bound> {
        let candidates = self.readings_of(name).filter_map(|(prefix, number)| self.member(prefix, number));
        // The innermost scope, then the shortest prefix, which comes last.
        candidates.max_by_key(|bound| bound.depth)
    }

    /// The ways to read a name as a prefix that the module declares and a number.
    fn readings_of(&self, name: &str) -> impl Iterator<Item = (Symbol, u32)> {
        splits(name).filter_map(|(prefix, number)| {
            let prefix = self.module.names().find(prefix).filter(|prefix| self.prefixes[prefix.index()])?;
            Some((prefix, number))
        })
    }

    /// Binds a name in the innermost scope. `Err`: it is bound there already, to this.
    ///
    /// To ptxas a body and its parameters are one scope for plain names, two for parameterised ones, and a label may
    /// have the name of a parameterised register.
    pub fn declare(&mut self, name: Symbol, binding: Binding) -> Result<(), Bound> {
        let depth = self.depth();
        let taken = |bound: &Bound| bound.depth == depth || (depth == BODY && bound.depth == BODY - 1);
        let family = match binding {
            Binding::Label(_) => None,
            _ => {
                self.family(name).filter(|bound| bound.depth == depth && number_is_plain(&self.module[name]))
            }
        };
        if let Some(there) = self.direct[name.index()].filter(taken).or(family) {
            return Err(there);
        }
        let bound = Bound { binding, depth };
        let before = self.direct[name.index()].replace(bound);
        if depth > 0 {
            self.undo.push(Undo::Direct(name, before));
        }
        if !matches!(binding, Binding::Label(_)) {
            self.note_numbers(&self.module[name], bound);
        }
        Ok(())
    }

    /// Replaces what a name means in the scope it is bound in: a later declaration of the same function.
    pub fn redeclare(&mut self, name: Symbol, binding: Binding) {
        if let Some(bound) = &mut self.direct[name.index()] {
            bound.binding = binding;
        }
    }

    /// Binds `prefix0` .. `prefix(count-1)`. `Err`: one of them is bound in this scope already.
    pub fn declare_family(&mut self, prefix: Symbol, count: u32, binding: Binding) -> Result<(), Bound> {
        let depth = self.depth();
        let bound = Bound { binding, depth };
        if count == 0 {
            return Ok(());
        }
        if let Some(family) = self.families[prefix.index()]
            && family.bound.depth == depth
        {
            return Err(family.bound);
        }
        if let Some((_, clash)) = self.numbered.get(&(prefix, depth)).filter(|(least, _)| *least < count) {
            return Err(*clash);
        }
        let before = self.families[prefix.index()].replace(Family { count, bound });
        if depth > 0 {
            self.undo.push(Undo::Family(prefix, before));
        }
        Ok(())
    }

    /// Remembers the numbers that a name ends in, under the prefixes that the module declares.
    fn note_numbers(&mut self, name: &str, bound: Bound) {
        if !number_is_plain(name) {
            return;
        }
        let readings: SmallVec<[(Symbol, u32); 2]> = self.readings_of(name).collect();
        for (prefix, number) in readings {
            let least = self.numbered.entry((prefix, bound.depth)).or_insert_with(|| {
                self.undo.extend((bound.depth > 0).then_some(Undo::Numbered(prefix, bound.depth)));
                (number, bound)
            });
            if number < least.0 {
                *least = (number, bound);
            }
        }
    }

    /// Opens the scope of the parameters of a function with this body.
    pub fn open_function(&mut self, body: List<Stmt>) {
        self.labels.clear();
        self.opened = 0;
        let mut stack = vec![0];
        let mut scopes = 0;
        for id in body.ids() {
            match self.module[id] {
                Stmt::Open => {
                    scopes += 1;
                    stack.push(scopes);
                }
                Stmt::Close => {
                    stack.pop();
                }
                Stmt::Label(name) => {
                    let scope = stack.last().copied().unwrap_or(0);
                    self.labels.push((scope, name, id));
                }
                _ => {}
            }
        }
        self.labels.sort_by_key(|(scope, ..)| *scope);
        self.marks.push(self.undo.len());
    }

    /// Opens the scope of the body itself, after the parameters are declared.
    pub fn open_body(&mut self) {
        self.marks.push(self.undo.len());
    }

    /// Opens a scope within a body.
    pub fn open(&mut self) {
        self.opened += 1;
        self.marks.push(self.undo.len());
    }

    /// Makes the labels of the scope just opened known: they are seen from its beginning. Gives those whose name is
    /// taken, with what it means already.
    pub fn declare_labels(&mut self) -> Vec<(Id<Stmt>, Bound)> {
        let scope = self.opened;
        let start = self.labels.partition_point(|(of, ..)| *of < scope);
        let end = self.labels.partition_point(|(of, ..)| *of <= scope);
        let mut taken = Vec::new();
        for index in start..end {
            let (_, name, stmt) = self.labels[index];
            if let Err(there) = self.declare(name, Binding::Label(stmt)) {
                taken.push((stmt, there));
            }
        }
        taken
    }

    /// Leaves the innermost scope.
    pub fn close(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Direct(name, before) => self.direct[name.index()] = before,
                Undo::Family(prefix, before) => self.families[prefix.index()] = before,
                Undo::Numbered(prefix, depth) => {
                    self.numbered.remove(&(prefix, depth));
                }
            }
        }
    }
}

/// True for a name that ends in a number without leading zeros, which are as good as none for clashes.
fn number_is_plain(name: &str) -> bool {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits == 1 || (digits > 1 && name.as_bytes()[name.len() - digits] != b'0')
}

/// The ways to read a name as a prefix and a number: `%r12` is `%r1` and 2, and `%r` and 12.
fn splits(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    // Counts have 32 bits; longer numbers begin with zeros or are no members.
    (1..=digits.min(20)).filter_map(move |digits| {
        let (prefix, number) = name.split_at(name.len() - digits);
        Some((prefix, number.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, parse};

    /// The type that each name has at the end of a body.
    fn types(body: &str, names: [&str; 4]) -> [Option<String>; 4] {
        let mut module = parse(&format!(".entry k(.param .u64 p3) {{ {body} }}")).module;
        let symbols = names.map(|name| module.name(name));
        let mut scopes = Scopes::new(&module);
        let Item::Function(function) = module.items()[0] else { panic!("not a function") };
        let function = module[function];
        let body = function.body.expect("it has braces");
        scopes.open_function(body);
        let declare = |scopes: &mut Scopes, decl: Id<Decl>| {
            for name in module[decl].names.ids() {
                let Declarator { name: symbol, count, .. } = module[name];
                let binding = Binding::Variable(decl, name);
                let _ = match count {
                    None => scopes.declare(symbol, binding),
                    Some(count) => scopes.declare_family(symbol, count, binding),
                };
            }
        };
        function.params.ids().for_each(|decl| declare(&mut scopes, decl));
        scopes.open_body();
        for stmt in &module[body] {
            match stmt {
                Stmt::Open => scopes.open(),
                Stmt::Close => scopes.close(),
                Stmt::Decl(decl) => declare(&mut scopes, *decl),
                _ => {}
            }
        }
        symbols.map(|symbol| match scopes.lookup(symbol)?.binding {
            Binding::Variable(decl, _) => Some(module[decl].ty.to_string()),
            other => Some(format!("{other:?}")),
        })
    }

    #[test]
    fn parameterised_names_are_resolved_by_their_digits() {
        let some = |ty: &str| Some(ty.to_owned());
        let found = types(".reg .b32 %r<4>; .reg .b64 %r1<5>;", ["%r0", "%r03", "%r4", "%r12"]);
        assert_eq!(found, [some("b32"), some("b32"), None, some("b64")]);
        // The shortest prefix wins, and a body's names win over the parameters'.
        let found =
            types(".reg .b32 %r<20>; .reg .b64 %r1<5>; .reg .f32 p<4>;", ["%r12", "p3", "p4", "%tid"]);
        assert_eq!(found, [some("b32"), some("f32"), None, some("Special(%tid)")]);
    }

    #[test]
    fn inner_scopes_end() {
        let some = |ty: &str| Some(ty.to_owned());
        let body =
            ".reg .b64 a; .reg .b64 b<9>; { .reg .b32 a; .reg .b32 b<3>; .reg .b32 c1; } .reg .f32 %tid;";
        assert_eq!(types(body, ["a", "b1", "c1", "%tid"]), [some("b64"), some("b64"), None, some("f32")]);
    }
}
