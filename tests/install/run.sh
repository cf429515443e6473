#!/bin/sh
# An installed Ptera serves programs outside the tree: run.sh SOURCE BUILD CC [EMULATOR...].
# Installs into a folder of its own; builds the embedding sample with what pkg-config says and with
# find_package(ptera), and runs both.
set -u
source=$1
build=$2
cc=$3
shift 3
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

check() { # check NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        cat "$work/log"
    fi
}

prints() { # prints TEXT COMMAND...
    text=$1
    shift
    printed=$("$@")
    [ "$printed" = "$text" ] || { echo "printed: $printed"; return 1; }
}

by_pkg_config() { # SAMPLE
    flags=$(PKG_CONFIG_PATH="$libs/pkgconfig" pkg-config --cflags --libs ptera) &&
        $cc "$source/samples/embed/$1.c" $flags -o "$work/$1"
}

by_find_package() {
    cmake -S "$source/samples/embed" -B "$work/embed-build" -DCMAKE_PREFIX_PATH="$root" \
        -DCMAKE_C_COMPILER="$cc" &&
        cmake --build "$work/embed-build"
}

check install cmake --install "$build" --prefix "$root"
libs=$(dirname "$(find "$root" -name libptera.so)")
export LD_LIBRARY_PATH="$libs"
check "embed by pkg-config" by_pkg_config embed
check "embed" prints "1 4 9 16 25" "$@" "$work/embed"
check "plugin by pkg-config" by_pkg_config plugin
check "plugin" prints "0 11.25 23 35.25" "$@" "$work/plugin"
if [ $# = 0 ] && command -v python3 >/dev/null; then
    check "embed.py" prints "0 0.5 1 499.5" python3 "$source/samples/embed/embed.py"
else
    skipped=$((skipped + 1))
    echo "skipped embed.py: no Python for it"
fi
check find_package by_find_package
check "find_package's program" prints "1 4 9 16 25" "$@" "$work/embed-build/embed"
unset LD_LIBRARY_PATH
check "search paths" "$source/tests/check_runpath.sh" "$root/bin" "$libs"
check "the tool finds its library" "$@" "$root/bin/ptera" --version
check "the tool verifies" "$@" "$root/bin/ptera" verify "$source/samples/saxpy/saxpy.ptx"
if "$@" "$root/bin/ptera" info | grep -q ', jit'; then
    check "native code" sh -c \
        "PTERA_CACHE= $* $root/bin/ptera run $source/samples/saxpy/saxpy.ptx -k saxpy -g 4 -b 256 \
--engine jit --time \
        u32:1000 f32:2 iota:f32:1000 fill:f32:1000:1 2>&1 | grep -q ', native'"
else
    skipped=$((skipped + 1))
    echo "skipped native code: built without the compiler"
fi
check "manual page, variables" grep -q '^.B PTERA_OOB' "$root/share/man/man1/ptera.1"
check "manual page" grep -q '^.SS ptera run' "$root/share/man/man1/ptera.1"
mkdir "$work/bin" # a `ptera` that the emulator runs, if there is one
printf '#!/bin/sh\nexec %s "$@"\n' "$* $root/bin/ptera" >"$work/bin/ptera"
chmod +x "$work/bin/ptera"
check "completion" bash -c "PATH=$work/bin:\$PATH; . $root/share/bash-completion/completions/ptera
    COMP_WORDS=(ptera run --eng); COMP_CWORD=2; _ptera; [ \"\${COMPREPLY[*]}\" = --engine ] ||
        exit 1
    COMP_WORDS=(ptera run --engine b); COMP_CWORD=3; _ptera; [ \"\${COMPREPLY[*]}\" = both ]"
echo '#include "ptera.h"' >"$work/include.c"
check "ptera.h as C99" "$cc" -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only \
    "-I$source/include" "$work/include.c"
if "$cc" -x c++ -fsyntax-only /dev/null 2>/dev/null; then
    check "ptera.h as C++17" "$cc" -std=c++17 -x c++ -Wall -Wextra -Werror -pedantic -fsyntax-only \
        "-I$source/include" "$work/include.c"
else
    skipped=$((skipped + 1))
    echo "skipped ptera.h as C++17: no compiler for it"
fi
echo "install: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
