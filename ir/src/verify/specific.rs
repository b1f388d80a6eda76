//! What single instructions require beyond the types that the table says.

use super::Verifier;
use super::flow::count;
use crate::aggregate::PathError;
use crate::attr::Attr;
use crate::entities::{Inst, Value};
use crate::float_mode::FloatMode;
use crate::function::{FuncKind, Function};
use crate::inst::{InstData, MemFlags};
use crate::ops::Opcode;
use crate::printf;
use crate::types::Type;
use warpsmith_diag::Diagnostic;
use warpsmith_isa::StateSpace;

impl<'a> Verifier<'a> {
    /// What one instruction requires and the table cannot say.
    pub(super) fn specific(&mut self, inst: Inst, data: &InstData, t: Type, result: Option<Type>) {
        let func = self.func;
        let args = func.dfg.args(inst);
        match data {
            InstData::IntConst { value } if t.normalize(*value) != *value => {
                self.inst_error(inst, "I0420", format!("{value} is not how a constant of {t} is held"))
                    .notes
                    .push("Type::normalize gives the form: sign-extended, an i1 being 0 or 1".into());
            }
            InstData::FloatConst { bits } if t.bits() < 64 && bits >> t.bits() != 0 => {
                self.inst_error(inst, "I0420", format!("{bits:#x} has more bits than {t}"));
            }
            InstData::Unary { op, .. } if op.is_approximate() => {
                self.float_mode(inst, *op, FloatMode::default(), t, t);
            }
            InstData::List { op, attr, .. } => self.operand_list(inst, *op, attr, t),
            InstData::Unary { op: Opcode::Bswap, .. } if !t.element_type().bits().is_multiple_of(8) => {
                self.inst_error(inst, "I0401", format!("`bswap` takes integers of whole bytes, not {t}"));
            }
            InstData::Store { flags, .. } => {
                self.not_invariant(inst, *flags);
                self.written(inst, args[1]);
            }
            InstData::Unary { op: Opcode::Addrspacecast, .. } => {
                let generic = |ty: Type| ty == Type::PTR;
                let result = result.unwrap_or(Type::INVALID);
                if generic(t) == generic(result) {
                    let message =
                        format!("a cast from {t} to {result}: exactly one side must be the generic `ptr`");
                    self.inst_error(inst, "I0423", message);
                }
            }
            InstData::GlobalAddr { global, .. } if self.module.globals[*global].handle.is_some() => {
                let name = &self.module.globals[*global].name;
                self.inst_error(inst, "I0427", format!("`@{name}` is not memory, it has no address"))
                    .notes
                    .push("table-derived operations name it: `ptx.tex.1d.v4.f32.s32 [@name, {%x}]`".into());
            }
            InstData::Aggregate { args } => {
                let args = args.as_slice(&func.dfg.pool);
                self.fields(inst, args, t);
            }
            InstData::ExtractValue { path, arg } => {
                if let Some(ty) = self.at_path(inst, func.dfg.ty(*arg), *path)
                    && ty != t
                {
                    let (ty, t) = (self.module.types.display(ty), self.module.types.display(t));
                    let message = format!("the path leads to {ty}; the result is {t}");
                    self.inst_error(inst, "I0411", message);
                }
            }
            InstData::InsertValue { path, args: [_, part] } => {
                let given = func.dfg.ty(*part);
                if let Some(ty) = self.at_path(inst, t, *path)
                    && ty != given
                {
                    let (ty, given) = (self.module.types.display(ty), self.module.types.display(given));
                    let message = format!("the path leads to {ty}; {} is {given}", self.name(*part));
                    self.inst_error(inst, "I0402", message);
                }
            }
            InstData::MemBlock { flags, args, .. } => {
                self.not_invariant(inst, *flags);
                self.written(inst, args[0]);
            }
            InstData::FuncAddr { func: named } => self.called(inst, *named).map_or((), drop),
            InstData::Vec { args } => {
                let args = args.as_slice(&func.dfg.pool);
                if let Some(&other) = args.iter().find(|arg| func.dfg.ty(**arg) != t) {
                    let message =
                        format!("the elements are {t}; {} is {}", self.name(other), func.dfg.ty(other));
                    self.inst_error(inst, "I0402", message);
                }
            }
            InstData::Extract { lane, .. } | InstData::Insert { lane, .. } if *lane as u32 >= t.lanes() => {
                let message = format!("lane {lane} of {t}, whose lanes are 0 to {}", t.lanes() - 1);
                self.inst_error(inst, "I0425", message);
            }
            InstData::Call { callee, .. } => self.call(inst, *callee, args),
            InstData::CallIndirect { .. } => {}
            InstData::Return { .. } => {
                let types: Vec<Type> = args.iter().map(|arg| func.dfg.ty(*arg)).collect();
                if types != func.ret {
                    let kind = if func.kind == FuncKind::Kernel { "kernel" } else { "function" };
                    let message = format!(
                        "`ret` with {}; the {kind} returns {}",
                        self.list(&types),
                        self.list(&func.ret)
                    );
                    let span = func.span;
                    let error = self.inst_error(inst, "I0426", message);
                    if !span.is_none() {
                        error.labels.push((span, "declared here".into()));
                    }
                }
            }
            InstData::Switch { table, .. } => {
                for (value, _) in &func.dfg.jump_tables[*table].cases {
                    if t.normalize(*value) != *value {
                        self.inst_error(
                            inst,
                            "I0420",
                            format!("case {value} is not how a value of {t} is held"),
                        );
                    }
                }
            }
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Load { .. }
            | InstData::Index { .. }
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Zero
            | InstData::Sreg { .. }
            | InstData::Ptx { .. }
            | InstData::Jump { .. }
            | InstData::Brif { .. }
            | InstData::Trap => {}
        }
    }

