//! The validator: is the module one that ptxas takes?
//!
//! Rules by file: `prologue` (versions and targets), `decl` (variables and registers), `init` (initial values),
//! `function` (headers, redeclarations, directives), `inst` (instructions, validated by [`warpsmith_isa`]), `address` (what that cannot know of them),
//! `call` (calls against signatures), `debug` (`.file`, `.loc`, `.section`, `.pragma`).
//!
//! Invariants:
//! - All errors are reported, each once: a name that is not declared, or a feature that the target lacks, is reported at its first use with a count
//!   (`repeat`), and spoils nothing else.
//! - One pass in the order of the text, as PTX demands declaration before use; only labels are seen ahead. The bodies of a large module
//!   are looked at by several threads first, and the pass is needed only if one of them finds something (`parallel`).

mod accepted;
mod address;
mod call;
mod debug;
mod decl;
mod function;
mod init;
mod inst;
mod operand;
mod parallel;
mod prologue;
mod repeat;
mod resolution;
mod validated;

use crate::codes;
use crate::scope::{Binding, Bound, Clash, Scopes};
use crate::tree::*;
use resolution::Resolutions;
pub use validated::{Refusal, Rejected, ValidatedModule};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::memory::Layout;
use warpsmith_isa::{Change, Context, Demand, Mnemonic, Release, Resolved, StateSpace, Target, Version};

/// The number of errors that are reported at most.
const MAX_ERRORS: usize = 500;

/// The number of warnings that are reported at most.
const MAX_WARNINGS: usize = 100;

/// Everything that is wrong with a module, and warnings, in the order of the text.
///
/// ```
/// let parsed = warpsmith_ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 x, x;");
/// let findings = warpsmith_ptx::validate(&parsed.module);
/// assert_eq!(findings[0].message, "`x` is declared twice in the same scope");
/// ```
pub fn validate(module: &Module) -> Vec<Diagnostic> {
    Known::of(module, Question::default()).findings
}

/// As [`validate`], by the verdicts of one release of ptxas.
pub fn validate_as(module: &Module, release: Option<Release>) -> Vec<Diagnostic> {
    Known::of(module, Question { release, ..Question::default() }).findings
}

/// What is asked of a module.
#[derive(Clone, Copy, Default)]
struct Question {
    later: Later,
    /// The release of ptxas whose verdict counts; `None`: all that know the version.
    release: Option<Release>,
}

/// What becomes of what only a later `.version` has.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Later {
    /// An error.
    #[default]
    Refused,
    /// The version is looked for in which ptxas accepts the module.
    Sought,
    /// The version is looked for in which the manual has all that the module uses, though ptxas may accept it in a lower one.
    SoughtInManual,
}

/// What the validator learns about a module.
struct Known {
    findings: Vec<Diagnostic>,
    /// The version that it ought to have.
    sought: Option<Version>,
    context: Context,
    resolutions: Resolutions,
}

impl Known {
    fn of(module: &Module, question: Question) -> Known {
        parallel::finds_no_errors(module, question).unwrap_or_else(|| {
            let mut validator = Validator::new(module, parallel::Share::ALL, question);
            validator.module();
            validator.known()
        })
    }
}

/// What is known of a mnemonic of the module.
#[derive(Default)]
struct KnownMnemonic {
    seen: bool,
    resolved: Option<Box<Resolved>>,
    kind: inst::Kind,
    /// It is an instruction of matrices.
    is_matrix: bool,
    accepted: accepted::Accepted,
}

