//! Assembly outside of functions, `module asm`: variables. rustc's `global_asm!` is where Rust programs declare shared memory.

use crate::error::{Error, Result};
use warpsmith_diag::Severity;
use warpsmith_ir as ir;
use warpsmith_isa::StateSpace;
use warpsmith_ptx as ptx;

/// The variables that a text declares.
pub(super) fn variables(text: &str) -> Result<Vec<ir::Global>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let unit = format!(".version 9.0\n.target sm_90a\n.address_size 64\n{text}");
    let parsed = ptx::parse(&unit);
    if let Some(error) = parsed.diagnostics.iter().find(|d| d.severity == Severity::Error) {
        return Err(Error::unsupported(format!("`module asm`: {}", error.message)));
    }
    let module = &parsed.module;
    let mut all = Vec::new();
    // The first three are ours.
    for item in module.items().iter().skip(3) {
        let ptx::Item::Variable(decl) = item else {
            return Err(Error::unsupported("`module asm` that is more than variables"));
        };
        let decl = &module[*decl];
        for declarator in &module[decl.names] {
            all.push(variable(module, decl, declarator)?);
        }
    }
    Ok(all)
}

fn variable(module: &ptx::Module, decl: &ptx::Decl, declarator: &ptx::Declarator) -> Result<ir::Global> {
    let name = &module[declarator.name];
    let refuse = |what: &str| Err(Error::unsupported(format!("`{name}` of `module asm`, {what}")));
    match decl.space {
        StateSpace::Global | StateSpace::Const | StateSpace::Shared => {}
        StateSpace::Generic
        | StateSpace::Reg
        | StateSpace::Sreg
        | StateSpace::Local
        | StateSpace::Param
        | StateSpace::Tex => return refuse("which is neither global, constant nor shared memory"),
    }
    if declarator.init.is_some() || declarator.count.is_some() || decl.bank.is_some() {
        return refuse("which has an initialiser, a bank or a count of names");
    }
    let mut elements = u64::from(decl.vector);
    let mut is_dynamic = false;
    for dimension in &module[declarator.dims] {
        match dimension {
            Some(count) => elements = elements.saturating_mul(*count),
            None => is_dynamic = true,
        }
    }
    let Some(bytes) = elements.checked_mul(u64::from(decl.ty.bits().div_ceil(8))).filter(|n| *n <= 1 << 32)
    else {
        return refuse("which is too large");
    };
    let extent = if is_dynamic { ir::Extent::Dynamic } else { ir::Extent::Array(bytes.max(1)) };
    let mut global = ir::Global::new(name, decl.space, ir::Type::I8, extent);
    let natural = u32::from(decl.vector) * decl.ty.bits().div_ceil(8);
    global.align = Some(decl.align.unwrap_or(natural.max(1)));
    global.managed = decl.managed;
    global.linkage = match decl.linkage {
        _ if is_dynamic => ir::Linkage::Extern,
        _ if decl.space == StateSpace::Shared => ir::Linkage::Local,
        ptx::Linkage::Extern => ir::Linkage::Extern,
        ptx::Linkage::Visible => ir::Linkage::Export,
        ptx::Linkage::Weak => ir::Linkage::Weak,
        ptx::Linkage::Common => ir::Linkage::Common,
        ptx::Linkage::Local => ir::Linkage::Local,
    };
    Ok(global)
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_are_read() {
        let all = variables(".shared .align 16 .b8 tile[1024];\n.visible .global .v2 .f32 pair[3];\n.extern .shared .b32 rest[];").unwrap();
        let text: Vec<String> = all
            .iter()
            .map(|g| format!("{} {:?} {:?} {:?} {:?}", g.name, g.space, g.extent, g.align, g.linkage))
            .collect();
        assert_eq!(
            text,
            [
                "tile Shared Array(1024) Some(16) Local",
                "pair Global Array(24) Some(8) Export",
                "rest Shared Dynamic Some(4) Extern",
            ]
        );
        assert!(variables("").unwrap().is_empty());
        for refused in [".global .b32 x = 3;", ".func f() { ret; }", ".reg .b32 %r;", "bogus"] {
            assert!(variables(refused).is_err(), "{refused}");
        }
    }
}
