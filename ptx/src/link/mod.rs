//! Linking: several modules become one, as by nvlink, but in PTX.
//!
//! - `.version` is the latest of them, `.target` the highest; targets with features of one architecture go with lower ones only.
//! - A symbol has at most one strong definition (`.visible`, `.entry`); it hides `.weak` and `.common` ones. Of several `.common` ones the largest counts,
//!   of several `.weak` ones the first.
//! - `.extern` declarations find their definition, whose parameters, results (but for [`Options::allow_missing_results`]) or size must be theirs. What none of the modules defines is an error with its
//!   users, unless [`Options::allow_undefined`] or the system defines it (`vprintf`, `malloc`, ..).
//! - Names that only their own module sees, and names of debug sections, get a suffix where another module has them too.
//! - With [`Options::keep`], what those symbols do not reach is left out.
//! - `.file` numbers stay where they are free, and are changed together with `.loc` where they are not. Debug sections of one name are joined, and
//!   offsets into them moved. (Numbers of files inside of `.debug_info`, `DW_AT_decl_file`, are not changed with them.)
//!
//! Declarations come first, then variables, functions, aliases, sections, each in the order of the modules, except that a variable stands behind
//! those whose addresses are in its initialiser.

mod join;
mod reach;
mod symbols;

use crate::tree::Module;
use crate::{Refusal, ValidatedModule, codes};
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith_isa::Target;

/// How to link.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The symbols that must stay, with what they need. Empty: everything stays.
    pub keep: Vec<String>,
    /// Leave `.extern` what no module defines, in place of an error.
    pub allow_undefined: bool,
    /// Take a declaration with results whose definition has none: the calls lose theirs, and what reads them reads what nobody has written. The linker of a
    /// driver takes that, nvlink does not.
    pub allow_missing_results: bool,
}

/// Links modules. The errors are about one module each, in their order; those about none have no source.
///
/// ```
/// use warpsmith_diag::Source;
/// use warpsmith_ptx::{ValidatedModule, link};
/// let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
/// let a = format!("{head}.extern .func f();\n.visible .entry k() {{ call f; ret; }}\n");
/// let b = format!("{head}.visible .func f() {{ ret; }}\n");
/// let modules = [ValidatedModule::parse(Source::new("a.ptx", a)).unwrap(), ValidatedModule::parse(Source::new("b.ptx", b)).unwrap()];
/// let linked = link::link(&modules, &link::Options::default()).unwrap();
/// assert!(!linked.source().text().contains(".extern"));
///
/// let errors = link::link(&modules[..1], &link::Options::default()).unwrap_err();
/// assert!(errors[0].to_string().contains("no module defines `f`"));
/// ```
pub fn link(modules: &[ValidatedModule], options: &Options) -> Result<ValidatedModule, Vec<Diagnostics>> {
    let mut findings = Findings { modules, of_module: vec![Vec::new(); modules.len()], general: Vec::new() };
    let target = target(modules, &mut findings);
    let table = symbols::Table::new(modules, options, &mut findings);
    let reach = reach::Reach::new(modules, &table, options, &mut findings);
    if findings.any() {
        return Err(findings.into_diagnostics());
    }
    let version = modules.iter().map(|module| module.version()).max();
    let joined: Module = match join::join(modules, &table, &reach, version, target, &mut findings) {
        Some(joined) if !findings.any() => joined,
        _ => return Err(findings.into_diagnostics()),
    };
    let names: Vec<&str> = modules.iter().map(|module| module.source().name()).collect();
    let source = Source::new(format!("{}, linked", names.join(" + ")), crate::print(&joined));
    match ValidatedModule::parse_or_version(source) {
        Ok(linked) => Ok(linked),
        // The latest of their versions serves each part: this is what the checks above did not see.
        Err(Refusal::Findings(found)) => Err(vec![found]),
        Err(Refusal::Version(later)) => {
            let message = format!("the linked module needs .version {later}");
            Err(vec![Diagnostics::new(
                Source::none(),
                vec![Diagnostic::error(codes::LINK_TARGET, Span::NONE, message)],
            )])
        }
    }
}

/// What is wrong, by module.
struct Findings<'m> {
    modules: &'m [ValidatedModule],
    of_module: Vec<Vec<Diagnostic>>,
    general: Vec<Diagnostic>,
}

impl Findings<'_> {
    fn any(&self) -> bool {
        !self.general.is_empty() || self.of_module.iter().any(|found| !found.is_empty())
    }

    fn add(&mut self, module: usize, finding: Diagnostic) {
        self.of_module[module].push(finding);
    }

    /// A place in a module, in words for a finding about another one.
    fn place(&self, module: usize, span: Span) -> String {
        let source = self.modules[module].source();
        if span.is_none() || source.is_none() {
            return format!("in {}", source.name());
        }
        format!("at {}:{}", source.name(), source.position(span.start))
    }

    fn into_diagnostics(self) -> Vec<Diagnostics> {
        let of_modules = self.of_module.into_iter().zip(self.modules);
        let mut all: Vec<Diagnostics> = of_modules
            .filter(|(found, _)| !found.is_empty())
            .map(|(found, module)| Diagnostics::new(module.source().clone(), found))
            .collect();
        if !self.general.is_empty() {
            all.push(Diagnostics::new(Source::none(), self.general));
        }
        all
    }
}

/// The highest target, and the address size, which must be one.
fn target(modules: &[ValidatedModule], findings: &mut Findings<'_>) -> Option<Target> {
    let Some(highest) = (0..modules.len()).max_by_key(|n| modules[*n].target()) else {
        findings.general.push(Diagnostic::error(codes::LINK_TARGET, Span::NONE, "no module to link"));
        return None;
    };
    let target = modules[highest].target();
    for (n, module) in modules.iter().enumerate() {
        let own = module.target();
        // Code for one architecture runs on that one alone; other code runs on it and later ones.
        let special = own != Target::sm(own.sm);
        if special && own != target && own.sm != target.sm {
            let other = modules[highest].source().name();
            let message = format!("a module for {own} cannot be linked with {other}, which is for {target}");
            findings.add(
                n,
                Diagnostic::error(codes::LINK_TARGET, Span::NONE, message)
                    .note(format!("{own} has features that later targets do not have")),
            );
        }
    }
    Some(target)
}
