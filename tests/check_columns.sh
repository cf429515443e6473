#!/bin/sh
# No line is longer than 100 columns, comments included: check_columns.sh ROOT [-v]. -v lists the
# lines, else folders and counts. Sources, scripts and tables are looked at; data that programs
# made, and lines that an address makes long, are not.
root=$1
LC_ALL=C.UTF-8
export LC_ALL
cd "$root" || exit 2
long=$(find . \( -name '.?*' -o -path ./build -o -path ./tests/fuzz/corpus -o -path \
    ./tests/bench/kernels \
    -o -path ./samples -o -path ./tests/cudart/images \) -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' -o -name dev \) -print |
    grep -vE '/(layouts|trees)\.def$' |
    xargs grep -nE '^.{101,}' | grep -v '://')
n=$(printf '%s' "$long" | grep -c .)
if [ "${2:-}" = -v ]; then
    printf '%s\n' "$long"
elif [ "$n" -gt 0 ]; then
    printf '%s\n' "$long" | sed 's,^\./,,; s,/*[^/:]*:.*,,' | sort | uniq -c
fi
if [ "$n" = 0 ]; then echo "columns: 1 passed, 0 failed, 0 skipped"; else
    echo "FAILED $n lines of more than 100 columns"
    echo "columns: 0 passed, 1 failed, 0 skipped"
    exit 1
fi
