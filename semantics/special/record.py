"""Records what the special function unit of the GPU at hand computes: for fit.py, on a machine with CuPy.

usage: record.py OUT.npz
"""

import sys

import cupy
import numpy

SOURCE = """
extern "C" __global__ void k(const unsigned* x, unsigned* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, r;
    if (i >= n) return;
    asm("{ .reg .f32 a, b; mov.b32 a, %%1; %s b, a; mov.b32 %%0, b; }" : "=r"(r) : "r"(x[i]));
    y[i] = r;
}
"""

# The mantissas of these exponents are all that the fit needs.
EXPONENTS = {
    "rcp.approx.ftz.f32": [0],
    "rsqrt.approx.ftz.f32": [0, 1],
    "sqrt.approx.ftz.f32": [0, 1],
    "lg2.approx.ftz.f32": [-1, 0],
    "ex2.approx.ftz.f32": [0],
    "sin.approx.ftz.f32": [0, 1],
}


def evaluate(instruction, operands):
    kernel = cupy.RawKernel(SOURCE % instruction, "k", options=("--gpu-architecture=sm_90",))
    x = cupy.asarray(operands)
    y = cupy.empty_like(x)
    kernel(((x.size + 255) // 256,), (256,), (x, y, numpy.uint32(x.size)))
    return cupy.asnumpy(y)


results = {}
for instruction, exponents in EXPONENTS.items():
    for exponent in exponents:
        start = (127 + exponent) << 23
        operands = numpy.arange(start, start + (1 << 23), dtype=numpy.uint32)
        results[f"{instruction.split('.')[0]} {exponent}"] = evaluate(instruction, operands)
numpy.savez_compressed(sys.argv[1], **results)
