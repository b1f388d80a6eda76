"""Kernels of Triton with what NumPy says of them, made without a GPU: python triton_numpy OUTPUT_FOLDER [NAME ..]"""
import os
import pathlib
import sys

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton

import attention
import case
import elements
import products
import rows

TRITON = "3.9.0"
if triton.__version__ != TRITON:
    sys.exit(f"the modules are those of Triton {TRITON}, this is {triton.__version__}")

folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
failed = 0
for one in (one for part in (products, attention, rows, elements) for one in part.cases()):
    if names and one.name not in names:
        continue
    print(one.name, flush=True)
    try:
        case.write(one, folder)
    except Exception as error:
        failed += 1
        print(f"{one.name}: {str(error)[:2000]}", file=sys.stderr)
sys.exit(failed > 0)
