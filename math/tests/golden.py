#!/usr/bin/env python3
"""Writes golden.tsv: correctly rounded results, from mpmath with 80 digits and more.

    pip install mpmath==1.4.1; python3 math/tests/golden.py [COUNT] > math/tests/golden.tsv
    python3 math/tests/golden.py bessel > math/tests/bessel.tsv    # where CUDA states an absolute error
    python3 math/tests/golden.py orders > math/tests/orders.tsv    # Bessel functions of higher orders

mpmath 1.3.0 gives the same. A line: the symbol, the bits of the operands (n as a decimal for an integer), the bits of the result.
"""
import random, struct, sys
from fractions import Fraction
from mpmath import *

BESSEL = sys.argv[1:] == ["bessel"]
ORDERS = sys.argv[1:] == ["orders"]
# As many of each function as the files have that are checked in.
COUNT = 160 if BESSEL or ORDERS else int(sys.argv[1]) if len(sys.argv) > 1 else 100
mp.dps = 80
random.seed(2026)


def fraction(x):
    sign, man, exp, _ = x._mpf_
    value = Fraction(man) * (Fraction(2) ** exp)
    return -value if sign else value


def to_f64(x):
    if isinstance(x, float):
        return x
    try:
        return float(fraction(mpf(x)))
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def to_f32(x):
    """Rounded once: a double may lie on the border between two floats by rounding."""
    f = fraction(mpf(x))
    if f == 0:
        return 0.0
    a = abs(f)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    if Fraction(2) ** e > a:
        e -= 1
    unit = Fraction(2) ** max(e - 23, -149)
    n = round(a / unit)
    value = n * unit
    value = float("inf") if value >= 2 ** 128 else float(value)
    return value if f > 0 else -value


def bits(x, single):
    return struct.pack(">f" if single else ">d", x).hex()


def as_input(x, single):
    x = float(x)
    return struct.unpack("f", struct.pack("f", x))[0] if single else x


def spread(lo, hi):
    """Of any magnitude between powers of two."""
    return random.choice((1, -1)) * random.uniform(1, 2) * 2.0 ** random.uniform(lo, hi)


def around(points):
    p = random.choice(points)
    return p * (1 + spread(-50, -8))


def mixed(lo, hi, near=(), tiny=True, low=-40):
    def one():
        r = random.random()
        if near and r < 0.3:
            return min(max(around(near), lo), hi)
        if tiny and r < 0.5:
            x = spread(low, 1)
            return x if lo <= x <= hi else min(max(abs(x), lo), hi)
        return random.uniform(lo, hi)
    return one


def log_range(lo, hi, positive=True):
    return lambda: abs(spread(lo, hi)) if positive else spread(lo, hi)


def either(*makes):
    return lambda: random.choice(makes)()


PI_MULTIPLES = [k * 1.5707963267948966 for k in (1, 2, 3, 4, 5, 7, 11, 64, 1000, 12345, 1 << 20, 1 << 30)]
# Doubles very near to multiples of pi / 2 (Kahan; Muller).
HARD_ANGLES = [6381956970095103 * 2.0 ** 797, 5.319372648326541e255, 7.7984736e5, 16367173 * 2.0 ** 72, 1e22]
angle = either(mixed(-100, 100, PI_MULTIPLES), mixed(-3, 3), log_range(0, 1000, False), lambda: random.choice(HARD_ANGLES))
angle32 = either(mixed(-100, 100, PI_MULTIPLES[:10]), log_range(0, 126, False))


def w(x):
    return x - 2 * nint(x / 2)


def sinpi_(x):
    return sin(pi * w(x))


def cospi_(x):
    return cos(pi * w(x))


def erfcx_(x):
    return exp(x * x) * erfc(x)


def erfinv_(x):
    if abs(x) < mpf("0.9"):
        return erfinv(x)
    target = 1 - abs(x)
    y = sqrt(-ln(target)) * mpf("0.9")
    for _ in range(60):
        step = (erfc(y) - target) * exp(y * y) * sqrt(pi) / 2
        y += step
        if abs(step) < mpf(10) ** -70:
            break
    return y if x > 0 else -y


