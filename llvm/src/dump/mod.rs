//! A module as text, close to what LLVM's own disassembler writes: enough to see what a file holds, and to name places in it.
//!
//! Attributes stand where they are used, metadata is left out but for its named lists of tuples.

mod constant;
mod inst;

use crate::error::Result;
use crate::module::attributes::{self, Attribute, AttributeSet};
use crate::module::metadata::Metadata;
use crate::module::ops::Linkage;
use crate::module::types::{Type, TypeId};
use crate::module::{GlobalValue, Module, ValueId};
use std::fmt::Write;

/// Writes a name as `.ll` files do: in quotation marks where it has to be.
pub(crate) fn name(name: &str, out: &mut String) {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '$' | '.' | '_');
    if !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return out.push_str(name);
    }
    out.push('"');
    escape(name.as_bytes(), out);
    out.push('"');
}

/// Bytes as in a string of a `.ll` file.
fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        match byte {
            b'"' | b'\\' => put(out, format_args!("\\{byte:02X}")),
            0x20..0x7f => out.push(char::from(*byte)),
            _ => put(out, format_args!("\\{byte:02X}")),
        }
    }
}

/// Appends to a string, which cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).unwrap_or_default();
}

/// The module as text.
///
/// # Errors
/// What is wrong with a body.
pub fn module(module: &mut Module<'_>) -> Result<String> {
    let mut out = String::new();
    if !module.producer.is_empty() {
        put(&mut out, format_args!("; {}\n", module.producer));
    }
    put(&mut out, format_args!("source_filename = \"{}\"\n", module.source_filename));
    put(&mut out, format_args!("target datalayout = \"{}\"\n", module.data_layout));
    put(&mut out, format_args!("target triple = \"{}\"\n", module.triple));
    for line in module.asm.lines() {
        out.push_str("module asm \"");
        escape(line.as_bytes(), &mut out);
        out.push_str("\"\n");
    }
    out.push('\n');
    structs(module, &mut out);
    for comdat in &module.comdats {
        out.push('$');
        name(&comdat.name, &mut out);
        let selection = ["any", "any", "exactmatch", "largest", "nodeduplicate", "samesize"];
        let selection =
            usize::try_from(comdat.selection).ok().and_then(|n| selection.get(n)).unwrap_or(&"any");
        put(&mut out, format_args!(" = comdat {selection}\n"));
    }
    for n in 0..module.globals.len() {
        global(module, n, &mut out);
    }
    for alias in &module.aliases {
        out.push('@');
        name(&alias.name, &mut out);
        put(
            &mut out,
            format_args!(" = {}alias {}, ", linkage(alias.linkage, false), module.types.display(alias.ty)),
        );
        out.push_str("ptr ");
        constant::value(module, None, alias.target, &mut out);
        out.push('\n');
    }
    for n in 0..module.functions.len() {
        out.push('\n');
        function(module, n, &mut out)?;
    }
    named_metadata(module, &mut out);
    Ok(out)
}

fn structs(module: &Module<'_>, out: &mut String) {
    for n in 0..module.types.len() as u32 {
        match module.types.get(TypeId(n)) {
            Type::Struct { packed, fields, name: Some(known) } => {
                out.push('%');
                name(known, out);
                let fields: Vec<String> = fields.iter().map(|field| module.types.display(*field)).collect();
                let (open, close) = if *packed { ("<{", "}>") } else { ("{", "}") };
                put(out, format_args!(" = type {open} {} {close}\n", fields.join(", ")));
            }
            Type::Opaque(known) => {
                out.push('%');
                name(known, out);
                out.push_str(" = type opaque\n");
            }
            _ => {}
        }
    }
}

/// A linkage with a blank behind it; nothing for a definition that everyone sees.
fn linkage(linkage: Linkage, is_declaration: bool) -> String {
    match linkage {
        Linkage::External | Linkage::ExternalImport | Linkage::ExternalExport | Linkage::ExternalHidden => {
            if is_declaration {
                "external ".to_owned()
            } else {
                String::new()
            }
        }
        _ => format!("{} ", linkage.name()),
    }
}

fn global(module: &Module<'_>, n: usize, out: &mut String) {
    let global = &module.globals[n];
    out.push('@');
    name(&global.name, out);
    put(out, format_args!(" = {}", linkage(global.linkage, global.init.is_none())));
    out.push_str(["", "hidden ", "protected "].get(global.visibility as usize).copied().unwrap_or(""));
    out.push_str(
        ["", "unnamed_addr ", "local_unnamed_addr "].get(global.unnamed_addr as usize).copied().unwrap_or(""),
    );
    if global.space != 0 {
        put(out, format_args!("addrspace({}) ", global.space));
    }
    if global.externally_initialized {
        out.push_str("externally_initialized ");
    }
    out.push_str(if global.is_constant { "constant " } else { "global " });
    out.push_str(&module.types.display(global.ty));
    if let Some(init) = global.init {
        out.push(' ');
        constant::value(module, None, init, out);
    }
    if let Some(section) = &global.section {
        put(out, format_args!(", section \"{section}\""));
    }
    comdat(module, global.comdat, ", ", out);
    if let Some(align) = global.align {
        put(out, format_args!(", align {align}"));
    }
    out.push('\n');
}

