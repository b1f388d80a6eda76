//! Which declaration a name means: scopes, label visibility and parameterised names.
//!
//! One walk for everybody who has to know: the validator, the engine's decoder and the debugger follow a module with
//! [`Scopes::item`], [`Scopes::enter`], [`Scopes::follow`] and [`Scopes::leave`], or jump to a statement with [`Scopes::at`].
//!
//! Names are looked up by symbol in dense tables, so that an operand costs a few loads. `.reg .b32 %r<100>` is one
//! entry for its prefix: `%r7` and `%r07` are resolved by taking all digits off the name. An inner `%r<2>` hides two members of an
//! outer `%r<4>` and leaves `%r2` and `%r3` visible, as ptxas has it.

use crate::tree::*;
use rustc_hash::FxHashMap;
use warpsmith_isa::SpecialReg;

/// The depth of the body of a function.
const BODY: u32 = 2;

/// Where the chain of families of a prefix ends.
const NO_FAMILY: u32 = u32::MAX;

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
    /// The depth of the scope that binds it.
    pub depth: u32,
}

/// A name that cannot be bound, since its scope has bound it already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clash {
    /// The name, or the prefix of a parameterised one.
    pub name: Symbol,
    /// How many names a parameterised one declares.
    pub count: Option<u32>,
    /// What was to be bound.
    pub binding: Binding,
    /// What is bound.
    pub there: Bound,
}

impl Clash {
    /// What is wrong, as a sentence.
    pub fn message(&self, module: &Module) -> String {
        let name = &module[self.name];
        match (self.binding, self.count) {
            (Binding::Label(_), _) => format!("the label `{name}` has a name that is taken in this scope"),
            (_, None) => format!("`{name}` is declared twice in the same scope"),
            (_, Some(count)) => format!("a name of `{name}<{count}>` is declared twice in the same scope"),
        }
    }
}

/// A parameterised name.
#[derive(Clone, Copy)]
struct Family {
    prefix: Symbol,
    count: u32,
    bound: Bound,
    /// The family of the same prefix in an outer scope, or [`NO_FAMILY`].
    outer: u32,
}

/// How a name can be read as the prefix of a parameterised name and a number.
#[derive(Clone, Copy)]
enum Reading {
    Unknown,
    Plain,
    Member(Symbol, u32),
}

enum Undo {
    Direct(Symbol, Option<Bound>),
    Family,
    Numbered(Symbol, u32),
}

/// The scopes at one point of a walk through a module.
pub struct Scopes<'m> {
    module: &'m Module,
    direct: Vec<Option<Bound>>,
    /// By prefix, the innermost family of `chain`.
    families: Vec<u32>,
    /// The families that are declared here, inner ones last.
    chain: Vec<Family>,
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

/// Following a module.
impl<'m> Scopes<'m> {
    /// The empty module scope.
    pub fn new(module: &'m Module) -> Self {
        let symbols = module.names().len();
        Scopes {
            module,
            direct: vec![None; symbols],
            families: vec![NO_FAMILY; symbols],
            chain: Vec::new(),
            readings: vec![Reading::Unknown; symbols],
            special: vec![None; symbols],
            numbered: FxHashMap::default(),
            undo: Vec::new(),
            marks: Vec::new(),
            labels: Vec::new(),
            opened: 0,
        }
    }

    /// The scopes at a statement of a function's body: what is bound before it, and the labels around it. Names that clash have their
    /// first meaning.
    pub fn at(module: &'m Module, function: Id<Function>, statement: Id<Stmt>) -> Self {
        let mut scopes = Scopes::new(module);
        for item in module.items() {
            scopes.item(item);
            if *item == Item::Function(function) {
                break;
            }
        }
        scopes.enter(function);
        if let Some(body) = module[function].body {
            for id in body.ids().take_while(|id| *id != statement) {
                scopes.follow(id);
            }
        }
        scopes
    }

    /// Binds what stands at module level. A later declaration of a function, or of an `.extern` variable, takes the place of an earlier
    /// one.
    pub fn item(&mut self, item: &Item) -> Vec<Clash> {
        let module = self.module;
        match *item {
            Item::Variable(decl) => {
                let names = module[decl].names.ids();
                names.filter_map(|name| self.module_variable(decl, name).err()).collect()
            }
            Item::Function(function) => self.function(function).err().into_iter().collect(),
            Item::Version(_)
            | Item::Target(_)
            | Item::AddressSize(_)
            | Item::File(_)
            | Item::Pragma(_)
            | Item::IntermediateSource(_)
            | Item::Section(_)
            | Item::Alias { .. } => Vec::new(),
        }
    }

