"""The numbers of PTX's types in NumPy: drawn, rounded, and as bits."""
import numpy as np

# Bits of exponent and fraction.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "e4m3": (4, 3), "e5m2": (5, 2), "e2m1": (2, 1), "tf32": (8, 10)}
INTEGERS = {"s8": np.int8, "u8": np.uint8, "s16": np.int16, "s32": np.int32, "u32": np.uint32, "s64": np.int64}


def split_mix(seed, count):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def rounded(ptx, values):
    """The nearest numbers of a type, ties to even, as f64."""
    values = np.asarray(values, dtype=np.float64)
    if ptx == "f64":
        return values
    if ptx == "f32":
        return values.astype(np.float32).astype(np.float64)
    if ptx == "f16":
        return values.astype(np.float16).astype(np.float64)
    exponent, fraction = FORMATS[ptx]
    bias = (1 << (exponent - 1)) - 1
    e = np.frexp(np.where(values == 0, 1.0, values))[1] - 1
    quantum = np.exp2(np.maximum(e, 1 - bias) - fraction)
    return np.round(values / quantum) * quantum


def draw_numbers(ptx, count, seed, low, high):
    x = split_mix(seed, count)
    if ptx in INTEGERS:
        return low + (x % np.uint64(high - low + 1)).astype(np.int64)
    return rounded(ptx, low + (x >> np.uint64(40)).astype(np.float64) / 2.0**24 * (high - low))


def bits_of(ptx, values):
    """What JSON says of the elements so that they are exact: numbers."""
    flat = np.asarray(values).reshape(-1)
    if ptx in INTEGERS:
        return [int(v) for v in flat.tolist()]
    return [float(v) for v in rounded(ptx, flat).tolist()]
