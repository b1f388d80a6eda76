//! Modules: what clients load, and what is in it.

use crate::context::{Context, current};
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Pointer, Text, api};
use crate::image;
use crate::jit::Options;
use crate::kernel::{Module, read};
use crate::state::driver;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warpsmith::Program;

/// Modules that were loaded from memory, for their names in messages.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// The program of an image for a device.
pub fn program(
    image: image::Image,
    name: Option<String>,
    device: usize,
    options: &Options,
) -> Result<Program, Error> {
    let driver = driver()?;
    let profile = &driver.settings.devices[device];
    let number = LOADED.fetch_add(1, Ordering::Relaxed) + 1;
    let name = name.unwrap_or_else(|| format!("module-{number}.ptx"));
    let refuse = |error: Error, found: Option<warpsmith::Diagnostics>| {
        let text = found.as_ref().map_or_else(|| error.message.clone(), ToString::to_string);
        options.error(&text);
        driver.watch.refused(&name, &error, found.as_ref());
        error
    };
    let text = image.ptx(profile.target.sm).map_err(|error| refuse(error, None))?;
    read(text, name.clone(), profile, options.max_registers).map_err(|(error, found)| refuse(error, found))
}

fn load(answer: Out<u64>, image: image::Image, name: Option<String>, options: &Options) -> Result<(), Error> {
    let context: Arc<Context> = current()?;
    answer.check()?;
    let program = Arc::new(program(image, name, context.device, options)?);
    let mut state = driver()?.lock();
    state.device.place(&program)?;
    let module = state.modules.add(Module::new(&context, program));
    answer.set(module)
}

fn from_file(path: Text) -> Result<(image::Image, String), Error> {
    let path = path.get()?;
    let bytes = std::fs::read(&path).map_err(|e| Error::new(Code::FILE_NOT_FOUND, format!("{path}: {e}")))?;
    Ok((image::of(&bytes)?, path))
}

/// The image of a file.
pub fn file(path: Text) -> Result<(image::Image, String), Error> {
    from_file(path)
}

/// The place and size of a variable of a module.
pub fn variable(program: &Program, name: &str) -> Result<(u64, u64), Error> {
    let found = driver()?.lock().device.variable(program, name)?;
    let found = found.map(|buffer| (buffer.address(), buffer.len()));
    found.ok_or_else(|| Error::new(Code::NOT_FOUND, format!("the module has no variable `{name}`")))
}

api! {
    fn cuModuleLoad(module: Out<u64>, path: Text) {
        current()?;
        let (image, path) = from_file(path)?;
        load(module, image, Some(path), &Options::default())
    }

    fn cuModuleLoadData(module: Out<u64>, data: Pointer) {
        current()?;
        load(module, image::at(data)?, None, &Options::default())
    }

    fn cuModuleLoadDataEx(
        module: Out<u64>,
        data: Pointer,
        count: u32,
        names: In<u32>,
        values: In<Pointer>,
    ) {
        current()?;
        let options = Options::read(count, names, values)?;
        load(module, image::at(data)?, None, &options)
    }

    fn cuModuleLoadFatBinary(module: Out<u64>, data: Pointer) {
        current()?;
        load(module, image::at(data)?, None, &Options::default())
    }

    fn cuModuleUnload(module: u64) {
        let context = current()?;
        let driver = driver()?;
        driver.lock().modules.get(module)?;
        context.settle();
        let mut state = driver.lock();
        let gone = state.modules.remove(module)?;
        state.functions.take(|callable| match callable {
            crate::kernel::Callable::Function(function) => function.module_handle == module,
            crate::kernel::Callable::Kernel { .. } => false,
        });
        state.unload(&gone);
        Ok(())
    }

    fn cuModuleGetFunction(function: Out<u64>, module: u64, name: Text) {
        current()?;
        let name = name.get()?;
        if name.is_empty() {
            return Err(Error::value("a function without a name"));
        }
        function.check()?;
        let found = driver()?.lock().function(module, &name, None)?;
        function.set(found)
    }

    fn cuModuleGetFunctionCount(count: Out<u32>, module: u64) {
        let module = driver()?.lock().modules.get(module)?;
        count.set(module.program.kernels().count() as u32)
    }

    fn cuModuleEnumerateFunctions(functions: Out<u64>, count: u32, module: u64) {
        let mut state = driver()?.lock();
        let names: Vec<String> =
            state.modules.get(module)?.program.kernels().take(count as usize).map(str::to_owned).collect();
        let found: Result<Vec<u64>, Error> = names.iter().map(|name| state.function(module, name, None)).collect();
        functions.list(&found?)
    }

    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: u64, name: Text) {
        current()?;
        let name = name.get()?;
        if address.is_null() && bytes.is_null() {
            return Err(Error::value("neither address nor size is wanted"));
        }
        let module = driver()?.lock().modules.get(module)?;
        let (place, size) = variable(&module.program, &name)?;
        address.offer(place);
        bytes.offer(size as usize);
        Ok(())
    }

    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        driver()?;
        mode.set(1)
    }
}
