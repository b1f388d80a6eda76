//! From the tree to what is executed: names by a walk through scopes of its own, instructions with their operands resolved.

use super::Stop;
use super::memory::{FUNCTIONS, GLOBALS};
use warpsmith_base::FxHashMap;
use warpsmith_isa::{Mnemonic, ScalarType, StateSpace};
use warpsmith_ptx::{Const, Decl, FunctionKind, Id, Init, Item, Module, Operand, Stmt, Symbol};

/// An operand.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Reg(usize),
    Int(u64),
    F32(u32),
    F64(u64),
    /// A special register, with its component.
    Special(String),
    /// The address of a variable, in its space.
    Address(StateSpace, u64),
    /// The address of an element of a variable (6.4.2): the variable's own, the bytes of an element, which one.
    Element(Box<Op>, u32, Box<Op>),
    /// A parameter of a call, or of the function.
    Slot(usize),
    /// A function.
    Function(usize),
    Label(usize),
    Targets(usize),
    /// What a call says of its callee, and nothing else needs.
    Prototype,
    Vector(Vec<Op>),
    Group(Vec<Op>),
    Pair(Vec<Op>),
    Not(Box<Op>),
    Neg(Box<Op>),
    Sum(Box<Op>, i64),
    At(Box<Op>, i64),
    Sink,
}

#[derive(Clone, Debug)]
pub(super) struct Inst {
    pub guard: Option<(usize, bool)>,
    pub mnemonic: Mnemonic,
    pub operands: Vec<Op>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Func {
    pub name: String,
    pub entry: bool,
    pub insts: Vec<Inst>,
    /// The width of each register.
    pub registers: Vec<u32>,
    /// The size of each parameter that the body declares, its own first: what comes back, then what is given.
    pub slots: Vec<usize>,
    pub returns: usize,
    pub params: usize,
    /// The offsets of the parameters of a kernel are those of their slots.
    pub local_bytes: u64,
    pub labels: FxHashMap<usize, usize>,
    pub targets: FxHashMap<usize, Vec<usize>>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Loaded {
    pub funcs: Vec<Func>,
    pub globals: Vec<u8>,
    /// The variables in memory that all threads see: place and size.
    pub variables: FxHashMap<String, (u64, usize)>,
    pub shared_bytes: u64,
}

#[derive(Clone, Debug)]
enum Sym {
    Reg(usize),
    Parts(Vec<usize>),
    /// A variable: its space, its place there, the bytes of an element.
    Memory(StateSpace, u64, u32),
    Slot(usize),
    Label(usize),
    Targets(usize),
    Prototype,
    Function(usize),
}

struct Loader<'m> {
    module: &'m Module,
    scopes: Vec<FxHashMap<String, Sym>>,
    loaded: Loaded,
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.into()))
}

/// Loads a valid module.
pub(super) fn load(module: &Module) -> Result<Loaded, Stop> {
    let mut loader = Loader { module, scopes: vec![FxHashMap::default()], loaded: Loaded::default() };
    for function in module.functions() {
        let name = module[function.name].to_owned();
        if !matches!(loader.scopes[0].get(&name), Some(Sym::Function(_))) {
            let n = loader.loaded.funcs.len();
            loader.loaded.funcs.push(Func { name: name.clone(), ..Func::default() });
            loader.scopes[0].insert(name, Sym::Function(n));
        }
    }
    let mut inits = Vec::new();
    for item in module.items() {
        if let Item::Variable(decl) = *item {
            loader.variables(&module[decl], &mut inits, None)?;
        }
    }
    for (place, init, ty) in inits {
        loader.initialise(place, init, ty)?;
    }
    for function in module.functions() {
        if let Some(body) = function.body {
            let name = module[function.name].to_owned();
            let Some(Sym::Function(n)) = loader.scopes[0].get(&name).cloned() else { continue };
            let mut func = Func { name, entry: function.kind == FunctionKind::Entry, ..Func::default() };
            loader.scopes.push(FxHashMap::default());
            for (list, returns) in [(function.returns, true), (function.params, false)] {
                for decl in list.ids() {
                    loader.parameters(&module[decl], &mut func)?;
                    let count = module[decl].names.len();
                    *(if returns { &mut func.returns } else { &mut func.params }) += count;
                }
            }
            loader.body(&mut func, body.range().collect(), &body.ids().collect::<Vec<_>>())?;
            loader.scopes.pop();
            loader.loaded.funcs[n] = func;
        }
    }
    Ok(loader.loaded)
}

