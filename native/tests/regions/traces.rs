//! Blocks that are one loop over lanes, with the sides of short branches in it: random programs of loops and branches on values that differ from lane
//! to lane. Lanes part and meet at all times, leave loops one after the other, and wait for others that go round for longer than is fair.

use crate::same;
use std::fmt::Write;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Arithmetic on `%a0` to `%a5`, `%f0` to `%f2`, and predicates.
    fn operation(&mut self, text: &mut String) {
        let [d, x, y] = [(); 3].map(|()| self.below(6));
        let (p, s) = (self.below(3), self.below(31) + 1);
        let [f, g] = [(); 2].map(|()| self.below(3));
        _ = match self.below(12) {
            0 => write!(text, "mad.lo.u32 %a{d}, %a{x}, 3, %a{y}; "),
            1 => write!(text, "shr.u32 %a{d}, %a{x}, {s}; "),
            2 => write!(text, "xor.b32 %a{d}, %a{x}, %a{y}; "),
            3 => write!(text, "setp.lt.u32 %q{p}, %a{x}, %a{y}; "),
            4 => write!(text, "@%q{p} add.u32 %a{d}, %a{x}, %t; "),
            5 => write!(text, "selp.u32 %a{d}, %a{x}, {s}, %q{p}; "),
            6 => write!(text, "@!%q{p} sub.u32 %a{d}, %a{x}, 7; "),
            7 => write!(text, "fma.rn.f32 %f{f}, %f{g}, %f{f}, %f{g}; "),
            8 => write!(text, "mov.b32 %a{d}, %f{f}; "),
            9 => write!(text, "mov.b32 %f{f}, %a{d}; "),
            10 => write!(text, "sub.f32 %f{f}, %f{g}, %f{f}; "),
            _ => write!(text, "mul.wide.u32 %p1, %a{x}, %a{y}; add.u64 %p2, %p2, %p1; "),
        };
    }

    /// Operations, branches and loops. Labels have numbers.
    fn stretch(&mut self, text: &mut String, depth: u32, labels: &mut u32) {
        for _ in 0..self.below(4) + 1 {
            *labels += 1;
            let (n, p, bit) = (*labels, self.below(3), self.below(5));
            match self.below(if depth == 0 { 2 } else { 6 }) {
                0 | 1 => (0..self.below(4) + 1).for_each(|_| self.operation(text)),
                2 | 3 => {
                    let x = self.below(6);
                    let not = ["", "!"][self.below(2) as usize];
                    _ = write!(
                        text,
                        "shr.u32 %a6, %a{x}, {bit}; and.b32 %a6, %a6, 1; setp.eq.u32 %q{p}, %a6, 0; @{not}%q{p} bra L{n}; "
                    );
                    // A store ends what can be one loop.
                    let stores = self.below(8) == 0;
                    (0..self.below(4) + 1).for_each(|_| self.operation(text));
                    if self.below(2) == 0 {
                        _ = write!(text, "bra M{n}; L{n}: ");
                        (0..self.below(3) + 1).for_each(|_| self.operation(text));
                        _ = write!(text, "M{n}: ");
                    } else {
                        _ = write!(text, "L{n}: ");
                    }
                    if stores {
                        _ = write!(text, "st.global.u32 [%o+28], %a{x}; ");
                    }
                }
                4 => {
                    // Rounds that differ from lane to lane, left at the top.
                    let c = 8 + depth;
                    _ = write!(
                        text,
                        "mov.u32 %a{c}, 0; L{n}: setp.gt.u32 %q4, %a{c}, {bit}; and.b32 %a7, %t, 3; setp.gt.u32 %q5, %a{c}, %a7; and.pred %q4, %q4, %q5; @%q4 bra M{n}; "
                    );
                    self.stretch(text, depth - 1, labels);
                    _ = write!(text, "add.u32 %a{c}, %a{c}, 1; bra L{n}; M{n}: ");
                }
                _ => {
                    let (c, often) = (8 + depth, [3, 17, 300][self.below(3) as usize]);
                    _ = write!(text, "mov.u32 %a{c}, 0; L{n}: ");
                    self.stretch(text, depth - 1, labels);
                    _ = write!(
                        text,
                        "add.u32 %a{c}, %a{c}, 1; setp.lt.u32 %q6, %a{c}, {often}; and.b32 %a7, %t, 15; setp.lt.u32 %q5, %a{c}, %a7; or.pred %q6, %q6, %q5; @%q6 bra L{n}; "
                    );
                }
            }
        }
    }

    /// Registers that differ from thread to thread.
    fn beginning(&mut self) -> String {
        let mut text = String::from(
            "mov.u64 %p2, 0; cvt.rn.f32.u32 %f0, %t; mov.f32 %f1, 0f7f800000; mov.f32 %f2, 0f3f000000; ",
        );
        for n in 0..6 {
            _ = write!(text, "mad.lo.u32 %a{n}, %t, {}, {}; ", self.below(1 << 20), self.below(99));
        }
        for n in 0..3 {
            _ = write!(text, "setp.lt.u32 %q{n}, %t, {}; ", self.below(32));
        }
        text
    }
}

