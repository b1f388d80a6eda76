//! Modules that the validator takes, and why it refuses others.

use super::resolution::Resolutions;
use super::{Known, Later, Question};
use crate::codes;
use crate::tree::*;
use std::ops::Deref;
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith_isa::{Context, Instruction, Release, Target, Version};

/// Why a module is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Nothing is wrong but the `.version`: this later one has what is missing, as far as the validator saw.
    Version(Version),
    /// The errors and warnings.
    Findings(Diagnostics),
}

/// A module that was printed and is refused.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The module, with the positions that its parts have in the text.
    pub module: Module,
    /// Its text.
    pub source: Source,
    /// Why it is refused.
    pub refusal: Refusal,
}

/// A module without errors, together with what the validator learnt about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidatedModule {
    module: Module,
    source: Source,
    version: Version,
    target: Target,
    resolutions: Resolutions,
    warnings: Vec<Diagnostic>,
}

impl ValidatedModule {
    /// Validates a module that has no text. The errors and warnings come back if there is an error.
    pub fn new(module: Module) -> Result<Self, Diagnostics> {
        Self::with_source(module, Source::none())
    }

    /// Validates a module whose spans count in `source`. The errors and warnings come back if there is an error.
    fn with_source(module: Module, source: Source) -> Result<Self, Diagnostics> {
        Self::of_release(module, source, None)
    }

    fn of_release(module: Module, source: Source, release: Option<Release>) -> Result<Self, Diagnostics> {
        let question = Question { release, ..Question::default() };
        Self::of(module, source, question).map_err(|rejected| match rejected.refusal {
            Refusal::Findings(findings) => findings,
            // None is sought.
            Refusal::Version(_) => Diagnostics::new(Source::none(), Vec::new()),
        })
    }

    /// Prints and validates a module that was built: where nothing but its `.version` is wrong, the refusal says which one it needs. If it may be
    /// `raised`, that is one in which the manual has all that is used; if not, what ptxas accepts beside the manual is a warning. What it
    /// is about, and what is returned, has the positions in the text that the parser would find ([`print_located`](crate::print_located)).
    ///
    /// That the text reads back as this very module is what the printer promises of every module whose names are names; it is checked by
    /// [`ValidatedModule::check_text`].
    ///
    /// ```
    /// use warpsmith_ptx::{Item, Module, ValidatedModule};
    /// let mut module = Module::default();
    /// module.push_prologue("8.0".parse().unwrap(), "sm_80".parse().unwrap());
    /// let body = module.body(&[]);
    /// let kernel = module.kernel("k", body);
    /// let kernel = module.push_function(kernel);
    /// module.push_item(Item::Function(kernel));
    /// let printed = ValidatedModule::print(module, "k.ptx", true).unwrap();
    /// assert!(printed.source().text().contains(".visible .entry k()"));
    /// assert!(printed.check_text().is_ok());
    /// ```
    pub fn print(mut module: Module, name: impl Into<String>, raised: bool) -> Result<Self, Box<Rejected>> {
        let later = if raised { Later::SoughtInManual } else { Later::Sought };
        let source = Source::new(name, crate::print_located(&mut module));
        if source.text().len() >= u32::MAX as usize {
            let error = Diagnostic::error(codes::TOO_LARGE, Span::NONE, "the text has 4 GiB or more");
            let refusal = Refusal::Findings(Diagnostics::new(source.clone(), vec![error]));
            return Err(Box::new(Rejected { module, source, refusal }));
        }
        Self::of(module, source, Question { later, ..Question::default() })
    }

    /// Reads the text of the module again: [`check_printed`](crate::check_printed).
    pub fn check_text(&self) -> Result<(), Diagnostics> {
        crate::check_printed(&self.module, self.source.text())
            .map_err(|errors| Diagnostics::new(self.source.clone(), errors))
    }

