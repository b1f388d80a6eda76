//! Traces: what every instruction of a run did, one JSON object per line.
//!
//! The first line describes the launch, the last its end. Between them stands a line for each instruction that a warp, or the part of it that
//! is together, executes:
//!
//! ```json
//! {"n":12,"block":[0,0,0],"warp":0,"mask":"0xffffffff","line":17,"op":"ld.global.f32",
//!  "access":[{"kind":"load","space":"global","bytes":4,"addresses":["0x..",".."]}],
//!  "writes":[{"reg":"%f1","type":"f32","bits":["0x3f800000",".."]}]}
//! ```
//!
//! `mask` names the lanes that execute it, `addresses` and `bits` have an element for each of them from the lowest lane on; where all elements are
//! equal, there is only one. Stores have the stored `values` in their access, branches the lanes that jump as `taken`. Lines with an `event`
//! are of other kinds: `launch`, `end`, `result` for what an instruction gives later because it waits for others, `transfer` for stages of
//! asynchronous copies, `leave` for threads that leave a barrier.

mod diff;
pub mod explore;
mod filter;

pub use diff::{Difference, TraceError, diff};
pub use filter::{Condition, Filter, Position};

use crate::Sources;
use crate::check::map::MemoryMap;
use crate::dwarf::Place;
use crate::lanes::lanes_of;
use serde_json::{Map, Value, json};
use smallvec::SmallVec;
use std::io::{self, Write};
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Access, FuncId, NamedReg, Reg};
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, LaunchView, Observer, OperationKind, Registers, Stage, Sync,
};
use warpsmith_interp::{Fault, Program};
use warpsmith_isa::{Class, StateSpace};

/// Writes a trace.
///
/// ```
/// use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_ptx::ValidatedModule;
/// use warpsmith_watch::trace::{Filter, Trace};
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\nret;\n}\n";
/// let module = ValidatedModule::parse(text).unwrap();
/// let program = Program::load(&module).unwrap();
/// let mut trace = Trace::new(Vec::new(), Filter::new(["thread=1-2".parse().unwrap(), "line=6".parse().unwrap()]));
/// Device::new().launch_observed(&program, &Launch::new("k").block([8, 1, 1]), &mut trace).unwrap();
/// let text = String::from_utf8(trace.finish().unwrap()).unwrap();
/// assert_eq!(
///     text.lines().nth(1).unwrap(),
///     r#"{"n":0,"block":[0,0,0],"warp":0,"mask":"0x00000006","line":6,"op":"mov.u32","writes":[{"reg":"%r","type":"u32","bits":["0x1","0x2"]}]}"#
///         .replace("u32\",\"bits", "b32\",\"bits")
/// );
/// ```
pub struct Trace<W> {
    out: W,
    filter: Filter,
    failed: Option<io::Error>,
    /// Instructions traced so far.
    count: u64,
    grid: [u32; 3],
    block: [u32; 3],
    kernel: bool,
    /// Which statements are traced.
    wanted: Vec<bool>,
    names: FxHashMap<FuncId, FxHashMap<Reg, NamedReg>>,
    /// What lines and registers are in the source.
    sources: Option<Sources>,
    /// The memory of the launch, where the source is known.
    map: Option<MemoryMap>,
    /// The variables that statements change, by the registers that they write.
    variables: FxHashMap<(u32, String), Option<String>>,
    pending: Option<Pending>,
}

/// An instruction whose line is not written yet.
struct Pending {
    block: [u32; 3],
    warp: u32,
    statement: u32,
    mask: u32,
    line: Map<String, Value>,
    access: Vec<Value>,
    stored: Option<Value>,
    writes: Vec<Value>,
}

impl<W: Write + Send> Trace<W> {
    /// To a writer, which should be buffered.
    pub fn new(out: W, filter: Filter) -> Trace<W> {
        Trace {
            out,
            filter,
            failed: None,
            count: 0,
            grid: [1; 3],
            block: [1; 3],
            kernel: true,
            wanted: Vec::new(),
            names: FxHashMap::default(),
            sources: None,
            map: None,
            variables: FxHashMap::default(),
            pending: None,
        }
    }

