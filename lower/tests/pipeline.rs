//! Pipelines with passes of a user's: what these are given, in which order they run, what is checked of them.

use std::sync::{Arc, Mutex};
use warpsmith_ir::{
    self as ir, Attr, DominatorTree, Function, InstBuilder, InstData, Module, Opcode, Type, Value, ValueList,
};
use warpsmith_isa::Target;
use warpsmith_lower::analysis::{Analyses, Analysis};
use warpsmith_lower::{
    Aspects, Changes, Context, ModuleContext, ModulePass, OptLevel, Options, Pass, Passes, Pipeline,
};

const TWO: &str = "global @g: [i32; 4]

func @f(%x: i32) -> i32 {
entry:
  %y = iadd %x, 1
  ret %y
}

kernel @k(%p: ptr<global>, %c: i32) {
entry:
  %b = icmp ne %c, 0
  brif %b, a, b
a:
  ret
b:
  ret
}
";

fn parse(text: &str) -> Module {
    ir::parse_module(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Notes what it is given.
#[derive(Clone, Default)]
struct Note {
    seen: Arc<Mutex<Vec<String>>>,
}

impl Note {
    fn seen(&self) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort();
        seen
    }
}

impl Pass for Note {
    fn name(&self) -> &'static str {
        "note"
    }

    fn summary(&self) -> &'static str {
        "notes what it is given"
    }

    fn run(&self, func: &mut Function, cx: &mut Context<'_>) -> Changes {
        let others: Vec<String> =
            cx.signatures.values().map(|s| format!("{}({})", s.name, s.params.len())).collect();
        let globals: Vec<&str> = cx.globals.values().map(|g| g.name.as_str()).collect();
        let blocks = cx.analyses.get::<DominatorTree>(func).reverse_postorder().len();
        let target = cx.target.map_or("no target".into(), |target| target.to_string());
        let line = format!("{}: {target} {others:?} {globals:?} {blocks} blocks", func.name);
        self.seen.lock().unwrap().push(line);
        Changes::NONE
    }
}

/// Adds a function.
struct Grow;

impl ModulePass for Grow {
    fn name(&self) -> &'static str {
        "grow"
    }

    fn summary(&self) -> &'static str {
        "adds a function"
    }

    fn run(&self, module: &mut Module, cx: &ModuleContext) -> u32 {
        let added = parse("func @added() {\nentry:\n  ret\n}\n");
        module.add_function(added.functions.values().next().unwrap().clone());
        u32::from(cx.target.is_some())
    }
}

#[test]
fn passes_see_target_globals_and_signatures_whether_watched_or_not() {
    let expected = [
        r#"added: sm_90 ["f(1)", "k(2)", "added(0)"] ["g"] 1 blocks"#,
        r#"f: sm_90 ["f(1)", "k(2)", "added(0)"] ["g"] 1 blocks"#,
        r#"f: sm_90 ["f(1)", "k(2)"] ["g"] 1 blocks"#,
        r#"k: sm_90 ["f(1)", "k(2)", "added(0)"] ["g"] 3 blocks"#,
        r#"k: sm_90 ["f(1)", "k(2)"] ["g"] 3 blocks"#,
    ];
    for verify_each in [false, true] {
        let note = Note::default();
        let pipeline =
            Pipeline::parse("cfg").unwrap().then(note.clone()).then_module(Grow).then(note.clone());
        assert_eq!(pipeline.to_string(), "cfg,note,grow,note");
        let mut options = Options { target: Some(Target::sm(90)), verify_each, ..Options::default() };
        let mut module = parse(&TWO.replacen("a:\n  ret", "a:\n  trap", 1));
        let report = pipeline.run(&mut module, &mut options).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(note.seen(), expected);
        let counts: Vec<(u32, u32)> = report.passes.iter().map(|p| (p.changes, p.functions)).collect();
        assert_eq!(counts, [(0, 2), (0, 2), (1, 0), (0, 3)]);
        assert_eq!(report.last_applied.unwrap().to_string(), "(8) note on @added");
    }
}

