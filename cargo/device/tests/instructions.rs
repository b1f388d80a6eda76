//! `instructions!` on the host: what the tables say, on values, on memory and between threads.

use warpsmith_device::{SliceMut, host, instructions, thread};

instructions! {
    fn add_up = "add.rp.f32";
    fn widen = "cvt.f32.f16";
    unsafe fn load_four = "ld.global.v4.f32";
    fn multiply_wide = "mul.wide.s32";
    fn compare_both = "setp.lt.s32" { q };
    fn choose = "selp.f64";
    fn shift = "shf.l.wrap.b32";
    fn permute = "prmt.b32";
    fn halves = "cvt.rn.f16x2.f32";
    fn pack = "mov.b64" { };
    fn max3 = "max.f32";
    fn multiply_high = "mul.hi.u64";
    fn reverse = "brev.b64";
    fn to_int = "cvt.rzi.sat.u8.f32";
    fn to_quarters = "cvt.rn.satfinite.e2m1x2.f32";
    fn from_quarters = "cvt.rn.f16x2.e2m1x2";
    fn majority = "lop3.b32" { lut: 0xe8 };
    fn sum_of_bytes = "vadd4.u32.u32.u32.add";
    unsafe fn load_signed = "ld.global.s8";
    unsafe fn load_two = "ld.v2.u64";
    unsafe fn store_four = "st.shared.v4.b32";
    unsafe fn add_halves = "atom.add.noftz.f16x2";
    unsafe fn wrap_increment = "atom.global.gpu.inc.u32";
    unsafe fn compare_and_swap = "atom.cas.b128";
    unsafe fn reduce_max = "red.max.s32";
    unsafe fn copy = "cp.async.ca.shared.global" { size: 8 };
    unsafe fn bulk = "cp.async.bulk.global.shared::cta.bulk_group";
    fn shuffle_down = "shfl.sync.down.b32" { p };
    fn any = "vote.sync.any.pred";
    fn same = "match.any.sync.b64";
    fn total = "redux.sync.add.s32";
    fn leader = "elect.sync" { p };
    fn block_barrier = "barrier.sync";
}

#[test]
fn values() {
    assert_eq!(add_up(1.0, 1e-9), 1.0 + f32::EPSILON);
    assert_eq!(widen(0x3e00), 1.5);
    assert_eq!(multiply_wide(-3, 1 << 30), -3 << 30);
    assert_eq!((compare_both(-1, 0), compare_both(1, 0)), ((true, false), (false, true)));
    assert_eq!((choose(1.5, 2.5, true), choose(1.5, 2.5, false)), (1.5, 2.5));
    assert_eq!(shift(0x8000_0000, 1, 4), 0x18);
    assert_eq!(permute(0x0302_0100, 0x0706_0504, 0x7531), 0x0705_0301);
    assert_eq!(halves(1.0, -2.0), 0x3c00_c000);
    assert_eq!(max3(f32::NAN, 2.0), 2.0);
    assert_eq!(multiply_high(u64::MAX, u64::MAX), u64::MAX - 1);
    assert_eq!(reverse(1), 1 << 63);
    assert_eq!((to_int(300.0), to_int(-1.0), to_int(7.9)), (255, 0, 7));
    assert_eq!(to_quarters(-6.0, 1.0), 0xf2);
    assert_eq!(from_quarters(0xf2), 0xc600_3c00);
    assert_eq!(majority(0b1100, 0b1010, 0b1001), 0b1000);
    assert_eq!(sum_of_bytes(0x0102_0304, 0x0101_0101, 5), 5 + 14);
    assert_eq!(pack(7), 7);
}

#[test]
fn memory() {
    let bytes = [-5i8, 3];
    // SAFETY: what the pointers of this function point to is there.
    unsafe {
        assert_eq!(load_signed(bytes.as_ptr().cast_mut()), -5);
        let mut words = [7u64, 9];
        assert_eq!(load_two(words.as_mut_ptr()), [7, 9]);
        let mut floats = [1.0f32, 2.0, 3.0, 4.0];
        assert_eq!(load_four(floats.as_mut_ptr()), floats);
        let mut four = [0u32; 4];
        store_four(four.as_mut_ptr(), [1, 2, 3, 4]);
        assert_eq!(four, [1, 2, 3, 4]);
        let mut halves = 0x3c00_4000u32;
        assert_eq!(add_halves(&raw mut halves, 0x3c00_3c00), 0x3c00_4000);
        assert_eq!(halves, 0x4000_4200);
        let mut counter = 2u32;
        assert_eq!([(); 3].map(|()| wrap_increment(&raw mut counter, 3)), [2, 3, 0]);
        let mut wide = 5u128;
        assert_eq!((compare_and_swap(&raw mut wide, 5, 1 << 100), wide), (5, 1 << 100));
        let mut least = -5i32;
        reduce_max(&raw mut least, -3);
        assert_eq!(least, -3);
        let mut to = [0u8; 8];
        copy(to.as_mut_ptr().cast(), words.as_mut_ptr().cast());
        assert_eq!(u64::from_le_bytes(to), 7);
    }
}

#[test]
fn threads_together() {
    let mut out = [0u64; 32];
    let slice = SliceMut::new(&mut out);
    host::launch([1, 1, 1], [32, 1, 1], || {
        let i = thread::index();
        let (value, inside) = shuffle_down(i as u32, 4, 31, u32::MAX);
        assert_eq!((value as usize, inside), if i < 28 { (i + 4, true) } else { (i, false) });
        assert!(any(i == 9, u32::MAX) && !any(i > 99, u32::MAX));
        let odd = same((i as u64 & 1) << 40, u32::MAX);
        assert_eq!(odd, if i % 2 == 1 { 0xaaaa_aaaa } else { 0x5555_5555 });
        assert_eq!(total(i as u32, u32::MAX), 496);
        assert_eq!(leader(u32::MAX), (0, i == 0));
        block_barrier(0);
        slice.set(i, odd.into());
    });
    assert_eq!(out[1], 0xaaaa_aaaa);
}

#[test]
#[should_panic(expected = "`cp.async.bulk.global.shared::cta.bulk_group`: it is not executed on the host")]
fn what_the_host_does_not_do_is_an_error_by_name() {
    // SAFETY: it panics before it accesses anything.
    unsafe { bulk(std::ptr::null_mut(), std::ptr::null_mut(), 16) };
}
