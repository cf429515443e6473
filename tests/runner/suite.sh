#!/bin/sh
# The test suite: suite.sh [--all]. Builds from clean, runs every test, ends with a line of counts.
# --all adds what takes long, other compilers and machines; it installs what they need (as root, or
# by sudo).
# Every test program prints "NAME: N passed, N failed, N skipped"; the counts are added up over all
# builds. A program that dies without that line counts as one failure.
set -u
cd "$(dirname "$0")/../.." || exit 2
all=${1:-}
jobs=$(nproc)
log=build/test.log
status=0
mkdir -p build
: >"$log"

say() { printf '== %s\n' "$*"; }

need() { # need COMMAND-OR-FILE PACKAGE...: install the packages if the command or file is missing
    what=$1
    shift
    command -v "$what" >/dev/null 2>&1 || [ -e "$what" ] && return 0
    say "installing $*"
    set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    if [ "$(id -u)" = 0 ]; then
        apt-get update -qq && "$@" >/dev/null
    else
        sudo apt-get update -qq && sudo "$@" >/dev/null
    fi
}

. tests/runner/arm64.sh

# A newer LLVM than the one that Ptera is developed with, unpacked into build/newer-llvm: installed,
# builds from then on would take it.
need_newer_llvm() {
    [ -d build/newer-llvm ] && return 0
    say "unpacking LLVM 22"
    mkdir -p build/newer-llvm.part &&
        (cd build/newer-llvm.part && apt-get download -qq llvm-22 llvm-22-dev 2>/dev/null &&
            for package in *.deb; do
            dpkg -x "$package" . && rm "$package" || exit 1
        done) && mv build/newer-llvm.part build/newer-llvm
}

targets=
with= # what is put before the commands that build
configure_and_build() { # PRESET [CMAKE OPTION...]: $targets, or all
    preset=$1
    shift
    say "building $preset"
    rm -rf "build/$preset"
    if ! $with cmake --preset "$preset" -DPython3_EXECUTABLE=/usr/bin/python3 "$@" \
        >"build/configure-$preset.log" 2>&1; then
        cat "build/configure-$preset.log"
        return 1
    fi
    # shellcheck disable=SC2086
    $with cmake --build "build/$preset" -j "$jobs" ${targets:+--target $targets} \
        >"build/build-$preset.log" 2>&1 || { tail -n 60 "build/build-$preset.log"; return 1; }
}

# A failed build is one failed test, so that the closing line tells it.
broken() {
    echo "$1: 0 passed, 1 failed, 0 skipped" >>"$log"
    status=1
}

# What failed, from ctest's output: each test's line and the last 25 lines that it printed. Shown
# again at the end, where readers of a cut log look.
keep_failed() { # PRESET
    awk -v preset="$1" '
        function show(i) {
            if (failed == "") return
            print preset ": " failed
            for (i = n > 25 ? n - 25 : 0; i < n; i++) print "    " line[i]
            failed = ""
        }
        /^ *[0-9]+\/[0-9]+ Test +#/ { show(); n = 0; if (/\*\*\*/) failed = $0; next }
        /tests passed, [0-9]+ tests failed/ { show(); exit }
        !/^ *Start / { line[n++] = $0 }'
}

# The tests that ended without a line of counts of their own: each is one failure.
uncounted() { # CTEST-LOG
    awk '
        /^[0-9]+\/[0-9]+ Testing: / {
            if (name != "") print name
            name = $3
        }
        /^[^ ]+: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { name = "" }
        END { if (name != "") print name }' "$1"
}

run_tests() { # PRESET [CTEST OPTION...]
    preset=$1
    shift
    say "testing $preset"
    ctest --test-dir "build/$preset" --timeout 600 -j "$jobs" --output-on-failure "$@" 2>&1 |
        tee build/ctest.log | grep -v '^ *Start '
    grep -q '^100% tests passed' build/ctest.log || status=1
    keep_failed "$preset" <build/ctest.log >>build/failed.log
    results="build/$preset/Testing/Temporary/LastTest.log"
    grep -hoE '^[^ ]+: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$results" >>"$log"
    grep -hE '^skipped ' "$results" | sort | uniq -c >>build/skips.log
    uncounted "$results" >build/uncounted.log
    [ -s build/uncounted.log ] || return
    sed "s/^/$preset, without a line of counts: /" build/uncounted.log >>build/failed.log
    echo "$preset-uncounted: 0 passed, $(wc -l <build/uncounted.log) failed, 0 skipped" >>"$log"
}