    /// Binds a variable of the module, or its later declaration.
    pub fn module_variable(&mut self, decl: Id<Decl>, declarator: Id<Declarator>) -> Result<(), Clash> {
        let module = self.module;
        let Declarator { name, count: None, .. } = module[declarator] else {
            return self.variable(decl, declarator);
        };
        let binding = Binding::Variable(decl, declarator);
        match self.direct[name.index()] {
            None => self.variable(decl, declarator),
            Some(Bound { binding: Binding::Variable(earlier, _), .. }) => {
                let external = |decl: Id<Decl>| module[decl].linkage == Linkage::Extern;
                match (external(earlier), external(decl)) {
                    (true, _) => self.rebind(name, binding),
                    (false, true) => {}
                    (false, false) => return self.variable(decl, declarator),
                }
                Ok(())
            }
            Some(_) => self.variable(decl, declarator),
        }
    }

    /// Binds a function, or its later declaration.
    pub fn function(&mut self, function: Id<Function>) -> Result<(), Clash> {
        let name = self.module[function].name;
        match self.direct[name.index()] {
            Some(Bound { binding: Binding::Function(_), .. }) => {
                self.rebind(name, Binding::Function(function));
                Ok(())
            }
            _ => self.declare(name, Binding::Function(function)),
        }
    }

    /// Opens the scopes of a function: that of its parameters, which it binds, and that of its body, if it has one, with its labels.
    pub fn enter(&mut self, function: Id<Function>) -> Vec<Clash> {
        let module = self.module;
        let Function { kind, returns, params, body, .. } = module[function];
        self.find_labels(body.unwrap_or(List::EMPTY));
        self.marks.push(self.undo.len());
        let mut clashes = Vec::new();
        for decl in returns.ids().chain(params.ids()) {
            for declarator in module[decl].names.ids() {
                // A device function may not have such a parameter, which is an error of its own.
                if module[declarator].name != Symbol::SINK || kind == FunctionKind::Entry {
                    clashes.extend(self.variable(decl, declarator).err());
                }
            }
        }
        if body.is_some() {
            self.marks.push(self.undo.len());
            self.declare_labels(&mut clashes);
        }
        clashes
    }

    /// Follows one statement of a body: opens or closes a scope, or binds what it declares.
    pub fn follow(&mut self, statement: Id<Stmt>) -> Vec<Clash> {
        let module = self.module;
        let mut clashes = Vec::new();
        match module[statement] {
            Stmt::Open => {
                self.opened += 1;
                self.marks.push(self.undo.len());
                self.declare_labels(&mut clashes);
            }
            Stmt::Close => self.close(),
            Stmt::Decl(decl) => {
                let names = module[decl].names.ids();
                clashes.extend(names.filter_map(|name| self.variable(decl, name).err()));
            }
            Stmt::BranchTargets { name, .. } | Stmt::CallTargets { name, .. } => {
                clashes.extend(self.declare(name, Binding::List(statement)).err());
            }
            Stmt::CallPrototype(prototype) => {
                clashes.extend(self.declare(module[prototype].name, Binding::List(statement)).err());
            }
            // Labels are bound where their scope opens.
            Stmt::Label(_)
            | Stmt::Inst(_)
            | Stmt::Loc(_)
            | Stmt::LocIntermediate(_)
            | Stmt::Pragma(_)
            | Stmt::Target(_) => {}
        }
        clashes
    }

    /// Binds one name of a declaration in the innermost scope: what [`Scopes::follow`] does for each of them.
    pub fn variable(&mut self, decl: Id<Decl>, declarator: Id<Declarator>) -> Result<(), Clash> {
        let Declarator { name, count, .. } = self.module[declarator];
        let binding = Binding::Variable(decl, declarator);
        match count {
            None => self.declare(name, binding),
            Some(count) => self.declare_family(name, count, binding),
        }
    }

    /// Leaves a function.
    pub fn leave(&mut self) {
        while self.depth() > 0 {
            self.close();
        }
    }

