#!/bin/sh
# `ptera exec` passes on what a program says and how it ends, and sums up what it did; `ptera
# doctor` tells a program by its libraries: exec.sh PTERA PROGRAM ENDS REFUSED, where PROGRAM uses
# our runtime library, ENDS (ends.c) ends as it is told, and REFUSED (refused.c) has what cannot
# run.
set -u
. "$(dirname "$0")/../runner/check.sh"
ptera=$1
program=$2
ends=$3
refused=$4

check "arguments" "a b-c" "$("$ptera" exec sh -c 'echo "$1-$2"' sh "a b" c)"
"$ptera" exec sh -c 'exit 37'
check "exit status" 37 $?
"$ptera" exec /does/not/exist 2>/dev/null
check "no program" 127 $?
"$ptera" exec 2>/dev/null
check "no arguments" 2 $?
folder=$(dirname "$("$ptera" exec sh -c 'echo "${LD_PRELOAD%%:*}"')")
check "libraries" yes "$([ -e "$folder/libcuda.so.1" ] && [ -e "$folder/libcudart.so.13" ] &&
    echo yes)"
"$ptera" exec "$program" >/dev/null
check "a program of ours" 0 $?
check "doctor" "nothing stands in the way" "$("$ptera" doctor "$program" | tail -n 1)"
check "doctor, libraries" 1 "$("$ptera" doctor "$program" | grep -c "libcudart.so.13: .*(Ptera's)")"
"$ptera" doctor "$0" 2>/dev/null
check "doctor, no program" 2 $?

# What cannot run, in advance and when it is launched.
said=$("$ptera" doctor "$refused")
check "doctor, status" 1 $?
problem() { # NAME TEXT: one line of it
    check "doctor, $1" 1 "$(echo "$said" | grep -c "^  problem: $2")"
}
problem "texture" \
    "kernel 'texture' cannot run: .*'tex.2dms.v4.s32.s32' is known but not supported yet\$"
problem "device runtime" \
    "kernel 'parent' cannot run: .*'__cudaCDP2Memcpy3DAsync' is of the device's runtime \
library"
problem "handles" \
    "libcublas.so.1 (.*) is .* used for handles alone, which cannot be made \
(.*cublas[CD][a-z]*_v2)\$"
problem "calls" "libcufft.so.1 (.*) is .* calls into it will fail (cufft.*, cufft.*)\$"
check "doctor, all" 4 "$(echo "$said" | grep -c "^  problem: ")"
said=$("$ptera" exec "$refused" 2>&1 >/dev/null)
check "launches refused" 1 "$(echo "$said" | grep -c \
    "^ptera: kernel 'parent' cannot run: .*'__cudaCDP2Memcpy3DAsync' is of ")"
check "launches refused, textures" 1 "$(echo "$said" |
    grep -c "^ptera: kernel 'texture' cannot run: ")"

table=$(mktemp) || exit 2
trap 'rm -f "$table"' EXIT

# The log of modules: warnings, and what is loaded.
said=$(PTERA_LOG=load "$ptera" exec "$ends" newer 2>&1 >/dev/null | grep -v '^ *^')
check "loads" "ptera: load: PTX 8.0 for sm_70, 3 kernels
ptera: load: ptx:1:10: warning: PTX version 9.9 is newer than 9.5, the newest that is known: it is \
read as that
.version 9.9
ptera: load: PTX 9.5 for sm_90, 1 kernels" "$said"

# The log of launches.
line="ptera: launch: kernel 'add', grid 1x1x1, block 32x1x1, cluster 1x1x1, 0 bytes of dynamic \
shared memory: interpreted (the interpreter is asked for), ran for [0-9.]* ms"
check "launches" 2 "$(PTERA_ENGINE=interp PTERA_LOG=launch "$ptera" exec "$ends" 2>&1 |
    grep -cx "$line")"
line="ptera: launch: kernel 'add', .* memory: native, compiled in [0-9.]* ms, ran for [0-9.]* ms"
if "$ptera" info | grep -q '^compiler  *LLVM'; then
    check "native launches" 1 "$(PTERA_ENGINE=jit PTERA_CACHE='' PTERA_LOG=launch "$ptera" exec \
        "$ends" 2>&1 | grep -cx "$line")"
fi

# An access outside goes on where that is wanted.
check "outside, stop" 1 "$("$ptera" exec "$ends" oob 2>&1 |
    grep -c "^ptera: illegal address .* in kernel 'behind' at ptx:[0-9]*, CTA (0,0,0)")"
PTERA_OOB=warn "$ptera" exec "$ends" oob >"$table" 2>&1
check "outside, warn" 0 $?
check "outside, report" 1 "$(grep -c \
    "^  the address is 240 bytes behind the end of a buffer of 16 bytes" "$table")"

# The host's own accesses of device memory.
"$ptera" exec "$ends" touch >/dev/null
check "touch, allowed" 0 $?
(PTERA_HOST_ACCESS=trap "$ptera" exec "$ends" touch) >"$table" 2>&1
check "touch, trapped" 139 $?
check "touch, message" 1 "$(grep -c \
    "^ptera: the host accesses byte 8 of device memory of 16 bytes at 0x" "$table")"
PTERA_HOST_ACCESS=trap "$ptera" exec "$ends" others >/dev/null
check "others' accesses" 0 $?
PTERA_DEVICES=2 PTERA_HOST_ACCESS=trap "$ptera" exec "$ends" peer >/dev/null 2>&1
check "peers" 0 $?
check "no such access" 1 "$(PTERA_HOST_ACCESS=on "$ptera" exec "$ends" touch 2>&1 |
    grep -c "^ptera: PTERA_HOST_ACCESS=on is neither allow nor trap")"

# The summary, however the program ends, and apart from its output.
rows() { # NAME COUNT-OF-LAUNCHES: the rows of `add`, `behind` and of copies, without their times
    sed -n -e 's/^ *\([0-9]*\) .*  \(add\|behind\): /\1 \2: /p' \
        -e 's/^ *\([0-9]*\) *[0-9.]* *\([0-9]*\)  \(device to host\|set\)$/\1 \2 \3/p' "$table" |
        LC_ALL=C sort -k 2
}
common="1 16 device to host
1 16 set
2 add: 2 interpreted"
check "summary apart" "output" "$(PTERA_ENGINE=interp "$ptera" exec --summary "$ends" 2>"$table" |
    head -n 1)"
check "summary" "$common" "$(rows)"
PTERA_ENGINE=interp "$ptera" exec --summary="$table" "$ends" _exit
check "summary, status of _exit" 3 $?
check "summary after _exit" "$common" "$(rows)"
PTERA_ENGINE=interp "$ptera" exec --summary="$table" "$ends" fault 2>/dev/null
check "summary, status of exit" 4 $?
check "summary after a kernel's fault" "$common
1 behind: 1 interpreted; 1 failed" "$(rows)"
"$ptera" exec --summary=/does/not/exist "$ends" 2>/dev/null
check "summary, no such file" 1 $?
"$ptera" exec --summery "$ends" 2>/dev/null
check "no such option" 2 $?
finish exec
