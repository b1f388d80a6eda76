//! The first place where two runs part.
//!
//! Runs under different schedules execute the same instructions in another order, so traces are compared thread by thread. A thread
//! computes the same from the same values: the first instruction that differs is one through which something comes in from outside,
//! mostly a load. Then the cause is who wrote that memory last, in the one run and in the other.

use crate::lanes::lanes_of;
use serde_json::{Value, json};
use std::fmt;
use std::io::{self, BufRead};
use warpsmith_base::FxHashMap;
use warpsmith_isa::{Class, Instruction, Mnemonic, Operation, forms};

/// Why traces cannot be compared.
#[derive(Debug)]
pub enum TraceError {
    /// One cannot be read.
    Io(io::Error),
    /// A line is not what a trace has.
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Io(e) => e.fmt(f),
            TraceError::Line { line, message } => write!(f, "line {line}: {message}"),
        }
    }
}

impl std::error::Error for TraceError {}

impl From<io::Error> for TraceError {
    fn from(e: io::Error) -> Self {
        TraceError::Io(e)
    }
}

/// A thread: its block, its warp and its lane.
type Thread = ([u64; 3], u64, usize);

/// What an instruction did for a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Step {
    line: u64,
    op: String,
    /// Registers with their types and bits.
    writes: Vec<(String, String, String)>,
    access: Option<Touch>,
    taken: Option<bool>,
    /// Where in the trace it stands.
    at: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Touch {
    kind: String,
    space: String,
    address: u64,
    bytes: u64,
    value: Option<String>,
}

impl Step {
    fn same(&self, other: &Step) -> bool {
        (self.line, &self.op, &self.writes, &self.access, self.taken)
            == (other.line, &other.op, &other.writes, &other.access, other.taken)
    }
}

/// A trace in memory.
struct Run {
    launch: Value,
    fault: Option<String>,
    threads: FxHashMap<Thread, Vec<Step>>,
    /// Writes to memory in the order of the trace.
    writes: Vec<Write>,
    block: [u64; 3],
}

#[derive(Clone, Debug)]
struct Write {
    thread: Thread,
    line: u64,
    op: String,
    touch: Touch,
    at: usize,
}

/// Where two runs part.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The block of the thread.
    pub block: [u64; 3],
    /// The thread in its block.
    pub thread: [u64; 3],
    /// The line of PTX in each run; `None` in the one that has ended.
    pub lines: [Option<u64>; 2],
    /// What differs.
    pub what: String,
    /// Why, as far as the traces show: one sentence each.
    pub why: Vec<String>,
    /// Instructions of the thread before, which agree.
    pub agreeing: usize,
    /// Threads that differ somewhere.
    pub threads: usize,
}

impl Difference {
    /// For programs.
    pub fn json(&self) -> Value {
        json!({"block": self.block, "thread": self.thread, "lines": self.lines, "what": self.what, "why": self.why,
            "agreeing": self.agreeing, "threads": self.threads})
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (agreeing, block, thread) = (self.agreeing, self.block, self.thread);
        writeln!(
            f,
            "the runs part in block {block:?} thread {thread:?}, after {agreeing} instructions that agree:"
        )?;
        writeln!(f, "  {}", self.what)?;
        for why in &self.why {
            writeln!(f, "  {why}")?;
        }
        let others = self.threads.saturating_sub(1);
        if others > 0 {
            writeln!(f, "  {others} other threads part later")?;
        }
        Ok(())
    }
}

/// Compares two traces; `None` if every thread does the same in both.
pub fn diff(a: impl BufRead, b: impl BufRead) -> Result<Option<Difference>, (usize, TraceError)> {
    let runs = [Run::read(a).map_err(|e| (0, e))?, Run::read(b).map_err(|e| (1, e))?];
    let [a, b] = &runs;
    for key in ["kernel", "grid", "block"] {
        if a.launch[key] != b.launch[key] {
            let message = format!("the {key} is {}, and {} in the other trace", b.launch[key], a.launch[key]);
            return Err((1, TraceError::Line { line: 1, message }));
        }
    }
    let mut first: Option<(usize, Thread, usize)> = None;
    let mut threads = 0;
    let nothing = Vec::new();
    let mut all: Vec<&Thread> = a.threads.keys().chain(b.threads.keys()).collect();
    all.sort_unstable();
    all.dedup();
    for thread in all {
        let [x, y] = [a, b].map(|run| run.threads.get(thread).unwrap_or(&nothing));
        let same = x.iter().zip(y).take_while(|(x, y)| x.same(y)).count();
        if same == x.len() && same == y.len() {
            continue;
        }
        threads += 1;
        let at = x.get(same).or(y.get(same)).map_or(usize::MAX, |step| step.at);
        if first.is_none_or(|(best, ..)| at < best) {
            first = Some((at, *thread, same));
        }
    }
    Ok(first.map(|(_, thread, same)| explain(&runs, thread, same, threads)))
}