    /// Remembers the labels of a body, which are visible from the beginning of their scope.
    fn find_labels(&mut self, body: List<Stmt>) {
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
                Stmt::Decl(_)
                | Stmt::Inst(_)
                | Stmt::Loc(_)
                | Stmt::LocIntermediate(_)
                | Stmt::Pragma(_)
                | Stmt::BranchTargets { .. }
                | Stmt::CallTargets { .. }
                | Stmt::CallPrototype(_)
                | Stmt::Target(_) => {}
            }
        }
        self.labels.sort_by_key(|(scope, ..)| *scope);
    }

    /// Binds the labels of the scope just opened.
    fn declare_labels(&mut self, clashes: &mut Vec<Clash>) {
        let scope = self.opened;
        let start = self.labels.partition_point(|(of, ..)| *of < scope);
        let end = self.labels.partition_point(|(of, ..)| *of <= scope);
        for index in start..end {
            let (_, name, statement) = self.labels[index];
            clashes.extend(self.declare(name, Binding::Label(statement)).err());
        }
    }

    /// Binds a name in the innermost scope.
    ///
    /// To ptxas a body and its parameters are one scope for plain names, two for parameterised ones, and a label may
    /// have the name of a parameterised register.
    fn declare(&mut self, name: Symbol, binding: Binding) -> Result<(), Clash> {
        let depth = self.depth();
        let taken = |bound: &Bound| bound.depth == depth || (depth == BODY && bound.depth == BODY - 1);
        let label = matches!(binding, Binding::Label(_));
        let plain = number_is_plain(&self.module[name]);
        let family = match label {
            true => None,
            false => self.family(name).filter(|bound| bound.depth == depth && plain),
        };
        if let Some(there) = self.direct[name.index()].filter(taken).or(family) {
            return Err(Clash { name, count: None, binding, there });
        }
        let bound = Bound { binding, depth };
        let before = self.direct[name.index()].replace(bound);
        if depth > 0 {
            self.undo.push(Undo::Direct(name, before));
        }
        if !label && plain {
            self.note_number(name, bound);
        }
        Ok(())
    }

    /// Binds `prefix0` .. `prefix(count-1)` in the innermost scope.
    fn declare_family(&mut self, prefix: Symbol, count: u32, binding: Binding) -> Result<(), Clash> {
        let depth = self.depth();
        let bound = Bound { binding, depth };
        if count == 0 {
            return Ok(());
        }
        let outer = self.families[prefix.index()];
        let same = self.chain.get(outer as usize).map(|family| family.bound).filter(|b| b.depth == depth);
        let plain = self.numbered.get(&(prefix, depth)).filter(|(least, _)| *least < count);
        if let Some(there) = same.or(plain.map(|(_, bound)| *bound)) {
            return Err(Clash { name: prefix, count: Some(count), binding, there });
        }
        self.families[prefix.index()] = self.chain.len() as u32;
        self.chain.push(Family { prefix, count, bound, outer });
        if depth > 0 {
            self.undo.push(Undo::Family);
        }
        Ok(())
    }

    /// Remembers the number that a plain name ends in.
    fn note_number(&mut self, name: Symbol, bound: Bound) {
        let Reading::Member(prefix, number) = self.reading(name) else { return };
        let least = self.numbered.entry((prefix, bound.depth)).or_insert_with(|| {
            self.undo.extend((bound.depth > 0).then_some(Undo::Numbered(prefix, bound.depth)));
            (number, bound)
        });
        if number < least.0 {
            *least = (number, bound);
        }
    }

    /// Replaces what a name means in the scope it is bound in.
    fn rebind(&mut self, name: Symbol, binding: Binding) {
        if let Some(bound) = &mut self.direct[name.index()] {
            bound.binding = binding;
        }
    }

    /// Leaves the innermost scope.
    fn close(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Direct(name, before) => self.direct[name.index()] = before,
                Undo::Family => {
                    if let Some(family) = self.chain.pop() {
                        self.families[family.prefix.index()] = family.outer;
                    }
                }
                Undo::Numbered(prefix, depth) => {
                    self.numbered.remove(&(prefix, depth));
                }
            }
        }
    }
}

/// Looking names up.
impl Scopes<'_> {
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
            // Both in one scope: a label, or a name such as `%r07` beside `%r<8>`.
            (Some(direct), Some(family)) if family.depth >= direct.depth => Some(family),
            (Some(direct), _) => Some(direct),
            (None, Some(family)) => Some(family),
            (None, None) => self.special(name).map(|reg| Bound { binding: Binding::Special(reg), depth: 0 }),
        }
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
    fn family(&mut self, name: Symbol) -> Option<Bound> {
        match self.reading(name) {
            Reading::Member(prefix, number) => self.member(prefix, number),
            Reading::Plain | Reading::Unknown => None,
        }
    }

    /// What `prefix` followed by a number means, from the inside out.
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
    fn reading(&mut self, name: Symbol) -> Reading {
        if let Reading::Unknown = self.readings[name.index()] {
            let known = split(&self.module[name])
                .and_then(|(prefix, number)| Some((self.module.names().find(prefix)?, number)));
            self.readings[name.index()] =
                known.map_or(Reading::Plain, |(prefix, number)| Reading::Member(prefix, number));
        }
        self.readings[name.index()]
    }
}

