#!/bin/sh
# The include directions of the design: check_includes.sh ROOT
cd "$1" || exit 2
passed=0
failed=0

# FOLDER ALLOWED-PREFIXES (an extended regular expression) [FOLDERS-WITH-LINES-OF-THEIR-OWN]
check() {
    bad=$(grep -rnE --include='*.[ch]' --include='*.def' --exclude-dir="${3:-.git}" \
        --exclude-dir="${4:-.git}" \
        --exclude-dir="${5:-.git}" --exclude-dir="${6:-.git}" --exclude-dir="${7:-.git}" \
        '^ *# *include "' "$1" |
            grep -vE "include \"($2)")
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
check backend/interp \
    'backend/(interp|semantics)/|backend/(exec|observers?|barrier|order|sreg).(h|def)|ir/'\
'|backend/(findings?|shadow|schedule|written|traced|mbarriers|counts|timed|steps).(h|def)'\
'|backend/environment.h|frontend/lower.h'
# The compiler's floors: each may include those before it.
jit='backend/jit/(jit|bitset|tune).(h|def)|backend/semantics/|ir/'
jit="$jit|backend/(exec|native|lanes|barrier|order|sreg|environment|observer|cache_folder).h"
for floor in object llvm emit analysis value memory warp control process; do
    jit="backend/jit/$floor/|$jit"
    check backend/jit/$floor "$jit"
done
check backend/jit "$jit"
# Analyses build no code: they have nothing of LLVM's.
if grep -nE 'LLVM[A-Z][a-zA-Z0-9]*|llvm/build.h|struct jit_code|struct jit \*' \
    backend/jit/analysis/*.[ch] | grep -v ':[0-9]*: *\(/\*\|\*\)'; then
    echo "FAILED backend/jit/analysis builds code"
    failed=$((failed + 1))
else
    passed=$((passed + 1))
fi
check runtime/registers 'runtime/registers/|ir/'
runtime='runtime/[a-z_]*\.(h|def)"|runtime/registers/estimate.h|frontend/|ir/|ptera(_trace)?.h'
runtime="$runtime|backend/(exec|native|observer|barrier|cache_folder|findings|shadow)\.(h|def)"
runtime="$runtime|backend/(environment|schedule|written|traced|mbarriers|counts|steps)\.h"
runtime="$runtime|backend/timed\.(h|def)"
runtime="$runtime|backend/semantics/surface.h"
check runtime "$runtime" 'cu*' compilers ocelot registers nvml
driver="backend/semantics/(tensormap(_encode)?|texture(_(layout|tile))?|surface).h|backend/shadow.h"
check runtime/cuda "runtime/cuda/|runtime/[a-z_]*\.h\"|$driver|frontend/|ir/|ptera.h"
check runtime/cudart 'runtime/cudart/|runtime/cuda/((abi|vendor|runtime_error).h|runtime_error.def)'
check runtime/nvml 'runtime/nvml/|runtime/cuda/vendor.h|ptera.h'
check runtime/cupti 'runtime/cupti/|runtime/cuda/(abi|vendor).h'
check runtime/compilers 'runtime/compilers/|frontend/|ir/'
check runtime/ocelot 'runtime/ocelot/|ptera.h'
runtime='runtime/(cuda/summary|cudart/refuse|compilers/behind|nvml/abi|cuda/vendor).h'
runtime="$runtime|runtime/(device.h|trace_file.h|finding_fields.def)|backend/timed.(h|def)"
runtime="$runtime|runtime/cuda/device_runtime.def"
check tools "tools/|frontend/(cubin|fatbin|link_text).h|$runtime|ir/|ptera(_trace)?.h" \
    fuzz conform litmus
check tools/fuzz \
    'tools/fuzz/|tools/conform/driver.h|frontend/parse.h|ir/|backend/(native|semantics/surface).h'\
'|runtime/engine.h|ptera(_trace)?.h'
check tools/conform 'tools/(conform/|file/read.h)|runtime/cuda/abi.h'
check tools/file 'tools/file/'
check tools/litmus 'tools/litmus/|tools/conform/launch.h|ptera.h'
check tests/api 'ptera(_trace)?.h|tests/'
echo "includes: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
