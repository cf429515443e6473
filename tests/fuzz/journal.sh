#!/bin/sh
# Campaigns: runs that are killed go on where they were, and nothing is run twice but the kernel at
# hand. journal.sh KILLS PTERA...
kills=$1
shift
tool=$*
root=$(dirname "$0")/../..
command=fuzz
. "$root/tests/command.sh"
kernels=$((kills * 20))
run() { # RANK: of two, until it ends or is killed
    OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=2 $tool fuzz --mpi --engine interp --seed 7 \
        --count $kernels --journal "$work/journal" --out "$work" >>"$work/log.$1" 2>&1
}
# Either rank in turn is killed after some of its time; which kernel is at hand nobody knows.
killed=0
while [ $killed -lt "$kills" ]; do
    run $((killed % 2)) &
    pid=$!
    sleep "0.$(awk -v n=$killed 'BEGIN { srand(n); printf "%02d", 2 + rand() * 30 }')"
    kill -9 $(cat /proc/$pid/task/$pid/children 2>/dev/null) $pid 2>/dev/null
    wait $pid 2>/dev/null
    killed=$((killed + 1))
done
is 'rank 0 goes on' run 0
is 'rank 1 goes on' run 1
is 'who ends last reports for all' holds "$work/log.1" "campaign: $kernels of $kernels kernels"
is 'a report' ends 0 --report "$work/journal.0" "$work/journal.1"
is 'of all' holds "$work/stdout" "fuzz: $kernels passed, 0 failed, 0 skipped"
cat "$work/journal.0" "$work/journal.1" | awk '$1 == "end" { print $2 }' | sort -n >"$work/ended"
seq 7 $((kernels + 6)) >"$work/seeds"
is 'each kernel once' cmp "$work/ended" "$work/seeds"
# What was at hand has begun again, and only that: at most one a kill.
is 'nothing else twice' awk -v kills="$kills" '$1 == "begin" { n++ } $1 == "end" { n-- }
    $1 == "begin" && ended[$2] { bad = 1 } $1 == "end" { ended[$2] = 1 }
    END { exit bad || n > kills }' "$work/journal.0" "$work/journal.1"
is 'there is nothing left to run' run 0
is 'not another campaign' ends 1 --engine interp --seed 8 --count $kernels --rank 0 --size 2 \
    --journal "$work/journal"
is 'says so' holds "$work/stderr" 'the journal of another campaign'
is 'a line that is not whole' sh -c "printf 'end 9' >>'$work/journal.0'"
is 'is run again' run 0
is 'not a rank twice' ends 1 --report "$work/journal.0" "$work/journal.0"
is 'not a rank that is not' ends 2 --rank 2 --size 2
is 'no launcher' ends 2 --mpi
echo "killed $killed times, $(grep -c begin "$work/journal.0" "$work/journal.1" | tr '\n' ' ')" >&2
close fuzz_journal
