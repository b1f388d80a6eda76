// No part of the standard library: what the language itself needs of it stands here.
#![feature(no_core, lang_items, abi_ptx)]
#![no_core]
#![allow(internal_features)]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for f32 {}
#[lang = "legacy_receiver"]
pub trait LegacyReceiver {}
impl<T: ?Sized> LegacyReceiver for &T {}
#[lang = "freeze"]
pub trait Freeze {}
#[lang = "mul"]
pub trait Mul<R = Self> {
    type Output;
    fn mul(self, by: R) -> Self::Output;
}
impl Mul for f32 {
    type Output = f32;
    #[inline(always)]
    fn mul(self, by: f32) -> f32 {
        self * by
    }
}

pub struct Point {
    pub x: f32,
    pub y: f32,
}

pub enum Shape {
    Circle(f32),
    Rect { w: f32, h: f32 },
    Nothing,
}

pub enum Mode {
    Off,
    On = 5,
}

pub enum Maybe<'a> {
    Some(&'a Point),
    None,
}

pub mod inner {
    pub struct Wrap<T>(pub T, pub super::Mode);
}

#[inline(never)]
fn area(shape: &Shape) -> f32 {
    match shape {
        Shape::Circle(r) => *r * *r,
        Shape::Rect { w, h } => *w * *h,
        Shape::Nothing => 0.0,
    }
}

#[no_mangle]
pub extern "ptx-kernel" fn shapes(out: &mut [f32; 2], n: i32, values: &[f32], name: &str) {
    let point = Point { x: 1.0, y: 2.0 };
    let tuple = (n, 2.5f32, true);
    let wrap = inner::Wrap(7u8, Mode::On);
    let rect = Shape::Rect { w: 3.0, h: 4.0 };
    let nothing = Shape::Nothing;
    let some = Maybe::Some(&point);
    let none = Maybe::None;
    let letter = 'x';
    let first = area(&rect);
    *out = [first, area(&nothing)];
}