def lgamma_(x):
    return ln(abs(gamma(x))) if abs(x) < 200 else loggamma(x)


unary = {
    "sin": (sin, angle), "cos": (cos, angle), "tan": (tan, angle),
    "sinpi": (sinpi_, mixed(-20, 20, [0.5, 1, 1.5, 7, 0.25])), "cospi": (cospi_, mixed(-20, 20, [0.5, 1, 1.5, 7, 0.25])),
    "asin": (asin, mixed(-1, 1, [0.5, 0.999999999])), "acos": (acos, mixed(-1, 1, [0.5, -0.5, 0.9999999, -0.9999999])),
    "atan": (atan, either(mixed(-5, 5, [1]), log_range(-40, 60, False))),
    "sinh": (sinh, either(mixed(-3, 3, [1]), mixed(-710.4, 710.4))), "cosh": (cosh, either(mixed(-3, 3), mixed(-710.4, 710.4))),
    "tanh": (tanh, mixed(-20, 20, [1, 0.55])),
    "asinh": (asinh, either(mixed(-3, 3), log_range(-40, 900, False))), "acosh": (acosh, either(mixed(1, 3, [1]), log_range(0.1, 900))),
    "atanh": (atanh, mixed(-1, 1, [0.5, 0.9999])),
    "exp": (exp, either(mixed(-3, 3), mixed(-745, 709.7))), "exp2": (lambda x: mpf(2) ** x, mixed(-1074, 1023.9, [1, 10, 0.5])),
    "exp10": (lambda x: mpf(10) ** x, mixed(-323, 308.2, [1, 2, 22])), "expm1": (expm1, either(mixed(-3, 3, [0.35, 0.7, -0.35]), mixed(-40, 709.7))),
    "log": (ln, either(mixed(0.4, 2.5, [1]), log_range(-1073, 1023))), "log2": (lambda x: ln(x) / ln(2), either(mixed(0.4, 2.5, [1, 2, 4, 1024]), log_range(-1073, 1023))),
    "log10": (log10, either(mixed(0.4, 2.5, [1, 10, 100, 1e10]), log_range(-1073, 1023))),
    "log1p": (log1p, either(mixed(-0.999, 3, [-0.3, 0.41]), log_range(-60, 1000))),
    "cbrt": (cbrt, log_range(-1073, 1023)), "rcbrt": (lambda x: 1 / cbrt(x), log_range(-1073, 1023)), "rsqrt": (lambda x: 1 / sqrt(x), log_range(-1073, 1023)),
    "erf": (erf, mixed(-6, 6, [0.5, 1, 0.84])), "erfc": (erfc, either(mixed(-6, 6, [0.5, 1]), mixed(0, 26.5))),
    "erfcx": (erfcx_, either(mixed(-5, 6, [0.5, 1]), mixed(0, 60))),
    "erfinv": (erfinv_, either(mixed(-1, 1, [0.5, 0.99, 0.9999]), lambda: 1 - abs(spread(-52, -3)))),
    "normcdf": (lambda x: erfc(-x / sqrt(2)) / 2, either(mixed(-6, 6, [0.5, 1]), mixed(-37.5, 8))),
    "tgamma": (gamma, either(mixed(0.01, 20, [1, 2, 13]), mixed(-20, -0.01), mixed(13, 171.6), mixed(-175, -20), log_range(-60, 0, False))),
    "lgamma": (lgamma_, either(mixed(0.01, 20, [1, 2, 3, 13]), mixed(-2.2, -0.01), mixed(13, 1e5), log_range(-60, 500))),
    "j0": (lambda x: besselj(0, x), mixed(-8, 8)), "j1": (lambda x: besselj(1, x), mixed(-8, 8)),
}
# f32 has no other reference for these.
single = {name: unary[name] for name in ("erfcx", "erfinv", "lgamma", "tgamma", "normcdf", "j0", "j1", "rcbrt", "sinpi", "cospi")}
single["sin"], single["cos"], single["tan"] = (sin, angle32), (cos, angle32), (tan, angle32)


