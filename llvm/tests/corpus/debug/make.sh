#!/bin/sh
# Makes source.O0.bc, source.O2.bc, types.O0.bc and undefined.O1.bc with clang-22 and opt-22: of what it optimises itself for a GPU, clang names no variables.
set -e
cd "$(dirname "$0")"
clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx83 -g -fdebug-compilation-dir=/src -O0 \
    -Xclang -disable-O0-optnone -emit-llvm -c types.c -o types.O0.bc
clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx83 -g -fdebug-compilation-dir=/src -O1 \
    -emit-llvm -c undefined.c -o undefined.O1.bc
for level in O0 O2; do
    clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx83 -g -fdebug-compilation-dir=/src -O0 \
        -Xclang -disable-O0-optnone -emit-llvm -c source.c -o source.O0.bc
    [ $level = O0 ] || opt-22 -$level source.O0.bc -o source.$level.bc
done
