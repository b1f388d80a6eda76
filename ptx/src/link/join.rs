//! Joining: one tree of all modules, its items in an order in which everything is declared before it is used.

use super::Findings;
use super::reach::{Reach, uses};
use super::symbols::{Entity, Table};
use crate::tree::*;
use crate::{ValidatedModule, codes};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{Target, Version};

/// An item that stays: of which module, and what it was there.
struct Kept {
    module: usize,
    symbol: Symbol,
    entity: Entity,
    linkage: Linkage,
    /// False for what stays `.extern`.
    is_definition: bool,
}

/// The modules as one. `None` with a finding if they cannot be.
pub(super) fn join(
    modules: &[ValidatedModule],
    table: &Table,
    reach: &Reach,
    version: Option<Version>,
    target: Option<Target>,
    findings: &mut Findings<'_>,
) -> Option<Module> {
    let kept = kept(modules, table, reach);
    let variables = in_order(modules, table, &kept, findings)?;
    let mut joined = Joined::default();
    let moved: Vec<Moved> = (0..modules.len())
        .map(|n| joined.append(&modules[n], &table.renamed[n], &table.resultless[n]))
        .collect();
    joined.prologue(modules, version?, target?);
    let first: FxHashMap<Symbol, usize> = kept
        .iter()
        .enumerate()
        .filter(|(_, k)| k.is_definition && matches!(k.entity, Entity::Function(_)))
        .map(|(place, k)| (moved[k.module].symbol(k.symbol), place))
        .collect();
    // A function that is named before its definition, or by another's initialiser, is declared first.
    let mut early: FxHashSet<Symbol> = FxHashSet::default();
    for (place, k) in kept.iter().enumerate() {
        let is_function = matches!(k.entity, Entity::Function(_));
        for used in uses(&modules[k.module], k.entity) {
            let used = moved[k.module].symbol(used);
            if first.get(&used).is_some_and(|defined| !is_function || *defined >= place) {
                early.insert(used);
            }
        }
    }
    for k in &kept {
        let Entity::Function(id) = k.entity else { continue };
        let id = moved[k.module].function(id);
        let function = joined.module[id];
        if !k.is_definition || early.contains(&function.name) {
            let declaration =
                joined.module.push_function(Function { body: None, linkage: k.linkage, ..function });
            joined.items.push(Item::Function(declaration));
        }
    }
    for place in variables {
        let k = &kept[place];
        let Entity::Variable(decl, declarator) = k.entity else { continue };
        let one = joined.module[moved[k.module].declarator(declarator)];
        let names = joined.module.declarator_list(&[one]);
        let decl = Decl { names, ..joined.module[moved[k.module].decl(decl)] };
        let decl = joined.module.push_decl(decl);
        joined.items.push(Item::Variable(decl));
    }
    for k in kept.iter().filter(|k| k.is_definition) {
        match k.entity {
            Entity::Function(id) => {
                let id = moved[k.module].function(id);
                let linkage = if joined.module[id].kind == FunctionKind::Entry {
                    joined.module[id].linkage
                } else {
                    k.linkage
                };
                joined.module.functions[id.index()].linkage = linkage;
                joined.items.push(Item::Function(id));
            }
            Entity::Variable(..) | Entity::Alias(_) => {}
        }
    }
    for k in kept.iter().filter(|k| k.is_definition) {
        if let Entity::Alias(aliasee) = k.entity {
            let (alias, aliasee) = (moved[k.module].symbol(k.symbol), moved[k.module].symbol(aliasee));
            joined.items.push(Item::Alias { alias, aliasee });
        }
    }
    joined.sections();
    Some(joined.finish())
}

/// What stays, in the order of the modules; what stays undefined once.
fn kept(modules: &[ValidatedModule], table: &Table, reach: &Reach) -> Vec<Kept> {
    let mut undefined: FxHashSet<&str> = FxHashSet::default();
    let mut kept = Vec::new();
    for (n, symbols) in table.declared.iter().enumerate() {
        for (symbol, d) in symbols.iter().filter(|(symbol, _)| reach.has(n, *symbol)) {
            let owned = table.is_owner(modules, n, *symbol, d);
            let name = &modules[n][*symbol];
            if owned || (!table.owner.contains_key(name) && undefined.insert(name)) {
                kept.push(Kept {
                    module: n,
                    symbol: *symbol,
                    entity: d.entity,
                    linkage: d.linkage,
                    is_definition: owned,
                });
            }
        }
    }
    kept
}

