//! Files, closures and bitcode to PTX and bindings; the bindings are compiled with this test, and run.

#![allow(unexpected_cfgs, reason = "the feature `cudarc` is the user's")]

use std::path::{Path, PathBuf};
use warpsmith::Device;
use warpsmith_build::Build;

/// What `bindings::generate` wrote for `kernels/`: `BLESS=1` writes it again.
mod kernels {
    include!("generated/kernels.rs");
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The recorded file is what is made now.
fn recorded(made: &Path) {
    let recorded = tests().join("generated").join(made.file_name().unwrap());
    let made = std::fs::read_to_string(made).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&recorded, &made).unwrap();
    }
    let expected = std::fs::read_to_string(&recorded).unwrap_or_default();
    assert!(made == expected, "{} is another now: BLESS=1, and read the diff", recorded.display());
}

#[test]
fn a_folder_of_kernels() {
    let folder = tests().join("kernels");
    let files = ["saxpy.wir", "histogram.ptx"].map(|name| folder.join(name));
    let [saxpy, histogram] = files;
    let build = Build::new().target("sm_80").file(saxpy).file(histogram).out_dir(scratch("folder"));
    let output = build.compile("kernels").unwrap();
    recorded(&output.ptx);
    recorded(&output.bindings);
}

/// A length whose register holds an address later is a number, also where a call has parameters in a scope of their own.
#[test]
fn a_register_is_what_was_assigned_last() {
    let folder = scratch("again");
    let file = folder.join("again.ptx");
    let text = "
        .version 7.0
        .target sm_80
        .address_size 64
        .func note(.param .b64 what) { ret; }
        .visible .entry last(.param .u64 .ptr .global .align 4 data, .param .u64 n)
        {
            .reg .b64 %rd<3>;
            ld.param.u64 %rd0, [data];
            ld.param.u64 %rd1, [n];
            {
                .param .b64 param0;
                st.param.b64 [param0], 7;
                call note, (param0);
            }
            mov.b64 %rd2, %rd1;
            add.s64 %rd1, %rd0, 4;
            st.global.b32 [%rd1], 1;
            ret;
        }";
    std::fs::write(&file, text).unwrap();
    let output = Build::new().target("sm_80").file(file).out_dir(folder).compile("bindings").unwrap();
    let bindings = std::fs::read_to_string(output.bindings).unwrap();
    assert!(bindings.contains("data: Buffer, n: u64)"), "{bindings}");
}

#[test]
fn bindings_launch_kernels() {
    use kernels::cpu::{Config, Kernels};
    let kernels = Kernels::load().unwrap();
    let mut device = Device::new();
    let data: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (x, bins) = (device.upload(&data).unwrap(), device.upload(&[0u32; 8]).unwrap());
    let mut scale = [0u8; 16];
    scale[4..8].copy_from_slice(&0.5f32.to_le_bytes());
    let config = Config { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    kernels.histogram(&mut device, config, x, bins, 100, scale).unwrap();
    let expected: Vec<u32> =
        (0..8).map(|bin| (0..100).filter(|i| (i / 2) % 8 == bin).count() as u32).collect();
    assert_eq!(device.download::<u32>(bins).unwrap(), expected);

    let y = device.upload(&[1f32; 100]).unwrap();
    kernels.saxpy(&mut device, Config::for_num_elems(100), 100, 2.0, x, y).unwrap();
    assert_eq!(device.download::<f32>(y).unwrap()[99], 199.0);
}

#[test]
fn a_closure_and_bitcode() {
    let corpus = tests().join("../../../llvm/tests/corpus/kernels.O3.bc");
    let output = Build::new()
        .target("sm_80")
        .file(corpus)
        .ir("closure", |module| {
            *module = warpsmith::Module::parse(
                "kernel @seven(%p: ptr<global>) {\nentry:\n  store.i32 7, %p\n  ret\n}\n",
            )?;
            Ok(())
        })
        .out_dir(scratch("mixed"))
        .compile("mixed")
        .unwrap();
    let text = std::fs::read_to_string(output.ptx).unwrap();
    assert!(text.contains(".entry seven(") && text.contains(".entry saxpy("), "{text}");
    let bindings = std::fs::read_to_string(output.bindings).unwrap();
    assert!(bindings.contains("pub unsafe fn seven<T0: super::Bits<4>>"), "{bindings}");
}

#[test]
fn everything_wrong_is_reported_with_its_source() {
    let folder = scratch("wrong");
    std::fs::write(folder.join("a.wir"), "kernel @k() {\nentry:\n  retn\n}\n").unwrap();
    std::fs::write(
        folder.join("b.ptx"),
        ".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { add.u33 a, b; }\n",
    )
    .unwrap();
    let error = Build::new()
        .file(folder.join("a.wir"))
        .file(folder.join("b.ptx"))
        .file(folder.join("c.wir"))
        .ir("mine", |_| Err("out of ideas".into()))
        .out_dir(&folder)
        .compile("wrong")
        .unwrap_err();
    let text = error.to_string();
    for expected in
        ["a.wir:3:3", "unknown operation `retn`", "b.ptx:4:", "cannot read", "c.wir", "mine: out of ideas"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let unknown = Build::new().target("sm_8").file(folder.join("a.wir")).out_dir(&folder).compile("wrong");
    assert!(unknown.unwrap_err().to_string().contains("unknown target `sm_8`"));
    let empty = Build::new().out_dir(&folder).compile("no-such-folder").unwrap_err();
    assert!(empty.to_string().contains("no-such-folder"), "{empty}");
}
