//! `warpsmith with`: a client that knows nothing of Warpsmith finds our libcuda, and what its kernels do is reported.
//!
//! The client is this test program itself, started again with `CLIENT` set.

use libloading::Library;
use std::ffi::c_void;
use std::process::{Command, Output};

/// What the client does, by name.
const CLIENT: &str = "WARPSMITH_TEST_CLIENT";

/// Thread `i` of two warps writes to `out[i & 3]`: a race. With an offset it writes out of bounds.
const KERNEL: &std::ffi::CStr = c"
.version 7.0
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 3;
    mad.wide.u32 %rd1, %r1, 4, %rd0;
    st.global.u32 [%rd1], %r0;
    ret;
}
";

fn client(what: &str) {
    // SAFETY: a library of the system's search path, called as `cuda.h` says.
    unsafe {
        let cuda = Library::new("libcuda.so.1").expect("a libcuda is found");
        let call1 = |name: &str, a: usize| {
            let f = cuda.get::<extern "C" fn(usize) -> u32>(name).expect("a function");
            f(a)
        };
        let call3 = |name: &str, a: usize, b: usize, c: usize| {
            let f = cuda.get::<extern "C" fn(usize, usize, usize) -> u32>(name).expect("a function");
            f(a, b, c)
        };
        let place = |value: &mut u64| (value as *mut u64).expose_provenance();
        let (mut context, mut module, mut function, mut out, mut capability) = (0u64, 0u64, 0u64, 0u64, 0u64);
        assert_eq!(call1("cuInit", 0), 0);
        assert_eq!(call3("cuCtxCreate_v2", place(&mut context), 0, 0), 0);
        assert_eq!(call3("cuDeviceGetAttribute", place(&mut capability), 75, 0), 0);
        println!("capability {capability}");
        assert_eq!(call3("cuModuleLoadData", place(&mut module), KERNEL.as_ptr().expose_provenance(), 0), 0);
        let name = c"meet".as_ptr().expose_provenance();
        assert_eq!(call3("cuModuleGetFunction", place(&mut function), module as usize, name), 0);
        assert_eq!(call3("cuMemAlloc_v2", place(&mut out), 16, 0), 0);
        if what == "fault" {
            out += 16;
        }
        let mut params: [*mut c_void; 1] = [(&raw mut out).cast()];
        type Launch =
            extern "C" fn(u64, u32, u32, u32, u32, u32, u32, u32, u64, *mut *mut c_void, usize) -> u32;
        let launch = cuda.get::<Launch>("cuLaunchKernel").expect("a function");
        let result = launch(function, 1, 1, 1, 64, 1, 1, 0, 0, params.as_mut_ptr(), 0);
        println!("launch {result}");
    }
    if what == "status" {
        std::process::exit(7);
    }
}

/// This test as the client; by itself it does nothing.
#[test]
fn as_client() {
    if let Ok(what) = std::env::var(CLIENT) {
        client(&what);
    }
}

/// The library lies beside this test: cargo builds it for the package's tests.
fn with(what: &str, options: &[&str]) -> Output {
    let own = std::env::current_exe().expect("the test has a path");
    let library = own.parent().expect("a folder").join("libwarpsmith_cuda.so");
    assert!(library.is_file(), "{}", library.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.arg("with").args(options).arg("--").arg(&own).args(["as_client", "--exact", "--nocapture"]);
    command.env(CLIENT, what).env("WARPSMITH_LIBCUDA", &library).output().expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_runs_on_the_device_that_is_asked_for() {
    let output = with("plain", &["--device", "sm_120"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    assert!(out.contains("capability 12") && out.contains("launch 0"), "{out}");
    assert!(err.contains("warpsmith: 1 launch"), "{err}");
}

#[test]
fn findings_are_reported_and_are_the_status() {
    let file = std::env::temp_dir().join(format!("warpsmith-with-{}.json", std::process::id()));
    let output = with("plain", &["--check=all", "--report", file.to_str().expect("a path")]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(err.contains("error[W0301]") && err.contains("st.global.u32 [%rd1], %r0;"), "{err}");
    assert!(err.contains("found by checkers"), "{err}");
    let report = std::fs::read_to_string(&file).expect("a report");
    std::fs::remove_file(&file).expect("the report can be removed");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((report["launches"].as_u64(), &report["entries"][0]["subject"]), (Some(1), &"meet".into()));
}

#[test]
fn faults_are_reported_with_their_lines() {
    let output = with("fault", &[]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(out.contains("launch 700"), "{out}");
    assert!(err.contains("error[out_of_bounds]") && err.contains("st.global.u32 [%rd1], %r0;"), "{err}");
}

#[test]
fn the_status_of_the_program_is_kept() {
    assert_eq!(with("status", &[]).status.code(), Some(7));
    assert_eq!(with("status", &["--check", "nonsense"]).status.code(), Some(2));
}

#[test]
fn profile_and_coverage_are_written_for_each_module() {
    let folder = std::env::temp_dir().join(format!("warpsmith-with-measures-{}", std::process::id()));
    let [profile, coverage] = ["profile", "coverage"].map(|name| folder.join(name));
    let [to_profile, to_coverage] = [&profile, &coverage].map(|path| path.to_str().expect("a path"));
    let output = with("plain", &["--profile", to_profile, "--coverage", to_coverage]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let read = |folder: &std::path::Path, extension: &str| {
        let listed = std::fs::read_dir(folder).expect("the folder was made");
        let found: Vec<_> = listed.map(|entry| entry.expect("an entry").path()).collect();
        let mut wanted = found.iter().filter(|path| path.extension().is_some_and(|e| e == extension));
        let path = wanted.next().unwrap_or_else(|| panic!("no .{extension} in {found:?}"));
        assert!(wanted.next().is_none(), "one module ran: {found:?}");
        std::fs::read_to_string(path).expect("a text")
    };
    assert!(read(&profile, "txt").contains("meet"));
    let json: serde_json::Value = serde_json::from_str(&read(&profile, "json")).expect("JSON");
    assert!(json.to_string().contains("meet"), "{json}");
    // Every instruction was reached: the store in line 13 of the text too.
    let lcov = read(&coverage, "info");
    assert!(lcov.contains("DA:13,") && !lcov.contains(",0\n"), "{lcov}");
    assert!(read(&coverage, "html").contains("st.global.u32"));
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}
