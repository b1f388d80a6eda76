//! How many blocks fit a multiprocessor.

use crate::api::launch::Config;
use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::callback::BlockToShared;
use crate::ffi::{In, Out, api};
use crate::kernel::{most_dynamic_shared, resident_blocks};
use crate::profile::Profile;
use crate::state::driver;
use std::sync::Arc;
use warpsmith::Program;
use warpsmith::isa::limits;

/// The device of the current context, and what a function is there.
type About = (&'static Profile, Arc<Program>, String, Arc<crate::kernel::Attributes>);

fn about(function: u64) -> Result<About, Error> {
    let driver = driver()?;
    let context = current()?;
    let (program, name, attributes) = driver.lock().described(function)?;
    Ok((&driver.settings.devices[context.device], program, name, attributes))
}

fn gone() -> Error {
    Error::new(Code::NOT_FOUND, "the kernel is gone")
}

fn resident(answer: Out<i32>, function: u64, threads: i32, shared: usize) -> Result<(), Error> {
    answer.check()?;
    let (profile, program, name, _) = about(function)?;
    let threads = u32::try_from(threads).ok().filter(|threads| *threads > 0);
    let threads = threads.ok_or_else(|| Error::value("a block without threads"))?;
    let info = program.kernel_info(&name).ok_or_else(gone)?;
    answer.set(resident_blocks(&info, profile, threads, shared as u64) as i32)
}

fn best(
    grid: Out<i32>,
    block: Out<i32>,
    function: u64,
    shared_of: BlockToShared,
    shared: usize,
    most: i32,
) -> Result<(), Error> {
    grid.check()?;
    block.check()?;
    let (profile, program, name, _) = about(function)?;
    let info = program.kernel_info(&name).ok_or_else(gone)?;
    let limit = info.attributes.max_threads.unwrap_or(limits::BLOCK_THREADS);
    let limit = u32::try_from(most).ok().filter(|most| *most > 0).map_or(limit, |most| limit.min(most));
    let (mut found, mut threads) = ((0, 0, 0), limit);
    while threads > 0 {
        let dynamic = shared_of.map_or(shared, |shared_of| shared_of(threads as i32));
        let blocks = resident_blocks(&info, profile, threads, dynamic as u64);
        // Of equal use of a multiprocessor the larger block, which comes first.
        if blocks * u64::from(threads) > found.0 {
            found = (blocks * u64::from(threads), threads, blocks);
        }
        threads = if threads.is_multiple_of(32) { threads - 32 } else { threads / 32 * 32 };
    }
    grid.set((found.2 * u64::from(profile.sms)) as i32)?;
    block.set(found.1 as i32)
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, function: u64, threads: i32, shared: usize) {
        resident(blocks, function, threads, shared)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>,
        function: u64,
        threads: i32,
        shared: usize,
        flags: u32,
    ) {
        if flags > 1 {
            return Err(Error::value(format!("flags {flags}")));
        }
        resident(blocks, function, threads, shared)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        grid: Out<i32>,
        block: Out<i32>,
        function: u64,
        shared_of: BlockToShared,
        shared: usize,
        most: i32,
    ) {
        best(grid, block, function, shared_of, shared, most)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>,
        block: Out<i32>,
        function: u64,
        shared_of: BlockToShared,
        shared: usize,
        most: i32,
        flags: u32,
    ) {
        if flags > 1 {
            return Err(Error::value(format!("flags {flags}")));
        }
        best(grid, block, function, shared_of, shared, most)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<usize>, function: u64, blocks: i32, threads: i32) {
        bytes.check()?;
        let (profile, program, name, attributes) = about(function)?;
        let info = program.kernel_info(&name).ok_or_else(gone)?;
        let (Ok(blocks @ 1..), Ok(threads @ 1..)) = (u64::try_from(blocks), u32::try_from(threads)) else {
            return Err(Error::value("no blocks, or blocks without threads"));
        };
        if resident_blocks(&info, profile, threads, 0) < blocks {
            return bytes.set(0);
        }
        let share = u64::from(profile.sm.shared_bytes) / blocks / 128 * 128;
        let most = most_dynamic_shared(&info, &attributes, profile);
        bytes.set(share.saturating_sub(limits::RESERVED_SHARED_BYTES + info.static_shared).min(most) as usize)
    }

    fn cuOccupancyMaxPotentialClusterSize(size: Out<i32>, function: u64, config: In<Config>) {
        size.check()?;
        let (profile, ..) = about(function)?;
        config.get()?.shape()?;
        size.set(if profile.sm.has_clusters() { limits::PORTABLE_CLUSTER_BLOCKS as i32 } else { 1 })
    }

    fn cuOccupancyMaxActiveClusters(clusters: Out<i32>, function: u64, config: In<Config>) {
        clusters.check()?;
        let (profile, program, name, _) = about(function)?;
        let info = program.kernel_info(&name).ok_or_else(gone)?;
        let shape = config.get()?.shape()?;
        let threads = shape.block.iter().fold(1u32, |n, d| n.saturating_mul(*d));
        let blocks = resident_blocks(&info, profile, threads, shape.shared.into()) * u64::from(profile.sms);
        let size: u64 = shape.cluster.unwrap_or([1; 3]).iter().map(|n| u64::from(*n)).product();
        clusters.set((blocks / size.max(1)) as i32)
    }
}
