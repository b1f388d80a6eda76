#!/bin/sh
# Makes the .bc files of the .ll files beside them, with llvm-as-22 (Debian: `apt-get install llvm-22`). The suite itself needs no LLVM.
set -e
cd "$(dirname "$0")"
for source in *.ll refused/*.ll; do
    llvm-as-22 "$source" -o "${source%.ll}.bc"
done
