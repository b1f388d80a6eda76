//! Constants as text.

use super::{escape, put, symbol};
use crate::module::body::Body;
use crate::module::constants::{Constant, ConstantKind};
use crate::module::types::{Type, TypeId};
use crate::module::{Module, ValueId};

/// A constant or symbol, without its type.
pub(super) fn value(module: &Module<'_>, body: Option<&Body>, value: ValueId, out: &mut String) {
    nested(module, body, value, 0, out);
}

/// The constant of a number, of the module or of a function.
fn find<'m>(module: &'m Module<'_>, body: Option<&'m Body>, value: ValueId) -> Option<&'m Constant> {
    let body_constant = |body: &'m Body| {
        let n = (value.0.checked_sub(body.first_value)?).checked_sub(body.num_params)?;
        body.constants.get(n as usize)
    };
    body.and_then(body_constant).or_else(|| module.constant(value))
}

/// Constants that hold each other deeper than this are cut short.
const MAX_DEPTH: u32 = 40;

fn nested(module: &Module<'_>, body: Option<&Body>, value: ValueId, depth: u32, out: &mut String) {
    // What is shared is written out for each that holds it, which may be twice as much on every level.
    if depth > MAX_DEPTH || depth > 0 && out.len() > module.text_limit {
        return out.push_str("...");
    }
    if let Some(global) = module.global_value(value) {
        return symbol(module, global, out);
    }
    let Some(constant) = find(module, body, value) else {
        return put(out, format_args!("<value {}>", value.0));
    };
    let typed = |value: ValueId, out: &mut String| {
        let ty = match module.global_value(value) {
            Some(_) => "ptr".to_owned(),
            None => {
                find(module, body, value).map_or("?".to_owned(), |constant| module.types.display(constant.ty))
            }
        };
        out.push_str(&ty);
        out.push(' ');
        nested(module, body, value, depth + 1, out);
    };
    let list = |values: &[ValueId], out: &mut String| {
        for (n, value) in values.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { ", " });
            typed(*value, out);
        }
    };
    let (open, close) = match module.types.get(constant.ty) {
        Type::Array { .. } => ("[", "]"),
        Type::Vector { .. } => ("<", ">"),
        Type::Struct { packed: true, .. } => ("<{ ", " }>"),
        _ => ("{ ", " }"),
    };
    match &constant.kind {
        ConstantKind::Null => out.push_str(match module.types.get(constant.ty) {
            Type::Integer(1) => "false",
            Type::Integer(_) => "0",
            Type::Half | Type::BFloat | Type::Float | Type::Double => "0.000000e+00",
            Type::Pointer { .. } => "null",
            Type::Token => "none",
            _ => "zeroinitializer",
        }),
        ConstantKind::Undef => out.push_str("undef"),
        ConstantKind::Poison => out.push_str("poison"),
        ConstantKind::Integer(n) => match (module.types.get(constant.ty), n) {
            (Type::Integer(1), 0) => out.push_str("false"),
            (Type::Integer(1), _) => out.push_str("true"),
            _ => put(out, format_args!("{n}")),
        },
        ConstantKind::Wide(words) => {
            out.push_str("u0x");
            words.iter().rev().for_each(|word| put(out, format_args!("{word:016X}")));
        }
        ConstantKind::Float(bits) => float(module.types.get(constant.ty), bits, out),
        ConstantKind::Aggregate(parts) => {
            out.push_str(open);
            list(parts, out);
            out.push_str(close);
        }
        ConstantKind::String(bytes) => {
            out.push_str("c\"");
            escape(bytes, out);
            out.push('"');
        }
        ConstantKind::Data(elements) => data(module, constant.ty, elements, open, close, out),
        ConstantKind::Binary { op, args } => {
            put(out, format_args!("{} (", op.name()));
            list(args, out);
            out.push(')');
        }
        ConstantKind::Cast { op, arg } => {
            put(out, format_args!("{} (", op.name()));
            typed(*arg, out);
            put(out, format_args!(" to {})", module.types.display(constant.ty)));
        }
        ConstantKind::Gep { source, base, indices } => {
            put(out, format_args!("getelementptr ({}, ", module.types.display(*source)));
            typed(*base, out);
            for index in indices {
                out.push_str(", ");
                typed(*index, out);
            }
            out.push(')');
        }
        ConstantKind::Select(args) => {
            out.push_str("select (");
            list(args, out);
            out.push(')');
        }
        ConstantKind::Compare { predicate, args } => {
            put(
                out,
                format_args!("{} {} (", if predicate.is_float() { "fcmp" } else { "icmp" }, predicate.name()),
            );
            list(args, out);
            out.push(')');
        }
        ConstantKind::InlineAsm(asm) => {
            out.push_str("asm ");
            out.push_str(if asm.side_effect { "sideeffect " } else { "" });
            out.push_str(if asm.align_stack { "alignstack " } else { "" });
            out.push('"');
            escape(asm.text.as_bytes(), out);
            out.push_str("\", \"");
            escape(asm.constraints.as_bytes(), out);
            out.push('"');
        }
        ConstantKind::BlockAddress { function, block } => {
            let name = module.global_value(*function).map_or("", |function| module.name_of(function));
            out.push_str("blockaddress(@");
            super::name(name, out);
            put(out, format_args!(", %{block})"));
        }
        ConstantKind::Other(what) => put(out, format_args!("<{what}>")),
    }
}

fn data(module: &Module<'_>, ty: TypeId, elements: &[u64], open: &str, close: &str, out: &mut String) {
    let (element, splat) = match module.types.get(ty) {
        Type::Array { element, .. } => (*element, false),
        Type::Vector { element, len } => (*element, *len > 1 && elements.len() == 1),
        _ => (ty, false),
    };
    let name = module.types.display(element);
    out.push_str(if splat { "splat (" } else { open });
    for (n, bits) in elements.iter().enumerate() {
        put(out, format_args!("{}{name} ", if n == 0 { "" } else { ", " }));
        match module.types.get(element) {
            Type::Integer(64) | Type::Integer(0) => put(out, format_args!("{}", *bits as i64)),
            Type::Integer(width @ 1..=63) => {
                put(out, format_args!("{}", (*bits as i64) << (64 - width) >> (64 - width)));
            }
            other => float(other, &[*bits], out),
        }
    }
    out.push_str(if splat { ")" } else { close });
}

fn float(ty: &Type, bits: &[u64], out: &mut String) {
    let low = bits.first().copied().unwrap_or(0);
    match ty {
        Type::Half => put(out, format_args!("0xH{low:04X}")),
        Type::BFloat => put(out, format_args!("0xR{low:04X}")),
        // A float is written as the double of the same value.
        Type::Float => put(out, format_args!("0x{:016X}", f64::from(f32::from_bits(low as u32)).to_bits())),
        Type::Double => put(out, format_args!("0x{low:016X}")),
        // Stored with the highest 64 of its 80 bits first.
        Type::X86Fp80 => {
            let rest = bits.get(1).copied().unwrap_or(0);
            put(out, format_args!("0xK{:04X}{:016X}", low >> 48, low << 16 | rest & 0xffff));
        }
        Type::PpcFp128 => words("0xM", bits, out),
        _ => words("0xL", bits, out),
    }
}

fn words(prefix: &str, bits: &[u64], out: &mut String) {
    out.push_str(prefix);
    bits.iter().for_each(|word| put(out, format_args!("{word:016X}")));
}
