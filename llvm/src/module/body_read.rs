//! Reading the body of a function.
//!
//! Operands are numbers of values, counted back from the value that comes next. One that is not defined yet has its type behind it; what the
//! definition then is must be of that type.

mod instructions;

use super::body::{Access, Body, Call, DebugRecord, Inst, InstKind, List, Location, check_constant};
use super::ops::{BinaryOp, CastOp, FastMath, Ordering, Predicate, RmwOp};
use super::read_types::text;
use super::types::{Type, TypeId};
use super::{CONSTANTS, METADATA, METADATA_ATTACHMENT, Module, VALUE_SYMTAB, ValueId, constants, globals};
use crate::bitstream::{Block, Entry, Record};
use crate::error::{Error, Result};
use warpsmith_base::FxHashMap;

impl<'a> Module<'a> {
    /// Reads the body of a function. `None` for one that is only declared.
    pub fn read_body(&mut self, function: usize) -> Result<Option<Body>> {
        self.read_body_in(function, Body::default())
    }

    /// [`Module::read_body`], in the memory of a body that is not needed any more.
    pub fn read_body_in(&mut self, n: usize, memory: Body) -> Result<Option<Body>> {
        let Some(function) = self.functions.get(n) else { return Ok(None) };
        let (Some(block), ty) = (function.body.clone(), function.ty) else { return Ok(None) };
        let body = Reader::new(self, ty, memory).read(block);
        body.map(Some).map_err(|error| error.in_function(self.functions.get(n).map_or("", |f| &f.name)))
    }
}

/// About as many bits as clang takes for an instruction, constants and names left out.
const INST_BITS: u64 = 40;

/// More fields than nearly all records have.
const USUAL_FIELDS: usize = 32;

struct Reader<'m, 'a> {
    module: &'m mut Module<'a>,
    body: Body,
    /// The types that values were used with before they were defined.
    promised: FxHashMap<u32, TypeId>,
    num_blocks: Option<u32>,
    loc: Option<[u32; 4]>,
    has_inst: bool,
    /// An operand bundle of the call that comes next: the number of its tag and its record.
    bundle: Option<(u64, u64)>,
}

/// The fields of a record, from the first to the last.
struct Fields<'r> {
    ops: &'r [u64],
    at: usize,
    code: u32,
    offset: u64,
}

impl Fields<'_> {
    fn wrong(&self) -> Error {
        Error::record(
            self.offset,
            format!("an instruction of code {} with {} fields", self.code, self.ops.len()),
        )
    }

    fn number(&mut self) -> Result<u64> {
        let field = self.ops.get(self.at).copied().ok_or_else(|| self.wrong())?;
        self.at += 1;
        Ok(field)
    }

    fn optional(&mut self) -> Option<u64> {
        let field = self.ops.get(self.at).copied();
        self.at += 1;
        field
    }

    fn left(&self) -> usize {
        self.ops.len().saturating_sub(self.at)
    }

    fn small(&mut self) -> Result<u32> {
        let field = self.number()?;
        u32::try_from(field).map_err(|_| self.wrong())
    }

    fn ordering(&mut self) -> Result<Ordering> {
        let field = self.number()?;
        Ordering::numbered(field).ok_or_else(|| self.wrong())
    }

    fn align(&mut self) -> Result<Option<u64>> {
        let field = self.number()?;
        globals::alignment(field).ok_or_else(|| self.wrong())
    }
}

impl<'m, 'a> Reader<'m, 'a> {
    fn new(module: &'m mut Module<'a>, ty: TypeId, mut body: Body) -> Self {
        body.clear();
        body.first_value = module.num_values();
        let params = module.signature(ty).map_or(&[][..], |(_, _, params)| params);
        body.num_params = params.len() as u32;
        body.types.extend_from_slice(params);
        Reader {
            module,
            body,
            promised: FxHashMap::default(),
            num_blocks: None,
            loc: None,
            has_inst: false,
            bundle: None,
        }
    }

