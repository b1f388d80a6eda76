//! Registers of a thread: an estimate, and its bounds.

use warpsmith::interp::KernelInfo;
use warpsmith::isa::limits;
use warpsmith::ptx::{Directive, FunctionKind, ValidatedModule};

/// The bounds that ptxas 13.0 takes: lower ones are raised, and higher ones are not seen.
const BOUNDS: std::ops::RangeInclusive<u32> = 24..=255;

/// Registers of a thread that an assembler would need, as far as one can say without being one: a share of those that are named, in the granularity of the
/// hardware, and as an assembler does it no more than `.maxnreg` allows, or else so few that the largest block fits, `.minnctapersm` times.
pub fn registers(info: &KernelInfo<'_>) -> u32 {
    let attributes = info.attributes;
    let named = (info.named_registers / 3).clamp(16, 248).next_multiple_of(8);
    let bound = attributes.max_registers.filter(|bound| bound <= BOUNDS.end());
    named.min(bound.map_or_else(
        || {
            let threads = attributes
                .required_block
                .map(|block| block.iter().fold(1, |all: u32, n| all.saturating_mul(*n)));
            let known = attributes.max_threads.or(threads);
            // Without a size of the block, how many should fit says nothing.
            let blocks = known.and(attributes.min_blocks).unwrap_or(1).max(1);
            let threads = known.unwrap_or(limits::BLOCK_THREADS).clamp(1, limits::BLOCK_THREADS);
            (limits::MULTIPROCESSOR_REGISTERS
                / threads.next_multiple_of(limits::WARP_THREADS).saturating_mul(blocks))
            .clamp(*BOUNDS.start(), 248)
        },
        |bound| bound.max(*BOUNDS.start()),
    ))
}

/// The text of a module whose kernels have a bound of registers (`CU_JIT_MAX_REGISTERS`) as a directive, but for those that say for themselves how
/// many they take: `.maxnreg`, `.maxntid` and `.reqntid` come before the option, as in ptxas. Lines stay what they are.
pub fn bounded(module: &ValidatedModule, bound: u32) -> String {
    let mut text = module.source().text().to_owned();
    let says = |directive: &Directive| match directive {
        Directive::MaxNReg(_) | Directive::MaxNTid(_) | Directive::ReqNTid(_) => true,
        Directive::MinNCtaPerSm(_)
        | Directive::MaxNCtaPerSm(_)
        | Directive::ReqNCtaPerCluster(_)
        | Directive::ExplicitCluster
        | Directive::MaxClusterRank(_)
        | Directive::BlocksAreClusters
        | Directive::NoReturn
        | Directive::AbiPreserve(_)
        | Directive::AbiPreserveControl(_)
        | Directive::Pragma(_)
        | Directive::Language(_)
        | Directive::MinPerCtaMemory(_) => false,
    };
    let kernels =
        module.functions().filter(|function| function.kind == FunctionKind::Entry && function.body.is_some());
    let mut places: Vec<usize> = kernels
        .filter(|function| !module[function.directives].iter().any(says))
        .map(|function| function.span.end as usize)
        .collect();
    places.sort_unstable();
    for place in places.into_iter().rev() {
        text.insert_str(place, &format!(" .maxnreg {bound}"));
    }
    text
}
