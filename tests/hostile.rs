//! Truncated, mutated, random and huge input to every parser: an answer each time, within time and memory that follow the input.

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use std::path::Path;
use std::time::{Duration, Instant};
use warpsmith::isa::Target;
use warpsmith::launch::LaunchSpec;
use warpsmith::{Diagnostics, Language};
use warpsmith::{ir, ptx};
use warpsmith_filetests::scan;
use warpsmith_harness::runs::{Run, runs};

#[path = "../fuzz/properties.rs"]
mod properties;

const LAUNCH: &str = r#"{"entry":"k","grid":[2,1,1],"block":[32,1,1],"cluster":[2,1,1],"dynamic_shared":16,"limits":{"steps":5},
    "args":[{"type":"u32","value":7},{"type":"f32","value":"0x3f800000"},{"bytes":"0a0b"},{"buffer":"ff00"},{"buffer_zero":3},
    {"buffer_type":"s16","values":[-1,2]},{"same_as":4},{"buffer_type":"u32","iota":3,"start":5},{"buffer_type":"f16","random":9}]}"#;

fn examples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let sources = entries.filter(|path| Language::of_path(path).is_some());
    sources.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// The examples as PTX.
fn emitted() -> Vec<String> {
    let compiler = warpsmith::emit::Compiler::new(Target::sm(80));
    examples()
        .iter()
        .map(|source| compiler.compile(ir::parse_module(source).unwrap()).unwrap().text)
        .collect()
}

/// Everything that reads text reads `text`; spans must lie inside it.
fn read_all(text: &str) {
    let inside = |diagnostics: Diagnostics| {
        for diagnostic in diagnostics {
            let spans = diagnostic.labels.iter().map(|(span, _)| *span).chain([diagnostic.span]);
            for span in spans.filter(|span| !span.is_none()) {
                assert!(
                    span.start <= span.end && span.end as usize <= text.len(),
                    "{diagnostic:?} in {text:?}"
                );
            }
            assert!(!diagnostic.message.is_empty() && !diagnostic.code.is_empty());
        }
    };
    inside(warpsmith::check(text, Language::Ptx, None));
    inside(warpsmith::check(text, Language::Ptx, Some(Target::sm(90))));
    inside(warpsmith::check(text, Language::Wir, None));
    let (Ok(_) | Err(_)) = LaunchSpec::parse(text);
    for language in [Language::Wir, Language::Ptx] {
        drop(scan(text, language).and_then(|found| runs(&found)));
    }
    std::hint::black_box(text.parse::<Target>().is_ok());
}

