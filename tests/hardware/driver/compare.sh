#!/bin/sh
# Runs driver_calls and compares its lines, part by part, with what an H100 made of them:
# compare.sh PROGRAM TEXT DIFFERENCES [ARGUMENT]. DIFFERENCES has the lines that are known to be
# others here, as "part: line", below what the reason is ("# ..."). Where the GPU's driver ended the
# process the rest of a part is not compared. A listed difference that is none fails, too.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
"$1" ${4+"$4"} >"$work/have" 2>/dev/null || exit 2
awk -v program="$(basename "$1")" '
    /^== / { part = $2; n = 0 }
    FILENAME == ARGV[1] { if (!/^#/ && NF) known[$0] = 1; next }
    FILENAME == ARGV[2] { have[part, n++] = $0; next }
    {
        if (/: ended$/) { n++; next }
        all++
        line = have[part, n++]
        if (line == $0) next
        key = part ": " line
        if (key in known) { met[key] = 1; next }
        print part ": " line "\n    a GPU: " $0
        failed++
    }
    END {
        for (key in known) if (!(key in met)) { print "listed, but met nowhere: " key; failed++ }
        printf "%s: %d passed, %d failed, 0 skipped\n", program, all - failed, failed
        exit failed > 0
    }' "$3" "$work/have" "$2"
