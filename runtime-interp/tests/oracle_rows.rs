//! Every statement of data movement and synchronisation that ptxas accepts loads, but for those named here.

use warpsmith_interp::Program;
use warpsmith_ptx::ValidatedModule;

/// Families without semantics, refused by name.
const REFUSED: &[&str] = &[
    "cp.async.bulk.tensor",
    "cp.reduce.async.bulk.tensor",
    "cp.async.bulk.prefetch.tensor",
    "tensormap.replace",
];

/// Statements that ptxas takes and the manual gives no meaning to: an asynchronous store that tells nobody, a vote on nothing, sinks among
/// what is stored or as destination, an element of a variable as a value, performance counters.
const REFUSED_ROWS: &[&str] =
    &["st.async.form.0166", "sync.vote.0029", "mapa.misc.0008", "mov.", "st.vec.", "st.mut.", "cvt.dreg."];

#[test]
fn accepted_statements_load() {
    let (mut loaded, mut failures) = (0, Vec::new());
    for part in ["sync", "data"] {
        let path = format!("{}/../tests/oracle/{part}.tsv", env!("CARGO_MANIFEST_DIR"));
        let rows = std::fs::read_to_string(&path).unwrap();
        for row in rows.lines().skip(1) {
            let fields: Vec<String> = row.split('\t').map(|field| field.replace("\\n", "\n")).collect();
            let [id, family, section, version, target, verdict, _, decls, statement, module_decls] =
                &fields[..]
            else {
                panic!("{row}")
            };
            let ours = section.starts_with("9.7.9.") || section.starts_with("9.7.13.");
            if verdict != "ok" || !ours || REFUSED.contains(&family.as_str()) {
                continue;
            }
            let text = format!(
                ".version {version}\n.target {target}\n.address_size 64\n{module_decls}\
                 .visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n{decls}\n{statement}\nret;\n}}\n"
            );
            // What the validator thinks of the rows is tested there.
            let Ok(module) = ValidatedModule::parse(&text) else { continue };
            match Program::load_with_source(&module, &text) {
                Ok(_) => loaded += 1,
                Err(_) if REFUSED_ROWS.iter().any(|r| id.starts_with(r)) => {}
                Err(errors) => failures.push(format!("{id}: {statement}: {}", errors[0])),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(loaded > 2500, "only {loaded} statements were tried");
}
