#!/bin/sh
# Makes the .bc files beside their sources, with clang-22 (Debian: `apt-get install clang-22`). The suite itself needs no LLVM.
set -e
cd "$(dirname "$0")"
ptx='-Xclang -target-feature -Xclang +ptx83'
for level in O0 O3; do
    for source in [a-g]*.cu [i-z]*.cu; do
        clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Wno-unknown-cuda-version \
            $ptx -$level -emit-llvm -c "$source" -o "${source%.cu}.$level.bc"
    done
    for source in *.c; do
        clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 $ptx -$level -emit-llvm -c "$source" -o "${source%.c}.$level.bc"
    done
done
# Before optimisation: what clang hands to its optimiser.
for source in [a-g]*.cu [i-z]*.cu; do
    clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Wno-unknown-cuda-version \
        $ptx -O3 -Xclang -disable-llvm-passes -emit-llvm -c "$source" -o "${source%.cu}.raw.bc"
done
llvm-as-22 spaces.ll -o spaces.bc
llvm-as-22 nvvm.ll -o nvvm.bc
llvm-as-22 nvvm.refused.ll -o nvvm.refused.bc
clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_90a -nocudainc -nocudalib -Wno-unknown-cuda-version -w \
    $ptx -O3 -emit-llvm -c hopper.cu -o hopper.bc
