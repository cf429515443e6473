#!/bin/sh
# Coverage of what ships: coverage.sh BUILD [CTEST OPTION...]. Runs the tests of a build with
# PTERA_COVERAGE; prints lines and branches by folder; BUILD/coverage.txt has them by file.
set -u
build=$(cd "$1" && pwd)
shift
llvm=/usr/lib/llvm-19/bin
profiles=$build/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
# %m: one file for each program or library; %c: counted in it while it runs.
LLVM_PROFILE_FILE="$profiles/%c%m.profraw" ctest --test-dir "$build" -j "$(nproc)" --timeout 1200 \
    -LE "long|release-only" "$@" |
    grep -v '^ *Start '
$llvm/llvm-profdata merge -sparse "$profiles"/*.profraw -o "$build/coverage.profdata" || exit 1
objects=
for file in "$build"/ptera "$build"/ptera-compiler "$build"/libptera* "$build"/libcuda.so* \
    "$build"/libgpuocelot.so "$build"/libcudart.so.13 "$build"/libnvidia-ml.so.1 \
    "$build"/ptera-compilers/*.so.* "$build"/ptera-programs/* "$build"/tests/unit_*; do
    [ -x "$file" ] && [ ! -L "$file" ] && objects="$objects -object $file"
done
# shellcheck disable=SC2086
$llvm/llvm-cov report $objects -instr-profile "$build/coverage.profdata" \
    -show-region-summary=false \
    -ignore-filename-regex '/tests/|/usr/' >"$build/coverage.txt" || exit 1
awk '
    # file  functions missed %  lines missed %  branches missed %
    NF == 10 && $1 ~ /\.[ch]$/ {
        folder = $1
        sub("/[^/]*$", "", folder)
        lines[folder] += $5; missed[folder] += $6; branches[folder] += $8; untaken[folder] += $9
        lines["all"] += $5; missed["all"] += $6; branches["all"] += $8; untaken["all"] += $9
    }
    END {
        for (folder in lines)
            if (!lines[folder])
                delete lines[folder]
        print "| folder | lines | run | branches | taken |"
        print "|---|---|---|---|---|"
        for (folder in lines)
            printf "| %s | %d | %.1f %% | %d | %.1f %% |\n", folder, lines[folder],
                   100 - 100 * missed[folder] / lines[folder], branches[folder],
                   branches[folder] ? 100 - 100 * untaken[folder] / branches[folder] : 100 | "sort"
    }' "$build/coverage.txt"
