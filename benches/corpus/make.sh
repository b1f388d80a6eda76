#!/bin/sh
# Makes the .bc files beside their sources: what clang hands to its optimiser. Needs clang-22 (Debian) and CUDA's headers and libdevice (PyPI:
# nvidia-cuda-nvcc, nvidia-cuda-runtime, nvidia-cuda-crt, nvidia-cuda-cccl, nvidia-nvvm), whose folder is the argument.
set -e
cd "$(dirname "$0")"
stub=$(mktemp -d)
for header in curand_mtgp32_kernel.h texture_fetch_functions.h texture_indirect_functions.h; do
    [ -f "$1/include/$header" ] || : >"$stub/$header"
done
for source in *.cu; do
    clang-22 -x cuda --cuda-path="$1" -I"$stub" --cuda-device-only --cuda-gpu-arch=sm_90 -Wno-unknown-cuda-version \
        -DROLLED -O3 -Xclang -disable-llvm-passes -emit-llvm -c "$source" -o "${source%.cu}.bc"
done
rm -r "$stub"
