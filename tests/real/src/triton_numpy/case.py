"""A kernel with its launch and what NumPy says of it."""
import gzip
import json
import pathlib
import re
from dataclasses import dataclass, field

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from numbers_of import bits_of, draw_numbers, rounded

ALL = (80, 89, 90, 100, 120)
# Where copies by tensor map exist.
MAPPED = (90, 100, 120)

# Triton's names of types by PTX's.
POINTERS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "s8": "i8", "u8": "u8", "s16": "i16", "s32": "i32", "u32": "u32", "s64": "i64"}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1, "s16": 2, "s32": 4, "u32": 4, "s64": 8}


class Buffer:
    """An argument that points to elements; `.values` are what NumPy computes with."""

    def __init__(self, ptx, values, text):
        self.ptx, self.values, self.text = ptx, values, text

    @property
    def triton(self):
        return "*" + POINTERS[self.ptx]


def draw(ptx, shape, seed, low=-1, high=1):
    """Random elements, by the generator of the launch description (docs/testing.md)."""
    count = int(np.prod(shape))
    values = draw_numbers(ptx, count, seed, low, high).reshape(shape)
    return Buffer(ptx, values, {"buffer_type": ptx, "random": count, "seed": seed, "range": [low, high]})


def given(ptx, values):
    """These elements."""
    values = np.asarray(values)
    return Buffer(ptx, values, {"buffer_type": ptx, "values": bits_of(ptx, values)})


def zeros(ptx, shape):
    return Buffer(ptx, np.zeros(shape), {"buffer_type": ptx, "zero": int(np.prod(shape))})


class Scalar:
    def __init__(self, triton_type, ptx, value):
        self.triton, self.value, self.text = triton_type, value, {"type": ptx, "value": value}


def i32(value):
    return Scalar("i32", "s32", value)


def f32(value):
    return Scalar("fp32", "f32", float(np.float32(value)))


class Described:
    """A buffer by tensor map that the host makes, in blocks of this shape."""

    def __init__(self, buffer, block):
        self.buffer, self.block = buffer, block
        self.triton = f"tensordesc<{POINTERS[buffer.ptx]}{list(block)}>"

    @property
    def values(self):
        return self.buffer.values


@dataclass
class Case:
    name: str
    kernel: object
    args: list
    constants: dict
    grid: tuple
    # Index of an argument: expected values and how far off they may be, relative above 1 and absolute below.
    out: dict
    targets: tuple = ALL
    warps: int = 4
    options: dict = field(default_factory=dict)


def expectation(subject, ptx, values, within):
    values = np.asarray(values).reshape(-1)
    if within == 0 or not ptx[0] in "fbe":
        return subject | {"type": ptx, "values": bits_of(ptx, values)}
    # As many digits as the tolerance makes use of.
    digits = max(2, int(np.ceil(-np.log10(within))) + 2)
    return subject | {"type": ptx, "values": [float(f"{v:.{digits}g}") for v in values.tolist()], "within": within}


def compiled(case, target):
    names = case.kernel.arg_names
    signature, attrs = {}, {}
    args = iter(case.args)
    for index, name in enumerate(names):
        if name in case.constants:
            signature[name] = "constexpr"
            continue
        arg = next(args)
        signature[name] = arg.triton
        if isinstance(arg, Buffer) or isinstance(arg, Scalar) and arg.triton == "i32" and arg.value % 16 == 0:
            attrs[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(fn=case.kernel, signature=signature, constexprs=case.constants, attrs=attrs)
    options = {"num_warps": case.warps, "ptx_version": 90 if target >= 90 else 88} | case.options
    return triton.compile(source, target=GPUTarget("cuda", target, 32), options=options)


def tensor_map(described, name, meta):
    """What Triton's driver gives cuTensorMapEncodeTiled."""
    values, ptx = described.buffer.values, described.buffer.ptx
    shape, size = values.shape, BYTES[ptx]
    strides = [int(np.prod(shape[d + 1:])) for d in range(len(shape))]
    swizzle = ["none", "32B", "64B", "128B"][meta["swizzle"]]
    kind = {"f16": "f16", "bf16": "bf16", "f32": "f32", "e4m3": "u8", "e5m2": "u8", "s8": "u8", "u8": "u8", "s32": "s32"}[ptx]
    tensor = {"of": name, "type": kind, "sizes": list(shape[::-1]), "strides": [s * size for s in strides[:-1][::-1]], "box": list(meta["block_size"][::-1]), "swizzle": swizzle}
    sizes = [{"type": "s32", "value": int(v)} for v in shape] + [{"type": "s64", "value": int(v)} for v in strides]
    return [{"tensor_map": tensor}] + sizes


def launch(case, module):
    """The launch of a compiled module, and where the outputs are in it."""
    text, meta = module.asm["ptx"], module.metadata
    threads = int(re.search(r"\.(?:req|max)ntid (\d+)", text).group(1))
    args, memory, subjects = [], {}, {}
    maps = iter(getattr(meta, "tensordesc_meta", None) or [])
    for index, arg in enumerate(case.args):
        if isinstance(arg, Described):
            name = f"tensor{index}"
            memory[name] = arg.buffer.text
            subjects[index] = ({"memory": name}, arg.buffer.ptx)
            args += tensor_map(arg, name, next(maps))
        else:
            if isinstance(arg, Buffer):
                subjects[index] = ({"arg": len(args)}, arg.ptx)
            args.append(arg.text)
    scratch = getattr(meta, "global_scratch_size", 0) * int(np.prod(case.grid)) * getattr(meta, "num_ctas", 1)
    args += [{"buffer_zero": max(scratch, 16)}, {"buffer_zero": 16}]
    ctas = getattr(meta, "num_ctas", 1)
    grid = [case.grid[0] * ctas, *case.grid[1:]]
    run = {"entry": module.metadata.name, "grid": grid, "block": [threads, 1, 1], "dynamic_shared": meta.shared, "args": args}
    if ctas > 1:
        run["cluster"] = [ctas, 1, 1]
    if memory:
        run["memory"] = memory
    expects = [expectation(subjects[index][0], subjects[index][1], *expected) for index, expected in case.out.items()]
    return run, expects


def pack(path, text):
    # No time and no name inside: the same text is the same file.
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=9) as packed:
        packed.write(text.encode())


def write(case, folder: pathlib.Path):
    """Writes a module per target, and one file with the launch of each and what is expected of all."""
    launches = {}
    for target in case.targets:
        module = compiled(case, target)
        pack(folder / f"{case.name}.sm_{target}.ptx.gz", module.asm["ptx"])
        launches[f"sm_{target}"], expects = launch(case, module)
    pack(folder / f"{case.name}.json.gz", json.dumps({"launches": launches, "expect": expects}))