struct Validator<'m> {
    m: &'m Module,
    diagnostics: Vec<Diagnostic>,
    /// How many warnings there were.
    warnings: usize,
    later: Later,
    /// The lowest version that has what the module's own has not.
    sought: Option<Version>,
    context: Context,
    /// True once the prologue is read: a missing one is reported once.
    has_version: bool,
    has_target: bool,
    /// True if version or target are not known: then nothing is said of what they have.
    unknown_context: bool,
    repeats: repeat::Repeats,
    /// Names whose declarations are wrong, so that nothing is known of what they denote.
    lost: FxHashSet<Symbol>,
    needs_debug: Option<Span>,
    scopes: Scopes<'m>,
    mnemonics: Vec<KnownMnemonic>,
    resolutions: Resolutions,
    /// By name, what a function is so far.
    functions: FxHashMap<Symbol, function::Known>,
    aliases: FxHashMap<Symbol, Symbol>,
    files: FxHashSet<u32>,
    places: FxHashSet<Place>,
    /// The labels of `.section`s.
    data_labels: FxHashMap<Symbol, Span>,
    /// What `.loc` takes function names from, to be looked up at the end.
    function_names: Vec<(Symbol, Span)>,
    constants: Layout,
    /// The first declaration that makes ptxas do without the ABI: of a function with several results, or of a register or local variable
    /// outside of functions. Then calls pass registers of any type, and none is indirect.
    without_abi: Option<Span>,
    in_function: Option<Id<Function>>,
    /// Whose tensor memory the function uses, and where it says so first.
    cta_group: Option<(warpsmith_isa::Mod, Id<Stmt>)>,
    /// What the shared variables of the function take.
    shared: Layout,
    /// The shared variables of the module among them.
    shared_used: FxHashSet<Id<Declarator>>,
    /// Whose bodies it looks at, where several validators share them.
    share: parallel::Share,
    /// True once a body has changed what other bodies are validated by.
    bodies_interact: bool,
}

impl<'m> Validator<'m> {
    fn new(m: &'m Module, share: parallel::Share, Question { later, release }: Question) -> Self {
        let mut mnemonics = Vec::new();
        mnemonics.resize_with(m.mnemonic_count(), KnownMnemonic::default);
        Validator {
            m,
            diagnostics: Vec::new(),
            warnings: 0,
            later,
            sought: None,
            context: Context { release, ..Context::new(Version::LATEST, Target::sm(90)) },
            has_version: false,
            has_target: false,
            unknown_context: false,
            repeats: repeat::Repeats::default(),
            lost: m.marks.lost.clone(),
            needs_debug: None,
            scopes: Scopes::new(m),
            mnemonics,
            resolutions: Resolutions::new(m.mnemonic_count(), share.start()),
            functions: FxHashMap::default(),
            aliases: FxHashMap::default(),
            files: FxHashSet::default(),
            places: FxHashSet::default(),
            data_labels: FxHashMap::default(),
            function_names: Vec::new(),
            constants: Layout::default(),
            without_abi: without_abi(m),
            in_function: None,
            cta_group: None,
            shared: Layout::default(),
            shared_used: FxHashSet::default(),
            share,
            bodies_interact: false,
        }
    }

    fn module(&mut self) {
        self.prologue();
        let m = self.m;
        for (index, item) in m.items.iter().enumerate() {
            let span = m.item_spans[index];
            match *item {
                Item::Version(_) | Item::Target(_) | Item::AddressSize(_) => {}
                Item::File(file) => self.file(file, span),
                Item::Pragma(strings) => self.pragmas(strings, span, debug::Place::Module),
                Item::Section(section) => self.section(section),
                Item::IntermediateSource(blocks) => self.intermediate_source(blocks, span),
                Item::Variable(decl) => self.module_variable(decl),
                Item::Function(function) => self.function(function),
                Item::Alias { alias, aliasee } => self.alias(alias, aliasee, span),
            }
            if self.errors() >= MAX_ERRORS {
                break;
            }
        }
        self.finish_debug();
        self.finish_prologue();
        self.finish_repeats();
        // Labels are validated when their scope opens, some directives at the end.
        self.diagnostics.sort_by_key(|finding| finding.span.start);
    }

    fn known(self) -> Known {
        Known {
            findings: self.diagnostics,
            sought: self.sought,
            context: self.context,
            resolutions: self.resolutions,
        }
    }

    /// The mnemonic of an instruction that is being looked at, if the tables have its words.
    fn mnemonic(&self, inst: Inst) -> Option<&Mnemonic> {
        self.mnemonics[inst.mnemonic.index()].resolved.as_ref().map(|resolved| resolved.mnemonic())
    }

