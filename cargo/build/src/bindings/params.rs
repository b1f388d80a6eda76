//! Kernels and their parameters as Rust sees them.

use super::pointers::{Pointee, pointees};
use warpsmith_isa::{ScalarType, TypeClass};
use warpsmith_ptx::{Function, ValidatedModule};

/// The primitive types by their size.
pub const BITS: &[(u32, &[&str])] = &[
    (1, &["u8", "i8"]),
    (2, &["u16", "i16"]),
    (4, &["u32", "i32", "f32"]),
    (8, &["u64", "i64", "f64", "usize", "isize"]),
    (16, &["u128", "i128"]),
];

/// What a parameter takes.
#[derive(Clone, PartialEq, Debug)]
pub enum ParamType {
    /// A number.
    Scalar(&'static str),
    /// Bytes, by value.
    Bytes(u64),
    /// Memory.
    Pointer {
        /// What it holds.
        element: Element,
        /// The kernel may write it.
        written: bool,
    },
}

/// What memory holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Element {
    /// Floats.
    Float(&'static str),
    /// What has so many bytes.
    Bytes(u32),
    /// Anything.
    Any,
}

impl ParamType {
    pub fn is_pointer(&self) -> bool {
        matches!(self, ParamType::Pointer { .. })
    }

    /// The type for `warpsmith::Device`.
    pub fn cpu(&self, _: usize) -> String {
        match self {
            ParamType::Scalar(name) => (*name).to_owned(),
            ParamType::Bytes(bytes) => format!("[u8; {bytes}]"),
            ParamType::Pointer { .. } => "Buffer".to_owned(),
        }
    }

    /// The type for `cudarc`; the number names what is generic.
    pub fn cuda(&self, n: usize) -> String {
        let ParamType::Pointer { element, written } = self else { return self.cpu(n) };
        let by = if *written { "&mut " } else { "&" };
        match element {
            Element::Float(name) => format!("{by}CudaSlice<{name}>"),
            Element::Bytes(_) | Element::Any => format!("{by}CudaSlice<T{n}>"),
        }
    }
}

/// A parameter of a kernel.
pub struct Param {
    pub ident: String,
    pub ty: ParamType,
}

/// A kernel.
pub struct Kernel {
    /// Its name in PTX.
    pub name: String,
    /// Its name in Rust.
    pub ident: String,
    /// The same as the beginning of a longer name.
    pub stem: String,
    pub params: Vec<Param>,
}

impl Kernel {
    pub fn new(module: &ValidatedModule, function: &Function) -> Kernel {
        let name = module[function.name].to_string();
        let pointees = pointees(module, function);
        let mut params = Vec::new();
        for decl in &module[function.params] {
            for declarator in &module[decl.names] {
                let n = params.len();
                let own = module[declarator.name].to_string();
                let pointee = pointees.get(n).copied().unwrap_or(Pointee::UNKNOWN);
                let is_array = !module[declarator.dims].is_empty();
                let bytes = module.bytes_of(decl, declarator).unwrap_or(0);
                let ty = if is_array || decl.vector > 1 {
                    ParamType::Bytes(bytes)
                } else if decl.ptr.is_some() || (pointee.accessed && decl.ty.bits() == 64) {
                    ParamType::Pointer { element: element(pointee.element), written: pointee.written }
                } else {
                    scalar(decl.ty).map_or(ParamType::Bytes(bytes), ParamType::Scalar)
                };
                params.push(Param { ident: parameter_ident(&own, &name, n), ty });
            }
        }
        distinct(&mut params);
        let stem = identifier(&name);
        Kernel { name, ident: escape(stem.clone()), stem, params }
    }

    /// `, a: T, b: U`
    pub fn list(&self, ty: impl Fn(&ParamType, usize) -> String) -> String {
        self.params
            .iter()
            .enumerate()
            .map(|(n, param)| format!(", {}: {}", param.ident, ty(&param.ty, n)))
            .collect()
    }

