//! The printer: from the tree to text that [`parse`](crate::parse) turns into the same tree.

mod body;
mod decl;
mod position;
mod value;

use crate::codes;
use crate::parallel::threads;
use crate::tree::*;
use position::{Header, Positioned, Positions};
use rayon::prelude::*;
use std::fmt::{self, Write};
use std::ops::Range;
use value::{Quoted, decimal};
use warpsmith_base::even_parts;
use warpsmith_diag::{Diagnostic, Span};

/// The text of a module. Parsing it gives an equal module, provided that its names are names and its lists lie within
/// the shapes that PTX has; what the parser made is always so.
pub fn print(module: &Module) -> String {
    shares(module, false).map(|share| share.out).reduce(|text, share| text + &share).unwrap_or_default()
}

/// As [`print()`], and gives the parts of the module the positions in the text that [`parse`](crate::parse) would find them at. A text of 4 GiB or
/// more, which the parser does not take, has none.
///
/// ```
/// use warpsmith_ptx::{parse, print_located};
/// let mut module = parse(".version  8.0   .target sm_80   .address_size 64   .global .b32 x;").module;
/// let text = print_located(&mut module);
/// let span = module.item_span(3);
/// assert_eq!(&text[span.start as usize..span.end as usize], ".global .b32 x;");
/// ```
pub fn print_located(module: &mut Module) -> String {
    let mut text = String::new();
    let mut found = Vec::new();
    for Share { out, positions, first_item } in shares(module, true) {
        found.extend(positions.map(|positions| (positions, first_item, text.len())));
        text = if text.is_empty() { out } else { text + &out };
    }
    module.marks = Marks { lost: std::mem::take(&mut module.marks.lost), ..Marks::default() };
    if text.len() < u32::MAX as usize {
        for (positions, first_item, base) in found {
            positions.apply(module, first_item, base as u32);
        }
    }
    text
}

/// Reads the text of a module that was printed again, and compares: the tree must be the same, with everything where [`print_located`] says that
/// it is. A difference is a mistake of whoever built the module, of the printer or of the parser.
pub fn check_printed(module: &Module, text: &str) -> Result<(), Vec<Diagnostic>> {
    let parsed = crate::parse(text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parsed.diagnostics);
    }
    // What was read has the arenas of the parser, so only its own copy can be compared place by place; equal trees are printed alike.
    let mut located = parsed.module.clone();
    let again = print_located(&mut located);
    let found = if parsed.module != *module || again != text {
        "the text of this module reads back as another module"
    } else if !parsed.module.has_places_of(&located) {
        "the parts of this module are not where its printer says"
    } else {
        return Ok(());
    };
    Err(vec![Diagnostic::error(codes::READ_BACK, Span::NONE, found)])
}

/// Fewer statements are not worth a thread.
const STATEMENTS: usize = 16 << 10;

/// A part of the text.
struct Share {
    out: String,
    /// Where what is in it stands, counted from its beginning, if that was asked for.
    positions: Option<Positions>,
    first_item: usize,
}

/// The parts of the text of a module, one for each thread that is worth it.
fn shares(module: &Module, located: bool) -> impl Iterator<Item = Share> {
    let threads = threads(module.stmts.len() / STATEMENTS);
    let print = |items: Range<usize>| {
        let first_item = items.start;
        let items = &module.items[items];
        let positions = located.then(|| Positions::with_room(module, threads));
        let out = String::with_capacity(module.stmts.len() / threads * 32);
        let mut printer = Printer { module, out, positions, depth: 0, indent: indent(module) };
        let written = printer.items(items);
        debug_assert!(written.is_ok(), "a String takes everything");
        Share { out: printer.out, positions: printer.positions, first_item }
    };
    let cuts = cuts(module, threads);
    // The pool is left alone where there is one part.
    let shares: Vec<Share> = match cuts.len() {
        0 | 1 => cuts.into_iter().map(print).collect(),
        _ => cuts.into_par_iter().map(print).collect(),
    };
    shares.into_iter()
}

/// The items in so many parts or fewer, of about as many statements each: declarations may all be at the top.
fn cuts(module: &Module, parts: usize) -> Vec<Range<usize>> {
    let size = |item: &Item| match *item {
        Item::Function(id) => 1 + module[id].body.map_or(0, |body| body.len()),
        Item::Section(section) => 1 + section.data.len(),
        Item::Version(_)
        | Item::Target(_)
        | Item::AddressSize(_)
        | Item::File(_)
        | Item::Pragma(_)
        | Item::IntermediateSource(_)
        | Item::Variable(_)
        | Item::Alias { .. } => 1,
    };
    even_parts(module.items.iter().map(size), parts)
}

struct Printer<'a> {
    module: &'a Module,
    out: String,
    /// Where what was printed stands, if that is asked for.
    positions: Option<Positions>,
    depth: usize,
    indent: &'static str,
}

