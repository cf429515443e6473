#!/bin/sh
# Runs a program and compares what it prints with what an H100's driver made of it: image_calls.sh
# PROGRAM TEXT. A line that ends with "ended" stands for a call that ended the program there.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
sed -n 's/^\(.*:\) ended$/^\1/p' "$2" >"$work/ended"
grep -v ': ended$' "$2" >"$work/want"
"$1" >"$work/all" || exit 2
grep -v -f "$work/ended" "$work/all" >"$work/have"
if diff "$work/want" "$work/have"; then
    echo "$(basename "$1"): $(grep -c . "$work/want") passed, 0 failed, 0 skipped"
else
    echo "$(basename "$1"): 0 passed, 1 failed, 0 skipped"
    exit 1
fi
