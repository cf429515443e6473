#!/bin/sh
# Times that are estimated for held.txt are within half of those of an H100, and sectors it read of
# memory within a tenth (table.tsv): estimate.sh TESTS LAUNCH TOOL...
set -eu
tests=$1
launch=$2
shift 2
folder=$tests/hardware/estimate
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
n=0
while read -r case; do
    n=$((n + 1))
    PTERA_DEVICE=h100 PTERA_PROFILE_TIME=1 PTERA_PROFILE=$work/counts "$launch" "$tests" \
        "$folder/held.txt" $n >"$work/out"
    "$@" profile --read "$work/counts" --csv --log-file "$work/csv" \
        --metrics gpu__time_duration.sum,dram__bytes_read.sum
    sed "1,2d; s/^/\"$case\",/" "$work/csv" >>"$work/all"
    rm "$work/counts"
done <"$folder/held.txt"
awk -F '\t' -v all="$work/all" '
    function shape(text) { gsub(/[()]/, "", text); gsub(/, /, "x", text); return text }
    BEGIN {
        while ((getline row < all) > 0) {
            split(substr(row, 2, length(row) - 2), v, "\",\"")
            ns[v[1], v[3], shape(v[5]), shape(v[4])] = v[7]
            bytes[v[1], v[3], shape(v[5]), shape(v[4])] = v[8]
        }
    }
    ($1, $2, $3, $4) in ns {
        ours = ns[$1, $2, $3, $4]; mb = bytes[$1, $2, $3, $4] / 1e6
        if (ours / $7 < 0.5 || ours / $7 > 1.5) {
            print $1 ": " $2 " takes " ours " ns, not " $7; failed++
        } else if (mb > 1.1 * $11 + 0.05 || mb < 0.9 * $11 - 0.05) {
            print $1 ": " $2 " reads " mb " MB, not " $11; failed++
        } else
            passed++
    }
    END {
        printf "estimate_h100: %d passed, %d failed, 0 skipped\n", passed, failed
        exit passed < 10 || failed > 0
    }
' "$folder/table.tsv"
