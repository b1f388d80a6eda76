//! The printer: what it writes, the parser reads back as the same module.

mod global;

use crate::aggregate::DisplayShape;
use crate::attr::Attr;
use crate::debug::{self, Storage};
use crate::domtree::DominatorTree;
use crate::entities::{BindingId, Block, Inst, StackSlot, Value};
use crate::function::{FuncKind, Function, Linkage, LoopHint, ParamAttrs};
use crate::inst::{BlockCall, InstData, MemFlags};
use crate::literal::write_float;
use crate::module::{FileStamp, Module, Symbol};
use crate::names::Named;
use crate::ops::ResultRule;
use crate::ptx::{PtxOperand, ResultTypes};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::fmt::{self, Write};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        if let Some(target) = self.target {
            writeln!(out, "target \"{target}\"")?;
        }
        for (id, name) in &self.files {
            write!(out, "file {} \"{}\"", id.as_u32(), escape(name))?;
            if let Some(FileStamp { time, size }) = self.stamps[id] {
                write!(out, " time {time} size {size}")?;
            }
            out.push('\n');
        }
        for (ty, entry) in self.types.iter() {
            writeln!(out, "type {} = {}", self.types.display(ty), DisplayShape(&self.types, &entry.shape))?;
        }
        debug::print::module(&mut out, self);
        let mut previous = None;
        for &symbol in &self.order {
            match symbol {
                Symbol::Global(id) => global::print(&mut out, self, &self.globals[id])?,
                Symbol::Func(id) => {
                    if !out.is_empty() {
                        out.push('\n');
                    }
                    Printer::new(&mut out, Some(self), &self.functions[id]).function()?;
                }
            }
            // Hand over what is done, so that a large module is not held twice as text.
            if out.len() > 1 << 16 {
                f.write_str(&out)?;
                out.clear();
            }
            previous = Some(symbol);
        }
        debug_assert_eq!(previous, self.order.last().copied());
        f.write_str(&out)
    }
}

/// Prints the function alone: symbols appear by number where no module is at hand.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        Printer::new(&mut out, None, self).function()?;
        f.write_str(&out)
    }
}

/// Prints parts of a function for messages, with the names that the whole function's text has.
pub struct FunctionDisplay<'a> {
    module: Option<&'a Module>,
    func: &'a Function,
    names: LocalNames,
}

impl<'a> FunctionDisplay<'a> {
    /// Prepares the names of a function.
    pub fn new(module: Option<&'a Module>, func: &'a Function) -> Self {
        FunctionDisplay { module, func, names: LocalNames::new(func) }
    }

    /// `%name`
    pub fn value(&self, value: Value) -> String {
        format!("%{}", self.names.value(self.func, value))
    }

    /// `name`
    pub fn block(&self, block: Block) -> String {
        self.names.block(self.func, block)
    }

    /// `%name`
    pub fn stack_slot(&self, slot: StackSlot) -> String {
        format!("%{}", self.names.slot(self.func, slot))
    }

    /// The instruction in one line, its results included.
    pub fn inst(&self, inst: Inst) -> String {
        let mut out = String::new();
        let mut printer = Printer {
            out: &mut out,
            module: self.module,
            func: self.func,
            names: self.names.clone(),
            names_types: false,
        };
        let written = printer.inst(inst);
        debug_assert!(written.is_ok(), "a String takes everything");
        out
    }
}

/// `@name`, in quotes if it is not made of the characters of names.
struct At<'a>(&'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
        match !self.0.is_empty() && self.0.bytes().all(plain) {
            true => write!(f, "@{}", self.0),
            false => write!(f, "@\"{}\"", escape(self.0)),
        }
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '"' => out.push_str(&format!("\\{:02x}", c as u32)),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

fn print_linkage(out: &mut String, linkage: Linkage) {
    if linkage.is_visible() {
        out.push(' ');
        out.push_str(linkage.word());
    }
}

/// The names that values, slots and blocks have in the text: given ones where they are unique, numbers for the rest.
#[derive(Clone, Default)]
struct LocalNames {
    /// Given names that must not be used, because another has the same, or made-up ones that a given name equals.
    taken: Option<Box<Renamed>>,
}

#[derive(Clone, Default)]
struct Renamed {
    values: rustc_hash::FxHashMap<Value, String>,
    slots: rustc_hash::FxHashMap<StackSlot, String>,
    blocks: rustc_hash::FxHashMap<Block, String>,
}