def erfcinv_(x):
    if x > mpf("0.1"):
        return erfinv_(1 - x)
    y = sqrt(-ln(x) - ln(-pi * ln(x)) / 2)
    for _ in range(60):
        step = (erfc(y) - x) * exp(y * y) * sqrt(pi) / 2
        y += step
        if abs(step) < mpf(10) ** -70:
            break
    return y


def normcdfinv_(p):
    return -sqrt(mpf(2)) * erfcinv_(2 * p)


small = either(mixed(0.001, 2, [1, 0.5]), log_range(-300, 0))
later = {
    "erfcinv": (erfcinv_, either(mixed(0.001, 2, [1, 0.5, 1.5]), log_range(-1060, -3), lambda: 2 - abs(spread(-52, -3)))),
    "normcdfinv": (normcdfinv_, either(mixed(0.001, 1, [0.5, 0.25, 0.75]), log_range(-1060, -3), lambda: 1 - abs(spread(-53, -3)))),
    "y0": (lambda x: bessely(0, x), either(mixed(0.001, 8, [0.8935769662791675, 3.957678419314858, 7.086051060301773]), log_range(-900, 2.9))),
    "y1": (lambda x: bessely(1, x), either(mixed(0.001, 8, [2.197141326031017, 5.429681040794135]), log_range(-900, 2.9))),
    "cyl_bessel_i0": (lambda x: besseli(0, x), either(mixed(-8, 8), mixed(-713, 713), log_range(-60, 0, False))),
    "cyl_bessel_i1": (lambda x: besseli(1, x), either(mixed(-8, 8), mixed(-713, 713), log_range(-60, 0, False))),
}
later32 = dict(later)
later32["cyl_bessel_i0"] = (later["cyl_bessel_i0"][0], either(mixed(-8, 8), mixed(-91, 91)))
later32["cyl_bessel_i1"] = (later["cyl_bessel_i1"][0], either(mixed(-8, 8), mixed(-91, 91), log_range(-60, 0, False)))
for name in ("y0", "y1"):
    later32[name] = (later[name][0], either(later[name][1], log_range(-100, 2.9)))
for name in ("erfcinv", "normcdfinv"):
    later32[name] = (later[name][0], either(later[name][1], log_range(-120, -3)))


def vector(n):
    return lambda: random.choice((
        lambda: tuple(spread(-1, 1) for _ in range(n)), lambda: tuple(spread(-60, 60) for _ in range(n)),
        lambda: tuple(spread(-1000, 1000) for _ in range(n)), lambda: tuple(spread(-1070, -1000) for _ in range(n)),
        lambda: tuple(spread(990, 1022.5) for _ in range(n))))()


def length(*parts):
    return sqrt(sum(x * x for x in parts))


def inverse_length(*parts):
    return 1 / length(*parts)


lengths = {
    "rhypot": (inverse_length, vector(2)), "norm3d": (length, vector(3)), "rnorm3d": (inverse_length, vector(3)),
    "norm4d": (length, vector(4)), "rnorm4d": (inverse_length, vector(4)),
}


def vector32(n):
    return lambda: random.choice((
        lambda: tuple(spread(-1, 1) for _ in range(n)), lambda: tuple(spread(-20, 20) for _ in range(n)),
        lambda: tuple(spread(-149, -110) for _ in range(n)), lambda: tuple(spread(100, 126) for _ in range(n))))()


lengths32 = {
    "rhypot": (inverse_length, vector32(2)), "norm3d": (length, vector32(3)), "rnorm3d": (inverse_length, vector32(3)),
    "norm4d": (length, vector32(4)), "rnorm4d": (inverse_length, vector32(4)), "hypot": (hypot, vector32(2)),
}


