#!/bin/sh
# The reports of `ptera profile`: reports.sh ROOT LAUNCH PTERA... LAUNCH is hardware/profile's
# program.
root=$1
program=$2
shift 2
tool=$*
command=profile
. "$root/tests/command.sh"
counts() { # METRIC VALUE
    awk -v metric="$1" -v want="$2" '$1 == metric { have = $3 } END { exit have != want }' \
        "$work/stderr" || { grep -F "$1" "$work/stderr"; false; }
}
saxpy="$root/samples/saxpy/saxpy.ptx -k saxpy -g 4 -b 256 u32:1000 f32:2 iota:f32:1000 \
    fill:f32:1000:1"
branches="$root/tests/profile/branches.ptx -b 64 zero:1024"

# 1,000 of 1,024 threads: 31 warps and a quarter of one, two loads and a store each.
is metrics ends 0 --metrics all $saxpy
is warps counts smsp__warps_launched.sum 32
is requests counts l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 64
is sectors counts l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 250
is stores counts gst_transactions 125
is efficiency counts gld_efficiency 100
is operations counts flop_count_sp 2000
is fused counts flop_count_sp_fma 1000
is bytes counts l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum 8000
is branches counts smsp__sass_branch_targets_threads_divergent.sum 1
is 'single precision' counts inst_fp_32 1000
is 'no barriers' counts ptera__inst_executed_op_barrier.sum 0
is csv ends 0 --csv --page raw --metrics gld_efficiency,smsp__warps_launched.sum $saxpy
is 'csv has names' holds "$work/stderr" '"Launches","gld_efficiency","smsp__warps_launched.sum"'
is 'csv has values' holds "$work/stderr" '"(256, 1, 1)","(4, 1, 1)","1","100","32"'
is 'no other page' ends 2 --csv --page details $saxpy
is 'unknown metric' ends 2 --metrics gld_efficiency,lost_occupancy $saxpy
is 'names it' holds "$work/stderr" "there is no metric 'lost_occupancy'"
is 'bad number' ends 2 --launch-skip x $saxpy
is list ends 0 --query-metrics
is 'list has all' holds "$work/stdout" smsp__sass_thread_inst_executed_op_dfma_pred_on.sum

# Times and caches: 8,000 bytes are read of memory, in lines that are whole but for the last.
is estimate ends 0 --estimate h100 --save "$work/timed" $saxpy
is 'says how long' holds "$work/stderr" "NVIDIA H100 80GB HBM3: 3."
is 'says how sure' holds "$work/stderr" "half of the times measured are within"
is 'metrics of a model' ends 0 --metrics dram__bytes_read.sum --read "$work/timed"
is 'bytes of memory' grep -qE 'dram__bytes_read.sum +byte +8[0-9]{3}$' "$work/stderr"
is 'they turn it on' ends 0 --metrics achieved_occupancy,l1tex__t_sector_hit_rate.pct $saxpy
is 'hits' grep -qE 'l1tex__t_sector_hit_rate.pct +% +33.33$' "$work/stderr"
is 'lines have times' ends 0 --lines --read "$work/timed"
is 'of the timed warps' holds "$work/stderr" "time %"
is barriers ends 0 --metrics stall_sync,ptera__inst_executed_op_barrier.sum \
    "$root/samples/reduce/reduce.ptx" -k reduce_neighbored -g 8 -b 128 iota:s32:1024 zero:32
is 'each warp at each' counts ptera__inst_executed_op_barrier.sum 224
is 'warps wait' awk '/stall_sync/ { n = $3 } END { exit !(n > 1 && n < 100) }' "$work/stderr"
is 'other device' ends 0 --estimate a100 $saxpy
is 'not sure' holds "$work/stderr" "the error is not known"
is 'no such device' ends 2 --estimate h1000 $saxpy
is 'no clock' ends 2 --estimate b300 $saxpy
is 'says so' holds "$work/stderr" "the clock of a NVIDIA B300 is not known"

# Two warps, of which the first 40 threads branch.
is table ends 0 $branches
is 'says what limits' holds "$work/stderr" \
    "global stores use 25 % of what they move; most by st.global.u32 at branches.cu:9"
is 'says conflicts' holds "$work/stderr" \
    "bank conflicts: shared memory takes 2.0 times its turns; most by st.shared.u32 at branches.cu"
