//! Spoilt statements: does the validator take what ptxas takes, and nothing else?

use super::{Case, Failure, NoCode, Oracle, Tools};
use crate::Language;
use crate::launch::LaunchSpec;
use crate::ptx::ValidatedModule;
use arbitrary::Unstructured;
use warpsmith_smith::Random;
use warpsmith_smith::spoilt::{Change, Statement, draw};

/// What both say of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Both {
    /// It is valid.
    Take,
    /// It is not.
    Refuse,
    /// The validator has a verdict, but ptxas crashed.
    Crash(String),
}

/// Enough for a statement and three changes.
const BYTES: usize = 256;

/// The statement of a seed, with the changes made of it, and what the validator and ptxas both say of it. Where they differ, the report is of the statement with those
/// changes alone that make the difference. `None` without a ptxas that knows the target and version.
pub fn spoilt(seed: u64, tools: &dyn Tools) -> Option<(Case, Result<Both, Failure>)> {
    let bytes = Random::new(seed).bytes(BYTES);
    let (statement, mut changes) = draw(&mut Unstructured::new(&bytes)).ok()?;
    let mut verdicts = compare(&statement, &changes, tools)?;
    if verdicts.differ() {
        let mut n = 0;
        while n < changes.len() {
            let mut fewer = changes.clone();
            fewer.remove(n);
            match compare(&statement, &fewer, tools) {
                Some(other) if other.differ() => (changes, verdicts) = (fewer, other),
                Some(_) | None => n += 1,
            }
        }
    }
    let what = match (&verdicts.ours, &verdicts.theirs) {
        (_, Err(NoCode::Crashed(how))) => return Some((verdicts.case, Ok(Both::Crash(how.clone())))),
        (Ok(()), Ok(())) => return Some((verdicts.case, Ok(Both::Take))),
        (Err(_), Err(NoCode::Rejected(_))) => return Some((verdicts.case, Ok(Both::Refuse))),
        (Ok(()), Err(NoCode::Rejected(said))) => {
            format!("`{}` is accepted, ptxas: {said}", statement.opcode.text())
        }
        (Err(said), Ok(())) => {
            format!("`{}` is rejected, ptxas accepts it: {said}", statement.opcode.text())
        }
    };
    let what = format!("{what}\n{}", verdicts.statement);
    Some((verdicts.case, Err(Failure { oracle: Oracle::Spoilt, what })))
}

/// Nothing is launched, but a case has a launch.
const LAUNCH: &str = "{\"block\": [1], \"args\": []}";

struct Verdicts {
    case: Case,
    /// The statement, with its version and target.
    statement: String,
    ours: Result<(), String>,
    theirs: Result<(), NoCode>,
}

impl Verdicts {
    fn differ(&self) -> bool {
        !matches!(self.theirs, Err(NoCode::Crashed(_))) && self.ours.is_ok() != self.theirs.is_ok()
    }
}

fn compare(statement: &Statement, changes: &[Change], tools: &dyn Tools) -> Option<Verdicts> {
    let mut statement = statement.clone();
    for change in changes {
        statement.change(change);
    }
    let text = statement.module();
    let (release, theirs) = tools.check(&text, statement.version, statement.target)?;
    let ours = match ValidatedModule::parse_as(text.as_str(), Some(release)) {
        Ok(_) => Ok(()),
        Err(errors) => Err(format!("{} {}", errors[0].code, errors[0].message)),
    };
    // What an assembler says begins with its own name and the place.
    let theirs = theirs.map_err(|no_code| match no_code {
        NoCode::Rejected(said) => {
            let first = said.lines().next().unwrap_or_default();
            let what = first.rsplit_once("error   : ").or(first.rsplit_once("fatal   : "));
            NoCode::Rejected(what.map_or(first, |(_, what)| what).to_owned())
        }
        NoCode::Crashed(how) => NoCode::Crashed(how),
    });
    let shown = format!(".version {} .target {}: {statement}", statement.version, statement.target);
    let case = Case {
        language: Language::Ptx,
        text,
        launch: LaunchSpec::parse(LAUNCH).ok()?,
        description: String::new(),
    };
    Some(Verdicts { case, statement: shown, ours, theirs })
}
