#!/bin/sh
# Tables of corners: kernels have what none has had, and tables add up. corners.sh PTERA...
tool=$*
root=$(dirname "$0")/../..
command=fuzz
. "$root/tests/command.sh"
hit() { # FILE...: how many corners its report counts
    $tool fuzz --corners-report "$@" | awk '$1 == "corners" { print $2 }'
}
counts() { # TABLE CORNER CLASS
    awk -F '\t' -v n="$2" -v c="$3" '$2 == n && $3 == c { all += $1 } END { print all + 0 }' "$1"
}
run() { # TABLE COUNT MORE...
    table=$1
    count=$2
    shift 2
    ends 0 --engine interp --corners "$table" --count "$count" --out "$work" "$@"
}
is 'kernels that are wished' run "$work/a" 15 --seed 1
is 'all pass' holds "$work/stdout" 'fuzz: 15 passed, 0 failed, 0 skipped'
first=$(hit "$work/a")
is 'they have many corners' test "$first" -gt 800
before=$(counts "$work/a" 'mov u32 d' register)
is 'more of them' run "$work/a" 45 --seed 101
is 'others' test "$(hit "$work/a")" -gt $((first + 50))
has() { # PREFIX: the table has corners of rows that begin so
    grep -q "^[0-9]*	$1" "$work/a"
}
is 'textures' has tex_
is 'surfaces' has su
is 'multicast memory' has multimem_
is 'barriers of one thread' has mbarrier_
is 'counted on' test "$(counts "$work/a" 'mov u32 d' register)" -gt "$before"
is 'a rank of two' run "$work/b" 4 --rank 1 --size 2 --for-gpu
is 'its own table' test -f "$work/b.1"
is 'two tables' test "$(hit "$work/a" "$work/b.1")" -ge "$(hit "$work/a")"
is 'what was missed' ends 0 --corners-report "$work/a"
is 'why' grep -q '^  tma_.*: needs a tensor map: ' "$work/stdout"
is 'shapes' grep -q '^shapes  *[0-9]* hit of ' "$work/stdout"
printf 'no table\n' >"$work/c"
is 'no table' ends 1 --corners-report "$work/c"
is 'says so' holds "$work/stderr" 'no table of corners'
is 'nor to go on with' ends 1 --corners "$work/c" --count 1 --engine interp
is 'no file' ends 1 --corners-report "$work/none"
close fuzz_corners