#[test]
fn the_limit_counts_passes_over_modules_too() {
    let pipeline = Pipeline::default().then_module(Grow).then(Note::default());
    let run = |limit| {
        let mut module = parse(TWO);
        let mut options = Options { bisect_limit: Some(limit), ..Options::default() };
        let report = pipeline.run(&mut module, &mut options).unwrap_or_else(|errors| panic!("{errors}"));
        (module.functions.len(), report.last_applied.map(|last| last.to_string()))
    };
    assert_eq!(run(0), (2, None));
    assert_eq!(run(1), (3, Some("(1) grow on the module".into())));
    assert_eq!(run(3), (3, Some("(3) note on @k".into())));
}

/// Removes a branch and says that it changed nothing, or instructions only.
struct Liar(Changes);

impl Pass for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn summary(&self) -> &'static str {
        "changes more than it says"
    }

    fn run(&self, func: &mut Function, cx: &mut Context<'_>) -> Changes {
        cx.analyses.get::<DominatorTree>(func);
        let entry = func.layout.entry().expect("only functions with a body are given");
        let branch = func.terminator(entry).expect("the function is verified");
        let dest = func.dfg.targets(branch).next().cloned();
        if let Some(dest) = dest {
            func.dfg.replace_inst(branch, ir::InstData::Jump { dest });
        }
        self.0
    }
}

#[test]
fn what_a_pass_says_it_has_kept_is_checked() {
    let errors = |changes| {
        let mut options = Options { verify_each: true, ..Options::default() };
        Pipeline::default().then(Liar(changes)).run(&mut parse(TWO), &mut options).map_err(|e| e.to_string())
    };
    for changes in [Changes::NONE, Changes::to_instructions(1)] {
        let error = errors(changes).unwrap_err();
        assert!(
            error.contains("pass `liar` changed what it said it had kept, the dominators of `@k`"),
            "{error}"
        );
    }
    assert!(errors(Changes::to_all(1)).is_ok());
}

/// How many instructions there are: an analysis of a user's.
#[derive(PartialEq)]
struct Size(usize);

impl Analysis for Size {
    const NAME: &'static str = "size";
    const READS: Aspects = Aspects::INSTRUCTIONS;

    fn compute(func: &Function, _: &mut Analyses) -> Self {
        Size(func.layout.blocks().map(|block| func.layout.insts(block).count()).sum())
    }
}

#[test]
fn users_have_analyses_of_their_own() {
    let module = parse(TWO);
    let mut functions = module.functions.values().cloned();
    let mut func = functions.next().unwrap();
    let mut analyses = Analyses::default();
    assert_eq!(analyses.get::<Size>(&func).0, 3);
    let dominators = analyses.get::<DominatorTree>(&func);
    let first = func.layout.blocks().flat_map(|block| func.layout.insts(block)).next().unwrap();
    func.layout.remove_inst(first);
    assert_eq!(analyses.get::<Size>(&func).0, 3, "kept until something is said to have changed");
    analyses.invalidate(Changes::to_instructions(1).aspects);
    assert_eq!(analyses.get::<Size>(&func).0, 2);
    assert!(std::sync::Arc::ptr_eq(&dominators, &analyses.get::<DominatorTree>(&func)));
}

#[test]
fn a_pass_takes_the_place_of_its_namesake() {
    struct Gvn;
    impl Pass for Gvn {
        fn name(&self) -> &'static str {
            "gvn"
        }
        fn summary(&self) -> &'static str {
            "another"
        }
        fn run(&self, _: &mut Function, _: &mut Context<'_>) -> Changes {
            Changes::to_all(7)
        }
    }
    let passes = Passes::standard().with(Gvn).with_module(Grow);
    assert_eq!(passes.list().len(), Passes::standard().list().len() + 1);
    let pipeline = Pipeline::parse_with("gvn,grow", &passes).unwrap();
    let report = pipeline.run(&mut parse(TWO), &mut Options::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report.passes.iter().map(|p| p.changes).collect::<Vec<_>>(), [14, 0]);
    let unknown = Pipeline::parse("grow").unwrap_err();
    assert!(
        unknown.to_string().starts_with(
            "unknown pass `grow`, expected one of: `addresses`, `aggregates`, `bytes`, `carry`, `cfg`,"
        ),
        "{unknown}"
    );
}

