//! What clients load: PTX text, or a fat binary with PTX in it.
//!
//! The layout of fat binaries is that of `fatbinary_section.h` (the wrapper) and of what nvcc 13.0 writes: a header, then entries, each with a header of
//! its own and a payload that may be compressed.

use crate::error::{Code, Error};
use crate::ffi::{Pointer, memory};
use std::io::Read;

/// The wrapper that registered fat binaries are in.
const WRAPPER: u32 = 0x4662_43b1;
/// The fat binary itself.
const FATBIN: u32 = 0xba55_ed50;
const ELF: &[u8; 4] = b"\x7fELF";
/// Bytes of the headers.
const HEADER: usize = 16;
const ENTRY: usize = 64;
/// The kind of an entry that is PTX.
const PTX: u16 = 1;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// No PTX is larger.
const MOST_BYTES: usize = 1 << 30;

/// What a client loads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Image {
    /// The text of a module.
    Ptx(String),
    /// A fat binary.
    Fatbin(Vec<u8>),
    /// Code for a device.
    Cubin,
    /// Something else: its first bytes.
    Unknown([u8; 4]),
}

/// Looks at what a client loads; how long it is, it says itself.
pub fn at(place: Pointer) -> Result<Image, Error> {
    if place.is_null() {
        return Err(Error::value("a null pointer where an image is expected"));
    }
    let first = memory::bytes(place, 1)[0];
    // A text may be shorter than a magic number.
    if first.is_ascii_whitespace() || first == b'.' || first == b'/' || first == 0 {
        return text(memory::text(place));
    }
    let magic = memory::bytes(place, 4);
    match (u32::from_le_bytes(word(&magic, 0)), &magic) {
        (WRAPPER, _) => {
            let data = u64::from_le_bytes(word(&memory::bytes(place, 16), 8));
            if data == 0 {
                return Err(Error::new(Code::INVALID_IMAGE, "a fat binary without data"));
            }
            at(Pointer::at(data))
        }
        (FATBIN, _) => {
            let header = memory::bytes(place, HEADER);
            let size = HEADER as u64 + u64::from_le_bytes(word(&header, 8));
            let size = usize::try_from(size).ok().filter(|size| *size <= MOST_BYTES);
            let size =
                size.ok_or_else(|| Error::new(Code::INVALID_IMAGE, "a fat binary of more than 1 GiB"))?;
            Ok(Image::Fatbin(memory::bytes(place, size)))
        }
        _ if magic == ELF => Ok(Image::Cubin),
        _ => Ok(Image::Unknown(word(&magic, 0))),
    }
}

/// Looks at the bytes of a file, or of an input of a link.
pub fn of(bytes: &[u8]) -> Result<Image, Error> {
    match bytes.first_chunk::<4>() {
        Some(magic) if u32::from_le_bytes(*magic) == FATBIN => Ok(Image::Fatbin(bytes.to_vec())),
        Some(magic) if magic == ELF => Ok(Image::Cubin),
        Some(magic) if !bytes[0].is_ascii() => Ok(Image::Unknown(*magic)),
        _ => {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            text(bytes[..end].to_vec())
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<Image, Error> {
    // Comments may be in any encoding; the parser reports what is not text elsewhere.
    Ok(Image::Ptx(
        String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
    ))
}

impl Image {
    /// The PTX for a device that runs `sm` and older: of several the newest.
    pub fn ptx(self, sm: u16) -> Result<String, Error> {
        match self {
            Image::Ptx(text) => Ok(text),
            Image::Cubin => Err(Error::new(
                Code::NO_BINARY_FOR_GPU,
                "this is machine code for a GPU (a cubin), and only PTX can be run: have the compiler write PTX",
            )),
            Image::Unknown(magic) => Err(Error::new(
                Code::INVALID_IMAGE,
                format!("{magic:02x?} starts neither PTX nor a fat binary"),
            )),
            Image::Fatbin(bytes) => {
                let mut found: Option<(u32, String)> = None;
                let mut others = Vec::new();
                for entry in entries(&bytes)? {
                    let better = found.as_ref().is_none_or(|(arch, _)| entry.arch > *arch);
                    if entry.kind == PTX && entry.arch <= u32::from(sm) && better {
                        found = Some((entry.arch, entry.text()?));
                    } else {
                        let kind = if entry.kind == PTX { "PTX" } else { "machine code" };
                        others.push(format!("{kind} for sm_{}", entry.arch));
                    }
                }
                found.map(|(_, text)| text).ok_or_else(|| {
                    let message = format!(
                        "no PTX for sm_{sm} or older in a fat binary (it has {}): compile with -arch=compute_{sm}",
                        if others.is_empty() { "nothing".into() } else { others.join(", ") }
                    );
                    Error::new(Code::NO_BINARY_FOR_GPU, message)
                })
            }
        }
    }
}

/// An entry of a fat binary.
struct Entry<'b> {
    kind: u16,
    arch: u32,
    flags: u64,
    payload: &'b [u8],
    /// Its size when it is not compressed.
    size: usize,
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    if let Some(part) = bytes.get(at..at.saturating_add(N)) {
        found.copy_from_slice(part);
    }
    found
}

fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let damaged = |what: &str| Error::new(Code::INVALID_IMAGE, format!("a damaged fat binary: {what}"));
    let mut at = usize::from(u16::from_le_bytes(word(bytes, 6)));
    if at < HEADER {
        return Err(damaged("its header is too short"));
    }
    let mut found = Vec::new();
    while at < bytes.len() {
        let header =
            bytes.get(at..).filter(|rest| rest.len() >= ENTRY).ok_or_else(|| damaged("half an entry"))?;
        let start = u32::from_le_bytes(word(header, 4)) as usize;
        let room = usize::try_from(u64::from_le_bytes(word(header, 8))).unwrap_or(usize::MAX);
        let payload = header.get(start..).and_then(|rest| rest.get(..room)).filter(|_| start >= ENTRY);
        let payload = payload.ok_or_else(|| damaged("an entry that ends past its end"))?;
        let compressed = u32::from_le_bytes(word(header, 16)) as usize;
        let payload = if compressed > 0 { payload.get(..compressed).unwrap_or(payload) } else { payload };
        found.push(Entry {
            kind: u16::from_le_bytes(word(header, 0)),
            arch: u32::from_le_bytes(word(header, 28)),
            flags: u64::from_le_bytes(word(header, 40)),
            payload,
            size: usize::try_from(u64::from_le_bytes(word(header, 56))).unwrap_or(usize::MAX),
        });
        at = at
            .checked_add(start)
            .and_then(|at| at.checked_add(room))
            .ok_or_else(|| damaged("an endless entry"))?;
    }
    Ok(found)
}

impl Entry<'_> {
    fn text(&self) -> Result<String, Error> {
        let damaged =
            |error: String| Error::new(Code::INVALID_IMAGE, format!("damaged PTX in a fat binary: {error}"));
        let limit = self.size.min(MOST_BYTES);
        let bytes = if self.flags & ZSTD != 0 {
            let mut decoder =
                ruzstd::decoding::StreamingDecoder::new(self.payload).map_err(|e| damaged(e.to_string()))?;
            let mut out = Vec::new();
            decoder.by_ref().take(limit as u64).read_to_end(&mut out).map_err(|e| damaged(e.to_string()))?;
            out
        } else if self.flags & LZ4 != 0 {
            lz4_flex::block::decompress(self.payload, limit).map_err(|e| damaged(e.to_string()))?
        } else {
            self.payload.to_vec()
        };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8(bytes[..end].to_vec()).map_err(|e| damaged(e.to_string()))
    }
}