is lines ends 0 --lines $branches
is 'lines of the source' grep -qE '^ +5 +2 +[0-9.]+ +24\.0' "$work/stderr"
is 'lines of the PTX' ends 0 --ptx-lines $branches
is 'has them' grep -qE '^ +[0-9]+ +2 .*@%p1 bra low;' "$work/stderr"
is coverage ends 0 --coverage "$work/info" --log-file "$work/log" $branches
is 'covered line' holds "$work/info" "DA:7,40"
is 'line that never ran' holds "$work/info" "DA:11,0"
is 'branch taken' holds "$work/info" "BRDA:4,0,0,40"
is 'branch not taken' holds "$work/info" "BRDA:4,0,1,24"
is 'branch never taken' holds "$work/info" "BRDA:10,0,0,0"
is totals holds "$work/info" "BRF:4"

is save ends 0 --save "$work/saved" $saxpy
is read ends 0 --read "$work/saved"
is 'says the kernel' holds "$work/stderr" "saxpy (4, 1, 1)x(256, 1, 1)"
echo junk >"$work/junk"
is 'no file of counts' ends 1 --read "$work/junk"
is 'no file' ends 1 --read "$work/nothing"
is 'cannot write' ends 1 --log-file /nowhere/x --read "$work/saved"

# The sample's table of block shapes: what is estimated, the last three columns, to within a half.
shapes=$root/samples/sum_matrix
is_like() { # TABLE
    paste "$1" "$shapes/table.txt" | awk 'NR > 3 {
        for (i = 1; i <= 8; i++) if ($i != $(i + 11)) exit 1
        for (i = 9; i <= 11; i++) if ($i + 0 > 1.5 * $(i + 11) || 1.5 * $i < $(i + 11) + 0) exit 1
        n++
    }
    END { exit n != 8 }'
}
is 'block shapes' sh -c "'$shapes/table.sh' $tool >'$work/shapes'"
is 'as they were' is_like "$work/shapes"

# A page: what it has, and that it is whole (page.py).
is html ends 0 --html "$work/page.html" $branches
is 'its page' python3 "$root/tests/profile/page.py" "$work/page.html" 100000 \
    'branches' 'Source' 'PTX' 'Roofline' 'Divergence' 'Occupancy' 'bra at branches.cu:4' \
    '2 wavefronts: st.shared.u32 at branches.cu:8' '16 sectors: st.global.u32 at branches.cu:9'
is 'and how long it would take' ends 0 --estimate h100 --html "$work/page.html" $branches
is 'a timeline and times' python3 "$root/tests/profile/page.py" "$work/page.html" 100000 Timeline \
    'estimated us' 'half of the times measured are within'
is 'lanes and their banks' holds "$work/page.html" '<option value="2 4 4294967295 2 0 0 1024 1032 '
awk 'BEGIN {
    print ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"long.cu\""
    print ".visible .entry long(.param .u64 out)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<5000>;"
    print "ld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;"
    for (i = 1; i < 2500; i++) {
        print ".loc 1 " i " 1\n    mad.lo.s32 %r" i ", %r" i - 1 ", 3, 1;"
        print "    st.global.u32 [%rd1+" 4 * (i % 64) "], %r" i ";"
    }
    print "ret;\n}"
}' >"$work/long.ptx"
is 'a long kernel' ends 0 --html "$work/long.html" --log-file "$work/log" "$work/long.ptx" -b 64 \
    zero:1024
is 'its page is small' python3 "$root/tests/profile/page.py" "$work/long.html" 2000000 long.cu
is 'cannot write a page' ends 1 --html /nowhere/x --read "$work/saved"

# A program, its kernels chosen by name and number.
ptx="$root/tests/hardware/profile"
is program ends 0 --kernel-name 'load_stride_*' --launch-skip 1 --launch-count 2 -- \
    "$program" "$ptx/kernels.ptx" "$ptx/cases.txt"
is 'its kernels' holds "$work/stderr" load_stride_3
is 'not the first' lacks "$work/stderr" load_stride_1
is 'not all' lacks "$work/stderr" load_stride_4
is 'nor others' lacks "$work/stderr" saxpy
is 'no program' ends 127 -- /nowhere/program

close profile_reports
