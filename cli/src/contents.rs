//! What a file holds, by how its text begins: for files whose extension or command says something else.

use std::fmt;
use warpsmith::diag::Language;

/// What a text seems to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    Ptx,
    Wir,
    /// LLVM's IR as text, which only LLVM reads.
    Llvm,
    /// C, CUDA C++ or OpenCL C.
    C,
    /// A program or object of machine code, cubins among them.
    Elf,
}

impl Contents {
    /// What a text is for certain, by its first line that is not a comment; `None` where it may be anything.
    pub fn of(text: &str) -> Option<Contents> {
        if text.starts_with("\u{7f}ELF") {
            return Some(Contents::Elf);
        }
        let line = first_line(text);
        let word = line.split(|c: char| !(c.is_ascii_alphanumeric() || "_.#".contains(c))).next()?;
        let after = line.get(word.len()..).unwrap_or_default().trim_start();
        match word {
            ".version" | ".target" | ".address_size" | ".visible" | ".entry" | ".func" | ".extern"
            | ".weak" => Some(Contents::Ptx),
            "kernel" | "func" | "global" | "const" | "shared" if after.starts_with('@') => {
                Some(Contents::Wir)
            }
            "target" if after.starts_with("sm_") => Some(Contents::Wir),
            "target" if after.starts_with("datalayout") || after.starts_with("triple") => {
                Some(Contents::Llvm)
            }
            "source_filename" if after.starts_with('=') => Some(Contents::Llvm),
            "define" | "declare" if after.contains('@') => Some(Contents::Llvm),
            "#include" | "#define" | "#pragma" | "__global__" | "__device__" | "__kernel" | "template" => {
                Some(Contents::C)
            }
            "kernel" if after.starts_with("void") => Some(Contents::C),
            "extern" if after.starts_with("\"C\"") => Some(Contents::C),
            _ => None,
        }
    }

    /// The language, if it is one that is read here.
    fn language(self) -> Option<Language> {
        match self {
            Contents::Ptx => Some(Language::Ptx),
            Contents::Wir => Some(Language::Wir),
            Contents::Llvm | Contents::C | Contents::Elf => None,
        }
    }

    /// Why a file with these contents is not read as a language that its extension names, or as any; `None` where it is.
    pub fn refusal(self, name: &str, named: Option<Language>) -> Option<String> {
        let advice = match self {
            Contents::Ptx | Contents::Wir => {
                let named = named.filter(|named| self.language() != Some(*named))?;
                let right = if self == Contents::Ptx { "ptx" } else { "wir" };
                format!("its extension says {}: rename it to `.{right}`", language(named))
            }
            Contents::Llvm => format!(
                "bitcode is read, and not this text: `llvm-as {name} -o k.bc` makes it, or `clang -emit-llvm -c` in place of `-S`"
            ),
            Contents::C => {
                "clang makes the bitcode that is read (`clang -emit-llvm -c`, docs/llvm.md)".to_owned()
            }
            Contents::Elf => {
                "what is read is PTX, IR text or LLVM bitcode: of a cubin, the PTX that it was made from"
                    .to_owned()
            }
        };
        Some(format!("{name} seems to be {self}, and {advice}"))
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contents::Ptx => language(Language::Ptx),
            Contents::Wir => language(Language::Wir),
            Contents::Llvm => "the text form of LLVM's IR",
            Contents::C => "a source in C, C++ or OpenCL C",
            Contents::Elf => "an ELF file",
        })
    }
}

fn language(language: Language) -> &'static str {
    match language {
        Language::Ptx => "PTX",
        Language::Wir => "Warpsmith's IR text",
    }
}

/// The first line behind comments, of any of the languages.
fn first_line(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        rest = if rest.starts_with("//") || rest.starts_with(';') {
            rest.split_once('\n').map_or("", |(_, after)| after)
        } else if rest.starts_with("/*") {
            rest.split_once("*/").map_or("", |(_, after)| after)
        } else {
            return rest.lines().next().unwrap_or_default();
        }
        .trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::Contents;

    #[test]
    fn contents_by_their_beginning() {
        for (text, is) in [
            ("// made by hand\n/* and */ .version 8.0\n", Some(Contents::Ptx)),
            (";; run: x\nkernel @k(%n: i32) {", Some(Contents::Wir)),
            ("target sm_80\n", Some(Contents::Wir)),
            ("; ModuleID = 'k.cu'\nsource_filename = \"k.cu\"\n", Some(Contents::Llvm)),
            ("target triple = \"nvptx64-nvidia-cuda\"", Some(Contents::Llvm)),
            ("define dso_local void @f() {", Some(Contents::Llvm)),
            ("// CUDA\n#include <cuda_fp16.h>\n", Some(Contents::C)),
            ("kernel void f(global int *p) {}", Some(Contents::C)),
            ("\u{7f}ELF\u{2}", Some(Contents::Elf)),
            ("", None),
            ("/* open", None),
            ("kernel", None),
            ("\u{fffd}\u{fffd}", None),
        ] {
            assert_eq!(Contents::of(text), is, "{text}");
        }
    }
}
