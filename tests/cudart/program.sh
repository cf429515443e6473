#!/bin/sh
# Compiles a CUDA program, if it has changed since, and runs it under `ptera exec`: program.sh NVCC PTERA SOURCE FOLDER. The first
# comment of a source may end with the rest of its nvcc command.
set -u
nvcc=$1
ptera=$2
source=$3
name=$(basename "$source" .cu)
program=$4/$name
folder=$(dirname "$source")
mkdir -p "$4"

result() { # PASSED FAILED
    echo "program_$name: $1 passed, $2 failed, 0 skipped"
    [ "$2" = 0 ]
    exit
}

options=$(sed -n '1s/.*nvcc \(.*\)/\1/p' "$source" | sed "s|[a-z_]*\.cu|$folder/&|g")
newest=$(ls -t "$folder"/*.cu "$folder"/*.h "$program" 2>/dev/null | head -n 1)
if [ "$newest" != "$program" ]; then
    # shellcheck disable=SC2086
    "$nvcc" -arch=compute_90 -cudart shared -I"$folder" -L"$(dirname "$ptera")" -o "$program" ${options:-"$source"} || result 0 1
fi
output=$("$ptera" exec "$program") && [ "$output" = PASSED ] && result 1 0
echo "$output"
result 0 1
