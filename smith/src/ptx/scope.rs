//! Which registers a statement can name. A name means its innermost declaration; one that an inner scope takes again is hidden until that scope ends.

use warpsmith_base::FxHashSet;

/// The size of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Pred,
    B16,
    B32,
    B64,
    B128,
}

impl Class {
    pub const fn directive(self) -> &'static str {
        match self {
            Class::Pred => ".pred",
            Class::B16 => ".b16",
            Class::B32 => ".b32",
            Class::B64 => ".b64",
            Class::B128 => ".b128",
        }
    }

    pub const fn bits(self) -> u32 {
        match self {
            Class::Pred => 1,
            Class::B16 => 16,
            Class::B32 => 32,
            Class::B64 => 64,
            Class::B128 => 128,
        }
    }

    pub const fn of_bits(bits: u32) -> Option<Class> {
        match bits {
            1 => Some(Class::Pred),
            16 => Some(Class::B16),
            32 => Some(Class::B32),
            64 => Some(Class::B64),
            128 => Some(Class::B128),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
struct Register {
    name: String,
    class: Class,
}

/// The open scopes, outermost first, and what can be named now.
#[derive(Clone, Default, Debug)]
pub(super) struct Scopes {
    open: Vec<Vec<Register>>,
    visible: Vec<Register>,
}

impl Scopes {
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    pub fn close(&mut self) {
        self.open.pop();
        self.refresh();
    }

    /// True where the innermost scope has the name.
    pub fn here(&self, name: &str) -> bool {
        self.open.last().is_some_and(|scope| scope.iter().any(|register| register.name == name))
    }

    /// Adds registers of the innermost scope, which have values from here on.
    pub fn add(&mut self, names: impl IntoIterator<Item = String>, class: Class) {
        if let Some(scope) = self.open.last_mut() {
            scope.extend(names.into_iter().map(|name| Register { name, class }));
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut visible = Vec::new();
        for scope in self.open.iter().rev() {
            for register in scope {
                // `%v.x` is hidden by what hides `%v`.
                let base = register.name.split_once('.').map_or(register.name.as_str(), |(base, _)| base);
                if !seen.contains(base) {
                    visible.push(register.clone());
                }
            }
            seen.extend(
                scope.iter().map(|r| r.name.split_once('.').map_or(r.name.as_str(), |(base, _)| base)),
            );
        }
        self.visible = visible;
    }

    /// The registers of a class that can be named.
    pub fn of(&self, class: Class) -> impl Iterator<Item = &str> + Clone {
        self.visible.iter().filter(move |r| r.class == class).map(|r| r.name.as_str())
    }

    /// The class of a register that can be named.
    pub fn class(&self, name: &str) -> Option<Class> {
        self.visible.iter().find(|r| r.name == name).map(|r| r.class)
    }

    /// The registers of the outermost scope.
    pub fn outermost(&self) -> Vec<(String, Class)> {
        let first = self.open.first().map(Vec::as_slice).unwrap_or_default();
        first.iter().map(|r| (r.name.clone(), r.class)).collect()
    }
}