    fn next_value(&self) -> u32 {
        self.body.first_value + self.body.types.len() as u32
    }

    fn read(mut self, mut block: Block<'a>) -> Result<Body> {
        let mut record = Record::default();
        record.ops.reserve(USUAL_FIELDS);
        let mut first = 0u32;
        // In proportion to the bytes of the body: what it announces is not trusted.
        let likely = (block.remaining() / INST_BITS) as usize;
        self.body.insts.reserve(likely);
        self.body.types.reserve(likely);
        self.body.results.reserve(likely);
        while let Some(entry) = block.next(&mut record)? {
            match entry {
                Entry::Block(inner) => match inner.id {
                    CONSTANTS => self.read_constants(inner, &mut record)?,
                    METADATA => self.read_metadata(inner)?,
                    VALUE_SYMTAB => self.read_names(inner)?,
                    METADATA_ATTACHMENT => self.read_attachments(inner)?,
                    _ => {}
                },
                Entry::Record => {
                    self.record(&record)?;
                    let count = self.body.insts.len() as u32;
                    if self.body.insts.last().is_some_and(|inst| inst.kind.is_terminator())
                        && count > self.ended()
                    {
                        self.body.blocks.push(first..count);
                        first = count;
                    }
                }
            }
        }
        self.finish(block.offset(), first)
    }

