//! Texture and surface references: variables of a module that clients bind to memory and arrays (PTX ISA 9.0, 5.3), read when a kernel is launched.

use crate::api::texture::{Object, Resource, Texture, create};
use crate::error::{Code, Error};
use crate::kernel::Module;
use crate::state::{State, driver};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpsmith::interp::texture::ReferenceKind;

/// What a reference is bound to, and how it is read.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The texels; none until the client says which.
    pub resource: Option<Resource>,
    /// How a texture is read.
    pub texture: Texture,
    /// `CUarray_format` and channels, of memory that is not an array.
    pub format: (u32, u32),
}

/// A reference.
#[derive(Debug)]
pub struct Reference {
    /// The name of the variable; none for a reference that the client has made.
    name: Option<String>,
    kind: ReferenceKind,
    binding: Mutex<Binding>,
    /// The next launch binds the variable.
    changed: AtomicBool,
}

/// `CU_AD_FORMAT_UNSIGNED_INT32`
const U32: u32 = 3;

impl Reference {
    /// A reference that no module has.
    pub fn unnamed() -> Reference {
        Reference::new(None, ReferenceKind::Texture, Texture::default())
    }

    fn new(name: Option<String>, kind: ReferenceKind, texture: Texture) -> Reference {
        let binding = Mutex::new(Binding { resource: None, texture, format: (U32, 1) });
        Reference { name, kind, binding, changed: AtomicBool::new(false) }
    }

    /// True for one of a module.
    pub fn is_named(&self) -> bool {
        self.name.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Binding> {
        self.binding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it is bound to.
    pub fn binding(&self) -> Binding {
        *self.lock()
    }

    /// Binds it to something else, or has it read otherwise.
    pub fn change(&self, change: impl FnOnce(&mut Binding) -> Result<(), Error>) -> Result<(), Error> {
        let mut binding = self.lock();
        let mut new = *binding;
        change(&mut new)?;
        *binding = new;
        self.changed.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives the variable the handle of what it is bound to.
    fn bind(&self, module: &Module, state: &mut State) -> Result<(), Error> {
        let binding = self.binding();
        let (Some(name), Some(resource)) = (&self.name, binding.resource) else { return Ok(()) };
        let texture = match self.kind {
            ReferenceKind::Texture => Some(binding.texture),
            ReferenceKind::Surface | ReferenceKind::Sampler => None,
        };
        let object = create(state, &Object { resource, texture, view: None })?;
        Ok(state.device.bind(&module.program, name, object)?)
    }
}

/// The references of a module that clients have asked for, with their handles.
#[derive(Debug, Default)]
pub struct References {
    any: AtomicBool,
    list: Mutex<Vec<(u64, Arc<Reference>)>>,
}

impl References {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Arc<Reference>)>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Their handles.
    pub fn handles(&self) -> Vec<u64> {
        self.lock().iter().map(|(handle, _)| *handle).collect()
    }

    /// Binds those that have changed: before a launch.
    pub fn bind(&self, module: &Module) -> Result<(), Error> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        for (_, reference) in self.lock().iter() {
            if reference.changed.swap(false, Ordering::AcqRel) {
                reference.bind(module, &mut driver()?.lock())?;
            }
        }
        Ok(())
    }
}

impl State {
    /// The handle of a reference of a module.
    pub fn reference(&mut self, module: u64, name: &str, kind: ReferenceKind) -> Result<u64, Error> {
        let module = self.modules.get(module)?;
        let mut list = module.references.lock();
        let same = |reference: &Reference| reference.kind == kind && reference.name.as_deref() == Some(name);
        if let Some((handle, _)) = list.iter().find(|(_, reference)| same(reference)) {
            return Ok(*handle);
        }
        let declared = module.program.reference(name).filter(|declared| declared.kind == kind);
        let declared = declared.ok_or_else(|| {
            Error::new(Code::NOT_FOUND, format!("the module has no {} reference `{name}`", kind.name()))
        })?;
        let texture = Texture::reading(&declared.initial.sampler());
        let handle = self.references.add(Reference::new(Some(name.to_owned()), kind, texture));
        list.push((handle, self.references.get(handle)?));
        module.references.any.store(true, Ordering::Release);
        Ok(handle)
    }
}
