//! The tensor memory of a block (PTX ISA 9.0, 9.7.16.1): 128 lanes of 512 columns of 32 bits, allocated by columns.
//!
//! Hardware shares it between the blocks of a multiprocessor; here each block has its own.

use std::ops::Range;

/// Columns and lanes.
pub(in crate::engine) const COLUMNS: u32 = 512;
pub(in crate::engine) const LANES: u32 = 128;
/// Columns are allocated in units of so many.
const UNIT: u32 = 32;

/// Cells, for those who watch: some lanes of some columns.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(in crate::engine) struct Region {
    lanes: u128,
    columns: [u128; 4],
}

impl Region {
    /// Adds the lane and the column of a cell. Cells at which added lanes and columns meet belong to the region, too.
    pub fn add(&mut self, lane: u32, column: u32) {
        self.lanes |= 1 << (lane % LANES);
        self.columns[(column % COLUMNS / 128) as usize] |= 1 << (column % 128);
    }

    /// Adds lanes and columns.
    pub fn extend(&mut self, lanes: Range<u32>, columns: Range<u32>) {
        lanes.for_each(|lane| self.lanes |= 1 << (lane % LANES));
        columns.for_each(|c| self.columns[(c % COLUMNS / 128) as usize] |= 1 << (c % 128));
    }

    pub fn meets(&self, other: &Region) -> bool {
        let columns = self.columns.iter().zip(other.columns).any(|(a, b)| a & b != 0);
        self.lanes & other.lanes != 0 && columns
    }
}

/// A load or store of a warp that it has not waited for.
#[derive(Debug)]
struct Unwaited {
    warp: u32,
    pc: u32,
    region: Region,
}

/// Values that a warp stores, and that are there when it has waited for its stores.
#[derive(Debug)]
struct Pending {
    warp: u32,
    cells: Vec<Stored>,
}

/// A value on its way to a cell.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Stored {
    pub lane: u32,
    pub column: u32,
    pub value: u32,
    /// It comes of what was never written, as far as somebody watches.
    pub undefined: bool,
}

/// The tensor memory of a block.
#[derive(Debug, Default)]
pub(in crate::engine) struct TensorMemory {
    /// Lane by lane; empty until something is allocated.
    cells: Vec<u32>,
    allocations: Vec<Range<u32>>,
    /// The one allocation is exclusive: there is room for no other.
    exclusive: bool,
    /// No thread of the block may allocate any more.
    relinquished: bool,
    pending: Vec<Pending>,
    /// The cells that hold what was never written; empty unless somebody watches.
    undefined: Vec<bool>,
    /// Loads and stores that were not waited for, where somebody watches.
    loads: Vec<Unwaited>,
    stores: Vec<Unwaited>,
    /// The instructions that have allocated, by the first column.
    origins: Vec<(u32, u32, u32)>,
    /// What every byte of new memory is.
    fresh: u8,
}

/// A number of columns that can be allocated; alone, any multiple of the unit (PTX ISA 9.4, 9.7.18.7.1).
fn check_columns(columns: u32, exclusive: bool) -> Result<(), String> {
    let legal = if exclusive { columns.is_multiple_of(UNIT) } else { columns.is_power_of_two() };
    if legal && (UNIT..=COLUMNS).contains(&columns) {
        return Ok(());
    }
    let what = if exclusive { format!("multiple of {UNIT}") } else { "power of two".into() };
    Err(format!("{columns} columns; it must be a {what} from {UNIT} to {COLUMNS}"))
}

impl TensorMemory {
    /// Makes it the memory of a block that starts.
    pub fn reset(&mut self, fresh: u8) {
        self.cells = Vec::new();
        self.undefined = Vec::new();
        self.allocations.clear();
        self.pending.clear();
        self.loads.clear();
        self.stores.clear();
        self.origins.clear();
        (self.relinquished, self.exclusive, self.fresh) = (false, false, fresh);
    }

