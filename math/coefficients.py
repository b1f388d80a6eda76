#!/usr/bin/env python3
"""Writes src/coefficients.rs: near-minimax polynomials (interpolation in Chebyshev's nodes) and constants in parts.

    pip install mpmath==1.4.1; python3 math/coefficients.py | rustfmt --edition 2024 --config-path . > coefficients.rs
    mv coefficients.rs math/src/

A polynomial is of the lowest degree whose error, relative to the function that it is part of, is below the bound given beside it.
"""
import struct
from mpmath import *

mp.dps = 50
F32, F64 = 24, 53


def rounded(x, bits):
    """x to nearest, with so many bits."""
    if x == 0:
        return mpf(0)
    m, e = frexp(mpf(x))
    return ldexp(nint(ldexp(m, bits)), e - bits)


def show(x, bits):
    return repr(float(x)) if bits == F64 else repr(struct.unpack("f", struct.pack("f", float(x)))[0])


def fit(g, a, b, degree):
    """The coefficients, lowest first, of the polynomial that interpolates g in Chebyshev's nodes on [a, b]."""
    n = degree + 1
    a, b = mpf(a), mpf(b)
    nodes = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [g(x) for x in nodes]
    # Newton's divided differences, then expanded.
    table = values[:]
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - j])
    poly = [mpf(0)]
    for i in range(n - 1, -1, -1):
        shifted = [mpf(0)] + poly
        poly = [s - nodes[i] * p for s, p in zip(shifted, poly + [mpf(0)])]
        poly[0] += table[i]
    return poly[:n]


def polynomial(name, doc, function, a, b, weight=lambda x: mpf(1), bits=(F32, F64), slack=3):
    """weight(x): how much of the result a relative error of the polynomial is."""
    print(f"/// {doc}")
    print(f"pub const {name}: Coefficients = Coefficients {{")
    known = {}

    def g(x):
        if x not in known:
            known[x] = function(x)
        return known[x]

    for field, p in (("f32", F32), ("f64", F64)):
        if p not in bits:
            print(f"    {field}: &[],")
            continue
        for degree in range(1, 40):
            c = fit(g, a, b, degree)
            xs = [mpf(a) + (mpf(b) - mpf(a)) * k / 60 for k in range(61)]
            error = max(abs((polyval(c[::-1], x) - g(x)) / g(x) * weight(x)) if g(x) != 0 else mpf(0) for x in xs)
            if error < mpf(2) ** -(p + slack):
                break
        print(f"    // Relative error 2^{float(log(error, 2)):.1f}.")
        print(f"    {field}: &[" + ", ".join(show(x, p) for x in c) + "],")
    print("};\n")


def split(name, doc, value, first=None):
    """value as a sum of floats; the first has few enough bits that its product with a small integer is exact."""
    print(f"/// {doc}")
    print(f"pub const {name}: Parts = Parts {{")
    for field, p, short in (("f32", F32, 16), ("f64", F64, 40)):
        rest, parts = mpf(value), []
        for n in range(3):
            part = rounded(rest, short if first and n == 0 else p)
            parts.append(part)
            rest -= part
        print(f"    {field}: [" + ", ".join(show(x, p) for x in parts) + "],")
    print("};\n")


def off0(f, at0):
    """f, whose value at 0 is a limit."""
    return lambda x: mpf(at0) if abs(x) < mpf(10) ** -20 else f(x)


print('''//! Coefficients of polynomials and constants in parts. Written by `math/coefficients.py`.
#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal, reason = "written by a program")]

/// A polynomial for each format, lowest coefficient first.
pub struct Coefficients {
    /// Rounded to `f32`.
    pub f32: &'static [f32],
    /// Rounded to `f64`.
    pub f64: &'static [f64],
}

/// A constant as a sum of floats, the largest first.
pub struct Parts {
    /// Parts of `f32`.
    pub f32: [f32; 3],
    /// Parts of `f64`.
    pub f64: [f64; 3],
}
''')

split("LN2", "ln 2; products of the first part with exponents are exact.", ln(2), True)
split("LOG2_E", "1 / ln 2.", 1 / ln(2))
split("LOG10_E", "1 / ln 10.", 1 / ln(10))
split("LN10", "ln 10.", ln(10))
split("LOG10_2", "log10 2; products of the first part with exponents are exact.", log10(2), True)
split("PI", "pi.", pi)
split("PI_2", "pi / 2.", pi / 2)
split("TWO_THIRDS", "2 / 3.", mpf(2) / 3)
split("SQRT_HALF", "sqrt(1 / 2).", sqrt(mpf(1) / 2))
split("LN_PI", "ln pi.", ln(pi))
split("HALF_LN_2PI", "ln(2 pi) / 2.", ln(2 * pi) / 2)

