//! Memory of all kinds, copies and fills.

use crate::SAXPY;
use crate::library::{Context, allocate, download, function, launch, module, null, param, upload};
use std::ffi::c_void;

#[test]
fn every_kind_of_memory_is_at_one_address() {
    let _context = Context::new();
    let kernel = function(module(SAXPY), "saxpy");
    let (mut pinned, mut managed) = (null(), 0u64);
    assert_eq!(cu!(cuMemHostAlloc(&mut pinned, 16usize, 2u32)), 0);
    assert_eq!(cu!(cuMemAllocManaged(&mut managed, 16usize, 1u32)), 0);
    let mut own = [1f32, 2.0, 3.0, 4.0];
    assert_eq!(cu!(cuMemHostRegister_v2(own.as_mut_ptr(), 16usize, 0u32)), 0);
    assert_eq!(cu!(cuMemHostRegister_v2(own.as_mut_ptr(), 16usize, 0u32)), 712);
    // SAFETY: both are memory of 16 bytes that the library has given.
    let (x, y) = unsafe {
        let managed = std::ptr::with_exposed_provenance_mut::<f32>(managed as usize);
        (std::slice::from_raw_parts_mut(pinned.cast::<f32>(), 4), std::slice::from_raw_parts_mut(managed, 4))
    };
    x.copy_from_slice(&[10.0, 20.0, 30.0, 40.0]);
    let run = |mut from: u64, mut to: u64| {
        let (mut a, mut n) = (2f32, 4u32);
        launch(kernel, 1, 4, 0, &mut [param(&mut from), param(&mut to), param(&mut a), param(&mut n)])
    };
    let (pinned_address, own_address) =
        (pinned.expose_provenance() as u64, own.as_ptr().expose_provenance() as u64);
    assert_eq!(run(pinned_address, managed), 0);
    assert_eq!(*y, [20.0, 40.0, 60.0, 80.0]);
    assert_eq!(run(own_address, managed), 0);
    assert_eq!(*y, [22.0, 44.0, 66.0, 88.0]);
    let mut device = 0u64;
    assert_eq!((cu!(cuMemHostGetDevicePointer_v2(&mut device, pinned, 0u32)), device), (0, pinned_address));
    assert_eq!(cu!(cuMemHostUnregister(own.as_mut_ptr())), 0);
    assert_eq!(cu!(cuMemHostUnregister(own.as_mut_ptr())), 713);
    assert_eq!(run(own_address, managed), 700, "it is no longer the device's");
    assert_eq!((cu!(cuMemFreeHost(pinned)), cu!(cuMemFree_v2(managed))), (0, 0));
}

#[test]
fn fills_and_copies() {
    let _context = Context::new();
    let (a, b) = (upload(&[0u8; 64]), upload(&[0u8; 64]));
    assert_eq!(cu!(cuMemsetD8_v2(a, 0xabu8, 3usize)), 0);
    assert_eq!(cu!(cuMemsetD16_v2(a + 4, 0x1234u16, 2usize)), 0);
    assert_eq!(cu!(cuMemsetD32_v2(a + 8, 0xdead_beefu32, 2usize)), 0);
    assert_eq!(download::<u32>(a, 5), [0x00ab_abab, 0x1234_1234, 0xdead_beef, 0xdead_beef, 0]);
    assert_eq!(cu!(cuMemcpyDtoD_v2(b + 1, a, 4usize)), 0);
    assert_eq!(download::<u8>(b, 6), [0, 0xab, 0xab, 0xab, 0, 0]);
    assert_eq!(cu!(cuMemcpyDtoD_v2(a + 1, a, 8usize)), 0, "places that overlap");
    assert_eq!(cu!(cuMemsetD2D8_v2(b, 16usize, 7u8, 2usize, 3usize)), 0);
    let rows = download::<u8>(b, 48);
    assert!([0, 16, 32].into_iter().all(|row| rows[row..row + 3] == [7, 7, if row == 0 { 0xab } else { 0 }]));
    // Any pointer on either side.
    let mut host = [0u8; 4];
    assert_eq!(cu!(cuMemcpy(host.as_mut_ptr(), b, 4usize)), 0);
    assert_eq!(host[..2], [7, 7]);
}

#[repr(C)]
#[derive(Default)]
struct Copy2D {
    src: [usize; 2],
    src_type: u32,
    src_host: usize,
    src_device: u64,
    src_array: u64,
    src_pitch: usize,
    dst: [usize; 2],
    dst_type: u32,
    dst_host: usize,
    dst_device: u64,
    dst_array: u64,
    dst_pitch: usize,
    width: usize,
    height: usize,
}

