//! The loads of a loop over lanes: values that the engine has loaded, or the data themselves.
//!
//! **Invariant.** What is read at places of [`ChunkPlaces`] is what its documentation promises to be readable: `fetch` reads windows of lanes of 1 to 8
//! bytes, and lanes of 16 bytes or in local memory at their own places, for the accesses of the batch that the engine has checked.

use super::chunk::{Chunks, Lanes, PLAIN, Place};
use super::recipe::Fetch;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use std::mem::{offset_of, size_of};
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{ChunkPlaces, Width};

/// Where the values of loads come from.
#[derive(Clone, Copy)]
pub(super) enum Loaded {
    /// From rows of scratch memory, which the engine has loaded them to.
    Rows,
    /// From where they are, as an array of [`ChunkPlaces`] says.
    Places(Value),
}

/// What a chunk has read of the places and the data.
#[derive(Default)]
pub(super) struct Reads {
    /// Of batches.
    at: FxHashMap<u32, Value>,
    control: FxHashMap<u32, Value>,
    step: FxHashMap<u32, Value>,
    /// The vectors of a load, by its batch and how far it is past the lowest.
    vectors: FxHashMap<(u32, u32), Vec<Value>>,
}

impl Reads {
    /// The places of a batch are known.
    pub fn knows(&self, batch: u32) -> bool {
        self.at.contains_key(&batch)
    }

    /// Sets, for a batch, where its data begin, which of a window's bytes are whose, and the bytes from lane to lane.
    pub fn locate(&mut self, batch: u32, [at, control, step]: [Value; 3]) {
        self.at.insert(batch, at);
        self.control.insert(batch, control);
        self.step.insert(batch, step);
    }
}

/// Data of the guest: in bounds, and aligned as its elements are.
pub(super) const GUEST: MemFlagsData = MemFlagsData::new().with_notrap();

/// Lanes of a chunk.
const LANES: u32 = 4;

