#!/bin/sh
# Block shapes against what they make of loads and stores, counted, and against how many warps an H100 has
# at once and how fast it moves what they ask for, estimated: table.sh PTERA. table.txt has what it prints.
set -eu
kernel=$(dirname "$0")/sum_matrix.ptx
metrics=gld_efficiency,gld_transactions_per_request,gst_efficiency,gst_transactions_per_request,inst_per_warp
metrics=$metrics,sm__maximum_warps_per_active_cycle_pct,achieved_occupancy,gld_throughput,gst_throughput
side=1024
echo "sum_matrix of $side x $side floats"
echo "                         loads          stores  instructions        occupancy  GB/s, estimated"
echo "   block       grid    use  sectors    use  sectors     of a warp  at most  achieved   loads  stores"
for block in 32,32 32,16 16,32 16,16 8,32 4,64 2,128 1,256; do
    grid=$((side / ${block%,*})),$((side / ${block#*,}))
    # The command is words.
    # shellcheck disable=SC2086
    ${*:-ptera} profile --estimate h100 --csv --metrics $metrics --log-file /dev/stdout "$kernel" -g $grid \
        -b $block zero:$((4 * side * side)) zero:$((4 * side * side)) zero:$((4 * side * side)) u32:$side u32:$side |
        awk -F '","' -v block="$block" -v grid="$grid" '$2 == "sum_matrix" {
            sub(/"$/, "", $NF)
            printf "%8s %10s %5.1f%% %8s %5.1f%% %8s %13s %7s%% %8.0f%% %7.0f %7.0f\n", \
                block, grid, $6, $7, $8, $9, $10, $11, 100 * $12, $13, $14
            is_found = 1
        }
        END { exit !is_found }'
done
