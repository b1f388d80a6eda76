"""Kernels in the CuTe DSL, compiled without a GPU: python cute_kernels.py FOLDER TARGET"""

import os
import sys

os.environ["CUTE_DSL_ARCH"] = sys.argv[2]
os.environ["CUTE_DSL_KEEP_PTX"] = "1"
os.environ["CUTE_DSL_DUMP_DIR"] = sys.argv[1]

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor


@cute.kernel
def saxpy(x: cute.Tensor, y: cute.Tensor, a: cutlass.Float32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * 128 + thread
    if i < cute.size(x):
        y[i] = a * x[i] + y[i]


@cute.kernel
def row_sums(x: cute.Tensor, out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    smem = cutlass.utils.SmemAllocator()
    parts = smem.allocate_tensor(cutlass.Float32, cute.make_layout(4), 16)
    total = cutlass.Float32(0.0)
    for i in cutlass.range(thread, cute.size(x, mode=[1]), 128):
        total += x[row, i]
    total = cute.arch.warp_reduction_sum(total)
    if thread % 32 == 0:
        parts[thread // 32] = total
    cute.arch.sync_threads()
    if thread == 0:
        out[row] = parts[0] + parts[1] + parts[2] + parts[3]


@cute.jit
def run_saxpy(x: cute.Tensor, y: cute.Tensor, a: cutlass.Float32):
    saxpy(x, y, a).launch(grid=[(cute.size(x) + 127) // 128, 1, 1], block=[128, 1, 1])


@cute.jit
def run_sums(x: cute.Tensor, out: cute.Tensor):
    row_sums(x, out).launch(grid=[cute.size(x, mode=[0]), 1, 1], block=[128, 1, 1])


vector = make_fake_compact_tensor(cutlass.Float32, (1024,))
rows = make_fake_compact_tensor(cutlass.Float32, (16, 300))
sums = make_fake_compact_tensor(cutlass.Float32, (16,))
cute.compile(run_saxpy, vector, vector, cutlass.Float32(2.0))
cute.compile(run_sums, rows, sums)
