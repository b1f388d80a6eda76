//! `.version`, `.target` and `.address_size` (manual 11.1).

use super::{Validator, has_feature};
use crate::codes;
use crate::tree::*;
use warpsmith_diag::nearest;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{Change, Context, Release, TARGETS, Target, Variant, Version};

/// The last version that knows the targets below sm_75.
const LAST_OF_OLD_TARGETS: Version = Version::new(8, 8);

/// From this version on a module for them is one for later GPUs, to all that read it.
const READ_BY_LATER: Version = Version::new(9, 1);

/// The version that sm_88 came with, to releases of ptxas that do not take it earlier.
const FIRST_OF_SM_88: Version = Version::new(9, 0);

impl Validator<'_> {
    /// Reads the directives that must come first, and finds those that come later.
    pub(super) fn prologue(&mut self) {
        let m = self.m;
        let mut items = m.items.iter().zip(&m.item_spans).peekable();
        // In this order, and only these.
        if let Some((Item::Version(version), span)) = items.peek() {
            self.version(*version, **span);
            items.next();
        } else {
            let span = items.peek().map_or(Span::new(0, 0), |(_, span)| **span);
            self.has_version = false;
            let help = "every module begins with `.version`, `.target` and `.address_size`";
            self.report(
                Diagnostic::error(codes::PROLOGUE, span, "the module does not begin with `.version`")
                    .note(help),
            );
        }
        if !matches!(items.peek(), Some((Item::Target(_), _))) {
            let span = items.peek().map_or(Span::new(0, 0), |(_, span)| **span);
            let message = "`.target` must follow `.version`";
            self.error(codes::PROLOGUE, span, message);
        }
        let mut sized = false;
        for (item, span) in items.by_ref() {
            match item {
                Item::Target(names) if !sized => self.target(*names, *span, !self.has_target),
                Item::AddressSize(size) if !sized => {
                    sized = true;
                    self.address_size(*size, *span);
                }
                Item::Target(_) => {
                    self.error(codes::PROLOGUE, *span, "`.target` must come before `.address_size`")
                }
                Item::AddressSize(_) => {
                    self.error(codes::PROLOGUE, *span, "`.address_size` is there already")
                }
                Item::Version(_) => self.error(codes::PROLOGUE, *span, "`.version` is there already"),
                Item::File(_)
                | Item::Pragma(_)
                | Item::Section(_)
                | Item::IntermediateSource(_)
                | Item::Variable(_)
                | Item::Function(_)
                | Item::Alias { .. } => break,
            }
        }
        for (item, span) in items {
            let directive = match item {
                Item::Version(_) => ".version",
                Item::Target(_) => ".target",
                Item::AddressSize(_) => ".address_size",
                Item::File(_)
                | Item::Pragma(_)
                | Item::Section(_)
                | Item::IntermediateSource(_)
                | Item::Variable(_)
                | Item::Function(_)
                | Item::Alias { .. } => continue,
            };
            let message = format!("`{directive}` must come before everything else");
            self.error(codes::PROLOGUE, *span, message);
        }
    }

    fn version(&mut self, version: Version, span: Span) {
        self.has_version = true;
        self.context.version = version;
        let newest = self.context.release.and_then(Release::version);
        if let (Some(release), Some(newest)) = (self.context.release, newest)
            && version > newest
        {
            let span = if self.m.marks.version.is_none() { span } else { self.m.marks.version };
            let message = format!("ptxas {release} does not know PTX version {version}");
            let error = Diagnostic::error(codes::VERSION, span, message);
            self.report(error.suggest("its newest is", span, newest.to_string()));
            self.context.version = version.min(Version::LATEST);
            return;
        }
        if version > Version::LATEST {
            let span = if self.m.marks.version.is_none() { span } else { self.m.marks.version };
            let message = format!("PTX version {version} is newer than those that this validator knows");
            let note = format!("the module is checked as one of version {}", Version::LATEST);
            self.report(Diagnostic::warning(codes::NEWER, span, message).note(note));
            self.context.version = Version::LATEST;
            return;
        }
        if !Version::known().any(|known| known == version) {
            self.unknown_context = true;
            let message = format!("unknown PTX version `{version}`");
            let note = format!("versions {} to {} are known", Version::OLDEST, Version::LATEST);
            let span = if self.m.marks.version.is_none() { span } else { self.m.marks.version };
            let below = Version::known().take_while(|known| *known < version).last();
            let near = below.unwrap_or(Version::OLDEST);
            let error = Diagnostic::error(codes::VERSION, span, message).note(note);
            self.report(error.suggest("the nearest is", span, near.to_string()));
        }
    }

    fn address_size(&mut self, size: u32, span: Span) {
        let target = self.context.target;
        match size {
            64 => {}
            32 => {
                let message = format!("32-bit addresses are not supported for {target}");
                let note = "write `.address_size 64`: toolkits of today compile no other";
                self.report(Diagnostic::error(codes::ADDRESS_SIZE, span, message).note(note));
            }
            _ => self.error(codes::ADDRESS_SIZE, span, format!("the address size is 32 or 64, not {size}")),
        }
    }

    /// Reports a target that came after the module's version.
    fn known_target(&mut self, target: Target, span: Span) {
        let version = self.context.version;
        let Some(since) = target.since().filter(|&since| version < since) else { return };
        if self.seek(Some(since)) {
            return;
        }
        let message = format!("PTX {version} does not know {target}");
        let error = Diagnostic::error(codes::TARGET, span, message);
        let error = error.label(span, format!("{target} needs .version {since} or later"));
        self.report(match self.m.marks.version {
            at if !at.is_none() && self.has_version => error
                .label(at, "the module is written in this version")
                .fix("raise the version", at, since.to_string()),
            _ => error,
        });
    }

    /// `.target`, the first one or a further one, which may only repeat or lower.
    pub(super) fn target(&mut self, names: List<Symbol>, span: Span, first: bool) {
        let m = self.m;
        // Most of what can be wrong is wrong with the architecture, of which the first is known precisely.
        let span = if first && !m.marks.target.is_none() { m.marks.target } else { span };
        let mut architecture = None;
        let mut textures: Option<&str> = None;
        let mut demotes = false;
        for (index, name) in m[names].iter().enumerate() {
            let text = &m[*name];
            match text {
                "texmode_unified" | "texmode_independent" => {
                    if textures.is_some_and(|other| other != text) {
                        let message = "a module is either `texmode_unified` or `texmode_independent`";
                        self.error(codes::TARGET, span, message);
                    }
                    textures = Some(text);
                }
                "debug" => self.needs_debug = Some(span),
                "map_f64_to_f32" => demotes = true,
                _ => match architecture_of(text) {
                    // ptxas follows the first one, and of the rest asks only whether the version has them.
                    Some(target) if index == 0 => architecture = Some(target),
                    Some(target) => self.known_target(target, span),
                    None if self.context.release.is_none()
                        && let Some(stand_in) = later_target(text) =>
                    {
                        let message = format!("{text} is newer than the targets that this validator knows");
                        let note = format!("the module is checked as one for {stand_in}");
                        let warning = Diagnostic::warning(codes::NEWER, span, message).section("11.1.2");
                        self.report(warning.note(note));
                        if index == 0 {
                            architecture = Some(stand_in);
                        }
                    }
                    None => {
                        let message = format!("unknown target `{text}`");
                        let note = "a target is an architecture such as `sm_90a`, then options such as `texmode_independent`";
                        let error = Diagnostic::error(codes::TARGET, span, message).note(note);
                        let known: Vec<String> = TARGETS.iter().map(|row| row.target.to_string()).collect();
                        self.report(match nearest(text, known.iter().map(String::as_str)) {
                            Some(near) if index == 0 && first => error.suggest("did you mean", span, near),
                            _ => error,
                        });
                        if index == 0 {
                            // Already reported: go on with what was meant, as far as can be guessed.
                            self.unknown_context = true;
                            architecture = Some(self.context.target);
                        }
                    }
                },
            }
        }
        let Some(target) = architecture else {
            let message = "`.target` must begin with an architecture such as `sm_80`";
            self.error(codes::TARGET, span, message);
            self.has_target = true;
            return;
        };
        self.known_target(target, span);
        let version = self.context.version;
        if target == Target::sm(88) && version < FIRST_OF_SM_88 {
            self.changed(Change::Sm88, span, &format!("{target} below `.version {FIRST_OF_SM_88}`"));
        }
        if target.sm < 75 && version >= READ_BY_LATER {
            let message = format!("no toolkit of PTX {version} compiles for {target}");
            let note = "those that know the version compile such a module for later GPUs";
            self.report(Diagnostic::warning(codes::RELEASE, span, message).note(note));
        } else if target.sm < 75 && version > LAST_OF_OLD_TARGETS {
            let message = format!("PTX {version} has dropped {target}");
            let note =
                format!("write `.version {LAST_OF_OLD_TARGETS}` or lower, or `.target sm_75` or higher");
            self.report(Diagnostic::error(codes::TARGET, span, message).note(note));
        }
        if demotes && !has_feature(".target.map_f64_to_f32", &Context::new(version, target)) {
            let message = format!("{target} has no option `map_f64_to_f32`");
            let note = "only targets below sm_13 compute in `.f32` what is written in `.f64`";
            self.report(Diagnostic::error(codes::TARGET, span, message).note(note));
        }
        self.context.target = target;
        self.has_target = true;
        if first || textures.is_some() {
            self.context.independent_textures = textures == Some("texmode_independent");
        }
    }

    /// What only the whole module can answer.
    pub(super) fn finish_prologue(&mut self) {
        if let Some(span) = self.needs_debug
            && self.places.is_empty()
            && !self.m.items.iter().any(|item| matches!(item, Item::Section(_)))
        {
            let message = "`.target debug` promises debug information, and there is none";
            let note = "add `.section .debug_info` and so on, or drop `debug`";
            self.report(Diagnostic::error(codes::TARGET, span, message).note(note));
        }
    }
}

/// `sm_90a`, `compute_90a`. ptxas overlooks a suffix that it does not know of architectures that have one.
fn architecture_of(text: &str) -> Option<Target> {
    let target = spelt(text)?;
    target.index().map(|_| target)
}

/// The known target that one of a later chip is checked as.
fn later_target(text: &str) -> Option<Target> {
    spelt(text)?.stand_in()
}

/// The number and the suffix, whether or not there is such a target.
fn spelt(text: &str) -> Option<Target> {
    let rest = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"))?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let sm = rest[..digits].parse().ok()?;
    let variant = match &rest[digits..] {
        "" => Variant::Base,
        "a" => Variant::Arch,
        "f" => Variant::Family,
        // ptxas reads `sm_90b` as `sm_90`.
        other if other.len() == 1 && other.bytes().all(|b| b.is_ascii_lowercase()) => Variant::Base,
        _ => return None,
    };
    Some(Target { sm, variant })
}
