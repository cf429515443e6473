#!/bin/sh
# `ptera exec` passes on what a program says and how it ends; `ptera doctor` tells a program by its libraries: exec.sh PTERA PROGRAM,
# where PROGRAM uses our runtime library.
set -u
ptera=$1
program=$2
passed=0
failed=0

check() { # NAME WANTED HAVE
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        echo "FAILED $1: '$3', not '$2'"
        failed=$((failed + 1))
    fi
}

check "arguments" "a b-c" "$("$ptera" exec sh -c 'echo "$1-$2"' sh "a b" c)"
"$ptera" exec sh -c 'exit 37'
check "exit status" 37 $?
"$ptera" exec /does/not/exist 2>/dev/null
check "no program" 127 $?
"$ptera" exec 2>/dev/null
check "no arguments" 2 $?
folder=$(dirname "$("$ptera" exec sh -c 'echo "${LD_PRELOAD%%:*}"')")
check "libraries" yes "$([ -e "$folder/libcuda.so.1" ] && [ -e "$folder/libcudart.so.13" ] && echo yes)"
"$ptera" exec "$program" >/dev/null
check "a program of ours" 0 $?
check "doctor" "nothing stands in the way" "$("$ptera" doctor "$program" | tail -n 1)"
check "doctor, libraries" 1 "$("$ptera" doctor "$program" | grep -c "libcudart.so.13: .*(Ptera's)")"
"$ptera" doctor "$0" 2>/dev/null
check "doctor, no program" 2 $?
echo "exec: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