/// What lines in a scope begin with: with debug information, whose text is long, as little as can be.
fn indent(module: &Module) -> &'static str {
    let debug = module.items.iter().any(|item| matches!(item, Item::Section(_)));
    if debug { "\t" } else { "    " }
}

/// Scopes nested deeper than this are not indented further, so that the text stays linear in the tree.
const MAX_INDENT: usize = 16;

impl Printer<'_> {
    /// From a position to the end of what has been printed. Where it matters, the text fits 32 bits.
    fn since(&self, start: usize) -> Span {
        Span::new(start as u32, self.out.len() as u32)
    }

    /// Notes that something stands between a position and the end of what has been printed.
    fn place<T: Positioned>(&mut self, what: Id<T>, start: usize) {
        let span = self.since(start);
        if let Some(positions) = &mut self.positions {
            T::positions(positions).push((what, span));
        }
    }

    fn items(&mut self, items: &[Item]) -> fmt::Result {
        let m = self.module;
        for item in items {
            let start = self.out.len();
            match *item {
                Item::Version(version) => {
                    self.out.push_str(".version ");
                    let start = self.out.len();
                    write!(self.out, "{version}")?;
                    let span = self.since(start);
                    if let Some(positions) = &mut self.positions {
                        positions.version(span);
                    }
                    self.out.push('\n');
                }
                Item::Target(names) => {
                    self.out.push_str(".target ");
                    let start = self.out.len();
                    if let (Some(positions), Some(first)) = (&mut self.positions, m[names].first()) {
                        positions.target(Span::new(start as u32, (start + m[*first].len()) as u32));
                    }
                    writeln!(self.out, "{}", m.commas(&m[names]))?;
                }
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
                    self.decl(decl)?;
                    self.out.push_str(";\n");
                }
                Item::Function(function) => self.function(function)?,
                Item::Alias { alias, aliasee } => {
                    writeln!(self.out, ".alias {}, {};", &m[alias], &m[aliasee])?
                }
            }
            let span = Span::new(start as u32, self.out.trim_end_matches('\n').len() as u32);
            if let Some(positions) = &mut self.positions {
                positions.item(span);
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
        for id in section.data.ids() {
            let mut start = self.out.len();
            match m[id] {
                Data::Label(name) => {
                    self.out.push_str(&m[name]);
                    self.out.push_str(":\n");
                }
                // Short lines, as every assembler prints them; no blanks, because nobody reads the many numbers.
                Data::Bytes(bytes) => {
                    for line in m[bytes].chunks(32) {
                        self.out.push_str(".b8 ");
                        for (i, byte) in line.iter().enumerate() {
                            if i > 0 {
                                self.out.push(',');
                            }
                            decimal(&mut self.out, u64::from(*byte))?;
                        }
                        self.out.push('\n');
                    }
                    // A run of bytes is known to be one where it ends, and stands there.
                    start = self.out.len() - 1;
                }
                Data::Values { bits, values } => {
                    write!(self.out, ".b{bits} ")?;
                    for (i, value) in m[values].iter().enumerate() {
                        self.out.push_str(if i == 0 { "" } else { "," });
                        match *value {
                            DataValue::Int(value) => decimal(&mut self.out, value)?,
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
            let span = Span::new(start as u32, self.out.len() as u32 - 1);
            if let Some(positions) = &mut self.positions {
                Data::positions(positions).push((id, span));
            }
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn function(&mut self, id: Id<Function>) -> fmt::Result {
        let m = self.module;
        let function = &m[id];
        let start = self.out.len();
        self.linkage(function.linkage);
        self.out.push_str(match function.kind {
            FunctionKind::Entry => ".entry ",
            FunctionKind::Func => ".func ",
        });
        if let Some(Unified(a, b)) = function.unified {
            write!(self.out, ".attribute(.unified({a}, {b})) ")?;
        }
        self.returns(function.returns)?;
        let named = self.out.len();
        self.out.push_str(&m[function.name]);
        let name = self.since(named);
        self.params(function.params, true)?;
        self.directives(function.directives)?;
        let whole = self.since(start);
        if let Some(positions) = &mut self.positions {
            positions.function(id, Header { whole, name });
        }
        match function.body {
            None => self.out.push_str(";\n\n"),
            Some(body) => {
                self.out.push_str("\n{\n");
                self.depth = 1;
                self.body(body)?;
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
        for (i, decl) in params.ids().enumerate() {
            match (i == 0, lines) {
                (true, true) => self.out.push('\n'),
                (true, false) => {}
                (false, true) => self.out.push_str(",\n"),
                (false, false) => self.out.push_str(", "),
            }
            self.out.push_str(if lines { self.indent } else { "" });
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
        for id in directives.ids() {
            self.out.push(' ');
            let start = self.out.len();
            match self.module[id] {
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
            self.place(id, start);
        }
        Ok(())
    }
}

impl Module {
    fn commas(&self, names: &[Symbol]) -> String {
        names.iter().map(|name| &self[*name]).collect::<Vec<_>>().join(", ")
    }
}
