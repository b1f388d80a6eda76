//! Bodies as text.

use super::{attribute_list, constant, convention, name, put};
use crate::module::attributes::AttributeSet;
use crate::module::body::{Access, Body, Call, Inst, InstKind, List};
use crate::module::ops::{FastMath, Ordering};
use crate::module::types::{Type, TypeId};
use crate::module::{Module, ValueId};
use warpsmith_base::FxHashMap;

/// The names of values and blocks, and numbers for those without.
pub(super) struct Namer {
    values: FxHashMap<ValueId, String>,
    blocks: Vec<String>,
}

impl Namer {
    pub(super) fn new(body: &Body) -> Namer {
        let mut namer = Namer { values: FxHashMap::default(), blocks: Vec::new() };
        let mut next = 0;
        let mut number = |known: Option<&String>| {
            if let Some(known) = known {
                let mut text = String::new();
                name(known, &mut text);
                return text;
            }
            next += 1;
            (next - 1).to_string()
        };
        for n in 0..body.num_params {
            let value = ValueId(body.first_value + n);
            let text = number(body.names.get(&value));
            namer.values.insert(value, text);
        }
        for (n, block) in body.blocks.iter().enumerate() {
            let text = number(body.block_names.get(&(n as u32)));
            namer.blocks.push(text);
            for inst in body.insts.get(block.start as usize..block.end as usize).unwrap_or_default() {
                if let Some(value) = inst.value {
                    let text = number(body.names.get(&value));
                    namer.values.insert(value, text);
                }
            }
        }
        namer
    }

    pub(super) fn value(&self, value: ValueId) -> String {
        self.values.get(&value).map_or_else(|| format!("<value {}>", value.0), |name| format!("%{name}"))
    }

    fn block(&self, block: u32) -> &str {
        self.blocks.get(block as usize).map_or("?", String::as_str)
    }
}

pub(super) fn body(module: &Module<'_>, body: &Body, namer: &Namer, out: &mut String) {
    let mut printer = Printer { module, body, namer, out };
    for (n, block) in body.blocks.iter().enumerate() {
        put(printer.out, format_args!("{}{}:\n", if n == 0 { "" } else { "\n" }, namer.block(n as u32)));
        for inst in body.insts.get(block.start as usize..block.end as usize).unwrap_or_default() {
            printer.out.push_str("  ");
            printer.inst(inst);
            printer.out.push('\n');
        }
    }
}

struct Printer<'p, 'a> {
    module: &'p Module<'a>,
    body: &'p Body,
    namer: &'p Namer,
    out: &'p mut String,
}

