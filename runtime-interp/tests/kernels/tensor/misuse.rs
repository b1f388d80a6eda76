//! Maps, coordinates and places that are wrong: each is a fault that names what it is about, the line and the thread.

use super::*;
use warpsmith_interp::FaultCode;

fn case() -> Case {
    Case {
        element: ElementType::F32,
        dims: vec![64, 16],
        strides: vec![256],
        box_dim: vec![32, 8],
        steps: vec![1, 1],
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        coordinates: vec![0, 0],
        offset: 0,
    }
}

#[track_caller]
fn is(fault: Result<Vec<u8>, Fault>, code: FaultCode, part: &str) {
    let fault = fault.unwrap_err();
    assert!(fault.code == code && fault.message.contains(part), "{part}: {fault}");
    assert!(fault.ptx_line.is_some() && fault.thread == Some([0, 0, 0]), "{fault}");
}

#[test]
fn copies_that_reach_nowhere() {
    let case = case();
    let data = vec![1u8; 16 * 256];
    let load = load_kernel(&case, "", "");
    let store = store_kernel(&case, STORE_TENSOR, "");
    let tensor = |address| case.tensor(address);
    let of = |t: Tensor| t.encode_tiled(&[32, 8]).unwrap();
    let run =
        |case: &Case, map: &dyn Fn(u64) -> TensorMap| load_tile(&load, case, &data, (1024, [0; 3]), map);
    // The tensor is larger than its buffer.
    let tall = Case { coordinates: vec![0, 12], ..case.clone() };
    let map = |address| of(Tensor { global_dim: vec![64, 17], ..tensor(address) });
    is(run(&tall, &map), FaultCode::OutOfBounds, "128 bytes of the tensor at `global_address` 0x7000");
    // Strides of nearly 2^40, sizes of 2^32.
    let far = Case { coordinates: vec![0, i32::MAX], ..case.clone() };
    let map = |address| {
        of(Tensor { global_dim: vec![64, 1 << 32], global_strides: vec![(1 << 40) - 16], ..tensor(address) })
    };
    is(run(&far, &map), FaultCode::BadOperand, "beyond 64 bits");
    // No buffer is where the map says.
    let map = |address: u64| of(Tensor { global_address: address + (1 << 30), ..tensor(address) });
    is(run(&case, &map), FaultCode::OutOfBounds, "past the end of the nearest allocation");
    // A box larger than shared memory, and one that does not start at a multiple of 128.
    let map = |address| tensor(address).encode_tiled(&[256, 256]).unwrap();
    is(run(&case, &map), FaultCode::OutOfBounds, "a tile of 262144 bytes in shared memory");
    let map = |address| of(tensor(address));
    let odd = Case { offset: 16, ..case.clone() };
    is(run(&odd, &map), FaultCode::Misaligned, "is not a multiple of 128");
    let negative = Case { coordinates: vec![0, -1], ..case.clone() };
    let shared = vec![0; SHARED];
    is(store_tile(&store, &negative, &data, &shared, map), FaultCode::BadOperand, "coordinate 1 is -1");
    // A box that does not start at a multiple of 16 bytes, in both directions and on both sides of the tensor's edge.
    for c in [5, -2, 63] {
        let between = Case { coordinates: vec![c, 0], ..case.clone() };
        let part = format!("coordinate 0 is {c}; of f32 it must be a multiple of 4, for a box to start");
        is(run(&between, &map), FaultCode::BadOperand, &part);
        if c > 0 {
            is(store_tile(&store, &between, &data, &shared, map), FaultCode::BadOperand, &part);
        }
    }
    // Neither coordinates nor the map are for this instruction.
    let map = |address| {
        Tensor::new(ElementType::F32, address, &[64, 4, 4], &[256, 1024]).encode_tiled(&[4, 1, 1]).unwrap()
    };
    is(run(&case, &map), FaultCode::BadOperand, "the tensor map's `rank` is 3");
    let map = |address| {
        Tensor::new(ElementType::F32, address, &[64, 4, 4], &[256, 1024])
            .encode_im2col(&[0], &[0], 4, 8)
            .unwrap()
    };
    let three = Case { coordinates: vec![0, 0, 0], ..case.clone() };
    let program = load_kernel(&three, "", "");
    is(load_tile(&program, &three, &data, (0, [0; 3]), map), FaultCode::BadOperand, "was made for `.im2col`");
    // Bytes that are not those expected: the phase never completes.
    let map = |address| of(tensor(address));
    let fault = load_tile(&load, &case, &data, (1040, [0; 3]), map).unwrap_err();
    assert_eq!(fault.code, FaultCode::Deadlock, "{fault}");
}

