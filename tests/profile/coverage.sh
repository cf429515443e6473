#!/bin/sh
# Coverage: what native code counts is what the interpreter counts, with all else or alone.
# coverage.sh ROOT LAUNCH PTERA... LAUNCH is hardware/profile's program.
root=$1
program=$2
shift 2
tool=$*
command=profile
. "$root/tests/command.sh"
same() { # ARGUMENTS of `ptera run`
    ends 0 --coverage "$work/all" --log-file /dev/null "$@" &&
        ends 0 --coverage "$work/interp" --engine interp "$@" &&
        ends 0 --coverage "$work/jit" --engine jit --time "$@" &&
        holds "$work/stderr" ', native' && diff "$work/interp" "$work/jit" &&
        diff "$work/all" "$work/jit"
}
ptx=$root/tests/ptx
# Lanes that part, guards, ends of some lanes; groups that are not full; blocks in versions.
is branches same "$root/tests/profile/branches.ptx" -b 64 zero:1024
is guards same "$ptx/control/guards.ptx" -b 6 zero:24@u32
is saxpy same "$root/samples/saxpy/saxpy.ptx" -k saxpy -g 4 -b 256 u32:1000 f32:2 iota:f32:1000 \
    fill:f32:1000:1
is loops same "$ptx/control/nested_breaks.ptx" -b 64 zero:256@u32
is 'uneven loops' same "$ptx/control/uneven_loop.ptx" -b 6 zero:24@u32
is mandelbrot same "$root/samples/mandelbrot/mandelbrot.ptx" -g 2,2 -b 16,16 u32:255 zero:65536
is 'lane by lane' same "$ptx/regressions/per_lane_loop_values.ptx" -k k -b 20 \
    iota:u32:128 iota:u32:128 u64:0 zero:128@u32:20 zero:128@u32:20
# Branches by a table; calls, also of what part of the lanes calls.
is tables same "$ptx/control/brx_idx.ptx" -b 6 zero:24@u32
is calls same "$ptx/control/reg_params.ptx" -b 4 zero:32@u32
is 'indirect calls' same "$ptx/control/indirect_call.ptx" -b 8 zero:32@u32
# Barriers, atomics, instructions that the interpreter runs for native code.
is barriers same "$root/samples/reduce/reduce.ptx" -k reduce_shuffle -g 2 \
    -b 256 iota:u32:1024 zero:8
is steps same "$ptx/sync/tensormap_fences.ptx" -k k -b 32 zero:144@u32

# A program. What was counted so tells nothing else.
hardware=$root/tests/hardware/profile
is program ends 0 --coverage "$work/info" --kernel-name 'load_stride_*' -- "$program" \
    "$hardware/kernels.ptx" "$hardware/cases.txt"
is 'its lines' holds "$work/info" 'SF:'
is 'no report' test ! -s "$work/stderr"
PTERA_PROFILE="$work/counts" PTERA_PROFILE_COVERAGE=1 "$program" "$hardware/kernels.ptx" \
    "$hardware/cases.txt" >"$work/stdout" 2>&1
is 'by environment' ends 0 --coverage "$work/info" --read "$work/counts"
is 'nothing else' ends 1 --read "$work/counts"
is 'says so' holds "$work/stderr" 'has coverage alone'

close profile_coverage
