//! Files that hold something else than their names or the commands say.

use crate::{Folder, text, warpsmith};

const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry a() { ret; }\n";
const IR: &str = "kernel @a() {\nentry:\n  ret\n}\n";
const LLVM: &str = "; ModuleID = 'a.c'\nsource_filename = \"a.c\"\n";

#[test]
fn what_a_file_seems_to_be() {
    let folder = Folder::new("inputs");
    for (name, contents, commands, wanted) in [
        (
            "ptx.wir",
            PTX,
            &["check", "compile", "opt", "run", "roundtrip", "fmt", "debug"][..],
            "seems to be PTX, and its extension says Warpsmith's IR text: rename it to `.ptx`",
        ),
        (
            "ir.ptx",
            IR,
            &["check", "run", "link", "bindgen", "reduce", "compile"],
            "seems to be Warpsmith's IR text, and its extension says PTX: rename it to `.wir`",
        ),
        (
            "k.ll",
            LLVM,
            &["compile", "run", "check"],
            "seems to be the text form of LLVM's IR, and bitcode is read",
        ),
        ("llvm.ptx", LLVM, &["check"], "seems to be the text form of LLVM's IR"),
        (
            "k.cu",
            "#include <cuda_fp16.h>\n",
            &["compile", "run"],
            "seems to be a source in C, C++ or OpenCL C, and clang makes the bitcode",
        ),
        ("k.bc", PTX, &["dump"], "is no LLVM bitcode (it seems to be PTX)"),
    ] {
        let path = folder.file(name, contents);
        for command in commands {
            let output = warpsmith([command.as_ref(), path.as_os_str()]);
            let said = format!("{}{}", text(&output.stderr), text(&output.stdout));
            assert!(
                !output.status.success() && said.contains(wanted) && said.contains(name),
                "{command} {name}: {said}"
            );
        }
    }
    let path = folder.file("ptx.wir", PTX);
    let output = warpsmith(["check".as_ref(), "--json".as_ref(), path.as_os_str()]);
    assert!(text(&output.stdout).contains("seems to be PTX"), "{}", text(&output.stdout));
}

#[test]
fn damaged_bitcode_is_named() {
    let folder = Folder::new("damaged");
    let whole =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../llvm/tests/corpus/kernels.O3.bc")).unwrap();
    let path = folder.file("damaged.bc", &whole[..whole.len() / 2]);
    for command in ["compile", "dump", "run", "opt"] {
        let output = warpsmith([command.as_ref(), path.as_os_str()]);
        let said = text(&output.stderr);
        assert_eq!(said.matches("damaged.bc: ").count(), 1, "{command}: {said}");
    }
}

#[test]
fn bindings_find_their_ptx() {
    let folder = Folder::new("bindings");
    let (ptx, ir) = (folder.file("kernels/a.ptx", PTX), folder.file("kernels/b.wir", IR));
    for (file, to, path) in [
        (&ptx, "kernels/a.rs", "a.ptx"),
        (&ptx, "src/a.rs", "../kernels/a.ptx"),
        // Their PTX is made here.
        (&ir, "src/b.rs", "b.ptx"),
        (&ir, "kernels/b.rs", "b.ptx"),
    ] {
        let out = folder.file(to, "");
        let output = warpsmith(["bindgen".as_ref(), file.as_os_str(), "-o".as_ref(), out.as_os_str()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let source = std::fs::read_to_string(&out).unwrap();
        assert!(source.contains(&format!("include_str!(\"{path}\")")), "{source}");
        assert!(out.parent().unwrap().join(path).is_file(), "{path} of {to}");
    }
}
