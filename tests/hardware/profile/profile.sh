#!/bin/sh
# The counters of kernels.ptx and copies.ptx are those of table.tsv, of programs those of
# programs.tsv:
# profile.sh FOLDER LAUNCH PROGRAMS TOOL...
set -eu
folder=$1
launch=$2
programs=$3
shift 3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
PTERA_PROFILE=$work/counts "$launch" "$folder/kernels.ptx" "$folder/cases.txt"
PTERA_PROFILE=$work/counts "$launch" "$folder/copies.ptx" "$folder/copies.txt"
PTERA_PROFILE=$work/more "$programs" "$folder/../.." "$folder/programs.txt" >"$work/out"
"$@" profile --read "$work/counts" --metrics all --csv --log-file "$work/csv"
"$@" profile --read "$work/more" --metrics all --csv --log-file "$work/more.csv"
# Who comes first decides what bfs and the hash table do.
awk -F '\t' -v csv="$work/csv" -v more="$work/more.csv" '
    function shape(text) { gsub(/[()]/, "", text); gsub(/, /, "x", text); return text }
    function read(path, has_shapes,    line, row, n, v, i, name, kernel) {
        line = 0
        while ((getline row < path) > 0) {
            n = split(substr(row, 2, length(row) - 2), v, "\",\"")
            if (!line++) { for (i = 1; i <= n; i++) name[i] = v[i] }
            kernel = has_shapes ? v[2] " " shape(v[4]) " " shape(v[3]) : v[2]
            for (i = 1; i <= n; i++) value[kernel, name[i]] = v[i]
        }
    }
    BEGIN { read(csv, 0); read(more, 1) }
    /^#/ || /^(bfs|hash_insert|hash_find) / { next }
    {
        have = value[$1, $2]
        difference = have - $4
        if (have != "" && difference < 0.006 && difference > -0.006) { passed++; next }
        print $1 ": " $2 " is " have ", not " $4
        failed++
    }
    END {
        printf "profile_h100: %d passed, %d failed, 0 skipped\n", passed, failed
        exit passed < 3500 || failed > 0
    }
' "$folder/table.tsv" "$folder/programs.tsv"
