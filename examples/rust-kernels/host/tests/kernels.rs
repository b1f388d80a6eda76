//! The kernels' PTX on the CPU, watched by every checker.

use host::kernels::cpu::{Config, Kernels};
use warpsmith::testing::TestDevice;

#[warpsmith::test]
fn sum(device: &mut TestDevice) {
    let kernels = Kernels::load().unwrap();
    let data: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let (input, total) = (device.upload(&data).unwrap(), device.upload(&[0f32]).unwrap());
    let config = Config { grid: [2, 1, 1], block: [128, 1, 1], dynamic_shared: 0 };
    kernels.sum(device, config, input, 1000, total, 1).unwrap();
    assert_eq!(device.download::<f32>(total).unwrap(), [499_500.0]);
}

#[warpsmith::test]
fn reverse(device: &mut TestDevice) {
    let kernels = Kernels::load().unwrap();
    let data = device.upload(&(0..64u32).collect::<Vec<_>>()).unwrap();
    let config = Config { grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 128 };
    kernels.reverse(device, config, data, 64).unwrap();
    assert_eq!(device.download::<u32>(data).unwrap()[30..34], [1, 0, 63, 62]);
}

#[warpsmith::test]
fn vote(device: &mut TestDevice) {
    let kernels = Kernels::load().unwrap();
    let data: Vec<u32> = (0..32).flat_map(|i| [i, 0xff, 0x0f, 0]).collect();
    let (data, out) = (device.upload(&data).unwrap(), device.upload(&[1u32; 32]).unwrap());
    let config = Config { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    kernels.vote(device, config, data, 32, out, 32).unwrap();
    let votes = device.download::<u32>(out).unwrap();
    assert_eq!((votes[5], votes[15], votes[31]), (0x0f, 0x1f, 0));
}

#[warpsmith::test]
fn count(device: &mut TestDevice) {
    let kernels = Kernels::load().unwrap();
    let text = device.upload(b"abracadabra!").unwrap();
    let bins = device.upload(&[0u32; 26]).unwrap();
    let config = Config { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    kernels.count(device, config, text, 12, bins, 26).unwrap();
    assert_eq!(device.download::<u32>(bins).unwrap()[..5], [5, 2, 1, 1, 0]);
    assert_eq!(String::from_utf8(device.take_output()).unwrap(), "33 is not a letter: at 11\n");
}

#[warpsmith::test]
fn an_index_out_of_range_panics(device: &mut TestDevice) {
    let kernels = Kernels::load().unwrap();
    let (x, y) = (device.upload(&[0f32; 4]).unwrap(), device.upload(&[0f32; 8]).unwrap());
    let fault = kernels.saxpy(device, Config::for_num_elems(8), 1.0, x, 4, y, 8).unwrap_err();
    assert_eq!(fault.code.name(), "trap");
    let said = String::from_utf8(device.take_output()).unwrap();
    assert!(said.contains("lib.rs:") && said.contains("panicked"), "{said}");
}
