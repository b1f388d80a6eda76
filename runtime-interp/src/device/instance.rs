//! What a program has on a device: its variables and constants.

use super::Device;
use super::buffer::Buffer;
use crate::engine::{Cell, Program, Reference};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use crate::memory::window;
use crate::texture::ReferenceKind;
use crate::texture::object::Object;
use std::sync::Arc;
use warpsmith_diag::nearest;
use warpsmith_isa::StateSpace;

/// What a program has on a device: its variables, and its constants with their addresses.
pub(crate) struct Instance {
    pub(super) globals: u64,
    pub(super) constants: Arc<Vec<Cell>>,
    /// The kernel whose addresses of shared variables are among the constants.
    pub(super) kernel: Option<u32>,
    pub(super) constant: Bytes,
    /// Where the constant variables are in global memory, on a device whose addresses are those of the host.
    pub(super) constant_address: Option<u64>,
}

impl Device {
    /// A global variable of a program, which keeps its value from launch to launch; `None` if it has none of that name. Where addresses are
    /// those of the host, constant variables are found too.
    pub fn variable(&mut self, program: &Program, name: &str) -> Result<Option<Buffer>, Fault> {
        let instance = self.instance(program)?;
        let (globals, constants) = (instance.globals, instance.constant_address);
        let start = |space| match space {
            StateSpace::Global => Some(globals),
            StateSpace::Const => constants,
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Local
            | StateSpace::Param
            | StateSpace::Shared
            | StateSpace::Tex => None,
        };
        let mut variables = program.variables.iter().filter(|p| p.variable.name == name);
        Ok(variables.find_map(|p| {
            let address = start(p.variable.space)? + p.offset;
            Some(Buffer { address, bytes: p.variable.bytes })
        }))
    }

    /// Copies bytes to the start of a `.global` or `.const` variable of a program, as `cudaMemcpyToSymbol` does; the rest of it stays as it is.
    ///
    /// ```
    /// use warpsmith_interp::{Device, Launch, Program};
    /// use warpsmith_ptx::ValidatedModule;
    /// let source = "
    /// .version 7.0
    /// .target sm_80
    /// .address_size 64
    /// .const .u32 factor;
    /// .global .u32 product;
    /// .visible .entry scale(.param .u32 n) {
    ///     .reg .b32 %r<3>;
    ///     ld.param.u32 %r0, [n];
    ///     ld.const.u32 %r1, [factor];
    ///     mul.lo.u32 %r2, %r0, %r1;
    ///     st.global.u32 [product], %r2;
    ///     ret;
    /// }";
    /// let program = Program::load(&ValidatedModule::parse(source)?)?;
    /// let mut device = Device::new();
    /// device.write_variable(&program, "factor", &6u32.to_le_bytes())?;
    /// device.launch(&program, &Launch::new("scale").arg(7u32))?;
    /// assert_eq!(device.read_variable(&program, "product")?, 42u32.to_le_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_variable(&mut self, program: &Program, name: &str, bytes: &[u8]) -> Result<(), Fault> {
        let (memory, offset, size) = self.variable_memory(program, name)?;
        if bytes.len() as u64 > size {
            let message = format!("{} bytes for the variable `{name}`, which has {size}", bytes.len());
            return Err(Fault::launch(message));
        }
        memory.write(offset, bytes);
        Ok(())
    }

    /// The bytes of a `.global` or `.const` variable of a program, as `cudaMemcpyFromSymbol` gives them: what the last launch left there, or the
    /// initial value.
    pub fn read_variable(&mut self, program: &Program, name: &str) -> Result<Vec<u8>, Fault> {
        let (memory, offset, size) = self.variable_memory(program, name)?;
        let mut bytes = vec![0; size as usize];
        memory.read(offset, &mut bytes);
        Ok(bytes)
    }

    /// Where a variable of a module lies, and its size.
    fn variable_memory(&mut self, program: &Program, name: &str) -> Result<(&Bytes, usize, u64), Fault> {
        self.instance(program)?;
        let kept = |space| matches!(space, StateSpace::Global | StateSpace::Const);
        let variables = || program.variables.iter().filter(|p| kept(p.variable.space));
        let Some(found) = variables().find(|p| p.variable.name == name) else {
            let names: Vec<&str> = variables().map(|p| p.variable.name.as_str()).collect();
            let near = nearest(name, names.iter().copied());
            let hint = match (near, names.len()) {
                (Some(near), _) => format!("; did you mean `{near}`?"),
                (None, 0) => " (it has none)".into(),
                (None, 1..=8) => format!(" (variables: {})", names.join(", ")),
                (None, count) => format!(" ({count} others)"),
            };
            return Err(Fault::launch(format!("the module has no variable `{name}`{hint}")));
        };
        let gone = || Fault::new(FaultCode::OutOfMemory, "the program is gone");
        let instance = self.instances.get(&program.identity).ok_or_else(gone)?;
        let size = found.variable.bytes;
        if found.variable.space == StateSpace::Const {
            return Ok((&instance.constant, found.offset as usize, size));
        }
        let block = self.global.starting_at(instance.globals).ok_or_else(gone)?;
        Ok((&block.bytes, found.offset as usize, size))
    }

    /// Forgets a program and frees its variables.
    pub fn unload(&mut self, program: &Program) {
        if let Some(instance) = self.instances.remove(&program.identity) {
            self.memory().free(instance.globals);
            if let Some(constants) = instance.constant_address {
                self.memory().free(constants);
            }
        }
    }

    pub(crate) fn instance(&mut self, program: &Program) -> Result<&Instance, Fault> {
        let id = &program.identity;
        if !self.instances.contains_key(id) {
            // Whole words, as a driver's pages are: an atomic of 8 or 16 bits on the last variable is a `cas` of the word around it.
            let bytes = program.global_bytes.next_multiple_of(4);
            let globals = self.memory().allocate_variables(bytes);
            let globals = globals.ok_or_else(|| self.no_room(bytes))?;
            let no_memory = || Fault::new(FaultCode::OutOfMemory, "no room for the program's variables");
            let (mut constant_address, mut constant) = (None, None);
            if self.global.is_mapped() && program.const_bytes > 0 {
                constant_address = self.memory().allocate_variables(program.const_bytes);
                constant = constant_address.and_then(|at| Some(self.global.starting_at(at)?.bytes.clone()));
            }
            let constant = constant.or_else(|| Bytes::zeroed(program.const_bytes as usize));
            let constant = constant.ok_or_else(no_memory)?;
            let block = self.global.starting_at(globals).ok_or_else(no_memory)?;
            program.initialise(StateSpace::Global, globals, &block.bytes);
            program.initialise(StateSpace::Const, globals, &constant);
            let constants = Arc::new(program.resolve_constants(globals));
            // A sampler that the module describes needs no other.
            let mut samplers = Vec::new();
            for placed in &program.variables {
                if let Some(Reference { kind: ReferenceKind::Sampler, initial }) = &placed.variable.reference
                    && !initial.is_empty()
                {
                    samplers.push((placed.offset as usize, Object::Sampler(initial.sampler())));
                }
            }
            for (offset, sampler) in samplers {
                let handle = window::object_handle(self.objects.len());
                Arc::make_mut(&mut self.objects).push(sampler);
                block.bytes.write(offset, &handle.to_le_bytes());
            }
            self.instances.insert(
                id.clone(),
                Instance { globals, constants, kernel: None, constant, constant_address },
            );
        }
        self.instances.get(id).ok_or_else(|| Fault::new(FaultCode::OutOfMemory, "the program is gone"))
    }
}
