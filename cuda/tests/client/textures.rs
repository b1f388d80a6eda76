//! Arrays, textures and surfaces.

use crate::library::{Context, allocate, download, function, launch, module, null, param, upload};

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
    assert_eq!(cu!(cuTexObjectDestroy(surface)), 1, "a surface is not a texture");
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

/// The settings of a texture that clamps and takes the nearest texel.
fn nearest() -> [u32; 26] {
    let mut settings = [0u32; 26];
    (settings[0], settings[1], settings[2]) = (1, 1, 1);
    settings
}

fn sampled(kernel: u64, mut texture: u64, [mut x, mut y]: [f32; 2]) -> f32 {
    let mut out = allocate(4);
    let mut params = [param(&mut texture), param(&mut x), param(&mut y), param(&mut out)];
    assert_eq!(launch(kernel, 1, 1, 0, &mut params), 0);
    download::<f32>(out, 1)[0]
}

#[test]
fn rows_with_a_gap_between_them() {
    let _context = Context::new();
    let sample = function(module(KERNELS), "sample");
    // Two rows of three floats, 64 bytes apart.
    let mut texels = [-1f32; 19];
    texels[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
    texels[16..].copy_from_slice(&[10.0, 20.0, 30.0]);
    let address = upload(&texels);
    // `CUDA_RESOURCE_DESC` of kind 3: address, format and channels, width, height, pitch.
    let mut resource = [0u64; 18];
    resource[..6].copy_from_slice(&[3, address, 0x20 | 1 << 32, 3, 2, 64]);
    let mut texture = 0u64;
    let mut make = |resource: &mut [u64; 18], settings: &mut [u32; 26]| {
        cu!(cuTexObjectCreate(&mut texture, resource.as_mut_ptr(), settings.as_mut_ptr(), null()))
    };
    assert_eq!(make(&mut resource, &mut nearest()), 0);
    // A pitch that is too short, one that is not aligned, and rows past the end of the allocation.
    for (place, value) in [(5, 0), (5, 40), (4, 3)] {
        let mut wrong = resource;
        wrong[place] = value;
        let mut nothing = 0u64;
        assert_eq!(
            cu!(cuTexObjectCreate(&mut nothing, wrong.as_mut_ptr(), nearest().as_mut_ptr(), null())),
            1,
            "{wrong:?}"
        );
    }
    let kernel = sample;
    assert_eq!(sampled(kernel, texture, [2.5, 0.5]), 3.0);
    assert_eq!(sampled(kernel, texture, [0.5, 1.5]), 10.0);
    let mut linear = nearest();
    linear[3] = 1;
    let mut filtered = 0u64;
    assert_eq!(cu!(cuTexObjectCreate(&mut filtered, resource.as_mut_ptr(), linear.as_mut_ptr(), null())), 0);
    assert_eq!(sampled(kernel, filtered, [2.0, 1.0]), (2.0 + 3.0 + 20.0 + 30.0) / 4.0);
}

#[test]
fn a_view_shows_a_level_in_another_format() {
    let _context = Context::new();
    let sample = function(module(KERNELS), "sample");
    // Whole numbers of 32 bits, 4 by 2 and 2 by 1, that a view takes for floats.
    let mut descriptor = [4, 2, 0, 3 | 1 << 32, 0u64];
    let (mut mipmap, mut second) = (0u64, 0u64);
    assert_eq!(cu!(cuMipmappedArrayCreate(&mut mipmap, &mut descriptor, 2u32)), 0);
    assert_eq!(cu!(cuMipmappedArrayGetLevel(&mut second, mipmap, 1u32)), 0);
    assert_eq!(cu!(cuMemcpyHtoA_v2(second, 0usize, [7f32, 8.0].as_ptr(), 8usize)), 0);
    let mut resource = [0u64; 18];
    (resource[0], resource[1]) = (1, mipmap);
    // `CUDA_RESOURCE_VIEW_DESC`: the format, width, height, depth, first and last level, first and last layer, what is reserved.
    let view = [16, 4, 2, 0, 1 | 1 << 32, 0, 0, 0, 0, 0, 0, 0, 0, 0u64];
    let mut texture = 0u64;
    let mut make = |view: &[u64; 14]| {
        cu!(cuTexObjectCreate(&mut texture, resource.as_mut_ptr(), nearest().as_mut_ptr(), view.as_ptr()))
    };
    // Texels of other sizes, compressed blocks, a size that is not the array's, levels and layers that it does not have.
    for (place, value, answer) in
        [(0, 1, 1), (0, 0x19, 801), (1, 2, 1), (4, 1 | 2 << 32, 1), (5, 1 | 1 << 32, 1)]
    {
        let mut wrong = view;
        wrong[place] = value;
        assert_eq!(make(&wrong), answer, "{wrong:?}");
    }
    assert_eq!(make(&view), 0);
    assert_eq!(sampled(sample, texture, [0.5, 0.5]), 7.0);
    assert_eq!(sampled(sample, texture, [9.0, 9.0]), 8.0);
    let mut got = [1u64; 14];
    assert_eq!(cu!(cuTexObjectGetResourceViewDesc(&mut got, texture)), 0);
    assert_eq!((got[0] as u32, &got[1..]), (16, &view[1..]));
}

const REFERENCES: &str = "
.version 7.0
.target sm_80
.address_size 64
.global .texref image;
.global .surfref target;
.visible .entry sample(.param .f32 x, .param .f32 y, .param .u64 out)
{
    .reg .f32 %f<6>;
    .reg .b64 %rd;
    ld.param.f32 %f4, [x];
    ld.param.f32 %f5, [y];
    tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [image, {%f4, %f5}];
    ld.param.u64 %rd, [out];
    st.global.f32 [%rd], %f0;
    ret;
}
.visible .entry line(.param .u32 x, .param .u64 out)
{
    .reg .f32 %f<4>;
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u32 %r, [x];
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [image, {%r}];
    ld.param.u64 %rd, [out];
    st.global.f32 [%rd], %f0;
    ret;
}
.visible .entry paint()
{
    .reg .b32 %r<2>;
    mov.u32 %r0, 4;
    mov.u32 %r1, 0x42280000;
    sust.b.2d.b32.trap [target, {%r0, %r0}], {%r1};
    ret;
}
";

#[test]
fn references_are_bound_when_a_kernel_is_launched() {
    let _context = Context::new();
    let module = module(REFERENCES);
    let (sample, line) = (function(module, "sample"), function(module, "line"));
    let (mut image, mut again, mut target) = (0u64, 0u64, 0u64);
    assert_eq!(cu!(cuModuleGetTexRef(&mut image, module, c"image".as_ptr())), 0);
    assert_eq!((cu!(cuModuleGetTexRef(&mut again, module, c"image".as_ptr())), again), (0, image));
    assert_eq!(cu!(cuModuleGetSurfRef(&mut target, module, c"target".as_ptr())), 0);
    assert_eq!(cu!(cuModuleGetTexRef(&mut again, module, c"target".as_ptr())), 500, "it is a surface");
    let mut out = allocate(4);
    let at = |[mut x, mut y]: [f32; 2]| {
        assert_eq!(launch(sample, 1, 1, 0, &mut [param(&mut x), param(&mut y), param(&mut { out })]), 0);
        download::<f32>(out, 1)[0]
    };
    // An array; then filtered, in coordinates from 0 to 1.
    let mut descriptor = [2, 2, 0, 0x20 | 1 << 32, 2u64];
    let mut array = 0u64;
    assert_eq!(cu!(cuArray3DCreate_v2(&mut array, &mut descriptor)), 0);
    assert_eq!(cu!(cuMemcpyHtoA_v2(array, 0usize, [1f32, 2.0].as_ptr(), 8usize)), 0);
    assert_eq!(cu!(cuMemcpyHtoA_v2(array, 8usize, [3f32, 4.0].as_ptr(), 8usize)), 0);
    assert_eq!(cu!(cuTexRefSetArray(image, array, 0u32)), 1, "the flag is missing");
    assert_eq!(cu!(cuTexRefSetArray(image, array, 1u32)), 0);
    assert_eq!(at([1.5, 0.5]), 2.0);
    assert_eq!(cu!(cuTexRefSetFilterMode(image, 1u32)), 0);
    assert_eq!(cu!(cuTexRefSetFlags(image, 2u32)), 0);
    assert_eq!((cu!(cuTexRefSetFilterMode(image, 2u32)), cu!(cuTexRefSetFlags(image, 0x80u32))), (1, 1));
    assert_eq!(at([0.5, 0.5]), 2.5);
    let (mut flags, mut found, mut mode) = (0u32, 0u64, 9u32);
    assert_eq!((cu!(cuTexRefGetFlags(&mut flags, image)), flags), (0, 2));
    assert_eq!((cu!(cuTexRefGetArray(&mut found, image)), found), (0, array));
    assert_eq!(cu!(cuTexRefGetAddress_v2(&mut found, image)), 1, "it is bound to an array");
    assert_eq!(cu!(cuTexRefSetAddressMode(image, 0i32, 1u32)), 0);
    assert_eq!((cu!(cuTexRefGetAddressMode(&mut mode, image, 0i32)), mode), (0, 1));
    assert_eq!(cu!(cuTexRefSetAddressMode(image, 3i32, 1u32)), 1);
    // Rows of memory.
    let rows = upload(&[5f32, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 8.0]);
    let shape = [2u64, 2, 0x20 | 1 << 32];
    assert_eq!((cu!(cuTexRefSetFlags(image, 0u32)), cu!(cuTexRefSetFilterMode(image, 0u32))), (0, 0));
    assert_eq!(cu!(cuTexRefSetAddress2D_v3(image, shape.as_ptr(), rows, 32usize)), 0);
    assert_eq!(at([1.5, 1.5]), 8.0);
    // Memory in one row, which starts 4 bytes beyond where texels may.
    let mut offset = 0usize;
    assert_eq!(cu!(cuTexRefSetFormat(image, 0x20u32, 1i32)), 0);
    assert_eq!(cu!(cuTexRefSetAddress_v2(null(), image, rows + 4, 8usize)), 1);
    assert_eq!((cu!(cuTexRefSetAddress_v2(&mut offset, image, rows + 4, 8usize)), offset), (0, 4));
    let mut x = 1u32;
    assert_eq!(launch(line, 1, 1, 0, &mut [param(&mut x), param(&mut out)]), 0);
    assert_eq!(download::<f32>(out, 1), [6.0]);
    // A surface.
    assert_eq!(cu!(cuSurfRefSetArray(target, array, 0u32)), 0);
    let paint = function(module, "paint");
    assert_eq!(launch(paint, 1, 1, 0, &mut []), 700, "row 4 of an array of two");
    assert_eq!((cu!(cuSurfRefGetArray(&mut found, target)), found), (0, array));
    assert_eq!(cu!(cuParamSetTexRef(sample, -1i32, image)), 0);
    assert_eq!(cu!(cuParamSetTexRef(sample, 0i32, image)), 1, "there are no units");
    assert_eq!(cu!(cuModuleUnload(module)), 0);
    assert_eq!(cu!(cuTexRefGetFlags(&mut flags, image)), 1, "it went with its module");
}