fn explain(runs: &[Run; 2], thread: Thread, same: usize, threads: usize) -> Difference {
    let steps = runs.each_ref().map(|run| run.threads.get(&thread).and_then(|steps| steps.get(same)));
    let mut why = Vec::new();
    let what = match steps {
        [Some(a), Some(b)] if a.line != b.line || a.op != b.op => {
            let branch = runs[0].threads.get(&thread).and_then(|s| s[..same].last());
            if let Some(step) = branch {
                why.push(format!(
                    "the last instruction that both execute is `{}` of line {}",
                    step.op, step.line
                ));
            }
            format!("A executes `{}` of line {}, B `{}` of line {}", a.op, a.line, b.op, b.line)
        }
        [Some(a), Some(b)] => same_instruction(runs, thread, a, b, &mut why),
        [step, _] => {
            let ended = usize::from(step.is_some());
            let (name, other) = [("A", "B"), ("B", "A")][ended];
            let run = &runs[ended];
            let reason =
                run.fault.as_ref().map_or("its trace ends".into(), |f| format!("its run ended: {f}"));
            why.push(format!("{name} stops here: {reason}"));
            let step = steps.into_iter().flatten().next();
            step.map_or_else(String::new, |s| format!("{other} goes on with `{}` of line {}", s.op, s.line))
        }
    };
    let lines = steps.map(|s| s.map(|s| s.line));
    let (block, number) = (thread.0, thread.1 * 32 + thread.2 as u64);
    let [x, y, _] = runs[0].block.map(|n| n.max(1));
    let position = [number % x, number / x % y, number / x / y];
    Difference { block, thread: position, lines, what, why, agreeing: same, threads }
}

/// What differs between two executions of one instruction.
fn same_instruction(runs: &[Run; 2], thread: Thread, a: &Step, b: &Step, why: &mut Vec<String>) -> String {
    let here = format!("`{}` of line {}", a.op, a.line);
    if let ([Some(x), Some(y)], true) = ([&a.access, &b.access], a.access != b.access) {
        if x.address != y.address || x.space != y.space {
            return format!(
                "{here} goes to {} address {:#x} in A and to {} address {:#x} in B",
                x.space, x.address, y.space, y.address
            );
        }
        let value = |t: &Touch| t.value.clone().unwrap_or_else(|| "something".into());
        return format!("{here} stores {} in A and {} in B", value(x), value(y));
    }
    let differing = a.writes.iter().zip(&b.writes).find(|(x, y)| x != y);
    let Some(((reg, ty, in_a), (.., in_b))) = differing else {
        return match (a.taken, b.taken) {
            (Some(x), Some(y)) if x != y => {
                let does = |jumps| if jumps { "jumps" } else { "does not jump" };
                format!("{here} {} in A and {} in B", does(x), does(y))
            }
            _ => format!("{here} does different things"),
        };
    };
    if let Some(touch) = &a.access {
        for (run, step, name) in [(&runs[0], a, "A"), (&runs[1], b, "B")] {
            why.push(run.last_writer(thread, touch, step, name));
        }
    } else if instruction(&a.op).is_some_and(|i| i.class() == Class::Warp) {
        why.push("it takes values of other lanes: one of them differs, or other lanes take part".into());
    } else {
        why.push("it reads what no earlier instruction of the thread has written: a clock, a place on the machine, or time".into());
    }
    format!("{here} gives {reg} ({ty}) {in_a} in A and {in_b} in B")
}