fuzz_one() { # PROGRAM SECONDS
    name=${1##*/fuzz_}
    corpus=build/fuzz/corpus-$name
    mkdir -p "$corpus"
    options=
    case $name in parse | pipeline) options=-dict=tests/fuzz/parse.dict ;; esac
    # shellcheck disable=SC2086
    if PTERA_CACHE='' "$1" $options -max_total_time="$2" -max_len=8192 -timeout=60 \
        -rss_limit_mb=3072 \
        -print_final_stats=1 "$corpus" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1; then
        echo "fuzz_$name: 1 passed, 0 failed, 0 skipped" >>"$log"
    else
        tail -n 40 "build/fuzz/$name.log"
        broken "fuzz_$name"
    fi
}

fuzz() { # SECONDS: each target, as many at a time as there are cores
    running=0
    for program in build/fuzz/tests/fuzz_*; do
        say "fuzzing ${program##*/fuzz_} for $1 s"
        fuzz_one "$program" "$1" &
        running=$((running + 1))
        [ $((running % jobs)) = 0 ] && wait
    done
    wait
}

# Tests wait now and then: meanwhile the next build goes on, which otherwise gives way to them.
build_beside() { # PRESET [CMAKE OPTION...]
    (with="nice -n 19"; configure_and_build "$@") &
    beside=$!
}

# For Debian's Python, which builds are told to take: another in PATH may lack them.
need /usr/lib/python3/dist-packages/cffi python3-cffi
need /usr/lib/python3/dist-packages/numpy python3-numpy
need /usr/lib/python3/dist-packages/pytest python3-pytest
need clang-19 clang-19
need /usr/lib/llvm-19/lib/clang/19/lib/linux libclang-rt-19-dev
: >build/skips.log
: >build/failed.log
is_built=
configure_and_build ci && is_built=yes
build_beside asan
if [ "$is_built" ]; then run_tests ci -LE long; else broken ci; fi
if wait "$beside"; then run_tests asan -LE "long|release-only"; else broken asan; fi

also() { # PRESET [CTEST OPTION...]: builds and tests one more preset
    preset=$1
    shift
    if configure_and_build "$preset"; then run_tests "$preset" "$@"; else broken "$preset"; fi
}

if [ "$all" = --all ]; then
    [ -d build/ci/tests ] && run_tests ci -L long --timeout 7200
    targets=fuzzers
    if configure_and_build fuzz -DBUILD_TESTING=ON; then fuzz 600; else broken fuzz; fi
    targets=
    also interp-only -LE long
    also ubsan -LE "long|release-only"
    also tsan -LE "long|release-only"
    also clang -LE long
    if ! need_newer_llvm; then
        echo "llvm22: 0 passed, 0 failed, 1 skipped" >>"$log"
        echo "skipped llvm22: there is no package llvm-22-dev for this machine" >>build/skips.log
    elif configure_and_build llvm22 \
        -DPTERA_LLVM_CONFIG="$PWD/build/newer-llvm/usr/lib/llvm-22/bin/llvm-config"; then
        run_tests llvm22 -LE long
    else
        broken llvm22
    fi
    if need_qemu && need_arm64 && configure_and_build arm64 \
        -DPTERA_LLVM_ROOT="$PWD/build/llvm-arm64" \
        -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator"; then
        # The emulator is not there for what an emulated program starts.
        PTERA_COMPILER=inside run_tests arm64 -LE "long|release-only" --timeout 3600
    else
        broken arm64
    fi
    say "left out: in the emulated machine and under sanitizers, tests marked release-only and \
long; on 64-bit ARM what" \
        "qemu-user cannot show (memory order between real cores, the addresses that its faults \
tell, speed)"
else
    say "left out (./dev test --all): long tests, ubsan alone, thread sanitizer, clang, LLVM 22, \
64-bit ARM, libFuzzer"
fi

cat build/skips.log build/failed.log
awk '
    { p += $2; f += $4; s += $6 }
    END { printf "test: %d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' \
    "$log" || status=1
exit $status