    /// Also shows the lines of the source (`source`), of a register which variable of the source it then is, and of the first address of an
    /// access what the source calls what is there (`variable`), as far as the module says.
    pub fn with_sources(mut self, sources: &Sources) -> Trace<W> {
        self.sources = Some(sources.clone());
        self
    }

    /// The writer, or the first mistake that it made.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush();
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn write(&mut self, line: Map<String, Value>) {
        if self.failed.is_none()
            && let Err(error) = writeln!(self.out, "{}", Value::Object(line))
        {
            self.failed = Some(error);
        }
    }

    /// Writes the instruction that is complete.
    fn flush(&mut self) {
        let Some(Pending { mut line, access, writes, .. }) = self.pending.take() else { return };
        for (key, values) in [("access", access), ("writes", writes)] {
            if !values.is_empty() {
                line.insert(key.into(), values.into());
            }
        }
        self.write(line);
    }

    /// The lanes of an event that are traced.
    fn lanes(&self, at: &At<'_>) -> Option<u32> {
        let wanted = self.kernel && self.wanted.get(at.statement() as usize).is_some_and(|w| *w);
        if !wanted || !self.filter.block(at.block, self.grid) || !self.filter.warp(at.warp) {
            return None;
        }
        let lanes = self.filter.lanes(at.warp, self.block);
        (at.group & lanes != 0 || at.mask & lanes != 0).then_some(at.mask & lanes)
    }

    /// The line of the instruction that this is a part of.
    fn pending(&mut self, at: &At<'_>) -> Option<&mut Pending> {
        let (block, warp, statement) = (at.block, at.warp, at.statement());
        self.pending.as_mut().filter(|p| p.block == block && p.warp == warp && p.statement == statement)
    }

    fn place(&mut self, at: &At<'_>, lanes: u32) -> Map<String, Value> {
        let mut line = Map::new();
        line.insert("block".into(), json!(at.block));
        line.insert("warp".into(), at.warp.into());
        line.insert("mask".into(), format!("{lanes:#010x}").into());
        line.insert("line".into(), at.line().into());
        if let Some(frame) = self.sources.as_ref().and_then(|sources| sources.frames(at.line()).first()) {
            line.insert("source".into(), format!("{}:{}", frame.file, frame.line).into());
        }
        line.insert("op".into(), at.mnemonic().into());
        line
    }

    /// The variable of the source that a register holds once a statement is done.
    fn variable(&mut self, at: &At<'_>, register: &str) -> Option<String> {
        let dwarf = self.sources.as_ref()?.dwarf();
        let of = |statement: u32| {
            let next = u64::from(at.program.statements().get(statement as usize + 1)?.span.start);
            let is_it =
                |place: Option<&Place>| matches!(place, Some(Place::Register(name)) if name == register);
            let mut inside = dwarf
                .variables
                .iter()
                .rev()
                .filter(|variable| variable.scope.as_ref().is_some_and(|scope| scope.contains(&next)));
            inside.find(|variable| is_it(variable.place(next))).map(|variable| variable.name.clone())
        };
        let statement = at.statement();
        self.variables.entry((statement, register.to_owned())).or_insert_with(|| of(statement)).clone()
    }

    /// What the source calls what is at an address.
    fn element(&self, space: StateSpace, address: u64) -> Option<String> {
        let target = self.map.as_ref()?.target(space, address)?;
        self.sources.as_ref()?.element(&target.name, target.buffer, target.offset)
    }

    fn event(&mut self, event: &str, at: &At<'_>, lanes: u32, members: Value) {
        self.flush();
        let mut line = Map::new();
        line.insert("event".into(), event.into());
        line.extend(self.place(at, lanes));
        if let Value::Object(members) = members {
            line.extend(members);
        }
        self.write(line);
    }