impl Loader<'_> {
    fn bind(&mut self, name: String, sym: Sym) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, sym);
        }
    }

    fn find(&self, name: &str) -> Option<&Sym> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn size(&self, decl: &Decl, dims: &[Option<u64>]) -> u64 {
        let element = u64::from(decl.ty.bits().div_ceil(8)) * u64::from(decl.vector.max(1));
        dims.iter().fold(element, |size, dim| size * dim.unwrap_or(0))
    }

    fn align(&self, decl: &Decl) -> u64 {
        let natural = u64::from(decl.ty.bits().div_ceil(8)) * u64::from(decl.vector.max(1));
        decl.align.map_or(natural, u64::from).max(1)
    }

    /// Variables in memory; those of a function's local memory are counted there.
    fn variables(
        &mut self,
        decl: &Decl,
        inits: &mut Vec<(u64, Init, ScalarType)>,
        func: Option<&mut Func>,
    ) -> Result<(), Stop> {
        let module = self.module;
        let mut local = func;
        for declarator in &module[decl.names] {
            let name = module[declarator.name].to_owned();
            let bytes = self.size(decl, &module[declarator.dims]);
            let align = self.align(decl);
            let place = match decl.space {
                StateSpace::Global | StateSpace::Const => {
                    let at = (self.loaded.globals.len() as u64).next_multiple_of(align.max(16));
                    self.loaded.globals.resize((at + bytes) as usize, 0);
                    self.loaded.variables.insert(name.clone(), (at, bytes as usize));
                    if let Some(init) = declarator.init {
                        inits.push((at, module[init], decl.ty));
                    }
                    GLOBALS + at
                }
                StateSpace::Shared => {
                    let at = self.loaded.shared_bytes.next_multiple_of(align.max(16));
                    self.loaded.shared_bytes = at + bytes;
                    at
                }
                StateSpace::Local => match local.as_deref_mut() {
                    Some(func) => {
                        let at = func.local_bytes.next_multiple_of(align.max(16));
                        func.local_bytes = at + bytes;
                        at
                    }
                    None => return unsupported("local memory of a module"),
                },
                StateSpace::Generic
                | StateSpace::Reg
                | StateSpace::Sreg
                | StateSpace::Param
                | StateSpace::Tex => return unsupported(format!("a variable in .{}", decl.space.name())),
            };
            self.bind(name, Sym::Memory(decl.space, place, decl.ty.bits().div_ceil(8)));
        }
        Ok(())
    }

    fn initialise(&mut self, place: u64, init: Init, ty: ScalarType) -> Result<(), Stop> {
        let module = self.module;
        let bytes = ty.bits().div_ceil(8) as usize;
        let mut values: Vec<u64> = Vec::new();
        match init {
            Init::Bytes(list) => values.extend(module[list].iter().map(|b| u64::from(*b))),
            Init::Ints(list) => values.extend(&module[list]),
            Init::List(list) => {
                for &element in &module[list] {
                    values.push(self.initial(element, ty)?);
                }
            }
            one @ (Init::Const(_) | Init::Address { .. } | Init::Mask(_) | Init::Field { .. }) => {
                values.push(self.initial(one, ty)?)
            }
        }
        for (n, value) in values.into_iter().enumerate() {
            let at = place as usize + n * bytes;
            match self.loaded.globals.get_mut(at..at + bytes) {
                Some(memory) => memory.copy_from_slice(&value.to_le_bytes()[..bytes]),
                None => return unsupported("an initial value that is longer than its variable"),
            }
        }
        Ok(())
    }

    fn initial(&self, init: Init, ty: ScalarType) -> Result<u64, Stop> {
        match init {
            Init::Const(Const::Int { bits, .. }) if !ty.is_float() => Ok(bits),
            Init::Const(Const::F32(bits)) if ty == ScalarType::F32 => Ok(bits.into()),
            Init::Const(Const::F64(bits)) if ty == ScalarType::F64 => Ok(bits),
            Init::Const(Const::F64(bits)) if ty == ScalarType::F32 => {
                Ok((f64::from_bits(bits) as f32).to_bits().into())
            }
            Init::Address { name, offset, .. } => match self.find(&self.module[name]) {
                Some(Sym::Memory(StateSpace::Global | StateSpace::Const, place, _)) => {
                    Ok(place.wrapping_add(offset as u64))
                }
                Some(Sym::Function(n)) => Ok(FUNCTIONS + 16 * *n as u64),
                _ => unsupported("an initial address"),
            },
            Init::Const(_)
            | Init::Mask(_)
            | Init::List(_)
            | Init::Bytes(_)
            | Init::Ints(_)
            | Init::Field { .. } => unsupported("an initial value"),
        }
    }

    /// Parameters, each a piece of memory of its own.
    fn parameters(&mut self, decl: &Decl, func: &mut Func) -> Result<(), Stop> {
        let module = self.module;
        for declarator in &module[decl.names] {
            let name = module[declarator.name].to_owned();
            if decl.space == StateSpace::Reg {
                return unsupported("parameters in registers");
            }
            let bytes = self.size(decl, &module[declarator.dims]);
            let slot = func.slots.len();
            func.slots.push(bytes as usize);
            self.bind(name, Sym::Slot(slot));
        }
        Ok(())
    }

    fn body(&mut self, func: &mut Func, places: Vec<usize>, ids: &[Id<Stmt>]) -> Result<(), Stop> {
        let module = self.module;
        self.scopes.push(FxHashMap::default());
        self.labels(&places, ids, 0);
        let mut depth = 1;
        for (n, &id) in ids.iter().enumerate() {
            match module[id] {
                Stmt::Open => {
                    self.scopes.push(FxHashMap::default());
                    self.labels(&places[n + 1..], &ids[n + 1..], 0);
                    depth += 1;
                }
                Stmt::Close => {
                    self.scopes.pop();
                    depth -= 1;
                }
                Stmt::Decl(decl) => {
                    let decl = &module[decl];
                    match decl.space {
                        StateSpace::Reg => self.registers(decl, func),
                        StateSpace::Param => self.parameters(decl, func)?,
                        StateSpace::Generic
                        | StateSpace::Sreg
                        | StateSpace::Const
                        | StateSpace::Global
                        | StateSpace::Local
                        | StateSpace::Shared
                        | StateSpace::Tex => {
                            let mut inits = Vec::new();
                            self.variables(decl, &mut inits, Some(func))?;
                            for (place, init, ty) in inits {
                                self.initialise(place, init, ty)?;
                            }
                        }
                    }
                }
                Stmt::Label(_) => {
                    func.labels.insert(places[n], func.insts.len());
                }
                Stmt::BranchTargets { targets, .. } => {
                    let mut all = Vec::new();
                    for target in &module[targets] {
                        match self.find(&module[target.name]) {
                            Some(Sym::Label(place)) => all.push(*place),
                            _ => return unsupported("a branch target that is not a label"),
                        }
                    }
                    func.targets.insert(places[n], all);
                }
                Stmt::Inst(inst) => {
                    let mnemonic = match Mnemonic::parse(&module[inst.mnemonic]) {
                        Ok(mnemonic) => mnemonic,
                        Err(_) => return unsupported(&module[inst.mnemonic]),
                    };
                    let guard = match inst.guard {
                        Some(guard) => match self.find(&module[guard.predicate()]) {
                            Some(Sym::Reg(register)) => Some((*register, guard.negated())),
                            _ => return unsupported("a guard that is not a register"),
                        },
                        None => None,
                    };
                    let operands = inst.operands.ids().map(|id| self.operand(module[id]));
                    let operands = operands.collect::<Result<Vec<Op>, Stop>>()?;
                    func.insts.push(Inst { guard, mnemonic, operands });
                }
                Stmt::CallTargets { .. } | Stmt::CallPrototype(_) => {}
                Stmt::Loc(_) | Stmt::LocIntermediate(_) | Stmt::Pragma(_) | Stmt::Target(_) => {}
            }
        }
        for _ in 0..depth {
            self.scopes.pop();
        }
        Ok(())
    }

    /// Binds the labels of the scope that begins here: they can be named before they stand there.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other statements name nothing")]
    fn labels(&mut self, places: &[usize], ids: &[Id<Stmt>], mut depth: usize) {
        let module = self.module;
        for (&place, &id) in places.iter().zip(ids) {
            match module[id] {
                Stmt::Open => depth += 1,
                Stmt::Close if depth == 0 => return,
                Stmt::Close => depth -= 1,
                Stmt::Label(name) if depth == 0 => self.bind(module[name].to_owned(), Sym::Label(place)),
                Stmt::BranchTargets { name, .. } if depth == 0 => {
                    self.bind(module[name].to_owned(), Sym::Targets(place));
                }
                Stmt::CallTargets { name, .. } if depth == 0 => {
                    self.bind(module[name].to_owned(), Sym::Prototype);
                }
                Stmt::CallPrototype(id) if depth == 0 => {
                    self.bind(module[module[id].name].to_owned(), Sym::Prototype);
                }
                _ => {}
            }
        }
    }

    fn registers(&mut self, decl: &Decl, func: &mut Func) {
        let module = self.module;
        for declarator in &module[decl.names] {
            let name = &module[declarator.name];
            let names: Vec<String> = match declarator.count {
                Some(count) => (0..count).map(|n| format!("{name}{n}")).collect(),
                None => vec![name.to_owned()],
            };
            for name in names {
                let first = func.registers.len();
                let lanes = usize::from(decl.vector.max(1));
                func.registers.extend(std::iter::repeat_n(decl.ty.bits(), lanes));
                let sym = match lanes {
                    1 => Sym::Reg(first),
                    lanes => Sym::Parts((first..first + lanes).collect()),
                };
                self.bind(name, sym);
            }
        }
    }

    fn name(&self, name: Symbol) -> Result<Op, Stop> {
        if name == Symbol::SINK {
            return Ok(Op::Sink);
        }
        let text = &self.module[name];
        Ok(match self.find(text) {
            Some(Sym::Reg(register)) => Op::Reg(*register),
            Some(Sym::Parts(all)) => Op::Vector(all.iter().map(|r| Op::Reg(*r)).collect()),
            Some(Sym::Memory(space, place, _)) => Op::Address(*space, *place),
            Some(Sym::Slot(slot)) => Op::Slot(*slot),
            Some(Sym::Label(place)) => Op::Label(*place),
            Some(Sym::Targets(place)) => Op::Targets(*place),
            Some(Sym::Prototype) => Op::Prototype,
            Some(Sym::Function(n)) => Op::Function(*n),
            None if text.starts_with('%') => Op::Special(text.to_owned()),
            None => return unsupported(format!("the name `{text}`")),
        })
    }

    fn operand(&self, operand: Operand) -> Result<Op, Stop> {
        let module = self.module;
        let all = |list| -> Result<Vec<Op>, Stop> {
            let ids: warpsmith_ptx::List<Operand> = list;
            ids.ids().map(|id| self.operand(module[id])).collect()
        };
        Ok(match operand {
            Operand::Name(name) => self.name(name)?,
            Operand::Const(Const::Int { bits, .. }) => Op::Int(bits),
            Operand::Const(Const::F32(bits)) => Op::F32(bits),
            Operand::Const(Const::F64(bits)) => Op::F64(bits),
            Operand::Component { name, selector } => {
                let (text, part) = (&module[name], &module[selector]);
                let at = match part {
                    "x" | "r" => 0,
                    "y" | "g" => 1,
                    "z" | "b" => 2,
                    "w" | "a" => 3,
                    _ => usize::MAX,
                };
                match self.find(text) {
                    Some(Sym::Parts(all)) if at < all.len() => Op::Reg(all[at]),
                    None => Op::Special(format!("{text}.{part}")),
                    Some(_) => return unsupported(format!("`.{part}` of a register")),
                }
            }
            Operand::Offset { name, offset } => Op::Sum(Box::new(self.name(name)?), offset),
            Operand::AddressName(name) => Op::At(Box::new(self.name(name)?), 0),
            Operand::Address { name, offset } => Op::At(Box::new(self.name(name)?), offset),
            Operand::AddressConst(place) => Op::At(Box::new(Op::Int(place)), 0),
            Operand::Vector(list) => Op::Vector(all(list)?),
            Operand::Group(list) => Op::Group(all(list)?),
            Operand::Pair(list) => Op::Pair(all(list)?),
            Operand::Not(id) => Op::Not(Box::new(self.operand(module[id])?)),
            Operand::Neg(id) => Op::Neg(Box::new(self.operand(module[id])?)),
            Operand::Index(list) => {
                let &[Operand::Name(name), index] = &module[list] else { return unsupported("an index") };
                let Some(Sym::Memory(_, _, bytes)) = self.find(&module[name]) else {
                    return unsupported("an index of what is not a variable");
                };
                let element = Op::Element(Box::new(self.name(name)?), *bytes, Box::new(self.operand(index)?));
                Op::At(Box::new(element), 0)
            }
            Operand::Bracket(_) | Operand::Unified(_) => {
                return unsupported("an operand with brackets");
            }
        })
    }
}
