#!/bin/sh
# Random litmus tests against driver libraries: Ptera's own, and one with bugs (conform/broken.c).
# against.sh DRIVER BROKEN PTERA...
driver=$1
broken=$2
shift 2
tool=$*
root=$(dirname "$0")/../..
command=litmus
. "$root/tests/command.sh"
PTERA_BROKEN=$work/bugs
export PTERA_BROKEN
breaks() { # BUG COUNT: of all kernels
    printf 'x\t.entry\t%s\tx\n' "$1" >"$work/bugs"
    ends 1 --against "$broken" --seed 9 --count "$2" --rounds 1
}
: >"$work/bugs"
is 'our driver' ends 0 --against "$driver" --count 12 --rounds 1
is 'all agree' holds "$work/stdout" 'litmus: 12 passed, 0 failed, 0 skipped'
is 'how many' holds "$work/stdout" '12 tests, 12 of them distinct; '
is 'a wrong result' breaks wrong_zeroed 1
is 'which' holds "$work/stdout" 'the driver: FORBIDDEN r0=0'
is 'the test' grep -q '^seed 9: 0.0: ' "$work/stdout"
is 'a module refused' breaks load_refused 1
is 'says so' holds "$work/stdout" '    the driver: CUDA_ERROR_'
is 'a crash' breaks load_segv 3
is 'says so, too' holds "$work/stdout" '    the process ended, '
is 'goes on' holds "$work/stdout" 'litmus: 0 passed, 3 failed'
is 'no driver' ends 1 --against "$work/bugs" --count 1
is 'a bad number' ends 2 --count 0
close litmus_against
