//! The printer: from the tree to text that [`parse`](crate::parse) turns into the same tree.

use crate::parallel::threads;
use crate::tree::*;
use std::fmt::{self, Display, Write};
use std::thread;
use warpsmith_isa::StateSpace;

/// The text of a module. Parsing it gives an equal module, provided that its names are names and its lists lie within
/// the shapes that PTX has; what the parser made is always so.
pub fn print(module: &Module) -> String {
    let threads = threads(module.stmts.len() / STATEMENTS);
    let share = module.items.len().div_ceil(threads).max(1);
    let mut shares = module.items.chunks(share);
    let first = shares.next().unwrap_or(&[]);
    thread::scope(|scope| {
        let others: Vec<_> =
            shares.map(|items| (items, scope.spawn(|| print_items(module, items, threads)))).collect();
        let mut text = print_items(module, first, threads);
        for (items, other) in others {
            text += &other.join().unwrap_or_else(|_| print_items(module, items, threads));
        }
        text
    })
}

/// Fewer statements are not worth a thread.
const STATEMENTS: usize = 16 << 10;

/// The text of some items, of as many as there are in one of `shares` parts.
fn print_items(module: &Module, items: &[Item], shares: usize) -> String {
    let out = String::with_capacity(module.stmts.len() / shares * 32);
    let mut printer = Printer { module, out, depth: 0, indent: indent(module) };
    let written = printer.items(items);
    debug_assert!(written.is_ok(), "a String takes everything");
    printer.out
}

struct Printer<'a> {
    module: &'a Module,
    out: String,
    depth: usize,
    indent: &'static str,
}

/// What lines in a scope begin with: with debug information, whose text is long, as little as can be.
fn indent(module: &Module) -> &'static str {
    let debug = module.items.iter().any(|item| matches!(item, Item::Section(_)));
    if debug { "\t" } else { "    " }
}

