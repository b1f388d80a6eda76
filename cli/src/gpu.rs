//! The GPU of `warpsmith fuzz --oracle gpu`: with a thread of its own, on which its context is current.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use warpsmith::Target;
use warpsmith::fuzz::{NoCode, NoRemains, Remains, Tools};
use warpsmith::gpu::{Gpu, Optimization};
use warpsmith::isa::{Release, Variant, Version};
use warpsmith::launch::{GpuError, LaunchSpec, OnGpu, execute_on_gpu};
use warpsmith_harness::ptxas::Toolbox;

type Answer = Result<Remains, NoRemains>;

/// A launch, and where its answer goes.
struct Request {
    text: String,
    launch: LaunchSpec,
    answer: Sender<Answer>,
}

/// A GPU that answers one request after the other.
struct Worker {
    requests: Mutex<Sender<Request>>,
    /// The number of its architecture: 90.
    sm: u32,
}

/// The installed tools, and the GPU if it is asked.
pub struct Tooling {
    /// ptxas and LLVM.
    pub toolbox: Toolbox,
    gpu: Option<Worker>,
}

impl Tooling {
    /// The tools, without a GPU.
    pub fn new(toolbox: Toolbox) -> Tooling {
        Tooling { toolbox, gpu: None }
    }

    /// The tools and the first GPU; the error says why there is none.
    pub fn with_gpu(toolbox: Toolbox) -> Result<Tooling, String> {
        let (ready, opened) = channel();
        let (requests, queue) = channel();
        std::thread::spawn(move || serve(&ready, &queue));
        let sm = opened.recv().map_err(|_| "the thread of the GPU has ended".to_owned())??;
        Ok(Tooling { toolbox, gpu: Some(Worker { requests: Mutex::new(requests), sm }) })
    }
}

impl Tools for Tooling {
    fn ptxas(&self, text: &str, target: Target) -> Option<Result<Vec<u8>, NoCode>> {
        self.toolbox.ptxas(text, target)
    }

    fn check(&self, text: &str, version: Version, target: Target) -> Option<(Release, Result<(), NoCode>)> {
        self.toolbox.check(text, version, target)
    }

    fn llvm(&self, text: &str, target: Target) -> Option<Result<String, String>> {
        self.toolbox.llvm(text, target)
    }

    fn gpu(&self, text: &str, target: Target, launch: &LaunchSpec) -> Answer {
        let not_run = |why: &str| Err(NoRemains::NotRun(why.to_owned()));
        let Some(worker) = &self.gpu else { return not_run("there is no GPU") };
        if !runs_on(target, worker.sm) {
            return not_run("the GPU has another architecture");
        }
        let (answer, answered) = channel();
        let request = Request { text: text.to_owned(), launch: launch.clone(), answer };
        let sent = worker.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request);
        match (sent, answered.recv()) {
            (Ok(()), Ok(answer)) => answer,
            (Err(_), _) | (_, Err(_)) => not_run("the GPU does not answer since a kernel went wrong"),
        }
    }
}

/// Whether PTX for a target runs on an architecture.
fn runs_on(target: Target, sm: u32) -> bool {
    match target.variant {
        Variant::Base => u32::from(target.sm) <= sm,
        Variant::Family => u32::from(target.sm) / 10 == sm / 10 && u32::from(target.sm) <= sm,
        Variant::Arch => u32::from(target.sm) == sm,
    }
}

/// Opens the GPU, says which it is, and answers until nobody asks any more.
fn serve(ready: &Sender<Result<u32, String>>, queue: &Receiver<Request>) {
    // Whoever asked may have gone: then the answer is nobody's.
    let mut gpu = match Gpu::open() {
        Ok(gpu) => {
            let (major, minor) = gpu.description().compute;
            ready.send(Ok(10 * major + minor)).unwrap_or_default();
            gpu
        }
        Err(absent) => return ready.send(Err(absent.to_string())).unwrap_or_default(),
    };
    for Request { text, launch, answer } in queue {
        let (left, usable) = match execute_on_gpu(&gpu, &text, &launch, Optimization::Full) {
            Ok(OnGpu { buffers, globals, memory, handles: _ }) => {
                (Ok(Remains { buffers, globals, memory }), true)
            }
            Err(GpuError::Driver(error)) if error.is_hang() => {
                (Err(NoRemains::Fault(error.to_string())), false)
            }
            Err(GpuError::Driver(error)) if error.is_fault() => {
                (Err(NoRemains::Fault(error.to_string())), gpu.reset().is_ok())
            }
            Err(error) => (Err(NoRemains::NotRun(error.to_string())), true),
        };
        answer.send(left).unwrap_or_default();
        if !usable {
            return;
        }
    }
}
