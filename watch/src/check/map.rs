//! What memory a launch has, to say what an address means.

use super::report::{Nearby, NearbyVariable};
use crate::measure::profile::memory::Target;
use std::collections::BTreeMap;
use warpsmith_base::FxHashMap;
use warpsmith_interp::observe::{LaunchView, MemoryKind, classify, window};
use warpsmith_isa::StateSpace;

/// A named stretch of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    pub start: u64,
    pub bytes: u64,
    pub what: String,
    pub freed: bool,
    /// The name of the variable, or of the parameter that points to it (`true`).
    pub named: Option<(String, bool)>,
}

/// The memory of a launch, by space.
#[derive(Clone, Default, Debug)]
pub(crate) struct MemoryMap {
    spaces: FxHashMap<StateSpace, Vec<Region>>,
    /// Sizes of the memories that have one.
    sizes: FxHashMap<StateSpace, u64>,
    /// Where the program's variables in global memory lie, gaps between them included.
    variables: Vec<(u64, u64)>,
}

impl MemoryMap {
    pub fn new(launch: &LaunchView<'_>) -> MemoryMap {
        let mut map = MemoryMap::default();
        let arguments = launch.arguments();
        // A buffer is called by the names of the parameters that point into it.
        let mut names: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for p in launch.params() {
            let bytes = arguments.get(p.offset as usize..p.offset as usize + 8).filter(|_| p.bytes == 8);
            if let Some(bytes) = bytes.and_then(|b| b.try_into().ok()) {
                names.entry(u64::from_le_bytes(bytes)).or_default().push(&p.name);
            }
            let what = format!("parameter `{}`", p.name);
            map.add(StateSpace::Param, p.offset.into(), p.bytes.into(), what, Some((p.name.clone(), false)));
        }
        for m in launch.memory() {
            let named = || {
                let names: Vec<String> = names
                    .range(m.start..m.start + m.bytes.max(1))
                    .flat_map(|(_, names)| names.iter().map(|n| format!("`{n}`")))
                    .collect();
                if names.is_empty() { String::new() } else { format!(" {}", names.join(", ")) }
            };
            let own =
                names.get(&m.start).and_then(|names| names.first()).map(|name| ((*name).to_owned(), true));
            match m.kind {
                MemoryKind::Buffer => {
                    map.add(
                        StateSpace::Global,
                        m.start,
                        m.bytes,
                        format!("the host's buffer{}", named()),
                        own,
                    );
                }
                MemoryKind::Freed => {
                    let what = format!("the host's buffer{}", named());
                    map.add(StateSpace::Global, m.start, m.bytes, what, own);
                    if let Some(last) = map.spaces.get_mut(&StateSpace::Global).and_then(|p| p.last_mut()) {
                        last.freed = true;
                    }
                }
                MemoryKind::OtherVariables => {
                    let what = "the variables of another module".into();
                    map.add(StateSpace::Global, m.start, m.bytes, what, None);
                }
                // These are known piece by piece.
                MemoryKind::Variables => map.variables.push((m.start, m.bytes)),
                MemoryKind::Heap => {}
            }
        }
        for v in launch.variables() {
            let named = Some((v.name.to_owned(), false));
            map.add(v.space, v.address, v.bytes, format!("variable `{}`", v.name), named);
        }
        for list in map.spaces.values_mut() {
            list.sort_by_key(|p| p.start);
        }
        for space in [StateSpace::Const, StateSpace::Param] {
            let ends = map.spaces.get(&space).into_iter().flatten().map(|p| p.start + p.bytes);
            let end = ends.max().unwrap_or(0);
            map.sizes.insert(space, end);
        }
        map.sizes.insert(StateSpace::Shared, launch.shared_bytes());
        map
    }

    fn add(
        &mut self,
        space: StateSpace,
        start: u64,
        bytes: u64,
        what: String,
        named: Option<(String, bool)>,
    ) {
        self.spaces.entry(space).or_default().push(Region { start, bytes, what, freed: false, named });
    }

    fn of(&self, space: StateSpace) -> &[Region] {
        self.spaces.get(&space).map_or(&[], Vec::as_slice)
    }

    /// The variable or buffer that holds an address, and where.
    pub fn target(&self, space: StateSpace, address: u64) -> Option<Target> {
        let region = self.holding(space, address)?;
        let (name, buffer) = region.named.clone()?;
        Some(Target { name, buffer, offset: address.wrapping_sub(region.start) as i64 })
    }

    /// The region that holds an address.
    pub fn holding(&self, space: StateSpace, address: u64) -> Option<&Region> {
        let list = self.of(space);
        // Freed ranges are never given out again, so regions of global memory do not overlap.
        let i = list.partition_point(|p| p.start <= address).checked_sub(1)?;
        Some(&list[i]).filter(|p| address - p.start < p.bytes)
    }

    /// The region nearest to an access.
    pub fn nearest(&self, space: StateSpace, address: u64, bytes: u64) -> Option<&Region> {
        self.of(space).iter().filter(|p| !p.freed).min_by_key(|p| p.distance(address, bytes))
    }

    /// True if bytes are within the memory of a space, of a variable or not, as far as is known.
    pub fn is_mapped(&self, space: StateSpace, address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes) else { return false };
        match space {
            StateSpace::Global => {
                let of_variables =
                    self.variables.iter().any(|(start, len)| address >= *start && end <= start + len);
                of_variables
                    || self.holding(space, address).is_some_and(|p| !p.freed && end <= p.start + p.bytes)
            }
            // Each function has its own; past its end the engine looks.
            StateSpace::Local => true,
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Param
            | StateSpace::Shared
            | StateSpace::Tex => self.sizes.get(&space).is_some_and(|size| end <= *size),
        }
    }

    /// True if an address of the space means something.
    fn exists(&self, space: StateSpace, address: u64) -> bool {
        match space {
            StateSpace::Global => self.holding(space, address).is_some(),
            // Every thread has its own, of a size that depends on the running function.
            StateSpace::Local => address < 512 << 10,
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Param
            | StateSpace::Shared
            | StateSpace::Tex => self.sizes.get(&space).is_some_and(|size| address < *size),
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

impl Region {
    /// Bytes between an access and the region; zero if they touch or overlap.
    fn distance(&self, address: u64, bytes: u64) -> u64 {
        let end = self.start + self.bytes;
        if address >= end { address - end } else { self.start.saturating_sub(address.saturating_add(bytes)) }
    }

    /// Where an access lies relative to the region.
    pub fn relation(&self, address: u64, bytes: u64) -> Nearby {
        let variable = self.named.as_ref().map(|(name, buffer)| NearbyVariable {
            name: name.clone(),
            buffer: *buffer,
            offset: address.wrapping_sub(self.start) as i64,
            bytes: self.bytes,
        });
        Nearby { text: self.described(address, bytes), variable, register: None }
    }

    fn described(&self, address: u64, bytes: u64) -> String {
        let Region { start, bytes: size, what, .. } = self;
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