impl LocalNames {
    fn new(func: &Function) -> Self {
        let mut renamed = Renamed::default();
        let names = &func.names;
        let params = func.layout.blocks().flat_map(|block| func.dfg.block_params(block).iter().copied());
        let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
        let values: Vec<Value> = params.chain(insts.flat_map(|inst| func.dfg.results(inst))).collect();
        // Slots and values share one name space, blocks have their own. Given names come first, so that only made-up names
        // and second owners have to step back.
        let mut used = FxHashSet::default();
        let slots: Vec<StackSlot> = func.stack_slots.keys().collect();
        let mut second = (Vec::new(), Vec::new());
        slots.iter().for_each(|&slot| claim(&mut used, names.get(slot), slot, &mut second.0));
        values.iter().for_each(|&value| claim(&mut used, names.get(value), value, &mut second.1));
        second.0.into_iter().for_each(|slot| step_back(&mut used, func, slot, &mut renamed.slots));
        second.1.into_iter().for_each(|value| step_back(&mut used, func, value, &mut renamed.values));
        let mut used = FxHashSet::default();
        let mut second = Vec::new();
        func.layout.blocks().for_each(|block| claim(&mut used, names.get(block), block, &mut second));
        second.into_iter().for_each(|block| step_back(&mut used, func, block, &mut renamed.blocks));
        let any = !(renamed.values.is_empty() && renamed.slots.is_empty() && renamed.blocks.is_empty());
        LocalNames { taken: any.then(|| Box::new(renamed)) }
    }

    fn name<E: Named + std::hash::Hash + Eq + fmt::Display>(
        func: &Function,
        entity: E,
        renamed: Option<&rustc_hash::FxHashMap<E, String>>,
    ) -> String {
        if let Some(name) = renamed.and_then(|map| map.get(&entity)) {
            return name.clone();
        }
        func.names.get(entity).map_or_else(|| entity.to_string(), str::to_string)
    }

    fn value(&self, func: &Function, value: Value) -> String {
        Self::name(func, value, self.taken.as_ref().map(|renamed| &renamed.values))
    }

    fn slot(&self, func: &Function, slot: StackSlot) -> String {
        Self::name(func, slot, self.taken.as_ref().map(|renamed| &renamed.slots))
    }

    fn block(&self, func: &Function, block: Block) -> String {
        Self::name(func, block, self.taken.as_ref().map(|renamed| &renamed.blocks))
    }
}

fn claim<'a, E: Copy>(
    used: &mut FxHashSet<std::borrow::Cow<'a, str>>,
    name: Option<&'a str>,
    entity: E,
    second: &mut Vec<E>,
) {
    if !name.is_some_and(|name| used.insert(name.into())) {
        second.push(entity);
    }
}

/// Finds a free name for an entity whose first choice may be taken.
fn step_back<E: Named + std::hash::Hash + Eq + fmt::Display>(
    used: &mut FxHashSet<std::borrow::Cow<'_, str>>,
    func: &Function,
    entity: E,
    renamed: &mut rustc_hash::FxHashMap<E, String>,
) {
    let given = func.names.get(entity);
    let plain = given.map_or_else(|| entity.to_string(), str::to_string);
    if given.is_none() && used.insert(plain.clone().into()) {
        return;
    }
    // The entity's own number makes the second choice unique but for names that someone gave.
    let mut name = format!("{plain}.{}", entity.index());
    while !used.insert(name.clone().into()) {
        name.push('_');
    }
    renamed.insert(entity, name);
}

/// Bytes as the parser reads them: printable ASCII as it is, the others as `\\` and two hexadecimal digits.
fn quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in text {
        match byte {
            b' '..=b'~' if !matches!(byte, b'"' | b'\\') => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:02x}")),
        }
    }
    out.push('"');
    out
}

struct Printer<'a> {
    out: &'a mut String,
    module: Option<&'a Module>,
    func: &'a Function,
    names: LocalNames,
    /// In unreachable code, values may be computed from themselves: there, types are written out.
    names_types: bool,
}

impl<'a> Printer<'a> {
    fn new(out: &'a mut String, module: Option<&'a Module>, func: &'a Function) -> Self {
        Printer { out, module, func, names: LocalNames::new(func), names_types: false }
    }

