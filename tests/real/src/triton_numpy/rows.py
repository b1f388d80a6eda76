"""Norms, softmax, losses: what reduces rows."""
import numpy as np
import triton
import triton.language as tl

from attention import APART, softmax
from case import ALL, Case, draw, f32, given, i32, zeros


@triton.jit
def rmsnorm(x, residual, w, out, n, eps, BLOCK: tl.constexpr):
    """Adds into the residual and norms the sum."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32) + tl.load(residual + row * n + i, mask=i < n, other=0.0)
    tl.store(residual + row * n + i, v, mask=i < n)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(out + row * n + i, (v * scale * tl.load(w + i, mask=i < n)).to(tl.bfloat16), mask=i < n)


def of_rmsnorm():
    rows, n = 3, 200
    x, r, w = draw("bf16", (rows, n), 71), draw("f32", (rows, n), 72), draw("f32", n, 73)
    v = x.values + r.values
    out = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) * w.values
    args = [x, r, w, zeros("bf16", v.shape), i32(n), f32(1e-5)]
    return Case("rmsnorm", rmsnorm, args, {"BLOCK": 256}, (rows, 1, 1), {1: (v, 1e-6), 3: (out, 2.0**-8)})


@triton.jit
def layernorm_backward(x, dy, w, dx, dw, db, locks, n, eps, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Gradients of the input, and partial ones of weights and bias that rows add to under a lock."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + row * n + i, mask=inside, other=0.0).to(tl.float32)
    g = tl.load(dy + row * n + i, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    centred = tl.where(inside, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + eps)
    hat = centred * scale
    wg = tl.load(w + i, mask=inside, other=0.0) * g
    c1, c2 = tl.sum(hat * wg, 0) / n, tl.sum(wg, 0) / n
    tl.store(dx + row * n + i, ((wg - (hat * c1 + c2)) * scale).to(tl.float16), mask=inside)
    group = row % GROUP
    lock, count = locks + group, locks + GROUP + group
    of_w, of_b = g * hat, g
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    seen = tl.load(count)
    if seen == 0:
        tl.atomic_xchg(count, 1)
    else:
        of_w += tl.load(dw + group * n + i, mask=inside)
        of_b += tl.load(db + group * n + i, mask=inside)
    tl.store(dw + group * n + i, of_w, mask=inside)
    tl.store(db + group * n + i, of_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def summed(partial, out, m, n, M: tl.constexpr, N: tl.constexpr):
    j = tl.program_id(0) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, m, M):
        i = start + tl.arange(0, M)
        acc += tl.load(partial + i[:, None] * n + j[None, :], mask=(i[:, None] < m) & (j[None, :] < n), other=0.0)
    tl.store(out + j, tl.sum(acc, 0), mask=j < n)


def of_layernorm_backward():
    rows, n, group = 7, 100, 2
    x, dy, w = draw("f16", (rows, n), 74), draw("f16", (rows, n), 75), draw("f32", n, 76)
    centred = x.values - x.values.mean(1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    hat, wg = centred * scale, w.values * dy.values
    dx = (wg - hat * (hat * wg).mean(1, keepdims=True) - wg.mean(1, keepdims=True)) * scale
    sums = lambda v: np.stack([v[g::group].sum(0) for g in range(group)])
    dw, db = sums(dy.values * hat), sums(dy.values)
    args = [x, dy, w, zeros("f16", x.values.shape), zeros("f32", dw.shape), zeros("f32", db.shape), zeros("s32", 2 * group), i32(n), f32(1e-5)]
    out = {3: (dx, 2e-3), 4: (dw, 1e-5), 5: (db, 1e-5)}
    yield Case("layernorm_backward", layernorm_backward, args, {"GROUP": group, "BLOCK": 128}, (rows, 1, 1), out, options=APART)
    partial = draw("f32", (37, 90), 77)
    args = [partial, zeros("f32", 90), i32(37), i32(90)]
    yield Case("summed", summed, args, {"M": 16, "N": 64}, (2, 1, 1), {1: (partial.values.sum(0), 1e-5)})


@triton.jit
def together(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    part = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * part, m2_a + m2_b + delta * delta * count_a * part, count


@triton.jit
def groupnorm(x, w, out, channels, pixels, eps, C: tl.constexpr, P: tl.constexpr):
    """Mean and variance of a group of channels by Welford's update, as a reduction of triples."""
    group = tl.program_id(0)
    c = tl.arange(0, C)
    p = tl.arange(0, P)
    inside = (c[:, None] < channels) & (p[None, :] < pixels)
    at = (group * channels + c)[:, None] * pixels + p[None, :]
    v = tl.load(x + at, mask=inside, other=0.0)
    one = inside.to(tl.float32)
    mean, m2, count = tl.reduce((v.reshape(C * P), tl.zeros((C * P,), dtype=tl.float32), one.reshape(C * P)), 0, together)
    y = (v - mean) * tl.rsqrt(m2 / count + eps) * tl.load(w + group * channels + c, mask=c < channels)[:, None]
    tl.store(out + at, y, mask=inside)


