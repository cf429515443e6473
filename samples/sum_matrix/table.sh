#!/bin/sh
# Block shapes against what they make of loads and stores: table.sh PTERA. table.txt has what it prints.
set -eu
kernel=$(dirname "$0")/sum_matrix.ptx
metrics=sm__maximum_warps_per_active_cycle_pct,gld_efficiency,gld_transactions_per_request
metrics=$metrics,gst_efficiency,gst_transactions_per_request,inst_per_warp
side=1024
echo "sum_matrix of $side x $side floats"
echo "   block       grid  occupancy  loads use  sectors  stores use  sectors  instructions"
for block in 32,32 32,16 16,32 16,16 8,32 4,64 2,128 1,256; do
    grid=$((side / ${block%,*})),$((side / ${block#*,}))
    # The command is words.
    # shellcheck disable=SC2086
    ${*:-ptera} profile --csv --metrics $metrics --log-file /dev/stdout "$kernel" -g $grid -b $block \
        zero:$((4 * side * side)) zero:$((4 * side * side)) zero:$((4 * side * side)) u32:$side u32:$side |
        awk -F '","' -v block="$block" -v grid="$grid" '$2 == "sum_matrix" {
            sub(/"$/, "", $NF)
            printf "%8s %10s %8s %% %8s %% %8s %9s %% %8s %13s\n", block, grid, $6, $7, $8, $9, $10, $11
            is_found = 1
        }
        END { exit !is_found }'
done
