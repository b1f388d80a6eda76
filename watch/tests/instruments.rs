//! Trace, coverage, profile, and the page: of a kernel whose counts are known. What they write is compared with the files in `instruments/`, which
//! `cargo xtask bless` writes anew.

use expect_test::expect_file;
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use warpsmith_interp::observe::Observer;
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ptx::ValidatedModule;
use warpsmith_watch::profile::Space;
use warpsmith_watch::trace::{Filter, Trace};
use warpsmith_watch::{Class, Counts, Coverage, Page, Profile, Sources};

const STRIDES: &str = include_str!("instruments/strides.ptx");
const SOURCE: &str = include_str!("instruments/strides.cu");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let browser = browser();
    let ignored = browser.is_none();
    let test = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let trials = vec![
        test("coverage", coverage),
        test("coverage_of_a_table", coverage_of_a_table),
        test("profile", profile),
        test("trace", trace),
        test("trace_filters", trace_filters),
        Trial::test("page_in_a_browser", move || {
            page_in_a_browser(
                &browser
                    .ok_or("no Chromium: `chromium`, `google-chrome`, or what WARPSMITH_BROWSER names")?,
            );
            Ok(())
        })
        .with_ignored_flag(ignored),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instruments")
}

fn load(text: &str) -> (ValidatedModule, Program) {
    let module = ValidatedModule::parse(text).unwrap_or_else(|e| panic!("{e:#?}"));
    let program = Program::load(&module).unwrap_or_else(|e| panic!("{e:#?}"));
    (module, program)
}

/// Runs the kernel of `strides.ptx` in blocks of 32 threads.
fn observed(program: &Program, observer: &mut dyn Observer) {
    let mut device = Device::new();
    let out = device.upload(&[5u32; 64]).unwrap();
    let launch = Launch::new("strides").block([32, 1, 1]).arg(out);
    device.launch_observed(program, &launch, observer).unwrap();
}

fn texts() -> BTreeMap<String, String> {
    [("strides.cu".to_owned(), SOURCE.to_owned())].into()
}

/// The line of the statement that ends with this comment.
fn line_of(comment: &str) -> u32 {
    STRIDES.lines().position(|l| l.ends_with(comment)).expect("the comment is there") as u32 + 1
}

fn coverage() {
    let (module, program) = load(STRIDES);
    let sources = Sources::new("strides.ptx", STRIDES, &module);
    let mut counts = Counts::coverage();
    observed(&program, &mut counts);
    let coverage = Coverage::new(&program, &counts, &sources);
    let (instructions, outcomes) = (coverage.instructions(), coverage.outcomes());
    assert_eq!((instructions.reached, instructions.all), (22, 23));
    assert_eq!((outcomes.reached, outcomes.all), (3, 4));
    expect_file![folder().join("coverage.txt")].assert_eq(&coverage.text(&texts()));
    expect_file![folder().join("coverage.info")].assert_eq(&coverage.lcov());
}

fn coverage_of_a_table() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\nand.b32 %r, %r, 2;\n\
                L: .branchtargets A, B, C;\nbrx.idx %r, L;\nA: ret;\nB: ret;\nC: ret;\n}\n";
    let (module, program) = load(text);
    let sources = Sources::new("k.ptx", text, &module);
    let mut counts = Counts::coverage();
    Device::new().launch_observed(&program, &Launch::new("k").block([32, 1, 1]), &mut counts).unwrap();
    let coverage = Coverage::new(&program, &counts, &sources);
    assert_eq!(coverage.line(9).unwrap().outcomes, [16, 0, 16]);
    assert!(coverage.lcov().contains("BRDA:9,0,0,16\nBRDA:9,0,1,0\nBRDA:9,0,2,16\n"));
}

fn profile() {
    let (module, program) = load(STRIDES);
    let sources = Sources::new("strides.ptx", STRIDES, &module);
    let mut counts = Counts::profile();
    observed(&program, &mut counts);
    let profile = Profile::new(&program, &counts, &sources);
    let memory = |line: u32| profile.line(line).and_then(|l| l.memory.as_ref()).unwrap();
    // A stride of two words is a conflict of two lanes, of 32 words one of 32.
    let two = line_of("st.shared.u32 [%r2], %r0;           // stride 2");
    assert_eq!((memory(two).requests, memory(two).passes.moved, memory(two).worst), (1, 2, 2));
    let all = line_of("// stride 32");
    assert_eq!((memory(all).passes.moved, memory(all).passes.excess(), memory(all).worst), (32, 31, 32));
    let row = line_of("ld.shared.u32 %r5, [%r4];           // in a row");
    assert_eq!((memory(row).passes.moved, memory(row).passes.excess()), (1, 0));
    // 32 words with a word between each fill eight sectors by half.
    let global = line_of("st.global.u32 [%rd1], %r5;          // stride 2");
    assert_eq!(
        (memory(global).sectors.moved, memory(global).sectors.needed, memory(global).lines),
        (8, 4, 2)
    );
    let row = line_of("ld.global.u32 %r6, [%rd2];          // in a row");
    assert_eq!((memory(row).sectors.moved, memory(row).sectors.needed, memory(row).lines), (4, 4, 1));
    let one = line_of("// all at one place");
    assert_eq!((memory(one).sectors.moved, memory(one).sectors.needed), (1, 1));
    assert_eq!(profile.space(Space::Shared).unwrap().passes.excess(), 32);
    assert_eq!((profile.branch_executions, profile.branches.divergent), (2, 1));
    let of = |class: Class| profile.mix.iter().find(|(c, _)| *c == class).map(|(_, e)| e.warps);
    assert_eq!((of(Class::Load), of(Class::Store), of(Class::Float)), (Some(4), Some(4), None));
    expect_file![folder().join("profile.txt")].assert_eq(&profile.text());
    expect_file![folder().join("profile.json")].assert_eq(&format!("{:#}\n", profile.json()));
}

