//! Variables that the host may write keep their symbols and their loads; what only the module knows is a constant.

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

#[test]
fn what_the_host_writes_is_loaded() {
    let module = Module::read(include_bytes!("corpus/gaps/variables.bc")).unwrap();
    let options = Options::new().with_target(Target::sm(80));
    let module = import(vec![("variables.bc".to_owned(), module)], &options).unwrap();
    let text = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O2).compile(&module).unwrap().text;
    for declared in [
        ".visible .global .align 4 .b32 written = 5",
        ".weak .global .align 4 .b32 merged = 6",
        ".weak .global .align 4 .b8 assembled[4]",
    ] {
        assert!(text.contains(declared), "no `{declared}` in\n{text}");
    }
    for loaded in ["[written]", "[merged]", "[assembled]"] {
        assert!(text.contains(loaded), "no load of {loaded} in\n{text}");
    }
    assert!(!text.contains("[own]"), "{text}");
}
