//! Functions that the program did not have: code of random kernels, and instructions of its own.

use super::ptx::{before, in_scope, plain};
use super::rewrite::new;
use super::statement::Nature;
use super::text::{Text, is_name, names, renamed};
use super::{control, statement};
use crate::Random;
use arbitrary::Unstructured;
use warpsmith_isa::{Target, Version};

/// Where functions are put: before all others.
fn top(text: &Text) -> Option<usize> {
    let line = text.lines.iter().position(|line| line.text.starts_with(".address_size"))?;
    Some(line + 1)
}

/// What the text says it is for.
fn target(text: &Text) -> Option<Target> {
    let names = text.lines.iter().find_map(|line| line.text.strip_prefix(".target "))?;
    names.split(',').next()?.trim().parse().ok()
}

/// A function of a random program is called, and its result changes nothing.
pub(super) fn call(text: &mut Text, at: usize, random: &mut Random) -> Option<()> {
    let target = target(text)?;
    let header = text.lines.iter().position(|line| line.text.starts_with(".version "))?;
    let has: Version = text.lines[header].text.strip_prefix(".version ")?.trim().parse().ok()?;
    control::may_begin(text, at).then_some(())?;
    if target.sm < 70 {
        return None;
    }
    let bytes = random.clone().bytes(600);
    random.word();
    let name = text.name();
    let mut config = crate::ptx::Config { target: Some(target), reference: true, ..Default::default() };
    config.memory = false;
    let donor = crate::ptx::function(&mut Unstructured::new(&bytes), &config, &name).ok()?;
    if donor.needs > has {
        text.lines[header].text = format!(".version {}", donor.needs);
    }
    let mut lines = Vec::new();
    let mut arguments = Vec::new();
    for (n, declaration) in donor.params.iter().enumerate() {
        let argument = format!("{name}a{n}");
        lines.push(format!("    {};", declaration.replace(" _", &format!(" {argument}"))));
        arguments.push(argument);
    }
    lines.push(format!("    .param .b32 {name}r;"));
    for (argument, declaration) in arguments.iter().zip(&donor.params) {
        let number = random.below(1 << 31);
        let bits = if declaration.contains(".b32") { 32 } else { 64 };
        lines.push(format!("    st.param.b{bits} [{argument}], {number};"));
        if declaration.contains('[') {
            lines.push(format!("    st.param.b64 [{argument}+8], {number};"));
        }
    }
    lines.push(format!("    call ({name}r), {name}, ({});", arguments.join(", ")));
    let mut declared = Vec::new();
    let [result, sink] = [32, 32].map(|bits| new(text, &mut declared, bits));
    lines.push(format!("    ld.param.b32 {result}, [{name}r];"));
    // Zero, whatever was computed, goes into what the next instruction reads.
    lines.push(format!("    xor.b32 {sink}, {result}, {result};"));
    let next = plain(text, at);
    let word = next.and_then(|s| {
        let read = s.operands.iter().skip(usize::from(s.writes_first()));
        let found: Vec<String> =
            read.flat_map(|o| names(o).map(|(_, n)| n.to_owned()).collect::<Vec<_>>()).collect();
        found.into_iter().find(|name| text.register(at, name) == Some(32))
    });
    if let Some(word) = word {
        lines.push(format!("    xor.b32 {word}, {word}, {sink};"));
    }
    declared.extend(lines);
    before(text, at, declared);
    let place = top(text)?;
    text.insert_all(place, donor.text.lines().map(str::to_owned));
    Some(())
}

/// An instruction that computes, as a function that is called.
pub(super) fn outline(text: &mut Text, at: usize) -> Option<()> {
    let statement = plain(text, at)?;
    if statement.nature() != Nature::Pure || !statement.writes_first() || !statement.guard.is_empty() {
        return None;
    }
    control::may_begin(text, at).then_some(())?;
    let result = statement.operands.first()?.clone();
    let bits = text.register(at, &result).filter(|bits| *bits >= 32 && result.chars().all(is_name))?;
    let sources = statement.operands[1..].join(", ");
    let read = text.registers(at, &sources);
    // A name that is neither is a variable, or a component of a register.
    let known =
        |name: &str| name.starts_with(|c: char| c.is_ascii_digit()) || read.iter().any(|(r, _)| r == name);
    let narrow = read.iter().any(|(_, bits)| *bits < 32);
    if narrow || sources.contains('.') || !names(&sources).all(|(_, name)| known(name)) {
        return None;
    }
    let name = text.name();
    let listed: Vec<String> =
        read.iter().enumerate().map(|(n, (_, bits))| format!(".param .b{bits} {name}p{n}")).collect();
    let mut function = vec![
        format!(".func (.param .b{bits} {name}r) {name}({})", listed.join(", ")),
        "{".to_owned(),
        statement::register("%m", bits),
    ];
    for (n, (_, bits)) in read.iter().enumerate() {
        function.push(statement::register(&format!("%m{n}"), *bits));
        function.push(format!("    ld.param.b{bits} %m{n}, [{name}p{n}];"));
    }
    let inside = |name: &str| Some(format!("%m{}", read.iter().position(|(r, _)| r == name)?));
    function.push(format!("    {} %m, {};", statement.mnemonic, renamed(&sources, is_name, inside)));
    function.push(format!("    st.param.b{bits} [{name}r], %m;"));
    function.extend(["    ret;".to_owned(), "}".to_owned()]);
    let mut lines = Vec::new();
    let mut arguments = Vec::new();
    for (n, (register, bits)) in read.iter().enumerate() {
        lines.push(format!("    .param .b{bits} {name}a{n};"));
        lines.push(format!("    st.param.b{bits} [{name}a{n}], {register};"));
        arguments.push(format!("{name}a{n}"));
    }
    lines.push(format!("    .param .b{bits} {name}v;"));
    lines.push(match arguments.as_slice() {
        [] => format!("    call ({name}v), {name};"),
        all => format!("    call ({name}v), {name}, ({});", all.join(", ")),
    });
    in_scope(text, at, Vec::new(), lines, format!("    ld.param.b{bits} {result}, [{name}v];"));
    let place = top(text)?;
    text.insert_all(place, function);
    Some(())
}
