//! Debug information: LLVM's nodes of metadata become units, types and subprograms of the IR, its records bindings of variables.
//!
//! What a function names is made before its body is built ([`Importer::debug`]); scopes and variables are made as instructions and records
//! come by. A node that makes no sense is left out: debug information never keeps a program from being imported.

mod make;
mod nodes;

use super::Importer;
use super::function::Builder;
use super::symbols::Site;
use crate::module::body::{Body, DebugRecord, Inst, Location};
use crate::module::constants::ConstantKind;
use crate::module::metadata::{Metadata, code};
use crate::module::{Module, ValueId};
use std::path::Path;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::Place;
use warpsmith_ir::debug::{
    Composite, DebugBuilder, DebugInfo, DebugType, Declared, Encoding, Enumerator, Member, Piece, ScopeKind,
    Storage, VariableKind,
};
use warpsmith_ir::{
    self as ir, DebugTypeId, DebugVar, FileId, InstData, LocData, ScopeId, SubprogramId, UnitId,
};
use warpsmith_isa::StateSpace;

/// More levels of types or scopes than this are rejected.
const MAX_DEPTH: u32 = 64;

/// What has been made of the nodes of all modules.
#[derive(Default)]
pub(super) struct Made {
    files: FxHashMap<Key, FileId>,
    units: FxHashMap<Key, UnitId>,
    types: FxHashMap<Key, Option<DebugTypeId>>,
    subprograms: FxHashMap<Key, SubprogramId>,
    /// The functions that have been imported.
    functions: usize,
}

/// A node: one of a module, or one of a function, whose numbers begin again in each behind those of its module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Module(usize, u64),
    Function(usize, u64),
}

impl Made {
    /// The key of a node of a module, or of the function that is imported now.
    fn key(&self, index: usize, module: &Module<'_>, id: u64) -> Key {
        if id < module.metadata.all.len() as u64 {
            Key::Module(index, id)
        } else {
            Key::Function(self.functions, id)
        }
    }
}

/// The debug information of a function that is being built.
pub(super) struct Scopes {
    root: ScopeId,
    /// By scope and place of the call that was inlined, zero for none.
    scopes: FxHashMap<(u64, u32), Option<ScopeId>>,
    variables: FxHashMap<(u64, u32), Option<DebugVar>>,
    /// The next of the body's records.
    next: usize,
}

/// The nodes of a function and its module.
#[derive(Clone, Copy)]
struct Nodes<'n, 'a> {
    module: &'n Module<'a>,
    body: &'n Body,
}

/// The number that a field names, if it names any.
fn field(ops: &[u64], n: usize) -> Option<u64> {
    ops.get(n)?.checked_sub(1)
}

fn small(ops: &[u64], n: usize) -> u32 {
    ops.get(n).and_then(|n| u32::try_from(*n).ok()).unwrap_or(0)
}

/// Makes units, types and subprograms.
struct Maker<'n, 'a, 'm> {
    nodes: Nodes<'n, 'a>,
    index: usize,
    made: &'n mut Made,
    debug: DebugBuilder<'m>,
    /// Composite types whose members are not made yet.
    pending: Vec<(u64, DebugTypeId)>,
}

/// Leaves out the members that the verifier would refuse, as those of types that are not understood.
fn check_members(info: &mut DebugInfo, composites: &[DebugTypeId]) {
    for &id in composites {
        let Some(DebugType::Composite { size, members, .. }) = info.types.get(id) else { continue };
        let fits = |member: &Member| {
            let bytes = info.size_of(member.ty).unwrap_or(0);
            let within = member.offset.checked_add(bytes).is_some_and(|end| end <= *size);
            within
                && member.bits.is_none_or(|(width, from)| {
                    width > 0 && u64::from(width) + u64::from(from) <= bytes.saturating_mul(8)
                })
        };
        let kept: Vec<Member> = members.iter().filter(|member| fits(member)).cloned().collect();
        if let Some(DebugType::Composite { members, .. }) = info.types.get_mut(id) {
            *members = kept;
        }
    }
}