impl Run {
    fn read(input: impl BufRead) -> Result<Run, TraceError> {
        let mut run = Run {
            launch: Value::Null,
            fault: None,
            threads: FxHashMap::default(),
            writes: Vec::new(),
            block: [1; 3],
        };
        for (number, line) in input.lines().enumerate() {
            let line = line?;
            let wrong = |message: String| TraceError::Line { line: number + 1, message };
            let value: Value = serde_json::from_str(&line).map_err(|e| wrong(format!("not JSON: {e}")))?;
            match value["event"].as_str() {
                Some("launch") if run.launch.is_null() => {
                    run.block = triple(&value["block"]).ok_or_else(|| wrong("`block` is missing".into()))?;
                    run.launch = value;
                }
                Some("launch") => {
                    return Err(wrong("a second launch: traces of one launch are compared".into()));
                }
                Some("end") => run.fault = value["fault"]["message"].as_str().map(str::to_owned),
                Some("result") => {
                    run.result(&value).ok_or_else(|| wrong("not the line of a trace".into()))?
                }
                Some(_) => run.asynchronous(&value, number),
                None => run.step(&value, number).ok_or_else(|| wrong("not the line of a trace".into()))?,
            }
        }
        if run.launch.is_null() {
            return Err(TraceError::Line { line: 1, message: "a trace starts with its launch".into() });
        }
        run.threads.values_mut().for_each(|steps| *steps = without_polls(std::mem::take(steps)));
        Ok(run)
    }

    fn step(&mut self, value: &Value, at: usize) -> Option<()> {
        let (block, warp) = (triple(&value["block"])?, value["warp"].as_u64()?);
        let (line, op) = (value["line"].as_u64()?, value["op"].as_str()?);
        let mask = mask(&value["mask"])?;
        let taken = value.get("taken").and_then(self::mask);
        for (index, lane) in lanes_of(mask).enumerate() {
            let thread = (block, warp, lane);
            let mut touched = None;
            for access in value["access"].as_array().into_iter().flatten() {
                let place = match access.get("mask") {
                    Some(own) => lanes_of(self::mask(own)?).position(|l| l == lane),
                    None => Some(index),
                };
                let Some(place) = place else { continue };
                let elements = access["elements"].as_u64().unwrap_or(1);
                let stored: Vec<&str> = (access["values"].as_array().into_iter().flatten())
                    .filter_map(|element| of_lane(element, place))
                    .collect();
                let touch = Touch {
                    kind: access["kind"].as_str()?.into(),
                    space: access["space"].as_str()?.into(),
                    address: hex(of_lane(&access["addresses"], place)?)?,
                    bytes: access["bytes"].as_u64()? * elements,
                    value: (!stored.is_empty()).then(|| stored.join(", ")),
                };
                if touch.kind != "load" {
                    let (op, touch) = (op.to_owned(), touch.clone());
                    self.writes.push(Write { thread, line, op, touch, at });
                }
                touched = Some(touch);
            }
            let (access, taken) = (touched, taken.map(|t| t >> lane & 1 != 0));
            let step = Step { line, op: op.into(), writes: writes(value, index), access, taken, at };
            self.threads.entry(thread).or_default().push(step);
        }
        Some(())
    }

    /// What an instruction gives later belongs to the last execution of it by the thread.
    fn result(&mut self, value: &Value) -> Option<()> {
        let (block, warp) = (triple(&value["block"])?, value["warp"].as_u64()?);
        let line = value["line"].as_u64()?;
        for (index, lane) in lanes_of(mask(&value["mask"])?).enumerate() {
            let steps = self.threads.entry((block, warp, lane)).or_default();
            if let Some(step) = steps.iter_mut().rev().find(|s| s.line == line) {
                step.writes.extend(writes(value, index));
            }
        }
        Some(())
    }

    /// An asynchronous copy writes at a time of its own.
    fn asynchronous(&mut self, value: &Value, at: usize) {
        let written = matches!(value["stage"].as_str(), Some("written" | "reduced"));
        let place = (|| {
            let touch = Touch {
                kind: "copy".into(),
                space: value["space"].as_str()?.into(),
                address: hex(value["address"].as_str()?)?,
                bytes: value["bytes"].as_u64()?,
                value: None,
            };
            let lane = lanes_of(mask(&value["mask"])?).next()?;
            let thread = (triple(&value["block"])?, value["warp"].as_u64()?, lane);
            let (line, op) = (value["line"].as_u64()?, value["op"].as_str()?.to_owned());
            Some(Write { thread, line, op, touch, at })
        })();
        self.writes.extend(place.filter(|_| written));
    }