#[test]
fn the_limit_counts_rules_and_the_log_names_them() {
    let text = "kernel @k(%p: ptr<global>, %x: i32) {
entry:
  %a = imul %x, 1
  %b = iadd %a, 0
  %c = udiv %b, 8
  store %c, %p
  ret
}
";
    let run = |limit, remarks| {
        let mut module = parse(text);
        let mut options = Options { bisect_limit: limit, remarks, ..Options::default() };
        let pipeline = Pipeline::parse("simplify,dce").unwrap();
        let report = pipeline.run(&mut module, &mut options).unwrap_or_else(|errors| panic!("{errors}"));
        (module.to_string(), report)
    };
    let (text, report) = run(None, true);
    let rules: Vec<(&str, &str, u32)> = report.rules.iter().map(|c| (c.pass, c.rule, c.times)).collect();
    assert_eq!(
        rules,
        [("simplify", "add-zero", 1), ("simplify", "mul-one", 1), ("simplify", "udiv-power", 1)]
    );
    let remark = &report.remarks[0];
    assert_eq!((remark.name, &*remark.function, remark.applied), ("mul-one", "k", true));
    assert_eq!(remark.to_string(), "@k: simplify: applied `(imul x 1) => x` [mul-one]");
    assert!(!remark.span.is_none());
    assert!(text.contains("lshr %x"), "{text}");
    // The pass counts one, and so does each rule.
    let (text, report) = run(Some(3), false);
    assert_eq!(report.last_applied.unwrap().to_string(), "(3) simplify on @k, rule add-zero");
    assert!(text.contains("udiv %x") && report.remarks.is_empty(), "{text}");
    let last = |limit| run(Some(limit), false).1.last_applied.unwrap().to_string();
    assert_eq!(last(1), "(1) simplify on @k");
    assert_eq!(last(4), "(4) simplify on @k, rule udiv-power");
    assert_eq!(last(5), "(5) dce on @k");
}

/// A loop that stays one is named with the reason, at its line.
#[test]
fn loops_that_stay_are_remarked() {
    let text = "kernel @k(%p: ptr<global>, %n: i32) {
entry:
  jump loop(0)
loop(%i: i32):
  %at = index %p, %i, 4
  store %i, %at
  %next = imul %i, 3
  %more = icmp ult %next, %n
  brif %more, loop(%next), done
done:
  ret
}
";
    let mut module = parse(text);
    let mut options = Options { remarks: true, ..Options::default() };
    let report = Pipeline::parse("unroll,partial").unwrap().run(&mut module, &mut options);
    let report = report.unwrap_or_else(|errors| panic!("{errors}"));
    let said: Vec<String> = report.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "@k: unroll: loop not unrolled: the number of its rounds is not known, or too large [unroll]",
            "@k: partial: no rounds of the loop made one: it does not count by a fixed step to a fixed bound, with the test at its end [partial]",
        ]
    );
    assert!(report.remarks.iter().all(|remark| !remark.applied && !remark.span.is_none()));
}

#[test]
fn what_passes_remember_changes_no_result() {
    let pipeline = Pipeline::for_level(OptLevel::O2);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let mut examples = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "wir") {
            continue;
        }
        let module = parse(&std::fs::read_to_string(&path).unwrap());
        let mut module = warpsmith_lower::legalize(std::borrow::Cow::Borrowed(&module), Target::sm(90))
            .unwrap()
            .into_owned();
        // Each pass in a pipeline of its own has nothing to remember, and none is skipped.
        let mut one_by_one = module.clone();
        for pass in pipeline.names() {
            Pipeline::parse(pass).unwrap().run(&mut one_by_one, &mut Options::default()).unwrap();
        }
        pipeline.run(&mut module, &mut Options::default()).unwrap();
        assert_eq!(module.to_string(), one_by_one.to_string(), "{}", path.display());
        examples += 1;
    }
    assert!(examples > 10, "{examples}");
}