impl Chunks<'_, '_, '_> {
    /// An element of a load, in the lanes of a register.
    pub fn fetch(&mut self, fetch: &Fetch, width: Width) -> Lanes {
        let Loaded::Places(places) = self.loaded else {
            return self.load(Place::Scratch, width, 32 * fetch.row);
        };
        self.placed(places, fetch, width)
    }

    /// An element whose place is known.
    pub fn placed(&mut self, places: Value, fetch: &Fetch, width: Width) -> Lanes {
        let found = match (fetch.local, fetch.bytes) {
            (true, _) => self.each_lane(places, fetch),
            (false, 8) => Lanes::Two(self.doubles(places, fetch)),
            (false, _) => Lanes::One(self.part_of_word(places, fetch)),
        };
        if width == Width::W64 { self.extended(found, fetch.signed) } else { found }
    }

    /// Where the description of a batch is, so many bytes for each half of the warp.
    pub fn of_half(&mut self, places: Value, bytes: i64) -> Value {
        // Chunks are counted in 16 bytes, of which a half has 64.
        let half = self.b.ins().ushr_imm_u(self.chunk, 6);
        let past = self.b.ins().imul_imm_s(half, bytes);
        self.b.ins().iadd(places, past)
    }

    fn field(batch: u32, offset: usize) -> i32 {
        (batch as usize * size_of::<ChunkPlaces>() + offset) as i32
    }

    /// Where the chunk's data of a batch begin.
    fn at(&mut self, places: Value, batch: u32) -> Value {
        if let Some(at) = self.reads.at.get(&batch) {
            return *at;
        }
        let past = self.b.ins().ushr_imm_u(self.chunk, 1);
        let of_chunk = self.b.ins().iadd(places, past);
        let offset = Self::field(batch, offset_of!(ChunkPlaces, at));
        let at = self.b.ins().load(types::I64, PLAIN, of_chunk, offset);
        self.reads.at.insert(batch, at);
        at
    }

    fn control(&mut self, places: Value, batch: u32) -> Value {
        if let Some(control) = self.reads.control.get(&batch) {
            return *control;
        }
        let of_half = self.of_half(places, 16);
        let offset = Self::field(batch, offset_of!(ChunkPlaces, control));
        let control = self.b.ins().load(types::I8X16, PLAIN, of_half, offset);
        self.reads.control.insert(batch, control);
        control
    }

    /// Bytes from lane to lane.
    fn lane_step(&mut self, places: Value, batch: u32) -> Value {
        if let Some(step) = self.reads.step.get(&batch) {
            return *step;
        }
        let of_half = self.of_half(places, 8);
        let offset = Self::field(batch, offset_of!(ChunkPlaces, step));
        let step = self.b.ins().load(types::I64, PLAIN, of_half, offset);
        self.reads.step.insert(batch, step);
        step
    }

    /// The place of a lane of the chunk.
    fn lane(&mut self, places: Value, batch: u32, lane: u32) -> Value {
        let at = self.at(places, batch);
        if lane == 0 {
            return at;
        }
        let step = self.lane_step(places, batch);
        let past = self.b.ins().imul_imm_s(step, i64::from(lane));
        self.b.ins().iadd(at, past)
    }

    /// The bytes of a window that the lanes want, zero where there are none.
    fn choose(&mut self, window: Value, control: Value) -> Value {
        let window = self.cast(window, types::I8X16);
        if cfg!(target_arch = "x86_64") {
            return self.b.ins().x86_pshufb(window, control);
        }
        self.b.ins().swizzle(window, control)
    }

    /// What the four lanes load, as vectors: one of words for up to 4 bytes a lane, two of 64 bits, or one a lane.
    fn vectors(&mut self, places: Value, fetch: &Fetch) -> Vec<Value> {
        let key = (fetch.batch, fetch.past);
        if let Some(vectors) = self.reads.vectors.get(&key) {
            return vectors.clone();
        }
        let past = fetch.past as i32;
        let at = self.at(places, fetch.batch);
        let vectors: Vec<Value> = match fetch.lane {
            1 | 2 => {
                let (int, vector) =
                    if fetch.lane == 1 { (types::I32, types::I32X4) } else { (types::I64, types::I64X2) };
                let bytes = self.b.ins().load(int, GUEST, at, past);
                let window = self.b.ins().scalar_to_vector(vector, bytes);
                let control = self.control(places, fetch.batch);
                vec![self.choose(window, control)]
            }
            4 => {
                let window = self.b.ins().load(types::I8X16, GUEST, at, past);
                let control = self.control(places, fetch.batch);
                vec![self.choose(window, control)]
            }
            8 => {
                let control = self.control(places, fetch.batch);
                let second = self.lane(places, fetch.batch, 2);
                [at, second]
                    .map(|at| {
                        let window = self.b.ins().load(types::I8X16, GUEST, at, past);
                        self.choose(window, control)
                    })
                    .to_vec()
            }
            _ => (0..LANES)
                .map(|lane| {
                    let at = self.lane(places, fetch.batch, lane);
                    self.b.ins().load(types::I8X16, GUEST, at, past)
                })
                .collect(),
        };
        self.reads.vectors.insert(key, vectors.clone());
        vectors
    }

    /// An element of 64 bits.
    fn doubles(&mut self, places: Value, fetch: &Fetch) -> [Value; 2] {
        let found = match self.vectors(places, fetch)[..] {
            [low, high] => [low, high],
            [a, b, c, d] => {
                let words = if fetch.before == 0 { [0, 1, 4, 5] } else { [2, 3, 6, 7] };
                [[a, b], [c, d]].map(|pair| self.words(pair, words))
            }
            _ => unreachable!("an element of 64 bits is in lanes of 8 or 16 bytes"),
        };
        found.map(|value| self.cast(value, types::I64X2))
    }

    /// An element of up to 32 bits, extended to that.
    fn part_of_word(&mut self, places: Value, fetch: &Fetch) -> Value {
        let (word, byte) = ((fetch.before / 4) as u8, fetch.before % 4);
        let words = match self.vectors(places, fetch)[..] {
            [words] => words,
            [low, high] => self.words([low, high], [0, 2, 4, 6].map(|lane| lane + word)),
            [a, b, c, d] => {
                // The first two words of both, or the last two.
                let pairs = if word < 2 { [0, 4, 1, 5] } else { [2, 6, 3, 7] };
                let [low, high] = [[a, b], [c, d]].map(|pair| self.words(pair, pairs));
                self.words([low, high], if word % 2 == 0 { [0, 1, 4, 5] } else { [2, 3, 6, 7] })
            }
            _ => unreachable!("lanes are one, two or four vectors"),
        };
        let words = self.cast(words, types::I32X4);
        let unused = 32 - 8 * fetch.bytes;
        let zero_extended = fetch.lane == fetch.bytes && !fetch.signed;
        if unused == 0 || zero_extended {
            return words;
        }
        let up = self.shift_left(words, unused - 8 * byte);
        self.shift_right(up, unused, fetch.signed)
    }

    /// One element behind an address, of 4 bytes or 8 where it is loaded to.
    pub(super) fn element(&mut self, at: Value, past: i32, bytes: u32, signed: bool) -> Value {
        match (bytes, signed) {
            (1, true) => self.b.ins().sload8(types::I32, GUEST, at, past),
            (1, false) => self.b.ins().uload8(types::I32, GUEST, at, past),
            (2, true) => self.b.ins().sload16(types::I32, GUEST, at, past),
            (2, false) => self.b.ins().uload16(types::I32, GUEST, at, past),
            (4, _) => self.b.ins().load(types::I32, GUEST, at, past),
            _ => self.b.ins().load(types::I64, GUEST, at, past),
        }
    }

    /// An element of local memory, lane by lane.
    fn each_lane(&mut self, places: Value, fetch: &Fetch) -> Lanes {
        let past = (fetch.past + fetch.before) as i32;
        let values: Vec<Value> = (0..LANES)
            .map(|lane| {
                let at = self.lane(places, fetch.batch, lane);
                self.element(at, past, fetch.bytes, fetch.signed)
            })
            .collect();
        if fetch.bytes < 8 {
            return Lanes::One(self.gathered(types::I32X4, &values));
        }
        let (low, high) = values.split_at(2);
        Lanes::Two([low, high].map(|pair| self.gathered(types::I64X2, pair)))
    }

    pub fn gathered(&mut self, ty: Type, values: &[Value]) -> Value {
        let mut lanes = self.b.ins().scalar_to_vector(ty, values[0]);
        for (n, value) in values.iter().enumerate().skip(1) {
            lanes = self.b.ins().insertlane(lanes, *value, n as u8);
        }
        lanes
    }
}
