#!/bin/bash -eu
# Builds the fuzz targets for OSS-Fuzz and ClusterFuzzLite: called in their Rust image, with the sources in $SRC/warpsmith and $OUT to be filled.
cd "$SRC/warpsmith"
cargo fuzz build -O --fuzz-dir fuzz
for target in ptx wir run roundtrip; do
  cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
  if [ -d "fuzz/corpus/$target" ]; then
    zip -qj "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"/*
  fi
done
