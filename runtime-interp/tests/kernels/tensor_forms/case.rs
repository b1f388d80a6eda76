//! A product of a form: its operands laid out by formulas, its kernel, and what it must give.

use crate::tensor_product::{Type, U8};
use crate::{levels, load_for};
use warpsmith_interp::{Fault, Launch};

/// Where B starts in shared memory; A is at the beginning.
const OF_B: usize = 16384;
const SHARED: usize = 40960;

/// Columns of tensor memory: D is at the first, then come A, metadata and scales.
const COLUMNS: usize = 320;
const OF_A: usize = 256;
const OF_METADATA: usize = 272;
const OF_SCALES: [usize; 2] = [288, 304];

#[derive(Clone, Copy)]
pub(super) struct Case {
    /// `.kind` and what follows it.
    pub(super) kind: &'static str,
    pub(super) types: [Type; 2],
    /// The code of the type of D.
    pub(super) of_d: u32,
    /// M, N, and K of a dense product.
    pub(super) shape: [usize; 3],
    pub(super) sparse: bool,
    pub(super) stationary: bool,
    pub(super) pair: bool,
    pub(super) shifted: bool,
    pub(super) in_cells: bool,
    /// Scales of a row, and the code of their type.
    pub(super) scales: Option<(usize, u32)>,
    /// The bytes of the first scales of A and B.
    pub(super) ids: [u32; 2],
    pub(super) selector: u32,
    pub(super) halvings: Option<u32>,
    pub(super) zero: Option<u64>,
    pub(super) disabled: bool,
    pub(super) accumulates: bool,
    /// Bits that are wrong: of the instruction descriptor.
    pub(super) flip: u32,
}

impl Case {
    pub(super) fn new(kind: &'static str, types: [Type; 2], of_d: u32, shape: [usize; 3]) -> Case {
        Case {
            kind,
            types,
            of_d,
            shape,
            sparse: false,
            stationary: false,
            pair: false,
            shifted: false,
            in_cells: false,
            scales: None,
            ids: [0; 2],
            selector: 0,
            halvings: None,
            zero: None,
            disabled: false,
            accumulates: true,
            flip: 0,
        }
    }

    pub(super) fn is_tight(&self) -> bool {
        self.kind.contains("mxf4")
    }

    /// Columns of the whole A.
    pub(super) fn depth(&self) -> usize {
        self.shape[2] * if self.sparse { 2 } else { 1 }
    }

    pub(super) fn blocks(&self) -> usize {
        if self.pair { 2 } else { 1 }
    }

    /// Columns of A in a chunk of metadata.
    pub(super) fn chunk(&self) -> usize {
        match self.types[0].1 {
            32 => 2,
            _ if self.is_tight() => 8,
            _ => 4,
        }
    }

    /// The nibble of a chunk.
    pub(super) fn nibble(&self, row: usize, chunk: usize) -> u32 {
        let at = row * 7 + chunk * 5 + row / 3;
        if self.chunk() == 2 { [4, 14][at % 2] } else { [4, 8, 9, 12, 13, 14, 6][at % 7] }
    }

    /// The column of A at which a kept element stands.
    pub(super) fn stands(&self, row: usize, kept: usize) -> usize {
        if !self.sparse {
            return kept;
        }
        let half = self.chunk() / 2;
        let (chunk, i) = (kept / half, kept % half);
        let nibble = self.nibble(row, chunk) as usize;
        let [low, high] = [nibble & 3, nibble >> 2];
        let within = match self.chunk() {
            2 => usize::from(nibble == 14),
            4 => [low, high][i],
            _ => 2 * [low, high][i / 2] + i % 2,
        };
        chunk * self.chunk() + within
    }

    pub(super) fn value(&self, side: usize, line: usize, k: usize) -> i32 {
        let value = ((line * 7 + k * 5 + side * 3 + line * k) % 5) as i32 - 2;
        if self.kind == "i8" && self.types[side].0 == U8.0 { value.abs() } else { value }
    }