/// A map outlives the memory that it describes: loads, stores, reductions and prefetches of it are faults, whatever was allocated there since.
#[test]
fn maps_of_memory_that_was_freed() {
    let case = case();
    let reduce = "cp.reduce.async.bulk.tensor.{dims}d.global.shared::cta.add";
    let programs = [
        load_kernel(&case, "", ""),
        store_kernel(&case, STORE_TENSOR, ""),
        store_kernel(&case, reduce, ".tile"),
    ];
    for program in &programs {
        let mut device = levels::device();
        let out = device.upload(&vec![0u8; SHARED]).unwrap();
        let tensor = device.upload(&vec![1u8; 16 * 256]).unwrap();
        let map = case.tensor(tensor.address()).encode_tiled(&[32, 8]).unwrap();
        let [c, n] = numbers(&case, 1024, [0; 3]);
        let launch = Launch::new("k").block([128, 1, 1]).arg(out).arg(map).arg(c).arg(n);
        device.launch(program, &launch).unwrap();
        device.free(tensor).unwrap();
        let fault = device.launch(program, &launch).map(|_| Vec::new());
        is(fault, FaultCode::OutOfBounds, "128 bytes of the tensor at `global_address`");
    }
}

#[test]
fn what_is_no_map() {
    let kernel = |of: &str| {
        kernel_for(
            "sm_90a",
            "",
            &format!(
                ".shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar; {of}
                cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1, {{0}}], [bar];"
            ),
        )
    };
    for (of, code, part) in [
        ("mov.u64 %rd1, %out;", FaultCode::BadTensorMap, "128 zero bytes"),
        (
            "st.global.u32 [%out], 7; mov.u64 %rd1, %out;",
            FaultCode::BadTensorMap,
            "these 128 bytes were made neither",
        ),
        ("add.u64 %rd1, %out, 8;", FaultCode::Misaligned, "is not a multiple of 64"),
        ("add.u64 %rd1, %out, 64;", FaultCode::OutOfBounds, "128 bytes are read, and 64 are there"),
        ("mov.u64 %rd1, 64;", FaultCode::OutOfBounds, "the tensor map at global address 0x40"),
        (
            "mov.u32 %r1, s; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1;",
            FaultCode::OutOfBounds,
            "is in global or constant memory",
        ),
        // Made here, and not completely.
        (
            "tensormap.replace.tile.rank.global.b1024.b32 [%out], 0; mov.u64 %rd1, %out;",
            FaultCode::BadTensorMap,
            "`global_dim[0]` is 0; it must be from 1 to 2^32",
        ),
        (
            "tensormap.replace.tile.rank.global.b1024.b32 [%out], 9; mov.u64 %rd1, %out;",
            FaultCode::BadTensorMap,
            "`rank` is 10; it must be from 1 to 5",
        ),
        (
            "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%out], 2; mov.u64 %rd1, %out;",
            FaultCode::BadTensorMap,
            "`swizzle_atomicity` has the code 2",
        ),
        (
            "tensormap.replace.tile.global_stride.global.b1024.b64 [%out], 4, 16; mov.u64 %rd1, %out;",
            FaultCode::BadTensorMap,
            "`global_stride[4]` does not exist",
        ),
        (
            "tensormap.replace.tile.rank.global.b1024.b32 [%out+4], 0; mov.u64 %rd1, %out;",
            FaultCode::Misaligned,
            "is not a multiple of 64",
        ),
        (
            "st.global.u32 [%out], 7; tensormap.replace.tile.rank.global.b1024.b32 [%out], 0;",
            FaultCode::BadTensorMap,
            "neither zeros nor a map",
        ),
    ] {
        let target = if of.contains("atomicity") { "sm_100a" } else { "sm_90a" };
        let program = if target == "sm_90a" {
            kernel(of)
        } else {
            kernel_for(target, "", &format!("{of} .shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar;
                cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1, {{0}}], [bar];"))
        };
        let words = launch(&program, Launch::new("k"), 32).map(|_| Vec::new());
        is(words, code, part);
    }
}

