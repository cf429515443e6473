#!/bin/sh
# What `ptera exec` has the dynamic loader do: run.sh PTERA OPEN INSIDE LIBRARY, where OPEN says
# which files serve for libraries; a program and a library with a stand-in for NVIDIA's runtime
# library inside.
set -u
. "$(dirname "$0")/../runner/check.sh"
ptera=$1
open=$2
inside=$3
library=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

folder=$(dirname "$("$ptera" exec sh -c 'echo "$LD_AUDIT"')")

# Names and paths of NVIDIA's libraries, whether there is such a file or not.
: >"$work/libcudart.so.13.0.96"
ln -s libcudart.so.13.0.96 "$work/libcudart.so"
serves() { # OURS ASKED...
    ours=$1
    shift
    for asked; do
        check "$asked" "$folder/$ours" "$("$ptera" exec "$open" "$asked")"
    done
}
serves libcuda.so.1 libcuda.so.1 libcuda.so /usr/lib/libcuda.so.1 stubs/libcuda.so
serves libcudart.so.13 libcudart.so.13 "$work/libcudart.so" "$work/libcudart.so.13.0.96"
check "a name that a search finds to be a link" "$folder/libcudart.so.13" \
    "$(LD_LIBRARY_PATH="$work" "$ptera" exec "$open" libcudart.so)"
serves libcudart.so.12 /somewhere/lib/libcudart.so.12 libcudart-9335f6a2.so.12.2.140
serves libcudart.so.11.0 libcudart.so.11.0 libcudart-d0da41ae.so.11.0 libcudart.so.11.8.89
"$ptera" exec "$open" libcudart.so.10.2 >"$work/out"
check "a release that is not ours" 1 $?
"$ptera" exec "$open" "$work/libcudart_mine.so.13" >"$work/out"
check "another name" 1 $?

# The runtime library inside: of a program and a library that it needs, of one that is opened;
# before their constructors.
check "a runtime inside, without Ptera" "cudaMalloc of theirs" "$("$inside" | head -n 1)"
check "a runtime inside" "constructor: 0 0
constructor: 0 0
main: 0 13000 801 801" "$("$ptera" exec "$inside" 2>"$work/err")"
check "what is not supported" "ptera: cudaOfTheFuture is not supported" "$(cat "$work/err")"
check "a runtime inside what is opened" "constructor: 0 0
$library" "$("$ptera" exec "$open" "$library")"
check "what is redirected" \
    "ptera: $inside: NVIDIA's runtime library inside (told by its symbols): 11 functions \
redirected, 1 of them not supported" \
    "$(PTERA_LOG=load "$ptera" exec "$inside" 2>&1 | grep "$inside: ")"
check "doctor" \
    "  $inside: NVIDIA's runtime library inside (release told by its symbols): \`ptera exec\` \
redirects its 11 functions to Ptera's" \
    "$("$ptera" doctor "$inside" | grep "$inside: ")"
check "doctor, a library" 1 "$("$ptera" doctor "$inside" |
    grep -c "$library: NVIDIA's runtime library inside")"
cp "$library" "$work/library.so"
chmod -x "$work/library.so"
check "doctor, of a library" 1 "$("$ptera" doctor "$work/library.so" |
    grep -c "library.so: NVIDIA's runtime library inside")"

finish audit
