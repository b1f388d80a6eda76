//! Variables and their initial values (PTX ISA 9.0, 5.4).

use super::{Decoder, Place};
use crate::engine::{PatchTarget, ProgramBuilder, Reference, Relocation, SymbolId, Variable};
use crate::texture::{self, AddressMode, Filter};
use warpsmith_isa::{ScalarType, StateSpace};
use warpsmith_ptx::{
    Const, Decl, Declarator, FieldValue, Id, Init, Item, Linkage, MaskOf, Module, Stmt, Symbol,
};

impl<'m> Decoder<'m> {
    /// Places the variables of a declaration at module level.
    pub(super) fn module_variables(&mut self, id: Id<Decl>) {
        let module: &'m Module = self.module;
        let decl = &module[id];
        let mut program = std::mem::take(&mut self.program);
        for declarator_id in decl.names.ids() {
            let declarator = &module[declarator_id];
            // The members of `x<4>` are placed where they are named.
            if declarator.count.is_none() && self.wanted(declarator.name) {
                self.place(&mut program, decl, declarator_id, declarator.name);
            }
        }
        self.program = program;
    }

    /// The number of a name in the family `x<4>` that it belongs to; `%r7` and `%r07` are the same member of `%r<100>`.
    pub(super) fn number(&self, declarator: Id<Declarator>, name: Symbol) -> u32 {
        let module: &'m Module = self.module;
        let d = &module[declarator];
        match d.count {
            Some(_) => module[name].get(module[d.name].len()..).and_then(|n| n.parse().ok()).unwrap_or(0),
            None => 0,
        }
    }

    /// Gives a variable that exists once its memory, whether it is declared in the module or in a function. Declarations of one
    /// variable, `.extern` first, share it.
    pub(super) fn place(
        &mut self,
        program: &mut ProgramBuilder,
        decl: &Decl,
        declarator: Id<Declarator>,
        name: Symbol,
    ) -> Option<Place> {
        let in_module = self.scopes.depth() == 0;
        let place = match self.names.get(&name) {
            Some(symbol) if in_module => Place::Symbol(*symbol),
            _ => self.static_variable(program, decl, declarator, name)?,
        };
        if let Place::Symbol(symbol) = place {
            let names = if in_module { &mut self.names } else { &mut self.inner_names };
            names.insert(name, symbol);
        }
        self.places.insert((declarator, self.number(declarator, name)), place);
        Some(place)
    }

    fn static_variable(
        &self,
        program: &mut ProgramBuilder,
        decl: &Decl,
        declarator: Id<Declarator>,
        name: Symbol,
    ) -> Option<Place> {
        let module: &'m Module = self.module;
        let (name, declared) = (self.name(name), self.declared_at(declarator));
        let declarator = &module[declarator];
        if !matches!(decl.space, StateSpace::Global | StateSpace::Const | StateSpace::Shared) {
            let space = decl.space;
            let message = format!("`{name}`: a .{space} variable of this kind has no memory here");
            self.error_in(program, declarator.span, message);
            return None;
        }
        let mut variable = Variable {
            declared,
            reference: Reference::of_type(decl.ty),
            ..Variable::zeroed(name, decl.space, self.bytes(decl, declarator), self.align(decl))
        };
        let unsized_array = module[declarator.dims].first().is_some_and(Option::is_none);
        if unsized_array {
            match declarator.init {
                // `x[] = {1, 2, 3}` is as large as its initialiser.
                Some(init) => {
                    let row = self.row_bytes(decl, declarator, 1);
                    variable.bytes = self.elements(&module[init]).saturating_mul(row);
                }
                None if decl.space == StateSpace::Shared => variable.dynamic = true,
                None => {}
            }
        }
        if decl.linkage == Linkage::Extern
            && decl.space != StateSpace::Shared
            && !self.is_defined(declarator.name)
        {
            // Whoever names it is refused.
            return None;
        }
        Some(Place::Symbol(program.variable(variable)))
    }

