"""Products of matrices."""
import numpy as np
import triton
import triton.language as tl

from case import ALL, MAPPED, Case, Described, draw, f32, given, i32, zeros
from numbers_of import rounded


@triton.jit
def batched(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c[z] = a[z] b[z]^T, tiles at the edges cut off."""
    z = tl.program_id(2)
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        q = step * K + p
        x = tl.load(a + z * m * k + i[:, None] * k + q[None, :], mask=(i[:, None] < m) & (q[None, :] < k), other=0.0)
        y = tl.load(b + z * n * k + j[:, None] * k + q[None, :], mask=(j[:, None] < n) & (q[None, :] < k), other=0.0)
        acc = tl.dot(x, y.T, acc)
    tl.store(c + z * m * n + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


def of_batched():
    z, m, n, k = 3, 40, 52, 72
    a, b = draw("f16", (z, m, k), 1), draw("f16", (z, n, k), 2)
    c = np.einsum("zik,zjk->zij", a.values, b.values)
    constants = {"M": 32, "N": 32, "K": 32}
    return Case("batched", batched, [a, b, zeros("f32", c.shape), i32(m), i32(n), i32(k)], constants, (2, 2, z), {2: (c, 1e-5)})


@triton.jit
def split_k(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SPLIT: tl.constexpr):
    """Blocks that share a tile add their sums to it."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.program_id(2) * K + tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K * SPLIT):
        x = tl.load(a + i[:, None] * k + (p + step)[None, :])
        y = tl.load(b + (p + step)[:, None] * n + j[None, :])
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + i[:, None] * n + j[None, :], acc, sem="relaxed")


def of_split_k():
    m, n, k = 64, 32, 512
    a, b = draw("bf16", (m, k), 3), draw("bf16", (k, n), 4)
    constants = {"M": 32, "N": 32, "K": 32, "SPLIT": 4}
    return Case("split_k", split_k, [a, b, zeros("f32", (m, n)), i32(m), i32(n), i32(k)], constants, (2, 1, 4), {2: (a.values @ b.values, 1e-4)})