s = lambda z: sqrt(z)
polynomial("EXP", "(e^r - 1 - r) / r^2 for |r| <= 0.35.", off0(lambda r: (exp(r) - 1 - r) / r**2, 0.5), -0.35, 0.35, lambda r: r * r / 2)
polynomial("LOG", "((log((1+s)/(1-s)) - 2s) / s^3 - 2/3) / s^2 in s^2, for |s| <= 0.1717.",
           off0(lambda z: ((2 * atanh(s(z)) - 2 * s(z)) / s(z)**3 - mpf(2) / 3) / z, mpf(2) / 5), 0, 0.0295, lambda z: z * z / 5, slack=10)
polynomial("SIN", "(sin x - x) / x^3 in x^2, for |x| <= 0.79.", off0(lambda z: (sin(s(z)) - s(z)) / s(z)**3, -mpf(1) / 6), 0, 0.63, lambda z: z / 6)
polynomial("COS", "(cos x - 1 + x^2 / 2) / x^4 in x^2, for |x| <= 0.79.", off0(lambda z: (cos(s(z)) - 1 + z / 2) / z**2, mpf(1) / 24), 0, 0.63, lambda z: z * z / 24)
polynomial("ATAN", "(atan x - x) / x^3 in x^2, for |x| <= 1.", off0(lambda z: (atan(s(z)) - s(z)) / s(z)**3, -mpf(1) / 3), 0, 1, lambda z: z / 3)
polynomial("ASIN", "(asin x - x) / x^3 in x^2, for |x| <= 1/2.", off0(lambda z: (asin(s(z)) - s(z)) / s(z)**3, mpf(1) / 6), 0, 0.25, lambda z: z / 6)
polynomial("SINH", "(sinh x - x) / x^3 in x^2, for |x| <= 1.", off0(lambda z: (sinh(s(z)) - s(z)) / s(z)**3, mpf(1) / 6), 0, 1, lambda z: z / 6)
polynomial("TANH", "(tanh x - x) / x^3 in x^2, for |x| <= 1.", off0(lambda z: (tanh(s(z)) - s(z)) / s(z)**3, -mpf(1) / 3), 0, 1, lambda z: z / 3)
polynomial("ERF", "(erf x - x) / x in x^2, for |x| <= 1.", off0(lambda z: (erf(s(z)) - s(z)) / s(z), 2 / sqrt(pi) - 1), 0, 1, lambda z: mpf(1) / 7)


def erfcx(x):
    if x > 20:
        # The continued fraction, from far enough inside.
        value = x
        for n in range(400, 0, -1):
            value = x + mpf(n) / 2 / value
        return 1 / (sqrt(pi) * value)
    return erfc(x) * exp(x * x)


K = mpf(4)
x_of = lambda t: K * (1 + t) / (1 - t)
# The polynomial is of what is taken from 1, whose error counts by what erfc is beside erf.
polynomial("ERF_FAR", "-ln erfc(x) - x in x - 2.5, for 1 <= x <= 4.", lambda t: -ln(erfc(t + mpf('2.5'))) - (t + mpf('2.5')), -1.5, 1.5,
           lambda t: (-ln(erfc(t + mpf('2.5'))) - (t + mpf('2.5'))) * erfc(t + mpf('2.5')), bits=(F32,))
polynomial("ERFCX", "erfc(x) e^(x^2) (1 + 2x) in (x - 4) / (x + 4), for 1/2 <= x <= 28.", lambda t: erfcx(x_of(t)) * (1 + 2 * x_of(t)),
           (mpf('0.5') - K) / (mpf('0.5') + K), (28 - K) / (28 + K))


def erfinv_of_w(w):
    # erfinv(x) / x with (1 - x)(1 + x) = e^-w.
    if w < mpf(10) ** -15:
        return sqrt(pi) / 2
    d = exp(-w)
    x = sqrt(1 - d)
    # 1 - erf(y) = 1 - x, by Newton's method from the asymptotic value.
    target = d / (1 + x)
    with extradps(20):
        y = erfinv(x) if w < 20 else sqrt(w + ln(2) - ln(pi * w) / 2)
        for _ in range(60):
            step = (erfc(y) - target) * exp(y * y) * sqrt(pi) / 2
            y += step
            if abs(step) < mpf(10) ** -(mp.dps - 5):
                break
    return y / x


