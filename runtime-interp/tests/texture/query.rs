//! `txq suq istypep`.

use crate::{kernel, run};
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, ReadMode, Sampler};
use warpsmith_interp::{Device, Handle};

fn answers(device: &mut Device, handle: Handle, queries: [&str; 4]) -> [u32; 4] {
    let asked: String = queries
        .iter()
        .zip(8..)
        .map(|(q, r)| {
            format!(
                "{} %r{r}, {};",
                q.split(' ').next().unwrap(),
                q.split_once(' ').map_or("[%h]".into(), |(_, rest)| format!("[%h], {rest}"))
            )
        })
        .collect();
    let program = kernel(&format!("{asked} st.global.v4.u32 [%out], {{%r8, %r9, %r10, %r11}};"));
    run(device, &program, handle, &[[0; 16]]).unwrap()[0]
}

#[test]
fn properties_of_textures() {
    let mut device = Device::new();
    let image =
        Image::with(Format { ty: ChannelType::U16, channels: 2 }, &[20, 12], Some(3), false, Some(4), None)
            .unwrap();
    let texels = device.alloc(image.bytes().into()).unwrap();
    let sampler = Sampler {
        normalized: true,
        filter: Filter::Linear,
        read: ReadMode::NormalizedFloat,
        address: [AddressMode::Border, AddressMode::Mirror, AddressMode::Clamp],
        ..Sampler::default()
    };
    let texture = device.create_texture(texels, &image, &sampler).unwrap();
    let mut ask = |queries| answers(&mut device, texture, queries);
    assert_eq!(
        ask(["txq.width.b32", "txq.height.b32", "txq.depth.b32", "txq.array_size.b32"]),
        [20, 12, 1, 3]
    );
    assert_eq!(
        ask([
            "txq.channel_data_type.b32",
            "txq.channel_order.b32",
            "txq.normalized_coords.b32",
            "txq.filter_mode.b32"
        ]),
        [0x10d3, 0x10b2, 1, 1]
    );
    assert_eq!(
        ask([
            "txq.addr_mode_0.b32",
            "txq.addr_mode_1.b32",
            "txq.addr_mode_2.b32",
            "txq.num_mipmap_levels.b32"
        ]),
        [4, 1, 3, 4]
    );
    assert_eq!(
        ask([
            "txq.level.width.b32 2",
            "txq.level.height.b32 3",
            "txq.num_samples.b32",
            "txq.memory_layout.b32"
        ]),
        [5, 1, 0, 0]
    );
    let image = Image::new(Format { ty: ChannelType::F32, channels: 4 }, &[6, 5, 4], None).unwrap();
    let texels = device.alloc(image.bytes().into()).unwrap();
    let surface = device.create_surface(texels, &image).unwrap();
    let mut ask = |queries| answers(&mut device, surface, queries);
    assert_eq!(ask(["suq.width.b32", "suq.height.b32", "suq.depth.b32", "suq.array_size.b32"]), [6, 5, 4, 0]);
    assert_eq!(
        ask(["suq.channel_data_type.b32", "suq.channel_order.b32", "suq.memory_layout.b32", "suq.width.b32"]),
        [0x10de, 0x10b5, 0, 6]
    );
}

#[test]
fn samples_of_a_texel() {
    let mut device = Device::new();
    let image =
        Image::with(Format { ty: ChannelType::U8, channels: 1 }, &[3, 2], Some(2), false, None, Some(4))
            .unwrap();
    let texels: Vec<u8> = (0..48).collect();
    let texels = device.upload(&texels).unwrap();
    let texture = device.create_texture(texels, &image, &Sampler::default()).unwrap();
    let program = kernel(
        "and.b32 %r1, %me, 3; tex.a2dms.v4.u32.s32 {%r8, %r9, %r10, %r11}, [%h, {1, %r1, 2, 1}]; st.global.v4.u32 [%out], {%r8, %r9, %r10, %r11};",
    );
    let found = run(&mut device, &program, texture, &[[0; 16]; 4]).unwrap();
    assert_eq!(found.into_iter().map(|v| v[0]).collect::<Vec<_>>(), [44, 45, 46, 47]);
    assert_eq!(
        answers(
            &mut device,
            texture,
            ["txq.num_samples.b32", "txq.width.b32", "txq.height.b32", "txq.array_size.b32"]
        ),
        [4, 3, 2, 2]
    );
}

#[test]
fn types_of_handles() {
    let mut device = Device::new();
    let image = Image::new(Format { ty: ChannelType::U8, channels: 1 }, &[4], None).unwrap();
    let texels = device.upload(&[1u8, 2, 3, 4]).unwrap();
    let texture = device.create_texture(texels, &image, &Sampler::default()).unwrap();
    let surface = device.create_surface(texels, &image).unwrap();
    let sampler = device.create_sampler(&Sampler::default());
    let ask = "istypep.texref %p0, %h; istypep.samplerref %p1, %h; istypep.surfref %p2, %h; selp.u32 %r8, 1, 0, %p0; selp.u32 %r9, 1, 0, %p1; \
         selp.u32 %r10, 1, 0, %p2; st.global.v4.u32 [%out], {%r8, %r9, %r10, %r10};";
    let program = kernel(ask);
    let mut kinds = |handle| run(&mut device, &program, handle, &[[0; 16]]).unwrap()[0];
    assert_eq!(kinds(texture), [1, 0, 0, 0]);
    assert_eq!(kinds(sampler), [0, 1, 0, 0]);
    assert_eq!(kinds(surface), [0, 0, 1, 1]);
    assert_eq!(kinds(Handle::NULL), [0, 0, 0, 0]);
}
