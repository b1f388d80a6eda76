//! What the machine code of a region works on.

/// Machine code of a region. Its answer is a place in the region, relative to its start, in the low half, and one of the flags of [`RegionState`].
pub type RegionCode = unsafe extern "C" fn(*mut RegionState) -> u64;

/// What the code of a region works on. Places are relative to the region's start.
#[repr(C)]
#[derive(Debug)]
pub struct RegionState {
    /// The registers of the running function.
    pub registers: *mut u32,
    /// The constants of the program.
    pub constants: *const u32,
    /// [`RegionState::SCRATCH`] rows for what is loaded.
    pub scratch: *mut u32,
    /// Where the data of batches are, in the order of their group.
    pub places: *const ChunkPlaces,
    /// How the lanes of registers lie, which [`CompiledRegion::patterns`](super::region::CompiledRegion::patterns) names.
    pub patterns: *mut LanePattern,
    /// What of global memory accesses have found, by their numbers.
    pub windows: *mut Window,
    /// Rows of 16 bytes: for each size of up to 8 bytes the `control` of elements in a row, of a first element for all lanes, and of the last.
    pub controls: *const u8,
    /// Statements that the warp has executed.
    pub executed: u64,
    /// A backward jump when so many are executed ends the turn.
    pub deadline: u64,
    /// So many must not be reached while lanes have parted; zero where they may not part in here.
    pub part_before: u64,
    /// Statements that lanes of the group did not execute that were counted for it.
    pub idle: u64,
    /// When the group was chosen last, if lanes have parted and met.
    pub stamp: u64,
    /// The block to begin at.
    pub entry: u32,
    /// The lanes of the group.
    pub mask: u32,
    /// The lanes that arithmetic may write.
    pub wide: u32,
    /// The place where to look who else is there.
    pub stop: u32,
    /// Backward jumps since the last choice that was made for fairness, and what one counts.
    pub spin: u32,
    /// What a backward jump counts; zero where no others wait.
    pub spin_step: u32,
    /// Not zero as long as all lanes of the warp are in the group and have executed everything together, so that uniform registers
    /// ([`Block::varying`](super::region::Block::varying)) are equal in them.
    pub uniform: u32,
    /// Set where memory was read that other threads may change.
    pub asks: u32,
    /// The stores that code has made to memory that other threads may read.
    pub changes: u32,
    /// Not zero where lanes may leave a loop one after the other in here.
    pub may_leave: u32,
    /// Of an answer with [`RegionState::ROUNDS`]: the lanes that have not left the loop.
    pub live: u32,
    /// Where that loop begins.
    pub head: u32,
    /// The statements of a round.
    pub round_count: u32,
    /// The jumps back in it beside its last branch.
    pub round_jumps: u32,
    /// Memory whose bounds are known beforehand: of a block, of a launch, and of the function's part of local memory.
    pub shared: SpacePlace,
    /// Constant memory.
    pub constant: SpacePlace,
    /// The kernel's parameters.
    pub params: SpacePlace,
    /// Local memory of the first lane. That of the next is `local_step` bytes further.
    pub local: SpacePlace,
    /// Bytes from a lane's local memory to the next lane's.
    pub local_step: u64,
    /// What is added to addresses that are relative to the function's part of local memory.
    pub stack: u64,
    /// Executes the operations from one place to another for some lanes, of which arithmetic may write more; not zero after a fault.
    pub run: unsafe extern "C" fn(*mut RegionState, u32, u32, u32, u32) -> u32,
    /// Executes the sides of a branch, by its number, for the lanes that do not take it and then for those that do, which are the last argument:
    /// [`RegionState::MET`], [`RegionState::BY_LOOP`] or [`RegionState::FAILED`].
    pub sides: unsafe extern "C" fn(*mut RegionState, u32, u32) -> u32,
    /// Makes a group of batches ready for some lanes: [`RegionState::PLACES`], [`RegionState::ROWS`] or [`RegionState::FAILED`]. The last argument says
    /// which answers are asked for: [`RegionState::ROWS_ALONE`], [`RegionState::PLACES_OR_ROWS`] or [`RegionState::PLACES_ALONE`].
    pub load: unsafe extern "C" fn(*mut RegionState, u32, u32, u32) -> u32,
    /// Looks at a register by its number in `patterns`, and gives the pattern's state.
    pub find: unsafe extern "C" fn(*mut RegionState, u32) -> u32,
    /// Looks for the allocation of global memory that an address is in; zero if there is none that code may access, else it is the window of this number.
    pub window: unsafe extern "C" fn(*mut RegionState, u32, u64) -> u32,
    /// Whom these functions belong to.
    pub(in crate::engine) host: *mut (),
}

