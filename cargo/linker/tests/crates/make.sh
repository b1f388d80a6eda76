#!/bin/sh
# Makes the archives beside this file: what rustc gives the linker for each crate, without what does not matter to the output.
#
# It takes a rustc with `nvptx64-nvidia-cuda` and the sources of core, for example Debian's (`apt-get install rustc-web cargo-web rust-web-src`), and
# Python 3. The suite itself takes none of them.
#
#     CARGO=/usr/bin/cargo RUSTC=/usr/bin/rustc ./make.sh path/to/warpsmith-linker
set -e
linker=$(realpath "$1")
cd "$(dirname "$0")"
export RUSTC_BOOTSTRAP=1 WARPSMITH_LINKER="$linker"
export CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER="$PWD/record.py"
export CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS="-C target-cpu=sm_80"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-/tmp/warpsmith-recorded}"
build() {
    profile=$1
    shift
    RECORD_AS=${as:-$profile} "${CARGO:-cargo}" build -Zbuild-std=core,alloc --target nvptx64-nvidia-cuda --profile "$profile" "$@"
}
build release --example slices --example dynamic --example wide --example atomics --example shared
build fat --example panics --example heap
# Kernels in stable Rust. Paths of this machine do not belong into the recording.
export CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS="-C target-cpu=sm_80 --remap-path-prefix=$(realpath ../../../..)=."
build fat --example stable
export CARGO_PROFILE_RELEASE_LTO=fat
as=fat build release --manifest-path ../../../../examples/rust-kernels/Cargo.toml -p kernels --lib
