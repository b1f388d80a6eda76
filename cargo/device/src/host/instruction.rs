//! Instructions on the host: what `instructions!` calls there. They mean what the tables of Warpsmith's engine say.

use super::{barrier, exchange, place};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use warpsmith_isa::{self as isa, Mnemonic, Mod, StateSpace, VoteMode};
use warpsmith_semantics::update::{self, AtomicFn};
use warpsmith_semantics::{Effect, Meaning, Plan, Written, together};

/// An instruction with its operands, as `instructions!` found it in the tables.
#[doc(hidden)]
pub struct Instruction {
    mnemonic: &'static str,
    form: usize,
    /// A bit for each operand of the form that is written.
    present: u16,
    destination_bits: u32,
    resolved: OnceLock<(isa::Instruction, Action)>,
}

/// What it does here.
enum Action {
    /// It computes its results from its sources.
    Computes(Box<Plan>),
    /// It does something to memory or with other threads.
    Does(Effect),
    /// It cannot be done here, and why.
    Refused(String),
}

impl Instruction {
    /// For `instructions!`.
    pub const fn new(
        mnemonic: &'static str,
        form: usize,
        present: u16,
        destination_bits: u32,
    ) -> Instruction {
        Instruction { mnemonic, form, present, destination_bits, resolved: OnceLock::new() }
    }

    /// The results for these sources, which are the bits of registers, addresses and constants.
    ///
    /// # Panics
    /// It is nothing that the host does, by name.
    pub fn run<const N: usize>(&self, sources: &[u128]) -> [u128; N] {
        let (instruction, action) = self.resolved.get_or_init(|| self.resolve());
        let done = match action {
            Action::Computes(plan) => plan.evaluate(sources).map(|results| results.to_vec()),
            Action::Does(effect) => perform(instruction, *effect, sources, N),
            Action::Refused(why) => panic!("`{}`: {why}", self.mnemonic),
        };
        let Some(results) = done else { panic!("`{}`: {ELSEWHERE}", self.mnemonic) };
        std::array::from_fn(|n| results.get(n).copied().unwrap_or(0))
    }

    fn resolve(&self) -> (isa::Instruction, Action) {
        let named = Mnemonic::parse(self.mnemonic).ok();
        let of_form = named.and_then(|name| isa::forms(&name).find(|one| one.id().index() == self.form));
        // The macro and this function read the same tables: Cargo builds one version of them.
        let instruction = of_form.expect("the tables have the instruction").with_places(self.present);
        let written = Written { destination_bits: self.destination_bits, ..Written::default() };
        let action = match Meaning::of_instruction(&instruction) {
            Meaning::Computes(computation) => match computation.plan(&instruction, &written) {
                Some(plan) => Action::Computes(Box::new(plan)),
                None => Action::Refused("the manual gives it no meaning".to_owned()),
            },
            Meaning::Does(effect) => Action::Does(effect),
            Meaning::Refused(why) => Action::Refused(why.to_string()),
        };
        (instruction, action)
    }
}

const ELSEWHERE: &str =
    "it is not executed on the host; the kernel's PTX is, on Warpsmith's engine (`#[warpsmith::test]`)";

