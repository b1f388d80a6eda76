//! Modules of the IR as LLVM's text, for `opt` and `llc`: a second compiler for the same program, to compare with.
//!
//! What the two languages leave open differs: the IR defines shifts by the width and more, quotients by zero and conversions out of range,
//! where LLVM has poison. So each operation is written with the comparisons that make it total. What has no plain counterpart (operations of PTX
//! tables, of warps and barriers, atomics, aggregates, directions of rounding) is refused by name. One thing differs in silence: which NaN an operation gives,
//! which is LLVM's own choice; whoever compares must not look at its bits.

mod arithmetic;
mod convert;
mod function;
mod types;

use std::fmt::{self, Write};
use types::{memory_type, space};
use warpsmith_ir::{Extent, Module};
use warpsmith_isa::StateSpace;

/// What a module has that is not written as LLVM's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// What it is: an operation, a type.
    pub what: String,
    /// The function or variable that has it.
    pub symbol: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of `@{}` is not written as LLVM's text", self.what, self.symbol)
    }
}

impl std::error::Error for Refused {}

/// Writes a verified module as LLVM's text (LLVM 22), or says what keeps it from that.
///
/// ```
/// use warpsmith_ir::Module;
/// let module = Module::parse("func export @f(%x: i32, %by: i32) -> i32 {\nentry:\n  %y = shl %x, %by\n  ret %y\n}")?;
/// let text = warpsmith_llvm::export(&module)?;
/// assert!(text.contains("define i32 @\"f\"(i32 %v0, i32 %v1)"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export(module: &Module) -> Result<String, Refused> {
    let mut out = String::from("target triple = \"nvptx64-nvidia-cuda\"\n\n");
    for global in module.globals.values() {
        let refused = |what: &str| Refused { what: what.to_owned(), symbol: global.name.clone() };
        if global.handle.is_some() || !global.relocs.is_empty() || global.extent == Extent::Dynamic {
            return Err(refused("a handle, an address among its bytes or a dynamic extent"));
        }
        let Some(space) = space(global.space) else { return Err(refused("its state space")) };
        memory_type(global.ty).ok_or_else(|| refused("its type"))?;
        let bytes = global.size(&module.types);
        let kind = if global.space == StateSpace::Const { "constant" } else { "global" };
        let linkage = if global.linkage.is_visible() { "" } else { "internal " };
        let init = match &global.init {
            None if global.space == StateSpace::Shared => "poison".to_owned(),
            None => "zeroinitializer".to_owned(),
            Some(init) => bytes_literal(init, bytes),
        };
        let align = global.alignment(&module.types);
        let name = &global.name;
        writeln!(
            out,
            "@\"{name}\" = {linkage}addrspace({space}) {kind} [{bytes} x i8] {init}, align {align}"
        )
        .ok();
    }
    for func in module.functions.values() {
        function::write(&mut out, module, func)
            .map_err(|what| Refused { what, symbol: func.name.clone() })?;
    }
    Ok(out)
}

/// `c"..."` with zeros up to a size.
fn bytes_literal(init: &[u8], size: u64) -> String {
    let zeros = usize::try_from(size).unwrap_or(init.len()).saturating_sub(init.len());
    let bytes = init.iter().copied().chain(std::iter::repeat_n(0, zeros));
    let mut text = String::from("c\"");
    bytes.for_each(|byte| {
        write!(text, "\\{byte:02X}").ok();
    });
    text.push('"');
    text
}
