//! `warpsmith run --explore N`

use crate::{Failure, Outcome};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use warpsmith::interp::observe::Observer;
use warpsmith::interp::{Fault, Program};
use warpsmith::isa::ScalarType;
use warpsmith::launch::literal;
use warpsmith::launch::{Arg, LaunchSpec};
use warpsmith::launch::{Execution, execute_observed, execute_with_output};
use warpsmith::watch::explore::{Bytes, Exploration, Order, explore};
use warpsmith::watch::trace::{Filter, Trace, diff};
use warpsmith::watch::{Checkers, Report, Selection, Sources};

/// Instructions of threads up to which two runs are traced to explain why they differ.
const MOST_TRACED: u64 = 4_000_000;

/// Runs the launch in so many orders and reports whether its results depend on the order; then the exit status is 1.
pub fn run(program: &Program, sources: &Sources, launch: &LaunchSpec, count: u64, as_json: bool) -> Outcome {
    let mut instructions = 0;
    let found = explore(count, launch.seed.unwrap_or(0), |order| {
        let execution = execute_with_output(program, &ordered(launch, order), std::io::sink())?;
        instructions = instructions.max(execution.thread_instructions);
        Ok(execution.buffers)
    });
    let mut why = Vec::new();
    let mut races = Report::new();
    if let [a, b, ..] = &found.classes[..] {
        if instructions <= MOST_TRACED {
            why.extend(parting(program, launch, [a.orders[0], b.orders[0]])?);
        }
        races = raced(program, launch, b.orders[0]);
    }
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut answer = json(&found, &why);
        answer["races"] = json!(races.json(sources));
        writeln!(out, "{answer}")?;
    } else {
        write!(out, "{}", text(&found, launch))?;
        if let [a, b, ..] = &found.classes[..] {
            let (a, b) = (a.orders[0].flags(), b.orders[0].flags());
            for why in &why {
                write!(out, "\nA is {a}, B is {b}: {why}")?;
            }
            if races.is_empty() {
                writeln!(out, "\nthe race checker finds no race under {b}")?;
            } else {
                write!(out, "\nraces under {b}:\n{}", races.text(sources))?;
            }
        }
    }
    if found.agrees() { Ok(()) } else { Err(Failure::Rejected) }
}

fn ordered(launch: &LaunchSpec, order: Order) -> LaunchSpec {
    let mut launch = launch.clone();
    (launch.schedule, launch.seed) = (Some(order.schedule), Some(order.seed));
    launch
}

fn watched(
    program: &Program,
    launch: &LaunchSpec,
    order: Order,
    observer: &mut dyn Observer,
) -> Result<Execution, Fault> {
    execute_observed(program, &ordered(launch, order), std::io::sink(), observer)
}

/// Where two runs part, and who wrote what there.
fn parting(program: &Program, launch: &LaunchSpec, orders: [Order; 2]) -> Result<Option<String>, Failure> {
    let traced = |order| -> std::io::Result<Cursor<Vec<u8>>> {
        let mut trace = Trace::new(Vec::new(), Filter::default());
        // A fault is the end of the trace, as success is.
        let (Ok(_) | Err(_)) = watched(program, launch, order, &mut trace);
        Ok(Cursor::new(trace.finish()?))
    };
    let [a, b] = orders.map(traced);
    Ok(diff(a?, b?).ok().flatten().map(|d| d.to_string()))
}

fn raced(program: &Program, launch: &LaunchSpec, order: Order) -> Report {
    let mut checkers = Checkers::new(Selection::RACE);
    // What the run comes to is known from before; only the findings are asked for.
    let (Ok(_) | Err(_)) = watched(program, launch, order, &mut checkers.observer());
    checkers.into_report()
}

fn text(found: &Exploration, launch: &LaunchSpec) -> String {
    let runs: usize = found.classes.iter().map(|c| c.orders.len()).sum();
    if found.agrees() {
        let end = match found.classes.first().map(|c| &c.outcome) {
            Some(Err(fault)) => format!("all end with a fault: {fault}"),
            _ => "the results agree in every byte".into(),
        };
        return format!("{runs} schedules: {end}\n");
    }
    let mut text = format!("{runs} schedules: {} different results\n", found.classes.len());
    for (number, class) in found.classes.iter().enumerate() {
        let first = class.orders[0].flags();
        text += &format!("  {} of them, such as {first}", class.orders.len());
        match &class.outcome {
            Err(fault) => text += &format!(": {fault}\n"),
            Ok(_) if number == 0 => text += "\n",
            Ok(_) => {
                text += "\n";
                for bytes in found.differences(0, number) {
                    text += &format!("    {}\n", difference(found, number, launch, bytes));
                }
            }
        }
    }
    text
}

/// Where a buffer differs from that of the first runs, with the values there.
fn difference(found: &Exploration, number: usize, launch: &LaunchSpec, bytes: Bytes) -> String {
    let Bytes { argument, first, count, all } = bytes;
    let ty = match launch.args.get(argument) {
        Some(Arg::Buffer { element: Some(ty), .. }) => *ty,
        _ => ScalarType::B8,
    };
    let size = ty.bytes().unwrap_or(1).max(1) as usize;
    let element = first / size;
    let value = |class: usize| {
        let buffers = found.classes[class].outcome.as_ref().ok()?;
        let own = buffers.get(argument)?.as_ref()?.get(element * size..(element + 1) * size)?;
        Some(literal::decode(ty, own).to_string())
    };
    let values = value(number).zip(value(0));
    let values = values.map_or_else(String::new, |(this, first)| format!(" is {this} in place of {first}"));
    format!("argument {argument}: {count} of {all} bytes differ; element {element} ({ty}){values}")
}

fn json(found: &Exploration, why: &[String]) -> Value {
    let classes = found.classes.iter().enumerate().map(|(number, class)| {
        let orders = class.orders.iter().map(|o| json!({"schedule": o.schedule.name(), "seed": o.seed}));
        let differences = found.differences(0, number).into_iter().map(|b| {
            json!({"argument": b.argument, "first": b.first, "bytes": b.count, "of": b.all})
        });
        let fault = class.outcome.as_ref().err();
        json!({
            "runs": class.orders.len(), "orders": orders.collect::<Vec<_>>(), "differences": differences.collect::<Vec<_>>(),
            "fault": fault.map(|f| json!({"code": f.code.name(), "message": f.message, "ptx_line": f.ptx_line})),
        })
    });
    json!({"ok": found.agrees(), "results": classes.collect::<Vec<_>>(), "why": why})
}
