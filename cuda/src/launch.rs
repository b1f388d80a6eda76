//! What a launch of a kernel is: its shape and parameters, checked, and its run.

use crate::error::{Code, Error};
use crate::ffi::{In, Pointer, memory};
use crate::kernel::{Function, most_dynamic_shared, no_kernel, resident_blocks};
use crate::profile::Profile;
use crate::state::driver;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use warpsmith::interp::{Launch, Machine};
use warpsmith::isa::limits;

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// All blocks run together.
    pub cooperative: bool,
}

/// `CUlaunchAttributeValue`
pub type AttributeValue = [u32; 16];

/// `CUlaunchAttributeID`: those that a result depends on.
const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
/// An event that the launch records when its last block has begun.
const COMPLETION_EVENT: u32 = 12;

impl Shape {
    /// Takes an attribute of a launch; true if it says how fast the launch is to be, or how caches are used, and changes no result.
    pub fn set(&mut self, number: u32, value: &AttributeValue) -> Result<bool, Error> {
        match number {
            COOPERATIVE => self.cooperative = value[0] != 0,
            CLUSTER => self.cluster = Some([value[0], value[1], value[2]]),
            0 | 1 | 3 | 5..=11 | 13 | 14 | 16 => return Ok(true),
            COMPLETION_EVENT => {
                return Err(Error::unsupported("events that a launch records (launch attribute 12)"));
            }
            number => return Err(Error::value(format!("{number} is not an attribute of a launch"))),
        }
        Ok(false)
    }

    /// The value of an attribute of the shape.
    fn get(&self, number: u32) -> Option<AttributeValue> {
        let words: &[u32] = match number {
            COOPERATIVE => &[self.cooperative.into()],
            CLUSTER => self.cluster.as_ref().map_or(&[], |cluster| cluster.as_slice()),
            _ => return None,
        };
        let mut value = [0; 16];
        value[..words.len()].copy_from_slice(words);
        Some(value)
    }
}

/// A launch that is ready to be made.
#[derive(Debug)]
pub struct KernelLaunch {
    /// What is launched.
    pub function: Arc<Function>,
    /// How.
    pub launch: Launch,
    /// Where its parameters are, for clients that ask.
    places: OnceLock<Vec<u64>>,
    /// Attributes that change no result, by number, for clients that ask.
    preferences: BTreeMap<u32, AttributeValue>,
}

