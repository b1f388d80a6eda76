//! Special registers.

use super::type_of_scalar;
use crate::types::Type;
use std::fmt;
use warpsmith_isa::SpecialReg;

/// A special register, or a component of one: `tid.x`, `laneid`, `gridid`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sreg {
    reg: SpecialReg,
    component: u8,
}

/// The components of `%tid` and its like.
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

macro_rules! special_registers {
    ($($name:ident $reg:ident $component:literal $doc:literal,)*) => {
        /// The registers that every kernel reads.
        impl Sreg {
            $(#[doc = $doc] pub const $name: Sreg = Sreg { reg: SpecialReg::$reg, component: $component };)*
        }
    };
}

special_registers! {
    TID_X Tid 0 "`%tid.x`: the thread's number in its block.",
    TID_Y Tid 1 "`%tid.y`",
    TID_Z Tid 2 "`%tid.z`",
    NTID_X Ntid 0 "`%ntid.x`: the threads of a block.",
    NTID_Y Ntid 1 "`%ntid.y`",
    NTID_Z Ntid 2 "`%ntid.z`",
    CTAID_X Ctaid 0 "`%ctaid.x`: the block's number in the grid.",
    CTAID_Y Ctaid 1 "`%ctaid.y`",
    CTAID_Z Ctaid 2 "`%ctaid.z`",
    NCTAID_X Nctaid 0 "`%nctaid.x`: the blocks of the grid.",
    NCTAID_Y Nctaid 1 "`%nctaid.y`",
    NCTAID_Z Nctaid 2 "`%nctaid.z`",
    LANEID Laneid 0 "`%laneid`: the thread's number in its warp.",
    WARPID Warpid 0 "`%warpid`: the warp's number in its block.",
    CLUSTERID_X Clusterid 0 "`%clusterid.x`: the cluster's number in the grid.",
    CLUSTER_CTARANK ClusterCtarank 0 "`%cluster_ctarank`: the block's number in its cluster.",
    CLUSTER_NCTARANK ClusterNctarank 0 "`%cluster_nctarank`: the blocks of a cluster.",
    CLOCK64 Clock64 0 "`%clock64`: a count of cycles.",
    GLOBALTIMER Globaltimer 0 "`%globaltimer`: nanoseconds.",
}

impl Sreg {
    /// A scalar special register, or the component 0 to 2 of a vector. `None` where the two do not go together.
    pub fn new(reg: SpecialReg, component: Option<u8>) -> Option<Sreg> {
        match (reg.lanes(), component) {
            (1, None) => Some(Sreg { reg, component: 0 }),
            (2.., Some(component @ 0..=2)) => Some(Sreg { reg, component }),
            _ => None,
        }
    }

    /// The register of a name without `%`: `tid.x`.
    pub fn from_name(name: &str) -> Option<Sreg> {
        // Every name fits, the others are refused before the copy.
        if name.len() > 64 {
            return None;
        }
        let name = ["%", name].concat();
        if let Some(reg) = SpecialReg::from_name(&name) {
            return Sreg::new(reg, None);
        }
        let (name, component) = name.rsplit_once('.')?;
        let component = COMPONENTS.iter().position(|c| *c == component)?;
        Sreg::new(SpecialReg::from_name(name)?, Some(component as u8))
    }

    /// Every special register and component.
    pub fn all() -> impl Iterator<Item = Sreg> {
        let components = [None, Some(0), Some(1), Some(2)];
        SpecialReg::all().flat_map(move |reg| components.into_iter().filter_map(move |c| Sreg::new(reg, c)))
    }

    /// The register that it is or is part of.
    pub fn reg(self) -> SpecialReg {
        self.reg
    }

    /// Which component of a vector: 0 is `x`. `None` for scalar registers.
    pub fn component(self) -> Option<u8> {
        (self.reg.lanes() > 1).then_some(self.component)
    }

    /// The type of the value read.
    pub fn ty(self) -> Type {
        type_of_scalar(self.reg.ty()).unwrap_or(Type::I32)
    }

    /// True if every read by a thread gives the same: the position of the thread, the shape of the launch.
    pub fn is_constant(self) -> bool {
        let name = self.reg.name().trim_start_matches('%');
        ["tid", "ntid", "laneid", "ctaid", "nctaid", "gridid", "lanemask", "cluster", "nclusterid"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            || name.ends_with("smem_size")
            || name.starts_with("reserved_smem")
            || name.starts_with("is_explicit_cluster")
    }

    /// True for the shape of the launch, which all threads of the grid read alike.
    pub fn is_of_launch(self) -> bool {
        let name = self.reg.name().trim_start_matches('%');
        name.starts_with("ntid") || name.starts_with("nctaid")
    }

    /// True if all threads of a warp read the same, and each always does: what [`Sreg::is_constant`] holds for, but for the position in the block.
    pub fn is_uniform(self) -> bool {
        let name = self.reg.name().trim_start_matches('%');
        self.is_constant() && !["tid", "laneid", "lanemask"].iter().any(|prefix| name.starts_with(prefix))
    }
}

impl fmt::Display for Sreg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reg.name().trim_start_matches('%'))?;
        match self.component() {
            Some(component) => write!(f, ".{}", COMPONENTS[component as usize]),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Sreg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_by_name() {
        for name in ["tid.x", "nctaid.z", "laneid", "gridid"] {
            assert_eq!(Sreg::from_name(name).map(|reg| reg.to_string()).as_deref(), Some(name));
        }
        for wrong in ["tid", "tid.w", "laneid.x", "", ".x", "pred"] {
            assert_eq!(Sreg::from_name(wrong), None, "{wrong}");
        }
        assert_eq!(Sreg::from_name("gridid").map(Sreg::ty), Some(Type::I64));
        assert!(Sreg::all().all(|reg| Sreg::from_name(&reg.to_string()) == Some(reg)));
    }

    #[test]
    fn special_registers_by_constant() {
        for (reg, name) in [(Sreg::TID_X, "tid.x"), (Sreg::NCTAID_Z, "nctaid.z"), (Sreg::LANEID, "laneid")] {
            assert_eq!(Sreg::from_name(name), Some(reg));
        }
        assert_eq!(Sreg::from_name("cluster_ctarank"), Some(Sreg::CLUSTER_CTARANK));
        let uniform = |name| Sreg::from_name(name).is_some_and(Sreg::is_uniform);
        assert!(
            ["ntid.x", "ctaid.y", "nctaid.z", "gridid", "clusterid.x", "dynamic_smem_size"].map(uniform)
                == [true; 6]
        );
        assert!(
            ["tid.x", "tid.z", "laneid", "lanemask_lt", "warpid", "clock", "globaltimer"].map(uniform)
                == [false; 7]
        );
    }
}
