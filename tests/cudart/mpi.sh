#!/bin/sh
# samples/programs/mpi/jacobi.cu by one rank and by four, each on its own device: the same bits.
# mpi.sh NVCC PTERA SOURCE FOLDER. Without OpenMPI it is skipped.
set -u
work=$4
if ! command -v mpirun >/dev/null || ! command -v mpicxx >/dev/null; then
    echo "mpi: 0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p "$work"
"$1" -arch=sm_90 -ccbin mpicxx "$3" -o "$work/jacobi" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PTERA_DEVICES=4
for n in 1 4; do
    "$2" exec mpirun --oversubscribe -n $n "$work/jacobi" >"$work/$n.out" 2>"$work/$n.err" || {
        cat "$work/$n.err"
        exit 1
    }
done
devices=$(grep -c '^rank \([0-3]\) of 4 on device \1$' "$work/4.err")
if [ "$devices" = 4 ] && [ -s "$work/1.out" ] && cmp "$work/1.out" "$work/4.out"; then
    echo "mpi: 2 passed, 0 failed, 0 skipped"
else
    cat "$work/4.err" "$work/1.out" "$work/4.out"
    echo "mpi: 0 passed, 2 failed, 0 skipped"
    exit 1
fi
