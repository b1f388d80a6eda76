//! The bytes of a module's `.section`s, with what their references denote.

use warpsmith_base::FxHashMap;
use warpsmith_ptx::{Data, DataValue, Item, Module, Stmt};

/// Addresses from here on are names: their number in the upper half, bytes behind them in the lower.
const NAMES: u64 = 1 << 63;

/// The sections of a module.
#[derive(Default)]
pub(super) struct Sections {
    bytes: FxHashMap<String, Vec<u8>>,
    names: Vec<String>,
}

impl Sections {
    /// Assembles what a module has. A label of code is the place in the text of the instruction behind it.
    pub(super) fn of(module: &Module) -> Sections {
        let code = code_labels(module);
        let mut sections = Sections::default();
        let mut labels: FxHashMap<&str, u64> = FxHashMap::default();
        let mut numbers: FxHashMap<&str, u64> = FxHashMap::default();
        // Labels may be used before they are written.
        for write in [false, true] {
            sections.bytes.clear();
            for item in module.items() {
                let Item::Section(section) = item else { continue };
                let mut bytes = sections.bytes.remove(&module[section.name]).unwrap_or_default();
                for data in &module[section.data] {
                    match *data {
                        Data::Label(label) => _ = labels.insert(&module[label], bytes.len() as u64),
                        Data::Bytes(list) => bytes.extend_from_slice(&module[list]),
                        Data::Values { bits, values } => {
                            for value in &module[values] {
                                let mut find = |name: &'_ str| -> u64 {
                                    if !write || name.starts_with('.') {
                                        return 0;
                                    }
                                    if let Some(at) = labels.get(name).or_else(|| code.get(name)) {
                                        return *at;
                                    }
                                    let next = numbers.len() as u64;
                                    // The interner of the module keeps the name.
                                    match numbers.get(name) {
                                        Some(number) => NAMES | number << 32,
                                        None => {
                                            sections.names.push(name.to_owned());
                                            next << 32 | NAMES
                                        }
                                    }
                                };
                                let value = match *value {
                                    DataValue::Int(value) => value,
                                    DataValue::Address { name, offset } => {
                                        let found = find(&module[name]);
                                        if found & NAMES != 0 {
                                            numbers.entry(&module[name]).or_insert(found >> 32 & 0x7fff_ffff);
                                        }
                                        found.wrapping_add(offset as u64)
                                    }
                                    DataValue::Difference { end, start } => {
                                        find(&module[end]).wrapping_sub(find(&module[start]))
                                    }
                                };
                                let size = usize::from(bits / 8).min(8);
                                bytes.extend_from_slice(&value.to_le_bytes()[..size]);
                            }
                        }
                    }
                }
                sections.bytes.insert(module[section.name].to_owned(), bytes);
            }
        }
        sections
    }

    /// The sections with other bytes.
    #[cfg(test)]
    pub(super) fn changed(&self, mut change: impl FnMut(&str, &mut Vec<u8>)) -> Sections {
        let mut bytes = self.bytes.clone();
        let mut names: Vec<String> = bytes.keys().cloned().collect();
        names.sort_unstable();
        for name in names {
            bytes.entry(name.clone()).and_modify(|bytes| change(&name, bytes));
        }
        Sections { bytes, names: self.names.clone() }
    }

    /// The bytes of all sections.
    pub(super) fn size(&self) -> usize {
        self.bytes.values().map(Vec::len).sum()
    }

    /// The bytes of a section; none if there is no such section.
    pub(super) fn get(&self, name: &str) -> &[u8] {
        self.bytes.get(name).map_or(&[], Vec::as_slice)
    }

    /// The name that an address is, and the bytes behind it.
    pub(super) fn symbol(&self, address: u64) -> Option<(&str, i64)> {
        let number = (address & !NAMES) >> 32;
        let name = self.names.get(usize::try_from(number).ok()?).filter(|_| address & NAMES != 0)?;
        Some((name, i64::from(address as u32 as i32)))
    }
}

/// The labels of functions: where the next instruction is written, or what follows the last one.
#[expect(clippy::wildcard_enum_match_arm, reason = "only labels and instructions have places")]
fn code_labels(module: &Module) -> FxHashMap<&str, u64> {
    let mut labels = FxHashMap::default();
    for function in module.functions() {
        let Some(body) = function.body else { continue };
        let (mut open, mut end): (Vec<&str>, u64) = (Vec::new(), 0);
        for id in body.ids() {
            match module[id] {
                Stmt::Label(label) => open.push(&module[label]),
                Stmt::Inst(_) => {
                    let span = module.stmt_span(id);
                    labels.extend(open.drain(..).map(|label| (label, u64::from(span.start))));
                    end = u64::from(span.end);
                }
                _ => {}
            }
        }
        labels.extend(open.drain(..).map(|label| (label, end)));
    }
    labels
}
