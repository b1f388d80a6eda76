//! What the reference interpreter can be asked, and whether a case is defined.

use super::{NoTools, check};
use crate::fuzz::{Case, Oracle};
use crate::launch::{Arg, LaunchSpec};
use crate::{Compiler, Language, Module, OptLevel, Target, ptx};
use warpsmith_smith::reference::{self, Stop};

/// True if what a case leaves depends neither on addresses nor on what nothing has written: only then does a difference mean something. Where the
/// reference interpreter cannot decide, the checkers do.
pub fn is_defined(case: &Case) -> bool {
    let text = match case.language {
        Language::Ptx => case.text.clone(),
        Language::Wir => {
            let module = Module::parse(case.text.as_str()).ok();
            let compiled = module.and_then(|module| {
                let target = module.target.unwrap_or(Target::sm(90));
                Compiler::new(target).with_opt_level(OptLevel::O0).compile(&module).ok()
            });
            match compiled {
                Some(compiled) => compiled.text,
                None => return false,
            }
        }
    };
    let Ok(module) = ptx::ValidatedModule::parse(text.as_str()) else { return false };
    match reference_launch(&case.launch).and_then(|launch| reference::is_defined(&module, &launch)) {
        Ok(defined) => defined,
        Err(Stop::Unsupported(_)) => {
            let plain = Case { language: Language::Ptx, text, ..case.clone() };
            check(&plain, &[Oracle::Checkers], &NoTools).is_ok()
        }
        Err(Stop::Fault(_) | Stop::Steps | Stop::Deadlock) => false,
    }
}

/// The launch for the reference interpreter, if it has all that the launch has.
pub fn reference_launch(spec: &LaunchSpec) -> Result<reference::Launch, Stop> {
    let args = spec.args.iter().map(|arg| match arg {
        Arg::Value(bytes) => Ok(reference::Arg::Value(bytes.clone())),
        Arg::Buffer { bytes, .. } => Ok(reference::Arg::Buffer(bytes.clone())),
        Arg::SameAs(_) | Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_) => {
            Err(Stop::Unsupported("an argument that is neither a value nor a buffer of its own".to_owned()))
        }
    });
    let plain = spec.cluster.is_none()
        && spec.dynamic_shared == 0
        && spec.memory.is_empty()
        && spec.bindings.is_empty()
        && spec.handles.is_empty()
        && spec.poison.is_none()
        && spec.globals.iter().all(|global| global.content.is_none());
    if !plain {
        return Err(Stop::Unsupported(
            "clusters, dynamic memory, textures and contents of variables".to_owned(),
        ));
    }
    Ok(reference::Launch {
        entry: spec.entry.clone(),
        grid: spec.grid,
        block: spec.block,
        args: args.collect::<Result<_, _>>()?,
        steps: spec.steps.unwrap_or(1 << 30),
        other_rubbish: false,
    })
}
