#!/bin/sh
# What the libraries in FOLDER... take of the room for thread-local variables that glibc keeps for
# libraries opened later, which are 1,664 bytes for all of a process: 192 at most.
set -u
passed=0 failed=0
for file in $(find "$@" -maxdepth 1 -type f -name 'lib*.so*'); do
    readelf -d "$file" 2>/dev/null | grep -q STATIC_TLS || continue
    bytes=$(($(readelf -lW "$file" | awk '$1 == "TLS" { print $6 }')))
    if [ "$bytes" -gt 192 ]; then
        failed=$((failed + 1))
        echo "FAILED $file takes $bytes bytes of static thread-local storage"
    else
        passed=$((passed + 1))
    fi
done
echo "tls: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
