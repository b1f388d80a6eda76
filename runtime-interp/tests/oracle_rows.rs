//! Every statement of `tests/oracle` that ptxas accepts can be executed, but for what is named here. (The statements of matrix
//! instructions are in a table of their own.)

use std::collections::BTreeSet;
use warpsmith_interp::Program;
use warpsmith_ptx::ValidatedModule;

/// Statements that mean nothing, or nothing that can be known, and the reason.
const REFUSED: &[(&str, &str)] = &[
    (
        "fp.testp.0051",
        "`testp` without a property: the manual has no such form, and ptxas leaves its result undefined",
    ),
    ("half.fma.0086", "`fma.rz.bf16`: the manual has no such form, and ptxas makes code for f16 of it"),
    ("half.fma.0095", "`fma.rz.relu.bf16x2`: the same"),
    ("sync.vote.0029", "`vote` without a mode: ptxas takes it for an old target and makes no code of it"),
    ("st.async.form.0166", "an asynchronous store without completion mechanism"),
    ("st.async.mut.0021", "a vector of two elements with one register"),
    ("cp.async.bulk.tensor.mut.0271", "a predicate as the address of a tensor map"),
    ("cp.async.bulk.tensor.mut.0344", "the same"),
    ("cp.async.bulk.prefetch.tensor.mut.0059", "the same"),
    ("cp.async.bulk.prefetch.tensor.mut.0132", "the same"),
    ("ld.mut.0059", "a predicate as an element of 32 bits"),
    ("suld.mut.0115", "the same"),
    ("sust.mut.0232", "the same"),
    ("sust.mut.0279", "the same"),
    ("sreg.is_explicit_cluster.0018", "a predicate plus one"),
    ("cf.call.0520", "calls a function that is defined nowhere"),
    ("cf.call.0538", "calls `vprintf` with one argument"),
    ("lex.constant_expressions.0326", "an array of 2^63 bytes"),
    ("decl.initializers.0391", "the address of a variable that is defined nowhere"),
    ("decl.initializers.0393", "the same"),
    ("dir.extern.0048", "an access to a variable that is defined nowhere"),
    ("dir.extern.0049", "the same"),
    ("v91.old..extern.0001", "the same"),
    ("v91.old.fma.0009", "`fma.rz.relu.bf16x2`: the manual has no such form"),
    ("v91.st.async.b128.0003", "a vector of two elements with one register"),
    ("v91.st.async.b128.0008", "the same"),
    ("v91.st.async.b128.0039", "the same"),
    ("v91.st.async.b128.0052", "the same"),
    ("v91.st.async.b128.0073", "the same"),
];

// Of `%locality_domain_id` and `%locality_domain_supplemental_sm` nothing is known but their names.

/// What begins the names of families of PTX 9.1 to 9.5 that are not executed yet.
const LATER_PARTS: &[&str] = &[
    "fabric",
    "createpolicy.fabric",
    // Values that are compressed on the way from tensor memory, and elements that are looked up in tables.
    "tcgen05.ld.spcompress",
    "tcgen05.mma.lut",
];

#[test]
fn every_accepted_statement_loads() {
    let (mut refused, mut missing, mut loaded) = (BTreeSet::new(), Vec::new(), 0);
    for part in ["arith", "data", "sync", "v91"] {
        let path = format!("{}/../tests/oracle/{part}.tsv", env!("CARGO_MANIFEST_DIR"));
        let rows = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        for row in rows.lines().skip(1) {
            let fields: Vec<String> = row.split('\t').map(|field| field.replace("\\n", "\n")).collect();
            let [id, family, _, version, target, verdict, _, decls, statement, module_decls] = &fields[..]
            else {
                panic!("{part}: {} fields: {row}", fields.len());
            };
            if verdict != "ok" {
                continue;
            }
            let text = format!(
                ".version {version}\n.target {target}\n.address_size 64\n{module_decls}\
                 .visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n{decls}\n{statement}\nret;\n}}\n"
            );
            // What the validator refuses, other tests count.
            let Ok(module) = ValidatedModule::parse(&text) else { continue };
            match Program::load(&module) {
                Ok(_) => loaded += 1,
                Err(_) if REFUSED.iter().any(|(known, _)| known == id) => {
                    refused.insert(id.clone());
                }
                Err(_) if statement.contains("%locality_domain") || statement.contains(".kind::ti16") => {}
                Err(_) if part == "v91" && LATER_PARTS.iter().any(|part| family.starts_with(part)) => {}
                Err(errors) => missing.push(format!("{id}: {statement}: {}", errors[0])),
            }
        }
    }
    assert!(missing.is_empty(), "{} statements do not load:\n{}", missing.len(), missing.join("\n"));
    assert!(loaded > 5000, "only {loaded} statements were there");
    let listed: BTreeSet<String> = REFUSED.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(refused, listed, "what is listed as refused is refused");
}
