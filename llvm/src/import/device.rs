//! What stable Rust has no syntax for, and `warpsmith-device` says in names.
//!
//! - `__warpsmith_kernel_NAME` is the kernel `NAME`: `extern "ptx-kernel"` is unstable.
//! - `ptx:CONSTRAINTS|TEXT`, which nothing defines, is inline assembly: `asm!` is unstable on this target.
//! - `__warpsmith_dynamic_shared` is the shared memory whose size the launch says.

use super::signature::PTX_KERNEL;
use crate::module::Module;
use crate::module::constants::InlineAsm;

const KERNEL: &str = "__warpsmith_kernel_";
const INSTRUCTIONS: &str = "ptx:";
const DYNAMIC_SHARED: &str = "__warpsmith_dynamic_shared";

/// The symbol that a name denotes.
pub(super) fn symbol(name: &str) -> &str {
    name.strip_prefix(KERNEL).unwrap_or(name)
}

/// Makes kernels and dynamic shared memory of what is named so.
pub(super) fn prepare(module: &mut Module<'_>) {
    for function in &mut module.functions {
        if let Some(name) = function.name.strip_prefix(KERNEL) {
            function.name = name.to_owned();
            function.convention = PTX_KERNEL;
        }
    }
    for global in &mut module.globals {
        if global.name == DYNAMIC_SHARED && global.init.is_none() {
            global.section = Some(".shared".to_owned());
            // rustc does not say how a variable is aligned that is defined elsewhere.
            global.align = Some(16);
        }
    }
}

/// True for the names that [`instructions`] takes apart.
pub(super) fn is_instructions(name: &str) -> bool {
    name.starts_with(INSTRUCTIONS)
}

/// The assembly that a call of a function of this name is.
pub(super) fn instructions(name: &str) -> Option<InlineAsm> {
    let (constraints, text) = name.strip_prefix(INSTRUCTIONS)?.split_once('|')?;
    Some(InlineAsm {
        ty: None,
        side_effect: true,
        align_stack: false,
        text: text.to_owned(),
        constraints: constraints.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{instructions, symbol};

    #[test]
    fn names_are_taken_apart() {
        let asm = instructions("ptx:=r,r|add.u32 $0, $1, 1;").unwrap();
        assert_eq!((asm.constraints.as_str(), asm.text.as_str()), ("=r,r", "add.u32 $0, $1, 1;"));
        assert!(instructions("ptx").is_none() && instructions("ptx:add").is_none());
        assert_eq!([symbol("__warpsmith_kernel_k"), symbol("k")], ["k", "k"]);
    }
}
