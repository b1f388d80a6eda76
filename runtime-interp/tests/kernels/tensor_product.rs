//! Products in tensor memory against plain sums, with matrices laid out by formulas of the test's own.

use super::{levels, load_for};
use warpsmith_interp::{Fault, FaultCode, Launch};

/// Where B starts in shared memory; A is at the beginning.
const OF_B: usize = 16384;

/// A type of elements: its code in the instruction descriptor, its bits, and the bits of 1, 2 and the sign.
#[derive(Clone, Copy)]
pub struct Type(pub u32, pub u32, pub [u32; 3]);

pub const F16: Type = Type(0, 16, [0x3c00, 0x4000, 0x8000]);
pub const BF16: Type = Type(1, 16, [0x3f80, 0x4000, 0x8000]);
pub const TF32: Type = Type(2, 32, [0x3f80_0000, 0x4000_0000, 0x8000_0000]);
pub const E4M3: Type = Type(0, 8, [0x38, 0x40, 0x80]);
pub const E5M2: Type = Type(1, 8, [0x3c, 0x40, 0x80]);
pub const E2M3: Type = Type(3, 6, [0x08, 0x10, 0x20]);
pub const E3M2: Type = Type(4, 6, [0x0c, 0x10, 0x20]);
pub const E2M1: Type = Type(5, 4, [0x2, 0x4, 0x8]);
pub const U8: Type = Type(0, 8, [1, 2, 0]);
pub const S8: Type = Type(1, 8, [1, 2, 0]);

impl Type {
    pub fn bits_of(self, value: i32) -> u32 {
        let Type(code, _, [one, two, sign]) = self;
        match value {
            0 => 0,
            _ if sign == 0 && code == 1 => value as u32 & 0xff,
            _ => [one, two][value.unsigned_abs() as usize - 1] | if value < 0 { sign } else { 0 },
        }
    }

    /// Bytes of an element in memory.
    pub fn bytes(self) -> usize {
        self.1.div_ceil(8) as usize
    }
}

/// How a matrix lies in shared memory: the code of the swizzle, and whether neighbours are along rows of A or columns of B.
#[derive(Clone, Copy, PartialEq)]
struct Lies(u64, bool);

impl Lies {
    /// Bytes of a line of the pattern, and lines of it.
    fn span(self) -> (usize, usize) {
        match self.0 {
            0 => (16, 8),
            1 => (128, 4),
            2 => (128, 8),
            4 => (64, 8),
            _ => (32, 8),
        }
    }

    /// The leading and the stride byte offset for a matrix of so many lines.
    fn offsets(self, lines: usize, depth: usize, bytes: usize) -> [usize; 2] {
        let (span, rows) = self.span();
        match self {
            Lies(0, false) => [128, 256],
            Lies(_, false) => [16, 8 * span],
            Lies(0, true) => [128 * (lines * bytes / 16), 128],
            Lies(_, true) => [rows * span * (depth / rows), rows * span],
        }
    }

    /// Where an element is.
    fn place(self, [leading, stride]: [usize; 2], line: usize, k: usize, bytes: usize) -> usize {
        let (span, rows) = self.span();
        let at = match self {
            Lies(0, false) => line % 8 * 16 + line / 8 * stride + k * bytes % 16 + k * bytes / 16 * leading,
            Lies(_, false) => line % 8 * span + line / 8 * stride + k * bytes,
            Lies(0, true) => line * bytes % 16 + line * bytes / 16 * stride + k % 8 * 16 + k / 8 * leading,
            Lies(_, true) => {
                line * bytes % span + line * bytes / span * leading + k % rows * span + k / rows * stride
            }
        };
        at ^ match self.0 {
            0 => 0,
            1 => (at >> 7 & 3) << 5,
            2 => (at >> 7 & 7) << 4,
            4 => (at >> 7 & 3) << 4,
            _ => (at >> 7 & 1) << 4,
        }
    }
}

#[derive(Clone, Copy)]
struct Case {
    kind: &'static str,
    types: [Type; 2],
    /// The code of the type of D.
    of_d: u32,
    shape: [usize; 2],
    lies: [Lies; 2],
    in_cells: bool,
    negate: [bool; 2],
    accumulates: bool,
    disabled: Option<[u32; 4]>,
    /// More bits of the instruction descriptor and of the descriptors of A and B.
    flip: (u32, [u64; 2]),
    /// How often it is multiplied.
    times: usize,
}

impl Case {
    fn new(kind: &'static str, types: [Type; 2], of_d: u32) -> Case {
        Case {
            kind,
            types,
            of_d,
            shape: [128, 32],
            lies: [Lies(0, false); 2],
            in_cells: false,
            negate: [false; 2],
            accumulates: true,
            disabled: None,
            flip: (0, [0; 2]),
            times: 1,
        }
    }

