#!/bin/sh
# make.sh CUDA [FOLDER]: makes the .bc files beside their sources, of loops that stay loops, and those in unrolled/, of loops as compilers like: what
# clang hands to its optimiser. FOLDER is this one if there is none. Needs clang-22 (Debian) and CUDA's headers and libdevice (PyPI:
# nvidia-cuda-nvcc, nvidia-cuda-runtime, nvidia-cuda-crt, nvidia-cuda-cccl, nvidia-nvvm), whose folder is CUDA, absolute.
set -e
cd "${2:-$(dirname "$0")}"
stub=$(mktemp -d)
for header in curand_mtgp32_kernel.h texture_fetch_functions.h texture_indirect_functions.h; do
    [ -f "$1/include/$header" ] || : >"$stub/$header"
done
bitcode() {
    clang-22 -x cuda --cuda-path="$cuda" -I"$stub" --cuda-device-only --cuda-gpu-arch=sm_90 -Wno-unknown-cuda-version \
        -O3 -Xclang -disable-llvm-passes -emit-llvm -c "$@"
}
cuda=$1
mkdir -p unrolled
for source in *.cu; do
    bitcode -DROLLED "$source" -o "${source%.cu}.bc"
    bitcode "$source" -o "unrolled/${source%.cu}.bc"
done
rm -r "$stub"