/// Where the source of the program has an instruction: the place itself, then the calls that inlined it.
pub(super) fn places(module: &Module<'_>, body: &Body, inst: &Inst) -> Vec<Place> {
    let nodes = Nodes { module, body };
    let mut places = Vec::new();
    let Some([line, column, scope, mut inlined]) = inst.loc else { return places };
    let mut next = u64::from(scope).checked_sub(1).map(|scope| (line, column, scope));
    while let Some((line, column, scope)) = next.take() {
        if let Some(file) = nodes.path(scope) {
            places.push(Place { file, line, column });
        }
        if places.len() > MAX_DEPTH as usize {
            break;
        }
        if let Some(call) = u64::from(inlined).checked_sub(1)
            && let Some(place) = nodes.node(call, code::LOCATION)
        {
            inlined = small(place, 4);
            next = place.get(3).map(|scope| (small(place, 1), small(place, 2), *scope));
        }
    }
    places
}

/// Says of variables that they are nowhere where they are bound to what is not there yet: LLVM's records may name values that other ways lead around.
pub(super) fn drop_early_bindings(func: &mut ir::Function) {
    let Some(debug) = func.debug.as_ref().filter(|_| !func.layout.has_no_records()) else { return };
    let dominators = ir::DominatorTree::new(func);
    let mut early = Vec::new();
    for block in func.layout.blocks() {
        let mut defined: FxHashSet<ir::Inst> = FxHashSet::default();
        for inst in func.layout.insts(block) {
            for id in func.layout.records(inst) {
                let Some(value) = debug.bindings.get(*id).and_then(|binding| binding.storage.value()) else {
                    continue;
                };
                let is_there = match func.dfg.def(func.dfg.resolve(value)) {
                    ir::ValueDef::Result(def, _) => match func.layout.block_of(def) {
                        Some(at) if at == block => defined.contains(&def),
                        Some(at) => dominators.dominates(at, block),
                        None => true,
                    },
                    ir::ValueDef::Param(at, _) => dominators.dominates(at, block),
                    ir::ValueDef::Alias(_) | ir::ValueDef::Detached => true,
                };
                early.extend((!is_there).then_some(*id));
            }
            defined.insert(inst);
        }
    }
    for id in early {
        if let Some(binding) = func.debug.as_mut().and_then(|debug| debug.bindings.get_mut(id)) {
            binding.storage = Storage::OptimizedOut;
        }
    }
}

impl Importer<'_> {
    /// Makes what a function's debug information names; the function's own subprogram, if it has one.
    pub(super) fn debug(&mut self, site: Site, body: &Body, out: &mut ir::Module) -> Option<SubprogramId> {
        let module = &self.modules[site.module].1;
        let kind = module.metadata.kind("dbg")?;
        let own = body.function_attachments.iter().find(|(of, _)| *of == kind)?.1;
        self.made.functions += 1;
        let mut maker = Maker {
            nodes: Nodes { module, body },
            index: site.module,
            made: &mut self.made,
            debug: DebugBuilder::new(out),
            pending: Vec::new(),
        };
        let own = maker.subprogram(own)?;
        let mut seen = FxHashSet::default();
        let mut scopes: Vec<u64> = Vec::new();
        for inst in &body.insts {
            if let Some([_, _, scope, inlined]) = inst.loc {
                scopes.extend(u64::from(scope).checked_sub(1));
                scopes.extend(u64::from(inlined).checked_sub(1));
            }
        }
        for record in &body.debug_records {
            scopes.extend([record.variable, record.loc]);
        }
        while let Some(id) = scopes.pop() {
            if !seen.insert(id) {
                continue;
            }
            let Some((kind, ops)) = maker.nodes.kind(id) else { continue };
            match kind {
                code::SUBPROGRAM => _ = maker.subprogram(id),
                code::LEXICAL_BLOCK | code::LEXICAL_BLOCK_FILE => {
                    _ = field(ops, 2).and_then(|file| maker.file(file));
                    scopes.extend(field(ops, 1));
                }
                code::LOCATION => {
                    scopes.extend(ops.get(3));
                    scopes.extend(field(ops, 4));
                }
                code::LOCAL_VARIABLE => {
                    _ = field(ops, 3).and_then(|file| maker.file(file));
                    _ = field(ops, 5).and_then(|ty| maker.ty(ty, 0));
                    scopes.extend(field(ops, 1));
                }
                _ => {}
            }
        }
        let composites = maker.finish();
        if let Some(info) = &mut out.debug {
            check_members(info, &composites);
        }
        Some(own)
    }
}

impl Scopes {
    pub fn new(root: ScopeId) -> Self {
        Scopes { root, scopes: FxHashMap::default(), variables: FxHashMap::default(), next: 0 }
    }
}

