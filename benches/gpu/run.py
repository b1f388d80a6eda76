"""Times each kernel of `benches/corpus` as three compilers made it, on a GPU: the median of 30 launches, in one process, the compilers in turn.

    python3 benches/gpu/run.py FOLDER

The folder holds `dense.warpsmith.cubin`, `dense.nvcc.cubin`, `dense.llvm.cubin` and so on for `integer`, `numeric` and `reduce`: what ptxas -O3 makes of
`cargo bench --bench code -- --unrolled --print`, of nvcc (`-DAS_LIKED -ptx`) and of opt-22 and llc-22 at -O3. Needs cupy.
"""
import json, os, math, statistics, sys
import cupy as cp
import numpy as np
here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1]
kernels = json.load(open(here + "/kernels.json"))
makers = ["warpsmith", "nvcc", "llvm"]
BYTES = 256 << 20
flush = cp.zeros(64 << 20, dtype=cp.uint8)

def fill(kind, seed):
    words = BYTES // 4
    if kind == "iota":
        return cp.arange(words, dtype=cp.uint32)
    r = cp.random.RandomState(seed)
    if kind == "f32":
        return (r.random_sample(words, dtype=cp.float32) * 2 - 1).view(cp.uint32)
    bits = r.randint(0, 2**31 - 1, words).astype(cp.uint32) ^ (r.randint(0, 2, words).astype(cp.uint32) << 31)
    if kind == "f16":
        return (bits & 0x1fff1fff) + cp.uint32(0x20002000)
    return bits

inputs = {}
modules = {}
for maker in makers:
    for part in ("dense", "integer", "numeric", "reduce"):
        path = f"{folder}/{part}.{maker}.cubin"
        modules[maker, part] = cp.RawModule(path=path)
def function(maker, name):
    for part in ("dense", "integer", "numeric", "reduce"):
        try:
            return modules[maker, part].get_function(name)
        except Exception:
            pass
    raise SystemExit(f"{name} of {maker} is not there")

def same(kind, a, b):
    if cp.array_equal(a, b):
        return "equal"
    if kind in ("u32", "iota"):
        return f"{int((a != b).sum())} differ"
    if kind == "f16":
        a, b = a.view(cp.float16).astype(cp.float32), b.view(cp.float16).astype(cp.float32)
    else:
        a, b = a.view(cp.float32), b.view(cp.float32)
    near = (cp.abs(a - b) <= 1e-3 * cp.maximum(cp.maximum(cp.abs(a), cp.abs(b)), 1e-2)) | (a.view(cp.uint8).size == 0)
    odd = ~cp.isfinite(a) | ~cp.isfinite(b)
    wrong = int((~near & ~odd).sum())
    return "rounded" if wrong == 0 else f"{wrong} differ"

device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
lines = [f"{device}; microseconds, median of 30 (each after a flush of the second-level cache)",
         f"{'kernel':16} " + " ".join(f"{m:>10}" for m in makers) + "  vs nvcc  vs llvm  results against nvcc, llvm"]
ratios = {m: [] for m in makers[1:]}
for name, (grid, block, n, kind) in kernels.items():
    if kind not in inputs:
        inputs.clear()
        inputs[kind] = (fill(kind, 1), fill(kind, 2))
    a, b = inputs[kind]
    block = tuple(block) + (1,) * (3 - len(block))
    results, times = {}, {m: [] for m in makers}
    launch = {m: function(m, name) for m in makers}
    for m in makers:
        out = cp.zeros(BYTES // 4, dtype=cp.uint32)
        launch[m]((grid, 1, 1), block, (a, b, out, np.int32(n)))
        cp.cuda.Device().synchronize()
        results[m] = out
    for _ in range(30):
        for m in makers:
            flush.fill(1)
            start, end = cp.cuda.Event(), cp.cuda.Event()
            # What the launch itself costs the host is hidden behind the flush.
            start.record()
            launch[m]((grid, 1, 1), block, (a, b, out, np.int32(n)))
            end.record()
            end.synchronize()
            times[m].append(cp.cuda.get_elapsed_time(start, end) * 1e3)
    t = {m: statistics.median(times[m]) for m in makers}
    for m in makers[1:]:
        ratios[m].append(t["warpsmith"] / t[m])
    verdict = ", ".join(same(kind, results["warpsmith"], results[m]) for m in makers[1:])
    lines.append(f"{name:16} " + " ".join(f"{t[m]:10.1f}" for m in makers)
                 + f"  {t['warpsmith']/t['nvcc']:7.3f}  {t['warpsmith']/t['llvm']:7.3f}  {verdict}")
    del results, out
for m in makers[1:]:
    lines.append(f"geometric mean against {m}: {math.exp(sum(map(math.log, ratios[m])) / len(ratios[m])):.3f}")
text = "\n".join(lines) + "\n"
print(text)
