//! The text of debug information.

use super::*;
use crate::entities::ScopeId;
use crate::function::{Function, LocData};
use crate::module::Module;
use std::fmt::Write;

/// A string as the lexer reads it back: any bytes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        match byte {
            // Bodies are skipped by their braces and comments.
            b'"' | b'\\' | b'{' | b'}' | b';' | 0..=31 | 127.. => put(&mut out, format_args!("\\{byte:02x}")),
            _ => out.push(char::from(byte)),
        }
    }
    out.push('"');
    out
}

fn put(out: &mut String, args: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(args);
    debug_assert!(written.is_ok(), "a String takes everything");
}

macro_rules! put {
    ($out:expr, $($args:tt)*) => { put($out, format_args!($($args)*)) };
}

fn at(declared: Declared) -> String {
    format!(" at {}:{}", declared.file.as_u32(), declared.line)
}

/// The units, types, subprograms and global variables of a module.
pub(crate) fn module(out: &mut String, module: &Module) {
    let Some(debug) = &module.debug else { return };
    for (id, unit) in &debug.units {
        let Unit { file, producer, language, directory } = unit;
        put!(
            out,
            "!{id} = file {} producer {} language {language:#x} directory {}\n",
            file.as_u32(),
            quoted(producer),
            quoted(directory)
        );
    }
    for (id, ty) in &debug.types {
        put!(out, "!{id} = ");
        debug_type(out, ty);
        out.push('\n');
    }
    for (id, subprogram) in &debug.subprograms {
        let Subprogram { name, linkage_name, unit, declared, ty } = subprogram;
        put!(out, "!{id} = {}", quoted(name));
        if let Some(linkage_name) = linkage_name {
            put!(out, " linkage {}", quoted(linkage_name));
        }
        put!(out, " in !{unit}{}", at(*declared));
        if let Some(ty) = ty {
            put!(out, " type !{ty}");
        }
        out.push('\n');
    }
    for variable in &debug.globals {
        let GlobalVariable { name, global, ty, unit, declared } = variable;
        let symbol = module.globals.get(*global).map_or("?", |global| &global.name);
        put!(out, "!variable @{symbol} = {} !{ty} in !{unit}{}\n", quoted(name), at(*declared));
    }
}

fn debug_type(out: &mut String, ty: &DebugType) {
    match ty {
        DebugType::Base { name, size, encoding } => {
            put!(out, "base {} size {size} {}", quoted(name), encoding.name());
        }
        DebugType::Pointer { to, space } => {
            match to {
                Some(to) => put!(out, "pointer !{to}"),
                None => out.push_str("pointer void"),
            }
            if *space != warpsmith_isa::StateSpace::Generic {
                put!(out, " space {}", space.name());
            }
        }
        DebugType::Reference { to } => put!(out, "reference !{to}"),
        DebugType::Composite { kind, name, size, declared, members } => {
            put!(out, "{} {} size {size}", kind.name(), quoted(name));
            if let Some(declared) = declared {
                out.push_str(&at(*declared));
            }
            out.push_str(" {");
            for (n, Member { name, ty, offset, bits }) in members.iter().enumerate() {
                put!(out, "{}{}: !{ty} at {offset}", if n == 0 { " " } else { ", " }, quoted(name));
                if let Some((width, from)) = bits {
                    put!(out, " bits {width} from {from}");
                }
            }
            out.push_str(" }");
        }
        DebugType::Array { element, dimensions } => {
            put!(out, "array !{element} [");
            for (n, length) in dimensions.iter().enumerate() {
                put!(out, "{}{length}", if n == 0 { "" } else { ", " });
            }
            out.push(']');
        }
        DebugType::Vector { element, lanes } => put!(out, "vector !{element} [{lanes}]"),
        DebugType::Enum { name, base, enumerators } => {
            put!(out, "enum {} !{base} {{", quoted(name));
            for (n, Enumerator { name, value }) in enumerators.iter().enumerate() {
                put!(out, "{}{} = {value}", if n == 0 { " " } else { ", " }, quoted(name));
            }
            out.push_str(" }");
        }
        DebugType::Typedef { name, of } => put!(out, "typedef {} !{of}", quoted(name)),
        DebugType::Const(of) => put!(out, "const !{of}"),
        DebugType::Volatile(of) => put!(out, "volatile !{of}"),
        DebugType::Function { params, ret } => {
            out.push_str("function (");
            for (n, param) in params.iter().enumerate() {
                put!(out, "{}!{param}", if n == 0 { "" } else { ", " });
            }
            out.push(')');
            if let Some(ret) = ret {
                put!(out, " -> !{ret}");
            }
        }
    }
}

/// ` at 0:3:7 in !scope1`
fn place(out: &mut String, at: LocData, parent: Option<ScopeId>) {
    put!(out, " at {}:{}:{}", at.file.as_u32(), at.line, at.column);
    if let Some(parent) = parent {
        put!(out, " in !{parent}");
    }
}

/// The scopes and variables of a function.
pub(crate) fn function(out: &mut String, func: &Function) {
    let Some(debug) = &func.debug else { return };
    for (id, scope) in &debug.scopes {
        match scope.kind {
            // The header has it.
            ScopeKind::Function => continue,
            ScopeKind::Block => put!(out, "  !{id} = block"),
            ScopeKind::Inlined(subprogram) => put!(out, "  !{id} = inlined !{subprogram}"),
        }
        place(out, scope.at, scope.parent);
        out.push('\n');
    }
    for (id, variable) in &debug.variables {
        let DebugVariable { name, kind, ty, scope, declared } = variable;
        match kind {
            VariableKind::Parameter(number) => put!(out, "  !{id} = param {number} "),
            VariableKind::Local => put!(out, "  !{id} = local "),
        }
        put!(out, "{} !{ty}{} in !{scope}\n", quoted(name), at(*declared));
    }
}

impl Function {
    /// What the text says of a binding: names of what is there, and what has become of the rest.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only values and memory behind them change")]
    pub(crate) fn written_storage(&self, storage: Storage) -> Storage {
        let Some(value) = storage.value() else { return storage };
        let value = self.dfg.resolve(value);
        let known = match self.storage(storage) {
            Storage::OptimizedOut => return Storage::OptimizedOut,
            other => other,
        };
        let there = match self.dfg.def(value) {
            crate::ValueDef::Result(inst, _) => self.layout.block_of(inst).is_some(),
            _ => true,
        };
        match storage {
            _ if !there => known,
            Storage::Memory(_, offset) => Storage::Memory(value, offset),
            _ => Storage::Value(value),
        }
    }
}
