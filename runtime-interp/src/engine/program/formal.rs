//! Kinds of functions, and what they take and give.

use crate::engine::op::Move;
use crate::engine::reg::{Reg, Width};
use warpsmith_isa::memory::Layout;

/// A parameter of a kernel: where it lies in the block of parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParam {
    /// Its name.
    pub name: String,
    /// Its offset in the parameter space.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its alignment.
    pub align: u32,
}

/// What the directives of a kernel demand of its launches, and of the registers that it takes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelAttributes {
    /// `.reqntid`
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`, as a number of threads.
    pub max_threads: Option<u32>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// `.blocksareclusters`
    pub blocks_are_clusters: bool,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
}

/// A formal parameter or result of a device function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Formal {
    /// In a register.
    Reg(Width),
    /// In bytes of the callee's stack frame.
    Stack {
        /// Size.
        bytes: u32,
        /// Alignment.
        align: u32,
    },
}

/// Where a formal parameter lies, or what an actual parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// A register or constant.
    Reg(Reg),
    /// Bytes at an offset of the stack frame.
    Stack {
        /// Offset.
        offset: u32,
        /// Size.
        bytes: u32,
    },
}

impl Slot {
    pub(in crate::engine) fn transfer(from: Slot, to: Slot) -> Option<Move> {
        match (from, to) {
            (Slot::Reg(from), Slot::Reg(to)) if from.width() == to.width() && !to.is_constant() => {
                Some(Move::Reg { from, to })
            }
            // An array of no stated size has room for the largest that is passed.
            (Slot::Stack { offset, bytes }, Slot::Stack { offset: to, bytes: room }) if bytes <= room => {
                Some(Move::Stack { from: offset, to, bytes })
            }
            _ => None,
        }
    }
}

/// What a declared function is.
#[derive(Clone, Debug)]
pub enum FunctionKind {
    /// An entry point; its parameters lie in param space.
    Kernel {
        /// The parameters.
        params: Vec<KernelParam>,
        /// The directives.
        attributes: KernelAttributes,
    },
    /// A function that is called.
    Device {
        /// Its parameters.
        params: Vec<Formal>,
        /// Its results.
        results: Vec<Formal>,
    },
}

impl FunctionKind {
    /// A kernel with parameters given by name, size and alignment, laid out in order as PTX does.
    pub fn kernel<'a>(params: impl IntoIterator<Item = (&'a str, u32, u32)>) -> Self {
        let mut layout = Layout::default();
        let place = |(name, bytes, align): (&str, u32, u32)| {
            let align = align.max(1).next_power_of_two();
            let offset = u32::try_from(layout.place(bytes.into(), align.into())).unwrap_or(u32::MAX);
            KernelParam { name: name.into(), offset, bytes, align }
        };
        let params = params.into_iter().map(place).collect();
        FunctionKind::Kernel { params, attributes: KernelAttributes::default() }
    }
}
