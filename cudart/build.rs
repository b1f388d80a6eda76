//! Makes Rust tables of the tables in `data/`: functions that hand their arguments to the driver, members of structures, errors, and a function that says so
//! for every name that nothing defines.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

type Anything<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Anything<()> {
    println!("cargo:rerun-if-changed=data");
    println!("cargo:rerun-if-changed=src");
    // Programs that were linked with NVIDIA's ask for symbols of this version. Only GNU ld gives all symbols one.
    for arg in ["-fuse-ld=bfd", "-Wl,-soname,libcudart.so.13", "-Wl,--default-symver"] {
        println!("cargo:rustc-cdylib-link-arg={arg}");
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut defined = defined(Path::new("src"))?;
    std::fs::write(out.join("forward.rs"), forward(&mut defined)?)?;
    std::fs::write(out.join("missing.rs"), missing(&defined)?)?;
    std::fs::write(out.join("errors.rs"), errors()?)?;
    std::fs::write(out.join("properties.rs"), properties()?)?;
    Ok(())
}

/// The rows of a table, without comments.
fn rows(path: &str) -> Anything<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    Ok(lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// The functions that the files of a folder define, with `rt!` and `rt_stream!` or without.
fn defined(folder: &Path) -> Anything<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for file in std::fs::read_dir(folder)? {
        for line in std::fs::read_to_string(file?.path())?.lines() {
            let head = line.strip_prefix("    fn ").or_else(|| line.strip_prefix("pub extern \"C\" fn "));
            let Some(head) = head else { continue };
            let head = head.split('(').next().unwrap_or_default();
            found.extend(head.split(" / ").filter(|name| name.contains("cuda")).map(str::to_owned));
        }
    }
    Ok(found)
}

/// The functions that are the driver's, but for the context that they make, and what is said of their arguments.
fn forward(defined: &mut BTreeSet<String>) -> Anything<String> {
    let mut text = String::new();
    for row in rows("data/forward.tsv")? {
        let [name, count, target, notes @ ..] = row.as_slice() else {
            return Err(format!("data/forward.tsv: {row:?} has not three columns").into());
        };
        let count: usize = count.parse()?;
        let (mut function, mut stream, mut context, mut more) =
            (None, None, "context::ready()?", String::new());
        for note in notes.iter().flat_map(|notes| notes.split(' ')).filter(|note| !note.is_empty()) {
            match note.split_once('=') {
                Some(("function", place)) => function = Some(place.parse::<usize>()?),
                Some(("stream", place)) => stream = Some(place.parse::<usize>()?),
                None if note == "init" => context = "context::initialise()?",
                None if note == "+context" => more.push_str(", context::ready()?"),
                None if note == "+0" => more.push_str(", 0"),
                _ => return Err(format!("data/forward.tsv: what is {note}?").into()),
            }
        }
        let names = [(name.clone(), "0"), (format!("{name}_ptsz"), "2")];
        for (name, default) in names.iter().take(if stream.is_some() { 2 } else { 1 }) {
            let params: Vec<String> = (0..count).map(|i| format!("a{i}: usize")).collect();
            let args: Vec<String> = (0..count)
                .map(|i| match (function == Some(i), stream == Some(i)) {
                    (true, _) => format!("register::kernel(a{i})?"),
                    (_, true) => format!("crate::stream(a{i}, {default})"),
                    _ => format!("a{i}"),
                })
                .collect();
            writeln!(
                text,
                "/// `{name}`: `{target}`.\n#[unsafe(no_mangle)]\npub extern \"C\" fn {name}({}) -> u32 {{\n    \
                 call(\"{name}\", move || {{ {context}; static AT: Slot = Slot::new(c\"{target}\"); AT.call(&[{}{more}]) }})\n}}",
                params.join(", "),
                args.join(", "),
            )?;
            defined.insert(name.clone());
        }
    }
    Ok(text)
}

fn missing(defined: &BTreeSet<String>) -> Anything<String> {
    let mut text = String::new();
    for row in rows("data/names.txt")? {
        let name = &row[0];
        if !defined.contains(name) {
            writeln!(
                text,
                "/// `{name}`, which is not there yet.\n#[unsafe(no_mangle)]\npub extern \"C\" fn {name}() -> u32 {{ crate::error::missing(\"{name}\") }}"
            )?;
        }
    }
    Ok(text)
}

/// `cudaErrorInvalidValue` as `INVALID_VALUE`.
fn constant(name: &str) -> String {
    let short = name.trim_start_matches("cudaError").trim_start_matches("cuda");
    let mut found = String::new();
    let mut before = ' ';
    for c in short.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            found.push('_');
        }
        found.push(c.to_ascii_uppercase());
        before = c;
    }
    found
}

fn errors() -> Anything<String> {
    let (mut constants, mut table) = (String::new(), String::new());
    for row in rows("data/errors.tsv")? {
        let [number, name, text] = row.as_slice() else {
            return Err(format!("data/errors.tsv: {row:?} has not three columns").into());
        };
        writeln!(
            constants,
            "    /// `{name}`: {text}\n    pub const {}: Code = Code({number});",
            constant(name)
        )?;
        writeln!(table, "    ({number}, c\"{name}\", c\"{text}\"),")?;
    }
    Ok(format!(
        "#[allow(dead_code, reason = \"all of them are there\")]\nimpl Code {{\n{constants}}}\n\n/// Number, name and text of every code.\npub static CODES: &[(u32, &CStr, &CStr)] = &[\n{table}];\n"
    ))
}

/// Where the members of `cudaDeviceProp` are, and the attributes of the device that they hold.
fn properties() -> Anything<String> {
    let (mut table, mut at) = (String::new(), 0usize);
    for row in rows("data/properties.tsv")? {
        let [member, ty, rest @ ..] = row.as_slice() else {
            return Err(format!("data/properties.tsv: {row:?} has not two columns").into());
        };
        let (element, count) = match ty.split_once('[') {
            Some((element, count)) => (element, count.trim_end_matches(']').parse::<usize>()?),
            None => (ty.as_str(), 1),
        };
        let size = match element {
            "char" => 1,
            "int" => 4,
            "size_t" => 8,
            other => return Err(format!("data/properties.tsv: what is {other}?").into()),
        };
        at = at.next_multiple_of(size);
        let attributes = rest.first().map_or("", String::as_str);
        for (i, attribute) in attributes.split(' ').filter(|a| !a.is_empty()).enumerate() {
            let offset = at + i * size;
            writeln!(
                table,
                "    Member {{ offset: {offset}, wide: {}, attribute: {attribute} }},",
                size == 8
            )?;
        }
        if attributes.is_empty() {
            writeln!(table, "    // {member}, at {at}")?;
        }
        at += size * count;
    }
    at = at.next_multiple_of(8);
    Ok(format!(
        "/// The attributes in the members of the structure.\nstatic MEMBERS: &[Member] = &[\n{table}];\n/// Bytes of it.\nconst BYTES: usize = {at};\n"
    ))
}