/// The variables, each behind those whose addresses it starts with.
fn in_order(
    modules: &[ValidatedModule],
    table: &Table,
    kept: &[Kept],
    findings: &mut Findings<'_>,
) -> Option<Vec<usize>> {
    // By the name that others see, or by module and symbol.
    let mut places: FxHashMap<(Option<usize>, &str), usize> = FxHashMap::default();
    for (place, k) in kept.iter().enumerate() {
        let private = table.find(k.module, k.symbol).is_some_and(|d| d.is_private());
        places.insert((private.then_some(k.module), &modules[k.module][k.symbol]), place);
    }
    let needs = |place: usize| -> Vec<usize> {
        let k = &kept[place];
        let used = uses(&modules[k.module], k.entity).into_iter();
        used.filter_map(|symbol| {
            let private = table.find(k.module, symbol).is_some_and(|d| d.is_private());
            places.get(&(private.then_some(k.module), &modules[k.module][symbol])).copied()
        })
        .filter(|place| matches!(kept[*place].entity, Entity::Variable(..)))
        .collect()
    };
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; kept.len()];
    let mut order = Vec::new();
    for start in (0..kept.len()).filter(|place| matches!(kept[*place].entity, Entity::Variable(..))) {
        let mut work = vec![(start, needs(start))];
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        while let Some((place, open)) = work.last_mut() {
            let Some(next) = open.pop() else {
                states[*place] = State::Done;
                order.push(*place);
                work.pop();
                continue;
            };
            match states[next] {
                State::Done => {}
                // Its own address is not an obstacle.
                State::Open if next == *place => {}
                State::Open => {
                    let k = &kept[next];
                    let name = &modules[k.module][k.symbol];
                    let span = table.find(k.module, k.symbol).map_or(Span::NONE, |d| d.span);
                    let message = format!(
                        "the initialiser of `{name}` needs its own address by way of other variables"
                    );
                    findings.add(k.module, Diagnostic::error(codes::LINK_CYCLE, span, message));
                    return None;
                }
                State::New => {
                    states[next] = State::Open;
                    work.push((next, needs(next)));
                }
            }
        }
    }
    Some(order)
}

/// What the ids of an appended module became.
struct Moved {
    symbols: Vec<Symbol>,
    functions: u32,
    decls: u32,
    declarators: u32,
}

impl Moved {
    fn symbol(&self, symbol: Symbol) -> Symbol {
        self.symbols[symbol.index()]
    }

    fn function(&self, id: Id<Function>) -> Id<Function> {
        Id::new(id.index() as u32 + self.functions)
    }

    fn decl(&self, id: Id<Decl>) -> Id<Decl> {
        Id::new(id.index() as u32 + self.decls)
    }

    fn declarator(&self, id: Id<Declarator>) -> Id<Declarator> {
        Id::new(id.index() as u32 + self.declarators)
    }
}

/// The joined tree, and its items in their new order.
#[derive(Default)]
struct Joined {
    module: Module,
    items: Vec<Item>,
    files: Vec<File>,
    /// Sections of one name are one; how many bytes are there.
    contents: Vec<(Symbol, Vec<Data>, u64)>,
    sources: Vec<Item>,
    pragmas: Vec<Item>,
}

impl Joined {
    /// Appends a module, its names changed, and its calls of functions that turned out to have no results without them.
    fn append(
        &mut self,
        module: &Module,
        renamed: &FxHashMap<Symbol, String>,
        resultless: &FxHashSet<Symbol>,
    ) -> Moved {
        let mut module = module.clone();
        drop_results(&mut module, resultless);
        self.renumber_files(&mut module);
        let symbols = (0..module.names().len())
            .map(|index| {
                let symbol = Symbol::from_index(index);
                let name = renamed.get(&symbol).map_or(module.names().get(symbol), String::as_str);
                self.module.name(name)
            })
            .collect();
        let moved = Moved {
            symbols,
            functions: self.module.functions.len() as u32,
            decls: self.module.decls.len() as u32,
            declarators: self.module.declarators.len() as u32,
        };
        // File names are not symbols: they stay as they are.
        let paths: Vec<String> = module
            .items
            .iter()
            .filter_map(
                |item| if let Item::File(file) = item { Some(module[file.name].to_owned()) } else { None },
            )
            .collect();
        let before = self.module.items.len();
        let (values, inlined) = (self.module.values.len(), self.module.inlined.len());
        self.module.append_with(module, moved.symbols.clone());
        self.move_offsets(values, inlined);
        let mut paths = paths.into_iter();
        for index in before..self.module.items.len() {
            match self.module.items[index] {
                Item::File(file) => {
                    let name = paths.next().map_or(file.name, |path| self.module.name(&path));
                    if !self.files.iter().any(|known| known.index == file.index) {
                        self.files.push(File { name, ..file });
                    }
                }
                Item::Section(section) => self.section(section),
                item @ Item::IntermediateSource(_) => self.sources.push(item),
                item @ Item::Pragma(_) => self.pragmas.push(item),
                Item::Version(_)
                | Item::Target(_)
                | Item::AddressSize(_)
                | Item::Variable(_)
                | Item::Function(_)
                | Item::Alias { .. } => {}
            }
        }
        moved
    }

