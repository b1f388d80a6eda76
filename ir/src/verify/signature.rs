//! What stands in front of a body: parameters, results, attributes, stack slots, and other names of functions.

use super::Verifier;
use crate::entities::FuncId;
use crate::function::{FuncKind, Linkage};
use crate::types::Type;
use warpsmith_isa::StateSpace;
use warpsmith_isa::limits::BLOCK_THREADS;

impl Verifier<'_> {
    /// Memory of one call: of some size, aligned as hardware can.
    pub(super) fn stack_slots(&mut self) {
        let func = self.func;
        for (slot, data) in &func.stack_slots {
            let slot = || self.display().stack_slot(slot);
            if data.size == 0 {
                let message = format!("stack slot {} has no bytes", slot());
                self.error("I0316", message);
            } else if !data.align.is_power_of_two() {
                let message =
                    format!("the alignment {} of stack slot {} is not a power of two", data.align, slot());
                self.error("I0312", message);
            }
        }
    }

    /// What PTX asks of another name of a function (PTX ISA 9.0, 11.2.3): a function of the module with a body, that is not weak.
    pub(super) fn alias(&mut self, target: FuncId) {
        let (func, name) = (self.func, &self.func.name);
        let Some(of) = self.module.functions.get(target) else {
            self.error(
                "I0424",
                format!("`@{name}` is another name of {target}, which the module does not have"),
            );
            return;
        };
        let wrong = if !func.is_declaration() {
            Some("has a body of its own")
        } else if of.is_declaration() {
            Some("names a function without a body: an alias, or one of another module")
        } else if func.kind == FuncKind::Kernel || of.kind == FuncKind::Kernel {
            Some("is of a kernel, or one: only functions have other names")
        } else if of.linkage == Linkage::Weak {
            Some("names a weak function, whose definition may be another module's")
        } else if func.linkage == Linkage::Extern {
            Some("is `extern`, but defined here")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            self.error("I0326", format!("`@{name}`, another name of `@{}`, {wrong}", of.name));
        }
        let same = |a: &crate::Param, b: &crate::Param| (a.ty, a.byval) == (b.ty, b.byval);
        let params = func.params.len() == of.params.len()
            && func.params.iter().zip(&of.params).all(|(a, b)| same(a, b));
        if !params || func.ret != of.ret {
            self.error(
                "I0326",
                format!(
                    "`@{name}` has not the parameters and results of `@{}`, which it is another name of",
                    of.name
                ),
            )
            .notes
            .push("an alias is declared with the signature of its function".into());
        }
    }

    pub(super) fn signature(&mut self) {
        let func = self.func;
        let name = &func.name;
        let is_kernel = func.kind == FuncKind::Kernel;
        if is_kernel && !func.ret.is_empty() {
            self.error("I0320", format!("kernel `@{name}` returns {}", self.list(&func.ret)))
                .notes
                .push("a kernel returns nothing: it stores its results through pointers".into());
        }
        if is_kernel && func.linkage == Linkage::Extern {
            self.error("I0325", format!("kernel `@{name}` cannot be declared: kernels are not called"));
        }
        for (n, param) in func.params.iter().enumerate() {
            match param.byval {
                Some(_) if param.attrs.varargs => {
                    let last = n + 1 == func.params.len();
                    if is_kernel || !last || *param != crate::Param::varargs() {
                        let message = format!("`@{name}` cannot have variable arguments as parameter {n}");
                        let note = "they are the last parameter of a function: `%rest: varargs`, or `Param::varargs()`";
                        self.error("I0321", message).notes.push(note.into());
                    }
                }
                Some((0, _)) => {
                    self.error(
                        "I0321",
                        format!("parameter {n} of `@{name}` is passed by value and has no bytes"),
                    );
                }
                Some((_, align)) if !align.is_power_of_two() => {
                    let message =
                        format!("the alignment {align} of parameter {n} of `@{name}` is not a power of two");
                    self.error("I0312", message);
                }
                Some(_) => {}
                None => self.parameter_type(|| format!("parameter {n} of `@{name}`"), param.ty, is_kernel),
            }
        }
        for &ty in func.ret.iter().filter(|_| !is_kernel) {
            self.parameter_type(|| format!("the result of `@{name}`"), ty, false);
        }
    }

    fn parameter_type(&mut self, what: impl Fn() -> String, ty: Type, is_kernel: bool) {
        let space = ty.space();
        if ty.is_invalid() {
            self.error("I0322", format!("{} has no type", what()));
        } else if ty.is_aggregate() {
            self.passed_aggregate(&what(), ty);
        } else if is_kernel && ty.bytes().is_none() {
            let what = what();
            self.error("I0322", format!("{what} is of type {ty}, which has no memory form"))
                .notes
                .push("pass i8 or i32".into());
        } else if is_kernel && space == Some(StateSpace::Local) {
            let what = what();
            self.error(
                "I0323",
                format!("{what} is a ptr<local>: memory of one thread cannot come from the host"),
            );
        } else if space == Some(StateSpace::Param) {
            let note =
                "what is passed by value is declared `byval(size, align n)`, and its value is a ptr<param>";
            self.error("I0323", format!("{} is a ptr<param>", what())).notes.push(note.into());
        }
    }

    pub(super) fn attributes(&mut self) {
        let func = self.func;
        let attrs = &func.attrs;
        if func.kind == FuncKind::Func && attrs.is_of_launch() {
            self.error(
                "I0324",
                format!("function `@{}` has launch attributes, which only kernels have", func.name),
            );
            return;
        }
        if func.kind == FuncKind::Kernel && attrs.is_of_call() {
            let message = format!("kernel `@{}` has attributes of functions that are called", func.name);
            self.error("I0324", message);
        }
        if attrs.noreturn && !func.ret.is_empty() {
            self.error("I0324", format!("`@{}` is noreturn and returns {}", func.name, self.list(&func.ret)))
                .notes
                .push("PTX takes `.noreturn` of functions without results only (PTX ISA 9.0, 11.4)".into());
        }
        if attrs.maxclusterrank.is_some() && attrs.reqnctapercluster.is_some() {
            self.error("I0324", format!("`@{}` has both maxclusterrank and reqnctapercluster", func.name))
                .notes
                .push("the size that is required is the largest one as well: keep reqnctapercluster".into());
        }
        if func.linkage == Linkage::Common {
            self.error("I0324", format!("`@{}` is common, which only variables are", func.name))
                .notes
                .push("a function that others may define too is `weak`".into());
        }
        for (n, param) in func.params.iter().enumerate() {
            let signed = param.ty.is_int() && param.ty.bits() < 32;
            if param.attrs.signext && !signed {
                let message = format!(
                    "parameter {n} of `@{}` is signext and no integer of fewer than 32 bits",
                    func.name
                );
                self.error("I0324", message);
            }
            let promised = crate::ParamAttrs { signext: false, varargs: false, ..param.attrs };
            if promised != crate::ParamAttrs::NONE && (!param.ty.is_ptr() || param.byval.is_some()) {
                let message =
                    format!("parameter {n} of `@{}` has attributes of a pointer and is none", func.name);
                self.error("I0324", message);
            } else if promised.align.is_some_and(|align| !align.is_power_of_two()) {
                let message = format!(
                    "the alignment promised of parameter {n} of `@{}` is not a power of two",
                    func.name
                );
                self.error("I0312", message);
            }
        }
        for (name, sizes) in [("reqntid", attrs.reqntid), ("maxntid", attrs.maxntid)] {
            let threads = sizes.map(|sizes| sizes.iter().map(|n| *n as u64).try_fold(1u64, u64::checked_mul));
            if threads
                .is_some_and(|threads| !threads.is_some_and(|n| (1..=u64::from(BLOCK_THREADS)).contains(&n)))
            {
                self.error(
                    "I0324",
                    format!("`{name}` of `@{}` must give 1 to {BLOCK_THREADS} threads", func.name),
                );
            }
        }
        if attrs.reqnctapercluster.is_some_and(|sizes| sizes.contains(&0)) {
            self.error(
                "I0324",
                format!("`reqnctapercluster` of `@{}` must give at least 1 block", func.name),
            );
        }
        if attrs.reqntid.is_some() && attrs.maxntid.is_some() {
            self.error("I0324", format!("`@{}` has both reqntid and maxntid", func.name))
                .notes
                .push("the size that is required is the largest one as well: keep reqntid".into());
        }
        for (name, number) in [
            ("minnctapersm", attrs.minnctapersm),
            ("maxnreg", attrs.maxnreg),
            ("maxclusterrank", attrs.maxclusterrank),
        ] {
            if number == Some(0) {
                self.error("I0324", format!("`{name}` of `@{}` is 0", func.name));
            }
        }
    }
}