    fn named(&mut self, program: &Program, function: FuncId, reg: Reg) -> Option<&NamedReg> {
        let registers = self.names.entry(function).or_insert_with(|| {
            program.registers(function).iter().map(|named| (named.reg, named.clone())).collect()
        });
        registers.get(&reg)
    }
}

/// A value for each lane, one where all are equal.
fn per_lane(values: impl Iterator<Item = u128>) -> Value {
    let values: SmallVec<[u128; 32]> = values.collect();
    match values.split_first() {
        Some((first, rest)) if rest.iter().all(|v| v == first) => format!("{first:#x}").into(),
        _ => values.iter().map(|v| Value::from(format!("{v:#x}"))).collect(),
    }
}

impl<W: Write + Send> Observer for Trace<W> {
    fn begin(&mut self, launch: &LaunchView<'_>) {
        (self.grid, self.block) = (launch.grid(), launch.block());
        self.kernel = self.filter.kernel(launch.kernel());
        self.names.clear();
        self.map = self.sources.is_some().then(|| MemoryMap::new(launch));
        let program = launch.program();
        let wanted = |s: &warpsmith_interp::engine::Statement| {
            s.head < s.end
                && self
                    .filter
                    .statement(s.line, program.instruction(s.head).map_or(Class::Other, |i| i.class()))
        };
        self.wanted = program.statements().iter().map(wanted).collect();
        let line = json!({
            "event": "launch", "kernel": launch.kernel(), "grid": launch.grid(), "block": launch.block(),
            "cluster": launch.cluster(), "schedule": launch.schedule().map(|s| s.name()), "seed": launch.seed(),
        });
        if let Value::Object(line) = line {
            self.write(line);
        }
    }

    fn end(&mut self, _: &LaunchView<'_>, fault: Option<&Fault>) {
        self.flush();
        let fault = fault.map(|f| {
            json!({"code": f.code.name(), "message": f.message, "line": f.ptx_line, "block": f.block, "thread": f.thread})
        });
        if let Value::Object(line) = json!({"event": "end", "instructions": self.count, "fault": fault}) {
            self.write(line);
        }
    }

    fn instruction(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        // All that come to a branch execute it: its guard only says who jumps.
        let branches =
            matches!(at.program.operation(at.pc).map(|o| o.kind), Some(OperationKind::Branch { .. }));
        let mask = if branches { at.group } else { at.mask };
        // Lanes that have waited in it have their line already; their results are still to come.
        let at = &At { mask: mask & !at.retried, group: at.group & !at.retried, ..*at };
        let Some(lanes) = self.lanes(at) else { return };
        if at.is_head() {
            self.flush();
            let mut line = Map::new();
            line.insert("n".into(), self.count.into());
            line.extend(self.place(at, lanes));
            self.count += 1;
            let (block, warp, statement) = (at.block, at.warp, at.statement());
            let (access, writes) = (Vec::new(), Vec::new());
            self.pending =
                Some(Pending { block, warp, statement, mask: lanes, line, access, stored: None, writes });
        }
        if let Some(operation) = at.program.operation(at.pc)
            && let OperationKind::Store(access) = operation.kind
            && let Some(pending) = self.pending(at)
        {
            let bits = 8 * u32::from(access.bytes);
            let cut = |v: u128| if bits < 128 { v & ((1 << bits) - 1) } else { v };
            let elements = operation.reads.iter().skip(1);
            let values = elements.map(|r| per_lane(lanes_of(lanes).map(|lane| cut(registers.get(*r, lane)))));
            pending.stored = Some(values.collect());
        }
    }