    /// The operands of `aggregate`: one for each field.
    pub(super) fn fields(&mut self, inst: Inst, args: &[Value], ty: Type) {
        let types = &self.module.types;
        let wanted = types.fields(ty);
        if args.len() as u64 != wanted {
            let message = format!("{} has {wanted} fields, {} are given", types.display(ty), args.len());
            self.inst_error(inst, "I0412", message)
                .notes
                .push("`zero` makes one whose fields are all zero".into());
            return;
        }
        for (n, &arg) in args.iter().enumerate() {
            let Some((field, _)) = types.field(ty, n as u64) else { return };
            let given = self.func.dfg.ty(arg);
            if given != field {
                let (whole, field, given) = (types.display(ty), types.display(field), types.display(given));
                let message = format!("field {n} of {whole} is {field}; {} is {given}", self.name(arg));
                self.inst_error(inst, "I0402", message);
            }
        }
    }

    /// The type that a path leads to from an aggregate; a path that leads nowhere is reported.
    pub(super) fn at_path(&mut self, inst: Inst, ty: Type, path: crate::Path) -> Option<Type> {
        let path = &self.func.dfg.paths[path];
        let types = &self.module.types;
        let message = match types.at_path(ty, path) {
            Ok(_) if path.is_empty() => "a path has at least one field".to_string(),
            Ok(place) => return Some(place.ty),
            Err(PathError::NotAnAggregate(step)) => {
                let whole = types.at_path(ty, &path[..step]).map_or(ty, |place| place.ty);
                format!("the path goes on into {}, which has no fields", types.display(whole))
            }
            Err(PathError::NoField(step, count)) => {
                let whole = types.at_path(ty, &path[..step]).map_or(ty, |place| place.ty);
                format!(
                    "{} has {count} fields; the path asks for number {}",
                    types.display(whole),
                    path[step]
                )
            }
        };
        self.inst_error(inst, "I0413", message).notes.push("fields and elements are counted from 0".into());
        None
    }

    pub(super) fn not_invariant(&mut self, inst: Inst, flags: MemFlags) {
        if flags.invariant {
            let message = "`invariant` says that memory is never written; this writes it".into();
            self.inst_error(inst, "I0421", message);
        }
    }

    /// A pointer that is written through, which must not be to memory that is only read.
    pub(super) fn written(&mut self, inst: Inst, ptr: Value) {
        let space = self.func.dfg.ty(ptr).space();
        if let Some(space @ (StateSpace::Const | StateSpace::Param)) = space {
            let message = format!("{} points to {space} memory, which cannot be written", self.name(ptr));
            self.inst_error(inst, "I0422", message);
        }
    }

