#!/bin/sh
# Counts the instructions that Ptera executes for each case of the set, compiled beforehand, small
# sizes, one thread: callgrind.sh COMPARE [CASE...]. Unlike times, the counts are the same on a busy
# machine. valgrind knows no AVX-512, so CPU level v3 is counted.
set -u
compare=$1
shift
[ $# -gt 0 ] || set -- $("$compare" --list | awk 'NR > 1 && !/limit/ { print $1 }')
export PTERA_CPU=v3
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
printf '# case\tengine\tinstructions; commit %s, %s\n' "$(git -C "$(dirname "$0")" rev-parse \
    --short HEAD)" \
    "$(cc --version | head -n 1)"
for engine in interp jit; do
    for case in "$@"; do
        valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/dev/null \
            --log-file="$log" \
            "$compare" --once -k "$case" -e "$engine" -p none -t 1
        case $? in
        0) printf '%s\t%s\t%s\n' "$case" "$engine" "$(awk '/Collected/ { print $NF }' "$log")" ;;
        3) break ;; # compare has said why
        4) printf '%s\t%s\tinterpreted\n' "$case" "$engine" ;;
        *) failed=1 ;;
        esac
    done
done
exit $failed