/// Puts a number where `write!` would. Debug information is thousands of them, for which that takes several times as long.
fn decimal(out: &mut Vec<u8>, value: u64) {
    let (mut digits, mut first, mut rest) = ([0; 20], 20, value);
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// Scopes nested deeper than this are not indented further, so that the text stays linear in the tree.
const MAX_INDENT: usize = 16;

impl Printer<'_> {
    fn items(&mut self, items: &[Item]) -> fmt::Result {
        let m = self.module;
        for item in items {
            match *item {
                Item::Version(version) => writeln!(self.out, ".version {version}")?,
                Item::Target(names) => writeln!(self.out, ".target {}", m.commas(&m[names]))?,
                Item::AddressSize(size) => writeln!(self.out, ".address_size {size}\n")?,
                Item::File(file) => {
                    write!(self.out, ".file {} {}", file.index, Quoted(&m[file.name]))?;
                    for number in [file.timestamp, file.size].into_iter().flatten() {
                        write!(self.out, ", {number}")?;
                    }
                    self.out.push('\n');
                }
                Item::Pragma(strings) => self.pragma(strings)?,
                Item::Section(section) => self.section(section)?,
                Item::IntermediateSource(blocks) => self.intermediate_source(blocks)?,
                Item::Variable(decl) => {
                    self.decl(&m[decl])?;
                    self.out.push_str(";\n");
                }
                Item::Function(function) => self.function(&m[function])?,
                Item::Alias { alias, aliasee } => {
                    writeln!(self.out, ".alias {}, {};", &m[alias], &m[aliasee])?
                }
            }
        }
        Ok(())
    }

    fn pragma(&mut self, strings: List<Symbol>) -> fmt::Result {
        let strings: Vec<String> =
            self.module[strings].iter().map(|s| Quoted(&self.module[*s]).to_string()).collect();
        writeln!(self.out, ".pragma {};", strings.join(", "))
    }

    fn section(&mut self, section: Section) -> fmt::Result {
        let m = self.module;
        writeln!(self.out, ".section {} {{", &m[section.name])?;
        for piece in &m[section.data] {
            match *piece {
                Data::Label(name) => writeln!(self.out, "{}:", &m[name])?,
                // Short lines, as every assembler prints them; no blanks, because nobody reads the many numbers.
                Data::Bytes(bytes) => {
                    for line in m[bytes].chunks(32) {
                        self.out.push_str(".b8 ");
                        let mut numbers = Vec::with_capacity(32 * b"255,".len());
                        for (i, byte) in line.iter().enumerate() {
                            if i > 0 {
                                numbers.push(b',');
                            }
                            decimal(&mut numbers, u64::from(*byte));
                        }
                        self.out.push_str(std::str::from_utf8(&numbers).map_err(|_| fmt::Error)?);
                        self.out.push('\n');
                    }
                }
                Data::Values { bits, values } => {
                    write!(self.out, ".b{bits} ")?;
                    let mut number = Vec::with_capacity(20);
                    for (i, value) in m[values].iter().enumerate() {
                        self.out.push_str(if i == 0 { "" } else { "," });
                        match *value {
                            DataValue::Int(value) => {
                                number.clear();
                                decimal(&mut number, value);
                                self.out.push_str(std::str::from_utf8(&number).map_err(|_| fmt::Error)?);
                            }
                            DataValue::Address { name, offset } => {
                                self.out.push_str(&m[name]);
                                self.offset(offset)?;
                            }
                            DataValue::Difference { end, start } => {
                                write!(self.out, "{}-{}", &m[end], &m[start])?
                            }
                        }
                    }
                    self.out.push('\n');
                }
            }
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        let m = self.module;
        self.linkage(function.linkage);
        self.out.push_str(match function.kind {
            FunctionKind::Entry => ".entry ",
            FunctionKind::Func => ".func ",
        });
        if let Some(Unified(a, b)) = function.unified {
            write!(self.out, ".attribute(.unified({a}, {b})) ")?;
        }
        self.returns(function.returns)?;
        self.out.push_str(&m[function.name]);
        self.params(function.params, true)?;
        self.directives(function.directives)?;
        match function.body {
            None => self.out.push_str(";\n\n"),
            Some(body) => {
                self.out.push_str("\n{\n");
                self.depth = 1;
                self.body(&m[body])?;
                self.depth = 0;
                self.out.push_str("}\n\n");
            }
        }
        Ok(())
    }

    fn returns(&mut self, returns: List<Decl>) -> fmt::Result {
        if !returns.is_empty() {
            self.params(returns, false)?;
            self.out.push(' ');
        }
        Ok(())
    }

    fn params(&mut self, params: List<Decl>, lines: bool) -> fmt::Result {
        let lines = lines && !params.is_empty();
        self.out.push('(');
        for (i, decl) in self.module[params].iter().enumerate() {
            match (i == 0, lines) {
                (true, true) => write!(self.out, "\n{}", self.indent)?,
                (true, false) => {}
                (false, true) => write!(self.out, ",\n{}", self.indent)?,
                (false, false) => self.out.push_str(", "),
            }
            self.decl(decl)?;
        }
        self.out.push_str(if lines { "\n)" } else { ")" });
        Ok(())
    }

    fn intermediate_source(&mut self, blocks: List<CodeBlock>) -> fmt::Result {
        self.out.push_str(".nv_intermediate_source_section {\n");
        for &CodeBlock { ir_name, file, text } in &self.module[blocks] {
            let m = self.module;
            writeln!(self.out, ".code_block {{\n.ir_name: {}\n.sourceFileName: {file}", Quoted(&m[ir_name]))?;
            // The text is what stands between the words, blanks included.
            writeln!(self.out, ".source_begin{}.source_end\n}}", &m[text])?;
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn directives(&mut self, directives: List<Directive>) -> fmt::Result {
        for directive in &self.module[directives] {
            self.out.push(' ');
            match *directive {
                Directive::MaxNReg(n) => write!(self.out, ".maxnreg {n}")?,
                Directive::MaxNTid(dims) => write!(self.out, ".maxntid {dims}")?,
                Directive::ReqNTid(dims) => write!(self.out, ".reqntid {dims}")?,
                Directive::MinNCtaPerSm(n) => write!(self.out, ".minnctapersm {n}")?,
                Directive::MaxNCtaPerSm(n) => write!(self.out, ".maxnctapersm {n}")?,
                Directive::ReqNCtaPerCluster(dims) => write!(self.out, ".reqnctapercluster {dims}")?,
                Directive::ExplicitCluster => self.out.push_str(".explicitcluster"),
                Directive::MaxClusterRank(n) => write!(self.out, ".maxclusterrank {n}")?,
                Directive::BlocksAreClusters => self.out.push_str(".blocksareclusters"),
                Directive::Language(languages) => write!(self.out, ".language {languages}")?,
                Directive::MinPerCtaMemory(n) => write!(self.out, ".minperctamemory {n}")?,
                Directive::NoReturn => self.out.push_str(".noreturn"),
                Directive::AbiPreserve(n) => write!(self.out, ".abi_preserve {n}")?,
                Directive::AbiPreserveControl(n) => write!(self.out, ".abi_preserve_control {n}")?,
                Directive::Pragma(strings) => {
                    self.pragma(strings)?;
                    self.out.pop();
                }
            }
        }
        Ok(())
    }

    fn linkage(&mut self, linkage: Linkage) {
        if let Some(name) = linkage.name() {
            self.out.push('.');
            self.out.push_str(name);
            self.out.push(' ');
        }
    }

    fn decl(&mut self, decl: &Decl) -> fmt::Result {
        self.linkage(decl.linkage);
        if decl.space != StateSpace::Generic {
            write!(self.out, ".{}", decl.space)?;
            if let Some(bank) = decl.bank {
                write!(self.out, "[{bank}]")?;
            }
            self.out.push(' ');
        }
        if let Some(align) = decl.align {
            write!(self.out, ".align {align} ")?;
        }
        if decl.managed {
            self.out.push_str(".attribute(.managed) ");
        }
        if let Some(Unified(a, b)) = decl.unified {
            write!(self.out, ".attribute(.unified({a}, {b})) ")?;
        }
        if decl.vector != 1 {
            write!(self.out, ".v{} ", decl.vector)?;
        }
        write!(self.out, ".{} ", decl.ty)?;
        if let Some(Ptr { to, align }) = decl.ptr {
            self.out.push_str(".ptr ");
            match to {
                PtrTo::Space(StateSpace::Generic) => {}
                PtrTo::Space(space) => write!(self.out, ".{space} ")?,
                PtrTo::Opaque(ty) => write!(self.out, ".{ty} ")?,
            }
            if let Some(align) = align {
                write!(self.out, ".align {align} ")?;
            }
        }
        if let Some(align) = decl.late_align {
            write!(self.out, ".align {align} ")?;
        }
        self.declarators(decl.names)
    }

    fn declarators(&mut self, names: List<Declarator>) -> fmt::Result {
        let m = self.module;
        for (i, declarator) in m[names].iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.out.push_str(&m[declarator.name]);
            if let Some(count) = declarator.count {
                write!(self.out, "<{count}>")?;
            }
            for dim in &m[declarator.dims] {
                match dim {
                    Some(size) => write!(self.out, "[{size}]")?,
                    None => self.out.push_str("[]"),
                }
            }
            if let Some(init) = declarator.init {
                self.out.push_str(" = ");
                self.init(m[init])?;
            }
        }
        Ok(())
    }

    fn init(&mut self, init: Init) -> fmt::Result {
        let m = self.module;
        match init {
            Init::Const(value) => write!(self.out, "{value}"),
            Init::Address { name, generic, offset } => self.init_address(name, generic, offset),
            Init::Mask(mask) => {
                let Mask { mask, of } = m[mask];
                write!(self.out, "{mask:#x}(")?;
                match of {
                    MaskOf::Int(value) => write!(self.out, "{value}")?,
                    MaskOf::Address { name, generic, offset } => self.init_address(name, generic, offset)?,
                }
                self.out.push(')');
                Ok(())
            }
            Init::List(list) => {
                self.out.push('{');
                for (i, element) in m[list].iter().enumerate() {
                    self.out.push_str(if i == 0 { "" } else { ", " });
                    self.init(*element)?;
                }
                self.out.push('}');
                Ok(())
            }
            Init::Bytes(bytes) => write!(self.out, "{{{}}}", Commas(&m[bytes])),
            Init::Ints(ints) => write!(self.out, "{{{}}}", Commas(&m[ints])),
            Init::Field { name, value } => match value {
                FieldValue::Name(value) => write!(self.out, "{} = {}", &m[name], &m[value]),
                FieldValue::Const(value) => write!(self.out, "{} = {value}", &m[name]),
            },
        }
    }

    fn init_address(&mut self, name: Symbol, generic: bool, offset: i64) -> fmt::Result {
        let name = &self.module[name];
        if generic {
            write!(self.out, "generic({name})")?
        } else {
            self.out.push_str(name)
        }
        self.offset(offset)
    }

    fn body(&mut self, body: &[Stmt]) -> fmt::Result {
        let m = self.module;
        for stmt in body {
            self.depth -= usize::from(matches!(stmt, Stmt::Close) && self.depth > 1);
            let indent = match stmt {
                Stmt::Label(_) => self.depth - 1,
                // In the margin, out of the code's way.
                Stmt::Loc(_) | Stmt::LocIntermediate(_) => 0,
                _ => self.depth,
            };
            self.out.extend(std::iter::repeat_n(self.indent, indent.min(MAX_INDENT)));
            match *stmt {
                Stmt::Open => {
                    self.out.push('{');
                    self.depth += 1;
                }
                Stmt::Close => self.out.push('}'),
                Stmt::Decl(decl) => {
                    self.decl(&m[decl])?;
                    self.out.push(';');
                }
                Stmt::Label(name) => {
                    self.out.push_str(&m[name]);
                    self.out.push(':');
                }
                Stmt::Inst(inst) => self.inst(inst)?,
                Stmt::Loc(Loc { at, inlined }) => {
                    write!(self.out, ".loc {at}")?;
                    if let Some(inlined) = inlined {
                        let Inlined { function_name, offset, at } = m[inlined];
                        write!(self.out, ",function_name {}", &m[function_name])?;
                        if offset != 0 {
                            write!(self.out, "+{offset}")?;
                        }
                        write!(self.out, ",inlined_at {at}")?;
                    }
                }
                Stmt::LocIntermediate(at) => write!(self.out, ".loc_intermediate {at}")?,
                Stmt::Pragma(strings) => {
                    self.pragma(strings)?;
                    self.out.pop();
                }
                Stmt::BranchTargets { name, targets } => {
                    write!(self.out, "{}: .branchtargets ", &m[name])?;
                    self.declarators(targets)?;
                    self.out.push(';');
                }
                Stmt::CallTargets { name, targets } => {
                    write!(self.out, "{}: .calltargets ", &m[name])?;
                    self.declarators(targets)?;
                    self.out.push(';');
                }
                Stmt::CallPrototype(prototype) => {
                    let Prototype { name, returns, params, directives } = m[prototype];
                    write!(self.out, "{}: .callprototype ", &m[name])?;
                    self.returns(returns)?;
                    self.out.push_str("_ ");
                    self.params(params, false)?;
                    self.directives(directives)?;
                    self.out.push(';');
                }
                Stmt::Target(names) => write!(self.out, ".target {}", m.commas(&m[names]))?,
            }
            self.out.push('\n');
        }
        Ok(())
    }

    fn inst(&mut self, inst: Inst) -> fmt::Result {
        let m = self.module;
        if let Some(guard) = inst.guard {
            write!(self.out, "@{}{} ", if guard.negated() { "!" } else { "" }, &m[guard.predicate()])?;
        }
        self.out.push_str(&m[inst.mnemonic]);
        for (i, operand) in m[inst.operands].iter().enumerate() {
            self.out.push_str(if i == 0 { " " } else { ", " });
            self.operand(*operand)?;
        }
        self.out.push(';');
        Ok(())
    }

    fn operand(&mut self, operand: Operand) -> fmt::Result {
        let m = self.module;
        match operand {
            Operand::Name(name) => self.out.push_str(&m[name]),
            Operand::Const(value) => write!(self.out, "{value}")?,
            Operand::Component { name, selector } => write!(self.out, "{}.{}", &m[name], &m[selector])?,
            Operand::Offset { name, offset } => {
                // The `+` is what makes it an offset, so it stays at zero.
                write!(self.out, "{}+{offset}", &m[name])?;
            }
            Operand::AddressName(name) => write!(self.out, "[{}]", &m[name])?,
            Operand::Address { name, offset } => write!(self.out, "[{}+{offset}]", &m[name])?,
            Operand::AddressConst(address) => write!(self.out, "[{address}]")?,
            Operand::Bracket(list) => self.operands('[', list, ", ", "]")?,
            Operand::Vector(list) => self.operands('{', list, ", ", "}")?,
            Operand::Group(list) => self.operands('(', list, ", ", ")")?,
            Operand::Index(list) => {
                let [name, index] = m[list] else { return Ok(()) };
                self.operand(name)?;
                self.out.push('[');
                self.operand(index)?;
                self.out.push(']');
            }
            Operand::Pair(list) => {
                for (i, half) in m[list].iter().enumerate() {
                    self.out.push_str(if i == 0 { "" } else { "|" });
                    self.operand(*half)?;
                }
            }
            Operand::Not(inner) => {
                self.out.push('!');
                self.operand(m[inner])?;
            }
            Operand::Unified(inner) => {
                self.operand(m[inner])?;
                self.out.push_str(".unified");
            }
            Operand::Neg(inner) => {
                self.out.push('-');
                self.operand(m[inner])?;
            }
        }
        Ok(())
    }

    fn operands(&mut self, open: char, list: List<Operand>, separator: &str, close: &str) -> fmt::Result {
        self.out.push(open);
        for (i, operand) in self.module[list].iter().enumerate() {
            self.out.push_str(if i == 0 { "" } else { separator });
            self.operand(*operand)?;
        }
        self.out.push_str(close);
        Ok(())
    }

    /// `+4`, or nothing for zero. A negative offset keeps its `+`: `name-4` is not PTX.
    fn offset(&mut self, offset: i64) -> fmt::Result {
        if offset == 0 { Ok(()) } else { write!(self.out, "+{offset}") }
    }
}

impl Module {
    fn commas(&self, names: &[Symbol]) -> String {
        names.iter().map(|name| &self[*name]).collect::<Vec<_>>().join(", ")
    }
}

/// Values with commas between them.
struct Commas<'a, T>(&'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            value.fmt(f)?;
        }
        Ok(())
    }
}

/// A string literal. PTX has no escapes: the text between the quotes is the string.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

impl Display for Const {
    /// As PTX writes it, so that it reads back as the same constant.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // `u64` is what a literal past `i64` has anyway.
            Const::Int { bits, unsigned: true } if bits > i64::MAX as u64 => write!(f, "{bits}"),
            Const::Int { bits, unsigned: true } => write!(f, "{bits}U"),
            // The literal 9223372036854775808 is unsigned, and so is its negation.
            Const::Int { bits: 0x8000_0000_0000_0000, unsigned: false } => {
                f.write_str("(.s64)9223372036854775808")
            }
            Const::Int { bits, unsigned: false } => write!(f, "{}", bits as i64),
            Const::F32(bits) => write!(f, "0f{bits:08X}"),
            Const::F64(bits) => write!(f, "0d{bits:016X}"),
        }
    }
}

impl Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Commas(&self.size[..usize::from(self.written).clamp(1, 3)]).fmt(f)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.file, self.line, self.column)
    }
}
