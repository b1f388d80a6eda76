//! Addresses that are reserved, pages, and what happens where they meet.

use crate::SAXPY;
use crate::library::{Context, download, function, launch, module, param};

const INVALID_VALUE: u32 = 1;
const PAGE: usize = 2 << 20;

/// `CUmemAllocationProp` of device 0, shared by nothing or by a file.
fn properties(shareable: u32) -> [u32; 8] {
    [1, shareable, 1, 0, 0, 0, 0, 0]
}

fn create(pages: usize) -> u64 {
    let mut handle = 0u64;
    assert_eq!(cu!(cuMemCreate(&mut handle, pages * PAGE, properties(1).as_ptr(), 0u64)), 0);
    handle
}

fn reserve(pages: usize) -> u64 {
    let mut address = 0u64;
    assert_eq!(cu!(cuMemAddressReserve(&mut address, pages * PAGE, 0usize, 0u64, 0u64)), 0);
    assert_eq!(address as usize % PAGE, 0);
    address
}

fn allow(address: u64, pages: usize, flags: u32) -> u32 {
    cu!(cuMemSetAccess(address, pages * PAGE, [1u32, 0, flags].as_ptr(), 1usize))
}

#[test]
fn pages_grow_into_reserved_addresses() {
    let _context = Context::new();
    let address = reserve(3);
    let (first, second) = (create(1), create(2));
    let (mut free, mut total) = (0usize, 0usize);
    assert_eq!(cu!(cuMemGetInfo_v2(&mut free, &mut total)), 0);
    assert!(total - free >= 3 * PAGE);
    assert_eq!(cu!(cuMemMap(address, PAGE, 0usize, first, 0u64)), 0);
    assert_eq!(cu!(cuMemsetD8_v2(address, 1u8, 1usize)), INVALID_VALUE, "no access yet");
    assert_eq!(allow(address, 1, 3), 0);
    assert_eq!(cu!(cuMemsetD32_v2(address, 5u32, PAGE / 4)), 0);
    assert_eq!(cu!(cuMemsetD32_v2(address, 5u32, PAGE / 4 + 1)), INVALID_VALUE);
    assert_eq!(cu!(cuMemMap(address + PAGE as u64, 2 * PAGE, 0usize, second, 0u64)), 0);
    assert_eq!(allow(address, 3, 3), 0);
    // What lies side by side is one: for copies, and for kernels.
    assert_eq!(cu!(cuMemsetD32_v2(address + PAGE as u64 - 8, 7u32, 4usize)), 0);
    assert_eq!(download::<u32>(address + PAGE as u64 - 12, 6), [5, 7, 7, 7, 7, 0]);
    let kernel = function(module(SAXPY), "saxpy");
    let (mut x, mut y, mut a, mut n) =
        (address + PAGE as u64 - 16, address + 2 * PAGE as u64 - 16, 1f32, 8u32);
    let mut params = [param(&mut x), param(&mut y), param(&mut a), param(&mut n)];
    assert_eq!(launch(kernel, 1, 32, 0, &mut params), 0);
    // The middle goes: the ends stay.
    assert_eq!(cu!(cuMemUnmap(address, PAGE)), 0);
    assert_eq!(cu!(cuMemsetD8_v2(address, 1u8, 1usize)), INVALID_VALUE);
    assert_eq!(download::<u32>(address + PAGE as u64, 1), [7]);
    assert_eq!(launch(kernel, 1, 32, 0, &mut params), 700);
    // Pages live as long as they are mapped, and come back where they are mapped again.
    assert_eq!(cu!(cuMemMap(address, PAGE, 0usize, first, 0u64)), 0);
    assert_eq!(
        (allow(address, 1, 3), cu!(cuMemRelease(first)), cu!(cuMemRelease(first))),
        (0, 0, INVALID_VALUE)
    );
    assert_eq!(download::<u32>(address, 1), [5]);
    let mut again = 0u64;
    assert_eq!((cu!(cuMemRetainAllocationHandle(&mut again, address)), again), (0, first));
    assert_eq!(cu!(cuMemRelease(again)), 0);
    assert_eq!(cu!(cuMemAddressFree(address, 3 * PAGE)), INVALID_VALUE, "pages are there");
    assert_eq!(cu!(cuMemUnmap(address, 3 * PAGE)), 0);
    assert_eq!((cu!(cuMemRelease(second)), cu!(cuMemAddressFree(address, 3 * PAGE))), (0, 0));
    assert_eq!(cu!(cuMemAddressFree(address, 3 * PAGE)), INVALID_VALUE);
}

