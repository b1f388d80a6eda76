//! Programs are valid by construction, whatever bytes they are made from.

use arbitrary::Unstructured;
use std::collections::BTreeMap;
use warpsmith_ptx::ValidatedModule;
use warpsmith_smith::{Random, ptx};

fn rejected(config: &ptx::Config, seeds: std::ops::Range<u64>) -> BTreeMap<String, (usize, String)> {
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for seed in seeds {
        let bytes = Random::new(seed).bytes(2048);
        let Ok(program) = ptx::program(&mut Unstructured::new(&bytes), config) else { continue };
        if let Err(errors) = ValidatedModule::parse(program.text.as_str()) {
            let error = &errors[0];
            let line = program.text[..error.span.start as usize].lines().count();
            let text = program.text.lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned();
            let entry = found.entry(format!("{}: {}", error.code, error.message)).or_insert((0, text));
            entry.0 += 1;
        }
    }
    found
}

#[test]
fn programs_of_every_seed_are_valid() {
    let config = ptx::Config::default();
    let found = rejected(&config, 0..300);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn programs_of_any_bytes_are_valid() {
    arbtest::arbtest(|u| {
        let program = ptx::program(u, &ptx::Config::default())?;
        if let Err(errors) = ValidatedModule::parse(program.text.as_str()) {
            panic!("{errors}\n{}", program.text);
        }
        Ok(())
    })
    .budget_ms(3000);
}

#[test]
fn the_tables_are_drawn_from() {
    // Forms of the tables, by their names without types: whatever can be drawn is drawn.
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let bytes = Random::new(seed).bytes(4096);
        let Ok(program) = ptx::program(&mut Unstructured::new(&bytes), &ptx::Config::default()) else {
            continue;
        };
        for line in program.text.lines() {
            let line = line.trim_start();
            let line =
                if line.starts_with('@') { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line };
            let name = line.split(['.', ' ', ';']).next().unwrap_or_default();
            seen.insert(name.to_owned());
        }
    }
    let expected = "abs add addc and atom bar barrier bfe bfi bfind bmsk bra brev brx call clz cnot copysign cos cvt div dp2a dp4a ex2 \
                    exit fma ld lg2 lop3 mad mad24 madc match max min mov mul mul24 neg not or popc prmt rcp red redux rem ret rsqrt sad selp set \
                    setp shf shfl shl shr sin slct sqrt st sub subc szext tanh testp vabsdiff vadd vmad vmax vmin vote vset vshl vshr vsub xor";
    let missing: Vec<&str> = expected.split_whitespace().filter(|name| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
