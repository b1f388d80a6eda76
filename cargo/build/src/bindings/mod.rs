//! Typed functions that launch the kernels of a module of PTX: of any, whoever wrote it.
//!
//! The parameters' types are those of the declarations; for pointers, what the kernel does through them says what they point to and whether it is
//! written (`pointers`).

mod params;
mod pointers;

use params::{Kernel, ParamType};
use std::fmt::Write;
use warpsmith_ptx::{FunctionKind, ValidatedModule};

/// The Rust source of the bindings. `ptx` is the path of the PTX from the file that the source is written to.
pub fn generate(module: &ValidatedModule, ptx: &str) -> String {
    let kernels: Vec<Kernel> = module
        .functions()
        .filter(|function| function.kind == FunctionKind::Entry && function.body.is_some())
        .map(|function| Kernel::new(module, function))
        .collect();
    let mut out = String::new();
    head(&mut out, ptx);
    cpu(&mut out, &kernels);
    cuda(&mut out, &kernels);
    out
}

/// Adds formatted text; a `String` takes everything.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {
        writeln!($out, $($text)*).unwrap_or_default()
    };
}

fn head(out: &mut String, ptx: &str) {
    put!(out, "// Made by Warpsmith from the kernels' PTX: changes are lost.\n");
    put!(out, "/// The kernels.");
    put!(out, "#[allow(dead_code)]");
    put!(out, "pub const PTX: &str = include_str!({ptx:?});\n");
    put!(
        out,
        "/// Types whose values have `BYTES` bytes: what memory holds that a kernel accesses as integers."
    );
    put!(out, "#[allow(dead_code)]");
    put!(out, "pub trait Bits<const BYTES: usize> {{}}");
    for (bytes, types) in params::BITS {
        for ty in *types {
            put!(out, "impl Bits<{bytes}> for {ty} {{}}");
        }
    }
    put!(out, "");
}

/// The part for `warpsmith::Device`.
fn cpu(out: &mut String, kernels: &[Kernel]) {
    put!(out, "/// The kernels on `warpsmith::Device`, which runs them on the CPU.");
    put!(out, "#[allow(dead_code, clippy::all)]");
    put!(out, "pub mod cpu {{");
    put!(
        out,
        "    use warpsmith::{{Buffer, Diagnostics, Fault, Launch, Launcher, Program, Stats, ptx::ValidatedModule}};\n"
    );
    put!(out, "    /// The kernels, loaded.");
    put!(out, "    pub struct Kernels {{");
    put!(out, "        /// The program, for launches of another kind.");
    put!(out, "        pub program: Program,");
    put!(out, "    }}\n");
    put!(
        out,
        "    /// How many blocks of how many threads; what else a launch may say is taken from the `Launch` it becomes."
    );
    put!(out, "    pub struct Config {{");
    put!(out, "        /// Blocks.");
    put!(out, "        pub grid: [u32; 3],");
    put!(out, "        /// Threads of a block.");
    put!(out, "        pub block: [u32; 3],");
    put!(out, "        /// Bytes of dynamic shared memory.");
    put!(out, "        pub dynamic_shared: u32,");
    put!(out, "    }}\n");
    put!(out, "    impl Config {{");
    put!(out, "        /// Blocks of 256 threads, as many as `n` threads need.");
    put!(out, "        pub fn for_num_elems(n: u32) -> Self {{");
    put!(
        out,
        "            Config {{ grid: [n.div_ceil(256).max(1), 1, 1], block: [256, 1, 1], dynamic_shared: 0 }}"
    );
    put!(out, "        }}");
    put!(out, "    }}\n");
    put!(out, "    impl Kernels {{");
    put!(out, "        /// Loads [`PTX`](super::PTX).");
    put!(out, "        ///");
    put!(out, "        /// # Errors");
    put!(out, "        /// Something in it that the engine does not execute, by name.");
    put!(out, "        pub fn load() -> Result<Self, Diagnostics> {{");
    put!(out, "            Ok(Kernels {{ program: Program::load(&ValidatedModule::parse(super::PTX)?)? }})");
    put!(out, "        }}");
    for kernel in kernels {
        put!(out, "\n        /// A launch of `{}`, to run with observers or a seed.", kernel.name);
        let params = kernel.list(ParamType::cpu);
        put!(out, "        pub fn {}_launch(&self, config: Config{params}) -> Launch {{", kernel.stem);
        put!(
            out,
            "            let mut launch = Launch::new({:?}).grid(config.grid).block(config.block);",
            kernel.name
        );
        put!(out, "            launch.dynamic_shared = config.dynamic_shared;");
        put!(out, "            launch{}", kernel.params.iter().map(params::cpu_argument).collect::<String>());
        put!(out, "        }}\n");
        put!(out, "        /// Runs `{}`.", kernel.name);
        put!(out, "        ///");
        put!(out, "        /// # Errors");
        put!(out, "        /// What happened, at which line, in which thread.");
        put!(
            out,
            "        pub fn {}(&self, device: &mut impl Launcher, config: Config{params}) -> Result<Stats, Fault> {{",
            kernel.ident
        );
        let names: String = kernel.params.iter().map(|param| format!(", {}", param.ident)).collect();
        put!(out, "            device.launch(&self.program, &self.{}_launch(config{names}))", kernel.stem);
        put!(out, "        }}");
    }
    put!(out, "    }}");
    put!(out, "}}\n");
}

