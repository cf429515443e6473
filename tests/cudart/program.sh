#!/bin/sh
# Compiles a CUDA program, if it has changed since, and runs it under `ptera exec`: program.sh NVCC
# PTERA SOURCE FOLDER. With the shared runtime library, in each engine too, with the static one
# inside (nvcc's default, and for its default target), and that one stripped. The first comment of a
# source may end with the rest of its nvcc command. The checkers find nothing in the
# samples.
set -u
nvcc=$1
ptera=$2
source=$3
name=$(basename "$source" .cu)
program=$4/$name
folder=$(dirname "$source")
passed=0
failed=0
mkdir -p "$4"

options=$(sed -n '1s/.*nvcc \(.*\)/\1/p' "$source" | sed "s|[a-z_]*\.cu|$folder/&|g")
compile() { # RUNTIME PROGRAM
    target=-arch=compute_90
    case "$1 $options" in
    static*) target= ;;
    *-arch*) target= ;;
    esac
    # shellcheck disable=SC2086
    "$nvcc" $target -cudart "$1" -I"$folder" -L"$(dirname "$ptera")" -o "$2" ${options:-"$source"}
}
runs() { # PROGRAM
    output=$("$ptera" exec "$1") && [ "$(echo "$output" | tail -n 1)" = PASSED ] &&
        passed=$((passed + 1)) && return
    echo "FAILED $1: $output"
    failed=$((failed + 1))
}

newest=$(ls -t "$folder"/*.cu "$folder"/*.h "$program.stripped" 2>/dev/null | head -n 1)
if [ "$newest" != "$program.stripped" ]; then
    compile shared "$program" && compile static "$program.static" &&
        strip -o "$program.stripped" "$program.static" || failed=1
fi
for built in "$program" "$program.static" "$program.stripped"; do
    runs "$built"
done
case "$source" in
*/samples/programs/*)
    output=$("$ptera" check all --leak-check -- "$program" 2>&1)
    case "$output" in
    *PASSED | *"PASSED
ptera check"*"nothing found in "*" launch"*) passed=$((passed + 1)) ;;
    *) echo "FAILED check all: $output" && failed=$((failed + 1)) ;;
    esac
    ;;
esac
engines=interp
"$ptera" info | grep -q '^compiler  *LLVM' && engines="interp jit"
for PTERA_ENGINE in $engines; do
    export PTERA_ENGINE
    runs "$program"
done
echo "program_$name: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
