#!/bin/sh
# Makes the device code of programs in samples/programs, as fatbinaries without compression, for tests/cudart/images.c: make.sh. Needs nvcc 13.0.
set -eu
cd "$(dirname "$0")"
programs=../../../samples/programs

for name in vector_add reduction symbols managed grid_sync clusters; do
    nvcc -fatbin -no-compress -arch=compute_90 $programs/$name.cu -o $name.fatbin
done
for name in rdc rdc_part; do
    nvcc -fatbin -no-compress -arch=compute_90 -rdc=true $programs/$name.cu -o $name.fatbin
done
