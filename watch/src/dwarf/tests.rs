//! Foreign DWARF may be anything: what can be used is used, and nothing panics or takes forever.

use super::*;
use std::time::{Duration, Instant};

fn sample() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/watch/memory/source-names.ptx");
    std::fs::read_to_string(path).expect("the file is part of the repository")
}

fn read(text: &str) -> Dwarf {
    Dwarf::of(&warpsmith_ptx::parse(text).module)
}

/// Asks for everything, and gives how many variables there are.
fn ask(text: &str) -> usize {
    let dwarf = read(text);
    for at in (0..text.len() as u64).step_by(64) {
        for variable in dwarf.at(at, 0) {
            variable.place(at);
            variable.ty.bytes();
        }
    }
    dwarf.variables.len()
}

#[test]
fn what_is_right_is_read() {
    let dwarf = read(&sample());
    assert_eq!(dwarf.warnings, [""; 0]);
    let functions: Vec<&str> = dwarf.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(functions, ["stencil"]);
    let tile = dwarf.variables.iter().find(|v| v.name == "tile").expect("it is there");
    assert_eq!((tile.ty.bytes(), tile.place(0)), (256, Some(&Place::Symbol("tile".into(), 0))));
}

/// Every byte of every section, and every length of them, made wrong in turn: a few thousand texts.
#[test]
fn mutations_are_harmless() {
    let text = sample();
    let from = text.find(".section").expect("it has sections");
    let numbers: Vec<(usize, usize)> = {
        let is_digit = |c: &u8| c.is_ascii_digit();
        let bytes = text.as_bytes();
        let starts = (from..bytes.len())
            .filter(|i| is_digit(&bytes[*i]) && matches!(bytes[*i - 1], b' ') && bytes[i - 2] != b'.');
        starts.map(|i| (i, i + bytes[i..].iter().take_while(|c| is_digit(c)).count())).collect()
    };
    assert!(numbers.len() > 200, "{}", numbers.len());
    let start = Instant::now();
    let mut done = 0;
    for (i, (at, end)) in numbers.iter().enumerate() {
        for byte in [0u32, 1, 0x7f, 0x80, 0xff, (i as u32).wrapping_mul(2_654_435_761) >> 24] {
            ask(&format!("{}{byte}{}", &text[..*at], &text[*end..]));
            done += 1;
        }
        // The section ends here.
        if let Some(line_end) = text[*at..].find('\n') {
            ask(&format!("{}0\n{}", &text[..*at], &text[at + line_end..]));
        }
        // The other sections are as hostile as these.
        if start.elapsed() > Duration::from_secs(20) {
            break;
        }
    }
    assert!(done > 500, "{done} texts in 20 s");
}

/// What compilers write: ours, nvcc, clang, rustc and Triton.
const FOREIGN: &[&str] = &[
    "watch/memory/source-names.ptx",
    "watch/debug/classes.ptx",
    "watch/debug/clang.ptx",
    "watch/debug/rustc.ptx",
    "watch/debug/variables.ptx",
    "places/shape.ptx",
    "real/triton/add.sm_80.ptx",
];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    fn below(&mut self, most: usize) -> usize {
        self.next() % most.max(1)
    }

    /// Changes bytes in one of the ways in which they can be wrong.
    fn spoil(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let (at, len) = (self.below(bytes.len()), 1 + self.below(16));
        let end = (at + len).min(bytes.len());
        match self.below(8) {
            0 => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte ^= 1 << (len % 8)),
            1 => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte = [0, 0x7f, 0x80, 0xff][len % 4]),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            5 => bytes[at..end].fill_with(|| self.next() as u8),
            6 => {
                let from = self.below(other.len());
                let part = other[from..(from + len).min(other.len())].to_vec();
                drop(bytes.splice(at..end, part));
            }
            _ => *bytes = (0..len * 16).map(|_| self.next() as u8).collect(),
        }
    }
}

