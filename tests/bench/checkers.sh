#!/bin/sh
# What the checkers and `ptera profile` cost: the time with each over that of the interpreter
# without, of each case, and the geometric means.
# checkers.sh COMPARE [OPTION...]: options as for `compare`.
set -eu
tsv=$(mktemp)
trap 'rm -f "$tsv"' EXIT
compare=$1
shift
tools="check-mem check-sync check-init check-race check-all profile"
"$compare" -p none -t 1 -e "interp,$(echo $tools | tr ' ' ,)" \
    --tsv "$tsv" "$@" | grep -E ': (check-|profile)|results:' || true
awk -F '\t' -v tools="$tools" '
    !($1 in seen) { seen[$1] = ++n; name[n] = $1 }
    { ms[$1, $3] = $7 }
    END {
        count = split(tools, tool, " ")
        printf "%-14s %9s", "case", "ms"
        for (t = 1; t <= count; t++)
            printf " %7s", substr(tool[t], index(tool[t], "-") + 1)
        print ""
        for (i = 1; i <= n; i++) {
            base = ms[name[i], "interp"]
            printf "%-14s %9.2f", name[i], base
            for (t = 1; t <= count; t++) {
                time = ms[name[i], tool[t]]
                if (base > 0 && time > 0) {
                    printf " %7.2f", time / base
                    logs[t] += log(time / base)
                    cases[t]++
                } else {
                    printf " %7s", "-"
                }
            }
            print ""
        }
        printf "%-14s %9s", "geometric mean", ""
        for (t = 1; t <= count; t++)
            printf " %7.2f", cases[t] ? exp(logs[t] / cases[t]) : 0
        print ""
    }' "$tsv"
