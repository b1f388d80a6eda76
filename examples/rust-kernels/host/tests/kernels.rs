//! The kernels' PTX on the CPU, watched by every checker.

use host::kernels::cpu::{Config, Kernels};
use warpsmith::watch::{Checkers, Selection};
use warpsmith::{Device, Launch};

fn run(kernels: &Kernels, device: &mut Device, launch: &Launch) {
    let mut checkers = Checkers::new(Selection::ALL);
    let run = device.launch_observed(&kernels.program, launch, &mut checkers.observer());
    let report = checkers.into_report();
    assert!(report.is_empty(), "{}", report.summary());
    run.unwrap();
}

#[test]
fn sum() {
    let (kernels, mut device) = (Kernels::load().unwrap(), Device::new());
    let data: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let (input, total) = (device.upload(&data).unwrap(), device.upload(&[0f32]).unwrap());
    let config = Config { grid: [2, 1, 1], block: [128, 1, 1], dynamic_shared: 0 };
    run(&kernels, &mut device, &kernels.sum_launch(config, input, 1000, total, 1));
    assert_eq!(device.download::<f32>(total).unwrap(), [499_500.0]);
}

#[test]
fn reverse() {
    let (kernels, mut device) = (Kernels::load().unwrap(), Device::new());
    let data = device.upload(&(0..64u32).collect::<Vec<_>>()).unwrap();
    let config = Config { grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 128 };
    run(&kernels, &mut device, &kernels.reverse_launch(config, data, 64));
    assert_eq!(device.download::<u32>(data).unwrap()[30..34], [1, 0, 63, 62]);
}

#[test]
fn count() {
    let (kernels, mut device) = (Kernels::load().unwrap(), Device::new());
    let text = device.upload(b"abracadabra!").unwrap();
    let bins = device.upload(&[0u32; 26]).unwrap();
    let config = Config { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    run(&kernels, &mut device, &kernels.count_launch(config, text, 12, bins, 26));
    assert_eq!(device.download::<u32>(bins).unwrap()[..5], [5, 2, 1, 1, 0]);
    assert_eq!(String::from_utf8(device.take_output()).unwrap(), "33 is no letter: at 11\n");
}

#[test]
fn an_index_out_of_range_panics() {
    let (kernels, mut device) = (Kernels::load().unwrap(), Device::new());
    let (x, y) = (device.upload(&[0f32; 4]).unwrap(), device.upload(&[0f32; 8]).unwrap());
    let fault = kernels.saxpy(&mut device, Config::for_num_elems(8), 1.0, x, 4, y, 8).unwrap_err();
    assert_eq!(fault.code.name(), "trap");
    let said = String::from_utf8(device.take_output()).unwrap();
    assert!(said.contains("lib.rs:") && said.contains("panicked"), "{said}");
}
