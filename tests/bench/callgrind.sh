#!/bin/sh
# Counts the instructions that Ptera executes for each case of the set, small sizes, one thread, compiled beforehand:
# callgrind.sh COMPARE [ENGINE [CASE...]]. Unlike times, the counts are the same on a busy machine. valgrind knows no
# AVX-512, so level v3 is counted.
set -eu
compare=$1
engine=${2:-interp}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- $("$compare" --list | awk 'NR > 1 && !/limit/ { print $1 }')
export PTERA_CPU=v3
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for case in "$@"; do
    valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/dev/null --log-file="$log" \
        "$compare" --once -k "$case" -e "$engine" -p none -t 1 || { cat "$log" >&2; exit 1; }
    printf '%s\t%s\t%s\n' "$case" "$engine" "$(awk '/Collected/ { print $NF }' "$log")"
done