/// Does what an instruction does besides computing. `None` for what is not done here, which is an error at the call, by name.
fn perform(i: &isa::Instruction, effect: Effect, sources: &[u128], results: usize) -> Option<Vec<u128>> {
    let nothing = Some(Vec::new());
    let source = |n: usize| sources.get(n).copied();
    let word = |n: usize| source(n).map(|bits| bits as u32);
    match effect {
        Effect::Move => Some(parted(i.ty()?.bits(), sources, results)),
        Effect::Load => {
            let (ty, at) = (i.ty()?, source(0)? as usize);
            let bytes = ty.bytes()? as usize;
            // SAFETY: the caller of the `unsafe` function says that the memory is there.
            Some((0..results).map(|n| unsafe { read(at + n * bytes, bytes, ty.is_signed()) }).collect())
        }
        Effect::Store => {
            let (bytes, at) = (i.ty()?.bytes()? as usize, source(0)? as usize);
            for n in 0..i.vector_len() as usize {
                let value = source(1 + n)?;
                // SAFETY: as for a load.
                unsafe { write(at + n * bytes, bytes, value) };
            }
            nothing
        }
        Effect::Atomic | Effect::Reduce => {
            let ty = i.ty()?;
            let function = update::of_instruction(i, ty)?;
            let (bytes, at, count) = (ty.bytes()? as usize, source(0)? as usize, i.vector_len() as usize);
            let shared = i.space() == StateSpace::Shared;
            let old = |n: usize| {
                let (b, c) = (source(1 + n)?, source(1 + count).unwrap_or(0));
                // SAFETY: as for a load.
                unsafe { atomic(at + n * bytes, bytes, shared, function, b, c) }
            };
            (0..count).map(old).collect()
        }
        Effect::Fence(_) => {
            fence(Ordering::SeqCst);
            nothing
        }
        Effect::Copy => {
            // Complete at once, which is one of the times at which it may be.
            let [to, from, size] = *sources else { return None };
            // SAFETY: as for a load and a store.
            unsafe {
                std::ptr::copy(pointer::<u8>(from as usize), pointer::<u8>(to as usize), size as usize)
            };
            nothing
        }
        Effect::CommitGroup(_) | Effect::WaitGroup(_) | Effect::WaitAll => nothing,
        Effect::Shuffle => {
            let (lane, all) = (place().lane(), exchange(word(3)?, word(0)?));
            let (from, inside) = together::shuffle_source(i.shuffle_mode()?, lane, word(1)?, word(2)?);
            let from = if all.lanes >> from & 1 == 1 { from } else { lane };
            Some(vec![all.values[from as usize].into(), inside.into()])
        }
        Effect::Vote => {
            let all = exchange(word(1)?, word(0)? & 1);
            let holds = lanes(all.lanes)
                .filter(|lane| all.values[*lane] != 0)
                .fold(0, |bits, lane| bits | 1u32 << lane);
            Some(vec![match i.vote_mode()? {
                VoteMode::All => (holds == all.lanes).into(),
                VoteMode::Any => (holds != 0).into(),
                VoteMode::Uni => (holds == all.lanes || holds == 0).into(),
                VoteMode::Ballot => holds.into(),
            }])
        }
        Effect::Match => {
            let (mask, value) = (word(1)?, source(0)? as u64);
            let (low, high) = (exchange(mask, value as u32), exchange(mask, (value >> 32) as u32));
            let of = |lane: usize| u64::from(low.values[lane]) | u64::from(high.values[lane]) << 32;
            let equal =
                lanes(low.lanes).filter(|lane| of(*lane) == value).fold(0, |bits, lane| bits | 1u32 << lane);
            let whole = equal == low.lanes;
            match i.vote_mode()? {
                VoteMode::Any => Some(vec![equal.into()]),
                VoteMode::All => Some(vec![if whole { equal.into() } else { 0 }, whole.into()]),
                VoteMode::Uni | VoteMode::Ballot => None,
            }
        }
        Effect::ReduceLanes => {
            let all = exchange(word(1)?, word(0)?);
            let reduced =
                lanes(all.lanes).map(|lane| u64::from(all.values[lane])).reduce(together::reduction(i)?);
            Some(vec![reduced?.into()])
        }
        Effect::Elect => {
            let leader = exchange(word(0)?, 0).lanes.trailing_zeros();
            Some(vec![leader.into(), (leader == place().lane()).into()])
        }
        Effect::ActiveMask => Some(vec![1 << place().lane()]),
        Effect::WarpBarrier => {
            exchange(word(0)?, 0);
            nothing
        }
        Effect::BlockBarrier { reduces: false } if !i.has(Mod::Arrive) && *sources == [0] => {
            barrier();
            nothing
        }
        Effect::ToGeneric | Effect::ToSpace => Some(vec![source(0)?]),
        Effect::CachePolicy => Some(vec![0]),
        Effect::Yield => {
            std::thread::yield_now();
            nothing
        }
        Effect::Trap => panic!("trap"),
        Effect::Mark
        | Effect::Hint
        | Effect::Discard
        | Effect::GridDependency
        | Effect::RegisterCount { .. } => nothing,
        Effect::Branch
        | Effect::BranchIndirect
        | Effect::Call
        | Effect::Return
        | Effect::Exit
        | Effect::Fill
        | Effect::StoreAsync
        | Effect::ReduceAsync
        | Effect::BulkCopy
        | Effect::ArriveOnCopies
        | Effect::Mbarrier(_)
        | Effect::PendingCount
        | Effect::MulticastLoad
        | Effect::MulticastStore
        | Effect::MulticastReduce
        | Effect::MapAddress
        | Effect::RankOfAddress
        | Effect::IsInSpace
        | Effect::BlockBarrier { .. }
        | Effect::ClusterArrive
        | Effect::ClusterWait
        | Effect::TryCancel
        | Effect::QueryCancel
        | Effect::Multiply
        | Effect::MultiplyAsync
        | Effect::ProductFence
        | Effect::ProductCommit
        | Effect::ProductWait
        | Effect::LoadFragment
        | Effect::StoreFragment
        | Effect::LoadLines
        | Effect::StoreLines
        | Effect::TransposeLanes
        | Effect::CopyTensorMap
        | Effect::TensorCopy
        | Effect::TensorPrefetch
        | Effect::ReplaceTensorMapField
        | Effect::QueryTensorMap
        | Effect::TensorMemory(_)
        | Effect::Texture(_)
        | Effect::StackAllocate
        | Effect::StackSave
        | Effect::StackRestore => None,
    }
}