    /// Goes on in a later version, where one is sought; false where what it has is an error.
    fn seek(&mut self, version: Option<Version>) -> bool {
        let later = version.filter(|&version| self.seeks() && version > self.context.version);
        if let Some(version) = later {
            self.sought = later;
            self.context.version = version;
        }
        later.is_some()
    }

    /// True if the version is looked for.
    fn seeks(&self) -> bool {
        match self.later {
            Later::Refused => false,
            Later::Sought | Later::SoughtInManual => true,
        }
    }

    fn report(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.section = diagnostic.section.or_else(|| codes::section(diagnostic.code));
        if !diagnostic.is_error() {
            // Errors must not drown in warnings.
            self.warnings += 1;
            if self.warnings <= MAX_WARNINGS {
                self.diagnostics.push(diagnostic);
            }
            return;
        }
        if self.errors() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        } else if self.errors() == MAX_ERRORS {
            let message = format!("{MAX_ERRORS} errors: the rest of the module is not checked");
            self.diagnostics.push(Diagnostic::error(codes::TOO_MANY, diagnostic.span, message));
        }
    }

    /// The number of errors reported so far.
    fn errors(&self) -> usize {
        self.diagnostics.len() - self.warnings.min(MAX_WARNINGS)
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// Reports a feature of the table of directives that version and target do not have.
    fn gate(&mut self, feature: &str, what: &str, span: Span) {
        let Some(row) = warpsmith_isa::Directive::from_name(feature) else { return };
        self.gate_of(&row.gates, row.section, what, span);
    }

    /// Reports what only some releases of ptxas take, as an error where none in question does.
    fn changed(&mut self, change: Change, span: Span, what: &str) {
        let refused = change.refused();
        match self.context.refuses(change) {
            Demand::None => {}
            Demand::Some => {
                let message = format!("{refused} refuse {what}");
                self.report(Diagnostic::warning(codes::RELEASE, span, message));
            }
            Demand::All => self.error(codes::RELEASE, span, format!("{refused} refuse {what}")),
        }
    }

    /// Where a binding was made.
    fn declared_at(&self, bound: Bound) -> Span {
        match bound.binding {
            Binding::Variable(_, declarator) => self.m[declarator].span,
            Binding::Label(stmt) | Binding::List(stmt) => self.m.stmt_span(stmt),
            Binding::Function(function) => self.m[function].name_span,
            Binding::Special(_) => Span::NONE,
        }
    }

    /// Follows a statement that opens or closes a scope or binds a name.
    fn bind(&mut self, statement: Id<Stmt>) {
        let clashes = self.scopes.follow(statement);
        self.clashes(clashes);
    }

    /// Reports names that are bound already.
    fn clashes(&mut self, clashes: impl IntoIterator<Item = Clash>) {
        for clash in clashes {
            let first = self.declared_at(clash.there);
            let span = self.declared_at(Bound { binding: clash.binding, ..clash.there });
            let error = Diagnostic::error(codes::DUPLICATE, span, clash.message(self.m));
            self.report(error.label(first, "first declared here"));
        }
    }

    /// A name of a message.
    fn name(&self, symbol: Symbol) -> &'m str {
        &self.m[symbol]
    }
}

/// Where a module says first that it does without the ABI.
fn without_abi(m: &Module) -> Option<Span> {
    m.items.iter().find_map(|item| match *item {
        Item::Function(function) => Some(&m[function]).filter(|f| f.returns.len() > 1).map(|f| f.name_span),
        Item::Variable(decl) => {
            Some(&m[decl]).filter(|d| matches!(d.space, StateSpace::Reg | StateSpace::Local)).map(|d| d.span)
        }
        Item::Version(_)
        | Item::Target(_)
        | Item::AddressSize(_)
        | Item::File(_)
        | Item::Pragma(_)
        | Item::IntermediateSource(_)
        | Item::Section(_)
        | Item::Alias { .. } => None,
    })
}

/// True if version and target have a feature of the table of directives.
fn has_feature(feature: &str, context: &Context) -> bool {
    let Context { version, target, .. } = *context;
    warpsmith_isa::Directive::from_name(feature)
        .is_some_and(|row| row.gates.iter().all(|clause| clause.allows(version, target)))
}
