//! What a body adds to its module while it is built, and refers to there.

use super::FunctionBuilder;
use crate::aggregate::TypeTable;
use crate::debug::DebugBuilder;
use crate::entities::{FuncId, GlobalId, StackSlot, Value};
use crate::function::{Function, StackSlotData};
use crate::ins::InstBuilder;
use crate::module::Global;
use crate::types::Type;
use cranelift_entity::packed_option::ReservedValue;

impl FunctionBuilder<'_> {
    /// Adds a function to the module, to be called from the one that is built. A detached builder cannot: that is reported, and the id is of no
    /// function.
    pub fn add_function(&mut self, function: Function) -> FuncId {
        match self.home.module_mut() {
            Some(module) => module.add_function(function),
            None => {
                self.misuse("I0036", format!("`@{}` cannot be added by a detached builder", function.name));
                FuncId::reserved_value()
            }
        }
    }

    /// The function of the module that has the name of a declaration. The declaration is added if there is none, as of a function of a library
    /// that is called for the first time.
    pub fn declare_function(&mut self, declaration: Function) -> FuncId {
        let known = self.module().function(&declaration.name);
        known.unwrap_or_else(|| self.add_function(declaration))
    }

    /// Adds a global to the module. A detached builder cannot: that is reported, and the id is of no global.
    pub fn add_global(&mut self, global: Global) -> GlobalId {
        match self.home.module_mut() {
            Some(module) => module.add_global(global),
            None => {
                self.misuse("I0036", format!("`@{}` cannot be added by a detached builder", global.name));
                GlobalId::reserved_value()
            }
        }
    }

    /// The structs and arrays of the module, to add to. A detached builder has none to add to: its types are made before it.
    pub fn types(&mut self) -> Option<&mut TypeTable> {
        self.home.module_mut().map(|module| &mut module.types)
    }

    /// The units, types and functions of the source in the debug information, to add to. A detached builder has none to add to: they are made before
    /// it.
    pub fn debug_types(&mut self) -> Option<DebugBuilder<'_>> {
        self.home.module_mut().map(DebugBuilder::new)
    }

    /// Reserves memory for the time of a call: for so many values of a type, with its size and alignment. More than 4 GiB are reported.
    ///
    /// ```
    /// use warpsmith_ir::*;
    /// let mut module = Module::new();
    /// let pair = module.types.structure(&[Type::I32, Type::F64]);
    /// let id = module.add_function(Function::new("f", FuncKind::Func, vec![], vec![]));
    /// let mut b = FunctionBuilder::new(&mut module, id);
    /// b.entry_block();
    /// let pairs = b.create_typed_slot(pair, 3);
    /// assert_eq!((b.func().stack_slots[pairs].size, b.func().stack_slots[pairs].align), (48, 8));
    /// ```
    pub fn create_typed_slot(&mut self, ty: Type, len: u64) -> StackSlot {
        let types = &self.module().types;
        let (size, align) = (types.size(ty).checked_mul(len), types.align(ty));
        let size = size.and_then(|size| u32::try_from(size).ok()).unwrap_or_else(|| {
            let ty = self.module().types.display(ty).to_string();
            self.misuse("I0036", format!("{len} values of type {ty} do not fit a stack slot"));
            0
        });
        self.func_mut().stack_slots.push(StackSlotData { size, align })
    }

    /// The address of a global.
    pub fn global_addr(&mut self, global: GlobalId) -> Value {
        let ty = match self.module().globals.get(global) {
            Some(global) => global.ptr_type(),
            None => {
                self.misuse("I0035", format!("the module has no global {global}"));
                Type::PTR
            }
        };
        self.ins().global_addr(ty, global, 0)
    }

    /// The generic address of a text, with a zero behind it, as `%s` of [`InstBuilder::printf`] takes it; the same text is the same variable.
    /// A detached builder cannot add it.
    pub fn string(&mut self, text: &str) -> Value {
        let address = match self.home.module_mut() {
            Some(module) => {
                let global = module.intern_string(text.as_bytes());
                self.global_addr(global)
            }
            None => {
                self.misuse("I0036", "a text cannot be added by a detached builder".to_owned());
                self.ins().iconst(Type::I64, 0)
            }
        };
        self.ins().addrspacecast(Type::PTR, address)
    }
}
