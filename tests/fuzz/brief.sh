#!/bin/sh
# Brief campaigns: most kernels are small, and pass as the others do. brief.sh PTERA...
tool=$*
root=$(dirname "$0")/../..
command=fuzz
. "$root/tests/command.sh"
lines() { # SEED OPTION...: how many the kernel has, but for tables
    seed=$1
    shift
    $tool fuzz --seed "$seed" --count 1 --show "$@" | grep -c ';$'
}
are_small() { # the kernels that the two seeds begin and end
    for seed in $(seq "$1" "$2"); do
        [ "$(lines "$seed" --brief)" -le 50 ] || return 1
    done
}
is 'they are small' are_small 1 25
is 'one of 512 is as without' test "$(lines 512 --brief)" = "$(lines 512)"
is 'which is not small' test "$(lines 512)" -gt 50
is 'they pass' ends 0 --engine interp --brief --seed 490 --count 30 --journal "$work/journal"
is 'all' holds "$work/stdout" 'fuzz: 30 passed, 0 failed, 0 skipped'
is 'not to go on with without' ends 1 --engine interp --seed 490 --count 30 \
    --journal "$work/journal"
is 'says so' holds "$work/stderr" 'the journal of another campaign'
close fuzz_brief