    /// `tcgen05.alloc`: the first column; `None` if there are not so many at present.
    pub fn allocate(&mut self, columns: u32, exclusive: bool) -> Result<Option<u32>, String> {
        check_columns(columns, exclusive)?;
        if self.relinquished {
            return Err("a thread of the block has executed `tcgen05.relinquish_alloc_permit`".into());
        }
        if !self.allocations.is_empty() && (exclusive || self.exclusive) {
            return Ok(None);
        }
        let is_free = |start: u32| {
            let wanted = start..start + columns;
            self.allocations.iter().all(|a| a.end <= wanted.start || wanted.end <= a.start)
        };
        let Some(start) = (0..=COLUMNS - columns).step_by(UNIT as usize).find(|start| is_free(*start)) else {
            return Ok(None);
        };
        if self.cells.is_empty() {
            self.cells = vec![u32::from_le_bytes([self.fresh; 4]); (COLUMNS * LANES) as usize];
        }
        self.allocations.push(start..start + columns);
        self.exclusive = exclusive;
        Ok(Some(start))
    }

    /// `tcgen05.dealloc`
    pub fn deallocate(&mut self, address: u32, columns: u32, exclusive: bool) -> Result<(), String> {
        check_columns(columns, exclusive)?;
        match self.allocations.iter().position(|a| *a == (address..address + columns)) {
            Some(index) if address < COLUMNS => {
                self.allocations.swap_remove(index);
                Ok(())
            }
            _ => Err(format!(
                "there is no allocation of {columns} columns at {address:#x}; {}",
                self.describe()
            )),
        }
    }

    /// `tcgen05.relinquish_alloc_permit`
    pub fn relinquish(&mut self) {
        self.relinquished = true;
    }

    /// Remembers who has allocated, for those who watch. Nothing is written in new columns.
    pub fn note_allocation(&mut self, start: u32, warp: u32, pc: u32) {
        self.undefined.resize((COLUMNS * LANES) as usize, true);
        let end = self.allocations.iter().find(|a| a.start == start).map_or(start, |a| a.end);
        for lane in 0..LANES {
            let row = (lane * COLUMNS) as usize;
            self.undefined[row + start as usize..row + end as usize].fill(true);
        }
        self.origins.retain(|(column, ..)| *column != start);
        self.origins.push((start, warp, pc));
    }

    /// What is allocated still: columns, and the warp and the instruction that have allocated them.
    pub fn left(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.allocations.iter().map(|a| {
            let origin = self.origins.iter().find(|(column, ..)| *column == a.start);
            let (_, warp, pc) = origin.copied().unwrap_or_default();
            (a.end - a.start, warp, pc)
        })
    }

    /// Remembers a load or a store, for those who watch.
    pub fn note_access(&mut self, warp: u32, pc: u32, region: Region, stores: bool) {
        // As many as anybody waits for at once.
        const MOST: usize = 256;
        let list = if stores { &mut self.stores } else { &mut self.loads };
        if list.len() < MOST {
            list.push(Unwaited { warp, pc, region });
        }
    }

    /// A load, or a store, that nobody has waited for and that meets a region.
    pub fn unwaited(&self, region: &Region, stores: bool) -> Option<u32> {
        let list = if stores { &self.stores } else { &self.loads };
        list.iter().find(|access| access.region.meets(region)).map(|access| access.pc)
    }

    /// `tcgen05.wait::ld`
    pub fn wait_for_loads(&mut self, warp: u32) {
        self.loads.retain(|access| access.warp != warp);
    }

    /// Says what is allocated.
    fn describe(&self) -> String {
        if self.allocations.is_empty() {
            return "no tensor memory is allocated".into();
        }
        let mut ranges: Vec<String> =
            self.allocations.iter().map(|a| format!("{} to {}", a.start, a.end - 1)).collect();
        ranges.sort();
        format!("allocated are the columns {}", ranges.join(", "))
    }

    /// The place of a cell that is allocated.
    fn place(&self, lane: u32, column: u32) -> Result<usize, String> {
        if lane >= LANES {
            return Err(format!("lane {lane} of tensor memory, which has {LANES}"));
        }
        if !self.allocations.iter().any(|a| a.contains(&column)) {
            return Err(format!("column {column} of tensor memory is not allocated; {}", self.describe()));
        }
        Ok((lane * COLUMNS + column) as usize)
    }