/// True for a name that ends in a number without leading zeros, which are as good as none for clashes.
fn number_is_plain(name: &str) -> bool {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits == 1 || (digits > 1 && name.as_bytes()[name.len() - digits] != b'0')
}

/// A name without its last digits, and the number that they are. Numbers past 32 bits belong to no family.
fn split(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((prefix, name[prefix.len()..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, parse};

    /// The type that each name has at the first instruction of a body, or at its end.
    fn types<const N: usize>(body: &str, names: [&str; N]) -> [Option<String>; N] {
        let mut module = parse(&format!(".entry k(.param .u64 p3) {{ {body} }}")).module;
        let symbols = names.map(|name| module.name(name));
        let Item::Function(function) = module.items()[0] else { panic!("not a function") };
        let mut scopes = Scopes::new(&module);
        assert_eq!(scopes.enter(function), []);
        let body = module[function].body.expect("it has braces");
        for id in body.ids().take_while(|id| !matches!(module[*id], Stmt::Inst(_))) {
            assert_eq!(scopes.follow(id), []);
        }
        symbols.map(|symbol| match scopes.lookup(symbol)?.binding {
            Binding::Variable(decl, _) => Some(module[decl].ty.to_string()),
            other => Some(format!("{other:?}")),
        })
    }

    #[test]
    fn parameterised_names_are_resolved_by_their_digits() {
        let some = |ty: &str| Some(ty.to_owned());
        let found = types(".reg .b32 %r<4>; .reg .b64 %s<5>;", ["%r0", "%r03", "%r4", "%s4"]);
        assert_eq!(found, [some("b32"), some("b32"), None, some("b64")]);
        // All digits are the number, and a body's names win over the parameters'.
        let found =
            types(".reg .b32 %r<20>; .reg .b64 %r1<5>; .reg .f32 p<4>;", ["%r12", "p3", "p4", "%tid"]);
        assert_eq!(found, [some("b32"), some("f32"), None, some("Special(%tid)")]);
        assert_eq!(types(".reg .b64 %r1<3>;", ["%r12"]), [None]);
    }

    #[test]
    fn inner_scopes_end() {
        let some = |ty: &str| Some(ty.to_owned());
        let body =
            ".reg .b64 a; .reg .b64 b<9>; { .reg .b32 a; .reg .b32 b<3>; .reg .b32 c1; } .reg .f32 %tid;";
        assert_eq!(types(body, ["a", "b1", "c1", "%tid"]), [some("b64"), some("b64"), None, some("f32")]);
    }

    #[test]
    fn inner_families_hide_what_they_have() {
        let some = |ty: &str| Some(ty.to_owned());
        let outer = ".reg .b64 %r<9>; { .reg .b32 %r<5>; { .reg .b16 %r<2>;";
        let found = types(&format!("{outer} ret; }} }}"), ["%r0", "%r1", "%r2", "%r4", "%r5", "%r8", "%r9"]);
        let [inner, middle, outermost] = ["b16", "b32", "b64"].map(some);
        let all = [
            inner.clone(),
            inner,
            middle.clone(),
            middle.clone(),
            outermost.clone(),
            outermost.clone(),
            None,
        ];
        assert_eq!(found, all);
        let found = types(&format!("{outer} }} .reg .b8 %r7; ret; }}"), ["%r0", "%r5", "%r7"]);
        assert_eq!(found, [middle, outermost, some("b8")]);
    }

    #[test]
    fn the_scopes_at_a_statement() {
        let module =
            parse(".global .b32 x; .entry k() { .reg .b64 a; { .reg .b32 a, x; L: ret; } ret; }").module;
        let Item::Function(function) = module.items()[1] else { panic!("not a function") };
        let body = module[function].body.expect("it has braces");
        let ret: Vec<Id<Stmt>> = body.ids().filter(|id| matches!(module[*id], Stmt::Inst(_))).collect();
        let found = |at: Id<Stmt>| {
            let mut scopes = Scopes::at(&module, function, at);
            ["a", "x", "L"].map(|name| {
                let bound = scopes.lookup(module.names().find(name)?)?;
                match bound.binding {
                    Binding::Variable(decl, _) => Some((module[decl].ty.bits(), bound.depth)),
                    _ => Some((0, bound.depth)),
                }
            })
        };
        assert_eq!(found(ret[0]), [Some((32, 3)), Some((32, 3)), Some((0, 3))]);
        assert_eq!(found(ret[1]), [Some((64, 2)), Some((32, 0)), None]);
    }
}
