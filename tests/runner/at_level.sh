#!/bin/sh
# Runs a test with the interpreter at a CPU level: at_level.sh LEVEL PTERA COMMAND... Skips if the
# machine lacks it, or if it is the machine's own, at which the test runs without a level.
level=$1
ptera=$2
shift 2
skip() {
    echo "skipped: $1"
    echo "level_$level: 0 passed, 0 failed, 1 skipped"
    exit 0
}
own=$("$ptera" info | sed -n 's/^CPU level *//p')
[ "$own" = "$level" ] && skip "$level is the level of this machine, at which it runs anyway"
export PTERA_CPU="$level"
"$ptera" info >/dev/null 2>&1 || skip "this machine lacks CPU level $level"
exec "$@"
