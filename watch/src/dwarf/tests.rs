//! Foreign DWARF may be anything: what can be used is used, and nothing panics or takes for ever.

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
