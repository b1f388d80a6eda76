//! Links.

use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Pointer, Text, api, memory};
use crate::image;
use crate::jit::Options;
use crate::link::{FATBINARY, LinkState, PTX};
use crate::state::driver;

fn create(count: u32, names: In<u32>, values: In<Pointer>, answer: Out<u64>) -> Result<(), Error> {
    let context = current()?;
    answer.check()?;
    let options = Options::read(count, names, values)?;
    let driver = driver()?;
    let profile = driver.settings.devices[context.device].clone();
    answer.set(driver.lock().links.add(LinkState::new(profile, options)))
}

fn add(state: u64, kind: u32, data: Pointer, size: usize, name: Text) -> Result<(), Error> {
    let link = driver()?.lock().links.get(state)?;
    if data.is_null() {
        return Err(Error::value("a null pointer where an input is expected"));
    }
    let name = name.optional().unwrap_or_else(|| "input".into());
    let bytes = match kind {
        // A fat binary says how long it is, in place of its wrapper.
        FATBINARY => match image::at(data)? {
            image::Image::Ptx(text) => text.into_bytes(),
            image::Image::Fatbin(bytes) => bytes,
            image::Image::Cubin | image::Image::Unknown(_) => memory::bytes(data, size.min(4)),
        },
        _ => memory::bytes(data, size),
    };
    link.add(kind, &name, &bytes)
}

fn add_file(state: u64, kind: u32, path: Text) -> Result<(), Error> {
    let link = driver()?.lock().links.get(state)?;
    let path = path.get()?;
    let bytes = std::fs::read(&path).map_err(|e| Error::new(Code::FILE_NOT_FOUND, format!("{path}: {e}")))?;
    let kind = if kind == PTX && bytes.starts_with(b"\x50\xed\x55\xba") { FATBINARY } else { kind };
    link.add(kind, &path, &bytes)
}

api! {
    fn cuLinkCreate(count: u32, names: In<u32>, values: In<Pointer>, state: Out<u64>) {
        create(count, names, values, state)
    }

    fn cuLinkCreate_v2(count: u32, names: In<u32>, values: In<Pointer>, state: Out<u64>) {
        create(count, names, values, state)
    }

    fn cuLinkAddData(
        state: u64,
        kind: u32,
        data: Pointer,
        size: usize,
        name: Text,
        _count: u32,
        _names: In<u32>,
        _values: In<Pointer>,
    ) {
        add(state, kind, data, size, name)
    }

    fn cuLinkAddData_v2(
        state: u64,
        kind: u32,
        data: Pointer,
        size: usize,
        name: Text,
        _count: u32,
        _names: In<u32>,
        _values: In<Pointer>,
    ) {
        add(state, kind, data, size, name)
    }

    fn cuLinkAddFile(
        state: u64,
        kind: u32,
        path: Text,
        _count: u32,
        _names: In<u32>,
        _values: In<Pointer>,
    ) {
        add_file(state, kind, path)
    }

    fn cuLinkAddFile_v2(
        state: u64,
        kind: u32,
        path: Text,
        _count: u32,
        _names: In<u32>,
        _values: In<Pointer>,
    ) {
        add_file(state, kind, path)
    }

    fn cuLinkComplete(state: u64, cubin: Out<Pointer>, size: Out<usize>) {
        let link = driver()?.lock().links.get(state)?;
        cubin.check()?;
        let (place, bytes) = link.complete()?;
        size.offer(bytes);
        cubin.set(place)
    }

    fn cuLinkDestroy(state: u64) {
        driver()?.lock().links.remove(state).map(|_| ())
    }
}
