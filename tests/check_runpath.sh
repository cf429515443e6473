#!/bin/sh
# Where programs and libraries in FOLDER... (not below) look for libraries: no empty element, which
# is the current folder, and none that depends on it.
set -u
passed=0 failed=0
for file in $(find "$@" -maxdepth 1 -type f); do
    readelf -h "$file" >/dev/null 2>&1 || continue
    paths=$(readelf -d "$file" | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]$/\2/p')
    case :${paths:-/}: in
    *::* | *:[!/\$]*)
        failed=$((failed + 1))
        echo "FAILED $file looks in '$paths'" ;;
    *)
        passed=$((passed + 1)) ;;
    esac
done
echo "runpath: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
