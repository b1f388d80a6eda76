//! Arrays, textures and surfaces.

use crate::library::{Context, allocate, download, function, launch, module, null, param};

const KERNELS: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry sample(.param .u64 texture, .param .f32 x, .param .f32 y, .param .u64 out)
{
    .reg .f32 %f<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [texture];
    ld.param.f32 %f4, [x];
    ld.param.f32 %f5, [y];
    tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%f4, %f5}];
    ld.param.u64 %rd1, [out];
    st.global.f32 [%rd1], %f0;
    ret;
}
.visible .entry paint(.param .u64 surface)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd;
    ld.param.u64 %rd, [surface];
    mov.u32 %r0, 4;
    mov.u32 %r1, 1;
    mov.u32 %r2, 0x42280000;
    sust.b.2d.b32.trap [%rd, {%r0, %r1}], {%r2};
    ret;
}
";

#[test]
fn an_array_is_sampled_and_painted() {
    let _context = Context::new();
    let module = module(KERNELS);
    let (sample, paint) = (function(module, "sample"), function(module, "paint"));
    // Three by two texels of one float.
    let mut descriptor = [3, 2, 0, 0x20 | 1 << 32, 2u64];
    let mut array = 0u64;
    assert_eq!(cu!(cuArray3DCreate_v2(&mut array, &mut descriptor)), 0);
    let texels = [1f32, 2.0, 3.0, 10.0, 20.0, 30.0];
    assert_eq!(cu!(cuMemcpyHtoA_v2(array, 0usize, texels.as_ptr(), 24usize)), 0);
    assert_eq!(cu!(cuMemcpyHtoA_v2(array, 4usize, texels.as_ptr(), 24usize)), 1, "past its end");
    let mut resource = [0u64; 18];
    resource[1] = array;
    let mut settings = [0u32; 26];
    (settings[0], settings[1], settings[2], settings[3]) = (1, 1, 1, 1);
    let (mut texture, mut surface) = (0u64, 0u64);
    assert_eq!(cu!(cuTexObjectCreate(&mut texture, resource.as_mut_ptr(), settings.as_mut_ptr(), null())), 0);
    let (mut x, mut y, mut out) = (2f32, 1f32, allocate(4));
    let mut params = [param(&mut texture), param(&mut x), param(&mut y), param(&mut out)];
    assert_eq!(launch(sample, 1, 1, 0, &mut params), 0);
    assert_eq!(download::<f32>(out, 1), [(2.0 + 3.0 + 20.0 + 30.0) / 4.0]);
    assert_eq!(cu!(cuSurfObjectCreate(&mut surface, resource.as_mut_ptr())), 0);
    assert_eq!(launch(paint, 1, 1, 0, &mut [param(&mut surface)]), 0);
    let mut back = [0f32; 6];
    assert_eq!(cu!(cuMemcpyAtoH_v2(back.as_mut_ptr(), array, 0usize, 24usize)), 0);
    assert_eq!(back, [1.0, 2.0, 3.0, 10.0, 42.0, 30.0]);
    assert_eq!((cu!(cuTexObjectDestroy(texture)), cu!(cuTexObjectDestroy(texture))), (0, 1));
    assert_eq!(cu!(cuTexObjectDestroy(surface)), 1, "a surface is no texture");
    assert_eq!(cu!(cuSurfObjectDestroy(surface)), 0);
    assert_eq!((cu!(cuArrayDestroy(array)), cu!(cuArrayDestroy(array))), (0, 400));
    assert_eq!(
        cu!(cuTexObjectCreate(&mut texture, resource.as_mut_ptr(), settings.as_mut_ptr(), null())),
        400
    );
}

#[test]
fn levels_are_arrays() {
    let _context = Context::new();
    let mut descriptor = [8, 4, 0, 1 | 1 << 32, 0u64];
    let (mut mipmap, mut first, mut third, mut again) = (0u64, 0u64, 0u64, 0u64);
    assert_eq!(cu!(cuMipmappedArrayCreate(&mut mipmap, &mut descriptor, 99u32)), 0);
    assert_eq!(cu!(cuMipmappedArrayGetLevel(&mut first, mipmap, 0u32)), 0);
    assert_eq!(cu!(cuMipmappedArrayGetLevel(&mut third, mipmap, 2u32)), 0);
    assert_eq!((cu!(cuMipmappedArrayGetLevel(&mut again, mipmap, 2u32)), again), (0, third));
    assert_eq!(cu!(cuMipmappedArrayGetLevel(&mut again, mipmap, 4u32)), 1);
    let mut size = [0u64; 3];
    assert_eq!(cu!(cuArrayGetDescriptor_v2(&mut size, third)), 0);
    assert_eq!(size, [2, 1, 1 | 1 << 32]);
    assert_eq!(cu!(cuMemcpyHtoA_v2(third, 0usize, [5u8, 6].as_ptr(), 2usize)), 0);
    assert_eq!(cu!(cuMemcpyAtoA_v2(first, 3usize, third, 0usize, 2usize)), 0);
    let mut row = [0u8; 8];
    assert_eq!(cu!(cuMemcpyAtoH_v2(row.as_mut_ptr(), first, 0usize, 8usize)), 0);
    assert_eq!(row, [0, 0, 0, 5, 6, 0, 0, 0]);
    assert_eq!(cu!(cuArrayDestroy(third)), 1);
    assert_eq!((cu!(cuMipmappedArrayDestroy(mipmap)), cu!(cuArrayDestroy(third))), (0, 400));
}
