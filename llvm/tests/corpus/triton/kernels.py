"""Kernels of Triton that tests compile from the LLVM IR which Triton makes of them."""

import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, RELU: tl.constexpr):
    """C = A B in tiles, what lies outside of the matrices left out; negative elements by 1/64 if RELU."""
    columns = tl.cdiv(N, BN)
    row, column = tl.program_id(0) // columns, tl.program_id(0) % columns
    m, n, k = (row * BM + tl.arange(0, BM)) % M, (column * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    ap, bp = a + m[:, None] * sam + k[None, :] * sak, b + k[:, None] * sbk + n[None, :] * sbn
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=k[None, :] < K - at * BK, other=0.0)
        y = tl.load(bp, mask=k[:, None] < K - at * BK, other=0.0)
        sums = tl.dot(x, y, sums)
        ap += BK * sak
        bp += BK * sbk
    if RELU:
        sums = tl.where(sums >= 0, sums, sums * 0.015625)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    at = c + scm * m[:, None] + scn * n[None, :]
    tl.store(at, sums.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention(q, k, v, o, scale, stride, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Softmax(Q K^T) V, a block of keys at a time."""
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    most = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32) + 1.0
    sums = tl.zeros([BM, D], dtype=tl.float32)
    queries = tl.load(q + m[:, None] * stride + d[None, :])
    for start in range(0, N, BN):
        keys = tl.load(k + (start + n)[None, :] * stride + d[:, None])
        weights = tl.dot(queries, keys)
        higher = tl.maximum(most, tl.max(weights, 1) * scale)
        weights = tl.math.exp2(weights * scale - higher[:, None])
        less = tl.math.exp2(most - higher)
        total = total * less + tl.sum(weights, 1)
        values = tl.load(v + (start + n)[:, None] * stride + d[None, :])
        sums = tl.dot(weights.to(tl.float16), values, sums * less[:, None])
        most = higher
    tl.store(o + m[:, None] * stride + d[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def softmax(o, x, stride, n, B: tl.constexpr):
    """Each row's exponentials, divided by their sum."""
    c = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * stride + c, mask=c < n, other=-float("inf"))
    e = tl.math.exp2((row - tl.max(row, axis=0)) * 1.4426950408889634)
    tl.store(o + tl.program_id(0) * stride + c, e / tl.sum(e, axis=0), mask=c < n)


@triton.jit
def norm(x, w, o, stride, n, B: tl.constexpr):
    """Rows of halves, each less its mean and divided by what its elements differ from it, times weights."""
    x, o = x + tl.program_id(0) * stride, o + tl.program_id(0) * stride
    c = tl.arange(0, B)
    row = tl.load(x + c, mask=c < n, other=0.0).to(tl.float32)
    mean = tl.sum(row, axis=0) / n
    apart = tl.where(c < n, row - mean, 0.0)
    scale = tl.sum(tl.abs(apart), axis=0) / n
    y = (apart / scale).to(tl.float16) * tl.load(w + c, mask=c < n, other=0.0)
    tl.store(o + c, y, mask=c < n)


@triton.jit
def outer(x, w, o, n, C: tl.constexpr, BO: tl.constexpr, BP: tl.constexpr):
    """Sums of outer products, in pairs of floats where the target has them."""
    p, q = tl.program_id(0) * BP + tl.arange(0, BP), tl.arange(0, BO)
    sums = tl.zeros((BO, BP), dtype=tl.float32)
    for c in range(C):
        a = tl.load(x + c * n + p, mask=p < n, other=0.0)
        b = tl.load(w + c * BO + q)
        sums += b[:, None] * a[None, :]
    tl.store(o + q[:, None] * n + p[None, :], sums, mask=(p < n)[None, :])