    /// What an operation of [`Shape::List`](crate::Shape::List) requires.
    pub(super) fn operand_list(&mut self, inst: Inst, op: Opcode, attr: &Attr, t: Type) {
        let given = self.func.dfg.args(inst).len();
        let taken = op.info().operands.len();
        if attr.kind() != op.attr_kind() {
            self.inst_error(inst, "I0428", format!("`{op}` does not take {attr:?}"));
        } else if given != taken && op != Opcode::Printf {
            let message = format!("`{op}` takes {}, not {given}", count(taken, "operand"));
            self.inst_error(inst, "I0428", message);
        }
        match attr {
            Attr::None => {}
            Attr::With(with) if !Opcode::REDUCTIONS.contains(with) => {
                self.inst_error(
                    inst,
                    "I0428",
                    format!("`{with}` does not put the elements of a vector together"),
                );
            }
            Attr::With(with)
                if !with.info().types.contains(if op == Opcode::Reduce { t.element_type() } else { t }) =>
            {
                let message = format!("`{with}` takes {}, not {}", with.info().types.describe(), t.element());
                self.inst_error(inst, "I0401", message);
            }
            Attr::With(_) => {}
            Attr::Memory(mode) => {
                if let Some(message) = mode.refusal(op, t) {
                    let note = "`docs/ir.md` lists what each atomic access can be";
                    self.inst_error(inst, "I0433", message).notes.push(note.into());
                }
                let ptr = if op == Opcode::AtomicStore { 1 } else { 0 };
                let ptr = self.func.dfg.args(inst).get(ptr).copied();
                if let (Some(ptr), true) = (ptr, op != Opcode::AtomicLoad && op != Opcode::Fence) {
                    self.written(inst, ptr);
                }
            }
            Attr::Text(format) if op == Opcode::Printf => self.printf(inst, format),
            Attr::Shuffle(_) | Attr::Vote(_) | Attr::Text(_) => {}
            Attr::Float(mode) => {
                let to = self.func.dfg.first_result(inst).map_or(t, |result| self.func.dfg.ty(result));
                self.float_mode(inst, op, *mode, t, to);
            }
            Attr::Lanes(lanes) => {
                let all = 2 * t.lanes();
                if let Some(lane) = lanes.iter().find(|lane| u32::from(**lane) >= all) {
                    let message = format!("lane {lane} of two {t}, whose lanes are 0 to {}", all - 1);
                    self.inst_error(inst, "I0425", message);
                }
                if !(2..=Type::MAX_LANES as usize).contains(&lanes.len()) {
                    let message = format!("a vector of {}", count(lanes.len(), "element"));
                    self.inst_error(inst, "I0425", message)
                        .notes
                        .push("`extract` gives one element; a vector has 2 to 64".into());
                }
            }
            Attr::Wide(bits) => {
                let narrow = InstData::int_const(t, **bits);
                if !t.is_int()
                    || !matches!(narrow, InstData::List { attr: Attr::Wide(same), .. } if same == *bits)
                {
                    self.inst_error(
                        inst,
                        "I0420",
                        format!("{:#x} is not how a constant of {t} is held", **bits),
                    )
                    .notes
                    .push("InstData::int_const gives the form".into());
                }
            }
        }
    }

    /// The arguments of `printf` against its format.
    pub(super) fn printf(&mut self, inst: Inst, format: &[u8]) {
        let wanted = match printf::arguments(format) {
            Ok(wanted) => wanted,
            Err(message) => {
                let note =
                    "the conversions are C's: %d %u %x %c, with an `l` for i64, %f %e %g, %s, %p and %%";
                self.inst_error(inst, "I0434", message).notes.push(note.into());
                return;
            }
        };
        let args = self.func.dfg.args(inst);
        if wanted.len() != args.len() {
            let message =
                format!("the format takes {}, {} given", count(wanted.len(), "argument"), args.len());
            self.inst_error(inst, "I0434", message);
            return;
        }
        if wanted.len() > printf::MOST_ARGUMENTS {
            let message =
                format!("`printf` of {} arguments; a device prints {}", args.len(), printf::MOST_ARGUMENTS);
            self.inst_error(inst, "I0434", message).notes.push("print them in several calls".into());
        }
        for (n, (wanted, &arg)) in wanted.iter().zip(args).enumerate() {
            let ty = self.func.dfg.ty(arg);
            if !wanted.takes(ty) {
                let message =
                    format!("argument {} of `printf` is {ty}; the format takes {}", n + 1, wanted.describe());
                let note = match (wanted, ty == Type::I64) {
                    (printf::Argument::Int { .. }, true) => {
                        Some("an i64 is printed by `%ld`, `%lu` or `%lx`")
                    }
                    (printf::Argument::Long, _) if ty.is_int() => {
                        Some("leave out the `l`, or extend it to i64")
                    }
                    (printf::Argument::Text, _) if ty.is_ptr() => {
                        Some("`addrspacecast.ptr` makes it generic")
                    }
                    _ => None,
                };
                self.inst_error(inst, "I0434", message).notes.extend(note.map(str::to_string));
            }
        }
    }

