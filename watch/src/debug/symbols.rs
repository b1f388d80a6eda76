//! What the names and lines of a module mean.

mod functions;

use super::value::Type;
use crate::Sources;
use crate::dwarf;
use crate::names::{self, demangled};
use crate::source::Frame;
use std::borrow::Cow;
use std::ops::Range;
use warpsmith_base::FxHashSet;
use warpsmith_diag::LineIndex;
use warpsmith_interp::Program;
use warpsmith_interp::engine::{FuncId, NamedReg};
use warpsmith_isa::{ScalarType, StateSpace, Traits};
use warpsmith_ptx::scope::{Binding, Scopes};
use warpsmith_ptx::{Decl, Declarator, Function, Item, List, Module, PtrTo, Stmt};

/// What an instruction does that may go elsewhere, wait, or be noticed by others: in front of a function's body, where parameters are fetched and
/// put where their variables are, is none of it.
const LEAVES: Traits = Traits::TERMINATOR
    .union(Traits::CALL)
    .union(Traits::CONVERGENT)
    .union(Traits::BARRIER)
    .union(Traits::WAIT)
    .union(Traits::FENCE)
    .union(Traits::ASYNC)
    .union(Traits::SIDE_EFFECT);

/// A module and the program that it was loaded as.
pub struct Symbols<'a> {
    pub program: &'a Program,
    pub module: &'a Module,
    pub sources: Sources,
    /// The first operations of statements, in order.
    starts: Vec<u32>,
    /// Labels of functions: function, name, the line of the first statement after it.
    labels: Vec<(String, String, u32)>,
    /// The lines of statements that may go elsewhere, or wait.
    leaves: FxHashSet<u32>,
}