    fn depth(&self) -> usize {
        32 / self.types[0].bytes()
    }

    fn value(&self, side: usize, line: usize, k: usize) -> i32 {
        let value = ((line * 7 + k * 5 + side * 3 + line * k) % 5) as i32 - 2;
        // U8 has no sign.
        if self.kind == "i8" && self.types[side].0 == U8.0 { value.abs() } else { value }
    }

    /// The lane of a row.
    fn lane(&self, row: usize) -> usize {
        if self.shape[0] == 64 { row / 16 * 32 + row % 16 } else { row }
    }

    /// The bits of a number of D.
    fn number(&self, value: i32) -> u32 {
        let single = (value as f32).to_bits();
        match self.of_d {
            0 if value == 0 => 0,
            0 => single >> 16 & 0x8000 | (((single >> 23 & 0xff) - 112) << 10) | single >> 13 & 0x3ff,
            1 => single,
            _ => value as u32,
        }
    }

    fn image(&self) -> Vec<u32> {
        let mut image = vec![0u8; 2 * OF_B];
        for side in 0..2 {
            let Type(_, bits, _) = self.types[side];
            let bytes = self.types[side].bytes();
            let offsets = self.lies[side].offsets(self.shape[side], self.depth(), bytes);
            for line in 0..self.shape[side] {
                for k in 0..self.depth() {
                    let element = self.types[side].bits_of(self.value(side, line, k));
                    let (base, shift) = if side == 0 && self.in_cells {
                        // Four and six bits lie in the middle and at the bottom of a byte.
                        (self.lane(line) * 32 + k * bytes, if bits == 4 { 2 } else { 0 })
                    } else {
                        let at = self.lies[side].place(offsets, line, k, bytes) + side * OF_B;
                        // Narrow elements are packed at the beginning of their sixteen bytes.
                        let bit = if bits < 8 { at % 16 * bits as usize } else { at % 16 * 8 };
                        (at / 16 * 16 + bit / 8, bit as u32 % 8)
                    };
                    for (i, byte) in (u64::from(element) << shift).to_le_bytes().iter().enumerate() {
                        if *byte != 0 {
                            image[base + i] |= byte;
                        }
                    }
                }
            }
        }
        image.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    fn text(&self) -> String {
        let [m, n] = self.shape;
        let descriptor = |side: usize| {
            let [leading, stride] =
                self.lies[side].offsets(self.shape[side], self.depth(), self.types[side].bytes());
            let start = side * OF_B / 16;
            (start as u64
                | (leading as u64 / 16) << 16
                | (stride as u64 / 16) << 32
                | 1 << 46
                | self.lies[side].0 << 61)
                ^ self.flip.1[side]
        };
        let instruction = (self.of_d << 4
            | self.types[0].0 << 7
            | self.types[1].0 << 10
            | u32::from(self.negate[0]) << 13
            | u32::from(self.negate[1]) << 14
            | u32::from(self.lies[0].1) << 15
            | u32::from(self.lies[1].1) << 16
            | (n as u32 / 8) << 17
            | (m as u32 / 16) << 24)
            ^ self.flip.0;
        let a = if self.in_cells { "[%r15]" } else { "%rd3" };
        let disabled = self.disabled.map_or(String::new(), |words| {
            let moves: String =
                words.iter().enumerate().map(|(i, w)| format!("mov.u32 %r{}, {w};", 40 + i)).collect();
            moves
        });
        let lanes = if self.disabled.is_some() { "{%r40, %r41, %r42, %r43}, " } else { "" };
        let multiply =
            format!("@%p2 tcgen05.mma.cta_group::1.kind::{} [%r3], {a}, %rd4, %r21, {lanes}%p4; ", self.kind)
                .repeat(self.times);
        format!(
            ".visible .entry k(.param .u64 out, .param .u64 image) {{
            .reg .b32 %r<64>, %v<8>; .reg .b64 %rd<64>, %out; .reg .pred %p<16>;
            .shared .align 1024 .b8 s[32768]; .shared .b32 taddr; .shared .align 8 .b64 bar;
            ld.param.u64 %out, [out]; ld.param.u64 %rd10, [image];
            mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r1, 0;
            @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], 512;
            @%p2 mbarrier.init.shared.b64 [bar], 1; mov.u32 %r10, s; mov.u32 %r11, %r1;
            copy: mad.wide.u32 %rd1, %r11, 4, %rd10; ld.global.u32 %r12, [%rd1]; shl.b32 %r13, %r11, 2; add.u32 %r13, %r13, %r10; st.shared.u32 [%r13], %r12;
            add.u32 %r11, %r11, 128; setp.lt.u32 %p3, %r11, 8192; @%p3 bra copy;
            fence.proxy.async.shared::cta; bar.sync 0; ld.shared.u32 %r3, [taddr]; shl.b32 %r4, %r2, 21; add.u32 %r4, %r4, %r3;
            shl.b32 %r14, %r1, 5; add.u32 %r14, %r14, %r10; ld.shared.v4.u32 {{%v0, %v1, %v2, %v3}}, [%r14]; ld.shared.v4.u32 {{%v4, %v5, %v6, %v7}}, [%r14+16];
            add.u32 %r15, %r4, 256; tcgen05.st.sync.aligned.32x32b.x8.b32 [%r15], {{%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}}; add.u32 %r15, %r3, 256;
            mov.u32 %r16, 0; mov.u32 %r18, {c};
            fill: add.u32 %r17, %r4, %r16; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r17], {{%r18}}; add.u32 %r16, %r16, 1; setp.lt.u32 %p3, %r16, {n}; @%p3 bra fill;
            tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
            shr.u32 %r19, %r10, 4; cvt.u64.u32 %rd2, %r19; add.u64 %rd3, %rd2, {of_a}; add.u64 %rd4, %rd2, {of_b};
            mov.u32 %r20, {enable}; setp.ne.u32 %p4, %r20, 0; mov.u32 %r21, {instruction}; {disabled}
            {multiply}
            mov.u32 %r22, bar; cvt.u64.u32 %rd5, %r22; @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd5];
            w: mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra w; tcgen05.fence::after_thread_sync;
            mov.u32 %r16, 0; mul.lo.u32 %r23, %r1, {n};
            read: add.u32 %r17, %r4, %r16; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r18}}, [%r17]; tcgen05.wait::ld.sync.aligned;
            add.u32 %r24, %r23, %r16; mad.wide.u32 %rd1, %r24, 4, %out; st.global.u32 [%rd1], %r18; add.u32 %r16, %r16, 1; setp.lt.u32 %p3, %r16, {n}; @%p3 bra read;
            bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512; ret; }}",
            c = self.number(3),
            of_a = descriptor(0),
            of_b = descriptor(1),
            enable = u32::from(self.accumulates),
        )
    }

    fn run_with(&self, describe: impl Fn(Launch) -> Launch, text: &str) -> Result<Vec<u32>, Fault> {
        let program = load_for("sm_100a", text);
        let mut device = levels::device();
        let image = device.upload(&self.image())?;
        let out = device.upload(&vec![0u32; 128 * self.shape[1]])?;
        let mut description = describe(Launch::new("k").block([128, 1, 1]));
        description.args.extend([out.into(), image.into()]);
        device.launch(&program, &description)?;
        device.download(out)
    }

    fn expected(&self) -> Vec<u32> {
        let [m, n] = self.shape;
        let mut d = vec![self.number(3); 128 * n];
        let sign = if self.negate[0] != self.negate[1] { -1 } else { 1 };
        for row in 0..m {
            let lane = self.lane(row);
            if self.disabled.is_some_and(|words| words[lane / 32] >> (lane % 32) & 1 != 0) {
                continue;
            }
            for column in 0..n {
                let product = |k| self.value(0, row, k) * self.value(1, column, k);
                let sum: i32 = (0..self.depth()).map(product).sum();
                let times = if self.accumulates { self.times as i32 } else { 1 };
                let c = if self.accumulates { 3 } else { 0 };
                d[lane * n + column] = self.number(c + sign * times * sum);
            }
        }
        d
    }

    #[track_caller]
    fn check(&self) {
        let Lies(of_a, a_turned) = self.lies[0];
        let Lies(of_b, b_turned) = self.lies[1];
        let name = format!(
            "{} {:?} {} {of_a} {a_turned} {of_b} {b_turned} {}",
            self.kind, self.shape, self.types[0].0, self.in_cells
        );
        let found = self.run_with(|l| l, &self.text()).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let wrong = found.iter().zip(self.expected()).position(|(found, expected)| *found != expected);
        assert_eq!(wrong.map(|at| (at / self.shape[1], at % self.shape[1])), None, "{name}: lane, column");
    }
}

