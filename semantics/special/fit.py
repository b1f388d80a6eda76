"""Finds the coefficients of the special function unit in what record.py recorded, and writes src/value/special/tables.rs.

usage: fit.py RECORDED.npz

Each function is cut into pieces by the leading bits of its operand. Within a piece the value is c0 + c1 x + c2 s(x), cut to the bits of the result;
s(x) is the square of x, without the columns of partial products below 2^19 (2^17 for the reciprocal, whose pieces are half as long). That the width of the
residuals is one unit in the last place with these columns, and more with any others, is how they were found. c1 and c2 are whole numbers of the units
below, which leaves one choice for each; any c0 of the interval that remains gives every recorded bit. It fails if there is none.
"""

import pathlib
import sys

import numpy as np

POINT = 24  # bits of c0 behind a unit in the last place of a result in 0.5 to 1
recorded = np.load(sys.argv[1])


def square(bits, least):
    """The squares of all numbers of so many bits, without the columns below 2^least."""
    x = np.arange(1 << bits, dtype=np.int64)
    total = np.zeros_like(x)
    for i in range(bits):
        for j in range(i, bits):
            column = 2 * i if i == j else i + j + 1
            if column >= least:
                total += ((x >> i & 1) & (x >> j & 1)) << column
    return total


def piece(x, s, low, width, unit1, unit2):
    """c0 (an interval), c1, c2 with low <= c0 + c1 x + c2 s < low + width everywhere; x and s are fractions of the piece."""
    base = float(low[len(low) // 2])
    rest, weight = low - base, 1 / width
    terms = np.vstack([np.ones(len(x)), x, s]).T
    near = np.linalg.lstsq(terms * weight[:, None], (rest + width / 2) * weight, rcond=None)[0]
    for step2 in sorted(range(-4, 5), key=abs):
        c2 = (round(near[2] / unit2) + step2) * unit2
        target = (rest + width / 2 - c2 * s) * weight
        slope = np.linalg.lstsq(terms[:, :2] * weight[:, None], target, rcond=None)[0][1]
        for step1 in sorted(range(-4, 5), key=abs):
            c1 = (round(slope / unit1) + step1) * unit1
            left = rest - c1 * x - c2 * s
            least, most = left.max(), (left + width).min()
            if least < most:
                return least + base, most + base, c1, c2
    sys.exit("no coefficients give what was recorded")


def table(low, width, bits, least, unit1, unit2, use=None, from_below=False):
    """The rows of a function: `low` and `width` of its results in units of 2^-24, piece after piece."""
    length = 1 << bits
    x = np.arange(length) / length
    s = square(bits, least) / float(length) ** 2
    rows = []
    for start in range(0, len(low), length):
        part = slice(start, start + length)
        kept = np.ones(length, bool) if use is None else use[part]
        least_c0, most_c0, c1, c2 = piece(x[kept], s[kept], low[part][kept], width[part][kept], unit1, unit2)
        a, b = least_c0 * 2**POINT, most_c0 * 2**POINT
        c0 = int(np.ceil(a)) if from_below or b - a <= 2 else int(np.floor((a + b) / 2))
        assert a <= c0 < b
        rows.append((c0, int(c1), int(round(2 * c2))))
    return rows


def mantissas(name, exponent, of_one):
    """Results whose exponent is fixed, in units of their last place."""
    bits = recorded[f"{name} {exponent}"].astype(np.float64)
    return bits - of_one + (1 << 23), np.ones(len(bits))


def magnitudes(bits):
    """Results of any exponent in units of 2^-24, and the unit of each."""
    exponent = (bits >> 23 & 255).astype(int) - 127 - 23
    return np.abs(bits.view(np.float32).astype(np.float64)) * 2**24, np.exp2(exponent + 24.0)


def root(name, of_one):
    rows = []
    for exponent in (0, 1):
        low, width = mantissas(name, exponent, of_one)
        # The root of one is exact, whatever the piece gives.
        use = np.arange(len(low)) > 0
        unit1, unit2 = (2.0, 1.0) if name == "rsqrt" else (1.0, 0.5)
        rows += table(low, width, 17, 19, unit1, unit2, use)
    return rows


def logarithm():
    low, width = magnitudes(recorded["lg2 0"])
    use = np.arange(len(low)) > 0
    rows = table(low, width, 17, 19, 8.0, 4.0, use, from_below=True)
    # Just below one the results are small, and say more of the last piece.
    below, unit = magnitudes(recorded["lg2 -1"])
    unit = np.maximum(unit, 2.0**-12)
    rows[63] = table((2.0**24 - below - unit)[-(1 << 17) :], unit[-(1 << 17) :], 17, 19, 8.0, 4.0, from_below=True)[0]
    return rows


def sine():
    """The second quarter of a turn, whose operands have all 25 bits behind the point, reflected."""
    full, have = np.zeros(1 << 23, np.uint32), np.zeros(1 << 23, bool)
    for exponent in (0, 1):
        bits = recorded[f"sin {exponent}"]
        start = (127 + exponent) << 23
        x = np.arange(start, start + (1 << 23), dtype=np.uint32).view(np.float32).astype(np.float64)
        product = x * float(np.float32(0.15915494))
        mantissa, power = np.frexp(product)
        turns = np.floor(np.ldexp(np.trunc(mantissa * 2**24), power - 24) * 2**25).astype(np.int64)
        second = turns >> 23 == 1
        full[turns[second] & 0x7FFFFF] = bits[second]
        have[turns[second] & 0x7FFFFF] = True
    full, have = full[::-1].copy(), have[::-1].copy()
    have[0] = False
    low, width = magnitudes(full)
    return table(low, width, 17, 19, 16.0, 4.0, have, from_below=True)


def written(name, what, rows):
    lines = []
    for at in range(0, len(rows), 4):
        lines.append("    " + " ".join("Piece(%d, %d, %d)," % row for row in rows[at : at + 4]))
    return f"\n/// {what}.\n#[rustfmt::skip]\npub const {name}: [Piece; {len(rows)}] = [\n" + "\n".join(lines) + "\n];\n"


HEADER = """//! Coefficients of the special function unit, written by `semantics/special/fit.py` from what a GPU computed.
//!
//! Each row is of one piece: c0 in units of 2^-48, c1 of 2^-24 for the whole piece, c2 of half of that for its square.

use super::Piece;
"""
text = HEADER
text += written("RECIPROCAL", "1/x of 1 to 2: 128 pieces, results of 1 to 0.5", table(*mantissas("rcp", 0, 0x3F000000), 16, 17, 2.0, 1.0))
text += written("ROOT_RECIPROCAL", "1/sqrt(x): 64 pieces of 1 to 2, then 64 of 2 to 4", root("rsqrt", 0x3F000000))
text += written("ROOT", "sqrt(x): 64 pieces of 1 to 2, then 64 of 2 to 4", root("sqrt", 0x3F800000))
text += written("LOGARITHM", "log2(x) of 1 to 2: 64 pieces", logarithm())
text += written("POWER", "2^x of 0 to 1: 64 pieces", table(*mantissas("ex2", 0, 0x40000000), 17, 19, 1.0, 1.0))
text += written("SINE", "sin of a quarter of a turn: 64 pieces", sine())
(pathlib.Path(__file__).parent.parent / "src/value/special/tables.rs").write_text(text)