polynomial("ERFINV_CENTER", "erfinv(x) / x in w - 2.5 with w = -ln(1 - x^2), for w <= 5 (f32), 6.25 (f64).", lambda u: erfinv_of_w(u + mpf('2.5')), -2.5, 3.75)
polynomial("ERFINV_MIDDLE", "The same in sqrt(w) - 3, for 2.23 <= sqrt(w) <= 4.1.", lambda u: erfinv_of_w((u + 3)**2), 2.23 - 3, 1.1)
polynomial("ERFINV_TAIL", "The same in sqrt(w) - 5, for 4 <= sqrt(w) <= 6.1.", lambda u: erfinv_of_w((u + 5)**2), -1, 1.1, bits=(F64,))

polynomial("RECIPROCAL_GAMMA", "1 / gamma(x) in x - 1.5, for 1 <= x <= 2.", lambda t: rgamma(t + mpf('1.5')), -0.5, 0.5, bits=(F64,))
polynomial("STIRLING", "(ln gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2) x in 1 / x^2, for x >= 12.",
           off0(lambda z: (loggamma(1 / s(z)) - (1 / s(z) - mpf(1) / 2) * ln(1 / s(z)) + 1 / s(z) - ln(2 * pi) / 2) / s(z), mpf(1) / 12),
           0, mpf(1) / 144, lambda z: mpf(1) / 128, bits=(F64,))
polynomial("STIRLING_8", "(ln gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2) x in 1 / x^2, for x >= 7.8.",
           off0(lambda z: (loggamma(1 / s(z)) - (1 / s(z) - mpf(1) / 2) * ln(1 / s(z)) + 1 / s(z) - ln(2 * pi) / 2) / s(z), mpf(1) / 12),
           0, mpf(1) / 60, lambda z: mpf(1) / 700, bits=(F32,))
polynomial("LGAMMA_1", "ln gamma(1 + t) / t, for |t| <= 1/2.", off0(lambda t: loggamma(1 + t) / t, -euler), -0.5, 0.5)
polynomial("LGAMMA_2", "ln gamma(2 + t) / t, for -1/2 <= t <= 1.", off0(lambda t: loggamma(2 + t) / t, 1 - euler), -0.5, 1)
polynomial("LGAMMA_5", "ln gamma(5.4 + t) / (3.4 + t), for |t| <= 2.4.", lambda t: loggamma(mpf('5.4') + t) / (mpf('3.4') + t), -2.4, 2.4, bits=(F32,))

j = lambda n, k: besseljzero(n, k)
for n, k in ((0, 1), (0, 2), (1, 1), (1, 2)):
    split(f"J{n}_ZERO_{k}", f"Zero {k} of J{n}.", j(n, k))
around = lambda n, k: off0(lambda t: besselj(n, t + j(n, k)) / t, besselj(n, j(n, k), derivative=1))
z01, z02, z11, z12 = (j(n, k) for n, k in ((0, 1), (0, 2), (1, 1), (1, 2)))
polynomial("J0_NEAR_0", "J0 in x^2, for x <= 1.3.", lambda z: besselj(0, s(z)), 0, mpf('1.69'))
polynomial("J0_NEAR_1", "J0(x) / (x - zero 1) in x - zero 1, for 1.2 <= x <= 4.", around(0, 1), 1.2 - z01, 4 - z01)
polynomial("J0_NEAR_2", "J0(x) / (x - zero 2) in x - zero 2, for 4 <= x <= 8.", around(0, 2), 4 - z02, 8 - z02)
polynomial("J1_NEAR_0", "J1(x) / x in x^2, for x <= 2.1.", off0(lambda z: besselj(1, s(z)) / s(z), 0.5), 0, mpf('4.41'))
polynomial("J1_NEAR_1", "J1(x) / (x - zero 1) in x - zero 1, for 2 <= x <= 5.4.", around(1, 1), 2 - z11, 5.4 - z11)
polynomial("J1_NEAR_2", "J1(x) / (x - zero 2) in x - zero 2, for 5.4 <= x <= 8.", around(1, 2), 5.4 - z12, 8 - z12)


def hankel(n, part):
    def g(t):
        # t = 64 / x^2.
        t = max(t, mpf(10) ** -20)
        x = 8 / sqrt(t)
        with extradps(30):
            chi = x - (2 * n + 1) * pi / 4
            f = sqrt(pi * x / 2)
            J, Y = besselj(n, x), bessely(n, x)
            return f * (J * cos(chi) + Y * sin(chi)) if part == 0 else f * (Y * cos(chi) - J * sin(chi)) * x
    return g


for n in (0, 1):
    polynomial(f"HANKEL_P{n}", f"P of Hankel's expansion of J{n} in 64 / x^2, for x >= 8.", hankel(n, 0), 0, 1, slack=-3)
    polynomial(f"HANKEL_Q{n}", f"x Q of Hankel's expansion of J{n} in 64 / x^2, for x >= 8.", hankel(n, 1), 0, 1, slack=-8)