    fn results(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        let Some(lanes) = self.lanes(at).filter(|lanes| *lanes != 0) else { return };
        let Some(operation) = at.program.operation(at.pc) else { return };
        let mut writes = Vec::new();
        for r in operation.writes {
            let Some(named) = self.named(at.program, registers.function(), r) else { continue };
            let (name, ty) = (named.name.clone(), named.ty.name());
            let bits = per_lane(lanes_of(lanes).map(|lane| registers.get(r, lane)));
            let mut write = json!({"reg": name, "type": ty, "bits": bits});
            if let Some(variable) = self.variable(at, &name) {
                write["variable"] = variable.into();
            }
            writes.push(write);
        }
        if writes.is_empty() {
            return;
        }
        match self.pending(at) {
            Some(pending) if pending.mask & lanes == lanes => pending.writes.extend(writes),
            _ => self.event("result", at, lanes, json!({"writes": writes})),
        }
    }

    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        let Some(lanes) = self.lanes(at).filter(|lanes| *lanes != 0) else { return };
        let kind = match kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        };
        let of = per_lane(lanes_of(lanes).map(|lane| addresses.of(lane).into()));
        let mut line = json!({"kind": kind, "space": space.name(), "bytes": access.bytes, "addresses": of});
        if access.count > 1 {
            line["elements"] = access.count.into();
        }
        let first = addresses.of(lanes.trailing_zeros().min(31) as usize);
        if let Some(variable) = self.element(space, first) {
            line["variable"] = variable.into();
        }
        match self.pending(at) {
            Some(pending) => {
                if pending.mask != lanes {
                    line["mask"] = format!("{lanes:#010x}").into();
                }
                if let Some(values) = pending.stored.take() {
                    line["values"] = values;
                }
                pending.access.push(line);
            }
            None => self.event("access", at, lanes, json!({"access": [line]})),
        }
    }

    fn branch(&mut self, at: &At<'_>, taken: u32) {
        if let Some(lanes) = self.lanes(at)
            && let Some(pending) = self.pending(at)
        {
            pending.line.insert("taken".into(), format!("{:#010x}", taken & lanes).into());
        }
    }

    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        let Some(lanes) = self.lanes(at).filter(|lanes| *lanes != 0) else { return };
        let (stage, place) = match stage {
            Stage::Issued => ("issued", None),
            Stage::Described(place) => ("described", Some(place)),
            Stage::Read(place) => ("read", Some(place)),
            Stage::Written(place) => ("written", Some(place)),
            Stage::Reduced { place, .. } => ("reduced", Some(place)),
            Stage::Complete => ("complete", None),
        };
        let mut members = json!({"transfer": number, "stage": stage});
        if let Some(place) = place {
            let space = if place.rank.is_some() { StateSpace::Shared } else { StateSpace::Global };
            members["space"] = space.name().into();
            members["address"] = format!("{:#x}", place.address).into();
            members["bytes"] = place.bytes.into();
        }
        self.event("transfer", at, lanes, members);
    }

    fn marked(&mut self, at: &At<'_>, number: u32, condition: Option<u32>) {
        let Some(lanes) = self.lanes(at).filter(|lanes| *lanes != 0) else { return };
        let mut members = json!({"mark": number});
        if let Some(holding) = condition {
            members["holds"] = format!("{:#010x}", holding & lanes).into();
        }
        self.event("mark", at, lanes, members);
    }

    fn synchronise(&mut self, at: &At<'_>, sync: Sync) {
        let members = match sync {
            Sync::Leave(barrier) => json!({"barrier": barrier}),
            Sync::ClusterLeave => json!({"barrier": "cluster"}),
            Sync::Reach(_)
            | Sync::Arrive(_)
            | Sync::Complete(_)
            | Sync::Warp { .. }
            | Sync::Fence(_)
            | Sync::ClusterArrive
            | Sync::ClusterComplete
            | Sync::Mbarrier { .. }
            | Sync::Commit(_)
            | Sync::Tensor { .. }
            | Sync::Wait { .. } => return,
        };
        if let Some(lanes) = self.lanes(at).filter(|lanes| *lanes != 0) {
            self.event("leave", at, lanes, members);
        }
    }
}