def near_overflow():
    x = abs(spread(-3, 3))
    return x, random.uniform(-745, 709) / float(ln(x))


binary = {
    "pow": (lambda x, y: x ** y, lambda: random.choice((
        lambda: (abs(spread(-4, 4)), spread(-3, 7)), near_overflow, lambda: (1 + spread(-40, -8), spread(5, 30)),
        lambda: (abs(spread(-1000, 1000)), random.uniform(-1, 1)), lambda: (-abs(spread(-4, 4)), float(random.randint(-50, 50)))))()),
    "atan2": (lambda y, x: atan2(y, x), lambda: (spread(-30, 30), spread(-30, 30)) if random.random() < 0.5 else (spread(-1, 1), spread(-1, 1))),
    "hypot": (hypot, lambda: random.choice((lambda: (spread(-1, 1), spread(-1, 1)), lambda: (spread(-500, 1000), spread(-500, 1000))))()),
    "fmod": (lambda x, y: mpf_rem(x, y, False), lambda: (spread(-30, 60), spread(-30, 30))),
    "remainder": (lambda x, y: mpf_rem(x, y, True), lambda: (spread(-30, 60), spread(-30, 30))),
}


def mpf_rem(x, y, nearest):
    x, y = fraction(x), fraction(y)
    q = x / y
    n = round(q) if nearest else (abs(q).__floor__() * (1 if q > 0 else -1))
    r = x - n * y
    return mpf(r.numerator) / r.denominator


def row(symbol, args, result, f32):
    show = "\t".join(bits(a, f32) for a in args)
    print(f"{symbol}\t{show}\t{bits(result, f32)}")


def rows(table, f32, count):
    ty = "f32" if f32 else "f64"
    for name, (f, make) in table.items():
        done = 0
        while done < count:
            args = make()
            args = [as_input(a, f32) for a in (args if isinstance(args, tuple) else (args,))]
            if any(a != a or a in (float("inf"), float("-inf")) for a in args):
                continue
            try:
                value = f(*(mpf(a) for a in args))
            except (ValueError, ZeroDivisionError, OverflowError):
                continue
            if isinstance(value, mpc) or not isfinite(value) or (value == 0 if name not in ("sinpi", "cospi") else abs(value) < 1e-60):
                continue
            row(f"ws_{name}_{ty}", args, to_f32(value) if f32 else to_f64(value), f32)
            done += 1


def orders(f32):
    for name, f in (("jn", besselj), ("yn", bessely)):
        for _ in range(COUNT):
            n = random.choice((0, 1, 2, 3, 5, 8, 17, 40, 128, 300))
            x = random.choice((lambda: random.uniform(0.1, 20), lambda: n * random.uniform(0.3, 3) + 0.5, lambda: 2.0 ** random.uniform(-10, 12)))()
            x = as_input(-x if name == "jn" and random.random() < 0.3 else x, f32)
            value = f(n, mpf(x))
            print(f"ws_{name}_{'f32' if f32 else 'f64'}\t{n:x}\t{bits(x, f32)}\t{bits(to_f32(value) if f32 else to_f64(value), f32)}")


if ORDERS:
    orders(False)
    orders(True)
elif BESSEL:
    far = {name: (unary[name][0], either(mixed(8, 60, tiny=False), mixed(60, 2000, tiny=False), log_range(3, 50))) for name in ("j0", "j1")}
    rows(far, False, COUNT)
    rows(far, True, COUNT)
    far = {name: (later[name][0], either(mixed(8, 60, tiny=False), mixed(60, 2000, tiny=False), log_range(3, 50))) for name in ("y0", "y1")}
    rows(far, False, COUNT)
    rows(far, True, COUNT)
else:
    rows(unary, False, COUNT)
    rows(binary, False, COUNT)
    rows(single, True, COUNT)
    # Behind the others, so that those stay what they are.
    rows(later, False, COUNT)
    rows(lengths, False, COUNT)
    rows(later32, True, COUNT)
    rows(lengths32, True, COUNT)