    fn function(&mut self) -> fmt::Result {
        let func = self.func;
        self.out.push_str(match func.kind {
            FuncKind::Kernel => "kernel",
            FuncKind::Func => "func",
        });
        if func.kind == FuncKind::Func {
            print_linkage(self.out, func.linkage);
        }
        write!(self.out, " {}(", At(&func.name))?;
        for (n, param) in func.params.iter().enumerate() {
            self.comma(n);
            match func.param_values().get(n) {
                Some(value) => self.value(*value)?,
                None => write!(self.out, "%p{n}")?,
            }
            match param.byval {
                Some(_) if param.attrs.varargs => self.out.push_str(": varargs"),
                Some((size, align)) => write!(self.out, ": byval({size}, align {align})")?,
                None => {
                    self.out.push_str(": ");
                    self.ty(param.ty)?;
                }
            }
            let ParamAttrs { noalias, readonly, nonnull, align, dereferenceable, signext, varargs: _ } =
                param.attrs;
            for (set, word) in
                [(noalias, " noalias"), (readonly, " readonly"), (nonnull, " nonnull"), (signext, " signext")]
            {
                self.out.push_str(if set { word } else { "" });
            }
            if let Some(align) = align {
                write!(self.out, " align({align})")?;
            }
            if let Some(bytes) = dereferenceable {
                write!(self.out, " dereferenceable({bytes})")?;
            }
        }
        self.out.push(')');
        for (n, ty) in func.ret.iter().enumerate() {
            self.out.push_str(if n == 0 { " -> " } else { ", " });
            self.ty(*ty)?;
        }
        let attrs = &func.attrs;
        for (name, sizes) in [
            ("reqntid", attrs.reqntid),
            ("maxntid", attrs.maxntid),
            ("reqnctapercluster", attrs.reqnctapercluster),
        ] {
            if let Some([x, y, z]) = sizes {
                write!(self.out, " {name}({x}, {y}, {z})")?;
            }
        }
        for (name, number) in [
            ("minnctapersm", attrs.minnctapersm),
            ("maxnreg", attrs.maxnreg),
            ("maxclusterrank", attrs.maxclusterrank),
            ("abi_preserve", attrs.abi_preserve),
            ("abi_preserve_control", attrs.abi_preserve_control),
        ] {
            if let Some(number) = number {
                write!(self.out, " {name}({number})")?;
            }
        }
        for word in attrs.words() {
            write!(self.out, " {word}")?;
        }
        if let Some(id) = func.alias {
            match self.module.and_then(|module| module.functions.get(id)) {
                Some(target) => writeln!(self.out, " = {}", At(&target.name))?,
                None => writeln!(self.out, " = {id}")?,
            }
            return Ok(());
        }
        if func.is_declaration() && func.stack_slots.is_empty() && func.linkage == Linkage::Extern {
            self.out.push('\n');
            return Ok(());
        }
        if let Some(debug) = &func.debug {
            write!(self.out, " !{}", debug.subprogram)?;
        }
        self.out.push_str(" {\n");
        for (slot, data) in &func.stack_slots {
            writeln!(
                self.out,
                "  stack %{}: {} align {}",
                self.names.slot(func, slot),
                data.size,
                data.align
            )?;
        }
        debug::print::function(self.out, func);
        let reachable = DominatorTree::new(func);
        for (n, block) in func.layout.blocks().enumerate() {
            self.block(block)?;
            let params = func.dfg.block_params(block);
            // The parameters of the entry are the function's.
            if n > 0 && !params.is_empty() {
                self.out.push('(');
                for (n, value) in params.iter().enumerate() {
                    self.comma(n);
                    self.value(*value)?;
                    self.out.push_str(": ");
                    self.ty(func.dfg.ty(*value))?;
                }
                self.out.push(')');
            }
            self.out.push_str(":\n");
            match func.loop_hints[block] {
                None => {}
                Some(LoopHint::NoUnroll) => self.out.push_str("  nounroll\n"),
                Some(LoopHint::Unroll(rounds)) => writeln!(self.out, "  unroll {rounds}")?,
                Some(LoopHint::UnrollFull) => self.out.push_str("  unroll full\n"),
            }
            self.names_types = !reachable.is_reachable(block);
            for inst in func.layout.insts(block) {
                self.bindings(func.layout.records(inst))?;
                self.out.push_str("  ");
                self.inst(inst)?;
                self.out.push('\n');
            }
            self.bindings(func.layout.records_at_end(block))?;
        }
        self.out.push_str("}\n");
        Ok(())
    }

    /// A type by its name, if the module that gives it one is at hand.
    fn ty(&mut self, ty: Type) -> fmt::Result {
        match self.module {
            Some(module) => write!(self.out, "{}", module.types.display(ty)),
            None => write!(self.out, "{ty}"),
        }
    }

