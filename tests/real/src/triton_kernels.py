"""Triton kernels, compiled without a GPU: python triton_kernels.py OUTPUT_FOLDER"""
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask, other=1.0), mask=mask)


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        x = tl.load(a + i[:, None] * k + (p + step)[None, :])
        y = tl.load(b + (p + step)[:, None] * n + j[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + i[:, None] * n + j[None, :], acc.to(tl.float16))


@triton.jit
def layernorm(x, w, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(i < n, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(out + row * n + i, (d * scale * tl.load(w + i, mask=i < n)).to(tl.bfloat16), mask=i < n)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + (tl.load(x + i, mask=i < n, other=0) & 63), 1, mask=i < n, sem="relaxed")
    tl.atomic_max(out + 64 + (i & 7), i)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.cumsum(tl.load(x + i), axis=0)
    tl.store(out + i, tl.sort(v) + tl.rand(7, i))


@triton.jit
def quantise(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.device_assert(n > 0, "empty")
    tl.store(out + i, tl.sigmoid(tl.erf(v) * 2).to(tl.float8e5), mask=i < n)


@triton.jit
def attention(q, k, v, out, n, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    best = tl.full((BLOCK,), -1e30, dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        s = tl.dot(query, tl.load(k + j[None, :] * D + d[:, None]))
        new = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        keep = tl.exp2(best - new)
        total = total * keep + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + j[:, None] * D + d[None, :]), acc * keep[:, None])
        best = new
    tl.store(out + i[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def blocks(a, b, out, k, M: tl.constexpr, K: tl.constexpr):
    acc = tl.zeros((M, M), dtype=tl.float32)
    for step in range(0, k, K):
        acc = tl.dot(a.load([tl.program_id(0) * M, step]), b.load([step, tl.program_id(1) * M]), acc)
    out.store([tl.program_id(0) * M, tl.program_id(1) * M], acc.to(tl.float16))


KERNELS = [
    (add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
    (softmax, {"out": "*fp32", "x": "*fp32", "stride": "i32", "n": "i32"}, {"BLOCK": 512}),
    (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp16", "m": "i32", "n": "i32", "k": "i32"}, {"M": 32, "N": 32, "K": 32}),
    (layernorm, {"x": "*bf16", "w": "*fp32", "out": "*bf16", "n": "i32", "eps": "fp32"}, {"BLOCK": 256}),
    (histogram, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 256}),
    (scan, {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 128}),
    (quantise, {"x": "*fp32", "out": "*fp8e5", "n": "i32"}, {"BLOCK": 512}),
    (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "n": "i32"}, {"D": 32, "BLOCK": 32}),
    (blocks, {"a": "tensordesc<fp16[64,64]>", "b": "tensordesc<fp16[64,64]>", "out": "tensordesc<fp16[64,64]>", "k": "i32"}, {"M": 64, "K": 64}),
]

for kernel, signature, constants in KERNELS:
    for target in (75, 80, 90, 100, 120):
        if kernel is blocks and target < 90 or kernel is quantise and target < 80:
            continue
        attrs = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(signature.values()) if t.startswith("*") or t == "i32"}
        signature_all = signature | {name: "constexpr" for name in constants}
        source = ASTSource(fn=kernel, signature=signature_all, constexprs=constants, attrs=attrs)
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"num_warps": 4, "ptx_version": 90 if target >= 90 else 88})
        except Exception as error:
            print(f"{kernel.__name__} for {target}: {str(error)[:200]}", file=sys.stderr)
            continue
        (pathlib.Path(sys.argv[1]) / f"{kernel.__name__}.sm_{target}.ptx").write_text(compiled.asm["ptx"])