    /// `<T1: super::Bits<4>, T2>`
    pub fn generics(&self) -> String {
        let of = |(n, param): (usize, &Param)| match param.ty {
            ParamType::Pointer { element: Element::Bytes(bytes), .. } => {
                Some(format!("T{n}: super::Bits<{bytes}>"))
            }
            ParamType::Pointer { element: Element::Any, .. } => Some(format!("T{n}")),
            ParamType::Pointer { element: Element::Float(_), .. }
            | ParamType::Scalar(_)
            | ParamType::Bytes(_) => None,
        };
        let all: Vec<String> = self.params.iter().enumerate().filter_map(of).collect();
        if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
    }
}

/// How an argument is added to a launch.
pub fn cpu_argument(param: &Param) -> String {
    match param.ty {
        ParamType::Bytes(_) => format!(".arg(warpsmith::interp::Arg::bytes({}))", param.ident),
        ParamType::Scalar(_) | ParamType::Pointer { .. } => format!(".arg({})", param.ident),
    }
}

/// The Rust type of a number.
fn scalar(ty: ScalarType) -> Option<&'static str> {
    let at = |names: [&'static str; 5]| match ty.bits() {
        8 => Some(names[0]),
        16 => Some(names[1]),
        32 => Some(names[2]),
        64 => Some(names[3]),
        128 => Some(names[4]),
        _ => None,
    };
    match ty {
        ScalarType::F32 => Some("f32"),
        ScalarType::F64 => Some("f64"),
        _ => match ty.class() {
            TypeClass::Signed => at(["i8", "i16", "i32", "i64", "i128"]),
            TypeClass::Unsigned | TypeClass::Bits => at(["u8", "u16", "u32", "u64", "u128"]),
            // Halves and packed numbers as their bits.
            TypeClass::Float | TypeClass::Packed => at(["u8", "u16", "u32", "u64", "u128"]),
            TypeClass::Pred | TypeClass::Opaque => None,
        },
    }
}

fn element(ty: Option<ScalarType>) -> Element {
    match ty {
        Some(ScalarType::F32) => Element::Float("f32"),
        Some(ScalarType::F64) => Element::Float("f64"),
        Some(ty) if BITS.iter().any(|(bytes, _)| bytes * 8 == ty.bits()) => Element::Bytes(ty.bits() / 8),
        Some(_) | None => Element::Any,
    }
}

/// `k_param_2` says nothing: `arg2`.
fn parameter_ident(own: &str, kernel: &str, n: usize) -> String {
    let own = own.strip_prefix(kernel).map_or(own, |rest| rest.trim_start_matches('_'));
    if own.is_empty() || own.starts_with("param") || own.chars().all(|c| c.is_ascii_digit()) {
        return format!("arg{n}");
    }
    escape(identifier(own))
}

/// Names that differ, and that are none of the generated function's own.
fn distinct(params: &mut [Param]) {
    for n in 0..params.len() {
        let (before, rest) = params.split_at_mut(n);
        let taken = |name: &str| {
            ["stream", "config", "device", "launch"].contains(&name)
                || before.iter().any(|param| param.ident == name)
        };
        while taken(&rest[0].ident) {
            rest[0].ident = format!("{}_{n}", rest[0].ident.trim_start_matches("r#"));
        }
    }
}

/// A name of PTX with the characters that Rust has.
fn identifier(name: &str) -> String {
    let mut out: String = name
        .trim_start_matches('%')
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) || out == "_" {
        out.insert(0, 'k');
    }
    out
}

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

fn escape(name: String) -> String {
    match name.as_str() {
        // These cannot be raw.
        "self" | "Self" | "super" | "crate" | "load" => format!("{name}_"),
        _ if KEYWORDS.contains(&name.as_str()) => format!("r#{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, identifier, parameter_ident};

    #[test]
    fn names_are_rust() {
        assert_eq!(parameter_ident("saxpy_param_2", "saxpy", 2), "arg2");
        assert_eq!(parameter_ident("saxpy_n", "saxpy", 2), "n");
        assert_eq!(parameter_ident("%in$put", "k", 0), "in_put");
        assert_eq!(identifier("3d"), "k3d");
        assert_eq!([escape("type".into()), escape("self".into())], ["r#type", "self_"]);
    }
}
