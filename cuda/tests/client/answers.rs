//! The calls of `data/answers/calls.txt`, good and bad, answered as is recorded in `data/answers/recorded.txt`, whose first line says by whom: `record.py` makes
//! that file with any driver. Where ours is to differ, `data/answers/deviations.tsv` says which it is, and why.

use crate::library;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// The section that this process is to make the calls of.
const SECTION: &str = "WARPSMITH_TEST_SECTION";
/// Bytes of a cell.
const ROOM: usize = 4096;

fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/client/data/answers").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sections of the file: names, and their lines.
type Calls = Vec<(String, Vec<String>)>;

/// The texts of the file, and its sections.
fn parse(text: &str) -> (BTreeMap<String, CString>, Calls) {
    let (mut texts, mut sections) = (BTreeMap::new(), Vec::<(String, Vec<String>)>::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("text ") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "end").collect();
            texts.insert(name.to_owned(), CString::new(text.join("\n") + "\n").unwrap());
        } else if let Some(name) = line.strip_prefix("section ") {
            sections.push((name.to_owned(), Vec::new()));
        } else if !line.is_empty() && !line.starts_with('#') {
            sections.last_mut().expect("a section").1.push(line.to_owned());
        }
    }
    (texts, sections)
}

/// What a section has in memory.
#[derive(Default)]
struct Cells {
    texts: BTreeMap<String, CString>,
    cells: BTreeMap<String, u64>,
    keep: Vec<CString>,
}

fn number(word: &str) -> u64 {
    let (negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let value = value.unwrap_or_else(|error| panic!("{word}: {error}"));
    if negative { value.wrapping_neg() } else { value }
}

impl Cells {
    /// The address of a cell: whole pages, which stay until the process ends.
    fn cell(&mut self, name: &str) -> u64 {
        let new = || {
            let pages = Vec::leak(vec![0u8; 2 * ROOM]);
            (pages.as_mut_ptr().expose_provenance() as u64).next_multiple_of(ROOM as u64)
        };
        *self.cells.entry(name.to_owned()).or_insert_with(new)
    }

    fn get(&mut self, name: &str, offset: u64, bytes: usize) -> u64 {
        let mut found = [0u8; 8];
        let at = std::ptr::with_exposed_provenance::<u8>((self.cell(name) + offset) as usize);
        // SAFETY: inside a cell, which is never freed.
        unsafe { found.as_mut_ptr().copy_from_nonoverlapping(at, bytes) };
        u64::from_le_bytes(found)
    }

    fn value(&mut self, word: &str) -> u64 {
        match word.as_bytes()[0] {
            _ if word == "null" => 0,
            b'"' => {
                self.keep.push(CString::new(word.trim_matches('"')).unwrap());
                self.keep.last().expect("it is there").as_ptr().expose_provenance() as u64
            }
            b'$' => self.texts[&word[1..]].as_ptr().expose_provenance() as u64,
            b'-' | b'0'..=b'9' => number(word),
            first => {
                let (name, more) = word.trim_start_matches('&').split_once('+').unwrap_or((word, "0"));
                let name = name.trim_start_matches('&');
                let place = if first == b'&' { self.cell(name) } else { self.get(name, 0, 8) };
                place.wrapping_add(number(more))
            }
        }
    }

    fn put(&mut self, words: &[&str]) {
        let mut bytes = Vec::new();
        for word in &words[1..] {
            let (kind, value) = word.split_once(':').expect("a type and a value");
            let value = self.value(value).to_le_bytes();
            bytes.extend_from_slice(&value[..size(kind)]);
        }
        bytes.resize(ROOM, 0);
        let at = std::ptr::with_exposed_provenance_mut::<u8>(self.cell(words[0]) as usize);
        // SAFETY: a whole cell.
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), ROOM) };
    }

    /// Makes a call, and says what was answered.
    fn call(&mut self, line: &str) -> String {
        let (call, shown) = line.split_once(" -> ").unwrap_or((line, ""));
        let words: Vec<&str> = call.split(' ').collect();
        let args: Vec<usize> = words[1..].iter().map(|word| self.value(word) as usize).collect();
        let mut answer = library::invoke(words[0], &args).to_string();
        for item in shown.split(',').filter(|item| !item.is_empty()) {
            let (place, kind) = item.split_once(':').expect("a place and a type");
            let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
            let found = self.get(name, number(offset), size(kind));
            let signed = if kind == "i32" { i64::from(found as i32) } else { found as i64 };
            write!(answer, " {place}={signed}").expect("a text takes it");
        }
        answer
    }
}

fn size(kind: &str) -> usize {
    match kind {
        "u8" => 1,
        "u16" => 2,
        "u32" | "i32" | "f32" => 4,
        "u64" => 8,
        other => panic!("what is {other}?"),
    }
}

/// The calls of a section, answered by a process of its own, as a driver's are: faults stay, and streams run beside the program.
fn answers(section: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command
        .args(["--exact", "answers::answers_are_those_that_are_recorded", "--nocapture"])
        .env(SECTION, section);
    command
        .env("WARPSMITH_ERRORS", "sticky")
        .env("WARPSMITH_STREAMS", "async")
        .env("WARPSMITH_DEVICES", "sm_90");
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect();
    assert!(
        output.status.success(),
        "{section}: {:?}\n{}",
        found.last(),
        String::from_utf8_lossy(&output.stderr)
    );
    found
}

#[test]
fn answers_are_those_that_are_recorded() {
    let (texts, sections) = parse(&read("calls.txt"));
    if let Ok(wanted) = std::env::var(SECTION) {
        let mut cells = Cells { texts, ..Cells::default() };
        let (_, lines) = sections.into_iter().find(|(name, _)| *name == wanted).expect("the section");
        for line in lines {
            match line.strip_prefix("put ") {
                Some(words) => cells.put(&words.split(' ').collect::<Vec<_>>()),
                None => println!("> {line} => {}", cells.call(&line)),
            }
        }
        return;
    }
    let (_, recorded) = parse(&read("recorded.txt"));
    let deviations = read("deviations.tsv");
    let deviations: Vec<Vec<&str>> = deviations
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    let (mut wrong, mut used, mut count) = (String::new(), vec![false; deviations.len()], 0);
    for (name, expected) in recorded {
        let found = answers(&name);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (own, driver) in found.iter().zip(&expected) {
            count += 1;
            // Where a driver ends the process, or does not come back, an answer is better.
            if driver.ends_with("=> crash") || driver.ends_with("=> hang") {
                continue;
            }
            if own == driver {
                continue;
            }
            // A call that is made several times is listed as often.
            let same = |i: &usize| deviations[*i][0] == name && deviations[*i][1] == own.as_str();
            let listed: Vec<usize> = (0..deviations.len()).filter(same).collect();
            if let Some(row) = listed.iter().find(|row| !used[**row]).or(listed.first()) {
                used[*row] = true;
            } else {
                writeln!(
                    wrong,
                    "{name}\t{own}\t(recorded: {})",
                    driver.rsplit("=> ").next().unwrap_or_default()
                )
                .expect("a text takes it");
            }
        }
    }
    assert!(wrong.is_empty(), "answers that differ from those that are recorded:\n{wrong}");
    assert!(count > 1000, "{count} calls");
    let unused: Vec<_> = deviations.iter().zip(used).filter(|(_, used)| !used).map(|(row, _)| row).collect();
    assert!(unused.is_empty(), "deviations that are none: {unused:#?}");
}
