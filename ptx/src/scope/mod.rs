//! Which declaration a name means: scopes, label visibility and parameterised names.
//!
//! One walk for everybody who has to know: the validator, the engine's decoder and the debugger follow a module with
//! [`Scopes::item`], [`Scopes::enter`], [`Scopes::follow`] and [`Scopes::leave`], or jump to a statement with [`Scopes::at`].
//!
//! Names are looked up (`lookup`) by symbol in dense tables, so that an operand costs a few loads. `.reg .b32 %r<100>` is one
//! entry for its prefix: `%r7` and `%r07` are resolved by taking all digits off the name. An inner `%r<2>` hides two members of an
//! outer `%r<4>` and leaves `%r2` and `%r3` visible, as ptxas has it.

mod lookup;

use crate::tree::*;
use lookup::number_is_plain;
use warpsmith_base::FxHashMap;
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
    /// How often a meaning has changed, and one.
    changes: u32,
    /// What names were found to mean, and after how many changes.
    found: Vec<(u32, Option<Bound>)>,
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
        Scopes {
            module,
            direct: vec![None; symbols],
            families: vec![NO_FAMILY; symbols],
            chain: Vec::new(),
            readings: vec![Reading::Unknown; symbols],
            special: vec![None; symbols],
            changes: 1,
            found: vec![(0, None); symbols],
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
        self.changes += 1;
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
        self.changes += 1;
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
        self.changes += 1;
        if let Some(bound) = &mut self.direct[name.index()] {
            bound.binding = binding;
        }
    }

    /// Leaves the innermost scope.
    fn close(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        self.changes += 1;
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

#[cfg(test)]
mod tests;
