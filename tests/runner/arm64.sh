#!/bin/sh
# What 64-bit ARM is built with, and runs in, on x86-64: read by ./dev and suite.sh, in the folder
# of the sources, which have `say TEXT` and `need FILE PACKAGE`.

# qemu-user, from version 8 on: before, it kept a note of every page that is ever reserved, a second
# and gigabytes for each engine. Debian 12 has it in its backports, which is unpacked into
# build/qemu.
need_qemu() {
    emulator=$(command -v qemu-aarch64) || :
    if [ -n "$emulator" ]; then
        major=$("$emulator" --version | sed -n '1s/.*version \([0-9]*\).*/\1/p')
        [ "$major" -ge 8 ] && return 0
    fi
    emulator=$PWD/build/qemu/usr/bin/qemu-aarch64
    [ -e "$emulator" ] && return 0
    say "unpacking qemu-user of Debian's backports"
    apt=$PWD/build/backports
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    echo "deb http://deb.debian.org/debian bookworm-backports main" >"$apt/sources.list"
    set -- -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$apt/lists" \
        -o Dir::Cache="$apt"
    (cd build && apt-get "$@" update && apt-get "$@" download -t bookworm-backports qemu-user &&
        dpkg -x qemu-user_*_amd64.deb qemu)
}

# The cross compiler, and 64-bit ARM's libraries; LLVM's are unpacked into build/llvm-arm64.
need_arm64() {
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    libraries=/usr/lib/aarch64-linux-gnu
    need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu &&
        need /usr/aarch64-linux-gnu/include/stdio.h libc6-dev-arm64-cross || return 1
    $root dpkg --add-architecture arm64
    need $libraries/libffi.so libffi-dev:arm64 && need $libraries/libzstd.so libzstd-dev:arm64 &&
        need $libraries/liblz4.so liblz4-dev:arm64 && need $libraries/libz.so zlib1g-dev:arm64 &&
        need $libraries/libstdc++.so.6 libstdc++6:arm64 || return 1
    [ -d build/llvm-arm64 ] && return 0
    (cd build && $root apt-get update -qq && apt-get download -qq llvm-19-dev:arm64 &&
        dpkg -x llvm-19-dev_*_arm64.deb llvm-arm64)
}