def of_groupnorm():
    groups, channels, pixels = 2, 6, 50
    x, w = draw("f32", (groups, channels, pixels), 78, 1, 3), draw("f32", (groups, channels), 79)
    v = x.values.reshape(groups, -1)
    mean, variance = v.mean(1)[:, None, None], v.var(1)[:, None, None]
    out = (x.values - mean) / np.sqrt(variance + 1e-5) * w.values[:, :, None]
    args = [x, w, zeros("f32", x.values.shape), i32(channels), i32(pixels), f32(1e-5)]
    return Case("groupnorm", groupnorm, args, {"C": 8, "P": 64}, (groups, 1, 1), {2: (out, 1e-5)})


@triton.jit
def wide_softmax(x, out, n, BLOCK: tl.constexpr):
    """Rows wider than a block: one pass for maximum and sum, another for the quotients."""
    row = tl.program_id(0)
    best = float("-inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=float("-inf")).to(tl.float32)
        new = tl.maximum(best, tl.max(v, 0))
        total = total * tl.exp(best - new) + tl.sum(tl.exp(v - new), 0)
        best = new
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
        tl.store(out + row * n + i, tl.exp(v - best) / total, mask=i < n)


def of_wide_softmax():
    x = draw("f16", (2, 1500), 80, -8, 8)
    args = [x, zeros("f32", x.values.shape), i32(1500)]
    return Case("wide_softmax", wide_softmax, args, {"BLOCK": 512}, (2, 1, 1), {1: (softmax(x.values), 1e-6)})


@triton.jit
def softmax_backward(y, dy, dx, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    a = tl.load(y + row * n + i, mask=i < n, other=0.0)
    b = tl.load(dy + row * n + i, mask=i < n, other=0.0)
    tl.store(dx + row * n + i, a * (b - tl.sum(a * b, 0)), mask=i < n)


def of_softmax_backward():
    y, dy = draw("f32", (4, 77), 81, 0, 0.1), draw("f32", (4, 77), 82)
    dx = y.values * (dy.values - (y.values * dy.values).sum(1, keepdims=True))
    args = [y, dy, zeros("f32", (4, 77)), i32(77)]
    return Case("softmax_backward", softmax_backward, args, {"BLOCK": 128}, (4, 1, 1), {2: (dx, 1e-6)}, warps=1)


@triton.jit
def cross_entropy(logits, labels, loss, n, ignored, smoothing, BLOCK: tl.constexpr):
    """The loss of each row; the logits become its gradient."""
    row = tl.program_id(0)
    label = tl.load(labels + row)
    i = tl.arange(0, BLOCK)
    if label == ignored:
        tl.store(logits + row * n + i, 0.0, mask=i < n)
        tl.store(loss + row, 0.0)
        return
    v = tl.load(logits + row * n + i, mask=i < n, other=float("-inf"))
    best = tl.max(v, 0)
    total = tl.sum(tl.exp(v - best), 0)
    lse = best + tl.log(total)
    mean = tl.sum(tl.where(i < n, v, 0.0), 0) / n
    tl.debug_barrier()
    tl.store(loss + row, lse - (1 - smoothing) * tl.load(logits + row * n + label) - smoothing * mean)
    tl.debug_barrier()
    g = tl.exp(v - lse) - smoothing / n
    tl.store(logits + row * n + i, tl.where(i == label, g - (1 - smoothing), g), mask=i < n)


def of_cross_entropy():
    rows, n, smoothing = 5, 150, float(np.float32(0.1))
    x = draw("f32", (rows, n), 83, -4, 4)
    labels = [3, 149, -100, 0, 77]
    lse = np.log(np.exp(x.values).sum(1))
    picked = x.values[np.arange(rows), np.maximum(labels, 0)]
    loss = lse - (1 - smoothing) * picked - smoothing * x.values.mean(1)
    g = np.exp(x.values - lse[:, None]) - smoothing / n
    g[np.arange(rows), np.maximum(labels, 0)] -= 1 - smoothing
    keep = np.array(labels) != -100
    args = [x, given("s32", labels), zeros("f32", rows), i32(n), i32(-100), f32(smoothing)]
    out = {0: (g * keep[:, None], 1e-6), 2: (loss * keep, 1e-5)}
    return Case("cross_entropy", cross_entropy, args, {"BLOCK": 256}, (rows, 1, 1), out)


@triton.jit
def best_of_rows(x, values, indices, n, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    tl.store(values + row * K + tl.arange(0, K), tl.topk(v, K))
    best, at = tl.max(v, 0, return_indices=True)
    tl.store(indices + row * 2, at)
    least = tl.argmin(tl.where(i < n, v, float("inf")), 0)
    tl.store(indices + row * 2 + 1, least)


def of_best_of_rows():
    x = draw("f32", (4, 100), 84)
    values = -np.sort(-x.values, 1)[:, :8]
    indices = np.stack([x.values.argmax(1), x.values.argmin(1)], 1)
    args = [x, zeros("f32", values.shape), zeros("s32", indices.shape), i32(100)]
    return Case("best_of_rows", best_of_rows, args, {"BLOCK": 128, "K": 8}, (4, 1, 1), {1: (values, 0), 2: (indices, 0)})


@triton.jit
def nearest(x, centres, labels, sums, counts, n, D: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr):
    """A step of k-means: the nearest centre of each point, and sums of points by centre."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d, k = tl.arange(0, D), tl.arange(0, K)
    p = tl.load(x + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
    c = tl.load(centres + k[None, :] * D + d[:, None])
    distance = tl.sum(c * c, 0)[None, :] - 2 * tl.dot(p, c, input_precision="ieee")
    label = tl.argmin(distance, 1)
    tl.store(labels + i, label, mask=i < n)
    tl.atomic_add(sums + label[:, None] * D + d[None, :], p, mask=i[:, None] < n)
    tl.atomic_add(counts + label, 1, mask=i < n)


def of_nearest():
    n, width, k = 90, 16, 16
    x, c = draw("f32", (n, width), 85), draw("f32", (k, width), 86)
    labels = ((x.values[:, None] - c.values[None]) ** 2).sum(-1).argmin(1)
    sums = np.stack([x.values[labels == j].sum(0) for j in range(k)])
    args = [x, c, zeros("s32", n), zeros("f32", (k, width)), zeros("s32", k), i32(n)]
    out = {2: (labels, 0), 3: (sums, 1e-5), 4: (np.bincount(labels, minlength=k), 0)}
    return Case("nearest", nearest, args, {"D": width, "K": k, "BLOCK": 32}, (3, 1, 1), out)


@triton.jit
def layernorm(x, w, b, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    centred = tl.where(i < n, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + eps)
    y = centred * scale * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n)
    tl.store(out + row * n + i, y.to(tl.float16), mask=i < n)


def of_layernorm():
    rows, n = 4, 300
    x, w, b = draw("f16", (rows, n), 87), draw("f32", n, 88), draw("f32", n, 89)
    centred = x.values - x.values.mean(1, keepdims=True)
    out = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * w.values + b.values
    args = [x, w, b, zeros("f16", out.shape), i32(n), f32(1e-5)]
    return Case("layernorm", layernorm, args, {"BLOCK": 512}, (rows, 1, 1), {3: (out, 1e-3)})


def cases():
    yield from (of_layernorm(), of_rmsnorm())
    yield from of_layernorm_backward()
    yield from (of_groupnorm(), of_wide_softmax(), of_softmax_backward(), of_cross_entropy(), of_best_of_rows(), of_nearest())