    /// The instructions in blocks that have ended.
    fn ended(&self) -> u32 {
        self.body.blocks.last().map_or(0, |block| block.end)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction unwinds")]
    fn finish(mut self, offset: u64, first: u32) -> Result<Body> {
        let blocks = self.num_blocks.unwrap_or(0);
        if self.body.insts.len() as u32 != first || self.body.blocks.len() as u32 != blocks || blocks == 0 {
            let message =
                format!("{blocks} blocks were announced and {} have an end", self.body.blocks.len());
            return Err(Error::record(offset, message));
        }
        let count = self.next_value();
        for constant in &self.body.constants {
            check_constant(constant, count)?;
        }
        if let Some((value, _)) = self.promised.iter().find(|(value, _)| **value >= count) {
            return Err(Error::record(offset, format!("value {value} is used and not defined")));
        }
        for (value, ty) in std::mem::take(&mut self.promised) {
            let defined = self.type_of(ValueId(value));
            if !defined.is_some_and(|defined| self.module.types.same(defined, ty)) {
                return Err(Error::record(
                    offset,
                    format!("value {value} is used with another type than it is defined with"),
                ));
            }
        }
        let body = &self.body;
        for inst in body.blocks.iter().filter_map(|block| body.insts.get(block.end as usize - 1)) {
            let unwind = match inst.kind {
                InstKind::Invoke { unwind, .. } => Some(unwind),
                _ => None,
            };
            let mut targets = body.successors(inst).into_iter().chain(unwind);
            if let Some(block) = targets.find(|block| *block >= blocks || *block == 0) {
                return Err(Error::record(
                    inst.offset,
                    format!("a branch to block {block}, which cannot be branched to"),
                ));
            }
        }
        Ok(self.body)
    }

    fn read_constants(&mut self, block: Block<'a>, record: &mut Record<'a>) -> Result<()> {
        if self.has_inst {
            return Err(Error::record(block.offset(), "constants behind instructions"));
        }
        let from = self.body.constants.len();
        constants::read(block, record, &mut self.module.types, &mut self.body.constants)?;
        self.body.types.extend(self.body.constants[from..].iter().map(|constant| constant.ty));
        Ok(())
    }

    fn read_metadata(&mut self, block: Block<'a>) -> Result<()> {
        let mut list = super::metadata::MetadataList::default();
        list.read(block)?;
        self.body.metadata.append(&mut list.all);
        Ok(())
    }

    fn read_names(&mut self, mut block: Block<'a>) -> Result<()> {
        let mut record = Record::default();
        while block.next_record(&mut record)? {
            let Some((id, name)) = record.ops.split_first() else { continue };
            let Ok(id) = u32::try_from(*id) else { continue };
            match record.code {
                1 => _ = self.body.names.insert(ValueId(id), text(name)),
                2 => _ = self.body.block_names.insert(id, text(name)),
                _ => {}
            }
        }
        Ok(())
    }

    fn read_attachments(&mut self, mut block: Block<'a>) -> Result<()> {
        let mut record = Record::default();
        while block.next_record(&mut record)? {
            // An even number of fields attaches to the function.
            if record.code == 11 && record.ops.len() % 2 == 0 {
                let pairs = record.ops.chunks_exact(2);
                self.body.function_attachments.extend(pairs.map(|pair| (pair[0], pair[1])));
            } else if record.code == 11 && record.ops.len() % 2 == 1 {
                let inst = record.ops[0] as u32;
                let pairs = record.ops[1..].chunks_exact(2);
                self.body.attachments.extend(pairs.map(|pair| (inst, pair[0], pair[1])));
            }
        }
        Ok(())
    }

    // Operands.

    fn type_of(&mut self, value: ValueId) -> Option<TypeId> {
        if value.0 < self.body.first_value {
            return self.module.value_type(value);
        }
        self.body.types.get((value.0 - self.body.first_value) as usize).copied()
    }

    fn relative(&self, field: u64) -> ValueId {
        ValueId(self.next_value().wrapping_sub(field as u32))
    }

    /// A value, with its type behind it if it is not defined yet.
    fn typed(&mut self, fields: &mut Fields<'_>) -> Result<(ValueId, TypeId)> {
        let field = fields.number()?;
        let value = self.relative(field);
        if let Some(ty) = self.type_of(value) {
            return Ok((value, ty));
        }
        let ty = TypeId(fields.small()?);
        self.promise(value, ty, fields)?;
        Ok((value, ty))
    }

    /// A value of a type that is known.
    fn of_type(&mut self, fields: &mut Fields<'_>, ty: TypeId) -> Result<ValueId> {
        let field = fields.number()?;
        let value = self.relative(field);
        self.expect(value, ty, fields)?;
        Ok(value)
    }

    fn expect(&mut self, value: ValueId, ty: TypeId, fields: &Fields<'_>) -> Result<()> {
        match self.type_of(value) {
            Some(found) if self.module.types.same(found, ty) => Ok(()),
            Some(found) => {
                let types = &self.module.types;
                let message = format!(
                    "value {} is {}, and {} was expected",
                    value.0,
                    types.display(found),
                    types.display(ty)
                );
                Err(Error::record(fields.offset, message))
            }
            None => self.promise(value, ty, fields),
        }
    }

    fn promise(&mut self, value: ValueId, ty: TypeId, fields: &Fields<'_>) -> Result<()> {
        if !self.module.types.has(ty) {
            return Err(Error::record(fields.offset, format!("type {} does not exist", ty.0)));
        }
        let known = *self.promised.entry(value.0).or_insert(ty);
        if self.module.types.same(known, ty) {
            return Ok(());
        }
        Err(Error::record(fields.offset, format!("value {} is used with two types", value.0)))
    }

    fn ty(&self, fields: &mut Fields<'_>) -> Result<TypeId> {
        let ty = TypeId(fields.small()?);
        if self.module.types.has(ty) { Ok(ty) } else { Err(fields.wrong()) }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a pointer is refused by name")]
    fn address(&mut self, fields: &mut Fields<'_>) -> Result<(ValueId, TypeId)> {
        let (value, ty) = self.typed(fields)?;
        match self.module.types.get(ty) {
            Type::Pointer { .. } => Ok((value, ty)),
            _ => Err(Error::record(
                fields.offset,
                format!("an address that is {}", self.module.types.display(ty)),
            )),
        }
    }

    // Instructions.

    fn push(&mut self, fields: &Fields<'_>, kind: InstKind, ty: TypeId) {
        self.has_inst = true;
        let is_void = matches!(self.module.types.get(ty), Type::Void);
        let value = (!is_void).then(|| ValueId(self.next_value()));
        if !is_void {
            self.body.types.push(ty);
            self.body.results.push(self.body.insts.len() as u32);
        }
        self.body.insts.push(Inst { kind, ty, value, loc: None, offset: fields.offset });
    }

    fn record(&mut self, record: &Record<'a>) -> Result<()> {
        let mut fields = Fields { ops: &record.ops, at: 0, code: record.code, offset: record.offset };
        match record.code {
            1 => {
                self.num_blocks = Some(fields.small()?);
                return Ok(());
            }
            35 => {
                let mut loc = [0; 4];
                for part in &mut loc {
                    *part = fields.optional().unwrap_or(0) as u32;
                }
                self.loc = Some(loc);
                return self.locate();
            }
            33 => return self.locate(),
            61..=64 => return self.debug_record(&mut fields),
            // Who takes the addresses of blocks, and labels.
            60 | 65 => return Ok(()),
            55 => {
                self.bundle = Some((fields.number()?, fields.offset));
                return Ok(());
            }
            _ => {}
        }
        let full = self.num_blocks.is_none_or(|blocks| self.body.blocks.len() as u32 >= blocks);
        if full {
            return Err(Error::record(record.offset, "an instruction behind the last block"));
        }
        let (kind, ty) = self.instruction(&mut fields)?;
        if let Some((tag, offset)) = self.bundle.take() {
            self.check_bundle(&kind, tag).map_err(|error| error.at(offset))?;
        }
        self.push(&fields, kind, ty);
        Ok(())
    }

    /// Of an `llvm.assume`, bundles say what may be assumed, which nothing has to use (`__builtin_assume_aligned`). Elsewhere they change the call.
    fn check_bundle(&self, kind: &InstKind, tag: u64) -> Result<()> {
        if let InstKind::Call(call) = kind
            && let Some(callee) = self.module.global_value(call.callee)
            && self.module.name_of(callee) == "llvm.assume"
        {
            return Ok(());
        }
        let tag = usize::try_from(tag).ok().and_then(|n| self.module.bundle_tags.get(n));
        Err(Error::unsupported(format!("the operand bundle `{}`", tag.map_or("", String::as_str))))
    }

    /// Where a variable is. The record follows the instruction that it stands in front of.
    fn debug_record(&mut self, fields: &mut Fields<'_>) -> Result<()> {
        const DECLARE: u32 = 62;
        const SIMPLE: u32 = 64;
        let (loc, variable, expression) = (fields.number()?, fields.number()?, fields.number()?);
        let location = if fields.code == SIMPLE {
            Location::Value(self.typed(fields)?.0)
        } else {
            Location::Metadata(fields.number()?)
        };
        if let Some(inst) = (self.body.insts.len() as u32).checked_sub(1) {
            let is_address = fields.code == DECLARE;
            let record = DebugRecord { inst, loc, variable, expression, location, is_address };
            self.body.debug_records.push(record);
        }
        Ok(())
    }

    fn locate(&mut self) -> Result<()> {
        if let Some(last) = self.body.insts.last_mut() {
            last.loc = self.loc;
        }
        Ok(())
    }

    fn void(&mut self) -> TypeId {
        self.module.types.void()
    }

    /// `i1`, or as many of them as the vector has elements.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a vector gives one bit")]
    fn bool_like(&mut self, ty: TypeId) -> TypeId {
        let bit = self.module.types.bit();
        match *self.module.types.get(ty) {
            Type::Vector { len, .. } => self.module.types.intern(Type::Vector { len, element: bit }),
            _ => bit,
        }
    }

    fn unsupported(&self, fields: &Fields<'_>, what: &str) -> Error {
        Error::unsupported(format!("`{what}`")).at(fields.offset)
    }
}