/// The bits of all sources, side by side, in as many equal parts.
fn parted(bits: u32, sources: &[u128], results: usize) -> Vec<u128> {
    let each = |count: usize| bits / count.max(1) as u32;
    let cut = |value: u128, width: u32| if width < 128 { value & ((1 << width) - 1) } else { value };
    let of = each(sources.len());
    let whole =
        sources.iter().enumerate().fold(0, |all, (n, value)| all | cut(*value, of) << (n as u32 * of));
    let to = each(results);
    (0..results).map(|n| cut(whole >> (n as u32 * to), to)).collect()
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

fn pointer<T>(at: usize) -> *mut T {
    std::ptr::with_exposed_provenance_mut(at)
}

/// # Safety
/// So many bytes of memory are there.
unsafe fn read(at: usize, bytes: usize, signed: bool) -> u128 {
    let mut value = [0u8; 16];
    // SAFETY: the caller's; no element of an instruction has more than 16 bytes.
    unsafe { std::ptr::copy_nonoverlapping(pointer::<u8>(at), value.as_mut_ptr(), bytes) };
    if signed && value[bytes - 1] >> 7 == 1 {
        value[bytes..].fill(0xff);
    }
    u128::from_le_bytes(value)
}

/// # Safety
/// So many bytes of memory are there, to be written.
unsafe fn write(at: usize, bytes: usize, value: u128) {
    // SAFETY: the caller's; no element of an instruction has more than 16 bytes.
    unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), pointer::<u8>(at), bytes) };
}

/// Words of 128 bits, which the host updates one at a time.
static WIDE: Mutex<()> = Mutex::new(());

/// Updates memory, and gives what it was.
///
/// # Safety
/// So many bytes of memory are there, aligned, and accessed by atomics only.
unsafe fn atomic(
    at: usize,
    bytes: usize,
    shared: bool,
    function: AtomicFn,
    b: u128,
    c: u128,
) -> Option<u128> {
    let word = match function {
        AtomicFn::Word(f) => f,
        AtomicFn::BySpace { shared: f, .. } if shared => f,
        AtomicFn::BySpace { global: f, .. } => f,
        AtomicFn::Wide(f) => {
            let _one_at_a_time = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the caller's.
            let old = unsafe { read(at, bytes, false) };
            // SAFETY: the caller's.
            unsafe { write(at, bytes, f(old, b, c)) };
            return Some(old);
        }
    };
    macro_rules! update {
        ($atomic:ident) => {{
            // SAFETY: the caller's.
            let cell = unsafe { $atomic::from_ptr(pointer(at)) };
            let new = |old| Some(word(u64::from(old), b as u64, c as u64) as _);
            Some(cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new).unwrap_or_else(|old| old).into())
        }};
    }
    match bytes {
        2 => update!(AtomicU16),
        4 => update!(AtomicU32),
        8 => update!(AtomicU64),
        _ => None,
    }
}