/// The DWARF of each compiler with bytes of its sections flipped, cut off, left out, doubled, replaced by others or by another compiler's: reading
/// ends, keeps no more than there is, and says where each thing is that it does not understand.
#[test]
fn spoilt_sections_are_harmless() {
    const EACH: usize = 400;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/");
    let all: Vec<assemble::Sections> = FOREIGN
        .iter()
        .map(|path| {
            let text =
                std::fs::read_to_string(format!("{root}{path}")).expect("the file is part of the repository");
            assemble::Sections::of(&warpsmith_ptx::parse(&text).module)
        })
        .collect();
    let mut random = Random(14);
    let (mut warned, mut found) = (0, 0);
    for (path, sections) in FOREIGN.iter().zip(&all) {
        assert_eq!(Dwarf::read(sections).warnings, [""; 0], "{path}");
        for round in 0..EACH {
            let other = &all[random.below(all.len())];
            let spoilt = sections.changed(|name, bytes| {
                for _ in 0..random.below(4) {
                    random.spoil(bytes, other.get(name));
                }
            });
            let start = Instant::now();
            let dwarf = Dwarf::read(&spoilt);
            let took = start.elapsed();
            assert!(took < Duration::from_secs(10), "{path}, round {round}: {took:?}");
            // Each entry takes a byte at least, and each of those in a list 18.
            let size = spoilt.size();
            let places: usize = dwarf.variables.iter().map(|variable| variable.places.len()).sum();
            let kept =
                [dwarf.variables.len(), dwarf.functions.len(), dwarf.calls.len(), dwarf.composites.len()];
            assert!(kept.iter().all(|kept| *kept <= size), "{path}, round {round}: {kept:?} of {size} bytes");
            assert!(places <= MOST_READINGS * size + (1 << 20), "{path}, round {round}: {places} places");
            assert!(dwarf.warnings.len() <= 2 * size, "{path}, round {round}");
            for warning in &dwarf.warnings {
                let says_where =
                    [".debug_info", ".debug_loc", "again and again"].iter().any(|at| warning.contains(at));
                assert!(says_where, "{path}, round {round}: {warning}");
            }
            for variable in &dwarf.variables {
                assert!(variable.ty.to_string().len() < 1 << 16, "{path}, round {round}");
                variable.ty.bytes();
            }
            warned += usize::from(!dwarf.warnings.is_empty());
            found += usize::from(!dwarf.variables.is_empty());
        }
    }
    // Neither is every change noticed, nor is everything lost by each.
    let rounds = FOREIGN.len() * EACH;
    assert!(warned > rounds / 10 && found > rounds / 20, "{warned} and {found} of {rounds}");
}