    /// `!var0 = %x`
    fn bindings(&mut self, records: &[BindingId]) -> fmt::Result {
        let func = self.func;
        let Some(debug) = &func.debug else { return Ok(()) };
        for binding in records.iter().filter_map(|id| debug.bindings.get(*id)) {
            write!(self.out, "  !{} = ", binding.variable)?;
            match func.written_storage(binding.storage) {
                Storage::Value(value) => self.value(value)?,
                Storage::Constant(bits) => write!(self.out, "{bits}")?,
                Storage::OptimizedOut => self.out.push_str("optimized_out"),
                Storage::Memory(value, offset) => {
                    self.out.push('[');
                    self.value(value)?;
                    self.offset(offset.into())?;
                    self.out.push(']');
                }
                Storage::Slot(slot, offset) => {
                    write!(self.out, "[%{}", self.names.slot(func, slot))?;
                    self.offset(offset.into())?;
                    self.out.push(']');
                }
                Storage::Global(global, offset) => {
                    self.out.push('[');
                    self.global(global)?;
                    self.offset(offset.into())?;
                    self.out.push(']');
                }
            }
            if let Some(piece) = binding.piece {
                write!(self.out, " piece({}, {})", piece.offset, piece.size)?;
            }
            self.out.push('\n');
        }
        Ok(())
    }

    fn comma(&mut self, n: usize) {
        self.out.push_str(if n == 0 { "" } else { ", " });
    }

    fn value(&mut self, value: Value) -> fmt::Result {
        self.out.push('%');
        match (&self.names.taken, self.func.names.get(value)) {
            (None, Some(name)) => self.out.push_str(name),
            (None, None) => write!(self.out, "{value}")?,
            _ => self.out.push_str(&self.names.value(self.func, value)),
        }
        Ok(())
    }