impl<'a> Symbols<'a> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only labels and instructions have lines")]
    pub fn new(name: &str, text: &str, module: &'a Module, program: &'a Program) -> Symbols<'a> {
        let first = |(number, head): (usize, u32)| {
            let mut pc = head;
            while pc > 0 && program.statement_number(pc - 1) as usize == number {
                pc -= 1;
            }
            pc
        };
        let statements = program.statements().iter().enumerate();
        let mut starts: Vec<u32> = statements
            .filter(|(_, s)| s.line != 0 && s.end > s.head)
            .map(|(number, s)| first((number, s.head)))
            .collect();
        starts.sort_unstable();
        starts.dedup();
        let lines = LineIndex::new(text);
        let mut labels = Vec::new();
        let leaving = program.statements().iter().filter(|statement| {
            statement.instruction.is_some_and(|instruction| instruction.traits().intersects(LEAVES))
        });
        let mut leaves: FxHashSet<u32> = leaving.map(|statement| statement.line).collect();
        for function in module.functions() {
            let Some(body) = function.body else { continue };
            let mut open: Vec<String> = Vec::new();
            for id in body.ids() {
                match module[id] {
                    Stmt::Label(label) => open.push(module[label].to_owned()),
                    Stmt::Inst(inst) => {
                        let line = lines.position(module.stmt_span(id).start).line;
                        let function = &module[function.name];
                        if inst.guard.is_some() {
                            leaves.insert(line);
                        }
                        labels.extend(open.drain(..).map(|label| (function.to_owned(), label, line)));
                    }
                    _ => {}
                }
            }
        }
        Symbols { program, module, sources: Sources::new(name, text, module), starts, labels, leaves }
    }

    /// The name of the PTX file, without its folders.
    pub fn file(&self) -> &str {
        base(self.sources.name())
    }

    /// An operation is the first of a statement.
    pub fn is_start(&self, pc: u32) -> bool {
        self.starts.binary_search(&pc).is_ok()
    }

    /// The first operation of the statement that an operation belongs to.
    pub fn start_of(&self, pc: u32) -> u32 {
        self.starts[..self.starts.partition_point(|s| *s <= pc)].last().copied().unwrap_or(pc)
    }

    /// The statements from an operation on, by their first operations.
    pub fn statements_from(&self, pc: u32) -> &[u32] {
        &self.starts[self.starts.partition_point(|s| *s <= pc).saturating_sub(1)..]
    }

    /// Where the line of an operation comes from.
    pub fn frames(&self, pc: u32) -> &[Frame] {
        self.sources.frames(self.program.line(pc))
    }

    /// The variables of the source that can be named at an operation in a function that so many inlined calls lead to, the innermost first;
    /// without those that outlive functions.
    pub fn source_variables(&self, pc: u32, level: u32) -> Vec<&dwarf::Variable> {
        let mut found = self.sources.dwarf().at(self.text_at(pc), level);
        found.retain(|variable| variable.scope.is_some());
        found
    }

    /// The variable of the source that a name means at an operation. What outlives functions may be called by its name without the namespaces around.
    pub fn source_variable(&self, pc: u32, level: u32, name: &str) -> Option<&dwarf::Variable> {
        let found = self.sources.dwarf().at(self.text_at(pc), level);
        let exact = found.iter().find(|variable| variable.name == name);
        exact.or_else(|| found.iter().find(|variable| variable.is_called(name))).copied()
    }

    /// The variable of the source of a name that outlives functions.
    pub fn source_global(&self, name: &str) -> Option<&dwarf::Variable> {
        let variables = &self.sources.dwarf().variables;
        variables.iter().find(|variable| variable.scope.is_none() && variable.is_called(name))
    }

    /// The place in the text of the statement of an operation.
    pub fn text_at(&self, pc: u32) -> u64 {
        self.program.statement_at(pc).span.start.into()
    }

    /// The name of the function of an operation.
    pub fn function(&self, pc: u32) -> &str {
        self.program.function_at(pc).map_or("??", |f| self.program.function_name(f))
    }

    /// [`Symbols::function`] as its author wrote it.
    pub fn shown_function(&self, pc: u32) -> Cow<'_, str> {
        demangled(self.function(pc))
    }

    /// `saxpy+3`: the function of an operation, and its statement there.
    pub fn place(&self, pc: u32) -> String {
        let name = self.shown_function(pc);
        let own = self.own(self.program.function_at(pc));
        match self.starts[own].iter().take_while(|s| **s < self.start_of(pc)).count() {
            0 => name.into_owned(),
            n => format!("{name}+{n}"),
        }
    }

    /// The statements of a function, as a range of the starts.
    fn own(&self, function: Option<FuncId>) -> Range<usize> {
        let code = function.map_or(0..0, |f| self.program.code(f));
        let [from, to] = [code.start, code.end].map(|pc| self.starts.partition_point(|s| *s < pc));
        from..to
    }

    /// The statements of a function, by their first operations.
    pub fn body(&self, function: FuncId) -> &[u32] {
        &self.starts[self.own(Some(function))]
    }

    /// Where the first statement of a function is. A mangled name is also found by the name within.
    pub fn entry(&self, name: &str) -> Option<u32> {
        let program = self.program;
        let named = |test: &dyn Fn(&str) -> bool| {
            program.functions().filter(|f| test(program.function_name(*f))).find_map(|f| self.body(f).first())
        };
        let within = |n: &str| {
            let shown = demangled(n);
            shown == name || names::last(&shown) == name
        };
        named(&|n| n == name).or_else(|| named(&within)).copied()
    }

    /// The names of functions with code.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let program = self.program;
        program.functions().filter(|f| !self.body(*f).is_empty()).map(|f| program.function_name(f))
    }

    /// The files of the source that code comes from, in its order.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for frame in self.starts.iter().filter_map(|pc| self.frames(*pc).first()) {
            if !files.contains(&frame.file) {
                files.push(frame.file.clone());
            }
        }
        files
    }

    /// Where a breakpoint at a place stops: in a function, behind what fetches its parameters, so that they can be looked at.
    pub fn stops(&self, place: &str, here: Option<u32>) -> Result<Vec<u32>, String> {
        let found = self.locate(place, here)?;
        let is_line = |text: &str| text.parse::<u32>().is_ok();
        if place.is_empty() || is_line(place) || place.rsplit_once(':').is_some_and(|(_, line)| is_line(line))
        {
            return Ok(found);
        }
        Ok(found.into_iter().map(|pc| self.behind_prologue(pc)).collect())
    }

    /// The first statement of a function that is not of the line that declares it, if nothing in between may go elsewhere; as gdb does it, a
    /// second row of that line is where its body begins. Any other statement is its own.
    fn behind_prologue(&self, pc: u32) -> u32 {
        let text = self.text_at(pc);
        let begins = |f: &&dwarf::Function| f.text.contains(&text) && self.is_first(pc);
        let functions = &self.sources.dwarf().functions;
        // Those of a kernel are in its parameter memory from the start.
        let of_function = self.source_variables(pc, 0);
        if !of_function.iter().any(|v| v.parameter && v.space != Some(StateSpace::Param)) {
            return pc;
        }
        let Some(line) = functions.iter().find(begins).and_then(|f| f.line) else { return pc };
        let row = self.frames(pc);
        if row.len() != 1 || row[0].line != line {
            return pc;
        }
        for next in self.statements_from(pc) {
            if self.frames(*next) != row {
                return *next;
            }
            if self.leaves.contains(&self.program.line(*next)) {
                break;
            }
        }
        pc
    }

    /// True of the first statement of a function.
    fn is_first(&self, pc: u32) -> bool {
        self.starts.get(self.own(self.program.function_at(pc))).and_then(|own| own.first()) == Some(&pc)
    }

    /// The operations that a place names: a line of the PTX, `file:line`, a function, a label. In the function that `here` is in, labels
    /// are found first.
    pub fn locate(&self, place: &str, here: Option<u32>) -> Result<Vec<u32>, String> {
        if place.is_empty() {
            return here.map(|pc| vec![pc]).ok_or_else(|| "No default breakpoint location now.".into());
        }
        if let Ok(line) = place.parse() {
            return self.ptx_line(line);
        }
        if let Some((file, line)) = place.rsplit_once(':')
            && let Ok(line) = line.parse()
        {
            return if same_file(file, self.sources.name()) {
                self.ptx_line(line)
            } else {
                self.source_line(file, line)
            };
        }
        let found = self.source_function(place);
        if !found.is_empty() {
            return Ok(found);
        }
        let inside = here.map(|pc| self.function(pc));
        let mut labels: Vec<_> = self.labels.iter().filter(|(_, label, _)| label == place).collect();
        labels.sort_by_key(|(function, ..)| Some(function.as_str()) != inside);
        match labels.first() {
            Some((_, _, line)) => self.ptx_line(*line),
            None => {
                let labels = self.labels.iter().map(|(_, label, _)| label.as_str());
                let of_source = self.sources.dwarf().functions.iter().map(|f| f.name.as_str());
                let names = self.functions().chain(labels).chain(of_source);
                let near = warpsmith_diag::nearest(place, names);
                let hint = near.map_or_else(String::new, |near| format!("  Did you mean \"{near}\"?"));
                Err(format!("Function \"{place}\" not defined.{hint}"))
            }
        }
    }

    /// Where a function starts, and the places that it was inlined at: by the name of the PTX, or by that of the source.
    fn source_function(&self, name: &str) -> Vec<u32> {
        let mut found: Vec<u32> = self.entry(name).into_iter().collect();
        let starts_at = |text: u64| {
            let starts = self.starts.iter().copied();
            starts.filter(|pc| self.text_at(*pc) >= text).min_by_key(|pc| self.text_at(*pc))
        };
        let named = self
            .sources
            .dwarf()
            .functions
            .iter()
            .filter(|f| f.name == name || f.linkage.as_deref() == Some(name));
        found.extend(named.filter_map(|f| starts_at(f.text.start)));
        // An inlined call starts where its chain of calls does.
        let mut before: &[Frame] = &[];
        for pc in &self.starts {
            let chain = self.frames(*pc);
            let calls = chain.iter().enumerate().filter(|(_, frame)| frame.is_in(name));
            for (level, _) in calls {
                let around = &chain[level + 1..];
                let goes_on = before.len() > around.len()
                    && before.ends_with(around)
                    && before[before.len() - around.len() - 1].is_in(name);
                if !goes_on {
                    found.push(*pc);
                }
            }
            before = chain;
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn ptx_line(&self, line: u32) -> Result<Vec<u32>, String> {
        let lines = self.starts.iter().map(|pc| (self.program.line(*pc), *pc));
        let found = lines.filter(|(at, _)| *at >= line).min();
        found.map(|(_, pc)| vec![pc]).ok_or_else(|| format!("No line {line} in file \"{}\".", self.file()))
    }

    /// The first operation of a source line in each function, and in each place that a function was inlined at. Of a line without code, those
    /// of the next one that has some.
    fn source_line(&self, file: &str, line: u32) -> Result<Vec<u32>, String> {
        let mut known = false;
        let mut found: Vec<(u32, u32)> = Vec::new();
        for pc in &self.starts {
            let Some(frame) = self.frames(*pc).first().filter(|f| same_file(file, &f.file)) else { continue };
            known = true;
            if frame.line >= line {
                found.push((frame.line, *pc));
            }
        }
        let Some(first) = found.iter().map(|(line, _)| *line).min() else {
            return Err(match known {
                true => format!("No line {line} in file \"{file}\"."),
                false => format!("No source file named {file}."),
            });
        };
        let mut seen = Vec::new();
        let mut pcs = Vec::new();
        for (_, pc) in found.into_iter().filter(|(line, _)| *line == first) {
            let key = (self.program.function_at(pc), self.frames(pc).get(1..).unwrap_or_default());
            if !seen.contains(&key) {
                seen.push(key);
                pcs.push(pc);
            }
        }
        Ok(pcs)
    }

    /// The lines of the PTX that a source line was compiled to, as ranges.
    pub fn lines_of(&self, file: &str, line: u32) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for pc in &self.starts {
            if self.frames(*pc).first().is_none_or(|f| f.line != line || !same_file(file, &f.file)) {
                continue;
            }
            let at = self.program.line(*pc);
            match ranges.last_mut() {
                Some(last) if self.sources_between(last.end, at) => last.end = at + 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    }

    /// No instruction stands on the lines between.
    fn sources_between(&self, from: u32, to: u32) -> bool {
        from <= to && !self.starts.iter().any(|pc| (from..to).contains(&self.program.line(*pc)))
    }

    /// A register of a function by name. Where several scopes declare the name, the one that it means at `pc`.
    pub fn register(&self, function: FuncId, pc: u32, name: &str) -> Option<&'a NamedReg> {
        let mut same = self.program.registers(function).iter().filter(|r| &*r.name == name);
        let first = same.next();
        let Some(second) = same.next() else { return first };
        // The elements of a vector register have its name and a component.
        let whole = name.split_once('.').map_or(name, |(whole, _)| whole);
        let meant = self.meaning(pc, whole).map(|(_, declarator)| declarator.span.start);
        let mut all = first.into_iter().chain([second]).chain(same);
        all.find(|r| meant.is_some() && r.declared == meant).or(first)
    }

    /// What a name means at an operation, by the scopes around its statement.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only functions have bodies")]
    pub fn meaning(&self, pc: u32, name: &str) -> Option<(&'a Decl, &'a Declarator)> {
        let module = self.module;
        let symbol = module.names().find(name)?;
        let at = self.program.statement_at(pc).span.start;
        let functions = module.items().iter().filter_map(|item| match item {
            Item::Function(id) => Some(*id),
            _ => None,
        });
        let bodies = functions.filter_map(|id| Some((id, module[id].body?)));
        let (function, statement) = bodies.into_iter().find_map(|(id, body)| {
            let statement = body.ids().find(|stmt| module.stmt_span(*stmt).start == at);
            Some((id, statement.filter(|stmt| matches!(module[*stmt], Stmt::Inst(_)))?))
        })?;
        match Scopes::at(module, function, statement).lookup(symbol)?.binding {
            Binding::Variable(decl, declarator) => Some((&module[decl], &module[declarator])),
            Binding::Label(_) | Binding::Function(_) | Binding::List(_) | Binding::Special(_) => None,
        }
    }

    /// The type of a variable or parameter, as the function or the module declares it.
    pub fn variable_type(&self, function: Option<&str>, name: &str) -> Option<Type> {
        self.declared(function, name).map(|(decl, declarator)| self.type_of(decl, declarator))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only variables are declared here")]
    fn declared(&self, function: Option<&str>, name: &str) -> Option<(&'a Decl, &'a Declarator)> {
        let module = self.module;
        let of = |decl: &'a Decl| {
            let mut names = module[decl.names].iter();
            names.find(|d| &module[d.name] == name).map(|d| (decl, d))
        };
        let mut functions = module.functions().filter(|f| Some(&module[f.name]) == function);
        functions.find_map(|f| self.decls(f).find_map(of)).or_else(|| {
            module.items().iter().find_map(|item| match item {
                Item::Variable(id) => of(&module[*id]),
                _ => None,
            })
        })
    }

    /// What a function declares: its parameters, then the variables of its body.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only declarations declare")]
    fn decls(&self, function: &'a Function) -> impl Iterator<Item = &'a Decl> {
        let module = self.module;
        let list = |list: List<Decl>| module[list].iter();
        let body = function.body.map_or(&[][..], |body| &module[body]).iter().filter_map(|stmt| match stmt {
            Stmt::Decl(id) => Some(&module[*id]),
            _ => None,
        });
        list(function.params).chain(list(function.returns)).chain(body)
    }

    /// The variables that a function declares in its body, with their spaces; parameters of calls are left out.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only declarations declare")]
    pub fn locals(&self, function: &str) -> Vec<(&'a str, StateSpace)> {
        let module = self.module;
        let functions = module.functions().filter(|f| &module[f.name] == function);
        let body = functions.filter_map(|f| f.body).flat_map(|body| &module[body]);
        let decls = body.filter_map(|stmt| match stmt {
            Stmt::Decl(id) => Some(&module[*id]),
            _ => None,
        });
        let variables = decls.filter(|d| !matches!(d.space, StateSpace::Reg | StateSpace::Param));
        variables.flat_map(|d| module[d.names].iter().map(|n| (&module[n.name], d.space))).collect()
    }

    /// The parameters of a function, in order.
    pub fn params(&self, function: &str) -> Vec<&'a str> {
        let module = self.module;
        let of = module.functions().find(|f| &module[f.name] == function);
        let decls = of.map_or(&[][..], |f| &module[f.params]);
        decls.iter().flat_map(|d| module[d.names].iter().map(|n| &module[n.name])).collect()
    }

    /// The type that a declaration gives a name.
    pub fn type_of(&self, decl: &Decl, declarator: &Declarator) -> Type {
        let mut ty = match decl.ptr.map(|p| p.to) {
            Some(PtrTo::Space(space)) => Type::Pointer(space, Box::new(Type::Scalar(ScalarType::B8))),
            _ => Type::Scalar(decl.ty),
        };
        if decl.vector > 1 {
            ty = Type::Array(Box::new(ty), decl.vector.into());
        }
        for dim in self.module[declarator.dims].iter().rev() {
            ty = Type::Array(Box::new(ty), dim.unwrap_or(0));
        }
        ty
    }
}

/// The last part of a path.
pub fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A file as someone names it is that of a path: they are equal from the last part back.
pub fn same_file(named: &str, path: &str) -> bool {
    let mut parts = path.rsplit('/');
    named.rsplit('/').all(|part| parts.next() == Some(part))
}
