#!/bin/sh
# Makes shape.ptx with nvcc and shape.bc with clang-22, from one source. NVCC names another nvcc than that in PATH.
set -e
cd "$(dirname "$0")"
# nvcc writes the path of the source.
mkdir -p /tmp/shape
cp shape.cu /tmp/shape
(cd /tmp/shape && "${NVCC:-nvcc}" -G -arch=sm_80 -ptx shape.cu -o shape.ptx)
cp /tmp/shape/shape.ptx .
clang-22 -x c --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx83 -g -fdebug-compilation-dir=/src -O0 \
    -Xclang -disable-O0-optnone -emit-llvm -c shape.cu -o shape.bc
rm -r /tmp/shape