#[test]
fn rectangles() {
    let _context = Context::new();
    let (mut address, mut pitch) = (0u64, 0usize);
    assert_eq!(cu!(cuMemAllocPitch_v2(&mut address, &mut pitch, 10usize, 4usize, 4u32)), 0);
    assert_eq!(pitch, 512);
    let picture: Vec<u8> = (0..40).collect();
    let mut copy = Copy2D {
        src_type: 1,
        src_host: picture.as_ptr().expose_provenance(),
        src_pitch: 10,
        dst_type: 2,
        dst_device: address,
        dst_pitch: pitch,
        width: 10,
        height: 4,
        ..Copy2D::default()
    };
    assert_eq!(cu!(cuMemcpy2D_v2(&mut copy)), 0);
    let mut part = [0u8; 6];
    let mut back = Copy2D {
        src: [2, 1],
        src_type: 2,
        src_device: address,
        src_pitch: pitch,
        dst_type: 1,
        dst_host: part.as_mut_ptr().expose_provenance(),
        dst_pitch: 3,
        width: 3,
        height: 2,
        ..Copy2D::default()
    };
    assert_eq!(cu!(cuMemcpy2D_v2(&mut back)), 0);
    assert_eq!(part, [12, 13, 14, 22, 23, 24]);
    back.height = 4;
    assert_eq!(cu!(cuMemcpy2D_v2(&mut back)), 1, "past the last row");
    (back.height, back.width) = (2, 600);
    assert_eq!(cu!(cuMemcpy2D_v2(&mut back)), 1, "rows longer than the pitch");
    (back.width, back.src_pitch) = (3, usize::MAX);
    assert_eq!(cu!(cuMemcpy2D_v2(&mut back)), 1, "a pitch that overflows");
}

#[test]
fn what_is_told_of_pointers() {
    let _context = Context::new();
    let device = allocate(1000);
    let mut pinned = null();
    assert_eq!(cu!(cuMemHostAlloc(&mut pinned, 64usize, 0u32)), 0);
    let kind = |address: u64| {
        let mut kind = 0u32;
        (cu!(cuPointerGetAttribute(&mut kind, 2u32, address)), kind)
    };
    assert_eq!(kind(device + 10), (0, 2));
    assert_eq!(kind(pinned.expose_provenance() as u64), (0, 1));
    let local = [0u8; 4];
    assert_eq!(kind(local.as_ptr().expose_provenance() as u64).0, 1);
    let (mut start, mut bytes) = (0u64, 0usize);
    assert_eq!(cu!(cuMemGetAddressRange_v2(&mut start, &mut bytes, device + 999)), 0);
    assert_eq!((start, bytes), (device, 1000));
    assert_eq!(cu!(cuMemGetAddressRange_v2(&mut start, &mut bytes, device + 1000)), 500);
    let (mut kind, mut range, mut managed) = (9u32, 0u64, 9u32);
    let mut values: [*mut c_void; 3] = [param(&mut kind), param(&mut range), param(&mut managed)];
    let numbers = [2u32, 12, 8];
    let several = cu!(cuPointerGetAttributes(3u32, numbers.as_ptr(), values.as_mut_ptr(), device + 5));
    assert_eq!((several, kind, range, managed), (0, 2, 1000, 0));
}

#[test]
fn pools_count() {
    let _context = Context::new();
    let (mut pool, mut used) = (0u64, 0u64);
    let mut properties = [0u64; 11];
    (properties[0], properties[1]) = (1, 1);
    assert_eq!(cu!(cuMemPoolCreate(&mut pool, properties.as_mut_ptr())), 0);
    let mut address = 0u64;
    assert_eq!(cu!(cuMemAllocFromPoolAsync(&mut address, 300usize, pool, 0u64)), 0);
    assert_eq!((cu!(cuMemPoolGetAttribute(pool, 7u32, &mut used)), used), (0, 300));
    assert_eq!(cu!(cuMemFreeAsync(address, 0u64)), 0);
    assert_eq!((cu!(cuMemPoolGetAttribute(pool, 7u32, &mut used)), used), (0, 0));
    assert_eq!((cu!(cuMemPoolGetAttribute(pool, 8u32, &mut used)), used), (0, 300));
    assert_eq!(cu!(cuMemPoolDestroy(pool)), 0);
}

#[test]
fn a_hundred_thousand_allocations() {
    let _context = Context::new();
    let before = {
        let (mut free, mut total) = (0usize, 0usize);
        assert_eq!(cu!(cuMemGetInfo_v2(&mut free, &mut total)), 0);
        free
    };
    let all: Vec<u64> = (0..100_000).map(|_| allocate(8)).collect();
    assert!(all.windows(2).all(|pair| pair[1] - pair[0] >= 4096));
    assert_eq!(cu!(cuMemcpyHtoD_v2(all[70_000], [7u64].as_ptr(), 8usize)), 0);
    assert_eq!(download::<u64>(all[70_000], 1), [7]);
    all.iter().for_each(|address| assert_eq!(cu!(cuMemFree_v2(*address)), 0));
    let (mut free, mut total) = (0usize, 0usize);
    assert_eq!(cu!(cuMemGetInfo_v2(&mut free, &mut total)), 0);
    // Other tests allocate, too.
    assert!(free + (64 << 20) > before);
}

