//! Debug information that clang wrote arrives in the IR: units, types, scopes, variables and what they are bound to.

use warpsmith_ir::debug::{DebugType, ScopeKind, Storage};
use warpsmith_ir::{Module as Ir, verify};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

fn imported(bytes: &[u8]) -> Ir {
    let module = Module::read(bytes).unwrap();
    let options = Options::new().with_target(Target::sm(80));
    let module = import(vec![("source.bc".to_owned(), module)], &options).unwrap();
    verify(&module).unwrap_or_else(|errors| panic!("{errors}\n{module}"));
    let text = module.to_string();
    assert_eq!(Ir::parse(text.as_str()).unwrap().to_string(), text);
    module
}

fn variables(module: &Ir, function: &str) -> Vec<String> {
    let debug = module.functions[module.function(function).unwrap()].debug.as_ref().unwrap();
    let mut names: Vec<String> = debug.variables.values().map(|variable| variable.name.clone()).collect();
    names.sort();
    names
}

/// What only one function names stands in its body, where numbers begin again with each.
#[test]
fn types_of_functions_are_their_own() {
    let module = imported(include_bytes!("corpus/debug/types.O0.bc"));
    let debug = module.debug.as_ref().unwrap();
    let shape = |name: &str| {
        let found = debug.subprograms.values().find(|subprogram| subprogram.name == name).unwrap();
        match found.ty.and_then(|ty| debug.types.get(ty)) {
            Some(DebugType::Function { params, ret }) => {
                let sizes = params.iter().map(|ty| debug.size_of(*ty).unwrap()).collect::<Vec<_>>();
                (sizes, ret.and_then(|ty| debug.size_of(ty)))
            }
            other => panic!("{name} is of {other:?}"),
        }
    };
    assert_eq!(shape("first"), (vec![4], Some(4)));
    assert_eq!(shape("second"), (vec![8, 4], Some(8)));
    assert_eq!(shape("third"), (vec![8, 2], Some(1)));
    let composites = |of: &str| {
        debug.types.values().any(|ty| matches!(ty, DebugType::Composite { name, .. } if name == of))
    };
    assert!(composites("Mine") && composites("List"));
}

#[test]
fn errors_show_the_line_of_the_source() {
    let bytes = include_bytes!("corpus/debug/undefined.O1.bc");
    let source = include_str!("corpus/debug/undefined.c");
    let linked =
        || import(vec![("k.bc".to_owned(), Module::read(bytes).unwrap())], &Options::new().with_closed(true));
    let [error] = <[_; 1]>::try_from(linked().unwrap_err()).unwrap();
    assert_eq!(error.to_string(), "nothing defines `nowhere`, used by `k`, at /src/undefined.c:5:12");
    let report = error.report("k.bc", |path| (path == "/src/undefined.c").then(|| source.to_owned()));
    let [finding] = &report[..] else { panic!("{report}") };
    let shown = &source[finding.span.range(source.len())];
    assert_eq!((shown, report.source().name()), ("nowhere", "/src/undefined.c"));
    assert_eq!(finding.notes, ["inlined by the call at /src/undefined.c:9:12"]);
    // Without the text it is about the file.
    assert_eq!(error.report("k.bc", |_| None).source().name(), "k.bc");
}

#[test]
fn without_optimisation() {
    let module = imported(include_bytes!("corpus/debug/source.O0.bc"));
    let debug = module.debug.as_ref().unwrap();
    let unit = debug.units.values().next().unwrap();
    assert_eq!(module.files[unit.file], "source.c");
    assert_eq!(unit.directory, "/src");
    let structure = debug.types.values().find_map(|ty| match ty {
        DebugType::Composite { name, size, members, .. } if name == "P" => Some((*size, members)),
        _ => None,
    });
    let (size, members) = structure.expect("struct P");
    assert_eq!(size, 32);
    let members: Vec<_> =
        members.iter().map(|member| (member.name.as_str(), member.offset, member.bits)).collect();
    assert_eq!(members, [("a", 0, None), ("b", 4, None), ("next", 16, None), ("c", 24, Some((3, 0)))]);
    assert!(debug.types.values().any(|ty| matches!(ty, DebugType::Enum { name, enumerators, .. }
        if name == "E" && enumerators.iter().any(|e| e.name == "Y" && e.value == 5))));
    assert!(debug.types.values().any(|ty| matches!(ty, DebugType::Typedef { name, .. } if name == "word")));
    assert!(
        debug
            .types
            .values()
            .any(|ty| matches!(ty, DebugType::Array { dimensions, .. } if dimensions == &[3]))
    );
    assert_eq!(variables(&module, "k"), ["e", "n", "p", "r", "s", "v", "x"]);
    // Each variable has a slot of the stack.
    let function = &module.functions[module.function("k").unwrap()];
    let bound = function.debug.as_ref().unwrap().bindings.values();
    assert_eq!(bound.filter(|binding| matches!(binding.storage, Storage::Slot(_, 0))).count(), 7);
    let helper = module.functions.values().find(|function| function.name.contains("helper")).unwrap();
    assert_eq!(variables(&module, &helper.name), ["f", "i", "k", "p", "sum"]);
    let scopes = &helper.debug.as_ref().unwrap().scopes;
    assert_eq!(scopes.values().filter(|scope| scope.kind == ScopeKind::Block).count(), 3);
    // Every instruction that came from the source says where it did.
    let with_place = helper
        .layout
        .blocks()
        .flat_map(|block| helper.layout.insts(block))
        .filter(|inst| helper.inst_locs[*inst].is_some());
    assert!(with_place.count() > 20);
}

#[test]
fn inlined() {
    let module = imported(include_bytes!("corpus/debug/source.O2.bc"));
    let function = &module.functions[module.function("k").unwrap()];
    let debug = function.debug.as_ref().unwrap();
    let inlined: Vec<_> = debug
        .scopes
        .values()
        .filter_map(|scope| match scope.kind {
            ScopeKind::Inlined(of) => Some(module.debug.as_ref().unwrap().subprograms[of].name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(inlined, ["twice"]);
    let names = variables(&module, "k");
    assert!(["v", "x", "p"].iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
    assert!(debug.bindings.values().any(|binding| matches!(binding.storage, Storage::Value(_))));
}