impl Builder<'_, '_, '_> {
    /// The place of the instructions that are made from now on.
    pub fn locate(&mut self, inst: &Inst) {
        if self.scopes.is_none() {
            return;
        }
        let place = inst.loc.and_then(|[line, column, scope, inlined]| {
            let scope = u64::from(scope).checked_sub(1)?;
            let file = self.file_of(scope, 0)?;
            let scope = self.scope_of(scope, inlined, 0)?;
            Some(LocData { scope: Some(scope), ..LocData::new(file, line, column) })
        });
        self.b.set_loc(place);
    }

    /// The bindings in front of an instruction.
    pub fn bind_before(&mut self, n: u32) {
        let body = self.body;
        loop {
            let Some(scopes) = &mut self.scopes else { return };
            let Some(record) = body.debug_records.get(scopes.next).filter(|record| record.inst <= n) else {
                return;
            };
            scopes.next += 1;
            if record.inst == n {
                let inlined =
                    self.nodes().node(record.loc, code::LOCATION).map_or(0, |place| small(place, 4));
                _ = self.bind(record, inlined);
            }
        }
    }

    /// Skips the records of a block that is not built where it stands.
    pub fn begin_records(&mut self, n: u32) {
        let first = self.body.debug_records.partition_point(|record| record.inst < n);
        if let Some(scopes) = &mut self.scopes {
            scopes.next = first;
        }
    }

    fn nodes(&self) -> Nodes<'_, '_> {
        Nodes { module: self.module(), body: self.body }
    }

    fn key(&self, id: u64) -> Key {
        self.importer.made.key(self.site.module, self.module(), id)
    }

    /// The file of a scope.
    fn file_of(&self, id: u64, depth: u32) -> Option<FileId> {
        let (kind, ops) = self.nodes().kind(id)?;
        let of = match kind {
            code::SUBPROGRAM => field(ops, 4),
            code::LEXICAL_BLOCK | code::LEXICAL_BLOCK_FILE => field(ops, 2),
            _ => None,
        };
        let known = of.and_then(|file| self.importer.made.files.get(&self.key(file)).copied());
        match (known, kind) {
            (None, code::LEXICAL_BLOCK | code::LEXICAL_BLOCK_FILE) if depth < MAX_DEPTH => {
                self.file_of(field(ops, 1)?, depth + 1)
            }
            (known, _) => known,
        }
    }

    /// The scope of a node, where the function that it is in was inlined by the call at a place.
    fn scope_of(&mut self, id: u64, inlined: u32, depth: u32) -> Option<ScopeId> {
        if let Some(known) = self.scopes.as_ref()?.scopes.get(&(id, inlined)) {
            return *known;
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let made = self.make_scope(id, inlined, depth);
        self.scopes.as_mut()?.scopes.insert((id, inlined), made);
        made
    }

    fn make_scope(&mut self, id: u64, inlined: u32, depth: u32) -> Option<ScopeId> {
        let (kind, ops) = self.nodes().kind(id)?;
        match kind {
            code::SUBPROGRAM => {
                let Some(call) = u64::from(inlined).checked_sub(1) else {
                    return self.scopes.as_ref().map(|scopes| scopes.root);
                };
                let of = *self.importer.made.subprograms.get(&self.key(id))?;
                let place = self.nodes().node(call, code::LOCATION)?;
                let (line, column, scope) = (small(place, 1), small(place, 2), *place.get(3)?);
                let around = small(place, 4);
                let file = self.file_of(scope, 0)?;
                let parent = self.scope_of(scope, around, depth + 1)?;
                Some(self.b.create_scope(ScopeKind::Inlined(of), parent, file, line, column))
            }
            code::LEXICAL_BLOCK => {
                let (around, line, column) = (field(ops, 1)?, small(ops, 3), small(ops, 4));
                let file = self.file_of(id, 0)?;
                let parent = self.scope_of(around, inlined, depth + 1)?;
                Some(self.b.create_scope(ScopeKind::Block, parent, file, line, column))
            }
            code::LEXICAL_BLOCK_FILE => {
                let around = field(ops, 1)?;
                self.scope_of(around, inlined, depth + 1)
            }
            _ => None,
        }
    }

    fn variable(&mut self, id: u64, inlined: u32) -> Option<DebugVar> {
        if let Some(known) = self.scopes.as_ref()?.variables.get(&(id, inlined)) {
            return *known;
        }
        let made = self.make_variable(id, inlined);
        self.scopes.as_mut()?.variables.insert((id, inlined), made);
        made
    }

    fn make_variable(&mut self, id: u64, inlined: u32) -> Option<DebugVar> {
        let ops = self.nodes().node(id, code::LOCAL_VARIABLE)?;
        let name = self.nodes().text(ops, 2)?.to_owned();
        let kind = match small(ops, 6) {
            0 => VariableKind::Local,
            n => VariableKind::Parameter(n),
        };
        let (scope, line) = (field(ops, 1)?, small(ops, 4));
        let ty = (*self.importer.made.types.get(&self.key(field(ops, 5)?))?)?;
        let file = self.file_of(scope, 0)?;
        let scope = self.scope_of(scope, inlined, 0)?;
        Some(self.b.declare_variable(&name, kind, ty, scope, Declared { file, line }))
    }

    /// Says where a variable is from here on.
    pub fn bind(&mut self, record: &DebugRecord, inlined: u32) -> Option<()> {
        let variable = self.variable(record.variable, inlined)?;
        let expression = self.nodes().node(record.expression, code::EXPRESSION).unwrap_or(&[]);
        let how = expression_of(expression.get(1..).unwrap_or(&[]));
        let storage = how.and_then(|how| self.storage(record, how)).unwrap_or(Storage::OptimizedOut);
        let piece = how.and_then(|how| how.piece);
        if piece.is_some_and(|piece| !self.has_piece(variable, piece)) {
            return None;
        }
        self.b.bind_variable(variable, piece, storage);
        Some(())
    }

    /// True if a variable's type is known to be large enough for a piece.
    fn has_piece(&self, variable: DebugVar, piece: Piece) -> bool {
        let ty = self.b.func().debug.as_ref().map(|debug| debug.variables[variable].ty);
        let size = ty.zip(self.b.module().debug.as_ref()).and_then(|(ty, shared)| shared.size_of(ty));
        size.is_some_and(|size| u64::from(piece.offset) + u64::from(piece.size) <= size)
    }

    fn storage(&mut self, record: &DebugRecord, how: How) -> Option<Storage> {
        let value = match record.location {
            Location::Value(value) => value,
            Location::Metadata(id) => match self.nodes().get(id)? {
                Metadata::Value(_, value) => *value,
                Metadata::String(_) | Metadata::Tuple(_) | Metadata::Node(..) => return None,
            },
        };
        if let Some(number) = self.nodes().integer(value) {
            return (!record.is_address && !how.deref && how.offset == 0)
                .then_some(Storage::Constant(number));
        }
        let constant = self.find_constant(value);
        if constant.is_some_and(|c| matches!(c.kind, ConstantKind::Undef | ConstantKind::Poison)) {
            return None;
        }
        // A value that comes later in the text may not be there yet.
        let values = self.value(value).ok()?;
        let [value] = values.as_slice() else { return None };
        let in_memory = record.is_address || how.deref;
        if !in_memory {
            return (how.offset == 0).then_some(Storage::Value(*value));
        }
        if record.is_address && how.deref || !self.type_of(*value).is_ptr() {
            return None;
        }
        let slot = match self.b.func().dfg.def_data(*value) {
            Some(InstData::StackAddr { slot, offset }) => Some((*slot, *offset)),
            _ => None,
        };
        Some(match slot {
            Some((slot, offset)) => Storage::Slot(slot, offset.checked_add(how.offset)?),
            None => Storage::Memory(*value, how.offset),
        })
    }
}

/// What of an expression of DWARF is understood.
#[derive(Clone, Copy, Default)]
struct How {
    offset: i32,
    deref: bool,
    piece: Option<Piece>,
}

fn expression_of(ops: &[u64]) -> Option<How> {
    const DEREF: u64 = 0x06;
    const PLUS_UCONST: u64 = 0x23;
    const FRAGMENT: u64 = 0x1000;
    let mut how = How::default();
    let mut rest = ops;
    while let Some((op, after)) = rest.split_first() {
        rest = match (*op, after) {
            (DEREF, after) if !how.deref => {
                how.deref = true;
                after
            }
            (PLUS_UCONST, [bytes, after @ ..]) => {
                how.offset = how.offset.checked_add(i32::try_from(*bytes).ok()?)?;
                after
            }
            (FRAGMENT, [offset, size, after @ ..]) => {
                if !offset.is_multiple_of(8) || !size.is_multiple_of(8) {
                    return None;
                }
                let bytes = |bits: u64| u32::try_from(bits / 8).ok();
                how.piece = Some(Piece { offset: bytes(*offset)?, size: bytes(*size)? });
                after
            }
            _ => return None,
        };
    }
    Some(how)
}