#[test]
fn copies_in_a_batch() {
    let _context = Context::new();
    let mut stream = 0u64;
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    let (a, b) = (upload(&[1u32, 2, 3, 4]), upload(&[0u32; 4]));
    let host = [70u32, 80];
    let source = host.as_ptr().expose_provenance() as u64;
    let (mut to, from, sizes) = ([b, b + 8], [a + 4, source], [4usize, 8]);
    // `CUmemcpyAttributes`: the order of access, two places, flags. The second copy reads while the call lasts.
    let attributes = [[1u32, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0]];
    let starts = [0usize, 1];
    let batch = |to: &[u64; 2], starts: &[usize; 2], kinds: usize, stream: u64, failed: &mut usize| {
        cu!(cuMemcpyBatchAsync(
            to.as_ptr(),
            from.as_ptr(),
            sizes.as_ptr(),
            2usize,
            attributes.as_ptr(),
            starts.as_ptr(),
            kinds,
            failed as *mut usize,
            stream
        ))
    };
    let mut failed = 9;
    assert_eq!((batch(&to, &starts, 2, stream, &mut failed), failed), (0, usize::MAX));
    assert_eq!(cu!(cuStreamSynchronize(stream)), 0);
    assert_eq!(download::<u32>(b, 4), [2, 0, 70, 80]);
    for (starts, kinds) in [([1, 0], 2), ([0, 0], 2), ([0, 2], 2), (starts, 3), (starts, 0)] {
        assert_eq!(batch(&to, &starts, kinds, stream, &mut failed), 1, "{starts:?} {kinds}");
    }
    assert_eq!(batch(&to, &starts, 2, 0, &mut failed), 1, "the legacy stream");
    to[1] = b + 12;
    assert_eq!((batch(&to, &starts, 2, stream, &mut failed), failed), (1, 1), "the second is past the end");
    // `CUDA_MEMCPY3D_BATCH_OP`: two operands, width, height and depth, the order. A column of a matrix becomes a row of an array.
    let mut descriptor = [2, 1, 3 | 1u64 << 32];
    let mut array = 0u64;
    assert_eq!(cu!(cuArrayCreate_v2(&mut array, &mut descriptor)), 0);
    let copy = [1, a, 2, 0, 0, 2, array, 1, 0, 0, 1, 1, 1, 1u64];
    assert_eq!(cu!(cuMemcpy3DBatchAsync_v2(1usize, copy.as_ptr(), 0u64, stream)), 0);
    assert_eq!(cu!(cuStreamSynchronize(stream)), 0);
    let mut row = [0u32; 2];
    assert_eq!((cu!(cuMemcpyAtoH_v2(row.as_mut_ptr(), array, 0usize, 8usize)), row), (0, [0, 1]));
    for (place, value) in [(0, 3), (10, 0), (13, 9), (7, 2)] {
        let mut wrong = copy;
        wrong[place] = value;
        assert_eq!(cu!(cuMemcpy3DBatchAsync_v2(1usize, wrong.as_ptr(), 0u64, stream)), 1, "{place} {value}");
    }
}

#[test]
fn ranges_of_managed_memory_in_a_batch() {
    let _context = Context::new();
    let mut managed = 0u64;
    assert_eq!(cu!(cuMemAllocManaged(&mut managed, 64usize, 1u32)), 0);
    let (starts, sizes, place, index) = ([managed, managed + 32], [32usize, 32], [1u32, 0], [0usize]);
    let prefetch = |starts: &[u64; 2], place: &[u32; 2], kinds: usize| {
        cu!(cuMemPrefetchBatchAsync(
            starts.as_ptr(),
            sizes.as_ptr(),
            2usize,
            place.as_ptr(),
            index.as_ptr(),
            kinds,
            0u64,
            0u64
        ))
    };
    assert_eq!(prefetch(&starts, &place, 1), 0);
    assert_eq!((prefetch(&[managed, managed + 33], &place, 1), prefetch(&starts, &[1, 99], 1)), (1, 101));
    assert_eq!(prefetch(&starts, &place, 0), 1);
    let discard =
        |starts: &[u64; 2]| cu!(cuMemDiscardBatchAsync(starts.as_ptr(), sizes.as_ptr(), 2usize, 0u64, 0u64));
    assert_eq!((discard(&starts), discard(&[allocate(64), managed])), (0, 1));
}