/// The part for `cudarc`.
fn cuda(out: &mut String, kernels: &[Kernel]) {
    put!(out, "/// The kernels on a GPU, through `cudarc`.");
    put!(out, "#[cfg(feature = \"cudarc\")]");
    put!(out, "#[allow(dead_code, clippy::all)]");
    put!(out, "pub mod cuda {{");
    put!(
        out,
        "    use cudarc::driver::{{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg}};"
    );
    put!(out, "    use std::sync::Arc;\n");
    put!(out, "    /// The kernels, loaded by the driver.");
    put!(out, "    pub struct Kernels {{");
    for kernel in kernels {
        put!(out, "        {}: CudaFunction,", kernel.ident);
    }
    put!(out, "    }}\n");
    put!(out, "    impl Kernels {{");
    put!(out, "        /// Loads [`PTX`](super::PTX).");
    put!(out, "        ///");
    put!(out, "        /// # Errors");
    put!(out, "        /// The driver's.");
    put!(out, "        pub fn load(context: &Arc<CudaContext>) -> Result<Self, DriverError> {{");
    put!(out, "            let module = context.load_module(cudarc::nvrtc::Ptx::from_src(super::PTX))?;");
    put!(out, "            Ok(Kernels {{");
    for kernel in kernels {
        put!(out, "                {}: module.load_function({:?})?,", kernel.ident, kernel.name);
    }
    put!(out, "            }})");
    put!(out, "        }}");
    for kernel in kernels {
        let params = kernel.list(ParamType::cuda);
        put!(out, "\n        /// Launches `{}`.", kernel.name);
        put!(out, "        ///");
        put!(out, "        /// # Safety");
        put!(
            out,
            "        /// The kernel must not access memory outside of what it is given: `cpu` and its checkers say whether it does."
        );
        put!(out, "        ///");
        put!(out, "        /// # Errors");
        put!(out, "        /// The driver's.");
        let generics = kernel.generics();
        put!(
            out,
            "        pub unsafe fn {}{generics}(&self, stream: &Arc<CudaStream>, config: LaunchConfig{params}) -> Result<(), DriverError> {{",
            kernel.ident
        );
        put!(out, "            let mut launch = stream.launch_builder(&self.{});", kernel.ident);
        for param in &kernel.params {
            let by = if param.ty.is_pointer() { "" } else { "&" };
            put!(out, "            launch.arg({by}{});", param.ident);
        }
        put!(out, "            unsafe {{ launch.launch(config) }}.map(drop)");
        put!(out, "        }}");
    }
    put!(out, "    }}");
    put!(out, "}}");
}