    /// [`ValidatedModule::parse`] of a text whose `.version` may be raised: where nothing else is wrong, the refusal says to which.
    ///
    /// ```
    /// use warpsmith_diag::Source;
    /// use warpsmith_ptx::{Refusal, ValidatedModule};
    /// let text = ".version 7.0\n.target sm_80\n.address_size 64\n.func f() { .reg .b128 q; ret; }";
    /// let refusal = ValidatedModule::parse_or_version(Source::new("f.ptx", text)).unwrap_err();
    /// assert_eq!(refusal, Refusal::Version("8.3".parse().unwrap()));
    /// ```
    pub fn parse_or_version(source: impl Into<Source>) -> Result<Self, Refusal> {
        let source = source.into();
        let parsed = crate::parse(source.text());
        if parsed.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Refusal::Findings(Diagnostics::new(source, parsed.diagnostics)));
        }
        let question = Question { later: Later::Sought, ..Question::default() };
        Self::of(parsed.module, source, question).map_err(|rejected| rejected.refusal)
    }

    fn of(module: Module, source: Source, question: Question) -> Result<Self, Box<Rejected>> {
        let Known { findings, sought, context: Context { version, target, .. }, resolutions } =
            Known::of(&module, question);
        let refusal = if findings.iter().any(Diagnostic::is_error) {
            Refusal::Findings(Diagnostics::new(source.clone(), findings))
        } else if let Some(version) = sought {
            Refusal::Version(version)
        } else {
            let warnings = findings;
            return Ok(ValidatedModule { source, version, target, resolutions, warnings, module });
        };
        Err(Box::new(Rejected { module, source, refusal }))
    }

    /// Parses and validates a text. The errors and warnings come back if there is an error; a text that does not parse
    /// is not validated.
    ///
    /// ```
    /// use warpsmith_ptx::ValidatedModule;
    /// let module = ValidatedModule::parse(".version 8.0\n.target sm_80\n.address_size 64\n")?;
    /// assert_eq!(module.target().to_string(), "sm_80");
    /// let errors = ValidatedModule::parse(".version 8.0\n.target sm_81\n").unwrap_err();
    /// assert!(errors.to_string().contains("sm_81"));
    /// # Ok::<(), warpsmith_diag::Diagnostics>(())
    /// ```
    pub fn parse(source: impl Into<Source>) -> Result<Self, Diagnostics> {
        Self::parse_as(source, None)
    }

    /// [`ValidatedModule::parse`] by the verdicts of one release of ptxas. Where none is named, what every release refuses that knows the `.version`
    /// is an error, and what some refuse a warning.
    ///
    /// ```
    /// use warpsmith_ptx::ValidatedModule;
    /// let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { .reg .b16 a; add.bf16 a, {a}, a; ret; }";
    /// let validated = |release: &str| ValidatedModule::parse_as(text, release.parse().ok());
    /// assert!(validated("13.0").is_ok() && validated("13.5").is_err());
    /// ```
    pub fn parse_as(source: impl Into<Source>, release: Option<Release>) -> Result<Self, Diagnostics> {
        let source = source.into();
        let parsed = crate::parse(source.text());
        if parsed.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Diagnostics::new(source, parsed.diagnostics));
        }
        Self::of_release(parsed.module, source, release)
    }

    /// The text that the module was read from; [`Source::none`] for one that was built.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The `.version`.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The `.target`.
    pub fn target(&self) -> Target {
        self.target
    }

    /// What an instruction of the module was resolved to: its form, its modifiers, which of the form's operands it has. Every instruction has
    /// been resolved; other statements have not.
    ///
    /// ```
    /// use warpsmith_isa::Operation;
    /// use warpsmith_ptx::{Stmt, ValidatedModule};
    /// let text = ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { .reg .f32 a; add.rz.f32 a, a, a; ret; }";
    /// let module = ValidatedModule::parse(text).unwrap();
    /// let body = module.functions().next().and_then(|function| function.body).unwrap();
    /// let add = body.ids().find_map(|stmt| module.instruction(stmt)).unwrap();
    /// assert_eq!(add.operation(), Operation::AddFloat);
    /// assert_eq!(add.rounding(), Some(warpsmith_isa::Rounding::Zero));
    /// ```
    #[expect(clippy::wildcard_enum_match_arm, reason = "only instructions are resolved")]
    pub fn instruction(&self, stmt: Id<Stmt>) -> Option<&Instruction> {
        match self.module[stmt] {
            Stmt::Inst(inst) => self.resolutions.get(stmt, inst.mnemonic),
            _ => None,
        }
    }

    /// What is legal, yet likely a mistake.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The module alone.
    pub fn into_module(self) -> Module {
        self.module
    }
}

impl Deref for ValidatedModule {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.module
    }
}