@triton.jit
def grouped(a, b, c, sizes, groups, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Products of several sizes by as many blocks as there are: `sizes` has m, n, k and where each matrix begins."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        m, n, k = tl.load(sizes + g * 6), tl.load(sizes + g * 6 + 1), tl.load(sizes + g * 6 + 2)
        of_a, of_b, of_c = tl.load(sizes + g * 6 + 3), tl.load(sizes + g * 6 + 4), tl.load(sizes + g * 6 + 5)
        across = tl.cdiv(n, N)
        count = tl.cdiv(m, M) * across
        while tile >= before and tile < before + count:
            i = (tile - before) // across * M + tl.arange(0, M)
            j = (tile - before) % across * N + tl.arange(0, N)
            acc = tl.zeros((M, N), dtype=tl.float32)
            for step in range(0, tl.cdiv(k, K)):
                p = step * K + tl.arange(0, K)
                x = tl.load(a + of_a + i[:, None] * k + p[None, :], mask=(i[:, None] < m) & (p[None, :] < k), other=0.0)
                y = tl.load(b + of_b + p[:, None] * n + j[None, :], mask=(p[:, None] < k) & (j[None, :] < n), other=0.0)
                acc = tl.dot(x, y, acc)
            tl.store(c + of_c + i[:, None] * n + j[None, :], acc.to(tl.float16), mask=(i[:, None] < m) & (j[None, :] < n))
            tile += tl.num_programs(0)
        before += count


def of_grouped():
    sizes = [(48, 32, 64), (16, 80, 32), (70, 24, 40)]
    rows, at = [], [0, 0, 0]
    for m, n, k in sizes:
        rows.append([m, n, k, *at])
        at = [at[0] + m * k, at[1] + k * n, at[2] + m * n]
    a, b = draw("f16", at[0], 5), draw("f16", at[1], 6)
    c = [(a.values[x:x + m * k].reshape(m, k) @ b.values[y:y + k * n].reshape(k, n)).reshape(-1) for m, n, k, x, y, _ in rows]
    args = [a, b, zeros("f16", at[2]), given("s32", rows), i32(len(sizes))]
    return Case("grouped", grouped, args, {"M": 32, "N": 32, "K": 32}, (3, 1, 1), {2: (np.concatenate(c), 1e-3)})


@triton.jit
def biased(a, b, bias, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    """gelu(a b + bias), tiles in groups of rows so that caches are used twice."""
    pid = tl.program_id(0)
    down, across = tl.cdiv(m, M), tl.cdiv(n, N)
    group = pid // (GROUP * across)
    rows = min(down - group * GROUP, GROUP)
    i = (group * GROUP + pid % (GROUP * across) % rows) * M + tl.arange(0, M)
    j = pid % (GROUP * across) // rows * N + tl.arange(0, N)
    p = tl.arange(0, K)
    x = a + (i % m)[:, None] * k + p[None, :]
    y = b + p[:, None] * n + (j % n)[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        acc = tl.dot(tl.load(x, mask=p[None, :] < k - step * K, other=0.0), tl.load(y, mask=p[:, None] < k - step * K, other=0.0), acc)
        x += K
        y += K * n
    acc += tl.load(bias + j, mask=j < n, other=0.0)[None, :]
    acc = 0.5 * acc * (1 + tl.erf(acc * 0.7071067811865476))
    tl.store(c + i[:, None] * n + j[None, :], acc.to(c.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


def of_biased():
    from scipy.special import erf
    m, n, k = 100, 72, 48
    a, b, bias = draw("bf16", (m, k), 7), draw("bf16", (k, n), 8), draw("f32", n, 9)
    s = a.values @ b.values + bias.values
    args = [a, b, bias, zeros("bf16", (m, n)), i32(m), i32(n), i32(k)]
    constants = {"M": 32, "N": 32, "K": 32, "GROUP": 2}
    return Case("biased", biased, args, constants, (12, 1, 1), {3: (0.5 * s * (1 + erf(s * 0.5**0.5)), 2.0**-7)}, options={"num_stages": 4})


@triton.jit
def device_described(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A persistent product; each block makes the tensor maps itself."""
    of_a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    of_b = tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K])
    of_c = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    across = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0)):
        i, j = tile // across * M, tile % across * N
        acc = tl.zeros((M, N), dtype=tl.float32)
        for step in range(0, k, K):
            acc = tl.dot(of_a.load([i, step]), of_b.load([j, step]).T, acc)
        of_c.store([i, j], acc.to(tl.float16))


def of_device_described():
    m, n, k = 112, 96, 128
    a, b = draw("f16", (m, k), 10), draw("f16", (n, k), 11)
    args = [a, b, zeros("f16", (m, n)), i32(m), i32(n), i32(k)]
    return Case("device_described", device_described, args, {"M": 64, "N": 64, "K": 64}, (3, 1, 1), {2: (a.values @ b.values.T, 1e-3)})


@triton.jit
def described(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        acc = tl.dot(a.load([step, i]).T, b.load([step, j]), acc)
    c.store([i, j], acc)


def of_described():
    """Both operands with rows of what is not summed over, eight warps."""
    m, n, k = 128, 128, 160
    a, b = draw("bf16", (k, m), 12), draw("bf16", (k, n), 13)
    args = [Described(a, (32, 128)), Described(b, (32, 64)), Described(zeros("f32", (m, n)), (128, 64)), i32(k)]
    return Case("described", described, args, {"M": 128, "N": 64, "K": 32}, (1, 2, 1), {2: (a.values.T @ b.values, 1e-5)}, MAPPED, 8)


@triton.jit
def specialised(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A persistent product whose warps have parts: some load, some multiply, some store."""
    across = tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0), warp_specialize=True, flatten=True):
        i, j = tile // across * M, tile % across * N
        acc = tl.zeros((M, N), dtype=tl.float32)
        for step in range(0, k, K):
            acc = tl.dot(a.load([i, step]), b.load([j, step]).T, acc)
        c.store([i, j], acc.to(tl.float16))


def of_specialised():
    m, n, k = 256, 128, 192
    a, b = draw("f16", (m, k), 14), draw("f16", (n, k), 15)
    args = [Described(a, (128, 64)), Described(b, (64, 64)), Described(zeros("f16", (m, n)), (128, 64)), i32(m), i32(n), i32(k)]
    return Case("specialised", specialised, args, {"M": 128, "N": 64, "K": 64}, (2, 1, 1), {2: (a.values @ b.values.T, 1e-3)}, (90, 100), options={"num_stages": 3})


@triton.jit
def dequantised(a, sa, b, sb, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Bytes with a scale for each row and each column."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.int32)
    for step in range(0, k, K):
        acc = tl.dot(tl.load(a + i[:, None] * k + (p + step)[None, :]), tl.load(b + j[None, :] * k + (p + step)[:, None]), acc)
    v = acc.to(tl.float32) * tl.load(sa + i)[:, None] * tl.load(sb + j)[None, :]
    tl.store(c + i[:, None] * n + j[None, :], v.to(tl.float16))


def of_dequantised():
    m, n, k = 64, 64, 128
    a, b = draw("s8", (m, k), 16, -128, 127), draw("s8", (n, k), 17, -128, 127)
    sa, sb = draw("f32", m, 18, 0.001, 0.01), draw("f32", n, 19, 0.001, 0.01)
    c = (a.values @ b.values.T) * sa.values[:, None] * sb.values[None, :]
    args = [a, sa, b, sb, zeros("f16", (m, n)), i32(m), i32(n), i32(k)]
    return Case("dequantised", dequantised, args, {"M": 32, "N": 32, "K": 64}, (2, 2, 1), {4: (c, 1e-3)})


@triton.jit
def four_bits(a, b, sb, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    """Weights of four bits, two in a byte, with a scale for each group of them."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        p = step + tl.arange(0, K)
        h = step // 2 + tl.arange(0, K // 2)
        x = tl.load(a + i[:, None] * k + p[None, :])
        w = tl.load(b + j[:, None] * (k // 2) + h[None, :])
        w = tl.join((w & 15).to(tl.int8), (w >> 4).to(tl.int8)).reshape(N, K) - 8
        s = tl.load(sb + j * (k // GROUP) + step // GROUP)
        acc = tl.dot(x, (w.to(tl.float16) * s[:, None]).T, acc)
    tl.store(c + i[:, None] * n + j[None, :], acc)


def of_four_bits():
    m, n, k, group = 32, 64, 128, 64
    a, b, s = draw("f16", (m, k), 20), draw("u8", (n, k // 2), 21, 0, 255), draw("f16", (n, k // group), 22, 0.05, 0.2)
    w = np.stack([b.values & 15, b.values >> 4], -1).reshape(n, k) - 8
    w = rounded("f16", w * np.repeat(s.values, group, 1))
    args = [a, b, s, zeros("f32", (m, n)), i32(m), i32(n), i32(k)]
    return Case("four_bits", four_bits, args, {"M": 32, "N": 32, "K": 32, "GROUP": group}, (1, 2, 1), {3: (a.values @ w.T, 1e-5)})


@triton.jit
def block_scaled(a, sa, b, sb, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Bytes of floats; each row of 64 and each square of 64 has an f32 scale, applied to partial sums."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k // K):
        p = step * K + tl.arange(0, K)
        x = tl.load(a + i[:, None] * k + p[None, :])
        y = tl.load(b + j[None, :] * k + p[:, None])
        u = tl.load(sa + i * (k // K) + step)
        v = tl.load(sb + tl.program_id(1) * (k // K) + step)
        acc += tl.dot(x, y) * u[:, None] * v
    tl.store(c + i[:, None] * n + j[None, :], acc.to(tl.bfloat16))


def of_block_scaled():
    m, n, k = 64, 128, 192
    a, b = draw("e4m3", (m, k), 23, -8, 8), draw("e4m3", (n, k), 24, -8, 8)
    sa, sb = draw("f32", (m, k // 64), 25, 0.01, 0.1), draw("f32", (n // 64, k // 64), 26, 0.01, 0.1)
    c = (a.values * np.repeat(sa.values, 64, 1)) @ (b.values * np.kron(sb.values, np.ones((64, 64)))).T
    args = [a, sa, b, sb, zeros("bf16", (m, n)), i32(m), i32(n), i32(k)]
    # Sums of bytes keep 13 bits on Ada and Hopper.
    return Case("block_scaled", block_scaled, args, {"M": 64, "N": 64, "K": 64}, (1, 2, 1), {4: (c, 2.0**-7)}, (89, 90, 100, 120))


@triton.jit
def thrice(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HOW: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        x = tl.load(a + i[:, None] * k + (p + step)[None, :])
        y = tl.load(b + (p + step)[:, None] * n + j[None, :])
        acc = tl.dot(x, y, acc, input_precision=HOW)
    tl.store(c + i[:, None] * n + j[None, :], acc)


def of_thrice(name, how, tolerance, targets):
    m, n, k = 32, 32, 96
    a, b = draw("f32", (m, k), 27), draw("f32", (k, n), 28)
    args = [a, b, zeros("f32", (m, n)), i32(m), i32(n), i32(k)]
    return Case(name, thrice, args, {"M": 32, "N": 32, "K": 32, "HOW": how}, (1, 1, 1), {2: (a.values @ b.values, tolerance)}, targets)


@triton.jit
def convolution(x, w, out, height, width, channels, kernels, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, R: tl.constexpr):
    """A convolution with R x R windows, as a product with rows that are gathered."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    row, column = i // width, i % width
    acc = tl.zeros((M, N), dtype=tl.float32)
    for at in range(R * R):
        y, z = row + at // R - R // 2, column + at % R - R // 2
        inside = (y >= 0) & (y < height) & (z >= 0) & (z < width)
        for step in range(0, channels, K):
            p = step + tl.arange(0, K)
            a = tl.load(x + ((y * width + z) * channels)[:, None] + p[None, :], mask=inside[:, None], other=0.0)
            b = tl.load(w + (at * channels + p)[:, None] * kernels + j[None, :])
            acc = tl.dot(a, b, acc)
    tl.store(out + i[:, None] * kernels + j[None, :], acc.to(tl.float16), mask=(i < height * width)[:, None])


def of_convolution():
    h, w, c, kernels, r = 9, 11, 32, 32, 3
    x, f = draw("f16", (h, w, c), 29), draw("f16", (r, r, c, kernels), 30)
    padded = np.pad(x.values, ((1, 1), (1, 1), (0, 0)))
    out = sum(padded[y:y + h, z:z + w] @ f.values[y, z] for y in range(r) for z in range(r))
    args = [x, f, zeros("f16", out.shape), i32(h), i32(w), i32(c), i32(kernels)]
    return Case("convolution", convolution, args, {"M": 64, "N": 32, "K": 32, "R": r}, (2, 1, 1), {2: (out, 1e-3)})


@triton.jit
def matvec(a, x, y, m, k, M: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    acc = tl.zeros((M, K), dtype=tl.float32)
    for step in range(0, k, K):
        p = step + tl.arange(0, K)
        acc += tl.load(a + i[:, None] * k + p[None, :], mask=p[None, :] < k, other=0.0).to(tl.float32) * tl.load(x + p, mask=p < k, other=0.0)[None, :]
    tl.store(y + i, tl.sum(acc, 1))


def of_matvec():
    a, x = draw("bf16", (64, 300), 31), draw("f32", 300, 32)
    args = [a, x, zeros("f32", 64), i32(64), i32(300)]
    return Case("matvec", matvec, args, {"M": 16, "K": 128}, (4, 1, 1), {2: (a.values @ x.values, 1e-5)})


@triton.jit
def nv_scaled(a, sa, b, sb, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """NVFP4: four bits, and a scale of e4m3 for sixteen of them."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K // 2)
    s = tl.arange(0, K // 16)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        x = tl.load(a + i[:, None] * (k // 2) + (p + step // 2)[None, :])
        y = tl.load(b + j[:, None] * (k // 2) + (p + step // 2)[None, :])
        u = tl.load(sa + i[:, None] * (k // 16) + (s + step // 16)[None, :])
        v = tl.load(sb + j[:, None] * (k // 16) + (s + step // 16)[None, :])
        acc = tl.dot_scaled(x, u, "e2m1", y.T, v, "e2m1", acc)
    tl.store(c + i[:, None] * n + j[None, :], acc)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def of_nv_scaled():
    m, n, k = 128, 64, 128
    a, b = draw("u8", (m, k // 2), 33, 0, 255), draw("u8", (n, k // 2), 34, 0, 255)
    sa, sb = draw("e4m3", (m, k // 16), 35, 0.1, 3), draw("e4m3", (n, k // 16), 36, 0.1, 3)
    wide = lambda v, s: E2M1[np.stack([v & 15, v >> 4], -1).reshape(len(v), k)] * np.repeat(s, 16, 1)
    c = wide(a.values, sa.values) @ wide(b.values, sb.values).T
    args = [a, sa, b, sb, zeros("f32", (m, n)), i32(n), i32(k)]
    return Case("nv_scaled", nv_scaled, args, {"M": 128, "N": 64, "K": 128}, (1, 1, 1), {4: (c, 1e-4)}, (100, 120))


@triton.jit
def mx_scaled(a, sa, b, sb, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr, PACK: tl.constexpr):
    """MX formats: a power of two as the scale of thirty-two."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K // PACK)
    s = tl.arange(0, K // 32)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        x = tl.load(a + i[:, None] * (k // PACK) + (p + step // PACK)[None, :])
        y = tl.load(b + j[:, None] * (k // PACK) + (p + step // PACK)[None, :])
        u = tl.load(sa + i[:, None] * (k // 32) + (s + step // 32)[None, :])
        v = tl.load(sb + j[:, None] * (k // 32) + (s + step // 32)[None, :])
        acc = tl.dot_scaled(x, u, TYPE, y.T, v, TYPE, acc)
    tl.store(c + i[:, None] * n + j[None, :], acc)


def of_mx_scaled(name, type_, targets):
    m, n, k = 128, 64, 256
    pack = 2 if type_ == "e2m1" else 1
    if pack == 2:
        a, b = draw("u8", (m, k // 2), 37, 0, 255), draw("u8", (n, k // 2), 38, 0, 255)
        x, y = (E2M1[np.stack([v.values & 15, v.values >> 4], -1).reshape(len(v.values), k)] for v in (a, b))
    else:
        a, b = draw(type_, (m, k), 37, -8, 8), draw(type_, (n, k), 38, -8, 8)
        x, y = a.values, b.values
    sa, sb = draw("u8", (m, k // 32), 39, 120, 130), draw("u8", (n, k // 32), 40, 120, 130)
    wide = lambda v, s: v * np.repeat(np.exp2(s.values - 127.0), 32, 1)
    c = wide(x, sa) @ wide(y, sb).T
    args = [a, sa, b, sb, zeros("f32", (m, n)), i32(n), i32(k)]
    # A sum's terms are up to 2**20: what is far below 1 beside them is lost.
    return Case(name, mx_scaled, args, {"M": 128, "N": 64, "K": 128, "TYPE": type_, "PACK": pack}, (1, 1, 1), {4: (c, 0.03)}, targets)


def cases():
    yield from (of_batched(), of_split_k(), of_grouped(), of_biased(), of_device_described(), of_described(), of_specialised())
    yield from (of_dequantised(), of_four_bits(), of_block_scaled(), of_convolution(), of_matvec(), of_nv_scaled())
    yield of_thrice("tf32x3", "tf32x3", 1e-5, (80, 90, 100, 120))
    yield of_thrice("tf32", "tf32", 2.0**-7, (80, 90, 100, 120))
    yield of_mx_scaled("mx8_scaled", "e4m3", (89, 90, 100, 120))
    yield of_mx_scaled("mx4_scaled", "e2m1", (80, 90, 100, 120))
    yield of_thrice("ieee", "ieee", 1e-5, (80, 90))