/// Structures in structures, each of which a variable has: those below one are looked for in all that is in it.
#[test]
fn nested_structures_do_not_take_for_ever() {
    const DEPTH: u32 = 4_000;
    let abbreviations = [
        &[1, 0x11, 1, 0, 0][..],
        &[2, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[3, 0x13, 1, 0x03, 0x08, 0, 0],
        &[0],
    ]
    .concat();
    // Each structure is 3 bytes, and each variable 7; the first structure stands behind the variables.
    let first = 11 + 1 + DEPTH * 7;
    let mut bytes = vec![1];
    for n in 0..DEPTH {
        bytes.extend([2, b'x', 0]);
        bytes.extend((first + n * 3).to_le_bytes());
    }
    bytes.extend([3, b's', 0].repeat(DEPTH as usize));
    bytes.extend(vec![0; DEPTH as usize + 1]);
    let text = unit(2, &bytes, &abbreviations);
    let start = Instant::now();
    let dwarf = read(&text);
    assert_eq!(dwarf.variables.len(), DEPTH as usize);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// A section of bytes.
fn section(name: &str, bytes: &[u8]) -> String {
    let lines = bytes.chunks(32).map(|line| {
        let numbers: Vec<String> = line.iter().map(u8::to_string).collect();
        format!(".b8 {}\n", numbers.join(", "))
    });
    format!(".section {name} {{\n{}}}\n", lines.collect::<String>())
}

/// A unit of DWARF 2 around entries.
fn unit(version: u8, entries: &[u8], abbreviations: &[u8]) -> String {
    let mut info = (entries.len() as u32 + 7).to_le_bytes().to_vec();
    info.extend([version, 0, 0, 0, 0, 0, 8]);
    info.extend_from_slice(entries);
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    format!("{head}{}{}", section(".debug_info", &info), section(".debug_abbrev", abbreviations))
}

#[test]
fn types_may_be_their_own_parts() {
    // A unit; variable `x` of type 17; 17: a structure with a member of type 17; and arrays and typedefs that go in circles.
    let abbreviations = [
        &[1, 0x11, 1, 0, 0][..],
        &[2, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[3, 0x13, 1, 0x03, 0x08, 0, 0],
        &[4, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[5, 0x16, 0, 0x49, 0x13, 0, 0],
        &[0],
    ]
    .concat();
    let entries = |to: u8| {
        let mut bytes = vec![1, 2, b'x', 0, to, 0, 0, 0];
        bytes.extend([3, b's', 0, 4, b'm', 0, 19, 0, 0, 0, 0]);
        bytes.extend([5, 30, 0, 0, 0, 0]);
        bytes
    };
    for to in 0..=255 {
        ask(&unit(2, &entries(to), &abbreviations));
    }
    let read_of = |to| read(&unit(2, &entries(to), &abbreviations)).variables.len();
    assert_eq!(read_of(19), 1);
}

#[test]
fn a_hundred_thousand_members_are_read_once() {
    const MEMBERS: u32 = 100_000;
    let abbreviations = [
        &[1, 0x11, 1, 0, 0][..],
        &[2, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[3, 0x13, 1, 0x03, 0x08, 0, 0],
        &[4, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[5, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0, 0],
        &[0],
    ]
    .concat();
    // The structure begins behind the header (11), the unit (1), and a hundred variables of 7 bytes; the base type behind those.
    let variables = 100u32;
    let base = 11 + 1 + variables * 7;
    let mut bytes = vec![1];
    for _ in 0..variables {
        bytes.extend([2, b'x', 0]);
        bytes.extend((base + 4).to_le_bytes());
    }
    bytes.extend([5, b'b', 0, 4]);
    bytes.extend([3, b's', 0]);
    for _ in 0..MEMBERS {
        bytes.extend([4, b'm', 0]);
        bytes.extend(base.to_le_bytes());
    }
    bytes.extend([0, 0]);
    let text = unit(2, &bytes, &abbreviations);
    let start = Instant::now();
    let dwarf = read(&text);
    let Some(Variable { ty: Type::Composite(of), .. }) = dwarf.variables.first() else {
        panic!("{:?} {:?}", dwarf.variables.len(), dwarf.warnings)
    };
    assert_eq!((dwarf.variables.len(), of.members().len()), (variables as usize, MEMBERS as usize));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn versions_that_are_not_understood_are_warnings() {
    for version in [0, 1, 5, 6, 255] {
        let dwarf = read(&unit(version, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[1, 0x11, 1, 0, 0, 0]));
        assert!(dwarf.variables.is_empty());
        assert!(version == 5 || !dwarf.warnings.is_empty(), "{version}");
    }
    // A unit that says that it is longer than there are bytes.
    let text = unit(2, &[1], &[1, 0x11, 1, 0, 0, 0]).replacen(".b8 8, 0, 0, 0", ".b8 255, 255, 255, 127", 1);
    assert!(!read(&text).warnings.is_empty());
}

/// Bit fields that count from the first bit of their structure, and the end of a function as its length.
#[test]
fn what_came_after_dwarf_2_is_read() {
    let abbreviations = [
        &[1, 0x11, 1, 0, 0][..],
        &[2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0],
        &[3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0],
        &[4, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0],
        &[5, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x0d, 0x0b, 0x6b, 0x0b, 0, 0],
        &[6, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0],
        &[0],
    ]
    .concat();
    // The base type stands at 12, the structure at 24.
    let mut entries = vec![1, 6, b'u', 0, 4, 7, 3, b'x', 0, 24, 0, 0, 0, 4, b's', 0, 8];
    entries.extend([5, b'a', 0, 12, 0, 0, 0, 3, 0]);
    entries.extend([5, b'b', 0, 12, 0, 0, 0, 5, 34, 0]);
    entries.extend([2, b'f', 0, 16, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0]);
    let dwarf = read(&unit(4, &entries, &abbreviations));
    assert_eq!(dwarf.warnings, [""; 0]);
    let Some(Type::Composite(of)) = dwarf.variables.first().map(|variable| &variable.ty) else {
        panic!("{:?}", dwarf.variables)
    };
    let fields: Vec<_> = of.members().iter().map(|m| (m.name.as_str(), m.offset, m.bits)).collect();
    assert_eq!(fields, [("a", 0, Some((0, 3))), ("b", 4, Some((2, 5)))]);
    assert_eq!(dwarf.functions.first().map(|function| function.text.clone()), Some(16..48));
}

#[test]
fn constants_of_every_form() {
    let sections = assemble::Sections::default();
    let read = |bytes: &[u8]| Place::read(bytes, &sections);
    for (bytes, value) in [
        (&[0x30][..], 0),
        (&[0x4f], 31),
        (&[0x08, 0xff], 255),
        (&[0x09, 0xff], -1),
        (&[0x0a, 0xfe, 0xff], 65534),
        (&[0x0b, 0xfe, 0xff], -2),
        (&[0x0c, 0, 0, 0, 0x80], 1 << 31),
        (&[0x0d, 0, 0, 0, 0x80], -(1 << 31)),
        (&[0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80], i64::MIN + 1),
        (&[0x10, 0x80, 1], 128),
        (&[0x11, 0x7f, 0x9f], -1),
    ] {
        assert_eq!(read(bytes), Ok(Place::Constant(value)), "{bytes:x?}");
    }
    assert!(read(&[0x0f, 1, 2]).is_err());
}
