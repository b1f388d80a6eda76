#!/usr/bin/env python3
"""Makes the .bc files beside it of kernels.py, with Triton 3.9 from PyPI, llvm-as-22 and opt-22 (Debian: `apt-get install llvm-22`). It needs no GPU, and the suite itself neither."""

import os
import re
import struct
import subprocess

import kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

PRODUCT = "a:*fp16 b:*fp16 c:*fp16 M:i32 N:i32 K:i32 sam:i32 sak:i32 sbk:i32 sbn:i32 scm:i32 scn:i32"
UNIT = dict(sak=1, sbn=1, scn=1)
# What a file is called, the kernel, its parameters, what is constant, which pointers and strides are multiples of 16, warps, architecture.
MADE = [
    ("product_80", kernels.product, PRODUCT, dict(BM=128, BN=128, BK=32, RELU=0, **UNIT), "a b c M N K sam sbk scm", 4, 80),
    ("product_e5m2_80", kernels.product, PRODUCT.replace("fp16", "fp8e5", 2), dict(BM=64, BN=64, BK=64, RELU=0, **UNIT), "a b c M N K sam sbk scm", 4, 80),
    ("product_ragged_90", kernels.product, PRODUCT, dict(BM=64, BN=64, BK=32, RELU=1), "a b c", 4, 90),
    ("product_90", kernels.product, PRODUCT, dict(BM=128, BN=128, BK=32, RELU=0, **UNIT), "a b c M N K sam sbk scm", 4, 90),
    ("product_100", kernels.product, PRODUCT, dict(BM=128, BN=128, BK=32, RELU=0, **UNIT), "a b c M N K sam sbk scm", 4, 100),
    ("attention_90", kernels.attention, "q:*fp16 k:*fp16 v:*fp16 o:*fp16 scale:fp32 stride:i32 N:i32", dict(BM=64, BN=64, D=64), "q k v o stride N", 4, 90),
    ("softmax_90", kernels.softmax, "o:*fp32 x:*fp32 stride:i32 n:i32", dict(B=1024), "o x", 4, 90),
    ("norm_90", kernels.norm, "x:*fp16 w:*fp16 o:*fp16 stride:i32 n:i32", dict(B=1024), "x w o", 4, 90),
    ("outer_100", kernels.outer, "x:*fp32 w:*fp32 o:*fp32 n:i32", dict(C=5, BO=32, BP=64), "x w o", 4, 100),
]


def double(bits):
    """The bits of a float as llvm-as-22 reads them."""
    return "0x%016X" % struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", bits))[0]))[0]


def older(text):
    """Triton's LLVM is newer than 22, and writes floats in another way."""
    text = re.sub(r"\bf0x([0-9A-Fa-f]{8})\b", lambda m: double(int(m[1], 16)), text)
    return re.sub(r"(?<![\w.%@])-inf\b", "0xFFF0000000000000", text)


for name, kernel, parameters, constants, multiples, warps, arch in MADE:
    types = dict(one.split(":") for one in parameters.split())
    signature = {n: "constexpr" if n in constants else types[n] for n in kernel.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(kernel.arg_names) if n in multiples.split()}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attrs)
    made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=dict(num_warps=warps))
    here = os.path.dirname(os.path.abspath(__file__))
    assembled = subprocess.run(["llvm-as-22", "-"], input=older(made.asm["llir"]).encode(), capture_output=True, check=True)
    subprocess.run(["opt-22", "-strip-debug", "-passes=verify", "-o", f"{here}/{name}.bc"], input=assembled.stdout, check=True)
    print(name, made.metadata.name, "shared", made.metadata.shared)