    /// The exponent of a scale.
    pub(super) fn exponent(&self, side: usize, line: usize, which: usize) -> i32 {
        ((line * 5 + which * 7 + side) % 3) as i32 - 1
    }

    /// Parts of the columns of D, and the lanes of a row of a block's D in one of them.
    pub(super) fn parts(&self) -> usize {
        match (self.shape[0], self.stationary, self.pair) {
            (32, ..) => 4,
            (64, true, _) => 2,
            (128, _, true) if !self.sparse => 2,
            _ => 1,
        }
    }

    pub(super) fn lane(&self, row: usize, part: usize) -> usize {
        let half =
            !self.stationary && self.shape[0] == 64 || self.pair && self.sparse && self.shape[0] == 128;
        if half { row / 16 * 32 + row % 16 } else { row + 128 / self.parts() * part }
    }

    /// The bits of a number of D.
    pub(super) fn number(&self, value: f32) -> u32 {
        let single = value.to_bits();
        match self.of_d {
            0 if value == 0.0 => 0,
            0 => single >> 16 & 0x8000 | (((single >> 23 & 0xff) - 112) << 10) | single >> 13 & 0x3ff,
            1 => single,
            _ => value as i32 as u32,
        }
    }

    /// Elements that share a byte.
    pub(super) fn per_byte(&self) -> usize {
        if self.is_tight() { 2 } else { 1 }
    }

    pub(super) fn row_bytes(&self, side: usize) -> usize {
        let columns = if side == 0 { self.shape[2] } else { self.depth() };
        columns * self.types[side].bytes() / self.per_byte()
    }

    /// The shared memory of a block.
    pub(super) fn shared(&self, block: usize) -> Vec<u8> {
        let mut image = vec![0u8; SHARED];
        for side in 0..2 {
            let Type(_, bits, _) = self.types[side];
            let lines = self.shape[side] / self.blocks();
            let more = if side == 1 && self.zero.is_some() { 2 } else { 0 };
            for line in 0..lines + more {
                for k in 0..if side == 0 { self.shape[2] } else { self.depth() } {
                    let element = self.types[side].bits_of(self.value(side, block * lines + line, k));
                    let byte = k * self.types[side].bytes() / self.per_byte();
                    let at =
                        line % 8 * 16 + line / 8 * (8 * self.row_bytes(side)) + byte % 16 + byte / 16 * 128;
                    let at = at + side * OF_B;
                    let bit = match bits {
                        4 if self.is_tight() => at * 8 + k % 2 * 4,
                        4 | 6 => at / 16 * 128 + at % 16 * bits as usize,
                        _ => at * 8,
                    };
                    for (i, byte) in (u64::from(element) << (bit % 8)).to_le_bytes().iter().enumerate() {
                        if *byte != 0 {
                            image[bit / 8 + i] |= byte;
                        }
                    }
                }
            }
        }
        image
    }

