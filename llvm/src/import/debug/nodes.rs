//! The nodes of metadata, and what their fields hold.

use super::*;

impl<'n> Nodes<'n, '_> {
    pub(super) fn get(self, id: u64) -> Option<&'n Metadata> {
        let n = usize::try_from(id).ok()?;
        let of_module = &self.module.metadata.all;
        of_module.get(n).or_else(|| self.body.metadata.get(n.checked_sub(of_module.len())?))
    }

    /// The fields of a node of one kind.
    pub(super) fn node(self, id: u64, kind: u32) -> Option<&'n [u64]> {
        match self.get(id)? {
            Metadata::Node(found, ops) if *found == kind => Some(ops),
            Metadata::String(_) | Metadata::Value(..) | Metadata::Tuple(_) | Metadata::Node(..) => None,
        }
    }

    pub(super) fn kind(self, id: u64) -> Option<(u32, &'n [u64])> {
        match self.get(id)? {
            Metadata::Node(kind, ops) => Some((*kind, ops)),
            Metadata::String(_) | Metadata::Value(..) | Metadata::Tuple(_) => None,
        }
    }

    /// The text that a field names.
    pub(super) fn text(self, ops: &[u64], n: usize) -> Option<&'n str> {
        match self.get(field(ops, n)?)? {
            Metadata::String(text) => Some(text),
            Metadata::Value(..) | Metadata::Tuple(_) | Metadata::Node(..) => None,
        }
    }

    /// The constant that a field names.
    pub(super) fn constant(self, ops: &[u64], n: usize) -> Option<i64> {
        let Metadata::Value(_, value) = self.get(field(ops, n)?)? else { return None };
        self.integer(*value)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a number is none")]
    pub(super) fn integer(self, value: ValueId) -> Option<i64> {
        match crate::import::space::find_constant(self.module, Some(self.body), value)?.kind {
            ConstantKind::Integer(n) => Some(n),
            ConstantKind::Null => Some(0),
            _ => None,
        }
    }

    /// A number of bits, which newer files hold as a constant.
    pub(super) fn bits(self, ops: &[u64], n: usize, is_node: bool) -> u64 {
        if is_node {
            return self.constant(ops, n).and_then(|bits| u64::try_from(bits).ok()).unwrap_or(0);
        }
        ops.get(n).copied().unwrap_or(0)
    }

    /// The path of the file that a scope is in: as the compiler was given it, behind its directory where that is another than ours.
    pub(super) fn path(self, mut scope: u64) -> Option<String> {
        for _ in 0..MAX_DEPTH {
            let (kind, ops) = self.kind(scope)?;
            let (file, around) = match kind {
                code::SUBPROGRAM => (field(ops, 4), None),
                code::LEXICAL_BLOCK | code::LEXICAL_BLOCK_FILE => (field(ops, 2), field(ops, 1)),
                _ => return None,
            };
            if let Some(ops) = file.and_then(|file| self.node(file, code::FILE)) {
                let (name, directory) = (self.text(ops, 1)?, self.text(ops, 2).unwrap_or(""));
                return Some(Path::new(directory).join(name).display().to_string());
            }
            scope = around?;
        }
        None
    }

    pub(super) fn tuple(self, ops: &[u64], n: usize) -> &'n [u64] {
        match field(ops, n).and_then(|id| self.get(id)) {
            Some(Metadata::Tuple(fields)) => fields,
            _ => &[],
        }
    }
}
