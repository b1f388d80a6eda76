//! Where the function of a builder is kept.

use crate::entities::FuncId;
use crate::function::{FuncKind, Function};
use crate::module::Module;

/// The function that is built, and its module.
pub(super) enum Home<'m> {
    /// The function grows in its module.
    Module { module: &'m mut Module, id: FuncId },
    /// The function is refused (there is no such function, or it has a body): what is built ends with the builder.
    Refused { module: &'m mut Module, func: Box<Function> },
    /// The function is returned at the end.
    Detached { module: &'m Module, func: Box<Function> },
}

impl<'m> Home<'m> {
    /// A function of the module, or the reason why it cannot be built.
    pub(super) fn in_module(module: &'m mut Module, id: FuncId) -> (Self, Option<String>) {
        let refused = refusal(module, id);
        let home = match refused {
            None => Home::Module { module, id },
            Some(_) => Home::Refused { func: Box::new(declaration(module, id)), module },
        };
        (home, refused)
    }

    /// A function to be built apart from its module, with the reason why it cannot be.
    pub(super) fn detached(module: &'m Module, id: FuncId) -> (Self, Option<String>) {
        (Home::Detached { module, func: Box::new(declaration(module, id)) }, refusal(module, id))
    }

    #[inline]
    pub(super) fn func(&self) -> &Function {
        match self {
            Home::Module { module, id } => &module.functions[*id],
            Home::Refused { func, .. } | Home::Detached { func, .. } => func,
        }
    }

    #[inline]
    pub(super) fn func_mut(&mut self) -> &mut Function {
        match self {
            Home::Module { module, id } => &mut module.functions[*id],
            Home::Refused { func, .. } | Home::Detached { func, .. } => func,
        }
    }

    pub(super) fn into_func(self) -> Function {
        match self {
            Home::Module { module, id } => module.functions[id].clone(),
            Home::Refused { func, .. } | Home::Detached { func, .. } => *func,
        }
    }

    pub(super) fn module(&self) -> &Module {
        match self {
            Home::Module { module, .. } | Home::Refused { module, .. } => module,
            Home::Detached { module, .. } => module,
        }
    }

    /// The module, to be added to. `None` if it is shared.
    pub(super) fn module_mut(&mut self) -> Option<&mut Module> {
        match self {
            Home::Module { module, .. } | Home::Refused { module, .. } => Some(module),
            Home::Detached { .. } => None,
        }
    }
}

fn refusal(module: &Module, id: FuncId) -> Option<String> {
    match module.functions.get(id) {
        None => Some(format!("the module has no function {id}")),
        Some(func) if !func.is_declaration() => Some(format!("`@{}` has a body already", func.name)),
        Some(_) => None,
    }
}

/// The function without its body.
fn declaration(module: &Module, id: FuncId) -> Function {
    match module.functions.get(id) {
        Some(func) if func.is_declaration() => func.clone(),
        Some(func) => Function::new(func.name.clone(), func.kind, func.params.clone(), func.ret.clone()),
        None => Function::new(id.to_string(), FuncKind::Func, Vec::new(), Vec::new()),
    }
}