    /// Checks that a cell may be accessed.
    pub fn check(&self, lane: u32, column: u32) -> Result<(), String> {
        self.place(lane, column).map(drop)
    }

    /// The value of a cell.
    pub fn load(&self, lane: u32, column: u32) -> Result<u32, String> {
        self.place(lane, column).map(|at| self.cells[at])
    }

    /// A cell holds what comes of values that were never written, as far as somebody watches.
    pub fn is_undefined(&self, lane: u32, column: u32) -> bool {
        lane < LANES
            && column < COLUMNS
            && self.undefined.get((lane * COLUMNS + column) as usize) == Some(&true)
    }

    /// Says for those who watch whether a cell holds what was never written.
    pub fn set_undefined(&mut self, lane: u32, column: u32, undefined: bool) {
        if lane < LANES
            && column < COLUMNS
            && let Some(flag) = self.undefined.get_mut((lane * COLUMNS + column) as usize)
        {
            *flag = undefined;
        }
    }

    /// Sets a cell at once, if it is allocated still.
    pub fn store(&mut self, lane: u32, column: u32, value: u32) {
        if let Ok(at) = self.place(lane, column) {
            self.cells[at] = value;
        }
    }

    /// Sets cells when the warp waits for its stores.
    pub fn store_later(&mut self, warp: u32, cells: Vec<Stored>) {
        self.pending.push(Pending { warp, cells });
    }

    /// `tcgen05.wait::st`: what has been deallocated since is gone.
    pub fn settle(&mut self, warp: u32) {
        let (mine, others) = std::mem::take(&mut self.pending).into_iter().partition(|p| p.warp == warp);
        self.pending = others;
        self.stores.retain(|access| access.warp != warp);
        for pending in mine {
            for Stored { lane, column, value, undefined } in pending.cells {
                self.store(lane, column, value);
                self.set_undefined(lane, column, undefined);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_allocated_first_fit_and_freed() {
        let mut memory = TensorMemory::default();
        assert_eq!(memory.allocate(256, false), Ok(Some(0)));
        assert_eq!(memory.allocate(128, false), Ok(Some(256)));
        assert_eq!(memory.allocate(256, false), Ok(None));
        assert_eq!(memory.allocate(128, false), Ok(Some(384)));
        assert_eq!(memory.allocate(32, false), Ok(None));
        memory.deallocate(256, 128, false).unwrap();
        assert_eq!(memory.allocate(64, false), Ok(Some(256)));
        assert_eq!(memory.allocate(32, false), Ok(Some(320)));
        assert!(
            memory.deallocate(320, 64, false).unwrap_err().contains("no allocation of 64 columns at 0x140")
        );
        assert!(memory.allocate(48, false).unwrap_err().contains("a power of two from 32 to 512"));
        assert!(memory.load(5, 352).unwrap_err().contains("column 352 of tensor memory is not allocated"));
        assert!(memory.load(128, 0).unwrap_err().contains("lane 128"));
        memory.relinquish();
        assert!(memory.allocate(32, false).is_err());
    }

    #[test]
    fn an_exclusive_allocation_is_alone() {
        let mut memory = TensorMemory::default();
        assert_eq!(memory.allocate(96, true), Ok(Some(0)));
        assert_eq!(memory.allocate(32, false), Ok(None));
        memory.deallocate(0, 96, true).unwrap();
        assert_eq!(memory.allocate(32, false), Ok(Some(0)));
        assert_eq!(memory.allocate(480, true), Ok(None));
        assert!(memory.allocate(40, true).unwrap_err().contains("a multiple of 32 from 32 to 512"));
    }

    #[test]
    fn stores_are_there_when_they_were_waited_for() {
        let mut memory = TensorMemory::default();
        memory.reset(0xff);
        memory.allocate(32, false).unwrap();
        memory.store_later(1, vec![Stored { lane: 3, column: 4, value: 7, undefined: false }]);
        memory.settle(0);
        assert_eq!(memory.load(3, 4), Ok(u32::MAX));
        memory.settle(1);
        assert_eq!(memory.load(3, 4), Ok(7));
        memory.store(3, 32, 5);
        assert!(memory.load(3, 32).is_err());
    }
}
