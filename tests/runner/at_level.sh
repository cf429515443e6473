#!/bin/sh
# Runs a test with the interpreter at a CPU level: at_level.sh LEVEL PTERA COMMAND... Skips if the
# machine lacks it.
level=$1
ptera=$2
shift 2
export PTERA_CPU="$level"
if ! "$ptera" info >/dev/null 2>&1; then
    echo "skipped: this machine lacks CPU level $level"
    echo "level_$level: 0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec "$@"
