#!/bin/sh
# The include directions of the design: check_includes.sh ROOT
cd "$1" || exit 2
passed=0
failed=0

check() { # FOLDER ALLOWED-PREFIXES (an extended regular expression)
    bad=$(grep -rnE --include='*.[ch]' --include='*.def' '^ *# *include "' "$1" | grep -vE "include \"($2)")
    if [ -n "$bad" ]; then
        echo "FAILED $1 may include only $2:"
        echo "$bad"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

check ir 'ir/'
check frontend 'frontend/|ir/'
check backend/semantics 'backend/semantics/|ir/'
check backend/interp 'backend/interp/|backend/semantics/|backend/exec.h|backend/barrier.h|backend/order.h|backend/sreg.h|ir/'
# The compiler's floors: each may include those before it.
jit='backend/jit/(jit|bitset).h|backend/semantics/|backend/exec.h|backend/native.h|backend/lanes.h|backend/barrier.h|backend/order.h|backend/sreg.h|ir/'
for floor in object llvm emit analysis value memory warp control process; do
    jit="backend/jit/$floor/|$jit"
    check backend/jit/$floor "$jit"
done
check backend/jit "$jit"
check runtime 'runtime/|backend/exec.h|backend/native.h|backend/semantics/tensormap_encode.h|frontend/|ir/|ptera.h'
check tools 'tools/|tests/gen/|frontend/(cubin|fatbin|link).h|runtime/(cuda/summary|cudart/refuse|compilers/behind).h|ir/|ptera.h'
check tests/gen 'tests/gen/|ir/|backend/native.h|ptera.h'
check tests/api 'ptera.h|tests/'
echo "includes: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
