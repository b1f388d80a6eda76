"""Attention, forwards and backwards, and its relatives."""
import numpy as np
import triton
import triton.language as tl

from case import ALL, MAPPED, Case, Described, draw, f32, given, i32, zeros
from numbers_of import rounded

# Where a lane sums one product, fma(a, b, shuffled a * b) differs from lane to lane in the last bit, and Triton has all of them store it: the checker
# rightly warns of that (W0302).
APART = {"enable_fp_fusion": False}


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@triton.jit
def forward(q, k, v, out, lse, n, scale, D: tl.constexpr, BLOCK: tl.constexpr, SHARED: tl.constexpr):
    """Causal attention of several heads; so many of them share keys and values. `lse` is the logarithm of each row's sum."""
    head = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    of_q, of_k = head * n * D, head // SHARED * n * D
    x = tl.load(q + of_q + i[:, None] * D + d[None, :])
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    best = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        j = start + tl.arange(0, BLOCK)
        s = tl.dot(x, tl.load(k + of_k + j[None, :] * D + d[:, None])) * (scale * 1.4426950408889634)
        s = tl.where(i[:, None] >= j[None, :], s, float("-inf"))
        new = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        keep = tl.exp2(best - new)
        total = total * keep + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + of_k + j[:, None] * D + d[None, :]), acc * keep[:, None])
        best = new
    tl.store(out + of_q + i[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))
    tl.store(lse + head * n + i, best + tl.log2(total))


HEADS, ROWS, WIDTH = 2, 64, 32


def causal_scores(q, k, scale):
    s = np.einsum("hid,hjd->hij", q, k) * scale
    return np.where(np.tril(np.ones(s.shape[1:], dtype=bool)), s, -np.inf)