#[test]
fn every_kind_gives_the_plain_sum() {
    let kinds = [
        Case::new("f16", [F16; 2], 1),
        Case::new("f16", [F16; 2], 0),
        Case::new("f16", [BF16; 2], 1),
        Case::new("tf32", [TF32; 2], 1),
        Case::new("f8f6f4", [E4M3, E5M2], 1),
        Case::new("f8f6f4", [E5M2, E4M3], 0),
        Case::new("f8f6f4", [E2M3, E2M1], 1),
        Case::new("f8f6f4", [E2M1, E3M2], 1),
        Case::new("i8", [S8, U8], 2),
        Case::new("i8", [U8, S8], 2),
    ];
    for case in kinds {
        case.check();
        Case { in_cells: true, lies: [Lies(0, false), Lies(2, false)], ..case }.check();
        Case { shape: [64, 16], accumulates: false, ..case }.check();
        Case { shape: [64, 16], in_cells: true, ..case }.check();
        if case.kind != "i8" {
            Case { negate: [true, false], ..case }.check();
            Case { negate: [true, true], accumulates: false, ..case }.check();
        }
    }
}

#[test]
fn every_layout_reaches_the_same_elements() {
    for mode in [0, 2, 4, 6] {
        for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
            let lies = [Lies(mode, a), Lies(mode, b)];
            Case { lies, shape: [128, 64], ..Case::new("f16", [F16; 2], 1) }.check();
            Case { lies, shape: [128, 128], ..Case::new("i8", [S8; 2], 2) }.check();
        }
        Case { lies: [Lies(mode, false); 2], ..Case::new("tf32", [TF32; 2], 1) }.check();
        Case { lies: [Lies(mode, false); 2], ..Case::new("f8f6f4", [E2M1, E2M3], 1) }.check();
    }
    Case { lies: [Lies(1, false); 2], ..Case::new("f16", [F16; 2], 1) }.check();
    Case { lies: [Lies(1, true), Lies(1, true)], ..Case::new("tf32", [TF32; 2], 1) }.check();
}

