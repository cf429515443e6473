#!/bin/sh
# Compiles a program that needs nvcc, runs it under `ptera exec`, and compares what it prints with
# what a GPU's driver made of it: compiled_calls.sh NVCC PTERA SOURCE FOLDER. The text is beside the
# source.
set -u
name=$(basename "$3" .cu)
program=$4/$name
mkdir -p "$4"
[ "$program" -nt "$3" ] || "$1" -rdc=true -gencode arch=compute_90,code=compute_90 -cudart shared \
    -Wno-deprecated-gpu-targets -o "$program" "$3" -lcudadevrt -L"$(dirname "$2")" -lcuda || exit 1
if "$2" exec "$program" 2>/dev/null | diff "${3%.cu}.txt" -; then
    echo "$name: $(grep -c . "${3%.cu}.txt") passed, 0 failed, 0 skipped"
else
    echo "$name: 0 passed, 1 failed, 0 skipped"
    exit 1
fi
