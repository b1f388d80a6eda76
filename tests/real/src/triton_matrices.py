"""Triton kernels for tensor cores, compiled without a GPU: python triton_matrices.py OUTPUT_FOLDER"""
import os
import pathlib
import sys

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURN_A: tl.constexpr, TURN_B: tl.constexpr, ACC: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=ACC)
    for step in range(0, k, K):
        if TURN_A:
            x = tl.trans(tl.load(a + (p + step)[:, None] * m + i[None, :]))
        else:
            x = tl.load(a + i[:, None] * k + (p + step)[None, :])
        if TURN_B:
            y = tl.trans(tl.load(b + j[:, None] * k + (p + step)[None, :]))
        else:
            y = tl.load(b + (p + step)[:, None] * n + j[None, :])
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(c + i[:, None] * n + j[None, :], acc)


@triton.jit
def persistent(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0)):
        i = tile // across * M + tl.arange(0, M)
        j = tile % across * N + tl.arange(0, N)
        p = tl.arange(0, K)
        acc = tl.zeros((M, N), dtype=tl.float32)
        for step in range(0, k, K):
            x = tl.load(a + i[:, None] * k + (p + step)[None, :], mask=(i[:, None] < m) & ((p + step)[None, :] < k), other=0.0)
            y = tl.load(b + (p + step)[:, None] * n + j[None, :], mask=((p + step)[:, None] < k) & (j[None, :] < n), other=0.0)
            acc = tl.dot(x, y, acc)
        tl.store(c + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def scaled(a, sa, b, sb, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE_A: tl.constexpr, TYPE_B: tl.constexpr, PACK_A: tl.constexpr, PACK_B: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    p = tl.arange(0, K // PACK_A)
    q = tl.arange(0, K // PACK_B)
    s = tl.arange(0, K // 32)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        x = tl.load(a + i[:, None] * (k // PACK_A) + (p + step // PACK_A)[None, :])
        y = tl.load(b + (q + step // PACK_B)[:, None] * n + j[None, :])
        u = tl.load(sa + i[:, None] * (k // 32) + (s + step // 32)[None, :])
        v = tl.load(sb + j[:, None] * (k // 32) + (s + step // 32)[None, :])
        acc = tl.dot_scaled(x, u, TYPE_A, y, v, TYPE_B, acc)
    tl.store(c + i[:, None] * n + j[None, :], acc)


@triton.jit
def causal(q, k, v, out, n, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    best = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        j = start + tl.arange(0, BLOCK)
        s = tl.dot(query, tl.trans(tl.load(k + j[:, None] * D + d[None, :]))) * scale
        s = tl.where(i[:, None] >= j[None, :], s, float("-inf"))
        new = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        keep = tl.exp2(best - new)
        total = total * keep + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + j[:, None] * D + d[None, :]), acc * keep[:, None])
        best = new
    tl.store(out + i[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


def of_types(a, c):
    return {"a": "*" + a, "b": "*" + a, "c": "*" + c, "m": "i32", "n": "i32", "k": "i32"}


def tiles(m, n, k, **more):
    return {"M": m, "N": n, "K": k} | more


def plain(acc, a=False, b=False):
    return {"TURN_A": a, "TURN_B": b, "ACC": acc}


SCALED = {"a": "*u8", "sa": "*u8", "b": "*u8", "sb": "*u8", "c": "*fp32", "n": "i32", "k": "i32"}


def scaled_tiles(k, a, b):
    return tiles(32, 32, k, TYPE_A=a, TYPE_B=b, PACK_A=1 + (a == "e2m1"), PACK_B=1 + (b == "e2m1"))


# Name, kernel, signature, constants, warps, targets.
KERNELS = [
    ("product_f16", product, of_types("fp16", "fp32"), tiles(32, 32, 32) | plain(tl.float32), 4, (80, 89, 90, 100, 120)),
    ("product_f16_turned", product, of_types("fp16", "fp32"), tiles(32, 32, 32) | plain(tl.float32, True, True), 4, (80, 120)),
    ("product_f16_half", product, of_types("fp16", "fp16"), tiles(32, 32, 32) | plain(tl.float16), 2, (80, 120)),
    ("product_bf16", product, of_types("bf16", "fp32"), tiles(32, 64, 32) | plain(tl.float32, False, True), 4, (80, 90, 120)),
    ("product_tf32", product, of_types("fp32", "fp32"), tiles(32, 32, 32) | plain(tl.float32, False, True), 4, (80, 89, 100, 120)),
    ("product_f64", product, of_types("fp64", "fp64"), tiles(16, 16, 16) | plain(tl.float64), 4, (80, 90)),
    ("product_e4m3", product, of_types("fp8e4nv", "fp32"), tiles(32, 32, 64) | plain(tl.float32, False, True), 4, (89, 90, 100, 120)),
    ("product_e5m2", product, of_types("fp8e5", "fp32"), tiles(32, 32, 64) | plain(tl.float32, False, True), 2, (89, 120)),
    ("product_s8", product, of_types("i8", "i32"), tiles(32, 32, 64) | plain(tl.int32, False, True), 4, (80, 89, 90, 100, 120)),
    ("persistent", persistent, of_types("fp16", "fp32"), tiles(32, 32, 32), 4, (80, 90, 120)),
    ("scaled_e4m3", scaled, SCALED, scaled_tiles(64, "e4m3", "e4m3"), 4, (80, 90, 120)),
    ("scaled_e5m2_e4m3", scaled, SCALED, scaled_tiles(64, "e5m2", "e4m3"), 4, (120,)),
    ("scaled_e2m1", scaled, SCALED, scaled_tiles(128, "e2m1", "e2m1"), 4, (80, 100, 120)),
    ("scaled_e4m3_e2m1", scaled, SCALED, scaled_tiles(128, "e4m3", "e2m1"), 4, (120,)),
    # Tiles of a warpgroup: `wgmma` on sm_90, `tcgen05` on sm_100.
    ("wide_f16", product, of_types("fp16", "fp32"), tiles(64, 64, 32) | plain(tl.float32, True, True), 4, (90, 100)),
    ("wide_bf16", product, of_types("bf16", "fp32"), tiles(64, 64, 64) | plain(tl.float32, False, True), 4, (90, 100)),
    ("wide_tf32", product, of_types("fp32", "fp32"), tiles(64, 64, 32) | plain(tl.float32, False, True), 4, (90, 100)),
    ("wide_e4m3", product, of_types("fp8e4nv", "fp32"), tiles(64, 64, 64) | plain(tl.float32, False, True), 4, (90, 100)),
    ("wide_s8", product, of_types("i8", "i32"), tiles(64, 64, 64) | plain(tl.int32, False, True), 4, (90,)),
    ("wide_scaled_e4m3", scaled, SCALED, tiles(128, 64, 128, TYPE_A="e4m3", TYPE_B="e4m3", PACK_A=1, PACK_B=1), 4, (100,)),
    ("wide_scaled_e2m1", scaled, SCALED, tiles(128, 64, 128, TYPE_A="e2m1", TYPE_B="e2m1", PACK_A=2, PACK_B=2), 4, (100,)),
    ("causal_f16", causal, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp32", "n": "i32", "scale": "fp32"}, {"D": 64, "BLOCK": 32}, 4, (80, 120)),
    ("causal_bf16", causal, {"q": "*bf16", "k": "*bf16", "v": "*bf16", "out": "*fp32", "n": "i32", "scale": "fp32"}, {"D": 32, "BLOCK": 32}, 2, (89, 90, 100)),
]

for name, kernel, signature, constants, warps, targets in KERNELS:
    for target in targets:
        attrs = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(signature.values()) if t.startswith("*") or t == "i32"}
        source = ASTSource(fn=kernel, signature=signature | {key: "constexpr" for key in constants}, constexprs=constants, attrs=attrs)
        options = {"num_warps": warps, "ptx_version": 90 if target >= 90 else 88}
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options=options)
        except Exception as error:
            print(f"{name} for {target}: {str(error)[:300]}", file=sys.stderr)
            continue
        (pathlib.Path(sys.argv[1]) / f"{name}.sm_{target}.ptx").write_text(compiled.asm["ptx"])