#[test]
fn pages_have_several_addresses_and_leave_the_process() {
    let _context = Context::new();
    let (address, pages) = (reserve(2), create(1));
    for at in [address, address + PAGE as u64] {
        assert_eq!((cu!(cuMemMap(at, PAGE, 0usize, pages, 0u64)), allow(at, 1, 3)), (0, 0));
    }
    assert_eq!(cu!(cuMemsetD32_v2(address, 9u32, 4usize)), 0);
    assert_eq!(download::<u32>(address + PAGE as u64, 2), [9, 9]);
    let (mut file, mut copy) = (0i32, 0u64);
    assert_eq!(cu!(cuMemExportToShareableHandle(&mut file, pages, 1u32, 0u64)), 0);
    assert_eq!(cu!(cuMemImportFromShareableHandle(&mut copy, file as u64, 1u32)), 0);
    let third = reserve(1);
    assert_eq!((cu!(cuMemMap(third, PAGE, 0usize, copy, 0u64)), allow(third, 1, 3)), (0, 0));
    assert_eq!(download::<u32>(third + 4, 1), [9]);
    let mut flags = 9u64;
    assert_eq!((cu!(cuMemGetAccess(&mut flags, [1u32, 0].as_ptr(), third)), flags), (0, 3));
    assert_eq!((allow(third, 1, 0), cu!(cuMemsetD8_v2(third, 0u8, 1usize))), (0, INVALID_VALUE));
}

#[test]
fn what_virtual_memory_refuses() {
    let _context = Context::new();
    let (address, pages) = (reserve(2), create(1));
    let mut out = 0u64;
    assert_eq!(cu!(cuMemCreate(&mut out, 4096usize, properties(0).as_ptr(), 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemCreate(&mut out, 1usize << 50, properties(0).as_ptr(), 0u64)), 2);
    assert_eq!(cu!(cuMemAddressReserve(&mut out, 4096usize, 0usize, 0u64, 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemAddressReserve(&mut out, PAGE, 3usize, 0u64, 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemAddressReserve(&mut out, PAGE << 40, 0usize, 0u64, 0u64)), 2);
    assert_eq!(cu!(cuMemMap(address, 2 * PAGE, 0usize, pages, 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemMap(address + 4096, PAGE, 0usize, pages, 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemMap(address, PAGE, 4096usize, pages, 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemMap(address, PAGE, 0usize, 12345u64, 0u64)), INVALID_VALUE);
    assert_eq!(cu!(cuMemMap(u64::MAX - 4095, PAGE, 0usize, pages, 0u64)), INVALID_VALUE);
    assert_eq!(allow(address, 1, 3), INVALID_VALUE, "no pages");
    assert_eq!(cu!(cuMemMap(address, PAGE, 0usize, pages, 0u64)), 0);
    assert_eq!(cu!(cuMemMap(address, PAGE, 0usize, pages, 0u64)), INVALID_VALUE);
    assert_eq!((allow(address, 1, 9), allow(address, 2, 3)), (INVALID_VALUE, INVALID_VALUE));
    assert_eq!(cu!(cuMemUnmap(address, 4096usize)), INVALID_VALUE);
    assert_eq!((allow(address, 1, 3), cu!(cuMemFree_v2(address))), (0, INVALID_VALUE));
    assert_eq!(cu!(cuMemUnmap(address, PAGE)), 0);
}
