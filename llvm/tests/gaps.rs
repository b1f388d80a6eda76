//! What producers write and PTX has nothing like, construct by construct: what is imported leaves the right words, as the IR means it and as PTX of
//! every level, and what is refused is refused by name, with the function and the byte of the record.

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_interp::{Arg, Device, Launch, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

const GAPS: &[u8] = include_bytes!("corpus/gaps/gaps.bc");

/// A construct, the kernel of `corpus/gaps/gaps.ll` that has it, and the first of the eight words that it leaves; the others stay 0.
const IMPORTED: &[(&str, &str, &[u64])] = &[
    ("first-class aggregates", "aggregate_values", &[42]),
    ("initialisers with addresses, packed structs", "initialisers", &[b'd' as u64, b'v' as u64, 41, 40, 1]),
    ("memory of the stack, copies that overlap", "stack", &[0x0002_0101]),
    ("inlining", "inlining", &[11]),
    ("blocks of memory", "blocks_of_memory", &[0x0202_0202_0202_0202, 0x02_0202_0202]),
    (
        "overflow, saturation, funnel shifts, classes",
        "arithmetic",
        &[1000 - 56, -128i64 as u64, 0x234a, u64::MAX, 0x0605_0403_0201, (1 << 19) - 1, 1 + 8, 12336],
    ),
    ("atomics of every width and order", "atomics", &[!0xfd00, 77 | 9 << 16, 1, (-1.5f32).to_bits() as u64]),
    ("unreachable, undef, poison, freeze", "nothing_is_undefined", &[21]),
    ("generic pointers", "spaces", &[9, 13, 3]),
    ("numbers of addresses in sections", "section_addresses", &[0, 4, 12, 1]),
    ("constant expressions", "constant_expressions", &[b'i' as u64, 0x0002_0002_0002_006b]),
    ("calls through addresses", "indirect_calls", &[42]),
    ("i128", "wide", &[1_000_000_000_000_000_000, 1e30f64.to_bits(), 54_210_108_624]),
    ("odd widths", "odd", &[u64::MAX, u32::MAX as u64, 60, -3i64 as u64]),
    ("vectors", "vectors", &[0b0110, 205, 4 | 2 << 32, 9, 0, 0b1000_0101]),
    ("byval", "by_value_kernel", &[38]),
    ("contract", "contract", &[(127 - 46) << 23]),
    (
        "contract through variables",
        "contract_variables",
        &[(127 - 46) << 23, (127 - 46) << 23, 0, 0x3fff_fffe],
    ),
    ("switch", "switches", &[23]),
    ("inline assembly, module assembly", "assembly", &[24, 7, 31]),
    ("linkage, aliases, constructors", "linkage", &[25, 11]),
    ("metadata of loads and loops", "metadata", &[10]),
    ("varargs", "variable_arguments", &[321]),
    ("frem, addresses of blocks", "remainders", &[1.5f64.to_bits(), 3]),
    ("musttail, stacksave", "last_calls", &[17]),
    ("hints for optimisers", "hints", &[8]),
    ("assumptions, what a GPU has no answer for", "assumptions", &[0, 2, 4]),
    ("vectors in turns", "turns", &[0x0604_0205_0301, 0x0605]),
    ("atomic changes of vectors", "atomic_vectors", &[0xc000_4200, 0xc000_3c00, 0xbf80_0000, 0x4400_4000]),
    ("texts of assembly", "assembly_texts", &[5, 12 + 100 + 5]),
    (
        "operands of assembly",
        "assembly_operands",
        &[0x4000_3c00, 0xfffe_0403_0201, (10 - 11 + 12 - 1100i64) as u64, 0x0201_0001, 0x4000_3c07],
    ),
    ("operands of assembly in memory, and of several kinds", "assembly_memory", &[65]),
    (
        "sums of four words, an element at an index",
        "wide_sums",
        &[33, 0, 5, 1, 0xfffffffffffffffe, 0xffffffffffffffff, 6, 0xffffffffffffffff],
    ),
    ("memcpy and memset of clang's headers", "block_functions", &[0x0101_0101_0101_0101, 7]),
    ("NVVM IR's modes", "nvvm_modes", &[77, 0x11]),
    ("classes of C++", "classes", &[b'd' as u64, 16, 1]),
    (
        "fixed-point numbers, carry-less products",
        "fixed_point",
        &[
            -11i64 as u64,
            127 << 32 | 0xffff_fffe,
            -715827883i64 as u64,
            0xffff << 16 | 0x7fff,
            228 << 32,
            0x80_0000_0001,
        ],
    ),
    (
        "elements that masks and numbers select",
        "lanes",
        &[
            0x0004_0003_0006_0000,
            60802,
            0b1001_0000_0011,
            15 | 26 << 32,
            0x0009_0008_0007_0006,
            0x0009_0008_0007_0006,
        ],
    ),
    ("elements that a mask selects", "compressed", &[0xb7ec496595d1cb56]),
    ("llvm.nvvm.* that are not instructions", "nvvm", &[2f64.to_bits(), 0x4000_0000, 34, 1]),
];

/// What `corpus/gaps/refused/` has, and how it is called.
const REFUSED: &[(&str, &str)] = &[
    ("bundle", "the operand bundle `deopt`"),
    ("callbr", "`callbr`"),
    ("catchswitch", "`catchswitch`"),
    ("depth", "`read_imagef` of an `image2d_depth_t`"),
    ("fp128", "`fp128`"),
    ("ifunc", "the ifunc `@chosen`"),
    ("inalloca", "`alloca inalloca`"),
    ("intrinsic", "`llvm.eh.return.i64`"),
    ("pipe", "a pipe of OpenCL (`__read_pipe_2`)"),
    ("queue", "a queue of OpenCL (`__enqueue_kernel_basic`)"),
    ("read_write", "`read_imagef` of a read_write `image2d_t`"),
    ("scalable", "a scalable vector"),
    ("search", "131072 comparisons for 4096 elements"),
    ("thread_local", "a `thread_local` variable"),
    ("x86_fp80", "`x86_fp80`"),
];

fn imported(bytes: &[u8]) -> Result<warpsmith_ir::Module, String> {
    let module = Module::read(bytes).map_err(|error| error.to_string())?;
    import(vec![("gaps.bc".to_owned(), module)], &Options::new().with_target(Target::sm(80)))
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// The module's meaning and the PTX of every level.
fn programs() -> Vec<(String, Program)> {
    programs_of(GAPS)
}

fn programs_of(bytes: &[u8]) -> Vec<(String, Program)> {
    let module = imported(bytes).unwrap();
    warpsmith_ir::verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    let mut all = vec![("meaning".to_owned(), Program::from_ir(&module).unwrap())];
    for level in OptLevel::ALL {
        let compiled = Compiler::new(Target::sm(80)).with_opt_level(level).compile(&module);
        let compiled = compiled.unwrap_or_else(|errors| panic!("{level:?}: {errors}"));
        all.push((format!("{level:?}"), Program::load(&compiled.module).unwrap()));
    }
    all
}

#[test]
fn what_is_imported_means_what_llvm_says() {
    let mut wrong = Vec::new();
    for (how, program) in programs() {
        for (what, kernel, expected) in IMPORTED {
            let mut device = Device::new();
            let out = device.upload(&[0u64; 8]).unwrap();
            device.launch(&program, &Launch::new("nvptx$device$init").block([1, 1, 1])).unwrap();
            if let Err(fault) = device.launch(&program, &Launch::new(*kernel).block([1, 1, 1]).arg(out)) {
                wrong.push(format!("{what}, {how}: {fault}"));
                continue;
            }
            let found = device.download::<u64>(out).unwrap();
            let mut words = [0; 8];
            words[..expected.len()].copy_from_slice(expected);
            if found != words {
                wrong.push(format!("{what}, {how}: {found:x?}, not {words:x?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parts_of_registers_and_carries() {
    for (how, program) in programs_of(include_bytes!("corpus/gaps/parts.bc")) {
        let mut device = Device::new();
        let out = device.upload(&[0u64; 3]).unwrap();
        device.launch(&program, &Launch::new("parts").block([1, 1, 1]).arg(out)).unwrap();
        assert_eq!(device.download::<u64>(out).unwrap(), [5, 6, 0xffff_ffff], "{how}");
    }
}

/// A call that may throw is a call: what only an exception reaches is not imported, so that it may use what nothing defines or PTX lacks.
#[test]
fn what_handles_exceptions_is_not_reached() {
    let bytes = include_bytes!("corpus/gaps/exceptions.bc");
    let module = imported(bytes).unwrap();
    assert!(module.function("missing").is_none(), "{module}");
    for (how, program) in programs_of(bytes) {
        let mut device = Device::new();
        let out = device.upload(&[0u64; 4]).unwrap();
        device.launch(&program, &Launch::new("unwinding").block([1, 1, 1]).arg(out)).unwrap();
        assert_eq!(device.download::<u64>(out).unwrap(), [42, 15, 21, 14], "{how}");
    }
    let dump = warpsmith_llvm::dump::module(&mut Module::read(bytes).unwrap()).unwrap();
    for line in [
        "%first = invoke i64 @twice(i64 21) to label %merge unwind label %pad",
        "%second = invoke fastcc i64 @thrice(i64 5) to label %merge unwind label %filters",
        "%caught = landingpad { ptr, i32 } cleanup catch ptr @_ZTIi",
        "%filtered = landingpad { ptr, i32 } filter [1 x ptr] [ptr @_ZTIi]",
        "resume { ptr, i32 } %filtered",
    ] {
        assert!(dump.contains(line), "{line}: {dump}");
    }
}

#[test]
fn lengths_of_vectors_and_late_functions_of_libdevice() {
    let big = 2f64.powi(1000);
    let large = 2f32.powi(120);
    let doubles = [3.0 * big, -4.0 * big, 12.0 * big, f64::NAN, f64::INFINITY];
    let floats = [2.0 * large, 3.0 * large, -6.0 * large, f32::NAN, f32::INFINITY];
    let of_one = f64::from(floats[0]).sqrt().recip() as f32;
    // 0.5 and 1 are exact; the values are from mpmath.
    let late =
        [0.476_936_276_204_469_9, 0.088_256_964_215_676_98, 0.019_563_353_982_668_407, 0.2, 0.565_159_1];
    let infinity = f64::INFINITY;
    let lengths = [
        (3, [13.0 * big, 1.0 / 13.0 / big, (7.0 * large).into(), (1.0 / (7.0 * large)).into()]),
        (4, [f64::NAN; 4]),
        (5, [infinity, 0.0, infinity, 0.0]),
        (0, [0.0, infinity, 0.0, infinity]),
    ];
    for (how, program) in programs_of(include_bytes!("corpus/gaps/libdevice.bc")) {
        for (count, expected) in lengths {
            let mut device = Device::new();
            let out = device.upload(&[0f64; 10]).unwrap();
            let (d, f) = (device.upload(&doubles).unwrap(), device.upload(&floats).unwrap());
            let launch = Launch::new("lengths").block([1, 1, 1]).arg(out).arg(d).arg(f).arg(count);
            device.launch(&program, &launch).unwrap();
            let found = device.download::<f64>(out).unwrap();
            let wanted = expected.into_iter().chain([of_one.into()]).chain(late);
            for (n, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                let near = if n < 5 {
                    0.0
                } else if n == 9 {
                    1e-7
                } else {
                    4e-16
                };
                let same = *found == wanted || found.is_nan() && wanted.is_nan();
                assert!(
                    same || ((found - wanted) / wanted).abs() <= near,
                    "{how}, {count}, {n}: {found:e}, not {wanted:e}"
                );
            }
        }
    }
}

/// As rustc passes slices: an address and a length in an array.
#[test]
fn aggregates_as_parameters() {
    for (how, program) in programs() {
        let mut device = Device::new();
        let out = device.upload(&[0u64; 3]).unwrap();
        let slice = [out.address().to_le_bytes(), 3u64.to_le_bytes()].concat();
        let launch = Launch::new("aggregate_parameters").block([1, 1, 1]);
        let launch = launch.arg(Arg::bytes(slice)).arg(Arg::bytes(vec![7, 0, 0, 0, 0xfe, 0, 0, 0]));
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<u64>(out).unwrap(), [3, 7, -2i64 as u64], "{how}");
    }
}

#[test]
fn conditions_as_parameters() {
    for (how, program) in programs() {
        let mut device = Device::new();
        let out = device.upload(&[0u64; 3]).unwrap();
        let launch = Launch::new("conditions").block([1, 1, 1]).arg(out);
        let launch =
            [1u8, 0, 0b10110].into_iter().fold(launch, |launch, byte| launch.arg(Arg::bytes(vec![byte])));
        device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
        assert_eq!(device.download::<u64>(out).unwrap(), [3, 6, 0b10110], "{how}");
    }
}

#[test]
fn attributes_and_spaces_reach_the_instructions() {
    let module = imported(GAPS).unwrap();
    let text = Compiler::new(Target::sm(80)).compile(&module).unwrap().text;
    let kernel = |name: &str| {
        let from = text.find(&format!(".entry {name}(")).unwrap();
        text[from..].split_inclusive("\n}").next().unwrap()
    };
    let attributes = kernel("attributes");
    for expected in [".maxntid 64", ".minnctapersm 2", "ld.global.nc.v2.b64", "st.global.v2.b64"] {
        assert!(attributes.contains(expected), "{expected}: {attributes}");
    }
    // The address came through `inttoptr` of a part of a parameter.
    assert!(kernel("aggregate_parameters").contains("st.global"), "{}", kernel("aggregate_parameters"));
    assert!(kernel("contract").contains("fma.rn.f32"), "{}", kernel("contract"));
}

#[test]
fn what_is_refused_is_refused_by_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/gaps/refused");
    let mut left: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".bc")?.to_owned()))
        .collect();
    for (name, expected) in REFUSED {
        let bytes = std::fs::read(folder.join(format!("{name}.bc"))).unwrap();
        let error = imported(&bytes).expect_err(name);
        // The file, then the function that needs it; what reads bytes knows of no file.
        let place = if *name == "ifunc" { "unsupported: " } else { "gaps.bc: @" };
        assert!(error.contains(expected) && error.starts_with(place), "{name}: {error}");
        assert!(error.contains("(record at byte 0x"), "{name}: {error}");
        left.retain(|other| other != name);
    }
    assert_eq!(left, [""; 0]);
}