fn comdat(module: &Module<'_>, comdat: Option<usize>, before: &str, out: &mut String) {
    if let Some(comdat) = comdat.and_then(|n| module.comdats.get(n)) {
        put(out, format_args!("{before}comdat($"));
        name(&comdat.name, out);
        out.push(')');
    }
}

/// Attributes at one index, each with a blank in front.
fn attribute_list(module: &Module<'_>, set: u32, index: u32, out: &mut String) {
    for attribute in module.attributes.set(set).at(index) {
        out.push(' ');
        let named = |number: &u64| match attributes::name(*number) {
            Some(known) => known.to_owned(),
            None => format!("attribute{number}"),
        };
        match attribute {
            Attribute::Number(number, None) | Attribute::Range(number, _) => out.push_str(&named(number)),
            Attribute::Number(number, Some(value)) if *number == attributes::known::ALIGN => {
                put(out, format_args!("align {value}"));
            }
            Attribute::Number(number, Some(value)) => put(out, format_args!("{}({value})", named(number))),
            Attribute::Type(number, None) => out.push_str(&named(number)),
            Attribute::Type(number, Some(ty)) => {
                put(out, format_args!("{}({})", named(number), module.types.display(*ty)))
            }
            Attribute::Text(key, None) => put(out, format_args!("\"{key}\"")),
            Attribute::Text(key, Some(value)) => put(out, format_args!("\"{key}\"=\"{value}\"")),
        }
    }
}

/// A calling convention with a blank behind it.
fn convention(number: u64) -> String {
    match number {
        0 => String::new(),
        8 => "fastcc ".to_owned(),
        9 => "coldcc ".to_owned(),
        71 => "ptx_kernel ".to_owned(),
        72 => "ptx_device ".to_owned(),
        76 => "spir_kernel ".to_owned(),
        75 => "spir_func ".to_owned(),
        other => format!("cc {other} "),
    }
}

fn function(module: &mut Module<'_>, n: usize, out: &mut String) -> Result<()> {
    let body = module.read_body(n)?;
    let function = &module.functions[n];
    let set = function.attributes;
    out.push_str(if body.is_some() { "define " } else { "declare " });
    out.push_str(&linkage(function.linkage, false));
    out.push_str(["", "hidden ", "protected "].get(function.visibility as usize).copied().unwrap_or(""));
    out.push_str(&convention(function.convention));
    let mut list = String::new();
    attribute_list(module, set, 0, &mut list);
    put(out, format_args!("{}", list.trim_start()));
    if !list.is_empty() {
        out.push(' ');
    }
    let Some((varargs, ret, params)) = module.signature(function.ty) else { return Ok(()) };
    put(out, format_args!("{} @", module.types.display(ret)));
    name(&function.name, out);
    out.push('(');
    let namer = body.as_ref().map(inst::Namer::new);
    for (at, param) in params.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        out.push_str(&module.types.display(*param));
        attribute_list(module, set, at as u32 + 1, out);
        if let (Some(namer), Some(body)) = (&namer, &body) {
            out.push(' ');
            out.push_str(&namer.value(ValueId(body.first_value + at as u32)));
        }
    }
    out.push_str(match (varargs, params.is_empty()) {
        (true, true) => "...",
        (true, false) => ", ...",
        (false, _) => "",
    });
    out.push(')');
    attribute_list(module, set, AttributeSet::FUNCTION, out);
    if let Some(section) = &function.section {
        put(out, format_args!(" section \"{section}\""));
    }
    comdat(module, function.comdat, " ", out);
    if let (Some(body), Some(namer)) = (&body, &namer) {
        out.push_str(" {\n");
        inst::body(module, body, namer, out);
        out.push('}');
    }
    out.push('\n');
    Ok(())
}

/// The named lists, with the tuples, texts and constants in them.
fn named_metadata(module: &Module<'_>, out: &mut String) {
    let mut names: Vec<&String> = module.metadata.named.keys().collect();
    names.sort();
    for list in names {
        put(out, format_args!("\n!{list} = !{{"));
        for (n, field) in module.metadata.named[list].iter().enumerate() {
            out.push_str(if n == 0 { "" } else { ", " });
            metadata(module, *field, 0, out);
        }
        out.push_str("}\n");
    }
}

fn metadata(module: &Module<'_>, field: u64, depth: u32, out: &mut String) {
    match module.metadata.field(field) {
        None => out.push_str("null"),
        Some(Metadata::String(text)) => {
            out.push_str("!\"");
            escape(text.as_bytes(), out);
            out.push('"');
        }
        Some(Metadata::Value(ty, value)) => {
            put(out, format_args!("{} ", module.types.display(*ty)));
            constant::value(module, None, *value, out);
        }
        // A node may contain itself.
        Some(Metadata::Tuple(fields)) if depth < 3 => {
            out.push_str("!{");
            for (n, field) in fields.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { ", " });
                metadata(module, *field, depth + 1, out);
            }
            out.push('}');
        }
        Some(Metadata::Tuple(_) | Metadata::Node(..)) => put(out, format_args!("!{}", field - 1)),
    }
}

/// The name of a global value, with `@`.
fn symbol(module: &Module<'_>, value: GlobalValue, out: &mut String) {
    out.push('@');
    name(module.name_of(value), out);
}
