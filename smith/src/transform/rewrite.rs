//! Values by other ways: copies that come out as what went in, and integer arithmetic written otherwise.

use super::statement::{Bits, Statement, register};
use super::text::{Text, is_name};
use crate::Random;

/// A register that nothing else has.
pub(super) fn new(text: &mut Text, declared: &mut Vec<String>, bits: Bits) -> String {
    let name = format!("%{}", text.name());
    declared.push(register(&name, bits));
    name
}

/// Lines that copy one register to another; the last writes it. Registers that they need are added to those declared.
pub(super) fn copy(
    text: &mut Text,
    [to, from]: [&str; 2],
    bits: Bits,
    guard: &str,
    declared: &mut Vec<String>,
    random: &mut Random,
) -> Vec<String> {
    let mut fresh = |bits: Bits| new(text, declared, bits);
    let number = random.below(1 << 15) | 1;
    let lines: Vec<String> = match (bits, random.below(8)) {
        (0, 0) => {
            let t = fresh(32);
            vec![format!("selp.u32 {t}, 1, 0, {from};"), format!("setp.ne.u32 {to}, {t}, 0;")]
        }
        (0, 1) => {
            let t = fresh(0);
            vec![format!("not.pred {t}, {from};"), format!("not.pred {to}, {t};")]
        }
        (0, 2) => vec![format!("and.pred {to}, {from}, {from};")],
        (0, _) => vec![format!("mov.pred {to}, {from};")],
        (_, 0) => {
            let t = fresh(bits);
            vec![format!("xor.b{bits} {t}, {from}, {number};"), format!("xor.b{bits} {to}, {t}, {number};")]
        }
        (_, 1) => {
            let (s, t) = (fresh(bits), fresh(bits));
            vec![
                format!("mov.b{bits} {s}, {from};"),
                format!("add.s{bits} {t}, {s}, {number};"),
                format!("sub.s{bits} {t}, {t}, {number};"),
                format!("mov.b{bits} {to}, {t};"),
            ]
        }
        (_, 2) => {
            let t = fresh(bits);
            vec![format!("not.b{bits} {t}, {from};"), format!("not.b{bits} {to}, {t};")]
        }
        (_, 3) => {
            let slot = text.name();
            declared.push(format!("    .local .align 8 .b8 {slot}[16];"));
            let offset = 8 * random.below(2);
            vec![
                format!("st.local.b{bits} [{slot}+{offset}], {from};"),
                format!("ld.local.b{bits} {to}, [{slot}+{offset}];"),
            ]
        }
        (16, 4) => {
            let (s, t) = (fresh(16), fresh(32));
            vec![
                format!("mov.b16 {s}, {from};"),
                format!("cvt.u32.u16 {t}, {s};"),
                format!("cvt.u16.u32 {s}, {t};"),
                format!("mov.b16 {to}, {s};"),
            ]
        }
        (32, 4) => {
            let (s, t, w) = (fresh(32), fresh(32), fresh(64));
            vec![
                format!("mov.b64 {w}, {{{from}, {from}}};"),
                format!("mov.b64 {{{s}, {t}}}, {w};"),
                format!("mov.b32 {to}, {};", if number & 2 == 0 { s } else { t }),
            ]
        }
        (32, 5) => {
            let (r, back) = (number % 31 + 1, 31 - number % 31);
            let t = fresh(32);
            vec![
                format!("shf.l.wrap.b32 {t}, {from}, {from}, {r};"),
                format!("shf.l.wrap.b32 {to}, {t}, {t}, {back};"),
            ]
        }
        (32, 6) => {
            let t = fresh(32);
            vec![
                format!("prmt.b32 {t}, {from}, {from}, 0x0123;"),
                format!("prmt.b32 {to}, {t}, {t}, 0x0123;"),
            ]
        }
        (64, 4 | 5) => {
            let (s, t) = (fresh(32), fresh(32));
            vec![format!("mov.b64 {{{s}, {t}}}, {from};"), format!("mov.b64 {to}, {{{s}, {t}}};")]
        }
        (64, 6) => {
            let (s, t) = (fresh(64), fresh(64));
            vec![
                format!("shr.u64 {s}, {from}, 32;"),
                format!("and.b64 {t}, {from}, 0xffffffff;"),
                format!("shl.b64 {s}, {s}, 32;"),
                format!("or.b64 {to}, {s}, {t};"),
            ]
        }
        (_, _) => vec![format!("mov.b{bits} {to}, {from};")],
    };
    lines.into_iter().map(|line| format!("    {guard}{line}")).collect()
}

