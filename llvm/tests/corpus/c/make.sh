#!/bin/sh
# Makes what the sources of this folder are tested with: bitcode by clang-22 (Debian: `apt-get install clang-22`), and `*.expected` by running
# the same kernels on the host. The suite itself needs neither.
set -e
cd "$(dirname "$0")"
flags='-Xclang -fexperimental-max-bitint-width=256 -ffp-contract=off -w'
host=$(mktemp -d)
for source in [a-l]*.c [n-z]*.c *.cpp; do
    name=${source%.c*}
    case $source in
        exceptions.cpp) language='-x c++ -std=c++20 -fcxx-exceptions -fexceptions -frtti' ;;
        # libstdc++'s headers, which are those of the host (Debian: `apt-get install libstdc++-12-dev`).
        containers.cpp) language='-x c++ -std=c++20 -fno-exceptions -fno-rtti -D_GNU_SOURCE -D__x86_64__ -D__builtin_ia32_pause=__builtin_trap
            -I/usr/include/c++/12 -I/usr/include/x86_64-linux-gnu/c++/12 -I/usr/include/x86_64-linux-gnu' ;;
        *.cpp) language='-x c++ -std=c++20 -fno-exceptions' ;;
        *) language='-x c' ;;
    esac
    for level in O0 O3; do
        clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx83 -$level $flags \
            -emit-llvm $language -c "$source" -o "$name.$level.bc"
    done
    kernels=$(grep -o 'KERNEL void [a-z_0-9]*' "$source" | sed 's/.* \(.*\)/RUN(\1);/' | tr -d '\n')
    clang-22 -O1 $flags -mf16c -Xclang -ffloat16-excess-precision=none -fno-strict-aliasing $language -c "$source" -o "$host/kernels.o"
    sed "s/KERNELS/$kernels/" main.c > "$host/main.c"
    clang-22 -w "$host/main.c" "$host/kernels.o" -lm -latomic -lstdc++ -o "$host/run"
    "$host/run" > "$name.expected"
done
rm -r "$host"
