//! Functions that legalisation calls for what would be too long inline. They are written in the IR's own text, and legalised like the rest;
//! those of the math library are declared, and whoever compiles gives them their bodies.

use warpsmith_base::FxHashMap;
use warpsmith_ir::{FuncId, Module, parse};

/// What a helper computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Helper {
    /// The quotient of two `i128` without a sign, each as its two halves; all ones by zero.
    Udiv128,
    /// The remainder of two `f32`, of the math library.
    FmodF32,
    /// The remainder of two `f64`, of the math library.
    FmodF64,
}

/// The helpers that a module has by now.
#[derive(Default)]
pub(super) struct Helpers {
    ids: FxHashMap<Helper, FuncId>,
}

impl Helpers {
    /// The function, which becomes one of the module when it is first asked for.
    pub(super) fn id(&mut self, helper: Helper, module: &mut Module) -> FuncId {
        *self.ids.entry(helper).or_insert_with(|| {
            let (text, name) = match helper {
                Helper::Udiv128 => (include_str!("udiv128.wir"), "__ws_udiv128"),
                Helper::FmodF32 => ("func extern @ws_fmod_f32(%x: f32, %y: f32) -> f32", "ws_fmod_f32"),
                Helper::FmodF64 => ("func extern @ws_fmod_f64(%x: f64, %y: f64) -> f64", "ws_fmod_f64"),
            };
            if matches!(helper, Helper::FmodF32 | Helper::FmodF64)
                && let Some(known) = module.function(name)
            {
                return known;
            }
            let read = parse(text).module;
            let mut func =
                read.functions.into_iter().map(|(_, func)| func).next().expect("the text has one function");
            func.name = name.to_string();
            while module.symbol(&func.name).is_some() {
                func.name.push('_');
            }
            // Its places are those of another text.
            func.forget_places();
            module.add_function(func)
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_a_function() {
        let module = warpsmith_ir::parse_module(include_str!("udiv128.wir")).expect("the text is right");
        warpsmith_ir::verify(&module).expect("the function is right");
        assert_eq!(module.functions.len(), 1);
    }
}
