#!/bin/sh
# The counters of kernels.ptx and copies.ptx are those of table.tsv:
# profile.sh FOLDER LAUNCH TOOL...
set -eu
folder=$1
launch=$2
shift 2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
PTERA_PROFILE=$work/counts "$launch" "$folder/kernels.ptx" "$folder/cases.txt"
PTERA_PROFILE=$work/counts "$launch" "$folder/copies.ptx" "$folder/copies.txt"
"$@" profile --read "$work/counts" --metrics all --csv --log-file "$work/csv"
awk -F '\t' -v csv="$work/csv" '
    BEGIN {
        line = 0
        while ((getline row < csv) > 0) {
            n = split(substr(row, 2, length(row) - 2), v, "\",\"")
            if (!line++) { for (i = 1; i <= n; i++) name[i] = v[i] }
            for (i = 1; i <= n; i++) value[v[2], name[i]] = v[i]
        }
    }
    /^#/ { next }
    {
        have = value[$1, $2]
        difference = have - $4
        if (have != "" && difference < 0.005 && difference > -0.005) { passed++; next }
        print $1 ": " $2 " is " have ", not " $4
        failed++
    }
    END {
        printf "profile_h100: %d passed, %d failed, 0 skipped\n", passed, failed
        exit !passed || failed > 0
    }
' "$folder/table.tsv"
