#!/bin/bash
# Processor time (user and system) of `warpsmith compile -O2` beside `opt-22 -O3` and `llc-22 -O3`, a process a file (two for LLVM), over the
# CUDA kernels of benches/corpus as clang-22 hands them to its optimiser. The best of ROUNDS (5).
#
#     cargo build --release && benches/llvm/speed.sh target/release/warpsmith
set -eu
warpsmith=$(realpath "$1")
cd "$(dirname "$0")/../corpus"
rounds=${ROUNDS:-5}
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
TIMEFORMAT='%3U %3S'

# Milliseconds of the fastest round of a command.
best() {
    for _ in $(seq "$rounds"); do
        { time "$@" >"$out/stdout" 2>"$out/stderr"; } 2>&1 || { cat "$out/stderr" >&2; exit 1; }
    done | awk '{ t = ($1 + $2) * 1000; if (NR == 1 || t < least) least = t } END { printf "%d", least }'
}
ours() { "$warpsmith" compile "$1" -O2 --target sm_90 -o "$out/ours.ptx"; }
llvm() { opt-22 -passes='default<O3>' "$1" -o "$out/opt.bc" && llc-22 -O3 -mcpu=sm_90 -mattr=+ptx83 "$out/opt.bc" -o "$out/llvm.ptx"; }

printf '%-24s %10s %10s %7s\n' file warpsmith LLVM ratio
all_ours=0 all_llvm=0
for file in ./*.bc unrolled/*.bc; do
    a=$(best ours "$file") b=$(best llvm "$file")
    all_ours=$((all_ours + a)) all_llvm=$((all_llvm + b))
    printf '%-24s %7d ms %7d ms %7s\n' "${file#./}" "$a" "$b" "$(awk "BEGIN { printf \"%.1f\", $b / ($a + ($a == 0)) }")"
done
printf '%-24s %7d ms %7d ms %7s\n' all "$all_ours" "$all_llvm" "$(awk "BEGIN { printf \"%.1f\", $all_llvm / $all_ours }")"