    /// The tensor memory of a block, lane by lane, in bytes.
    pub(super) fn cells(&self, block: usize) -> Vec<u8> {
        let mut cells = vec![0u8; 128 * COLUMNS * 4];
        let at = |lane: usize, column: usize| (lane * COLUMNS + column) * 4;
        for lane in 0..128 {
            for column in 0..OF_A {
                cells[at(lane, column)..][..4].copy_from_slice(&self.number(8.0).to_le_bytes());
            }
        }
        let rows = self.shape[0] / self.blocks();
        let n = self.shape[1] / self.parts();
        for part in 0..self.parts() {
            for row in 0..rows {
                let (lane, line) = (self.lane(row, part), block * rows + row);
                for k in 0..if self.in_cells { self.shape[2] } else { 0 } {
                    let element = self.types[0].bits_of(self.value(0, line, k));
                    let byte = k * self.types[0].bytes() / self.per_byte();
                    let shift = match self.types[0].1 {
                        4 if self.is_tight() => k % 2 * 4,
                        4 => 2,
                        _ => 0,
                    };
                    for (i, byte) in (u64::from(element) << shift).to_le_bytes()[..4].iter().enumerate() {
                        if *byte != 0 {
                            cells[at(lane, OF_A) + k * self.types[0].bytes() / self.per_byte() + i] |= byte;
                        }
                    }
                    assert!(byte < 64);
                }
                for chunk in 0..if self.sparse { self.depth() / self.chunk() } else { 0 } {
                    let nibble = self.nibble(line, chunk);
                    let (of, column, bit) = if self.types[0].1 >= 16 {
                        let of = self.lane(row / 16 * 16 + row % 8 + 8 * (chunk / 4), part);
                        (of, self.selector as usize, 16 * (row / 8 % 2) + 4 * (chunk % 4))
                    } else {
                        (lane, chunk / 8, 4 * (chunk % 8))
                    };
                    cells[at(of, OF_METADATA + column) + bit / 8] |= (nibble as u8) << (bit % 8);
                }
            }
        }
        let Some((count, ty)) = self.scales else { return cells };
        for quarter in 0..4 {
            let part = quarter * self.parts() / 4;
            for (side, place) in OF_SCALES.into_iter().enumerate() {
                let (lines, first) = if side == 0 { (rows, block * rows) } else { (n, part * n) };
                for line in 0..lines {
                    for which in 0..count {
                        let exponent = self.exponent(side, first + line, which);
                        let bits = if ty == 1 { 127 + exponent } else { (7 + exponent) << 3 };
                        let byte = self.ids[side] as usize + which;
                        let column = place + line / 32 + byte / 4 * lines.div_ceil(32);
                        cells[at(32 * quarter + line % 32, column) + byte % 4] = bits as u8;
                    }
                }
            }
        }
        cells
    }

    /// The columns of B that count as zero, by the text of the manual's examples.
    pub(super) fn is_zero(&self, part: usize, column: usize) -> bool {
        let Some(mask) = self.zero else { return false };
        let field = |low: usize, bits: usize| (mask >> low) as usize & ((1 << bits) - 1);
        let [ones, zeros] = [field(40, 8) + 1, field(48, 8) + 1];
        let mut string = Vec::new();
        let mut one = field(32 + part, 1) == 1;
        while string.len() < 600 {
            string.extend(std::iter::repeat_n(one, if one { ones } else { zeros }));
            one = !one;
        }
        field(39, 1) == 1 && string[field(8 * part, 8) + column]
    }