polynomial("ERFINV_FAR", "erfinv(x) / x in sqrt(w) - 8 with w = -ln(1 - x^2), for 4 <= sqrt(w) <= 12.", lambda u: erfinv_of_w((u + 8)**2), -4, 4)
polynomial("ERFINV_FARTHEST", "The same in sqrt(w) - 19, for 12 <= sqrt(w) <= 27.4.", lambda u: erfinv_of_w((u + 19)**2), -7, 8.4, bits=(F64,))
polynomial("ERFINV_NEAR_0", "erfinv(x) / x in x^2, for |x| <= 1/2.", off0(lambda z: erfinv(s(z)) / s(z), sqrt(pi) / 2), 0, mpf('0.25'), bits=(F32,))
split("SQRT_2", "sqrt 2.", sqrt(2))

y = lambda n, k: besselyzero(n, k)
for n, k in ((0, 1), (0, 2), (0, 3), (1, 1), (1, 2)):
    split(f"Y{n}_ZERO_{k}", f"Zero {k} of Y{n}.", y(n, k))
around_y = lambda n, k: off0(lambda t: bessely(n, t + y(n, k)) / t, bessely(n, y(n, k), derivative=1))
small = lambda z: max(s(z), mpf(10) ** -15)
polynomial("Y0_NEAR_0", "Y0(x) - 2 / pi ln x J0(x) in x^2, for x <= 1/2.",
           lambda z: bessely(0, small(z)) - 2 / pi * ln(small(z)) * besselj(0, small(z)), 0, mpf('0.25'))
polynomial("Y0_NEAR_1", "Y0(x) / (x - zero 1) in x - zero 1, for 1/2 <= x <= 1.4.", around_y(0, 1), mpf('0.5') - y(0, 1), mpf('1.4') - y(0, 1))
polynomial("Y0_MIDDLE", "Y0(x) in x - 2, for 1.4 <= x <= 2.6.", lambda t: bessely(0, t + 2), mpf('-0.6'), mpf('0.6'))
polynomial("Y0_NEAR_2", "Y0(x) / (x - zero 2) in x - zero 2, for 2.6 <= x <= 5.3.", around_y(0, 2), mpf('2.6') - y(0, 2), mpf('5.3') - y(0, 2))
polynomial("Y0_NEAR_3", "Y0(x) / (x - zero 3) in x - zero 3, for 5.3 <= x <= 8.", around_y(0, 3), mpf('5.3') - y(0, 3), 8 - y(0, 3))
polynomial("Y1_NEAR_0", "(Y1(x) - 2 / pi (ln x J1(x) - 1 / x)) / x in x^2, for x <= 1.",
           lambda z: (bessely(1, small(z)) - 2 / pi * (ln(small(z)) * besselj(1, small(z)) - 1 / small(z))) / small(z), 0, 1)
polynomial("Y1_NEAR_1", "Y1(x) / (x - zero 1) in x - zero 1, for 1 <= x <= 3.4.", around_y(1, 1), 1 - y(1, 1), mpf('3.4') - y(1, 1))
polynomial("Y1_NEAR_2", "Y1(x) / (x - zero 2) in x - zero 2, for 3.4 <= x <= 6.9.", around_y(1, 2), mpf('3.4') - y(1, 2), mpf('6.9') - y(1, 2))
polynomial("Y1_END", "Y1(x) in x - 7.45, for 6.9 <= x <= 8.", lambda t: bessely(1, t + mpf('7.45')), mpf('-0.55'), mpf('0.55'))

for n in (0, 1):
    over = "" if n == 0 else " / x"
    polynomial(f"I{n}_NEAR", f"I{n}(x){over} in x^2, for x <= 8.", off0(lambda z, n=n: besseli(n, s(z)) / s(z) ** n, mpf(1) / (n + 1)), 0, 64)
    # Its scale is that of the exponential beside it, which is to overflow only where the function does.
    polynomial(f"I{n}_FAR", f"I{n}(x) sqrt(x) e^(16 - x) in 8 / x, for x >= 8.",
               lambda t, n=n: exp(16) / sqrt(2 * pi) if t < mpf(10) ** -5 and t == 0 else besseli(n, 8 / max(t, mpf(10) ** -4)) * sqrt(8 / max(t, mpf(10) ** -4)) * exp(16 - 8 / max(t, mpf(10) ** -4)), 0, 1)

print("/// 1,344 bits of 2 / pi behind 64 zeros, 64 a word, the highest first.")
mp.prec = 1600
value = int(floor(2 / pi * mpf(2) ** 1344))
words = [0] + [(value >> (1344 - 64 * (k + 1))) & (2**64 - 1) for k in range(21)]
print(f"pub const TWO_OVER_PI: [u64; {len(words)}] = [" + ", ".join(hex(w) for w in words) + "];")