#[test]
fn lanes_are_left_alone_and_products_follow_each_other() {
    let case = Case::new("f16", [F16; 2], 1);
    Case { disabled: Some([1, 0x8000_0000, u32::MAX, 0x10]), ..case }.check();
    // Four products into one D, in their order whatever the schedule.
    let four = Case { times: 4, ..case };
    four.check();
    for seed in 0..8 {
        let found = four.run_with(|l| l.seed(seed), &four.text()).unwrap();
        assert_eq!(found, four.expected(), "seed {seed}");
    }
    // Without the commit and the wait nothing has happened yet.
    let text = case.text();
    let early: String =
        text.lines().filter(|line| !line.contains("tcgen05.commit") && !line.contains("try_wait")).collect();
    let found = case.run_with(|l| l, &early).unwrap();
    assert_eq!(found, vec![case.number(3); found.len()]);
}

#[test]
fn illegal_descriptors_are_faults_that_name_the_field() {
    let is = |case: Case, code: FaultCode, part: &str| {
        let fault = case.run_with(|l| l, &case.text()).unwrap_err();
        assert!(fault.code == code && fault.message.contains(part), "{part}: {fault}");
        assert!(fault.ptx_line.is_some() && fault.thread.is_some(), "{fault}");
    };
    let case = Case::new("f16", [F16; 2], 1);
    let cells = FaultCode::BadTensorMemory;
    is(Case { flip: (1 << 2, [0; 2]), ..case }, cells, "sparsity (bit 2)");
    is(Case { flip: (2 << 7, [0; 2]), ..case }, cells, "type of A (bits 9:7) is 2");
    is(Case { flip: (8 << 24, [0; 2]), ..case }, cells, "M (bits 28:24, in sixteens) is 0");
    is(Case { flip: (24 << 24, [0; 2]), ..case }, cells, "M (bits 28:24, in sixteens) is 256");
    let operand = FaultCode::BadOperand;
    is(Case { flip: (0, [1 << 46, 0]), ..case }, operand, "of A: bits 46 to 48 are 0b000");
    is(Case { flip: (0, [0, 3 << 61]), ..case }, operand, "of B: the swizzling mode in bits 61 to 63 is 3");
    is(Case { flip: (0, [0, 0x2000 << 32]), ..case }, FaultCode::OutOfBounds, "the matrix B");
    is(
        Case { lies: [Lies(0, true), Lies(0, false)], ..Case::new("tf32", [TF32; 2], 1) },
        operand,
        "must be 1",
    );
    is(Case { lies: [Lies(0, false), Lies(1, true)], ..case }, operand, "cannot be 1");
    is(Case { in_cells: true, flip: (1 << 15, [0; 2]), ..case }, cells, "transposition of A (bit 15)");
    // D beyond what is allocated, and at a lane where it cannot begin.
    let at = |from: &str, to: &str, part: &str| {
        let fault = case.run_with(|l| l, &case.text().replace(from, to)).unwrap_err();
        assert!(fault.code == cells && fault.message.contains(part), "{fault}");
    };
    let multiply = "@%p2 tcgen05.mma";
    at(multiply, "@%p2 add.u32 %r3, %r3, 496; @%p2 tcgen05.mma", "D: column 512");
    at(multiply, "@%p2 add.u32 %r3, %r3, 0x100000; @%p2 tcgen05.mma", "D of 128 rows is at lane 16");
}