def of_forward():
    shape = (HEADS, ROWS, WIDTH)
    q, k, v = draw("f16", shape, 41), draw("f16", (1, *shape[1:]), 42), draw("f16", (1, *shape[1:]), 43)
    s = causal_scores(q.values, np.repeat(k.values, HEADS, 0), 0.25)
    out = softmax(s) @ v.values
    lse = np.log2(np.exp(s).sum(-1))
    args = [q, k, v, zeros("f16", shape), zeros("f32", shape[:2]), i32(ROWS), f32(0.25)]
    constants = {"D": WIDTH, "BLOCK": 32, "SHARED": HEADS}
    return Case("forward", forward, args, constants, (ROWS // 32, HEADS, 1), {3: (out, 2e-3), 4: (lse, 1e-4)})


@triton.jit
def before_backward(out, do, delta, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = i[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(delta + i, tl.sum(tl.load(out + at).to(tl.float32) * tl.load(do + at).to(tl.float32), 1))


def of_before_backward():
    out, do = draw("f16", (128, 32), 44), draw("f16", (128, 32), 45)
    args = [out, do, zeros("f32", 128)]
    return Case("before_backward", before_backward, args, {"D": 32, "BLOCK": 32}, (4, 1, 1), {2: ((out.values * do.values).sum(1), 1e-5)})


@triton.jit
def backward_keys(q, k, v, do, lse, delta, dk, dv, n, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(1) * n * D
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    y = tl.load(k + head + j[:, None] * D + d[None, :])
    z = tl.load(v + head + j[:, None] * D + d[None, :])
    of_k = tl.zeros((BLOCK, D), dtype=tl.float32)
    of_v = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(q + head + i[:, None] * D + d[None, :])
        g = tl.load(do + head + i[:, None] * D + d[None, :])
        m = tl.load(lse + tl.program_id(1) * n + i)
        p = tl.exp2(tl.dot(y, x.T) * (scale * 1.4426950408889634) - m[None, :])
        p = tl.where(i[None, :] >= j[:, None], p, 0.0)
        of_v = tl.dot(p.to(tl.float16), g, of_v)
        ds = p * (tl.dot(z, g.T) - tl.load(delta + tl.program_id(1) * n + i)[None, :])
        of_k = tl.dot(ds.to(tl.float16), x, of_k)
    tl.store(dv + head + j[:, None] * D + d[None, :], of_v.to(tl.float16))
    tl.store(dk + head + j[:, None] * D + d[None, :], (of_k * scale).to(tl.float16))


@triton.jit
def backward_queries(q, k, v, do, lse, delta, dq, n, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(1) * n * D
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    x = tl.load(q + head + i[:, None] * D + d[None, :])
    g = tl.load(do + head + i[:, None] * D + d[None, :])
    m = tl.load(lse + tl.program_id(1) * n + i)
    e = tl.load(delta + tl.program_id(1) * n + i)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        j = start + tl.arange(0, BLOCK)
        y = tl.load(k + head + j[None, :] * D + d[:, None])
        z = tl.load(v + head + j[None, :] * D + d[:, None])
        p = tl.exp2(tl.dot(x, y) * (scale * 1.4426950408889634) - m[:, None])
        p = tl.where(i[:, None] >= j[None, :], p, 0.0)
        ds = (p * (tl.dot(g, z) - e[:, None])).to(tl.float16)
        acc = tl.dot(ds, tl.trans(y), acc)
    tl.store(dq + head + i[:, None] * D + d[None, :], (acc * scale).to(tl.float16))


def gradients():
    shape, scale = (HEADS, ROWS, WIDTH), 0.25
    q, k, v, do = (draw("f16", shape, seed) for seed in (46, 47, 48, 49))
    s = causal_scores(q.values, k.values, scale)
    p = softmax(s)
    lse = rounded("f32", np.log2(np.exp(s).sum(-1)))
    delta = rounded("f32", (do.values * (p @ v.values)).sum(-1))
    ds = p * (do.values @ v.values.transpose(0, 2, 1) - delta[..., None])
    dq, dk, dv = ds @ k.values * scale, ds.transpose(0, 2, 1) @ q.values * scale, p.transpose(0, 2, 1) @ do.values
    return [q, k, v, do, given("f32", lse), given("f32", delta)], dq, dk, dv


def of_backward():
    args, dq, dk, dv = gradients()
    constants = {"D": WIDTH, "BLOCK": 32}
    grid, rest, shape = (ROWS // 32, HEADS, 1), [i32(ROWS), f32(0.25)], dq.shape
    # What is rounded to f16 in between moves the sums.
    yield Case("backward_keys", backward_keys, [*args, zeros("f16", shape), zeros("f16", shape), *rest], constants, grid, {6: (dk, 4e-3), 7: (dv, 4e-3)})
    yield Case("backward_queries", backward_queries, [*args, zeros("f16", shape), *rest], constants, grid, {6: (dq, 4e-3)})


@triton.jit
def described_attention(q, k, v, out, n, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, SPECIAL: tl.constexpr):
    i = tl.program_id(0) * M
    x = q.load([i, 0])
    acc = tl.zeros((M, D), dtype=tl.float32)
    best = tl.full((M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((M,), dtype=tl.float32)
    for j in tl.range(0, n, N, warp_specialize=SPECIAL):
        s = tl.dot(x, k.load([j, 0]).T) * scale
        new = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        keep = tl.exp2(best - new)
        total = total * keep + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), v.load([j, 0]), acc * keep[:, None])
        best = new
    out.store([i, 0], (acc / total[:, None]).to(tl.float16))


def of_described(name, special, targets):
    n, width, m = 192, 64, 128
    q, k, v = draw("f16", (m, width), 50), draw("f16", (n, width), 51), draw("f16", (n, width), 52)
    out = softmax(q.values @ k.values.T * 0.25 * np.log(2)) @ v.values
    args = [Described(q, (m, width)), Described(k, (64, width)), Described(v, (64, width)), Described(zeros("f16", (m, width)), (m, width)), i32(n), f32(0.25)]
    return Case(name, described_attention, args, {"D": width, "M": m, "N": 64, "SPECIAL": special}, (1, 1, 1), {3: (out, 2e-3)}, targets)


@triton.jit
def decoding(q, k, v, pages, out, lse, n, scale, D: tl.constexpr, HEADS: tl.constexpr, PAGE: tl.constexpr, PART: tl.constexpr):
    """One query a head against keys in pages, a part of them a block."""
    part = tl.program_id(0)
    h = tl.arange(0, HEADS)
    d = tl.arange(0, D)
    x = tl.load(q + h[:, None] * D + d[None, :])
    acc = tl.zeros((HEADS, D), dtype=tl.float32)
    best = tl.full((HEADS,), -1e30, dtype=tl.float32)
    total = tl.zeros((HEADS,), dtype=tl.float32)
    for start in range(part * PART, min((part + 1) * PART, n), PAGE):
        at = tl.arange(0, PAGE)
        rows = tl.load(pages + start // PAGE) * PAGE + at
        inside = start + at < n
        y = tl.load(k + rows[None, :] * D + d[:, None], mask=inside[None, :], other=0.0)
        s = tl.where(inside[None, :], tl.dot(x, y) * scale, -1e30)
        new = tl.maximum(best, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        keep = tl.exp(best - new)
        total = total * keep + tl.sum(p, 1)
        z = tl.load(v + rows[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(p.to(tl.bfloat16), z, acc * keep[:, None])
        best = new
    tl.store(out + (part * HEADS + h)[:, None] * D + d[None, :], acc / total[:, None])
    tl.store(lse + part * HEADS + h, best + tl.log(total))


@triton.jit
def combined(parts, lse, out, D: tl.constexpr, HEADS: tl.constexpr, PARTS: tl.constexpr):
    head = tl.program_id(0)
    part = tl.arange(0, PARTS)
    m = tl.load(lse + part * HEADS + head)
    w = tl.exp(m - tl.max(m, 0))
    v = tl.load(parts + (part * HEADS + head)[:, None] * D + tl.arange(0, D)[None, :])
    tl.store(out + head * D + tl.arange(0, D), tl.sum(v * w[:, None], 0) / tl.sum(w, 0))


def of_decoding():
    heads, width, n, page, part = 16, 32, 100, 16, 64
    table = [6, 0, 3, 5, 1, 4, 2]
    q, k, v = draw("bf16", (heads, width), 53), draw("bf16", (len(table) * page, width), 54), draw("bf16", (len(table) * page, width), 55)
    rows = np.concatenate([np.arange(p * page, (p + 1) * page) for p in table])[:n]
    s = q.values @ k.values[rows].T * 0.3
    parts = [range(0, part), range(part, n)]
    out = np.stack([softmax(s[:, p]) @ v.values[rows[p]] for p in parts])
    lse = np.stack([np.log(np.exp(s[:, p]).sum(1)) for p in parts])
    args = [q, k, v, given("s32", table), zeros("f32", out.shape), zeros("f32", lse.shape), i32(n), f32(0.3)]
    constants = {"D": width, "HEADS": heads, "PAGE": page, "PART": part}
    yield Case("decoding", decoding, args, constants, (2, 1, 1), {4: (out, 2.0**-7), 5: (lse, 1e-4)})
    parts, lse = draw("f32", (4, heads, width), 56), draw("f32", (4, heads), 57, -3, 3)
    w = softmax(lse.values.T)
    out = np.einsum("hp,phd->hd", w, parts.values)
    args = [parts, lse, zeros("f32", out.shape)]
    yield Case("combined", combined, args, {"D": width, "HEADS": heads, "PARTS": 4}, (heads, 1, 1), {2: (out, 1e-5)}, warps=2, options=APART)


@triton.jit
def window(q, k, v, out, n, cap, D: tl.constexpr, BLOCK: tl.constexpr, WINDOW: tl.constexpr):
    """Attention to the last few keys, with scores kept below a cap."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(max(tl.program_id(0) * BLOCK - WINDOW, 0) // BLOCK * BLOCK, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        j = start + tl.arange(0, BLOCK)
        s = tl.dot(x, tl.load(k + j[None, :] * D + d[:, None]))
        s = cap * (2 * tl.sigmoid(2 * s / cap) - 1)
        inside = (j[None, :] <= i[:, None]) & (j[None, :] > i[:, None] - WINDOW)
        p = tl.where(inside, tl.exp(s - cap), 0.0)
        total += tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), tl.load(v + j[:, None] * D + d[None, :]), acc)
    tl.store(out + i[:, None] * D + d[None, :], acc / total[:, None])


def of_window():
    n, width, reach, cap = 128, 32, 40, 5.0
    q, k, v = (draw("bf16", (n, width), seed) for seed in (58, 59, 60))
    i = np.arange(n)
    s = cap * np.tanh(q.values @ k.values.T / cap)
    s = np.where((i <= i[:, None]) & (i > i[:, None] - reach), s, -np.inf)
    args = [q, k, v, zeros("f32", (n, width)), i32(n), f32(cap)]
    return Case("window", window, args, {"D": width, "BLOCK": 32, "WINDOW": reach}, (4, 1, 1), {3: (softmax(s) @ v.values, 2.0**-7)})


@triton.jit
def linear_attention(q, k, v, decay, out, n, D: tl.constexpr, BLOCK: tl.constexpr):
    """out[i] = sum over j <= i of prod decay[j+1..i] (q[i] . k[j]) v[j], in chunks with a state between them."""
    d = tl.arange(0, D)
    i = tl.arange(0, BLOCK)
    state = tl.zeros((D, D), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = (start + i)[:, None] * D + d[None, :]
        x, y, z = tl.load(q + at), tl.load(k + at), tl.load(v + at)
        c = tl.cumsum(tl.load(decay + start + i), 0)
        w = tl.where(i[:, None] >= i[None, :], tl.exp(c[:, None] - c[None, :]), 0.0)
        s = tl.dot(x, y.T) * w
        acc = tl.dot(s.to(tl.float16), z)
        acc += tl.dot(x, state.to(tl.float16)) * tl.exp(c)[:, None]
        tl.store(out + at, acc)
        last = tl.sum(tl.load(decay + start + i), 0)
        y = (y * tl.exp(last - c)[:, None]).to(tl.float16)
        state = state * tl.exp(last) + tl.dot(y.T, z)


def of_linear_attention():
    n, width = 96, 32
    q, k, v = (draw("f16", (n, width), seed) for seed in (61, 62, 63))
    decay = draw("f32", n, 64, -0.2, 0)
    c = np.cumsum(decay.values)
    w = np.where(np.tril(np.ones((n, n), dtype=bool)), np.exp(c[:, None] - c[None, :]), 0)
    out = (q.values @ k.values.T * w) @ v.values
    args = [q, k, v, decay, zeros("f32", out.shape), i32(n)]
    return Case("linear_attention", linear_attention, args, {"D": width, "BLOCK": 32}, (1, 1, 1), {4: (out, 1e-2)})


def cases():
    yield from (of_forward(), of_before_backward())
    yield from of_backward()
    yield of_described("described_attention", False, MAPPED)
    yield of_described("specialised_attention", True, (100,))
    yield from of_decoding()
    yield from (of_window(), of_linear_attention())
