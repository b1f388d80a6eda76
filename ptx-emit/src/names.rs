//! The names of registers, labels and locals. They are the same in every function, so each is interned once a module.

use crate::regs::Reg;
use warpsmith_base::{FxHashMap, FxHashSet, decimal};
use warpsmith_ir as ir;
use warpsmith_ir::entity::SecondaryMap;
use warpsmith_ir::spelling::ptx_name;
use warpsmith_lower::mach::RegClass;
use warpsmith_ptx::{MnemonicId, Module, Symbol};

/// Names of a module under construction.
#[derive(Clone)]
pub struct Names {
    /// The symbols of the IR's functions and globals.
    pub functions: SecondaryMap<ir::FuncId, Symbol>,
    pub globals: SecondaryMap<ir::GlobalId, Symbol>,
    registers: [Vec<Symbol>; RegClass::COUNT],
    /// The names of registers, where debug information needs them.
    spellings: [Vec<String>; RegClass::COUNT],
    keeps_spellings: bool,
    debug_labels: u32,
    labels: Vec<Symbol>,
    mnemonics: FxHashMap<warpsmith_isa::Mnemonic, MnemonicId>,
    /// Every name at module level, which names inside of functions must not hide.
    taken: FxHashSet<Symbol>,
    /// The names that the current function has given to parameters, stack slots and prototypes.
    used: FxHashSet<Symbol>,
    /// What labels begin with: no name at module level is this and a number.
    label_prefix: String,
    /// The name that is made next.
    number: String,
}

/// What the registers of a class are called.
pub const fn prefix(class: RegClass) -> &'static str {
    match class {
        RegClass::Pred => "%p",
        RegClass::B8 => "%rb",
        RegClass::B16 => "%rs",
        RegClass::B32 => "%r",
        RegClass::B64 => "%rd",
        RegClass::B128 => "%rq",
    }
}

impl Names {
    /// Names for the functions and globals of a module.
    pub fn new(module: &ir::Module, tree: &mut Module) -> Self {
        let mut names = Names {
            functions: SecondaryMap::with_default(Symbol::SINK),
            globals: SecondaryMap::with_default(Symbol::SINK),
            registers: Default::default(),
            spellings: Default::default(),
            keeps_spellings: false,
            debug_labels: 0,
            labels: Vec::new(),
            mnemonics: Default::default(),
            taken: FxHashSet::default(),
            used: FxHashSet::default(),
            label_prefix: "$L".into(),
            number: String::new(),
        };
        for (id, function) in module.functions.iter() {
            let name = tree.name(&ptx_name(&function.name));
            names.functions[id] = name;
            names.taken.insert(name);
        }
        for (id, global) in module.globals.iter() {
            let name = tree.name(&ptx_name(&global.name));
            names.globals[id] = name;
            names.taken.insert(name);
        }
        let numbered = |name: Symbol, prefix: &str| {
            tree.names()
                .get(name)
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit()))
        };
        while names.taken.iter().any(|&name| numbered(name, &names.label_prefix)) {
            names.label_prefix.push('_');
        }
        names
    }

    /// Begins a function, whose names need not differ from those of the function before.
    pub fn begin_function(&mut self) {
        self.used.clear();
    }

    /// The name of a register.
    pub fn register(&mut self, tree: &mut Module, reg: Reg) -> Symbol {
        match self.registers[reg.class as usize].get(reg.index as usize) {
            Some(&known) => known,
            None => self.new_register(tree, reg),
        }
    }

    #[cold]
    fn new_register(&mut self, tree: &mut Module, reg: Reg) -> Symbol {
        let known = &mut self.registers[reg.class as usize];
        while known.len() <= reg.index as usize {
            number(&mut self.number, prefix(reg.class), known.len());
            known.push(tree.name(&self.number));
            if self.keeps_spellings {
                self.spellings[reg.class as usize].push(self.number.clone());
            }
        }
        known[reg.index as usize]
    }

    /// The name of a label.
    pub fn label(&mut self, tree: &mut Module, index: usize) -> Symbol {
        while self.labels.len() <= index {
            number(&mut self.number, &self.label_prefix, self.labels.len());
            self.labels.push(tree.name(&self.number));
        }
        self.labels[index]
    }

    /// A name in a scope of its own inside of a function, which hides no name of the module.
    pub fn scoped(&self, tree: &mut Module, name: &str) -> Symbol {
        let mut name = ptx_name(name);
        loop {
            let symbol = tree.name(&name);
            if !self.taken.contains(&symbol) {
                return symbol;
            }
            name.to_mut().push('_');
        }
    }

    /// A name that nothing else in the current function has, and which hides no name of the module.
    pub fn unique(&mut self, tree: &mut Module, name: &str) -> Symbol {
        let mut name = ptx_name(name);
        let plain = name.len();
        // Counting on from what is used finds a free number at once where many have one name.
        let mut number = self.used.len();
        loop {
            // A name that was not there before is nobody's.
            let known = tree.names().len();
            let symbol = tree.name(&name);
            if symbol.index() == known || !self.taken.contains(&symbol) && !self.used.contains(&symbol) {
                self.used.insert(symbol);
                return symbol;
            }
            let name = name.to_mut();
            name.truncate(plain);
            *name += &format!("_{number}");
            number += 1;
        }
    }

    /// A label for debug information, which no other in the module has. It is short: half of the text of debug information are labels.
    pub fn debug_label(&mut self, tree: &mut Module) -> Symbol {
        loop {
            let name = tree.name(&short_label(self.debug_labels));
            self.debug_labels += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    /// The name of a register that has been named before.
    pub fn known_register(&self, reg: Reg) -> Option<&str> {
        self.spellings[reg.class as usize].get(reg.index as usize).map(String::as_str)
    }

    /// Keeps the names of registers, for debug information.
    pub fn keep_spellings(&mut self) {
        self.keeps_spellings = true;
    }

    /// The interned spelling of a mnemonic.
    pub fn mnemonic(&mut self, tree: &mut Module, mnemonic: warpsmith_isa::Mnemonic) -> MnemonicId {
        if let Some(known) = self.mnemonics.get(&mnemonic) {
            return *known;
        }
        let new = tree.mnemonic(&mnemonic.to_string());
        self.mnemonics.insert(mnemonic, new);
        new
    }
}

/// Writes `%r17`.
fn number(name: &mut String, prefix: &str, number: usize) {
    name.clear();
    name.push_str(prefix);
    name.extend(decimal(&mut [0; 20], number as u64).iter().map(|&digit| char::from(digit)));
}

/// `$0`, .., `$z`, `$10`, ..: a number in digits, small and capital letters, without the `L` that the labels of blocks begin with.
fn short_label(number: u32) -> String {
    const DIGITS: &[u8; 61] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKMNOPQRSTUVWXYZ";
    let base = DIGITS.len() as u32;
    let mut digits: Vec<char> =
        std::iter::successors(Some(number), |left| left.checked_div(base).filter(|left| *left > 0))
            .map(|left| char::from(DIGITS[(left % base) as usize]))
            .collect();
    digits.push('$');
    digits.iter().rev().collect()
}
