#!/bin/sh
# Random kernels against driver libraries: Ptera's own, and one with bugs (conform/broken.c).
# against.sh DRIVER BROKEN PTERA...
driver=$1
broken=$2
shift 2
tool=$*
root=$(dirname "$0")/../..
command=fuzz
. "$root/tests/command.sh"
PTERA_BROKEN=$work/bugs
export PTERA_BROKEN
breaks() { # BUG: of all kernels
    printf 'x\t.entry\t%s\tx\n' "$1" >"$work/bugs"
    ends 1 --against "$broken" --for-gpu --seed 9 --count 1 --out "$work"
}
: >"$work/bugs"
is 'our driver' ends 0 --against "$driver" --for-gpu --count 12 --out "$work"
is 'all agree' holds "$work/stdout" 'fuzz: 12 passed, 0 failed, 0 skipped'
is 'a wrong result' breaks wrong_zeroed
is 'where it differs' holds "$work/stdout" "seed 9: different: $broken, the driver: byte "
is 'unoptimised, too' grep -q '(at -O0 different)$' "$work/stdout"
is 'what made it' grep -q '^// What made byte [0-9]* of out, interpreted:' "$work/fuzz-9.ptx"
is 'the last step' sh -c "tail -1 '$work/fuzz-9.ptx' | grep -q 'thread (.*: st.global.* %x.*=0x'"
is 'made smaller' test "$(wc -l <"$work/fuzz-9.ptx")" -lt 90
is 'a module refused' breaks load_refused
is 'says so' holds "$work/stdout" 'seed 9: invalid PTX: '
is 'a crash' breaks load_segv
is 'says so, too' holds "$work/stdout" 'seed 9: crashed: '
is 'no driver' ends 1 --against "$work/bugs" --count 1 --out "$work"
is 'why' holds "$work/stdout" 'failed: '
close fuzz_against