impl RegionState {
    /// Rows of scratch memory.
    pub const SCRATCH: u32 = 64;
    /// Answer of `load`: the data of all batches are at the places, for all lanes of the warp.
    pub const PLACES: u32 = 0;
    /// Answer of `load`: the values are in the rows of scratch memory.
    pub const ROWS: u32 = 1;
    /// Answer of `load` and of `sides`: there was a fault.
    pub const FAILED: u32 = 2;
    /// Answer of `load`: some data have no places, and nothing was loaded.
    pub const NOT_PLACED: u32 = 3;
    /// Answer of `sides`: the lanes have met.
    pub const MET: u32 = 0;
    /// Answer of `sides`: the loop has something to decide before they meet, and executes the branch.
    pub const BY_LOOP: u32 = 1;
    /// Question to `load`: the values.
    pub const ROWS_ALONE: u32 = 0;
    /// Question to `load`: the places of the data, or else their values.
    pub const PLACES_OR_ROWS: u32 = 1;
    /// Question to `load`: the places of the data, and nothing if there are none.
    pub const PLACES_ALONE: u32 = 2;
    /// Flag of an answer: the loop chooses whom to run.
    pub const CHOOSE: u64 = 1 << 32;
    /// Flag of an answer: there was a fault.
    pub const FAULT: u64 = 1 << 33;
    /// Flag of an answer: the lanes of the group have gone round a loop whose last branch is at the place, as often as the first row of scratch memory
    /// says; not counted yet.
    pub const ROUNDS: u64 = 1 << 34;
    /// So many backward jumps while others wait end a group's turn.
    pub const SPIN_LIMIT: u32 = crate::engine::warp::SPIN_LIMIT;
}

/// An allocation of global memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its first address.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// Where it is.
    pub host: *mut u8,
}

impl Window {
    /// Nothing.
    pub const NONE: Window = Window { start: 0, len: 0, host: std::ptr::null_mut() };
}

/// A space of addresses from zero on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpacePlace {
    /// Where it begins.
    pub start: *mut u8,
    /// Its bytes.
    pub len: u64,
}

/// How the lanes of a register lie that is an address or a part of one: each half of the warp has one value, or values in a row, from lane to lane as
/// far apart as the bytes that a lane accesses.
///
/// Asked for without a number of bytes, lanes may be as far apart as they like, in each half alike: `past` has the value of the first lane of each half where its first
/// chunk is, and neither `control` nor `low` nor `span` says anything.
///
/// It is found once in a warp, for registers that do not change any more. Where they are in shared memory, the windows that [`ChunkPlaces`] speaks of can be
/// read wherever the elements themselves are in bounds.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct LanePattern {
    /// How far the first lane of each chunk is past the lowest value.
    pub past: [u64; 8],
    /// What [`ChunkPlaces`] has by this name.
    pub control: [[u8; 16]; 2],
    /// What [`ChunkPlaces`] has by this name.
    pub step: [usize; 2],
    /// The lowest value.
    pub low: u64,
    /// Bytes from there to the end of the highest lane's access.
    pub span: u64,
    /// [`LanePattern::UNKNOWN`], [`LanePattern::FOUND`], [`LanePattern::IN_ROWS`] or [`LanePattern::NONE`].
    pub state: u32,
}

impl LanePattern {
    /// Nobody has looked yet.
    pub const UNKNOWN: u32 = 0;
    /// The lanes follow the rule, and not all of them are in rows.
    pub const FOUND: u32 = 1;
    /// Both halves of the warp are in rows.
    pub const IN_ROWS: u32 = 2;
    /// They follow no rule.
    pub const NONE: u32 = 3;

    /// The pattern of a register at which nobody has looked.
    pub(in crate::engine) const fn with_state(state: u32) -> LanePattern {
        LanePattern { past: [0; 8], control: [[0; 16]; 2], step: [0; 2], low: 0, span: 0, state }
    }
}

/// Where machine code finds the data of a batch, of all lanes, for chunks of four: those of the access with the least offset.
///
/// Lanes of 1, 2 or 4 bytes are read as one window of four times that at the chunk's place, and those of 8 bytes as two of 16 bytes, `2 * step` apart;
/// the windows are within the allocation, and `control` says which of their bytes are whose. Lanes of 16 bytes, and all in local memory, are read at
/// their own places, `step` apart.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub struct ChunkPlaces {
    /// Of each chunk.
    pub at: [*const u8; 8],
    /// For each half of the warp, which byte of a window a byte of the four lanes is, zero-extended to 32 bits; a zero where the highest bit is set.
    pub control: [[u8; 16]; 2],
    /// For each half of the warp, bytes from lane to lane.
    pub step: [usize; 2],
}

impl ChunkPlaces {
    /// No places.
    pub const NONE: ChunkPlaces =
        ChunkPlaces { at: [std::ptr::null(); 8], control: [[0; 16]; 2], step: [0; 2] };
}