fn traced(conditions: &[&str]) -> String {
    let (_, program) = load(STRIDES);
    let mut trace = Trace::new(Vec::new(), Filter::new(conditions.iter().map(|c| c.parse().unwrap())));
    observed(&program, &mut trace);
    String::from_utf8(trace.finish().unwrap()).unwrap()
}

fn trace() {
    let text = traced(&[]);
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[0]["event"], "launch");
    let end = lines.last().unwrap();
    let traced = lines.iter().filter(|l| l.get("n").is_some()).count();
    assert_eq!((end["event"].as_str(), end["instructions"].as_u64()), (Some("end"), Some(traced as u64)));
    expect_file![folder().join("trace.jsonl")].assert_eq(&text);
}

fn trace_filters() {
    let lines = |conditions: &[&str]| -> Vec<(u64, String)> {
        let of = |l: &str| -> Value { serde_json::from_str(l).unwrap() };
        let text = traced(conditions);
        let traced = text.lines().map(of).filter(|l| l.get("n").is_some());
        traced.map(|l| (l["line"].as_u64().unwrap(), l["mask"].as_str().unwrap().to_owned())).collect()
    };
    let stores = lines(&["class=store", "thread=7-8"]);
    // The stores before the branch are one for both threads, the one after it is one for each.
    assert_eq!(stores.iter().map(|(_, mask)| mask.as_str()).collect::<Vec<_>>(), ["0x00000180"; 4]);
    assert_eq!(lines(&["class=memory"]).len(), 8);
    assert_eq!(lines(&["line=12-13", "warp=0", "block=0"]).len(), 2);
    assert!(lines(&["block=1"]).is_empty() && lines(&["kernel=other"]).is_empty());
}

/// A folder of the test's own.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the folder can be made");
    path
}

/// The browser that `WARPSMITH_BROWSER` names, or one that is installed. No registry of packages has one for `cargo xtask test` to install.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("WARPSMITH_BROWSER").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let mut on_path = names.into_iter().map(PathBuf::from);
    let starts =
        |p: &PathBuf| Command::new(p).arg("--version").output().is_ok_and(|output| output.status.success());
    named.or_else(|| on_path.find(starts))
}

/// The page works where it is opened: its script runs, a click on a line of PTX marks the line of the source, charts have their bars.
fn page_in_a_browser(browser: &Path) {
    let (module, program) = load(STRIDES);
    let sources = Sources::new("strides.ptx", STRIDES, &module);
    let mut counts = Counts::profile();
    observed(&program, &mut counts);
    let coverage = Coverage::new(&program, &counts, &sources);
    let profile = Profile::new(&program, &counts, &sources);
    let page = Page { title: "strides.ptx", coverage: &coverage, profile: Some(&profile), texts: &texts() };
    let probe = format!(
        "<script>const errors = []; addEventListener('error', e => errors.push(e.message));\
         document.querySelector('#p{}').click();\
         const shown = e => e !== null && e.getBoundingClientRect().width > 0;\
         document.title = JSON.stringify({{ marked: [...document.querySelectorAll('tr.mark')].map(r => r.id),\
         bars: [...document.querySelectorAll('svg rect')].filter(shown).length, missed: document.querySelectorAll('#ptx tr.miss').length,\
         panes: [...document.querySelectorAll('.pane')].filter(shown).length, errors,\
         beside: document.querySelector('#source').getBoundingClientRect().right <= document.querySelector('#ptx').getBoundingClientRect().left,\
         loads: performance.getEntriesByType('resource').length }});</script></body>",
        line_of("// stride 32")
    );
    let scratch = scratch("instruments-page");
    let file = scratch.join("page.html");
    std::fs::write(&file, page.render().replace("</body>", &probe)).unwrap();
    let profile_folder = format!("--user-data-dir={}", scratch.join("profile").display());
    let picture = format!("--screenshot={}", scratch.join("page.png").display());
    let address = format!("file://{}", file.display());
    let open = |more: &str| {
        let flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1600,1400",
        ];
        let output = Command::new(browser).args(flags).args([&profile_folder, more, &address]).output();
        output.expect("the browser starts")
    };
    let output = open("--dump-dom");
    let dom = String::from_utf8_lossy(&output.stdout);
    let title =
        dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|(title, _)| title);
    let title = title.unwrap_or_else(|| panic!("{output:?}"));
    let seen: Value = serde_json::from_str(title).unwrap_or_else(|_| panic!("{title}"));
    let strides = line_of("// stride 32");
    let marked: Vec<&str> = seen["marked"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(marked.contains(&"s0-5") && marked.contains(&format!("p{strides}").as_str()), "{seen}");
    assert_eq!(
        (&seen["errors"], &seen["panes"], &seen["loads"]),
        (&Value::Array(Vec::new()), &2.into(), &0.into()),
        "{seen}"
    );
    assert_eq!((&seen["beside"], &seen["missed"]), (&true.into(), &1.into()), "{seen}");
    assert!(seen["bars"].as_u64() > Some(20), "{seen}");
    open(&picture);
    assert!(
        std::fs::metadata(scratch.join("page.png")).is_ok_and(|m| m.len() > 10_000),
        "no picture of the page"
    );
}
