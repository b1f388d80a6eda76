//! Libraries: modules that belong to no context, and their kernels.

use crate::api::module::{file, program, variable};
use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Pointer, Text, api};
use crate::image;
use crate::jit::Options;
use crate::kernel::{Callable, Library};
use crate::state::driver;
use std::ffi::c_char;

fn load(answer: Out<u64>, image: image::Image, name: Option<String>, options: &Options) -> Result<(), Error> {
    answer.check()?;
    // A library is read once for all devices, as the current one or the first wants it.
    let device = current().map_or(0, |context| context.device);
    let program = program(image, name, device, options)?;
    answer.set(driver()?.lock().libraries.add(Library::new(program)))
}

fn global(address: Out<u64>, bytes: Out<usize>, library: u64, name: Text) -> Result<(), Error> {
    let context = current()?;
    let name = name.get()?;
    if address.is_null() && bytes.is_null() {
        return Err(Error::value("neither address nor size is wanted"));
    }
    let module = {
        let mut state = driver()?.lock();
        let module = state.library_module(library, &context)?;
        state.modules.get(module)?
    };
    let (place, size) = variable(&module.program, &name)?;
    address.offer(place);
    bytes.offer(size as usize);
    Ok(())
}

/// The name of a function or kernel as C has it: it lives as long as what it is the name of.
pub fn name_of(handle: u64) -> Result<*const c_char, Error> {
    let state = driver()?.lock();
    let callable = state.functions.get(handle)?;
    let found = match &*callable {
        Callable::Function(function) => function.module.names.get(&function.name).map(|name| name.as_ptr()),
        Callable::Kernel { library, name, .. } => {
            state.libraries.get(*library)?.names.get(name).map(|name| name.as_ptr())
        }
    };
    found.ok_or_else(|| Error::new(Code::NOT_FOUND, "a kernel without a name"))
}

api! {
    fn cuLibraryLoadData(
        library: Out<u64>,
        code: Pointer,
        names: In<u32>,
        values: In<Pointer>,
        count: u32,
        _library_names: In<u32>,
        _library_values: In<Pointer>,
        _library_count: u32,
    ) {
        driver()?;
        let options = Options::read(count, names, values)?;
        load(library, image::at(code)?, None, &options)
    }

    fn cuLibraryLoadFromFile(
        library: Out<u64>,
        path: Text,
        names: In<u32>,
        values: In<Pointer>,
        count: u32,
        _library_names: In<u32>,
        _library_values: In<Pointer>,
        _library_count: u32,
    ) {
        driver()?;
        let options = Options::read(count, names, values)?;
        let (image, path) = file(path)?;
        load(library, image, Some(path), &options)
    }

    fn cuLibraryUnload(library: u64) {
        let driver = driver()?;
        let gone = driver.lock().libraries.get(library)?;
        if let Ok(context) = current() {
            context.settle();
        }
        let mut state = driver.lock();
        state.libraries.remove(library)?;
        for module in gone.modules() {
            state.functions.take(|callable| match callable {
                Callable::Function(function) => function.module_handle == module,
                Callable::Kernel { .. } => false,
            });
            if let Ok(module) = state.modules.remove(module) {
                state.device.unload(&module.program);
            }
        }
        state.functions.take(|callable| match callable {
            Callable::Function(_) => false,
            Callable::Kernel { library: of, .. } => *of == library,
        });
        Ok(())
    }

    fn cuLibraryGetKernel(kernel: Out<u64>, library: u64, name: Text) {
        let name = name.get()?;
        kernel.check()?;
        let found = driver()?.lock().kernel(library, &name)?;
        kernel.set(found)
    }

    fn cuLibraryGetKernelCount(count: Out<u32>, library: u64) {
        let library = driver()?.lock().libraries.get(library)?;
        count.set(library.program.kernels().count() as u32)
    }

    fn cuLibraryEnumerateKernels(kernels: Out<u64>, count: u32, library: u64) {
        let mut state = driver()?.lock();
        let names: Vec<String> =
            state.libraries.get(library)?.program.kernels().take(count as usize).map(str::to_owned).collect();
        let found: Result<Vec<u64>, Error> = names.iter().map(|name| state.kernel(library, name)).collect();
        kernels.list(&found?)
    }

    fn cuLibraryGetModule(module: Out<u64>, library: u64) {
        let context = current()?;
        module.check()?;
        let found = driver()?.lock().library_module(library, &context)?;
        module.set(found)
    }

    fn cuLibraryGetGlobal(address: Out<u64>, bytes: Out<usize>, library: u64, name: Text) {
        global(address, bytes, library, name)
    }

    fn cuLibraryGetManaged(address: Out<u64>, bytes: Out<usize>, library: u64, name: Text) {
        global(address, bytes, library, name)
    }

    fn cuKernelGetFunction(function: Out<u64>, kernel: u64) {
        let context = current()?;
        function.check()?;
        let mut state = driver()?.lock();
        let found = match &*state.functions.get(kernel)? {
            Callable::Function(_) => kernel,
            Callable::Kernel { library, name, attributes } => {
                let module = state.library_module(*library, &context)?;
                state.function(module, name, Some(attributes.clone()))?
            }
        };
        function.set(found)
    }

    fn cuKernelGetLibrary(library: Out<u64>, kernel: u64) {
        let found = driver()?.lock().functions.get(kernel)?;
        match &*found {
            Callable::Kernel { library: of, .. } => library.set(*of),
            Callable::Function(_) => Err(Error::new(Code::INVALID_HANDLE, "a function of a module")),
        }
    }

    fn cuKernelGetName(name: Out<*const c_char>, kernel: u64) {
        name.check()?;
        name.set(name_of(kernel)?)
    }

    fn cuFuncGetName(name: Out<*const c_char>, function: u64) {
        name.check()?;
        name.set(name_of(function)?)
    }
}
