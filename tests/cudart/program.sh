#!/bin/sh
# Compiles a CUDA program, if it has changed since, and runs it under `ptera exec`: program.sh NVCC
# PTERA SOURCE FOLDER. With the shared runtime library, in each engine too, with the static one
# inside (nvcc's default, and once for its default target), and that one stripped. The first comment
# of a source may end with the rest of its nvcc command. The checkers find nothing in the
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

options=$(sed -n '1s/.*nvcc \(.*\)/\1/p' "$source")
sources=$(echo "$options" | tr ' ' '\n' | grep '\.cu$')
options=$(echo "$options" | tr ' ' '\n' | grep -v '\.cu$')
case "$options" in *-arch*) ;; *) options="-arch=compute_90 $options" ;; esac
# shellcheck disable=SC2086
compile() { # one object for each source, which both programs are linked of
    objects=
    for one in ${sources:-"$name.cu"}; do
        objects="$objects $program.${one%.cu}.o"
        "$nvcc" $options -I"$folder" -c -o "$program.${one%.cu}.o" "$folder/$one" || return 1
    done
    for runtime in shared static; do
        "$nvcc" $options -cudart $runtime -L"$(dirname "$ptera")" -o "$program.$runtime" \
            $objects || return 1
    done
    if [ "$name" = vector_add ]; then # as nvcc does untold
        "$nvcc" -I"$folder" -o "$program.static" "$source" || return 1
    fi
    strip -o "$program.stripped" "$program.static"
}
runs() { # PROGRAM
    output=$("$ptera" exec "$1") && [ "$(echo "$output" | tail -n 1)" = PASSED ] &&
        passed=$((passed + 1)) && return
    echo "FAILED $1: $output"
    failed=$((failed + 1))
}

newest=$(ls -t "$folder"/*.cu "$folder"/*.h "$program.stripped" 2>/dev/null | head -n 1)
if [ "$newest" != "$program.stripped" ]; then
    compile || failed=1
fi
for built in "$program.shared" "$program.static" "$program.stripped"; do
    runs "$built"
done
case "$source" in
*/samples/programs/*)
    output=$("$ptera" check all --leak-check -- "$program.shared" 2>&1)
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
    runs "$program.shared"
done
echo "program_$name: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
