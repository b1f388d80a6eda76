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
for level in O0 O3; do
    clang-22 -x cl -cl-std=CL1.2 --target=nvptx64-nvidia-nvcl -Xclang -finclude-default-header -Xclang -target-cpu -Xclang sm_80 $ptx \
        -ffp-contract=off -$level -w -emit-llvm -c opencl.cl -o opencl.$level.bc
    # clang assumes that this target has none of these features.
    clang-22 -x cl -cl-std=CL3.0 --target=nvptx64-nvidia-nvcl -Xclang -finclude-default-header -Xclang -target-cpu -Xclang sm_80 $ptx \
        -Xclang -cl-ext=+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+cl_ext_float_atomics,+__opencl_c_ext_fp32_global_atomic_add \
        -$level -w -emit-llvm -c opencl2.cl -o opencl2.$level.bc
    for source in opencl3 opencl4 images; do
        clang-22 -x cl -cl-std=CL3.0 --target=nvptx64-nvidia-nvcl -Xclang -finclude-default-header -Xclang -target-cpu -Xclang sm_80 $ptx \
            -Xclang -cl-ext=+all -$level -w -emit-llvm -c $source.cl -o $source.$level.bc
    done
done
llvm-as-22 spaces.ll -o spaces.bc
# `every_bit_of_a_small_file` names bits of this one.
(cd damaged && llvm-as-22 small.ll -o small.bc)
llvm-as-22 nvvm.ll -o nvvm.bc
llvm-as-22 nvvm.refused.ll -o nvvm.refused.bc
clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_90a -nocudainc -nocudalib -Wno-unknown-cuda-version -w \
    $ptx -O3 -emit-llvm -c hopper.cu -o hopper.bc
# By clang 14 (Debian: `apt-get install clang-14`), the last with typed pointers, and by the host.
clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Wno-unknown-cuda-version -Xclang -target-feature \
    -Xclang +ptx75 -O1 -g -fdebug-prefix-map="$PWD=." -emit-llvm -c old.cu -o old.bc
host=$(mktemp -d)
kernels=$(sed -n 's/^KERNEL \([a-z]*\).*/RUN(\1);/p' old.cu | tr -d '\n')
clang-22 -x c++ -O1 -w -fno-strict-aliasing -c old.cu -o "$host/kernels.o"
sed "s/KERNELS/$kernels/" c/main.c > "$host/main.c"
clang-22 -w "$host/main.c" "$host/kernels.o" -lstdc++ -o "$host/run"
"$host/run" > old.expected
rm -r "$host"
