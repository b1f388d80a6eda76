//! What memory a launch has, to say what an address means.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use warpsmith_interp::observe::{LaunchView, MemoryKind, classify, window};
use warpsmith_isa::StateSpace;

/// A named stretch of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub start: u64,
    pub bytes: u64,
    pub what: String,
    pub freed: bool,
}

/// All places of a launch, by space.
#[derive(Default)]
pub(crate) struct Places {
    spaces: FxHashMap<StateSpace, Vec<Place>>,
    /// Sizes of the memories that have one.
    sizes: FxHashMap<StateSpace, u64>,
}

impl Places {
    pub fn new(launch: &LaunchView<'_>) -> Places {
        let mut places = Places::default();
        let arguments = launch.arguments();
        // A buffer goes by the names of the parameters that point into it.
        let mut names: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for p in launch.params() {
            let bytes = arguments.get(p.offset as usize..p.offset as usize + 8).filter(|_| p.bytes == 8);
            if let Some(bytes) = bytes.and_then(|b| b.try_into().ok()) {
                names.entry(u64::from_le_bytes(bytes)).or_default().push(&p.name);
            }
            let what = format!("parameter `{}`", p.name);
            places.add(StateSpace::Param, p.offset.into(), p.bytes.into(), what);
        }
        for m in launch.memory() {
            let named = || {
                let names: Vec<String> = names
                    .range(m.start..m.start + m.bytes.max(1))
                    .flat_map(|(_, names)| names.iter().map(|n| format!("`{n}`")))
                    .collect();
                if names.is_empty() { String::new() } else { format!(" {}", names.join(", ")) }
            };
            match m.kind {
                MemoryKind::Buffer => {
                    places.add(StateSpace::Global, m.start, m.bytes, format!("the host's buffer{}", named()));
                }
                MemoryKind::Freed => {
                    let what = format!("the host's buffer{}", named());
                    places.add(StateSpace::Global, m.start, m.bytes, what);
                    if let Some(last) = places.spaces.get_mut(&StateSpace::Global).and_then(|p| p.last_mut())
                    {
                        last.freed = true;
                    }
                }
                MemoryKind::OtherVariables => {
                    let what = "the variables of another module".into();
                    places.add(StateSpace::Global, m.start, m.bytes, what);
                }
                // These are known piece by piece.
                MemoryKind::Variables | MemoryKind::Heap => {}
            }
        }
        for v in launch.variables() {
            places.add(v.space, v.address, v.bytes, format!("variable `{}`", v.name));
        }
        for list in places.spaces.values_mut() {
            list.sort_by_key(|p| p.start);
        }
        for space in [StateSpace::Const, StateSpace::Param] {
            let ends = places.spaces.get(&space).into_iter().flatten().map(|p| p.start + p.bytes);
            let end = ends.max().unwrap_or(0);
            places.sizes.insert(space, end);
        }
        places.sizes.insert(StateSpace::Shared, launch.shared_bytes());
        places
    }

    fn add(&mut self, space: StateSpace, start: u64, bytes: u64, what: String) {
        self.spaces.entry(space).or_default().push(Place { start, bytes, what, freed: false });
    }

    fn of(&self, space: StateSpace) -> &[Place] {
        self.spaces.get(&space).map_or(&[], Vec::as_slice)
    }

    /// The place that holds an address.
    pub fn holding(&self, space: StateSpace, address: u64) -> Option<&Place> {
        let list = self.of(space);
        // Freed ranges are never given out again, so places of global memory do not overlap.
        let i = list.partition_point(|p| p.start <= address).checked_sub(1)?;
        Some(&list[i]).filter(|p| address - p.start < p.bytes)
    }

    /// The place nearest to an access.
    pub fn nearest(&self, space: StateSpace, address: u64, bytes: u64) -> Option<&Place> {
        self.of(space).iter().filter(|p| !p.freed).min_by_key(|p| p.distance(address, bytes))
    }

    /// True if an address of the space means something.
    fn exists(&self, space: StateSpace, address: u64) -> bool {
        match space {
            StateSpace::Global => self.holding(space, address).is_some(),
            // Every thread has its own, of a size that depends on the running function.
            StateSpace::Local => address < 512 << 10,
            _ => self.sizes.get(&space).is_some_and(|size| address < *size),
        }
    }

    /// What a generic address points to, if anything is there.
    pub fn pointee(&self, generic: u64) -> Option<(StateSpace, u64)> {
        let (space, address) = classify(generic);
        self.exists(space, address).then_some((space, address))
    }

    /// How an address comes to be used in a space that it is not an address of; `None` if it looks like one of that space.
    pub fn confusion(&self, said: StateSpace, address: u64) -> Option<String> {
        if said == StateSpace::Generic {
            return None;
        }
        if let Some((space, _)) = self.pointee(address) {
            return if space == said {
                (said != StateSpace::Global)
                    .then(|| format!("a generic address of {said} memory: `cvta.to.{said}` is missing"))
            } else {
                Some(format!("a {} address of {space} memory", kind_of(space)))
            };
        }
        let (space, _) = self.pointee(address.wrapping_add(window(said)?))?;
        (space != said).then(|| format!("what `cvta.to.{said}` makes of a pointer to {space} memory"))
    }
}

/// Global addresses are generic ones.
fn kind_of(space: StateSpace) -> &'static str {
    if space == StateSpace::Global { "global or generic" } else { "generic" }
}

impl Place {
    /// Bytes between an access and the place; zero if they touch or overlap.
    fn distance(&self, address: u64, bytes: u64) -> u64 {
        let end = self.start + self.bytes;
        if address >= end { address - end } else { self.start.saturating_sub(address.saturating_add(bytes)) }
    }

    /// Where an access lies relative to the place.
    pub fn relation(&self, address: u64, bytes: u64) -> String {
        let Place { start, bytes: size, what, .. } = self;
        let end = start + size;
        let name = format!("{what} ({size} bytes at {start:#x})");
        if address >= end {
            format!("{} bytes past the end of {name}", address - end)
        } else if address < *start {
            format!("{} bytes before {name}", start - address)
        } else if address.saturating_add(bytes) > end {
            format!("the last {} of the bytes are past the end of {name}", address + bytes - end)
        } else {
            format!("{} bytes into {name}", address - start)
        }
    }
}