/// Legalisation takes no operation for another one, whatever it is given.
#[test]
fn what_legalisation_has_no_rule_for_is_named() {
    for (op, count) in [(Opcode::Reduce, 1), (Opcode::AtomicRmw, 2), (Opcode::Iadd, 2)] {
        let mut module = parse("func @f(%p: ptr, %v: i32x4) {\na:\n  ret\n}\n");
        let func = module.functions.values_mut().next().unwrap();
        let end = func.layout.blocks().flat_map(|block| func.layout.insts(block)).next().unwrap();
        let params: Vec<Value> = func.param_values().to_vec();
        let args = ValueList::from_slice(&params[..count], &mut func.dfg.pool);
        func.before(end).build(InstData::List { op, attr: Attr::None, args }, &[Type::I32]);
        let errors =
            warpsmith_lower::legalize(std::borrow::Cow::Borrowed(&module), Target::sm(90)).unwrap_err();
        let expected = format!("`{op}` of such operands is not compiled");
        assert_eq!(errors.iter().map(|error| &*error.message).collect::<Vec<_>>(), [expected]);
    }
}

/// Functions that each call the next, so many times.
fn chain(functions: usize, calls: usize, attribute: &str) -> Module {
    let mut text = String::from(
        "kernel @k(%p: ptr<global>) {\nentry:\n  %x = load.i32 %p\n  %y = call @f0(%x)\n  store %y, %p\n  ret\n}\n",
    );
    for n in 0..functions {
        text += &format!("func @f{n}(%x0: i32) -> i32 {attribute} {{\nentry:\n");
        let calls = if n + 1 == functions { 0 } else { calls };
        for call in 0..calls {
            text += &format!("  %x{} = call @f{}(%x{call})\n", call + 1, n + 1);
        }
        text += &format!("  %last = iadd %x{calls}, 1\n  ret %last\n}}\n");
    }
    parse(&text)
}

#[test]
fn copies_of_callees_have_a_bound() {
    let size = |module: &Module| {
        let functions = module.functions.values();
        functions
            .flat_map(|func| func.layout.blocks().map(|block| func.layout.insts(block).count()))
            .sum::<usize>()
    };
    // What each copies is all that is behind it; 2^40 copies of what must be inlined.
    for (mut module, most) in [(chain(4_000, 1, ""), 4_000_000), (chain(40, 2, "inline"), 4_000_000)] {
        Pipeline::parse("inline").unwrap().run(&mut module, &mut Options::default()).unwrap();
        assert!(size(&module) < most, "{}", size(&module));
        ir::verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    }
    // A chain of a usual length is one kernel.
    let mut module = chain(100, 1, "");
    Pipeline::parse("inline").unwrap().run(&mut module, &mut Options::default()).unwrap();
    assert_eq!(module.functions.len(), 1);
}

#[test]
fn exact_pipelines_round_what_functions_return_by_itself() {
    let text = "func @times(%a: f32, %b: f32) -> f32 {\nentry:\n  %x = fmul contract %a, %b\n  ret %x\n}\n\
                kernel @k(%p: ptr<global>, %a: f32, %b: f32) {\nentry:\n  %ab = call @times(%a, %b)\n  %s = fadd contract %ab, %b\n  \
                store %s, %p\n  ret\n}\n";
    let whole = Pipeline::for_level(OptLevel::O2);
    for (pipeline, is_fused) in [(whole.exact(), false), (whole, true)] {
        let module = parse(text);
        let mut module = warpsmith_lower::legalize(std::borrow::Cow::Borrowed(&module), Target::sm(90))
            .unwrap()
            .into_owned();
        pipeline.run(&mut module, &mut Options::default()).unwrap();
        let text = module.to_string();
        assert_eq!((text.contains("fma"), text.contains("fadd contract")), (is_fused, !is_fused), "{text}");
    }
}