/// Lines that do what an integer instruction does; the last writes its result. `None` for other instructions.
pub(super) fn integer(
    text: &mut Text,
    statement: &Statement,
    declared: &mut Vec<String>,
    random: &mut Random,
) -> Option<Vec<String>> {
    let simple = |operand: &String| operand.strip_prefix('-').unwrap_or(operand).chars().all(is_name);
    if !statement.operands.iter().all(simple) {
        return None;
    }
    let mods: Vec<&str> = statement.mnemonic.split('.').collect();
    let operands: Vec<&str> = statement.operands.iter().map(String::as_str).collect();
    let ty = *mods.last()?;
    let bits: Bits = ty.strip_prefix(['b', 'u', 's']).and_then(|bits| bits.parse().ok())?;
    let mut fresh = |bits: Bits| new(text, declared, bits);
    let which = random.below(3);
    let lines: Vec<String> = match (mods.as_slice(), operands.as_slice()) {
        (["add", _], &[d, a, b]) if bits >= 16 => {
            let (x, y) = (fresh(bits), fresh(bits));
            match which {
                0 => vec![
                    format!("mov.b{bits} {x}, {b};"),
                    format!("neg.s{bits} {x}, {x};"),
                    format!("sub.s{bits} {d}, {a}, {x};"),
                ],
                1 => vec![
                    format!("xor.b{bits} {x}, {a}, {b};"),
                    format!("and.b{bits} {y}, {a}, {b};"),
                    format!("shl.b{bits} {y}, {y}, 1;"),
                    format!("add.s{bits} {d}, {x}, {y};"),
                ],
                _ => vec![format!("mov.b{bits} {x}, {b};"), format!("mad.lo.s{bits} {d}, {x}, 1, {a};")],
            }
        }
        (["sub", _], &[d, a, b]) if bits >= 16 => {
            let x = fresh(bits);
            vec![
                format!("mov.b{bits} {x}, {b};"),
                format!("not.b{bits} {x}, {x};"),
                format!("add.s{bits} {x}, {x}, 1;"),
                format!("add.s{bits} {d}, {x}, {a};"),
            ]
        }
        (["mul", "lo", _], &[d, a, b]) => {
            let (x, y) = (fresh(bits), fresh(bits));
            match which {
                0 => vec![format!("mov.b{bits} {x}, {b};"), format!("mad.lo.{ty} {d}, {x}, {a}, 0;")],
                // a = (a & ~15) + (a & 15)
                _ => vec![
                    format!("mov.b{bits} {x}, {a};"),
                    format!("and.b{bits} {y}, {x}, 15;"),
                    format!("sub.s{bits} {x}, {x}, {y};"),
                    format!("mul.lo.{ty} {y}, {y}, {b};"),
                    format!("mad.lo.{ty} {d}, {x}, {b}, {y};"),
                ],
            }
        }
        (["mad", "lo", _], &[d, a, b, c]) => {
            let x = fresh(bits);
            vec![format!("mul.lo.{ty} {x}, {a}, {b};"), format!("add.{ty} {d}, {x}, {c};")]
        }
        (["mad", "wide", _], &[d, a, b, c]) if bits == 32 => {
            let x = fresh(64);
            let sign = &ty[..1];
            vec![format!("mul.wide.{ty} {x}, {a}, {b};"), format!("add.{sign}64 {d}, {x}, {c};")]
        }
        (["mul", "wide", _], &[d, a, b]) if bits == 32 => {
            let (x, y, s) = (fresh(64), fresh(64), fresh(32));
            let sign = &ty[..1];
            vec![
                format!("mov.b32 {s}, {a};"),
                format!("cvt.{sign}64.{ty} {x}, {s};"),
                format!("mov.b32 {s}, {b};"),
                format!("cvt.{sign}64.{ty} {y}, {s};"),
                format!("mul.lo.{sign}64 {d}, {x}, {y};"),
            ]
        }
        (["and", _], &[d, a, b]) if bits >= 16 => {
            let (x, y) = (fresh(bits), fresh(bits));
            match which {
                0 => vec![
                    format!("not.b{bits} {x}, {a};"),
                    format!("not.b{bits} {y}, {b};"),
                    format!("or.b{bits} {x}, {x}, {y};"),
                    format!("not.b{bits} {d}, {x};"),
                ],
                _ => vec![
                    format!("or.b{bits} {x}, {a}, {b};"),
                    format!("xor.b{bits} {y}, {a}, {b};"),
                    format!("xor.b{bits} {d}, {x}, {y};"),
                ],
            }
        }
        (["or", _], &[d, a, b]) if bits >= 16 => {
            let (x, y) = (fresh(bits), fresh(bits));
            vec![
                format!("xor.b{bits} {x}, {a}, {b};"),
                format!("and.b{bits} {y}, {a}, {b};"),
                format!("add.s{bits} {d}, {x}, {y};"),
            ]
        }
        (["xor", _], &[d, a, b]) if bits >= 16 => {
            let (x, y) = (fresh(bits), fresh(bits));
            vec![
                format!("or.b{bits} {x}, {a}, {b};"),
                format!("and.b{bits} {y}, {a}, {b};"),
                format!("sub.s{bits} {d}, {x}, {y};"),
            ]
        }
        (["shl", _], &[d, a, b]) => {
            let amount: u32 = b.parse().ok().filter(|amount| *amount < bits.min(31) - 1)?;
            let x = fresh(bits);
            vec![format!("mov.b{bits} {x}, {a};"), format!("mul.lo.u{bits} {d}, {x}, {};", 1u64 << amount)]
        }
        ([which @ ("min" | "max"), _], &[d, a, b]) => {
            let (p, x) = (fresh(0), fresh(bits));
            let cond = if *which == "min" { "lt" } else { "gt" };
            vec![
                format!("mov.b{bits} {x}, {a};"),
                format!("setp.{cond}.{ty} {p}, {x}, {b};"),
                format!("selp.b{bits} {d}, {x}, {b}, {p};"),
            ]
        }
        (["selp", _], &[d, a, b, c]) => {
            let x = fresh(bits);
            if !statement.guard.is_empty() {
                return None;
            }
            return Some(vec![
                format!("    mov.b{bits} {x}, {b};"),
                format!("    @{c} mov.b{bits} {x}, {a};"),
                format!("    mov.b{bits} {d}, {x};"),
            ]);
        }
        (["setp", condition, _], &[d, a, b]) => {
            let (p, x) = (fresh(0), fresh(bits));
            let (opposite, swapped) = conditions(condition)?;
            match which {
                0 => vec![
                    format!("mov.b{bits} {x}, {a};"),
                    format!("setp.{opposite}.{ty} {p}, {x}, {b};"),
                    format!("not.pred {d}, {p};"),
                ],
                _ => vec![
                    format!("mov.b{bits} {x}, {b};"),
                    format!("setp.{swapped}.{ty} {p}, {x}, {a};"),
                    format!("mov.pred {d}, {p};"),
                ],
            }
        }
        _ => return None,
    };
    let guard = &statement.guard;
    Some(lines.into_iter().map(|line| format!("    {guard}{line}")).collect())
}

/// The opposite of a comparison of integers, and the one for operands that change places.
fn conditions(condition: &str) -> Option<(&'static str, &'static str)> {
    Some(match condition {
        "eq" => ("ne", "eq"),
        "ne" => ("eq", "ne"),
        "lt" => ("ge", "gt"),
        "le" => ("gt", "ge"),
        "gt" => ("le", "lt"),
        "ge" => ("lt", "le"),
        "lo" => ("hs", "hi"),
        "ls" => ("hi", "hs"),
        "hi" => ("ls", "lo"),
        "hs" => ("lo", "ls"),
        _ => return None,
    })
}
