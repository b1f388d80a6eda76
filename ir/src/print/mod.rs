//! The printer: what it writes, the parser reads back as the same module.

mod global;
mod inst;
mod names;

use crate::aggregate::DisplayShape;
use crate::debug::{self, Storage};
use crate::domtree::DominatorTree;
use crate::entities::{BindingId, Block, Inst, StackSlot, Value};
use crate::function::{FuncKind, Function, Linkage, LoopHint, ParamAttrs};
use crate::inst::BlockCall;
use crate::module::{FileStamp, Module, Symbol};
use crate::types::Type;
use names::LocalNames;
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
        self.params()?;
        self.out.push(')');
        for (n, ty) in func.ret.iter().enumerate() {
            self.out.push_str(if n == 0 { " -> " } else { ", " });
            self.ty(*ty)?;
        }
        self.attributes()?;
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
            self.block_header(block, n == 0)?;
            self.names_types = !reachable.is_reachable(block);
            self.instructions(block)?;
        }
        self.out.push_str("}\n");
        Ok(())
    }

    /// The parameters of the function, with their attributes.
    fn params(&mut self) -> fmt::Result {
        let func = self.func;
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
        Ok(())
    }

    /// The attributes of the function, behind its results.
    fn attributes(&mut self) -> fmt::Result {
        let attrs = &self.func.attrs;
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
        Ok(())
    }

    /// The line of a block, and the hint below it. The parameters of the entry are the function's.
    fn block_header(&mut self, block: Block, is_entry: bool) -> fmt::Result {
        let func = self.func;
        self.block(block)?;
        let params = func.dfg.block_params(block);
        if !is_entry && !params.is_empty() {
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
            Some(LoopHint::UnrollEnable) => self.out.push_str("  unroll enable\n"),
        }
        Ok(())
    }

    fn instructions(&mut self, block: Block) -> fmt::Result {
        let func = self.func;
        for inst in func.layout.insts(block) {
            self.bindings(func.layout.records(inst))?;
            self.out.push_str("  ");
            self.inst(inst)?;
            self.out.push('\n');
        }
        self.bindings(func.layout.records_at_end(block))
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
}