    pub(super) fn text(&self) -> String {
        let [m, n, _] = self.shape;
        let scaled = self.scales.is_some();
        let long = self.shape[2] == 96;
        let mut instruction = u32::from(self.sparse) << 2
            | self.types[0].0 << 7
            | self.types[1].0 << 10
            | (n as u32 / 8) << 17
            | (m as u32 / 16) << 24;
        instruction |= if scaled {
            let ty = self.scales.map_or(0, |(_, ty)| ty);
            self.ids[1] << 4 | ty << 23 | self.ids[0] << 29 | u32::from(long) << 31
        } else {
            self.selector | self.of_d << 4
        };
        instruction ^= self.flip;
        let descriptor = |side: usize| {
            let start = side * OF_B / 16;
            start as u64 | 8 << 16 | (8 * self.row_bytes(side) as u64 / 16) << 32 | 1 << 46
        };
        let group = self.blocks();
        let a = if self.in_cells { "[%r15]" } else { "%rd3" };
        let lanes: Vec<String> = (0..4 * group).map(|i| format!("%r{}", 40 + i)).collect();
        let lanes = if self.disabled { format!("{{{}}}, ", lanes.join(", ")) } else { String::new() };
        let disable: String =
            (0..4 * group).map(|i| format!("mov.u32 %r{}, {};", 40 + i, self.word(i))).collect();
        let last = match (self.halvings, self.zero) {
            (Some(halvings), _) => format!(", {halvings}"),
            (None, Some(_)) => ", %rd6".into(),
            (None, None) => String::new(),
        };
        let multiply = format!(
            "@%p6 tcgen05.mma{}{}.cta_group::{group}.kind::{}{} [%r3], {a}, %rd4, {}%r21, {}{lanes}%p4{last};",
            if self.stationary { ".ws" } else { "" },
            if self.sparse { ".sp" } else { "" },
            self.kind,
            if self.shifted { ".ashift" } else { "" },
            if self.sparse { "[%r30], " } else { "" },
            if scaled { "[%r31], [%r32], " } else { "" },
        );
        let commit = if self.pair {
            "@%p6 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r22], %rs1;"
        } else {
            "@%p6 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r22];"
        };
        format!(
            ".visible .entry k(.param .u64 out, .param .u64 shared, .param .u64 cells) {{
            .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; .reg .pred %p<16>; .reg .b16 %rs<4>;
            .shared .align 1024 .b8 s[{SHARED}]; .shared .b32 taddr; .shared .align 8 .b64 bar;
            ld.param.u64 %out, [out]; ld.param.u64 %rd10, [shared]; ld.param.u64 %rd11, [cells];
            mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r1, 0;
            mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd1, %r5, {SHARED}; add.u64 %rd10, %rd10, %rd1;
            mul.wide.u32 %rd1, %r5, {cell_bytes}; add.u64 %rd11, %rd11, %rd1;
            setp.eq.and.u32 %p6, %r5, 0, %p2;
            @%p1 tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [taddr], 512;
            @%p2 mbarrier.init.shared.b64 [bar], 1; mov.u32 %r10, s; mov.u32 %r11, %r1;
            copy: mul.wide.u32 %rd1, %r11, 4; add.u64 %rd1, %rd1, %rd10; ld.global.u32 %r12, [%rd1]; shl.b32 %r13, %r11, 2; add.u32 %r13, %r13, %r10; st.shared.u32 [%r13], %r12;
            add.u32 %r11, %r11, 128; setp.lt.u32 %p3, %r11, {words}; @%p3 bra copy;
            fence.proxy.async.shared::cta; bar.sync 0; ld.shared.u32 %r3, [taddr]; shl.b32 %r4, %r2, 21; add.u32 %r4, %r4, %r3;
            mul.lo.u32 %r14, %r1, {row}; cvt.u64.u32 %rd1, %r14; add.u64 %rd11, %rd11, %rd1; mov.u32 %r16, 0;
            fill: mul.wide.u32 %rd1, %r16, 4; add.u64 %rd1, %rd1, %rd11; ld.global.u32 %r18, [%rd1]; add.u32 %r17, %r4, %r16;
            tcgen05.st.sync.aligned.32x32b.x1.b32 [%r17], {{%r18}}; add.u32 %r16, %r16, 1; setp.lt.u32 %p3, %r16, {COLUMNS}; @%p3 bra fill;
            tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
            barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; tcgen05.fence::after_thread_sync;
            shr.u32 %r19, %r10, 4; cvt.u64.u32 %rd2, %r19; add.u64 %rd3, %rd2, {of_a}; add.u64 %rd4, %rd2, {of_b};
            mov.u64 %rd6, {zero}; add.u32 %r15, %r3, {OF_A}; add.u32 %r30, %r3, {OF_METADATA};
            add.u32 %r31, %r3, {sfa}; or.b32 %r31, %r31, {high}; add.u32 %r32, %r3, {sfb}; mov.b16 %rs1, 3;
            mov.u32 %r20, {enable}; setp.ne.u32 %p4, %r20, 0; mov.u32 %r21, {instruction}; {disable}
            {multiply}
            mov.u32 %r22, bar; {commit}
            w: mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra w; tcgen05.fence::after_thread_sync;
            mov.u32 %r16, 0; shl.b32 %r23, %r5, 7; add.u32 %r23, %r23, %r1; mul.lo.u32 %r23, %r23, {columns};
            read: add.u32 %r17, %r4, %r16; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r18}}, [%r17]; tcgen05.wait::ld.sync.aligned;
            add.u32 %r24, %r23, %r16; mad.wide.u32 %rd1, %r24, 4, %out; st.global.u32 [%rd1], %r18; add.u32 %r16, %r16, 1; setp.lt.u32 %p3, %r16, {columns}; @%p3 bra read;
            barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
            @%p1 tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %r3, 512; ret; }}",
            cell_bytes = 128 * COLUMNS * 4,
            words = SHARED / 4,
            row = COLUMNS * 4,
            of_a = descriptor(0),
            of_b = descriptor(1),
            zero = self.zero.unwrap_or(0),
            sfa = OF_SCALES[0],
            sfb = OF_SCALES[1],
            // Compilers leave the number of the first byte there.
            high = self.ids[0] << 30,
            enable = u32::from(self.accumulates),
            columns = n / self.parts(),
        )
    }

    /// A word of lanes that are left alone.
    pub(super) fn word(&self, i: usize) -> u32 {
        0x11 << i | 0x8000_0000
    }

    pub(super) fn run(&self, describe: impl Fn(Launch) -> Launch) -> Result<Vec<u32>, Fault> {
        let target = if self.shape[2] == 96 { "sm_103a" } else { "sm_100a" };
        let program = load_for(target, &self.text());
        let mut device = levels::device();
        let count = self.blocks();
        let out = device.upload(&vec![0u32; count * 128 * self.shape[1] / self.parts()])?;
        let shared = device.upload(&(0..count).flat_map(|b| self.shared(b)).collect::<Vec<u8>>())?;
        let cells = device.upload(&(0..count).flat_map(|b| self.cells(b)).collect::<Vec<u8>>())?;
        let launch = Launch::new("k").grid([count as u32, 1, 1]).block([128, 1, 1]);
        let mut launch = describe(launch.cluster([count as u32, 1, 1]));
        launch.args.extend([out.into(), shared.into(), cells.into()]);
        device.launch(&program, &launch)?;
        device.download(out)
    }

    pub(super) fn expected(&self) -> Vec<u32> {
        let [m, n, _] = self.shape;
        let (rows, columns) = (m / self.blocks(), n / self.parts());
        let mut d = vec![self.number(8.0); self.blocks() * 128 * columns];
        for row in 0..m {
            let (block, local) = (row / rows, row % rows);
            // A moves down in the rows of its block.
            let of_a = if self.shifted && local > 0 { row - 1 } else { row };
            for column in 0..n {
                let (part, local_column) = (column / columns, column % columns);
                let lane = self.lane(local, part);
                if self.disabled && self.word(4 * block + lane / 32) >> (lane % 32) & 1 != 0 {
                    continue;
                }
                let shift = self.zero.map_or(0, |mask| (mask >> 56) as usize & 63);
                let mut sum = 0.0;
                for kept in 0..if self.is_zero(part, local_column) { 0 } else { self.shape[2] } {
                    let k = self.stands(of_a, kept);
                    let product = self.value(0, of_a, kept) * self.value(1, column + shift, k);
                    let scale = self.scales.map_or(0, |(count, _)| {
                        let which = k / (self.depth() / count);
                        self.exponent(0, row, which) + self.exponent(1, column, which)
                    });
                    sum += product as f32 * (scale as f32).exp2();
                }
                let c = if self.accumulates { 8.0 } else { 0.0 };
                let c = c / (self.halvings.unwrap_or(0) as f32).exp2();
                d[(block * 128 + lane) * columns + local_column] = self.number(c + sum);
            }
        }
        d
    }

    #[track_caller]
    pub(super) fn check(&self) {
        let name = format!(
            "{} {:?} {} sparse {} ws {} pair {} shifted {} cells {}",
            self.kind,
            self.shape,
            self.types[0].0,
            self.sparse,
            self.stationary,
            self.pair,
            self.shifted,
            self.in_cells
        );
        let found = self.run(|l| l).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let columns = self.shape[1] / self.parts();
        let wrong = found.iter().zip(self.expected()).position(|(found, expected)| *found != expected);
        let wrong = wrong.map(|at| (at / columns, at % columns, found[at], self.expected()[at]));
        assert_eq!(wrong, None, "{name}: lane, column");
    }
}

impl Case {
    pub(super) fn flipped(self, flip: u32) -> Case {
        Case { flip, ..self }
    }
}