/// Bytes by which the blocks of a cooperative launch find each other: zero at first. Code of `cooperative_groups` has their address in `%envreg1` (the
/// upper half) and `%envreg2`.
const WORKSPACE: u64 = 1024;

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`
const BUFFER: [u64; 2] = [1, 2];

impl KernelLaunch {
    /// Checks a launch, and takes its parameters.
    pub fn new(
        function: Arc<Function>,
        shape: Shape,
        params: In<Pointer>,
        extra: In<Pointer>,
    ) -> Result<KernelLaunch, Error> {
        if !params.is_null() && !extra.is_null() {
            return Err(Error::value("parameters are given twice"));
        }
        let bytes = parameters(&function, params, extra)?;
        KernelLaunch::packed(function, shape, bytes)
    }

    /// As [`KernelLaunch::new`], of parameters as they lie in parameter space.
    pub fn packed(function: Arc<Function>, shape: Shape, bytes: Vec<u8>) -> Result<KernelLaunch, Error> {
        let driver = driver()?;
        let profile = &driver.settings.devices[function.module.device];
        check(&function, shape, profile)?;
        let mut launch = Launch::new(function.name.clone()).grid(shape.grid).block(shape.block);
        launch = launch.dynamic_shared(shape.shared).packed(bytes);
        launch.cluster = shape.cluster;
        launch.cooperative = shape.cooperative;
        if let Some(steps) = driver.settings.steps {
            (launch.limits.steps, launch.limits.block_steps) = (steps, steps);
        }
        launch.workers = driver.watch.workers(&driver.settings);
        Ok(KernelLaunch { function, launch, places: OnceLock::new(), preferences: BTreeMap::new() })
    }

    /// Bytes of the parameters of a function.
    pub fn param_bytes(function: &Function) -> usize {
        let list = function.module.program.kernel(&function.name).unwrap_or(&[]);
        list.iter().map(|p| (p.offset + p.bytes) as usize).max().unwrap_or(0)
    }

    /// The shape of the launch.
    pub fn shape(&self) -> Shape {
        Shape {
            grid: self.launch.grid,
            block: self.launch.block,
            shared: self.launch.dynamic_shared,
            cluster: self.launch.cluster,
            cooperative: self.launch.cooperative,
        }
    }

    /// The value of an attribute.
    pub fn attribute(&self, number: u32) -> Result<AttributeValue, Error> {
        let own = self.shape().get(number).or_else(|| self.preferences.get(&number).copied());
        match own {
            Some(value) => Ok(value),
            // What was not set is nothing, of an attribute that there is.
            None => self.shape().set(number, &[0; 16]).map(|_| [0; 16]),
        }
    }

    /// The same launch with other attributes.
    pub fn with_attributes(&self, changes: &BTreeMap<u32, AttributeValue>) -> Result<KernelLaunch, Error> {
        let (mut shape, mut preferences) = (self.shape(), self.preferences.clone());
        for (number, value) in changes {
            if shape.set(*number, value)? {
                preferences.insert(*number, *value);
            }
        }
        let bytes = self.launch.packed.clone().unwrap_or_default();
        let made = KernelLaunch::packed(Arc::clone(&self.function), shape, bytes)?;
        Ok(KernelLaunch { preferences, ..made })
    }

    /// All attributes that were set.
    pub fn attributes(&self) -> BTreeMap<u32, AttributeValue> {
        let own =
            [COOPERATIVE, CLUSTER].into_iter().filter_map(|number| Some((number, self.shape().get(number)?)));
        // A kernel without clusters gets no arguments about them.
        let own = own.filter(|(_, value)| *value != [0; 16]);
        own.chain(self.preferences.iter().map(|(number, value)| (*number, *value))).collect()
    }

    /// Where the values of its parameters are, which live as long as the launch: a list as `kernelParams`.
    pub fn params(&self) -> Pointer {
        let list = self.function.module.program.kernel(&self.function.name).unwrap_or(&[]);
        let (Some(bytes), false) = (&self.launch.packed, list.is_empty()) else { return Pointer::at(0) };
        let places = self.places.get_or_init(|| {
            let first = bytes.as_ptr().expose_provenance() as u64;
            list.iter().map(|param| first + u64::from(param.offset)).collect()
        });
        Pointer::at(places.as_ptr().expose_provenance() as u64)
    }

    /// Runs it to its end.
    pub fn run(&self) -> Result<(), Error> {
        let driver = driver()?;
        let module = &self.function.module;
        let machine = &driver.machines[module.device];
        module.references.bind(module)?;
        if !self.launch.cooperative {
            return self.run_on(machine);
        }
        let workspace = driver.lock().device.alloc(WORKSPACE)?;
        let mut machine = Machine::clone(machine);
        machine.environment[1] = (workspace.address() >> 32) as u32;
        machine.environment[2] = workspace.address() as u32;
        let outcome = self.run_on(&Arc::new(machine));
        driver.lock().device.free(workspace)?;
        outcome
    }

    fn run_on(&self, machine: &Arc<Machine>) -> Result<(), Error> {
        let driver = driver()?;
        let module = &self.function.module;
        let prepared = driver.lock().device.prepare_on(machine, &module.program, &self.launch);
        let outcome = prepared.and_then(|prepared| driver.watch.run(module, &self.function.name, prepared));
        outcome.map(|_| ()).map_err(|fault| driver.watch.fault(module, &self.function.name, fault))
    }
}

/// The parameters as they lie in parameter space.
fn parameters(function: &Function, params: In<Pointer>, extra: In<Pointer>) -> Result<Vec<u8>, Error> {
    let list = function.module.program.kernel(&function.name).unwrap_or(&[]);
    let size = KernelLaunch::param_bytes(function);
    let mut bytes = vec![0; size];
    if list.is_empty() {
        return Ok(bytes);
    }
    if !params.is_null() {
        for (i, param) in list.iter().enumerate() {
            let place = params.at(i)?;
            if place.is_null() && param.bytes > 0 {
                let message = format!("no value for parameter {i} (`{}`) of `{}`", param.name, function.name);
                return Err(Error::value(message));
            }
            let value = memory::bytes(place, param.bytes as usize);
            bytes[param.offset as usize..][..value.len()].copy_from_slice(&value);
        }
        return Ok(bytes);
    }
    if extra.is_null() {
        let message = format!("`{}` takes {} parameters, none are given", function.name, list.len());
        return Err(Error::value(message));
    }
    let (mut buffer, mut given, mut at) = (None, None, 0);
    loop {
        let key = extra.at(at)?.address();
        if key == 0 {
            break;
        }
        let value = extra.at(at + 1)?;
        match BUFFER.iter().position(|known| *known == key) {
            Some(0) => buffer = Some(value),
            Some(_) if value.is_null() => return Err(Error::value("no size for a buffer of parameters")),
            Some(_) => {
                let size = memory::bytes(value, 8);
                given = size.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
            }
            None => return Err(Error::value(format!("{key} is not a member of `extra`"))),
        }
        at += 2;
    }
    match (buffer, given) {
        (Some(buffer), Some(given)) if !buffer.is_null() && given >= size as u64 => {
            Ok(memory::bytes(buffer, size))
        }
        (Some(_), Some(given)) => Err(Error::value(format!(
            "`{}` takes {size} bytes of parameters, {given} are given",
            function.name
        ))),
        _ => Err(Error::value("`extra` names no buffer of parameters with its size")),
    }
}

/// The attribute that lets a kernel ask for more blocks in a cluster than the portable ones.
const NON_PORTABLE: usize = 14;

fn check(function: &Function, shape: Shape, profile: &Profile) -> Result<(), Error> {
    let outside = |value: [u32; 3], most: [u32; 3]| (0..3).any(|i| value[i] == 0 || value[i] > most[i]);
    if outside(shape.grid, limits::GRID) || outside(shape.block, limits::BLOCK) {
        let message = format!("a grid of {:?} blocks of {:?} threads", shape.grid, shape.block);
        return Err(Error::value(message));
    }
    let threads: u32 = shape.block.iter().product();
    if threads > limits::BLOCK_THREADS {
        return Err(Error::value(format!("a block of {threads} threads")));
    }
    let Some(info) = function.module.program.kernel_info(&function.name) else {
        return Err(no_kernel(&function.module.program, &function.name));
    };
    if let Some(required) = info.attributes.required_block.filter(|required| *required != shape.block) {
        return Err(Error::value(format!(
            "a block of {:?} for a kernel with .reqntid {required:?}",
            shape.block
        )));
    }
    if let Some(most) = info.attributes.max_threads.filter(|most| threads > *most) {
        return Err(Error::value(format!("a block of {threads} threads for a kernel with .maxntid {most}")));
    }
    let most = most_dynamic_shared(&info, &function.attributes, profile);
    if u64::from(shape.shared) > most {
        let message = format!(
            "{} bytes of dynamic shared memory for `{}`, the most is {most}: \
             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES sets more",
            shape.shared, function.name
        );
        return Err(Error::value(message));
    }
    let blocks: u64 = shape.grid.iter().map(|n| u64::from(*n)).product();
    let room = resident_blocks(&info, profile, threads, shape.shared.into()) * u64::from(profile.sms);
    if shape.cooperative && blocks > room {
        let message = format!("a cooperative launch of {blocks} blocks on a device with room for {room}");
        return Err(Error::new(Code::COOPERATIVE_LAUNCH_TOO_LARGE, message));
    }
    if let Some(cluster) = shape.cluster.or(info.attributes.required_cluster) {
        let size = cluster.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
        let allowed = function.attributes.preferences[NON_PORTABLE - 9].load(Ordering::Relaxed) != 0;
        let most = u64::from(if allowed { limits::CLUSTER_BLOCKS } else { limits::PORTABLE_CLUSTER_BLOCKS });
        let whole = (0..3).all(|i| cluster[i] != 0 && shape.grid[i].is_multiple_of(cluster[i]));
        if !profile.sm.has_clusters() && size > 1 || !whole || size > most {
            let message = format!("clusters of {cluster:?} blocks in a grid of {:?}", shape.grid);
            return Err(Error::new(Code::INVALID_CLUSTER_SIZE, message));
        }
    }
    Ok(())
}