    /// Gives the files of a module numbers that no other file has; the same file keeps one number.
    fn renumber_files(&self, module: &mut Module) {
        let mut new: FxHashMap<u32, u32> = FxHashMap::default();
        let mut taken: FxHashSet<u32> = self.files.iter().map(|file| file.index).collect();
        let files: Vec<(u32, String)> = module
            .items
            .iter()
            .filter_map(|item| {
                if let Item::File(file) = item {
                    Some((file.index, module[file.name].to_owned()))
                } else {
                    None
                }
            })
            .collect();
        for (index, path) in &files {
            let same = self.files.iter().find(|file| self.module[file.name] == **path);
            let number = match same {
                Some(file) => file.index,
                None if !taken.contains(index) => *index,
                None => {
                    (1..).find(|n| !taken.contains(n) && files.iter().all(|(i, _)| i != n)).unwrap_or(*index)
                }
            };
            taken.insert(number);
            new.insert(*index, number);
        }
        let place = |place: &mut Place| place.file = new.get(&place.file).copied().unwrap_or(place.file);
        for item in &mut module.items {
            if let Item::File(file) = item {
                file.index = new.get(&file.index).copied().unwrap_or(file.index);
            }
        }
        for stmt in &mut module.stmts {
            if let Stmt::Loc(loc) = stmt {
                place(&mut loc.at);
            }
        }
        module.inlined.iter_mut().for_each(|inlined| place(&mut inlined.at));
    }

    /// Offsets into sections move by what other modules have put there before. The arguments say where what was appended begins.
    fn move_offsets(&mut self, values: usize, inlined: usize) {
        let starts: FxHashMap<Symbol, u64> =
            self.contents.iter().map(|(name, _, bytes)| (*name, *bytes)).collect();
        for value in &mut self.module.values[values..] {
            if let DataValue::Address { name, offset } = value {
                *offset += starts.get(name).copied().unwrap_or(0).cast_signed();
            }
        }
        for inlined in &mut self.module.inlined[inlined..] {
            inlined.offset += starts.get(&inlined.function_name).copied().unwrap_or(0);
        }
    }

    /// Puts the contents of a section behind those of the same name.
    fn section(&mut self, section: Section) {
        let data: Vec<Data> = self.module[section.data].to_vec();
        let bytes: u64 = data
            .iter()
            .map(|data| match *data {
                Data::Label(_) => 0,
                Data::Bytes(bytes) => bytes.len() as u64,
                Data::Values { bits, values } => values.len() as u64 * u64::from(bits / 8),
            })
            .sum();
        match self.contents.iter_mut().find(|(name, ..)| *name == section.name) {
            Some((_, all, size)) => {
                all.extend(data);
                *size += bytes;
            }
            None => self.contents.push((section.name, data, bytes)),
        }
    }

    fn prologue(&mut self, modules: &[ValidatedModule], version: Version, target: Target) {
        let mut names = vec![target.to_string()];
        for module in modules {
            for item in module.items() {
                let Item::Target(list) = item else { continue };
                for name in &module[*list] {
                    let name = &module[*name];
                    if !name.starts_with("sm_") && !names.iter().any(|known| known == name) {
                        names.push(name.to_owned());
                    }
                }
            }
        }
        let names: Vec<Symbol> = names.iter().map(|name| self.module.name(name)).collect();
        let names = self.module.symbol_list(&names);
        self.items.extend([Item::Version(version), Item::Target(names), Item::AddressSize(64)]);
        self.items.extend(self.files.iter().map(|file| Item::File(*file)));
        self.items.append(&mut self.pragmas);
    }

    fn sections(&mut self) {
        for (name, data, _) in std::mem::take(&mut self.contents) {
            let data = self.module.data_list(&data);
            self.items.push(Item::Section(Section { name, data }));
        }
        self.items.append(&mut self.sources);
    }

    fn finish(self) -> Module {
        let Joined { mut module, items, .. } = self;
        module.items.clear();
        module.item_spans.clear();
        items.into_iter().for_each(|item| module.push_item(item));
        module
    }
}

/// Takes the results from the calls of these functions.
fn drop_results(module: &mut Module, of: &FxHashSet<Symbol>) {
    if of.is_empty() {
        return;
    }
    for index in 0..module.stmts.len() {
        let Stmt::Inst(inst) = module.stmts[index] else { continue };
        if let [Operand::Group(_), Operand::Name(called), ..] = module[inst.operands]
            && of.contains(&called)
        {
            let range = inst.operands.range();
            module.stmts[index] =
                Stmt::Inst(Inst { operands: List::new(range.start + 1, range.end), ..inst });
        }
    }
}
