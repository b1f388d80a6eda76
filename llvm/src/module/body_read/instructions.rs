//! Instructions by the codes of their records.

use super::*;

impl<'a> Reader<'_, 'a> {
    pub(super) fn instruction(&mut self, fields: &mut Fields<'_>) -> Result<(InstKind, TypeId)> {
        let void = self.void();
        Ok(match fields.code {
            2 => {
                let (x, ty) = self.typed(fields)?;
                let y = self.of_type(fields, ty)?;
                let number = fields.number()?;
                let op = BinaryOp::of(number, &self.module.types, ty).ok_or_else(|| fields.wrong())?;
                (InstKind::Binary { op, flags: fields.optional().unwrap_or(0), x, y }, ty)
            }
            3 => {
                let (x, from) = self.typed(fields)?;
                let ty = self.ty(fields)?;
                let number = fields.number()?;
                let op = CastOp::of(number).ok_or_else(|| fields.wrong())?;
                self.check_cast(op, from, ty, fields)?;
                (InstKind::Cast { op, flags: fields.optional().unwrap_or(0), x }, ty)
            }
            4 | 30 | 43 => self.gep(fields)?,
            5 | 29 => {
                let (x, ty) = self.typed(fields)?;
                let y = self.of_type(fields, ty)?;
                let cond = if fields.code == 29 {
                    self.typed(fields)?.0
                } else {
                    let bit = self.module.types.bit();
                    self.of_type(fields, bit)?
                };
                let flags = FastMath::of(fields.optional().unwrap_or(0));
                (InstKind::Select { cond, x, y, flags }, ty)
            }
            6 => {
                let (vector, ty) = self.typed(fields)?;
                let (index, _) = self.typed(fields)?;
                let Type::Vector { element, .. } = *self.module.types.get(ty) else {
                    return Err(fields.wrong());
                };
                (InstKind::ExtractElement { vector, index }, element)
            }
            7 => {
                let (vector, ty) = self.typed(fields)?;
                let Type::Vector { element: of, .. } = *self.module.types.get(ty) else {
                    return Err(fields.wrong());
                };
                let element = self.of_type(fields, of)?;
                let (index, _) = self.typed(fields)?;
                (InstKind::InsertElement { vector, element, index }, ty)
            }
            8 => {
                let (x, ty) = self.typed(fields)?;
                let y = self.of_type(fields, ty)?;
                let (mask, of_mask) = self.typed(fields)?;
                let (Type::Vector { element, .. }, Type::Vector { len, .. }) =
                    (self.module.types.get(ty).clone(), self.module.types.get(of_mask).clone())
                else {
                    return Err(fields.wrong());
                };
                let ty = self.module.types.intern(Type::Vector { len, element });
                (InstKind::ShuffleVector { x, y, mask }, ty)
            }
            9 | 28 => {
                let (x, ty) = self.typed(fields)?;
                let y = self.of_type(fields, ty)?;
                let number = fields.number()?;
                let predicate = Predicate::of(number).ok_or_else(|| fields.wrong())?;
                let flags = fields.optional().unwrap_or(0);
                (InstKind::Compare { predicate, flags, x, y }, self.bool_like(ty))
            }
            10 if fields.ops.is_empty() => (InstKind::Return(None), void),
            10 => (InstKind::Return(Some(self.typed(fields)?.0)), void),
            11 => {
                let then = fields.small()?;
                if fields.left() == 0 {
                    (InstKind::Br(then), void)
                } else {
                    let otherwise = fields.small()?;
                    let bit = self.module.types.bit();
                    let cond = self.of_type(fields, bit)?;
                    (InstKind::CondBr { cond, then, otherwise }, void)
                }
            }
            12 => {
                let ty = self.ty(fields)?;
                let value = self.of_type(fields, ty)?;
                let default = fields.small()?;
                let first = self.body.edges.len();
                while fields.left() >= 2 {
                    let case = ValueId(fields.small()?);
                    self.expect(case, ty, fields)?;
                    self.body.edges.push((case, fields.small()?));
                }
                let cases = List::since(first, &self.body.edges);
                (InstKind::Switch { value, default, cases }, void)
            }
            15 => (InstKind::Unreachable, void),
            16 => {
                let ty = self.ty(fields)?;
                let first = self.body.edges.len();
                while fields.left() >= 2 {
                    let field = constants::signed(fields.number()?);
                    let value = ValueId((i64::from(self.next_value()).wrapping_sub(field)) as u32);
                    self.expect(value, ty, fields)?;
                    self.body.edges.push((value, fields.small()?));
                }
                let incoming = List::since(first, &self.body.edges);
                (InstKind::Phi { incoming, flags: FastMath::of(fields.optional().unwrap_or(0)) }, ty)
            }
            19 => self.alloca(fields)?,
            20 | 41 => {
                let (ptr, of_ptr) = self.address(fields)?;
                let atomic = fields.code == 41;
                // Before LLVM 3.7 the type followed from the pointer.
                let ty = if fields.left() == if atomic { 4 } else { 2 } {
                    self.pointee(of_ptr, fields)?
                } else {
                    self.ty(fields)?
                };
                let access = self.access(fields, atomic)?;
                (InstKind::Load { ptr, access }, ty)
            }
            24 | 42 => return Err(self.unsupported(fields, "store in the form before LLVM 3.7")),
            44 | 45 => {
                let (ptr, _) = self.address(fields)?;
                let (value, _) = self.typed(fields)?;
                let access = self.access(fields, fields.code == 45)?;
                (InstKind::Store { ptr, value, access }, void)
            }
            26 => {
                let (aggregate, ty) = self.typed(fields)?;
                let (indices, part) = self.path(fields, ty)?;
                (InstKind::ExtractValue { aggregate, indices }, part)
            }
            27 => {
                let (aggregate, ty) = self.typed(fields)?;
                let (value, of_value) = self.typed(fields)?;
                let (indices, part) = self.path(fields, ty)?;
                if !self.module.types.same(part, of_value) {
                    return Err(fields.wrong());
                }
                (InstKind::InsertValue { aggregate, value, indices }, ty)
            }
            34 => self.call(fields)?,
            36 => (InstKind::Fence { ordering: fields.ordering()?, scope: fields.number()? }, void),
            46 => {
                let (ptr, _) = self.address(fields)?;
                let (expected, ty) = self.typed(fields)?;
                let new = self.of_type(fields, ty)?;
                let volatile = fields.number()? != 0;
                let ordering = fields.ordering()?;
                let scope = fields.number()?;
                let failure = fields.ordering()?;
                let weak = fields.optional().unwrap_or(0) != 0;
                let align =
                    globals::alignment(fields.optional().unwrap_or(0)).ok_or_else(|| fields.wrong())?;
                let access = Access { align, volatile, ordering, scope };
                let bit = self.module.types.bit();
                let pair = self.module.types.intern(Type::Struct {
                    packed: false,
                    fields: vec![ty, bit],
                    name: None,
                });
                (InstKind::CmpXchg { ptr, expected, new, access, failure, weak }, pair)
            }
            38 | 59 => {
                let (ptr, of_ptr) = self.address(fields)?;
                let (value, ty) = if fields.code == 59 {
                    self.typed(fields)?
                } else {
                    let ty = self.pointee(of_ptr, fields)?;
                    (self.of_type(fields, ty)?, ty)
                };
                let number = fields.number()?;
                let op = RmwOp::numbered(number).ok_or_else(|| fields.wrong())?;
                let volatile = fields.number()? != 0;
                let ordering = fields.ordering()?;
                let scope = fields.number()?;
                let align =
                    globals::alignment(fields.optional().unwrap_or(0)).ok_or_else(|| fields.wrong())?;
                let access = Access { align, volatile, ordering, scope };
                (InstKind::AtomicRmw { op, ptr, value, access }, ty)
            }
            56 => {
                let (x, ty) = self.typed(fields)?;
                if fields.number()? != 0 {
                    return Err(fields.wrong());
                }
                (InstKind::Fneg { flags: FastMath::of(fields.optional().unwrap_or(0)), x }, ty)
            }
            58 => {
                let (x, ty) = self.typed(fields)?;
                (InstKind::Freeze(x), ty)
            }
            23 => {
                let of_list = self.ty(fields)?;
                let list = self.of_type(fields, of_list)?;
                let ty = self.ty(fields)?;
                (InstKind::VaArg { list }, ty)
            }
            31 => {
                let of_address = self.ty(fields)?;
                let address = self.of_type(fields, of_address)?;
                let first = self.body.edges.len();
                while fields.left() > 0 {
                    self.body.edges.push((address, fields.small()?));
                }
                let targets = List::since(first, &self.body.edges);
                (InstKind::IndirectBr { address, targets }, void)
            }
            13 => self.invoke(fields)?,
            39 => (InstKind::Resume(self.typed(fields)?.0), void),
            40 | 47 => self.landing_pad(fields)?,
            48 => return Err(self.unsupported(fields, "cleanupret")),
            49 => return Err(self.unsupported(fields, "catchret")),
            50 => return Err(self.unsupported(fields, "catchpad")),
            51 => return Err(self.unsupported(fields, "cleanuppad")),
            52 => return Err(self.unsupported(fields, "catchswitch")),
            57 => return Err(self.unsupported(fields, "callbr")),
            code => return Err(Error::record(fields.offset, format!("no instruction has the code {code}"))),
        })
    }

    /// What an old pointer points to.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what points to no type is refused")]
    pub(super) fn pointee(&self, ty: TypeId, fields: &Fields<'_>) -> Result<TypeId> {
        match self.module.types.get(ty) {
            Type::Pointer { pointee: Some(pointee), .. } => Ok(*pointee),
            _ => Err(fields.wrong()),
        }
    }

    pub(super) fn access(&self, fields: &mut Fields<'_>, atomic: bool) -> Result<Access> {
        let align = fields.align()?;
        let volatile = fields.number()? != 0;
        let (ordering, scope) =
            if atomic { (fields.ordering()?, fields.number()?) } else { (Ordering::NotAtomic, 1) };
        Ok(Access { align, volatile, ordering, scope })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a vector is one element")]
    pub(super) fn gep(&mut self, fields: &mut Fields<'_>) -> Result<(InstKind, TypeId)> {
        let explicit = fields.code == 43;
        let flags = if explicit { fields.number()? } else { u64::from(fields.code == 30) };
        let source = if explicit { Some(self.ty(fields)?) } else { None };
        let (base, of_base) = self.typed(fields)?;
        let mut ty = of_base;
        let source = match source {
            Some(source) => source,
            None => self.pointee(of_base, fields)?,
        };
        let first = self.body.values.len();
        while fields.left() > 0 {
            let (index, of_index) = self.typed(fields)?;
            // One vector among the operands makes a vector of addresses.
            if let (&Type::Vector { len, .. }, Type::Pointer { .. }) =
                (self.module.types.get(of_index), self.module.types.get(ty))
            {
                ty = self.module.types.intern(Type::Vector { len, element: ty });
            }
            self.body.values.push(index);
        }
        let indices = List::since(first, &self.body.values);
        let of_element = match self.module.types.get(of_base) {
            Type::Vector { element, .. } => *element,
            _ => of_base,
        };
        if !matches!(self.module.types.get(of_element), Type::Pointer { .. }) {
            return Err(fields.wrong());
        }
        Ok((InstKind::Gep { source, flags, base, indices }, ty))
    }

    pub(super) fn alloca(&mut self, fields: &mut Fields<'_>) -> Result<(InstKind, TypeId)> {
        let mut ty = self.ty(fields)?;
        let of_count = self.ty(fields)?;
        let count = ValueId(fields.small()?);
        self.expect(count, of_count, fields)?;
        let flags = fields.number()?;
        const IN_ALLOCA: u64 = 1 << 5;
        const EXPLICIT: u64 = 1 << 6;
        if flags & IN_ALLOCA != 0 {
            return Err(self.unsupported(fields, "alloca inalloca"));
        }
        let align =
            globals::alignment(flags & 0x1f | (flags >> 8 & 0x7) << 5).ok_or_else(|| fields.wrong())?;
        let mut space = 0;
        if flags & EXPLICIT == 0 {
            let Type::Pointer { space: of, .. } = *self.module.types.get(ty) else {
                return Err(fields.wrong());
            };
            space = of;
            ty = self.pointee(ty, fields)?;
        }
        space = fields.optional().map_or(space, |space| space as u32);
        let ptr = self.module.types.pointer(space);
        Ok((InstKind::Alloca { ty, count, align }, ptr))
    }

    pub(super) fn path(&mut self, fields: &mut Fields<'_>, ty: TypeId) -> Result<(List, TypeId)> {
        let (first, mut part) = (self.body.paths.len(), ty);
        while fields.left() > 0 {
            let index = fields.number()?;
            let is_aggregate =
                matches!(self.module.types.get(part), Type::Struct { .. } | Type::Array { .. });
            part =
                self.module.types.part(part, index).filter(|_| is_aggregate).ok_or_else(|| fields.wrong())?;
            self.body.paths.push(index);
        }
        Ok((List::since(first, &self.body.paths), part))
    }

    pub(super) fn call(&mut self, fields: &mut Fields<'_>) -> Result<(InstKind, TypeId)> {
        const TAIL: u64 = 1;
        const MUST_TAIL: u64 = 1 << 14;
        const EXPLICIT: u64 = 1 << 15;
        const FAST_MATH: u64 = 1 << 17;
        let attributes = fields.small()?;
        let flags = fields.number()?;
        let fast = if flags & FAST_MATH != 0 { FastMath::of(fields.number()?) } else { FastMath::default() };
        let explicit = if flags & EXPLICIT != 0 { Some(self.ty(fields)?) } else { None };
        let (callee, ret) = self.callee(fields, explicit)?;
        let call = Call {
            convention: ((flags & 0x7ff) >> 1) as u16,
            attributes,
            must_tail: flags & MUST_TAIL != 0,
            tail: flags & TAIL != 0,
            flags: fast,
            ..callee
        };
        Ok((InstKind::Call(call), ret))
    }

    /// A call that may throw.
    fn invoke(&mut self, fields: &mut Fields<'_>) -> Result<(InstKind, TypeId)> {
        const EXPLICIT: u64 = 1 << 13;
        let attributes = fields.small()?;
        let flags = fields.number()?;
        let (normal, unwind) = (fields.small()?, fields.small()?);
        let explicit = if flags & EXPLICIT != 0 { Some(self.ty(fields)?) } else { None };
        let (callee, ret) = self.callee(fields, explicit)?;
        let call = Call { convention: (flags & 0x3ff) as u16, attributes, ..callee };
        Ok((InstKind::Invoke { call, normal, unwind }, ret))
    }

    fn landing_pad(&mut self, fields: &mut Fields<'_>) -> Result<(InstKind, TypeId)> {
        const OLD: u32 = 40;
        let ty = self.ty(fields)?;
        if fields.code == OLD {
            // The function of the run-time library that unwinds, which is the function's since LLVM 3.7.
            self.typed(fields)?;
        }
        let cleanup = fields.number()? != 0;
        let count = fields.number()?;
        let first = self.body.edges.len();
        for _ in 0..count {
            let kind = fields.small()?;
            if kind > 1 {
                return Err(fields.wrong());
            }
            let value = self.typed(fields)?.0;
            self.body.edges.push((value, kind));
        }
        let clauses = List::since(first, &self.body.edges);
        Ok((InstKind::LandingPad { cleanup, clauses }, ty))
    }

    /// What is called with which arguments, and the type of what it gives.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is neither a label nor metadata is a value")]
    fn callee(&mut self, fields: &mut Fields<'_>, explicit: Option<TypeId>) -> Result<(Call, TypeId)> {
        let (callee, of_callee) = self.typed(fields)?;
        let signature = match explicit {
            Some(ty) => ty,
            None => self.pointee(of_callee, fields)?,
        };
        let Some((varargs, ret, params)) = self.module.signature(signature) else {
            return Err(fields.wrong());
        };
        let (first_arg, first_type) = (self.body.values.len(), self.body.arg_types.len());
        self.body.arg_types.extend_from_slice(params);
        for n in first_type..self.body.arg_types.len() {
            let param = self.body.arg_types[n];
            let arg = match self.module.types.get(param) {
                Type::Label => ValueId(fields.small()?),
                // A number of metadata, which is not a value.
                Type::Metadata => {
                    let field = fields.number()?;
                    self.relative(field)
                }
                _ => self.of_type(fields, param)?,
            };
            self.body.values.push(arg);
        }
        while varargs && fields.left() > 0 {
            let (arg, ty) = self.typed(fields)?;
            self.body.values.push(arg);
            self.body.arg_types.push(ty);
        }
        let call = Call {
            callee,
            signature,
            args: List::since(first_arg, &self.body.values),
            arg_types: List::since(first_type, &self.body.arg_types),
            convention: 0,
            attributes: 0,
            must_tail: false,
            tail: false,
            flags: FastMath::default(),
        };
        Ok((call, ret))
    }

    /// An error for a cast between types that it does not know.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a vector is one element")]
    pub(super) fn check_cast(
        &mut self,
        op: CastOp,
        from: TypeId,
        to: TypeId,
        fields: &Fields<'_>,
    ) -> Result<()> {
        let types = &self.module.types;
        let element = |ty: TypeId| match types.get(ty) {
            Type::Vector { len, element } => (types.get(*element), *len),
            other => (other, 1),
        };
        let ((of, lanes), (into, lanes_into)) = (element(from), element(to));
        let int = |ty: &Type| matches!(ty, Type::Integer(_));
        let ptr = |ty: &Type| matches!(ty, Type::Pointer { .. });
        let float = |ty: &Type| {
            matches!(
                ty,
                Type::Half
                    | Type::BFloat
                    | Type::Float
                    | Type::Double
                    | Type::Fp128
                    | Type::X86Fp80
                    | Type::PpcFp128
            )
        };
        let fits = match op {
            CastOp::Trunc | CastOp::Zext | CastOp::Sext => int(of) && int(into),
            CastOp::FpToUi | CastOp::FpToSi => float(of) && int(into),
            CastOp::UiToFp | CastOp::SiToFp => int(of) && float(into),
            CastOp::FpTrunc | CastOp::FpExt => float(of) && float(into),
            CastOp::PtrToInt | CastOp::PtrToAddr => ptr(of) && int(into),
            CastOp::IntToPtr => int(of) && ptr(into),
            CastOp::AddrSpaceCast => ptr(of) && ptr(into),
            CastOp::BitCast => true,
        };
        let same_lanes = lanes == lanes_into;
        let same_bits = types.bits(from).ok() == types.bits(to).ok();
        if fits && if op == CastOp::BitCast { same_bits } else { same_lanes } {
            return Ok(());
        }
        let message = format!("`{}` from {} to {}", op.name(), types.display(from), types.display(to));
        Err(Error::record(fields.offset, message))
    }
}
