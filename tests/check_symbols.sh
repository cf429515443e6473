#!/bin/sh
# The floors and the circles of the house, as the objects' symbol tables have them (who defines, who
# needs): check_symbols.sh BUILD [-v] reads the objects of a build folder. A circle is a set of
# files that need each other, directly or through others; a function's address in a table is a need
# like a call. -v names the files of each circle.
root=$(cd "$(dirname "$0")/.." && pwd)
[ -d "$1/CMakeFiles" ] || { echo "usage: check_symbols.sh BUILD [-v]"; exit 2; }
cd "$1/CMakeFiles" || exit 2

# Folders from the lowest floor up, each with the most files that a circle inside it may have.
floors='
ir 1
frontend 1
backend 1
backend/semantics 1
backend/interp 1
backend/jit/object 1
backend/jit/llvm 1
backend/jit/emit 1
backend/jit/analysis 1
backend/jit/value 3
backend/jit/memory 1
backend/jit/warp 1
backend/jit/control 1
backend/jit/process 1
backend/jit 1
runtime/registers 1
runtime 1
runtime/cuda 1
runtime/cudart 1
runtime/nvml 1
runtime/cupti 1
runtime/compilers 1
runtime/ocelot 1
tools/file 1
tools/conform 1
tools/litmus 1
tools/fuzz 1
tools/audit 1
tools/smi 1
tools 1
'

find . -name '*.c.o' -exec nm -A -g {} + |
    awk -v root="$root" -v floors="$floors" -v verbose="${2:-}" '
# What was built of a file that is not there any more does not count.
function is_there(source,   line, is) {
    if (!(source in seen)) {
        is = (getline line < (root "/" source)) >= 0
        close(root "/" source)
        seen[source] = is
    }
    return seen[source]
}
function folder_of(source) { sub(/\/[^\/]*$/, "", source); return source }

# Marks all files of the folder that file needs, through whatever others.
function reach(from, file,   i) {
    for (i = 1; i <= count[file]; i++)
        if (folder_of(need[file, i]) == folder_of(file) && !((from, need[file, i]) in reached)) {
            reached[from, need[file, i]] = 1
            reach(from, need[file, i])
        }
}

# ./TARGET.dir/FOLDER/FILE.c.o:ADDRESS TYPE NAME, without an address where the name is only needed
{
    object = $0
    sub(/:.*/, "", object)
    source = object
    sub(/^\.\/[^\/]*\//, "", source)
    sub(/\.o$/, "", source)
    if (!is_there(source)) next
    if (source ~ /^tools\/nodes\//) next # whose names are of the C library
    sources[source] = 1
    split(object, part, "/")
    if ($(NF - 1) == "U") {
        wanted[++wants] = part[2] SUBSEP $NF
        wanter[wants] = source
    } else {
        if (!((part[2], $NF) in home)) home[part[2], $NF] = source
        if (!($NF in any)) any[$NF] = source
    }
}

END {
    lines = split(floors, row, "\n")
    for (i = 1; i <= lines; i++)
        if (split(row[i], field, " ") == 2) {
            floor[field[1]] = ++highest
            name[highest] = field[1]
            most[highest] = field[2]
        }
    for (i = 1; i <= wants; i++) {
        split(wanted[i], field, SUBSEP)
        file = (wanted[i] in home) ? home[wanted[i]] : (field[2] in any) ? any[field[2]] : ""
        if (file == "" || file == wanter[i] || ((wanter[i], file) in edge)) continue
        edge[wanter[i], file] = field[2]
        need[wanter[i], ++count[wanter[i]]] = file
    }
    for (source in sources) {
        if (!(folder_of(source) in floor)) {
            print "FAILED " source " has no floor"
            failed++
            continue
        }
        for (i = 1; i <= count[source]; i++) {
            file = need[source, i]
            if (floor[folder_of(file)] > floor[folder_of(source)]) {
                print "FAILED " source " needs " edge[source, file] " of " file ", a higher floor"
                failed++
            } else
                passed++
        }
        reach(source, source)
    }
    for (i = 1; i <= highest; i++) {
        largest = 0
        seen_any = 0
        for (source in sources) {
            if (folder_of(source) != name[i]) continue
            seen_any = 1
            members = 1
            list = source
            for (other in sources)
                if (other != source && ((source, other) in reached) &&
                    ((other, source) in reached)) {
                    members++
                    list = list " " other
                }
            if (members > largest) { largest = members; files = list }
        }
        if (!seen_any) continue
        if (largest > most[i]) {
            print "FAILED " name[i] ": " largest " files in a circle, at most " most[i] ": " files
            failed++
        } else
            passed++
        if (verbose != "")
            print name[i] ": " largest (largest > 1 ? " of a circle: " files : " (no circle)")
    }
    print "symbols: " passed " passed, " failed + 0 " failed, 0 skipped"
    exit failed > 0
}'