    /// Who wrote last what a step reads.
    fn last_writer(&self, thread: Thread, touch: &Touch, step: &Step, name: &str) -> String {
        let apart =
            |w: &Touch| w.address + w.bytes <= touch.address || touch.address + touch.bytes <= w.address;
        let before = self.writes.partition_point(|w| w.at < step.at);
        let own = |w: &&Write| {
            let same = match touch.space.as_str() {
                "shared" => w.thread.0 == thread.0,
                "local" => w.thread == thread,
                _ => true,
            };
            same && w.touch.space == touch.space && !apart(&w.touch)
        };
        let what = format!("{} bytes at {} address {:#x}", touch.bytes, touch.space, touch.address);
        match self.writes[..before].iter().rev().find(own) {
            None => format!("in {name}, nothing that is traced has written the {what} before"),
            Some(w) => {
                let (block, warp, lane) = w.thread;
                let number = warp * 32 + lane as u64;
                let [x, y, _] = self.block.map(|n| n.max(1));
                let thread = [number % x, number / x % y, number / x / y];
                let value = w.touch.value.as_ref().map_or_else(String::new, |v| format!(" with {v}"));
                format!(
                    "in {name}, the {what} were last written by block {block:?} thread {thread:?} in `{}` of line {}{value}",
                    w.op, w.line
                )
            }
        }
    }
}

/// The most instructions of a loop that polls an mbarrier object.
const MOST_POLLING: usize = 64;

/// Without the rounds of loops that test an mbarrier object for a phase that is not yet complete. How many there are is a
/// matter of the schedule, and nothing comes of them. What such a round loads is not looked at; one that writes memory is left in.
fn without_polls(steps: Vec<Step>) -> Vec<Step> {
    let mut kept: Vec<Step> = Vec::with_capacity(steps.len());
    // By line, where in `kept` the last poll stands that was answered no.
    let mut polls: Vec<(u64, usize)> = Vec::new();
    for step in steps {
        if step.access.as_ref().is_some_and(|touch| touch.kind != "load") {
            polls.clear();
        }
        if is_poll(&step.op) {
            let before = polls.iter().rposition(|(line, _)| *line == step.line);
            if let Some((_, start)) = before.and_then(|i| polls.drain(i..).next())
                && kept.len() - start <= MOST_POLLING
            {
                kept.truncate(start);
            }
            if matches!(&step.writes[..], [(.., bits)] if bits == "0x0") {
                polls.push((step.line, kept.len()));
            }
        }
        kept.push(step);
    }
    kept
}

/// A trace is text: its mnemonics are looked up again.
fn instruction(op: &str) -> Option<Instruction> {
    forms(&Mnemonic::parse(op).ok()?).next()
}

/// True for an instruction that asks whether a phase of an mbarrier object is complete.
fn is_poll(op: &str) -> bool {
    use Operation::{MbarrierTestWait, MbarrierTestWaitParity, MbarrierTryWait, MbarrierTryWaitParity};
    let polls = [MbarrierTestWait, MbarrierTestWaitParity, MbarrierTryWait, MbarrierTryWaitParity];
    instruction(op).is_some_and(|i| polls.contains(&i.operation()))
}

fn triple(value: &Value) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = value.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn mask(value: &Value) -> Option<u32> {
    hex(value.as_str()?).and_then(|mask| mask.try_into().ok())
}

/// The value of a lane, where one may denote all.
fn of_lane(value: &Value, index: usize) -> Option<&str> {
    value.as_str().or_else(|| value.get(index)?.as_str())
}

fn writes(value: &Value, index: usize) -> Vec<(String, String, String)> {
    let all = value["writes"].as_array().into_iter().flatten();
    let of = |w: &Value| {
        let text = |key: &str| w[key].as_str().map(str::to_owned);
        Some((text("reg")?, text("type")?, of_lane(&w["bits"], index)?.to_owned()))
    };
    all.filter_map(of).collect()
}
