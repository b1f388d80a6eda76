//! How to fuzz a compiler that is built on Warpsmith (`docs/fuzzing.md`): the example's language, with random programs.

use arbitrary::{Result, Unstructured};
use warpsmith::OptLevel;
use warpsmith::fuzz::round_trip;
use warpsmith::launch::LaunchSpec;

#[allow(dead_code)]
#[path = "../examples/expr_dsl.rs"]
mod expr_dsl;

/// A random expression of the language.
fn expression(u: &mut Unstructured, depth: u32) -> Result<String> {
    let leaf = depth == 0 || u.ratio(1, 3)?;
    if leaf {
        return Ok((*u.choose(&["x", "y", "z", "0.5", "3", "1000000"])?).to_owned());
    }
    let (a, b) = (expression(u, depth - 1)?, expression(u, depth - 1)?);
    Ok(match u.int_in_range(0..=9)? {
        0 => format!("sqrt({a} * {a})"),
        1 => format!("min({a}, {b})"),
        2 => format!("max({a}, {b})"),
        3 => format!("({a} < {b} ? {b} : {a})"),
        n => format!("({a} {} {b})", ["+", "-", "*", "/", "<", ">"][n as usize - 4]),
    })
}

#[test]
fn programs_of_the_language_mean_the_same_at_every_level() {
    let launch = r#"{"grid": [2], "block": [32], "args": [{"type": "u32", "value": 50},
        {"buffer_type": "f32", "random": 64, "seed": 1, "range": [-8, 8]}, {"buffer_type": "f32", "random": 64, "seed": 2},
        {"buffer_type": "f32", "iota": 64}]}"#;
    let launch = LaunchSpec::parse(launch).expect("a launch of three arrays");
    arbtest::arbtest(|u| {
        let text = format!("x = x + y * z; y = {}; z = {}", expression(u, 4)?, expression(u, 3)?);
        let module = expr_dsl::compile(&text).expect("a program of the language");
        if let Err(failure) = round_trip(&module, &launch, &OptLevel::ALL) {
            panic!("{text}\n{failure}\n{module}");
        }
        Ok(())
    })
    .budget_ms(2000);
}