#[test]
fn the_builder_says_which_field_breaks_which_rule() {
    let tensor = || Tensor::new(ElementType::F16, 0x1000, &[64, 8], &[128]);
    let error = |t: Tensor, box_dim: &[u32]| t.encode_tiled(box_dim).unwrap_err().to_string();
    assert_eq!(
        error(Tensor { global_address: 0x1008, ..tensor() }, &[8, 8]),
        "`global_address` is 0x1008; it must be a multiple of 16"
    );
    assert_eq!(error(tensor(), &[8, 257]), "`box_dim[1]` is 257; it must be from 1 to 256");
    assert_eq!(error(tensor(), &[0, 1]), "`box_dim[0]` is 0; it must be from 1 to 256");
    assert_eq!(
        error(tensor(), &[4, 1]),
        "`box_dim[0]` is 4 elements, 8 bytes; it must be a multiple of 16 bytes"
    );
    assert_eq!(error(tensor(), &[8]), "`box_dim` has 1 elements; a tensor of 2 dimensions needs 2");
    assert_eq!(
        error(Tensor { global_strides: vec![120], ..tensor() }, &[8, 8]),
        "`global_stride[0]` is 120 bytes; it must be a multiple of 16"
    );
    assert_eq!(
        error(Tensor { global_strides: vec![1 << 40], ..tensor() }, &[8, 8]),
        "`global_stride[0]` is 1099511627776 bytes; it must be less than 2^40"
    );
    assert_eq!(
        error(Tensor { global_dim: vec![64, 0], ..tensor() }, &[8, 8]),
        "`global_dim[1]` is 0; it must be from 1 to 2^32"
    );
    assert_eq!(
        error(Tensor { global_dim: vec![64, (1 << 32) + 1], ..tensor() }, &[8, 8]),
        "`global_dim[1]` is 4294967297; it must be from 1 to 2^32"
    );
    assert_eq!(
        error(Tensor { element_strides: vec![1, 9], ..tensor() }, &[8, 8]),
        "`element_stride[1]` is 9; it must be from 1 to 8"
    );
    assert_eq!(
        error(Tensor { swizzle: Swizzle::B64, ..tensor() }, &[64, 8]),
        "`box_dim[0]` is 64 elements, 128 bytes; with swizzle 64B it must be at most 64 bytes"
    );
    assert_eq!(
        error(Tensor { interleave: Interleave::B16, ..tensor() }, &[8, 8]),
        "`rank` is 2; it must be from 3 to 5 with interleaved channels"
    );
    assert_eq!(
        error(Tensor { data_type: ElementType::U16, oob_fill: Fill::Nan, ..tensor() }, &[8, 8]),
        "`fill_mode` is nan; of u16, which has no NaN, it must be zero"
    );
    assert_eq!(
        error(Tensor { data_type: ElementType::B6x16P32, ..tensor() }, &[128, 8]),
        "`global_dim[0]` is 64; of b6x16_p32 it must be a multiple of 128"
    );
    let six = Tensor::new(ElementType::B4x16P64, 0x1000, &[256, 8], &[128]);
    assert_eq!(error(six.clone(), &[64, 8]), "`box_dim[0]` is 64; of b4x16_p64 it must be 128");
    assert_eq!(
        error(Tensor { swizzle: Swizzle::B128Atom32Flip8, ..six }, &[128, 8]),
        "`swizzle_mode` is 128B_atom_32B_flip_8B; of b4x16_p64 it must be none, 128B, 128B_atom_32B or 128B_atom_64B"
    );
    let image = Tensor::new(ElementType::F16, 0x1000, &[64, 9, 14, 64], &[128, 1152, 16128]);
    let error = |lower: &[i32], upper: &[i32], channels, pixels| {
        image.encode_im2col(lower, upper, channels, pixels).unwrap_err().to_string()
    };
    assert_eq!(error(&[-129, 0], &[0, 0], 8, 64), "`lower_corner[0]` is -129; it must be from -128 to 127");
    assert_eq!(
        error(&[0, 0], &[0, -14], 8, 64),
        "`upper_corner[1]` is -14: the box ends at -1, before it begins at 0"
    );
    assert_eq!(error(&[0, 0], &[0, 0], 8, 1025), "`pixels_per_column` is 1025; it must be from 1 to 1024");
    assert_eq!(error(&[0, 0], &[0, 0], 512, 64), "`channels_per_pixel` is 512; it must be from 1 to 256");
    assert_eq!(error(&[0], &[0], 8, 64), "`lower_corner` has 1 elements; a tensor of 4 dimensions needs 2");
    assert!(image.encode_im2col(&[-1, -1], &[-1, -1], 8, 64).is_ok());
}