#[test]
fn random_branches() {
    for seed in 0..60 {
        let mut random = Random(seed * 77 + 5);
        let mut text = random.beginning();
        let mut labels = 0;
        for _ in 0..3 {
            random.stretch(&mut text, 2, &mut labels);
        }
        for n in 0..6 {
            _ = write!(text, "st.global.u32 [%o+{}], %a{n}; ", 4 * n);
        }
        for n in 0..3 {
            _ = write!(text, "@%q{n} add.u64 %p2, %p2, {}; ", 1 << n);
        }
        text +=
            "cvt.u32.u64 %a0, %p2; st.global.u32 [%o+24], %a0; mov.b32 %a1, %f0; st.global.u32 [%o+28], %a1;";
        for threads in [32, 45, 7] {
            same(&format!("// {seed}\n{text}"), threads, 11, None);
        }
        // The limit is found at the same place, whatever of it was in one loop.
        same(&format!("// {seed}\n{text}"), 64, 11, Some(2000 + 37 * seed));
    }
}

/// Loops that compute and do nothing else, left at their ends or tops, by all lanes or one after the other, after few rounds and after more than are fair.
#[test]
fn random_rounds() {
    for seed in 0..80 {
        let mut random = Random(seed * 91 + 7);
        let mut text = random.beginning();
        // Some wait behind the loops, or go their own way.
        if random.below(3) == 0 {
            _ = write!(text, "setp.lt.u32 %q6, %t, {}; @%q6 bra away; ", random.below(20));
        }
        for n in 0..3 {
            if random.below(4) == 0 {
                _ = write!(text, "atom.global.add.u32 %a7, [%o+16], 1; ");
            }
            let often = [0, 1, 5, 40, 1100, 3000][random.below(6) as usize];
            let (mask, shift) = ([0, 1, 3, 31, 255][random.below(5) as usize], random.below(4));
            _ = write!(
                text,
                "and.b32 %a9, %t, {mask}; shl.b32 %a9, %a9, {shift}; add.u32 %a9, %a9, {often}; mov.u32 %a8, 0; "
            );
            match random.below(3) {
                0 => {
                    _ = write!(text, "L{n}: ");
                    (0..random.below(6) + 1).for_each(|_| random.operation(&mut text));
                    _ = write!(text, "add.u32 %a8, %a8, 1; setp.lt.u32 %q5, %a8, %a9; @%q5 bra L{n}; ");
                }
                1 => {
                    _ = write!(text, "L{n}: add.u32 %a8, %a8, 1; ");
                    (0..random.below(4) + 1).for_each(|_| random.operation(&mut text));
                    _ = write!(text, "setp.gt.u32 %q5, %a8, %a9; @%q5 bra M{n}; ");
                    (0..random.below(4) + 1).for_each(|_| random.operation(&mut text));
                    _ = write!(text, "bra L{n}; M{n}: ");
                }
                _ => {
                    _ = write!(text, "mov.u32 %a10, 0; N{n}: mov.u32 %a8, 0; L{n}: ");
                    (0..random.below(5) + 1).for_each(|_| random.operation(&mut text));
                    _ = write!(
                        text,
                        "add.u32 %a8, %a8, 1; setp.ge.u32 %q5, %a8, %a9; @!%q5 bra L{n}; add.u32 %a10, %a10, 1; setp.lt.u32 %q5, %a10, 3; @%q5 bra N{n}; "
                    );
                }
            }
        }
        text += "away: ";
        for n in 0..6 {
            _ = write!(text, "st.global.u32 [%o+{}], %a{n}; ", [0, 4, 8, 12, 20, 24][n]);
        }
        for n in 0..3 {
            _ = write!(text, "@%q{n} add.u64 %p2, %p2, {}; ", 1 << n);
        }
        text += "cvt.u32.u64 %a0, %p2; mov.b32 %a1, %f0; xor.b32 %a0, %a0, %a1; st.global.u32 [%o+28], %a0;";
        for threads in [32, 45, 7] {
            same(&format!("// {seed}\n{text}"), threads, 11, None);
        }
        same(&format!("// {seed}\n{text}"), 64, 11, Some(3000 + 737 * seed));
    }
}

/// Some lanes go round until others have done so too, which wait before them or behind.
#[test]
fn lanes_that_wait() {
    for text in [
        "setp.lt.u32 %q0, %t, 5; @%q0 bra second; first: mad.lo.u32 %a0, %a0, 5, %t; and.b32 %a1, %a0, 1; setp.eq.u32 %q1, %a1, 0; @%q1 bra on; add.u32 %a0, %a0, 9; on: add.u32 %a2, %a2, 1; setp.lt.u32 %q2, %a2, 3000; @!%q2 bra end; bra first; second: mad.lo.u32 %a0, %a0, 3, %t; and.b32 %a1, %a0, 2; setp.eq.u32 %q1, %a1, 0; @%q1 bra off; add.u32 %a0, %a0, 7; bra far; off: shr.u32 %a0, %a0, 1; far: add.u32 %a2, %a2, 1; setp.lt.u32 %q2, %a2, 4000; @!%q2 bra end; bra second; end: ",
        "again: setp.gt.u32 %q0, %a2, %t; @%q0 bra away; and.b32 %a1, %a2, 1; setp.eq.u32 %q1, %a1, 0; @%q1 bra on; xor.b32 %a0, %a0, %t; add.u32 %a0, %a0, 1; on: add.u32 %a2, %a2, 1; bra again; away: mad.lo.u32 %a0, %a0, 3, 1; ",
    ] {
        for threads in [32, 45, 96] {
            let text = format!(
                "mov.u32 %a0, 1; mov.u32 %a2, 0; {text} st.global.u32 [%o], %a0; st.global.u32 [%o+4], %a2;"
            );
            same(&text, threads, 11, None);
            same(&text, threads, 11, Some(20_011));
        }
    }
}
