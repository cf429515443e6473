#!/bin/sh
# Runs the one-line commands of a few samples and shows what they print: show_samples.sh PTERA
set -eu
cd "$(dirname "$0")/../.."
ptera=$1
for sample in hello saxpy matmul reduce mandelbrot; do
    sed -n 's|^// RUN: ptera ||p' "samples/$sample/$sample.cu" | while read -r arguments; do
        printf '$ ptera %s\n' "$arguments"
        # The commands hold no quotes: words split at spaces.
        # shellcheck disable=SC2086
        "$ptera" $arguments
    done
done
"$ptera" run samples/mandelbrot/mandelbrot.ptx -g 16,16 -b 16,16 u32:255 \
    out:build/mandelbrot.pgm:65551
echo "wrote build/mandelbrot.pgm"
