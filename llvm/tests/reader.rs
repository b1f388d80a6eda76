//! Bitcode of clang is read in full, and damaged bitcode is an error.

use arbtest::arbtest;
use warpsmith_llvm::{Module, Options, dump, import};

const FILES: &[(&str, &[u8])] = &[
    ("kernels.O0", include_bytes!("corpus/kernels.O0.bc")),
    ("kernels.O3", include_bytes!("corpus/kernels.O3.bc")),
    ("kernels.raw", include_bytes!("corpus/kernels.raw.bc")),
    ("features.O0", include_bytes!("corpus/features.O0.bc")),
    ("features.O3", include_bytes!("corpus/features.O3.bc")),
    ("gaps", include_bytes!("corpus/gaps/gaps.bc")),
    ("types.O0", include_bytes!("corpus/debug/types.O0.bc")),
    ("source.O2", include_bytes!("corpus/debug/source.O2.bc")),
];

fn text(bytes: &[u8]) -> warpsmith_llvm::Result<String> {
    dump::module(&mut Module::read(bytes)?)
}

#[test]
fn what_clang_writes_is_read() {
    for (name, bytes) in FILES {
        let text = text(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains("target triple = \"nvptx64-nvidia-cuda\""), "{name}: {text}");
        // What the dump cannot name it shows as `<value 7>`.
        assert!(!text.contains("<value"), "{name}: {text}");
    }
}

#[test]
fn a_kernel_as_text() {
    let text = text(FILES[1].1).unwrap();
    let from = text.find("define ptx_kernel void @saxpy").unwrap();
    let body: Vec<&str> = text[from..].lines().skip(1).take_while(|line| *line != "}").collect();
    expect_test::expect![[r#"
        4:
          %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
          %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
          %7 = mul nuw nsw i32 %5, %6
          %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          %9 = add nuw nsw i32 %7, %8
          %10 = icmp slt i32 %9, %0
          br i1 %10, label %11, label %19

        11:
          %12 = zext nneg i32 %9 to i64
          %13 = getelementptr inbounds nuw float, ptr %2, i64 %12
          %14 = load float, ptr %13, align 4
          %15 = fmul contract float %1, %14
          %16 = getelementptr inbounds nuw float, ptr %3, i64 %12
          %17 = load float, ptr %16, align 4
          %18 = fadd contract float %15, %17
          store float %18, ptr %16, align 4
          br label %19

        19:
          ret void"#]]
    .assert_eq(&body.join("\n"));
}

#[test]
fn truncated_files_are_errors() {
    for (name, bytes) in FILES {
        for len in (0..bytes.len()).step_by(61) {
            assert!(Module::read(&bytes[..len]).is_err(), "{name} cut to {len} bytes");
        }
    }
}

/// `ARBTEST_BUDGET_MS` says for how long, `--nocapture` shows how many there were.
#[test]
fn damaged_files_never_panic() {
    let mut tried = 0u64;
    let budget = std::env::var("ARBTEST_BUDGET_MS").map_or(2_000, |text| text.parse().expect("milliseconds"));
    arbtest(|u| {
        tried += 1;
        let (_, bytes) = u.choose(FILES)?;
        let mut bytes = bytes.to_vec();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.choose_index(bytes.len())?;
            bytes[at] ^= 1 << u.int_in_range(0..=7)?;
        }
        // Either answer is right: what counts is that there is one.
        if let Ok(text) = text(&bytes) {
            assert!(!text.is_empty());
        }
        if let Ok(module) = Module::read(&bytes)
            && let Err(errors) = import(vec![("damaged".to_owned(), module)], &Options::new())
        {
            assert!(!errors.is_empty());
        }
        Ok(())
    })
    .budget_ms(budget);
    println!("{tried} damaged files");
}

/// What damage has found once.
#[test]
fn constants_with_other_elements_than_their_types_are_errors() {
    let bytes = include_bytes!("corpus/damaged/elements.bc");
    let module = Module::read(bytes).expect("a module");
    let errors = import(vec![("elements.bc".to_owned(), module)], &Options::new()).expect_err("an error");
    let named = |error: &warpsmith_llvm::Error| error.to_string().contains("elements than that has");
    assert!(errors.iter().any(named), "{errors:?}");
}

/// As llvm-dis writes them: each format has its letter, and its order of words.
#[test]
fn constants_of_other_machines_formats() {
    let text = text(include_bytes!("corpus/long-double.bc")).unwrap();
    let stored: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("store ")).collect();
    expect_test::expect![[r#"
        x86_fp80 0xK4000C90FDAA22168C235, ptr %a, align 16
        fp128 0xL8469898CC51701B84000921FB54442D1, ptr %b, align 16
        ppc_fp128 0xM400921FB54442D183CA1A62633145C07, ptr %c, align 16"#]]
    .assert_eq(&stored.join("\n"));
}

/// Each single bit of a small file: what is imported is valid, but for values that do not reach their uses on every path, which only the IR's verifier
/// sees.
#[test]
fn every_bit_of_a_small_file() {
    let bytes = include_bytes!("corpus/damaged/small.bc");
    let imported = |at: usize, bit: u32| {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 1 << bit;
        let module = Module::read(&damaged).map_err(|error| vec![error])?;
        import(vec![("small.bc".to_owned(), module)], &Options::new())
    };
    let mut wrong = Vec::new();
    for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        if let Ok(module) = imported(at, bit)
            && let Err(errors) = warpsmith_ir::verify(&module)
            && !errors.to_string().contains("is not defined on every path")
        {
            wrong.push(format!("bit {bit} of byte {at}: {errors}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (at, bit, expected) in [
        (1529, 4, "`ret` of `i1` in a function that gives `float`"),
        (228, 1, "a `select` by what is not a condition"),
        (1503, 2, "case 1 of a `switch` stands there twice"),
    ] {
        let errors = imported(at, bit).expect_err(expected);
        let text = errors[0].to_string();
        assert!(text.contains(expected) && text.contains("(record at byte 0x"), "{text}");
    }
}