    /// True if a declaration of the variable is more than `.extern`.
    fn is_defined(&self, name: Symbol) -> bool {
        let module: &'m Module = self.module;
        module.items().iter().any(|item| match item {
            Item::Variable(id) => {
                let decl = &module[*id];
                decl.linkage != Linkage::Extern && module[decl.names].iter().any(|d| d.name == name)
            }
            Item::Version(_)
            | Item::Target(_)
            | Item::AddressSize(_)
            | Item::File(_)
            | Item::Pragma(_)
            | Item::Section(_)
            | Item::IntermediateSource(_)
            | Item::Function(_)
            | Item::Alias { .. } => false,
        })
    }

    /// The bytes of what is left of an array after `depth` indices.
    fn row_bytes(&self, decl: &Decl, declarator: &Declarator, depth: usize) -> u64 {
        let module: &'m Module = self.module;
        let element = warpsmith_isa::memory::element_bytes(decl.ty, decl.vector);
        let rest = module[declarator.dims].iter().skip(depth);
        rest.fold(element, |size, dim| size.saturating_mul(dim.unwrap_or(0)))
    }

    fn elements(&self, init: &Init) -> u64 {
        match init {
            Init::List(list) => list.len() as u64,
            Init::Bytes(list) => list.len() as u64,
            Init::Ints(list) => list.len() as u64,
            Init::Const(_) | Init::Address { .. } | Init::Mask(_) | Init::Field { .. } => 1,
        }
    }

    /// Fills in the initial values, now that every name has a place.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only declarations declare")]
    pub(super) fn initialise(&mut self) {
        let module: &'m Module = self.module;
        let of_module = module.items().iter().filter_map(|item| match item {
            Item::Variable(id) => Some(*id),
            Item::Version(_)
            | Item::Target(_)
            | Item::AddressSize(_)
            | Item::File(_)
            | Item::Pragma(_)
            | Item::Section(_)
            | Item::IntermediateSource(_)
            | Item::Function(_)
            | Item::Alias { .. } => None,
        });
        let in_bodies = module.functions().filter_map(|f| f.body).flat_map(|body| &module[body]).filter_map(
            |s| match s {
                Stmt::Decl(id) => Some(*id),
                _ => None,
            },
        );
        for id in of_module.chain(in_bodies) {
            let decl = &module[id];
            for declarator_id in decl.names.ids() {
                let declarator = &module[declarator_id];
                let Some(init) = declarator.init else { continue };
                let Some(Place::Symbol(symbol)) = self.places.get(&(declarator_id, 0)).copied() else {
                    continue;
                };
                let mut out = Initial { symbol, bytes: Vec::new(), reading: texture::Initial::default() };
                self.fill(&mut out, decl, declarator, &module[init], 0, 0);
                self.program.set_initial_bytes(symbol, out.bytes);
                if !out.reading.is_empty() {
                    self.program.set_initial_reading(symbol, out.reading);
                }
            }
        }
    }

    /// Writes the value of an initialiser at an offset of the variable, `depth` array dimensions down.
    fn fill(
        &mut self,
        out: &mut Initial,
        decl: &Decl,
        declarator: &Declarator,
        init: &Init,
        offset: u64,
        depth: usize,
    ) {
        let module: &'m Module = self.module;
        let dims = module[declarator.dims].len();
        // Past the arrays come the elements of a vector, then scalars.
        let scalar = u64::from(decl.ty.bits().div_ceil(8));
        let step = if depth < dims { self.row_bytes(decl, declarator, depth + 1) } else { scalar };
        match *init {
            Init::List(list) => {
                for (i, element) in module[list].iter().enumerate() {
                    self.fill(
                        out,
                        decl,
                        declarator,
                        element,
                        offset.saturating_add(step.saturating_mul(i as u64)),
                        depth + 1,
                    );
                }
            }
            Init::Bytes(list) => {
                for (i, b) in module[list].iter().enumerate() {
                    out.put(offset.saturating_add(step.saturating_mul(i as u64)), u64::from(*b), decl.ty);
                }
            }
            Init::Ints(list) => {
                for (i, v) in module[list].iter().enumerate() {
                    out.put(offset.saturating_add(step.saturating_mul(i as u64)), *v, decl.ty);
                }
            }
            Init::Const(c) => out.put(offset, bits(c, decl.ty), decl.ty),
            Init::Address { name, generic, offset: addend } => {
                let bytes = scalar as u8;
                self.address_at(out.symbol, declarator, offset, (bytes, 0), name, generic, addend);
                out.reserve(offset, scalar);
            }
            Init::Mask(mask) => {
                // `0xff00(x)` takes the bits under the mask, moved to the low end.
                let mask = &module[mask];
                let shift = mask.mask.trailing_zeros().min(63);
                match mask.of {
                    MaskOf::Int(v) => out.put(offset, (v & mask.mask) >> shift, decl.ty),
                    MaskOf::Address { name, generic, offset: addend } => {
                        let bytes =
                            ((64 - mask.mask.leading_zeros()).saturating_sub(shift)).div_ceil(8) as u8;
                        let part = (bytes.min(scalar as u8), shift as u8);
                        self.address_at(out.symbol, declarator, offset, part, name, generic, addend);
                        out.reserve(offset, scalar);
                    }
                }
            }
            Init::Field { name, value } => self.field(out, name, value),
        }
    }

