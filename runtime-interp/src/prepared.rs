//! A launch with all that it needs, apart from its device.

use crate::device::{Machine, NativeCode};
use crate::engine::observe::{LaunchView, Observer};
use crate::engine::{Cell, Context, Program, Standstill, grid};
use crate::fault::Fault;
use crate::launch::{Launch, Stats};
use crate::memory::bytes::Bytes;
use crate::memory::global::Global;
use crate::memory::heap::Heap;
use crate::output::{Output, Sink};
use crate::texture::object::Object;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use warpsmith_semantics::matrix::{Architecture, Arithmetic};

/// A launch that was checked and can run, on any thread; [`Device::prepare`](crate::Device::prepare) gives it.
pub struct Prepared<'p> {
    pub(crate) program: &'p Program,
    pub(crate) launch: &'p Launch,
    pub(crate) kernel: u32,
    pub(crate) params: Bytes,
    pub(crate) constants: Arc<Vec<Cell>>,
    pub(crate) constant: Bytes,
    pub(crate) globals: u64,
    pub(crate) machine: Arc<Machine>,
    pub(crate) global: Arc<Global>,
    pub(crate) heap: Option<Arc<Heap>>,
    pub(crate) objects: Arc<Vec<Object>>,
    pub(crate) sink: Arc<Mutex<Sink>>,
    pub(crate) number: u64,
}

impl Prepared<'_> {
    /// Runs the kernel to its end.
    pub fn run(self) -> Result<Stats, Fault> {
        let launch = self.launch;
        self.run_with(|cx| {
            let workers = match launch.workers {
                _ if cx.seed.is_some() || cx.schedule.is_some() => 1,
                Some(workers) => workers.max(1),
                None => rayon::current_num_threads(),
            };
            if workers == 1 || cx.clusters() == 1 {
                grid::run_here(cx)
            } else {
                grid::run_parallel(cx, workers)
            }
        })
    }

    /// Runs the kernel under the eyes of an observer, on the calling thread.
    pub fn run_observed(self, observer: &mut dyn Observer) -> Result<Stats, Fault> {
        self.run_with(|cx| {
            if !observer.is_active() {
                return grid::run_here(cx);
            }
            let view = LaunchView::new(cx);
            observer.begin(&view);
            let result = grid::run_watched(cx, observer);
            observer.end(&view, result.as_ref().err());
            result
        })
    }

    fn run_with(self, run: impl FnOnce(&Context<'_>) -> Result<(u64, u64), Fault>) -> Result<Stats, Fault> {
        let Prepared { program, launch, kernel, .. } = self;
        if self.machine.native == NativeCode::Always {
            program.compile_regions();
        }
        let attributes = program.functions[kernel as usize].kernel.as_ref().map(|k| &k.attributes);
        let output = Output::new(self.machine.print_buffer);
        let cluster = launch.cluster.or(attributes.and_then(|a| a.required_cluster));
        let cluster_blocks: u64 = cluster.unwrap_or([1; 3]).iter().map(|n| u64::from(*n)).product();
        let room = launch.room(program, kernel, &self.machine);
        let cx = Context {
            program,
            constants: &self.constants,
            global: &self.global,
            constant: &self.constant,
            params: &self.params,
            globals: self.globals,
            heap: self.heap.as_deref(),
            objects: &self.objects,
            output: &output,
            kernel,
            grid: launch.blocks(attributes),
            block: launch.block,
            cluster,
            dynamic_shared: launch.dynamic_shared,
            machine: &self.machine,
            limits: &launch.limits,
            schedule: launch.schedule,
            seed: launch.seed,
            launch_number: self.number,
            arithmetic: launch.arithmetic.unwrap_or_else(|| {
                let own = program.target.map_or(Architecture::Hopper, Architecture::of);
                Arithmetic::Hardware(own)
            }),
            fresh: launch.poison.unwrap_or(0),
            cooperative: launch.cooperative,
            room: (room / cluster_blocks).max(1),
            resident: AtomicU64::new(0),
            standstill: Standstill::default(),
            stop: AtomicBool::new(false),
            budget: AtomicU64::new(launch.limits.steps),
            next: AtomicU64::new(0),
        };
        let start = Instant::now();
        let done = run(&cx);
        let seconds = start.elapsed().as_secs_f64();
        let blocks = grid::blocks(&cx);
        let threads = blocks.saturating_mul(cx.threads().into());
        let printed = output.deliver(&mut self.sink.lock().unwrap_or_else(PoisonError::into_inner));
        let (warp_instructions, thread_instructions) = done?;
        Ok(Stats {
            warp_instructions,
            thread_instructions,
            blocks,
            threads,
            printed_calls: printed.calls,
            printed_bytes: printed.bytes,
            lost_bytes: printed.lost,
            seconds,
        })
    }
}
