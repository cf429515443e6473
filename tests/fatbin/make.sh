#!/bin/sh
# Makes the fatbinaries beside it: make.sh [PTERA]. Needs nvcc 13.0.
set -eu
ptera=${1:-ptera}
cd "$(dirname "$0")"

fill() { # NAME NVCC-OPTION...: fill.cu as NAME.fatbin
    name=$1
    shift
    nvcc -fatbin "$@" fill.cu -o "$name.fatbin"
}

fill zstd -arch=compute_75
fill lz4 -arch=compute_75 -Xfatbin --compress-mode=speed
fill raw -arch=compute_75 -no-compress
fill several -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=compute_80 \
    -gencode arch=compute_90,code=compute_90 -gencode arch=compute_100,code=compute_100
fill arch -arch=compute_90a
fill family -arch=compute_100f
fill machine -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90
fill later -gencode arch=compute_90,code=sm_90 -gencode arch=compute_100,code=compute_100 \
    -gencode arch=compute_120,code=compute_120
fill lineinfo -arch=compute_75 -lineinfo
fill lto -gencode arch=compute_90,code=lto_90
nvcc -arch=sm_90 -cubin fill.cu -o fill.cubin

# Cubins of `ptera ptxas`, one of them compressed.
for arch in 80 90; do
    nvcc -arch=compute_$arch -ptx fill.cu -o fill.$arch.ptx
    "$ptera" ptxas -arch=sm_$arch fill.$arch.ptx -o fill.$arch.cubin
done
fatbinary -64 --create=cubin.fatbin --image3=kind=elf,sm=80,file=fill.80.cubin \
    --image3=kind=elf,sm=90,file=fill.90.cubin
fatbinary -64 --create=cubin_zstd.fatbin --compress-all --image3=kind=elf,sm=90,file=fill.90.cubin
rm fill.*.ptx fill.*.cubin
