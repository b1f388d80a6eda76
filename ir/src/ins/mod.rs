//! Making instructions: `func.at_end(block).iadd(x, y)`. One method an operation, from the table.

mod builder;
mod effects;

pub use builder::InstBuilder;

use crate::attr::Attr;
use crate::dfg::Results;
use crate::entities::{Block, Inst, Loc, Value};
use crate::function::Function;
use crate::inst::InstData;
use crate::ops::{OperandRule, ResultRule};
use crate::ptx::ResultTypes;
use crate::types::{Scalar, Type};
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

impl Function {
    /// The type of an instruction's first result, as far as the operation and its operands say. `suffix` is the type that
    /// stands in the name: `load.f32`. `None` for what has no result, or takes its type from elsewhere in the module.
    pub fn result_type(&self, data: &InstData, suffix: Option<Type>) -> Option<Type> {
        let info = data.opcode().info();
        let args = data.args(&self.dfg.pool);
        let of_t = || {
            let n = info.operands.iter().position(|rule| *rule == OperandRule::T)?;
            suffix.or_else(|| args.get(n).map(|value| self.dfg.ty(*value)))
        };
        match info.result {
            ResultRule::None | ResultRule::PtrOfGlobal | ResultRule::OfCallee | ResultRule::OfTable => None,
            ResultRule::T | ResultRule::TAndBools => of_t(),
            ResultRule::Bools => of_t().and_then(bools),
            ResultRule::I32 | ResultRule::I32AndI1 => Some(Type::I32),
            ResultRule::I64 => Some(Type::I64),
            ResultRule::Suffix
            | ResultRule::WiderInt
            | ResultRule::NarrowerInt
            | ResultRule::WiderFloat
            | ResultRule::NarrowerFloat
            | ResultRule::ToInt
            | ResultRule::ToFloat
            | ResultRule::SameBits
            | ResultRule::VectorOfT
            | ResultRule::ToPtr => suffix,
            ResultRule::OfCall => suffix,
            ResultRule::Ptr => Some(Type::PTR),
            ResultRule::PtrLocal => Some(Type::PTR_LOCAL),
            ResultRule::VectorOf => {
                suffix.or_else(|| Type::vector(self.dfg.ty(*args.first()?).element(), args.len() as u32))
            }
            ResultRule::Shuffled => {
                let InstData::List { attr: Attr::Lanes(lanes), .. } = data else { return None };
                of_t().and_then(|ty| Type::vector(ty.element(), lanes.len() as u32))
            }
            ResultRule::Element => of_t().map(Type::element_type),
            ResultRule::OfSreg => {
                let InstData::Sreg { reg } = data else { return None };
                Some(reg.ty())
            }
        }
    }

    /// The types of all results, [`Type::INVALID`] where the operands do not say yet.
    #[allow(clippy::wildcard_enum_match_arm, reason = "the others have one result")]
    pub(crate) fn result_types(&self, data: &InstData, suffix: Option<Type>) -> ResultTypes {
        let first = self.result_type(data, suffix);
        let known = first.unwrap_or(Type::INVALID);
        match data.opcode().info().result {
            ResultRule::None => SmallVec::new(),
            ResultRule::TAndBools => {
                SmallVec::from_slice(&[known, first.and_then(bools).unwrap_or(Type::INVALID)])
            }
            ResultRule::I32AndI1 => SmallVec::from_slice(&[Type::I32, Type::I1]),
            _ => SmallVec::from_slice(&[known]),
        }
    }

    /// Makes instructions at the end of a block.
    pub fn at_end(&mut self, block: Block) -> Ins<'_> {
        Ins { func: self, at: Position::End(block), loc: None.into() }
    }

    /// Makes an instruction at the start of a block.
    pub fn at_start(&mut self, block: Block) -> Ins<'_> {
        Ins { func: self, at: Position::Start(block), loc: None.into() }
    }

    /// Makes an instruction behind the one that computes a value; for a parameter, at the start of `block`.
    pub fn after(&mut self, value: Value, block: Block) -> Ins<'_> {
        let inst = self.dfg.def_inst(value);
        let Some(inst) = inst.filter(|inst| self.layout.block_of(*inst).is_some()) else {
            return self.at_start(block);
        };
        match (self.layout.next_inst(inst), self.layout.block_of(inst)) {
            (Some(next), _) => self.before(next),
            (None, of_inst) => self.at_end(of_inst.unwrap_or(block)),
        }
    }

    /// Makes instructions before another, with its source location.
    pub fn before(&mut self, inst: Inst) -> Ins<'_> {
        let loc = self.inst_locs[inst];
        Ins { func: self, at: Position::Before(inst), loc }
    }

    /// Replaces an instruction. The results stay, so their types must be those of the new one.
    pub fn replace(&mut self, inst: Inst) -> Replace<'_> {
        Replace { func: self, inst }
    }
}

/// What a comparison of values of a type gives: `i1`, or as many of them as the type has lanes.
pub(crate) fn bools(ty: Type) -> Option<Type> {
    if ty.is_invalid() { None } else { ty.with_element(Scalar::I1) }
}

#[derive(Clone, Copy)]
enum Position {
    End(Block),
    Start(Block),
    Before(Inst),
}

/// Makes instructions at a place in a function.
pub struct Ins<'a> {
    func: &'a mut Function,
    at: Position,
    loc: PackedOption<Loc>,
}

impl Ins<'_> {
    /// Gives the instructions a source location.
    pub fn with_loc(mut self, loc: impl Into<PackedOption<Loc>>) -> Self {
        self.loc = loc.into();
        self
    }
}

impl InstBuilder for Ins<'_> {
    fn func(&mut self) -> &mut Function {
        self.func
    }

    fn operand(&mut self, data: InstData, ty: Type) -> Value {
        let constant = Ins { func: self.func, at: self.at, loc: self.loc }.build(data, &[ty]).0;
        if let Position::Start(block) = self.at {
            let next = self.func.layout.next_inst(constant);
            self.at = next.map_or(Position::End(block), Position::Before);
        }
        self.func.dfg.results(constant).first()
    }

    fn build(self, data: InstData, results: &[Type]) -> (Inst, Results) {
        let Ins { func, at, loc } = self;
        let inst = func.dfg.make_inst(data, results);
        match at {
            Position::End(block) => func.layout.append_inst(inst, block),
            Position::Start(block) => func.layout.prepend_inst(inst, block),
            Position::Before(next) => {
                func.layout.insert_inst_before(inst, next);
                func.spans[inst] = func.spans[next];
            }
        }
        if loc.is_some() {
            func.inst_locs[inst] = loc;
        }
        (inst, func.dfg.results(inst))
    }
}

/// Replaces an instruction by another.
pub struct Replace<'a> {
    func: &'a mut Function,
    inst: Inst,
}

impl InstBuilder for Replace<'_> {
    fn func(&mut self) -> &mut Function {
        self.func
    }

    fn operand(&mut self, data: InstData, ty: Type) -> Value {
        self.func.before(self.inst).build(data, &[ty]).1.first()
    }

    fn build(self, data: InstData, _results: &[Type]) -> (Inst, Results) {
        self.func.dfg.replace_inst(self.inst, data);
        (self.inst, self.func.dfg.results(self.inst))
    }
}