    fn values(&mut self, values: &[Value]) -> fmt::Result {
        for (n, value) in values.iter().enumerate() {
            self.comma(n);
            self.value(*value)?;
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> fmt::Result {
        self.out.push_str(&self.names.block(self.func, block));
        Ok(())
    }

    fn target(&mut self, call: &BlockCall) -> fmt::Result {
        self.block(call.block)?;
        let args = call.args(&self.func.dfg.pool);
        if !args.is_empty() {
            self.out.push('(');
            self.values(args)?;
            self.out.push(')');
        }
        Ok(())
    }

    fn global(&mut self, id: crate::GlobalId) -> fmt::Result {
        match self.module.and_then(|module| module.globals.get(id)) {
            Some(global) => write!(self.out, "{}", At(&global.name)),
            None => write!(self.out, "@{id}"),
        }
    }

    fn callee(&mut self, id: crate::FuncId) -> fmt::Result {
        match self.module.and_then(|module| module.functions.get(id)) {
            Some(callee) => write!(self.out, "{}", At(&callee.name)),
            None => write!(self.out, "@{id}"),
        }
    }

    /// ` + 16` or ` - 16`
    fn offset(&mut self, offset: i64) -> fmt::Result {
        match offset {
            0 => Ok(()),
            1.. => write!(self.out, " + {offset}"),
            _ => write!(self.out, " - {}", offset.unsigned_abs()),
        }
    }

    fn flags(&mut self, flags: MemFlags) {
        self.out.push_str(if flags.volatile { "volatile " } else { "" });
        self.out.push_str(if flags.invariant { "invariant " } else { "" });
    }

    fn align(&mut self, flags: MemFlags) -> fmt::Result {
        match flags.explicit_align() {
            Some(align) => write!(self.out, " align {align}"),
            None => Ok(()),
        }
    }

    fn inst(&mut self, inst: Inst) -> fmt::Result {
        let func = self.func;
        let results = func.dfg.results(inst);
        let data = &func.dfg[inst];
        // The tables leave the types of some results open: they are written where they are not the usual ones.
        let usual = if let InstData::Ptx { data, .. } = data {
            func.dfg.ptx[*data].usual_types(results.len())
        } else {
            ResultTypes::new()
        };
        for (n, result) in results.into_iter().enumerate() {
            self.comma(n);
            self.value(result)?;
            let ty = func.dfg.ty(result);
            let circular = self.names_types
                && !matches!(data, InstData::Ptx { .. })
                && !data.opcode().info().result.takes_suffix()
                && !matches!(data, InstData::CallIndirect { .. });
            let of_call = data.opcode().info().result == ResultRule::OfCall && results.len() > 1;
            if circular || of_call || usual.get(n).is_some_and(|usual| *usual != ty) {
                self.out.push_str(": ");
                self.ty(ty)?;
            }
        }
        if !results.is_empty() {
            self.out.push_str(" = ");
        }
        let op = data.opcode();
        let rule = op.info().result;
        // Several results of a call through an address have their types written with their names.
        let typed = rule.takes_suffix() || (rule == ResultRule::OfCall && results.len() == 1);
        if let (true, Some(result)) = (typed, func.dfg.first_result(inst)) {
            write!(self.out, "{op}.")?;
            self.ty(func.dfg.ty(result))?;
        } else if !matches!(data, InstData::Sreg { .. } | InstData::Ptx { .. }) {
            self.out.push_str(op.name());
        }
        self.operands(
            inst,
            data,
            func.dfg.first_result(inst).map_or(Type::INVALID, |value| func.dfg.ty(value)),
        )?;
        if let Some(loc) = func.inst_locs[inst].expand().and_then(|loc| func.locs.get(loc)) {
            write!(self.out, " !{}:{}:{}", loc.file.as_u32(), loc.line, loc.column)?;
            if let Some(scope) = loc.scope.filter(|scope| scope.as_u32() > 0) {
                write!(self.out, ":{}", scope.as_u32())?;
            }
        }
        Ok(())
    }

    fn operands(&mut self, inst: Inst, data: &InstData, ty: Type) -> fmt::Result {
        let func = self.func;
        let pool = &func.dfg.pool;
        let args = data.args(pool);
        if !matches!(
            data,
            InstData::Sreg { .. }
                | InstData::Ptx { .. }
                | InstData::List { .. }
                | InstData::Trap
                | InstData::Zero
        ) && !matches!(data, InstData::Return { .. } | InstData::Aggregate { .. } if args.is_empty())
        {
            self.out.push(' ');
        }
        if func.dfg.no_signed_wrap(inst) {
            self.out.push_str("nsw ");
        }
        match data {
            InstData::IntConst { value } => write!(self.out, "{value}")?,
            InstData::FloatConst { bits } => write_float(self.out, ty, *bits),
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::Vec { .. }
            | InstData::Return { .. } => self.values(args)?,
            InstData::IntCompare { cond, .. } => {
                write!(self.out, "{cond} ")?;
                self.values(args)?;
            }
            InstData::FloatCompare { cond, .. } => {
                write!(self.out, "{cond} ")?;
                self.values(args)?;
            }
            InstData::Load { flags, offset, .. } => {
                self.flags(*flags);
                self.values(args)?;
                self.offset(*offset as i64)?;
                self.align(*flags)?;
            }
            InstData::Store { flags, offset, .. } => {
                self.flags(*flags);
                self.values(args)?;
                self.offset(*offset as i64)?;
                self.align(*flags)?;
            }
            InstData::Index { scale, .. } => {
                self.values(args)?;
                write!(self.out, ", {scale}")?;
            }
            InstData::StackAddr { slot, offset } => {
                write!(self.out, "%{}", self.names.slot(func, *slot))?;
                self.offset(*offset as i64)?;
            }
            InstData::GlobalAddr { global, offset } => {
                self.global(*global)?;
                self.offset(*offset as i64)?;
            }
            InstData::FuncAddr { func } => self.callee(*func)?,
            InstData::Extract { lane, .. } | InstData::Insert { lane, .. } => {
                self.values(args)?;
                write!(self.out, ", {lane}")?;
            }
            InstData::Zero => {}
            InstData::Aggregate { .. } => self.values(args)?,
            InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. } => {
                self.values(args)?;
                for n in func.dfg.paths.get(*path).into_iter().flatten() {
                    write!(self.out, ", {n}")?;
                }
            }
            InstData::MemBlock { flags, .. } => {
                self.flags(*flags);
                self.values(args)?;
                self.align(*flags)?;
            }
            InstData::Sreg { reg } => write!(self.out, "sreg.{reg}")?,
            InstData::Call { callee, .. } => {
                self.callee(*callee)?;
                self.out.push('(');
                self.values(args)?;
                self.out.push(')');
            }
            InstData::CallIndirect { .. } => {
                let (callee, args) = args.split_at(args.len().min(1));
                self.values(callee)?;
                self.out.push('(');
                self.values(args)?;
                self.out.push(')');
            }
            InstData::Ptx { data, .. } => {
                let data = &func.dfg.ptx[*data];
                write!(self.out, "ptx.{}", data.mnemonic())?;
                self.ptx_operands(&data.operands, args)?;
            }
            InstData::Jump { dest } => self.target(dest)?,
            InstData::Brif { dests, .. } => {
                self.values(args)?;
                for dest in dests {
                    self.out.push_str(", ");
                    self.target(dest)?;
                }
            }
            InstData::Switch { table, .. } => {
                let table = &func.dfg.jump_tables[*table];
                self.values(args)?;
                self.out.push_str(", ");
                self.target(&table.default)?;
                self.out.push_str(", [");
                for (n, (value, dest)) in table.cases.iter().enumerate() {
                    self.comma(n);
                    write!(self.out, "{value}: ")?;
                    self.target(dest)?;
                }
                self.out.push(']');
            }
            InstData::List { attr, .. } => {
                let before = match attr {
                    Attr::With(op) => op.to_string(),
                    Attr::Float(mode) => mode.to_string().trim_end().to_string(),
                    Attr::Memory(mode) => mode.to_string(),
                    Attr::Shuffle(kind) => kind.to_string(),
                    Attr::Vote(kind) => kind.to_string(),
                    Attr::Text(text) => quoted(text),
                    Attr::Wide(bits) => format!("{:#x}", **bits),
                    Attr::None | Attr::Lanes(_) => String::new(),
                };
                let comma = matches!(attr, Attr::Text(_)) && !args.is_empty();
                self.out.push_str(if before.is_empty() && args.is_empty() { "" } else { " " });
                self.out.push_str(&before);
                self.out.push_str(match (before.is_empty() || args.is_empty(), comma) {
                    (true, _) => "",
                    (false, true) => ", ",
                    (false, false) => " ",
                });
                self.values(args)?;
                if let Attr::Lanes(lanes) = attr {
                    let lanes: Vec<String> = lanes.iter().map(u8::to_string).collect();
                    write!(self.out, ", [{}]", lanes.join(", "))?;
                }
            }
            InstData::Trap => {}
        }
        Ok(())
    }

    fn ptx_operands(&mut self, operands: &[PtxOperand], args: &[Value]) -> fmt::Result {
        let mut args = args.iter().copied();
        // Vectors and brackets that are open: what closes them, and how many operands they still take.
        let mut open: Vec<(char, u32)> = Vec::new();
        let mut first = true;
        for operand in operands {
            self.out.push_str(match (first, open.is_empty()) {
                (true, true) => " ",
                (true, false) => "",
                (false, _) => ", ",
            });
            first = false;
            if let Some((_, left)) = open.last_mut() {
                *left -= 1;
            }
            match *operand {
                PtxOperand::Vector(len) | PtxOperand::Bracket(len) => {
                    let is_vector = matches!(operand, PtxOperand::Vector(_));
                    let (begin, end) = if is_vector { ('{', '}') } else { ('[', ']') };
                    self.out.push(begin);
                    open.push((end, len));
                    first = true;
                }
                PtxOperand::Not => self.out.push('!'),
                PtxOperand::Neg => self.out.push('-'),
                PtxOperand::Destination(part) => write!(self.out, "d.{part}")?,
                PtxOperand::Address(_) => self.out.push('['),
                PtxOperand::GlobalAddress(global, offset) => {
                    self.out.push('[');
                    self.global(global)?;
                    self.offset(offset)?;
                    self.out.push(']');
                }
                PtxOperand::Value | PtxOperand::Part(_) => {}
                PtxOperand::Global(global) => self.global(global)?,
                PtxOperand::Func(callee) => self.callee(callee)?,
                PtxOperand::Int(value) => write!(self.out, "{value}")?,
                PtxOperand::F32(bits) => write!(self.out, "0f{bits:08x}")?,
                PtxOperand::F64(bits) => write!(self.out, "0d{bits:016x}")?,
                PtxOperand::Decimal(value) => write!(self.out, "{value:?}")?,
                PtxOperand::Sink => self.out.push('_'),
            }
            if operand.takes_value() {
                match args.next() {
                    Some(value) => self.value(value)?,
                    None => self.out.push_str("%?"),
                }
            }
            if let PtxOperand::Part(part) = *operand {
                write!(self.out, ":{part}")?;
            }
            if let PtxOperand::Address(offset) = *operand {
                self.offset(offset)?;
                self.out.push(']');
            }
            while open.last().is_some_and(|(_, left)| *left == 0) {
                self.out.extend(open.pop().map(|(end, _)| end));
                first = false;
            }
        }
        Ok(())
    }
}