impl Printer<'_, '_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn ty(&mut self, ty: TypeId) {
        self.module.types.write(ty, self.out);
    }

    /// The type of a value.
    fn type_of(&self, value: ValueId) -> Option<TypeId> {
        match value.0.checked_sub(self.body.first_value) {
            Some(n) => self.body.types.get(n as usize).copied(),
            None => self.module.constant(value).map(|constant| constant.ty),
        }
    }

    fn value(&mut self, value: ValueId) {
        if self.namer.values.contains_key(&value) {
            let text = self.namer.value(value);
            return self.text(&text);
        }
        constant::value(self.module, Some(self.body), value, self.out);
    }

    fn typed(&mut self, value: ValueId) {
        match self.type_of(value) {
            Some(ty) => self.ty(ty),
            None => self.text("ptr"),
        }
        self.text(" ");
        self.value(value);
    }

    fn list(&mut self, values: &[ValueId]) {
        for value in values {
            self.text(", ");
            self.typed(*value);
        }
    }

    fn path(&mut self, path: List) {
        self.body.path(path).iter().for_each(|index| put(self.out, format_args!(", {index}")));
    }

    fn label(&mut self, block: u32) {
        put(self.out, format_args!("label %{}", self.namer.block(block)));
    }

    /// Two operands of one type.
    fn pair(&mut self, x: ValueId, y: ValueId) {
        self.typed(x);
        self.text(", ");
        self.value(y);
    }

    fn access(&mut self, access: &Access) {
        if access.ordering != Ordering::NotAtomic {
            self.ordering(access.ordering, access.scope);
        }
        if let Some(align) = access.align {
            put(self.out, format_args!(", align {align}"));
        }
    }

    fn ordering(&mut self, ordering: Ordering, scope: u64) {
        let known = usize::try_from(scope).ok().and_then(|n| self.module.scopes.get(n));
        if let Some(scope) = known.filter(|scope| !scope.is_empty()) {
            put(self.out, format_args!(" syncscope(\"{scope}\")"));
        }
        put(self.out, format_args!(" {}", ordering.name()));
    }

    /// The flags of an operation on integers.
    fn overflow(&mut self, flags: u64, names: [&str; 2]) {
        for (n, name) in names.iter().enumerate() {
            if flags >> n & 1 != 0 {
                put(self.out, format_args!(" {name}"));
            }
        }
    }

    fn is_float(&self, value: ValueId) -> bool {
        let ty = self.type_of(value).map(|ty| match self.module.types.get(ty) {
            Type::Vector { element, .. } => *element,
            _ => ty,
        });
        ty.is_some_and(|ty| !matches!(self.module.types.get(ty), Type::Integer(_) | Type::Pointer { .. }))
    }

    fn inst(&mut self, inst: &Inst) {
        if let Some(value) = inst.value {
            let text = self.namer.value(value);
            self.text(&text);
            self.text(" = ");
        }
        match &inst.kind {
            InstKind::Fneg { flags, x } => {
                put(self.out, format_args!("fneg{} ", flags.text()));
                self.typed(*x);
            }
            InstKind::Binary { op, flags, x, y } => {
                use crate::module::ops::BinaryOp::*;
                self.text(op.name());
                match op {
                    Add | Sub | Mul | Shl => self.overflow(*flags, ["nuw", "nsw"]),
                    Udiv | Sdiv | Lshr | Ashr => self.overflow(*flags, ["exact", ""]),
                    Or => self.overflow(*flags, ["disjoint", ""]),
                    Urem | Srem | And | Xor => {}
                    Fadd | Fsub | Fmul | Fdiv | Frem => {
                        put(self.out, format_args!("{}", FastMath::of(*flags).text()))
                    }
                }
                self.text(" ");
                self.pair(*x, *y);
            }
            InstKind::Cast { op, flags, x } => {
                use crate::module::ops::CastOp::*;
                self.text(op.name());
                match op {
                    Trunc => self.overflow(*flags, ["nuw", "nsw"]),
                    Zext | UiToFp => self.overflow(*flags, ["nneg", ""]),
                    FpTrunc | FpExt => put(self.out, format_args!("{}", FastMath::of(*flags).text())),
                    Sext | FpToUi | FpToSi | SiToFp | PtrToInt | IntToPtr | BitCast | AddrSpaceCast
                    | PtrToAddr => {}
                }
                self.text(" ");
                self.typed(*x);
                self.text(" to ");
                self.ty(inst.ty);
            }
            InstKind::Gep { source, flags, base, indices } => {
                self.text("getelementptr ");
                let names = if flags & 1 != 0 { "inbounds " } else { "" };
                self.text(names);
                self.text(if flags & 3 == 2 { "nusw " } else { "" });
                self.text(if flags & 4 != 0 { "nuw " } else { "" });
                self.ty(*source);
                self.text(", ");
                self.typed(*base);
                self.list(self.body.indices(*indices));
            }
            InstKind::Select { cond, x, y, flags } => {
                put(self.out, format_args!("select{} ", flags.text()));
                self.typed(*cond);
                self.list(&[*x, *y]);
            }
            InstKind::ExtractElement { vector, index } => {
                self.text("extractelement ");
                self.typed(*vector);
                self.list(&[*index]);
            }
            InstKind::InsertElement { vector, element, index } => {
                self.text("insertelement ");
                self.typed(*vector);
                self.list(&[*element, *index]);
            }
            InstKind::ShuffleVector { x, y, mask } => {
                self.text("shufflevector ");
                self.typed(*x);
                self.list(&[*y, *mask]);
            }
            InstKind::Compare { predicate, flags, x, y } => {
                if predicate.is_float() && self.is_float(*x) {
                    put(self.out, format_args!("fcmp{} {} ", FastMath::of(*flags).text(), predicate.name()));
                } else {
                    put(
                        self.out,
                        format_args!(
                            "icmp{} {} ",
                            if flags & 1 != 0 { " samesign" } else { "" },
                            predicate.name()
                        ),
                    );
                }
                self.pair(*x, *y);
            }
            InstKind::Return(None) => self.text("ret void"),
            InstKind::Return(Some(value)) => {
                self.text("ret ");
                self.typed(*value);
            }
            InstKind::Br(block) => {
                self.text("br ");
                self.label(*block);
            }
            InstKind::CondBr { cond, then, otherwise } => {
                self.text("br ");
                self.typed(*cond);
                self.text(", ");
                self.label(*then);
                self.text(", ");
                self.label(*otherwise);
            }
            InstKind::Switch { value, default, cases } => {
                self.text("switch ");
                self.typed(*value);
                self.text(", ");
                self.label(*default);
                self.text(" [");
                for (case, block) in self.body.edges(*cases) {
                    self.text("\n    ");
                    self.typed(*case);
                    self.text(", ");
                    self.label(*block);
                }
                self.text("\n  ]");
            }
            InstKind::IndirectBr { address, targets } => {
                self.text("indirectbr ");
                self.typed(*address);
                self.text(", [");
                for (n, (_, block)) in self.body.edges(*targets).iter().enumerate() {
                    self.text(if n == 0 { "" } else { ", " });
                    self.label(*block);
                }
                self.text("]");
            }
            InstKind::Unreachable => self.text("unreachable"),
            InstKind::Phi { incoming, flags } => {
                put(self.out, format_args!("phi{} ", flags.text()));
                self.ty(inst.ty);
                for (n, (value, block)) in self.body.edges(*incoming).iter().enumerate() {
                    self.text(if n == 0 { " [ " } else { ", [ " });
                    self.value(*value);
                    put(self.out, format_args!(", %{} ]", self.namer.block(*block)));
                }
            }
            InstKind::Alloca { ty, count, align } => {
                self.text("alloca ");
                self.ty(*ty);
                self.list(&[*count]);
                if let Some(align) = align {
                    put(self.out, format_args!(", align {align}"));
                }
            }
            InstKind::Load { ptr, access } => {
                self.text(if access.ordering == Ordering::NotAtomic { "load " } else { "load atomic " });
                self.text(if access.volatile { "volatile " } else { "" });
                self.ty(inst.ty);
                self.list(&[*ptr]);
                self.access(access);
            }
            InstKind::Store { ptr, value, access } => {
                self.text(if access.ordering == Ordering::NotAtomic { "store " } else { "store atomic " });
                self.text(if access.volatile { "volatile " } else { "" });
                self.typed(*value);
                self.list(&[*ptr]);
                self.access(access);
            }
            InstKind::ExtractValue { aggregate, indices } => {
                self.text("extractvalue ");
                self.typed(*aggregate);
                self.path(*indices);
            }
            InstKind::InsertValue { aggregate, value, indices } => {
                self.text("insertvalue ");
                self.typed(*aggregate);
                self.list(&[*value]);
                self.path(*indices);
            }
            InstKind::Call(call) => self.call("call", call, inst.ty),
            InstKind::Invoke { call, normal, unwind } => {
                self.call("invoke", call, inst.ty);
                self.text(" to ");
                self.label(*normal);
                self.text(" unwind ");
                self.label(*unwind);
            }
            InstKind::LandingPad { cleanup, clauses } => {
                self.text("landingpad ");
                self.ty(inst.ty);
                self.text(if *cleanup { " cleanup" } else { "" });
                for (value, kind) in self.body.edges(*clauses) {
                    self.text(if *kind == 0 { " catch " } else { " filter " });
                    self.typed(*value);
                }
            }
            InstKind::Resume(value) => {
                self.text("resume ");
                self.typed(*value);
            }
            InstKind::Fence { ordering, scope } => {
                self.text("fence");
                self.ordering(*ordering, *scope);
            }
            InstKind::CmpXchg { ptr, expected, new, access, failure, weak } => {
                self.text(if *weak { "cmpxchg weak " } else { "cmpxchg " });
                self.text(if access.volatile { "volatile " } else { "" });
                self.typed(*ptr);
                self.list(&[*expected, *new]);
                self.ordering(access.ordering, access.scope);
                put(self.out, format_args!(" {}", failure.name()));
                self.access(&Access { ordering: Ordering::NotAtomic, ..*access });
            }
            InstKind::AtomicRmw { op, ptr, value, access } => {
                put(
                    self.out,
                    format_args!(
                        "atomicrmw {}{} ",
                        if access.volatile { "volatile " } else { "" },
                        op.name()
                    ),
                );
                self.typed(*ptr);
                self.list(&[*value]);
                self.access(access);
            }
            InstKind::Freeze(x) => {
                self.text("freeze ");
                self.typed(*x);
            }
            InstKind::VaArg { list } => {
                self.text("va_arg ");
                self.typed(*list);
                self.text(", ");
                self.ty(inst.ty);
            }
        }
    }

    fn call(&mut self, mnemonic: &str, call: &Call, ret: TypeId) {
        self.text(match (call.must_tail, call.tail) {
            (true, _) => "musttail ",
            (false, true) => "tail ",
            (false, false) => "",
        });
        put(self.out, format_args!("{mnemonic}{} {}", call.flags.text(), convention(call.convention.into())));
        let varargs = self.module.signature(call.signature).is_some_and(|(varargs, ..)| varargs);
        self.ty(if varargs { call.signature } else { ret });
        self.text(" ");
        self.value(call.callee);
        self.text("(");
        for (n, (arg, ty)) in self.body.args(call).iter().zip(self.body.arg_types(call)).enumerate() {
            self.text(if n == 0 { "" } else { ", " });
            self.ty(*ty);
            attribute_list(self.module, call.attributes, n as u32 + 1, self.out);
            self.text(" ");
            match self.module.types.get(*ty) {
                Type::Metadata => put(self.out, format_args!("!{}", arg.0)),
                Type::Label => self.label(arg.0),
                _ => self.value(*arg),
            }
        }
        self.text(")");
        attribute_list(self.module, call.attributes, AttributeSet::FUNCTION, self.out);
    }
}