    pub(super) fn float_mode(&mut self, inst: Inst, op: Opcode, mode: FloatMode, t: Type, to: Type) {
        let Some(message) = mode.refusal(op, t, to) else { return };
        let note = match op.is_approximate() {
            true => format!("write `{op} afn`, of f16, bf16 or f32"),
            false => {
                "directions are for f32 and f64, `ftz` and `sat` for f16 and f32, as PTX has them".into()
            }
        };
        self.inst_error(inst, "I0429", message).notes.push(note);
    }

    /// The function of a call or address, which must not be a kernel.
    pub(super) fn called(&mut self, inst: Inst, callee: crate::FuncId) -> Option<&'a Function> {
        let Some(callee) = self.module.functions.get(callee) else {
            self.inst_error(inst, "I0424", format!("unknown function {callee}"));
            return None;
        };
        if callee.kind == FuncKind::Kernel {
            let message = format!("`@{}` is a kernel, which only the host starts", callee.name);
            declared(self.inst_error(inst, "I0430", message), callee);
            return None;
        }
        Some(callee)
    }

    pub(super) fn call(&mut self, inst: Inst, callee: crate::FuncId, args: &[Value]) {
        let func = self.func;
        let Some(callee) = self.called(inst, callee) else { return };
        let name = &callee.name;
        let declared = |error: &mut Diagnostic| declared(error, callee);
        if args.len() != callee.params.len() {
            let takes = count(callee.params.len(), "argument");
            let error =
                self.inst_error(inst, "I0431", format!("`@{name}` takes {takes}, {} given", args.len()));
            declared(error);
            return;
        }
        for (n, (&arg, param)) in args.iter().zip(&callee.params).enumerate() {
            let given = func.dfg.ty(arg);
            // What is passed by value is read through any pointer, or given as a value of that size.
            let types = &self.module.types;
            if param.attrs.varargs {
                if !given.is_aggregate() || types.align(given) > 8 {
                    let given = types.display(given);
                    let message = format!(
                        "the variable arguments of `@{name}` must be one struct, aligned to at most 8; {} is {given}",
                        self.name(arg)
                    );
                    let error = self.inst_error(inst, "I0432", message);
                    error.notes.push("`aggregate.{i32, f64} %a, %b` puts them together, each at its own alignment; floats are f64, integers of fewer bits i32".into());
                    declared(error);
                }
                continue;
            }
            let fits = |(size, align)| {
                given.is_ptr()
                    || (given.is_aggregate()
                        && types.size(given) == u64::from(size)
                        && types.align(given) <= align)
            };
            if given == param.ty || param.byval.is_some_and(fits) {
                continue;
            }
            let wanted = if param.byval.is_some() {
                "a pointer to what is passed by value".into()
            } else {
                self.module.types.display(param.ty).to_string()
            };
            let given = self.module.types.display(given);
            let message =
                format!("argument {} of `@{name}` must be {wanted}; {} is {given}", n + 1, self.name(arg));
            let error = self.inst_error(inst, "I0432", message);
            declared(error);
        }
        let types: Vec<Type> = func.dfg.results(inst).into_iter().map(|value| func.dfg.ty(value)).collect();
        if types != callee.ret {
            let message = format!("`@{name}` returns {}, not {}", self.list(&callee.ret), self.list(&types));
            let error = self.inst_error(inst, "I0410", message);
            declared(error);
        }
    }
}

/// Adds where a function is declared.
fn declared(error: &mut Diagnostic, callee: &Function) {
    if !callee.span.is_none() {
        error.labels.push((callee.span, format!("`@{}` is declared here", callee.name)));
    }
}
