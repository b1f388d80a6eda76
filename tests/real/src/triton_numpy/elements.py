"""What computes by element, moves, sorts, scans and counts."""
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

from case import ALL, Case, draw, f32, given, i32, zeros
from numbers_of import rounded, split_mix


@triton.jit
def rotary(x, cosines, sines, out, n, D: tl.constexpr):
    """Halves of a row are turned by the row's angles."""
    row = tl.program_id(0)
    i = tl.arange(0, D // 2)
    a, b = tl.load(x + row * D + i).to(tl.float32), tl.load(x + row * D + D // 2 + i).to(tl.float32)
    c, s = tl.load(cosines + row * (D // 2) + i), tl.load(sines + row * (D // 2) + i)
    tl.store(out + row * D + i, (a * c - b * s).to(tl.float16))
    tl.store(out + row * D + D // 2 + i, (b * c + a * s).to(tl.float16))


def of_rotary():
    rows, width = 6, 64
    x, c, s = draw("f16", (rows, width), 91), draw("f32", (rows, width // 2), 92), draw("f32", (rows, width // 2), 93)
    a, b = x.values[:, :width // 2], x.values[:, width // 2:]
    out = np.concatenate([a * c.values - b * s.values, b * c.values + a * s.values], 1)
    return Case("rotary", rotary, [x, c, s, zeros("f16", out.shape), i32(rows)], {"D": width}, (rows, 1, 1), {3: (out, 1e-3)}, warps=1)


def philox(seed, counter, rounds=10):
    """Philox 4x32 of counters that differ in the first word."""
    c = [np.asarray(counter, dtype=np.uint64), *(np.zeros(len(counter), dtype=np.uint64) for _ in range(3))]
    key, low = [seed & 0xffffffff, seed >> 32], np.uint64(0xffffffff)
    for _ in range(rounds):
        x, y = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(y >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), y & low, (x >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), x & low]
        key = [(key[0] + 0x9E3779B9) & 0xffffffff, (key[1] + 0xBB67AE85) & 0xffffffff]
    return [v.astype(np.uint32) for v in c]


def uniform(words):
    signed = words.astype(np.int32).astype(np.int64)
    return rounded("f32", np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(tl.rand(seed, i) > p, v / (1 - p), 0.0), mask=i < n)


def of_dropout():
    n, p = 700, float(np.float32(0.3))
    x = draw("f32", n, 94)
    keep = uniform(philox(12345, np.arange(n))[0]) > p
    args = [x, zeros("f32", n), i32(n), f32(p), i32(12345)]
    return Case("dropout", dropout, args, {"BLOCK": 256}, (3, 1, 1), {1: (np.where(keep, x.values / (1 - p), 0), 1e-6)})


@triton.jit
def noise(words, normal, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(words + i, a)
    tl.store(words + BLOCK + i, b)
    tl.store(words + 2 * BLOCK + i, c)
    tl.store(words + 3 * BLOCK + i, d)
    tl.store(normal + i, tl.randn(seed, i))


def of_noise():
    words = philox(77, np.arange(256))
    u, v = (uniform(w) for w in words[:2])
    normal = np.sqrt(-2 * np.log(np.maximum(u, 1e-7))) * np.cos(2 * np.pi * v)
    args = [zeros("s32", (4, 256)), zeros("f32", 256), i32(77)]
    return Case("noise", noise, args, {"BLOCK": 256}, (1, 1, 1), {0: (np.stack(words).view(np.int32), 0), 1: (normal, 1e-4)})


@triton.jit
def gated(x, y, out, n, BLOCK: tl.constexpr):
    """SwiGLU, and its fellow with tanh."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    b = tl.load(y + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out + i, (a * tl.sigmoid(a) * b).to(tl.bfloat16), mask=i < n)
    gelu = 0.5 * a * (1 + libdevice.tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)))
    tl.store(out + n + i, (gelu * b).to(tl.bfloat16), mask=i < n)


def of_gated():
    n = 600
    x, y = draw("bf16", n, 95, -4, 4), draw("bf16", n, 96)
    a, b = x.values, y.values
    gelu = 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))
    out = np.stack([a / (1 + np.exp(-a)) * b, gelu * b])
    return Case("gated", gated, [x, y, zeros("bf16", out.shape), i32(n)], {"BLOCK": 512}, (2, 1, 1), {2: (out, 2.0**-8)})


@triton.jit
def adam(p, g, m, v, n, rate, beta1, beta2, eps, decay, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    w, d = tl.load(p + i, mask=inside), tl.load(g + i, mask=inside).to(tl.float32)
    a = beta1 * tl.load(m + i, mask=inside) + (1 - beta1) * d
    b = beta2 * tl.load(v + i, mask=inside) + (1 - beta2) * d * d
    tl.store(m + i, a, mask=inside)
    tl.store(v + i, b, mask=inside)
    tl.store(p + i, w * (1 - rate * decay) - rate * a / (tl.sqrt_rn(b) + eps), mask=inside)


def of_adam():
    n, numbers = 300, [float(np.float32(x)) for x in (0.01, 0.9, 0.99, 1e-6, 0.1)]
    rate, beta1, beta2, eps, decay = numbers
    p, g, m, v = draw("f32", n, 97), draw("f16", n, 98), draw("f32", n, 99), draw("f32", n, 100, 0, 1)
    a = beta1 * m.values + (1 - beta1) * g.values
    b = beta2 * v.values + (1 - beta2) * g.values**2
    w = p.values * (1 - rate * decay) - rate * a / (np.sqrt(b) + eps)
    args = [p, g, m, v, i32(n), *map(f32, numbers)]
    return Case("adam", adam, args, {"BLOCK": 256}, (2, 1, 1), {0: (w, 1e-6), 2: (a, 1e-6), 3: (b, 1e-6)})


@triton.jit
def sorted_rows(x, keys, out, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    tl.store(out + row * N + i, tl.sort(tl.load(x + row * N + i), descending=True))
    # The key above, where it came from below: a sort that is an argsort.
    k = (tl.load(x + row * N + i).to(tl.int64) << 32) | i
    tl.store(keys + row * N + i, tl.sort(k))


def of_sorted_rows():
    x = draw("s32", (3, 64), 101, -1000, 1000)
    keys = np.sort((x.values << 32) | np.arange(64), 1)
    args = [x, zeros("s64", (3, 64)), zeros("s32", (3, 64))]
    return Case("sorted_rows", sorted_rows, args, {"N": 64}, (3, 1, 1), {1: (keys, 0), 2: (-np.sort(-x.values, 1), 0)}, warps=2)


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def scans(x, a, sums, products, states, M: tl.constexpr, N: tl.constexpr):
    """Along both axes, backwards, and h[t] = a[t] h[t-1] + x[t]."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v, w = tl.load(x + at), tl.load(a + at)
    tl.store(sums + at, tl.cumsum(v, 1))
    tl.store(sums + M * N + at, tl.cumsum(v, 0, reverse=True))
    tl.store(products + at, tl.cumprod(w, 1))
    _, h = tl.associative_scan((w, v), 0, recurrence)
    tl.store(states + at, h)


def of_scans():
    m, n = 32, 16
    x, a = draw("f32", (m, n), 102), draw("f32", (m, n), 103, 0.5, 1)
    sums = np.stack([x.values.cumsum(1), x.values[::-1].cumsum(0)[::-1]])
    h, state = [], np.zeros(n)
    for t in range(m):
        state = a.values[t] * state + x.values[t]
        h.append(state)
    args = [x, a, zeros("f32", sums.shape), zeros("f32", (m, n)), zeros("f32", (m, n))]
    out = {2: (sums, 1e-5), 3: (a.values.cumprod(1), 1e-5), 4: (np.stack(h), 1e-5)}
    return Case("scans", scans, args, {"M": m, "N": n}, (1, 1, 1), out)


@triton.jit
def look_back(x, flags, partial, total, out, n, BLOCK: tl.constexpr):
    """A running sum in one pass: each block waits for the sum of those before it (Merrill and Garland's look-back)."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    own = tl.sum(v, 0)
    tl.store(partial + pid, own)
    tl.debug_barrier()
    tl.atomic_xchg(flags + pid, 1, sem="release")
    before = tl.zeros((), dtype=tl.int32)
    at = pid - 1
    while at >= 0:
        flag = tl.atomic_add(flags + at, 0, sem="acquire")
        while flag == 0:
            flag = tl.atomic_add(flags + at, 0, sem="acquire")
        tl.debug_barrier()
        if flag == 2:
            before += tl.load(total + at)
            at = -1
        else:
            before += tl.load(partial + at)
            at -= 1
    tl.store(total + pid, before + own)
    tl.debug_barrier()
    tl.atomic_xchg(flags + pid, 2, sem="release")
    tl.store(out + i, before + tl.cumsum(v, 0), mask=i < n)


def of_look_back():
    n = 1200
    x = draw("s32", n, 104, -1000, 1000)
    args = [x, zeros("s32", 5), zeros("s32", 5), zeros("s32", 5), zeros("s32", n), i32(n)]
    return Case("look_back", look_back, args, {"BLOCK": 256}, (5, 1, 1), {4: (np.cumsum(x.values), 0)})


@triton.jit
def counted(x, out, gathered, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    counts = tl.histogram(v, BINS, mask=i < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts)
    tl.store(gathered + i, tl.gather(v, (tl.arange(0, BLOCK) * 7 + 3) % BLOCK, 0), mask=i < n)


def of_counted():
    n = 900
    x = draw("s32", n, 105, 0, 63)
    padded = np.concatenate([x.values, np.zeros(1024 - n, dtype=int)]).reshape(4, 256)
    gathered = padded[:, (np.arange(256) * 7 + 3) % 256].reshape(-1)[:n]
    args = [x, zeros("s32", 64), zeros("s32", n), i32(n)]
    return Case("counted", counted, args, {"BLOCK": 256, "BINS": 64}, (4, 1, 1), {1: (np.bincount(x.values, minlength=64), 0), 2: (gathered, 0)})


@triton.jit
def embedding(table, index, dy, out, dtable, n, D: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of a table, and gradients added back to them as f16."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    row = tl.load(index + i, mask=i < n, other=0)
    at, inside = i[:, None] * D + d[None, :], (i < n)[:, None]
    tl.store(out + at, tl.load(table + row[:, None] * D + d[None, :], mask=inside), mask=inside)
    tl.atomic_add(dtable + row[:, None] * D + d[None, :], tl.load(dy + at, mask=inside), mask=inside)


def of_embedding():
    n, width, rows = 40, 16, 10
    # Sums of eighths are exact in f16 whatever their order.
    table, index = draw("f16", (rows, width), 106), draw("s32", n, 107, 0, rows - 1)
    dy = given("f16", draw("s32", (n, width), 108, -8, 8).values / 8)
    sums = np.zeros((rows, width))
    np.add.at(sums, index.values, dy.values)
    args = [table, index, dy, zeros("f16", (n, width)), zeros("f16", (rows, width)), i32(n)]
    return Case("embedding", embedding, args, {"D": width, "BLOCK": 16}, (3, 1, 1), {3: (table.values[index.values], 0), 4: (sums, 0)})


@triton.jit
def quantised_rows(x, bytes_, floats, scales, n, BLOCK: tl.constexpr):
    """To s8 and to e4m3 by the largest of each row."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    most = tl.max(tl.abs(v), 0)
    tl.store(scales + row, most / 127)
    tl.store(bytes_ + row * n + i, libdevice.rint(v * (127 / most)).to(tl.int8), mask=i < n)
    tl.store(floats + row * n + i, (v * (448 / most)).to(tl.float8e4nv), mask=i < n)


def of_quantised_rows():
    rows, n = 4, 120
    x = draw("f32", (rows, n), 109, -3, 3)
    most = np.abs(x.values).max(1, keepdims=True)
    s8 = np.rint(x.values * 127 / most)
    # f32 may round to the other side of a tie than f64 does.
    args = [x, zeros("s8", (rows, n)), zeros("e4m3", (rows, n)), zeros("f32", rows), i32(n)]
    out = {1: (s8, 0), 2: (x.values * 448 / most, 2.0**-3), 3: (most / 127, 1e-6)}
    return Case("quantised_rows", quantised_rows, args, {"BLOCK": 128}, (rows, 1, 1), out, (89, 90, 100, 120))


@triton.jit
def permuted(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    v = tl.load(x + at)
    w = tl.permute(v, (2, 0, 1))
    to = tl.arange(0, C)[:, None, None] * (A * B) + tl.arange(0, A)[None, :, None] * B + tl.arange(0, B)[None, None, :]
    tl.store(out + to, w)
    a, b = tl.split(v.reshape(A * B * C // 2, 2))
    tl.store(out + A * B * C + tl.arange(0, A * B * C), tl.interleave(b, a))
    tl.store(out + 2 * A * B * C + at, tl.flip(v, 1))


def of_permuted():
    shape = (8, 16, 32)
    x = draw("s16", shape, 110, -30000, 30000)
    pairs = x.values.reshape(-1, 2)[:, ::-1].reshape(-1)
    out = np.concatenate([x.values.transpose(2, 0, 1).reshape(-1), pairs, x.values[:, ::-1].reshape(-1)])
    return Case("permuted", permuted, [x, zeros("s16", len(out))], {"A": 8, "B": 16, "C": 32}, (1, 1, 1), {1: (out, 0)})


@triton.jit
def hadamard(x, out, N: tl.constexpr, LOG: tl.constexpr):
    """A Walsh-Hadamard transform by butterflies of a reshaped row."""
    row = tl.program_id(0)
    v = tl.load(x + row * N + tl.arange(0, N))
    for _ in tl.static_range(LOG):
        a, b = tl.split(v.reshape(N // 2, 2))
        v = tl.join(a + b, a - b).trans(1, 0).reshape(N)
    tl.store(out + row * N + tl.arange(0, N), v)


def of_hadamard():
    n = 128
    x = draw("s32", (2, n), 111, -100, 100)
    h = np.array([[1]])
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    return Case("hadamard", hadamard, [x, zeros("s32", (2, n))], {"N": n, "LOG": 7}, (2, 1, 1), {1: (x.values @ h, 0)})


@triton.jit
def stencil(x, out, pooled, h, w, BLOCK: tl.constexpr):
    """Five points, and the largest of squares of two."""
    y = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    row = x + y * w + i
    acc = -4.0 * tl.load(row, mask=i < w, other=0.0)
    acc += tl.load(row - 1, mask=(i > 0) & (i < w), other=0.0) + tl.load(row + 1, mask=i + 1 < w, other=0.0)
    acc += tl.load(row - w, mask=(i < w) & (y > 0), other=0.0) + tl.load(row + w, mask=(i < w) & (y + 1 < h), other=0.0)
    tl.store(out + y * w + i, acc, mask=i < w)
    if y % 2 == 0:
        two = x + (y + tl.arange(0, 2))[:, None, None] * w + (tl.arange(0, BLOCK // 2) * 2)[None, :, None] + tl.arange(0, 2)[None, None, :]
        v = tl.load(two, mask=(tl.arange(0, BLOCK // 2) < w // 2)[None, :, None], other=float("-inf"))
        tl.store(pooled + y // 2 * (w // 2) + tl.arange(0, BLOCK // 2), tl.max(tl.max(v, 2), 0), mask=tl.arange(0, BLOCK // 2) < w // 2)


def of_stencil():
    h, w = 10, 44
    x = draw("f32", (h, w), 112)
    p = np.pad(x.values, 1)
    out = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x.values
    pooled = x.values.reshape(h // 2, 2, w // 2, 2).max((1, 3))
    args = [x, zeros("f32", (h, w)), zeros("f32", pooled.shape), i32(h), i32(w)]
    return Case("stencil", stencil, args, {"BLOCK": 64}, (h, 1, 1), {1: (out, 1e-5), 2: (pooled, 0)})


@triton.jit
def sparse(starts, columns, values, x, y, BLOCK: tl.constexpr):
    """A row of a sparse matrix a program, as long as it is."""
    row = tl.program_id(0)
    first, last = tl.load(starts + row), tl.load(starts + row + 1)
    acc = tl.zeros((BLOCK,), dtype=tl.float64)
    at = first
    while at < last:
        i = at + tl.arange(0, BLOCK)
        c = tl.load(columns + i, mask=i < last, other=0)
        acc += tl.load(values + i, mask=i < last, other=0.0) * tl.load(x + c, mask=i < last, other=0.0)
        at += BLOCK
    tl.store(y + row, tl.sum(acc, 0))


def of_sparse():
    rows, width = 12, 200
    lengths = [0, 5, 64, 130, 1, 33, 70, 2, 90, 17, 0, 128]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns, values, x = draw("s32", starts[-1], 113, 0, width - 1), draw("f64", starts[-1], 114), draw("f64", width, 115)
    terms = values.values * x.values[columns.values]
    y = [terms[a:b].sum() for a, b in zip(starts, starts[1:])]
    args = [given("s32", starts), columns, values, x, zeros("f64", rows)]
    return Case("sparse", sparse, args, {"BLOCK": 64}, (rows, 1, 1), {4: (y, 1e-13)}, warps=2)


@triton.jit
def hashed(x, out, n, BLOCK: tl.constexpr):
    """Integers of 64 bits: products' high halves, turns, quotients."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1)
    u = v.to(tl.uint64)
    u ^= u >> 33
    u *= 0xff51afd7ed558ccd
    u ^= u >> 29
    tl.store(out + i, u.to(tl.int64, bitcast=True), mask=i < n)
    tl.store(out + n + i, tl.umulhi(u, u + 12345).to(tl.int64, bitcast=True), mask=i < n)
    tl.store(out + 2 * n + i, v // 1000003 + v % 97, mask=i < n)


def of_hashed():
    n = 200
    x = draw("s64", n, 116, 0, 2**62)
    mask = 2**64 - 1
    signed = lambda v: v - 2**64 if v >> 63 else v
    rows = [[], [], []]
    for v in map(int, x.values):
        u = v ^ v >> 33
        u = u * 0xff51afd7ed558ccd & mask
        u ^= u >> 29
        rows[0].append(signed(u))
        rows[1].append(signed(u * ((u + 12345) & mask) >> 64))
        rows[2].append(v // 1000003 + v % 97)
    return Case("hashed", hashed, [x, zeros("s64", (3, n)), i32(n)], {"BLOCK": 256}, (1, 1, 1), {1: (np.array(rows, dtype=np.int64), 0)})


@triton.jit
def functions(x, out, n, BLOCK: tl.constexpr):
    """Of libdevice, and inline assembly."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1.0)
    tl.store(out + i, libdevice.lgamma(v), mask=i < n)
    tl.store(out + n + i, libdevice.pow(v, 2.5), mask=i < n)
    tl.store(out + 2 * n + i, libdevice.log1p(v) + libdevice.atan2(v, 2.0), mask=i < n)
    tl.store(out + 3 * n + i, tl.sin(v) + tl.cos(v) * libdevice.j0(v), mask=i < n)
    turned = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 7;", "=r,r", [v.to(tl.int32, bitcast=True)], dtype=tl.int32, is_pure=True, pack=1)
    back = tl.inline_asm_elementwise("{ .reg .b32 t; shf.r.wrap.b32 t, $1, $1, 7; mov.b32 $0, t; }", "=r,r", [turned], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + 4 * n + i, back.to(tl.float32, bitcast=True), mask=i < n)


def of_functions():
    from scipy.special import gammaln, j0
    n = 100
    x = draw("f32", n, 117, 0.1, 9)
    v = x.values
    out = np.stack([gammaln(v), v**2.5, np.log1p(v) + np.arctan2(v, 2), np.sin(v) + np.cos(v) * j0(v), v])
    return Case("functions", functions, [x, zeros("f32", out.shape), i32(n)], {"BLOCK": 128}, (1, 1, 1), {1: (out, 2e-6)})


@triton.jit
def escape(out, w, h, limit, BLOCK: tl.constexpr):
    """Steps until a point of the plane escapes; lanes go on until the last has."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = (i % w).to(tl.float64) * 0.0625 - 2, (i // w).to(tl.float64) * 0.0625 - 1
    a, b = tl.zeros((BLOCK,), dtype=tl.float64), tl.zeros((BLOCK,), dtype=tl.float64)
    steps = tl.zeros((BLOCK,), dtype=tl.int32)
    inside = i < w * h
    step = 0
    while (step < limit) & (tl.max(inside.to(tl.int32), 0) > 0):
        a, b = a * a - b * b + x, 2 * a * b + y
        inside = inside & (a * a + b * b <= 4)
        steps += inside.to(tl.int32)
        step += 1
    tl.store(out + i, steps, mask=i < w * h)


def of_escape():
    w, h, limit = 40, 20, 30
    c = (np.arange(w) * 0.0625 - 2)[None, :] + 1j * (np.arange(h) * 0.0625 - 1)[:, None]
    z, steps, inside = np.zeros_like(c), np.zeros(c.shape, dtype=int), np.ones(c.shape, dtype=bool)
    for _ in range(limit):
        z = np.where(inside, z * z + c, z)
        inside &= z.real**2 + z.imag**2 <= 4
        steps += inside
    return Case("escape", escape, [zeros("s32", (h, w)), i32(w), i32(h), i32(limit)], {"BLOCK": 256}, (4, 1, 1), {0: (steps, 0)})


def cases():
    yield from (of_rotary(), of_dropout(), of_noise(), of_gated(), of_adam(), of_sorted_rows(), of_scans(), of_look_back(), of_counted())
    yield from (of_embedding(), of_quantised_rows(), of_permuted(), of_hadamard(), of_stencil(), of_sparse(), of_hashed(), of_functions(), of_escape())