    /// A field of a texture, sampler or surface. Sizes and formats are those of what is bound to it.
    fn field(&self, out: &mut Initial, name: Symbol, value: FieldValue) {
        let number = match value {
            FieldValue::Name(name) => match self.name(name) {
                "nearest" | "wrap" | "false" => 0,
                "linear" | "mirror" | "true" => 1,
                "clamp_ogl" => 2,
                "clamp_to_edge" => 3,
                "clamp_to_border" => 4,
                _ => return,
            },
            FieldValue::Const(c) => bits(c, ScalarType::U32),
        };
        let reading = &mut out.reading;
        let mode = usize::try_from(number).ok().and_then(|i| AddressMode::ALL.get(i)).copied();
        match self.name(name) {
            "normalized_coords" => reading.normalized = Some(number != 0),
            "force_unnormalized_coords" => reading.force_unnormalized = Some(number != 0),
            "filter_mode" => {
                reading.filter = Some(if number == 0 { Filter::Nearest } else { Filter::Linear })
            }
            "addr_mode_0" => reading.address[0] = mode,
            "addr_mode_1" => reading.address[1] = mode,
            "addr_mode_2" => reading.address[2] = mode,
            _ => {}
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn address_at(
        &mut self,
        symbol: SymbolId,
        declarator: &Declarator,
        offset: u64,
        (bytes, shift): (u8, u8),
        name: Symbol,
        generic: bool,
        addend: i64,
    ) {
        let target = match (self.names.get(&name).or(self.inner_names.get(&name)), self.known(name)) {
            (Some(variable), _) => PatchTarget::Variable(*variable),
            (None, Some(function)) => PatchTarget::Function(function.id),
            (None, None) => {
                let name = self.name(name);
                return self.error(
                    declarator.span,
                    format!("the initial value names `{name}`, which has no address here"),
                );
            }
        };
        self.program.relocate(symbol, Relocation { offset, bytes, shift, target, addend, generic });
    }
}

/// The bytes of an initial value, as far as they are not zero at the end.
struct Initial {
    symbol: SymbolId,
    bytes: Vec<u8>,
    /// What is said of reading, of an opaque variable.
    reading: texture::Initial,
}

impl Initial {
    fn put(&mut self, offset: u64, value: u64, ty: ScalarType) {
        let size = u64::from(ty.bits().div_ceil(8));
        self.reserve(offset, size);
        let start = offset as usize;
        for (i, b) in value.to_le_bytes().iter().take(size as usize).enumerate() {
            if let Some(place) = self.bytes.get_mut(start + i) {
                *place = *b;
            }
        }
    }

    /// Grows with the text of the initialiser, never with the size of an array alone: offsets beyond what was written so far
    /// come in order and skip at most a row that a list left unfinished.
    fn reserve(&mut self, offset: u64, size: u64) {
        const MOST: u64 = 1 << 32;
        let end = offset.saturating_add(size);
        if end <= MOST && end as usize > self.bytes.len() {
            self.bytes.resize(end as usize, 0);
        }
    }
}

/// The bits of a constant as a value of a type.
pub(super) fn bits(c: Const, ty: ScalarType) -> u64 {
    match (c, ty) {
        (Const::Int { bits, .. }, _) => bits,
        (Const::F32(bits), _) => bits.into(),
        (Const::F64(bits), ScalarType::F64 | ScalarType::B64) => bits,
        (Const::F64(bits), _) => u64::from((f64::from_bits(bits) as f32).to_bits()),
    }
}
