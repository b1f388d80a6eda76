//! Functions, and the registers and memory that an activation of them has.

use super::formal::{Formal, KernelAttributes, KernelParam, Slot};
use super::{MAX_ROWS, MAX_STACK_FRAME, NamedLocal, NamedReg};
use crate::engine::op::SymbolId;
use crate::engine::reg::{Reg, Width};

/// An entry point.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub params: Vec<KernelParam>,
    pub attributes: KernelAttributes,
    pub shared: SharedLayout,
}

/// Where a kernel has the shared variables that it reaches.
#[derive(Clone, Default, Debug)]
pub(crate) struct SharedLayout {
    /// In the order of variables.
    pub(super) offsets: Vec<(SymbolId, u64)>,
    /// The size of the static part, and where the dynamic part starts.
    pub bytes: u64,
}

impl SharedLayout {
    pub fn offset(&self, variable: SymbolId) -> Option<u64> {
        let place = self.offsets.binary_search_by_key(&variable, |(v, _)| *v).ok()?;
        Some(self.offsets[place].1)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub kernel: Option<Kernel>,
    pub params: Vec<Slot>,
    pub results: Vec<Slot>,
    pub defined: bool,
    pub entry: u32,
    pub end: u32,
    /// Rows of the register file that a frame takes.
    pub rows: u32,
    /// Bytes of local memory that a frame takes.
    pub stack: u32,
    /// In a function that calls `alloca`: what a lane had allocated before, and has again after the return.
    pub saved_top: Option<Reg>,
    /// The registers that have names, in the order in which the function first uses them.
    pub registers: Vec<NamedReg>,
    /// The variables of its stack frame that have names.
    pub locals: Vec<NamedLocal>,
    /// The shared variables that it names.
    pub shared: Vec<SymbolId>,
}

impl Function {
    pub fn new(name: &str) -> Self {
        Function {
            name: name.into(),
            kernel: None,
            params: Vec::new(),
            results: Vec::new(),
            defined: false,
            entry: 0,
            end: 0,
            rows: 0,
            stack: 0,
            saved_top: None,
            registers: Vec::new(),
            locals: Vec::new(),
            shared: Vec::new(),
        }
    }

    pub fn allocate(&mut self, width: Width) -> Reg {
        // A function with more registers than `MAX_ROWS` is refused when it is finished; until then rows wrap to stay in range.
        let row = if self.rows >= MAX_ROWS { 0 } else { self.rows };
        self.rows = self.rows.saturating_add(width.words().div_ceil(32));
        Reg::frame(row * 32, width)
    }

    pub fn allocate_stack(&mut self, bytes: u64, align: u64) -> Option<u32> {
        let offset = u64::from(self.stack).checked_next_multiple_of(align.max(1))?;
        let end = offset.checked_add(bytes)?.checked_next_multiple_of(align.clamp(1, 128))?;
        if end > u64::from(MAX_STACK_FRAME) {
            return None;
        }
        self.stack = end as u32;
        Some(offset as u32)
    }

    pub fn formal(&mut self, formal: &Formal) -> Slot {
        match *formal {
            Formal::Reg(width) => Slot::Reg(self.allocate(width)),
            Formal::Stack { bytes, align } => {
                let offset = self.allocate_stack(u64::from(bytes), u64::from(align)).unwrap_or(0);
                Slot::Stack { offset, bytes }
            }
        }
    }

    pub fn same_formals(&self, other: &Function) -> bool {
        self.params == other.params && self.results == other.results
    }
}