/// How long to go on: a few seconds, or as many milliseconds as `WARPSMITH_HOSTILE_MS` has.
fn budget() -> u64 {
    std::env::var("WARPSMITH_HOSTILE_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

/// Cuts, repeats, swaps and overwrites pieces.
fn mutate(u: &mut Unstructured<'_>, source: &str) -> Result<String> {
    let mut bytes = source.as_bytes().to_vec();
    for _ in 0..u.int_in_range(1..=6)? {
        let len = bytes.len();
        if len == 0 {
            break;
        }
        let start = u.int_in_range(0..=len - 1)?;
        let end = (start + u.int_in_range(0..=40usize)?).min(len);
        match u.int_in_range(0..=4)? {
            0 => bytes.truncate(start),
            1 => drop(bytes.drain(start..end)),
            2 => {
                let piece = bytes[start..end].to_vec();
                let at = u.int_in_range(0..=len)?;
                bytes.splice(at..at, piece);
            }
            3 => bytes[start] = u.arbitrary()?,
            _ => {
                const PIECES: &[&str] = &[
                    "{",
                    "}",
                    "(",
                    ")",
                    "[",
                    "]",
                    "%",
                    "@",
                    ".",
                    ";",
                    ",",
                    "\"",
                    "/*",
                    "\u{1F600}",
                    "99999999999999999999",
                    "-",
                    "0x",
                    "\0",
                ];
                let piece = u.choose(PIECES)?;
                bytes.splice(start..start, piece.bytes());
            }
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn mutated_text_is_answered() {
    let mut sources = examples();
    sources.extend(emitted());
    sources.push(LAUNCH.to_owned());
    arbtest(|u| {
        let source = u.choose(&sources)?;
        let text = mutate(u, source)?;
        let start = Instant::now();
        read_all(&text);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?} for:\n{text}", start.elapsed());
        Ok(())
    })
    .budget_ms(budget());
}

/// Exchanges numbers, registers and modifiers, so that many mutants are still valid.
fn mutate_words(u: &mut Unstructured<'_>, source: &str) -> Result<String> {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    for _ in 0..u.int_in_range(1..=4)? {
        let (from, to) = (u.choose_index(lines.len())?, u.choose_index(lines.len())?);
        match u.int_in_range(0..=3)? {
            0 => lines[to] = lines[from].clone(),
            1 => lines.swap(from, to),
            2 => drop(lines.remove(to)),
            _ => {
                let digits = lines[to].char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at);
                let digits: Vec<usize> = digits.collect();
                if let Some(&at) = digits.get(u.int_in_range(0..=digits.len())?) {
                    let digit = u.int_in_range(0..=9)?.to_string();
                    lines[to].replace_range(at..=at, &digit);
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    Ok(lines.join("\n"))
}

#[test]
fn mutated_kernels_end_in_a_value() {
    let kernels: Vec<(String, Vec<LaunchSpec>)> = std::iter::zip(examples(), emitted())
        .map(|(source, ptx)| {
            let found = scan(&source, Language::Wir).and_then(|found| runs(&found)).unwrap();
            let launch = |mut run: Run| {
                run.launch.steps = Some(300_000);
                run.launch
            };
            (ptx, found.into_iter().map(launch).collect())
        })
        .collect();
    let (mut valid, mut ended) = (0, 0);
    arbtest(|u| {
        let (ptx, launches) = u.choose(&kernels)?;
        let text = mutate_words(u, ptx)?;
        if let Ok(program) =
            ptx::ValidatedModule::parse(&text).and_then(|module| warpsmith::Program::load(&module))
        {
            valid += 1;
            for launch in launches {
                ended += usize::from(warpsmith::launch::execute(&program, launch).is_ok());
            }
        }
        Ok(())
    })
    .budget_ms(budget());
    // Else the test would not test running.
    assert!(valid > 20 && ended > 5, "{valid} mutants were valid, {ended} ran to their end");
}

#[test]
fn mutated_modules_compile_or_are_refused() {
    let sources = examples();
    let mut valid = 0;
    arbtest(|u| {
        let source = u.choose(&sources)?;
        let text = mutate_words(u, source)?;
        let Ok(module) = ir::parse_module(&text) else { return Ok(()) };
        if ir::verify(&module).is_err() {
            return Ok(());
        }
        valid += 1;
        for level in warpsmith::emit::OptLevel::ALL {
            let compiler = warpsmith::emit::Compiler::new(Target::sm(80)).with_opt_level(level);
            if let Err(errors) = compiler.compile(&module) {
                // Refusals speak of the input, not of PTX that the user has never seen.
                assert!(
                    errors.iter().all(|error| !error.code.starts_with('P')),
                    "{errors:?} at {level} for:\n{text}"
                );
            }
        }
        Ok(())
    })
    .budget_ms(budget());
    assert!(valid > 20, "only {valid} mutants were valid");
}

#[test]
fn random_bytes_are_answered() {
    arbtest(|u| {
        let bytes: Vec<u8> = u.arbitrary()?;
        read_all(&String::from_utf8_lossy(&bytes));
        Ok(())
    })
    .budget_ms(budget());
}

#[test]
fn every_prefix_is_answered() {
    let mut sources = examples();
    sources.extend(emitted());
    sources.push(LAUNCH.to_owned());
    for source in &sources {
        let step = source.len() / 50 + 1;
        for end in (0..source.len()).step_by(step).filter(|&end| source.is_char_boundary(end)) {
            read_all(&source[..end]);
        }
    }
}

#[test]
fn huge_and_deep_text_takes_time_in_proportion() {
    let n = 200_000;
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(n), close.repeat(n));
    let ptx = |body: &str| {
        format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{ {body} }}\n")
    };
    let wir = |body: &str| format!("kernel @k() {{\nentry:\n{body}\n}}\n");
    let cases = [
        nested("{", "}"),
        nested("(", ")"),
        nested("[", "]"),
        "/*".repeat(n),
        "\"".repeat(n),
        "x".repeat(n),
        "9".repeat(n),
        "@".repeat(n),
        "\n".repeat(n),
        "\u{1F600}".repeat(n / 4),
        ptx(&nested("{ ", "} ")),
        ptx(&format!("mov.u32 %r1, {};", nested("(", ")"))),
        ptx(&format!("mov.u32 %r1, {}1;", "-".repeat(n))),
        ptx(&format!("mov.u32 %r1, {}1;", "!".repeat(n))),
        ptx(&format!("mov.u32 %r1, 1{};", "+1".repeat(n))),
        ptx(&format!("mov.u32 %r1, 1{};", "?1:1".repeat(n))),
        ptx(&format!("add{} %r1, %r1, %r1;", ".u32".repeat(n))),
        ptx(&format!("add.u32 {}%r1;", "%r1, ".repeat(n))),
        ptx(&"nonsense;\n".repeat(n / 10)),
        ptx(".reg .b32 %r<4294967295>;"),
        format!(".version 8.0\n.target sm_80\n.global .b8 a[18446744073709551615] = {{{}}};", "1,".repeat(n)),
        format!(".version 8.0\n.target sm_80\n.global .b8 a{};", "[4294967295]".repeat(n / 10)),
        wir(&"  %x = iadd %x, %x\n".repeat(n / 20)),
        wir(&format!("  %x = iconst.i32 {}\n  ret", "1".repeat(n))),
        wir(&format!("  jump {}", nested("entry(", ")"))),
        wir(&format!("  %x = ptx.st.global.v4.f32 [{}], 1\n  ret", nested("{", "}"))),
        format!("global @x: {}", "[".repeat(n)),
        format!("global @x: [i32; 18446744073709551615] = [{}]", "1, ".repeat(n)),
        format!(
            "kernel @k() {{\n{}}}",
            (0..n / 20).map(|i| format!("b{i}:\n  jump b{}\n", i + 1)).collect::<String>()
        ),
        format!("{{\"entry\":{}", "[".repeat(n)),
        format!("{{\"entry\":\"k\",\"args\":[{}1]}}", "1,".repeat(n)),
        format!(";; run: {}", "[".repeat(n)),
        ";; run: {}\n".repeat(n / 20),
        ";;    x\n".repeat(n / 20),
    ];
    for text in &cases {
        let start = Instant::now();
        read_all(text);
        let took = start.elapsed();
        let head: String = text.chars().take(80).collect();
        assert!(took < Duration::from_secs(20), "{took:?} for {} bytes: {head}", text.len());
    }
}

#[test]
fn printed_ptx_parses_to_the_same_tree() {
    for text in emitted() {
        let tree = ptx::parse(&text);
        assert!(tree.diagnostics.is_empty());
        assert_eq!(ptx::check_printed(&tree.module, &ptx::print(&tree.module)), Ok(()), "{text}");
    }
}

/// What the fuzzers have found their way into, in a few inputs each.
#[test]
fn the_corpora_of_the_fuzzers_keep_their_properties() {
    let replay = |target: &str, property: fn(&[u8])| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let entries = std::fs::read_dir(&folder).expect("the corpus is part of the repository");
        let inputs: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        assert!(inputs.len() > 100, "{} holds {} inputs", folder.display(), inputs.len());
        for input in inputs {
            property(&std::fs::read(input).expect("the input can be read"));
        }
    };
    replay("ptx", properties::ptx);
    replay("wir", properties::wir);
    replay("run", properties::run);
}
