#!/bin/sh
# Each entry that NVIDIA's headers declare is in the tables of the driver and the runtime library,
# and README.md says how many work, at least: check_entries.sh ROOT HEADERS LIBCUDART.
root=$1
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
declared() { # the functions that a header declares, without the twins of per-thread default streams
    tr '\n' ' ' <"$1" | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/: :g' |
        grep -oE "$2 +cu[A-Za-z0-9_]+ *\(" |
        sed 's/ *($//; s/.* //; s/_v[0-9]$//' | grep -v '_pts[zd]$' | sort -u
}
declared "$2/cuda.h" CUDAAPI >"$work/driver"
declared "$2/cuda_runtime_api.h" CUDARTAPI >"$work/runtime"
tr '\n' ' ' <"$root/runtime/cuda/cuda.def" |
    grep -oE "[^_A-Z](CU|NOT_SUPPORTED)\([^,()]*, +[A-Za-z0-9_]+" |
    sed 's/(.*, */ /; s/^ *//' | sort -u >"$work/table"
sed -n 's/^CU //p' "$work/table" | sort -u >"$work/works"
sed 's/^[A-Z_]* //' "$work/table" | sort -u >"$work/known"
sed -n 's/^NOT_SUPPORTED(\(.*\))$/\1/p' "$root/runtime/cudart/refused.def" |
    sort -u >"$work/refused"
failed=0
missing=$(comm -23 "$work/driver" "$work/known")
[ -z "$missing" ] || failed=1
[ -z "$missing" ] || echo "FAILED not in cuda.def: $missing"
nm -D --defined-only "$3" | sed 's/.* //; s/@.*//' | sort -u >"$work/exported"
missing=$(comm -23 "$work/runtime" "$work/exported")
[ -z "$missing" ] || failed=1
[ -z "$missing" ] || echo "FAILED not in libcudart: $missing"
least() { # least WHAT WORKS ALL SENTENCE: README.md says that more than so many of all work
    said=$(tr -s '\n ' ' ' <"$root/README.md" | sed -n "s/.* \([0-9]*\) of the $3 $4.*/\1/p")
    echo "$1: $2 of $3 work"
    [ -n "$said" ] && [ "$2" -ge "$said" ] || {
        echo "FAILED README.md does not say so"
        failed=1
    }
}
least cuda.h "$(comm -12 "$work/driver" "$work/works" | wc -l)" "$(wc -l <"$work/driver")" \
    'functions of `cuda.h`'
least cuda_runtime_api.h "$(comm -23 "$work/runtime" "$work/refused" | wc -l)" \
    "$(wc -l <"$work/runtime")" 'of `cuda_runtime_api.h`'
echo "entries: $((1 - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
