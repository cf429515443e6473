#!/bin/sh
# A compiler that ends leaves kernels interpreted, and one that does not answer leaves nothing:
# failures. compiler_ends.sh JIT PTERA...
jit=$1
shift
tool=$*
root=$(dirname "$0")/../..
command=fuzz
. "$root/tests/command.sh"
ln -s "$jit" "$work/libptera-jit.so"
printf '#!/bin/sh\nexit 1\n' >"$work/ptera-compiler"
chmod +x "$work/ptera-compiler"
export PTERA_JIT_PATH="$work/libptera-jit.so" PTERA_CACHE=none PTERA_COMPILER=process
is 'it is told' ends 1 --engine jit --count 1 --whole --out "$work"
is 'and why' holds "$work/stdout" 'native: the compiler process has ended'
printf '#!/bin/sh\ncat <&3 >/dev/null\n' >"$work/ptera-compiler"
is 'one that does not answer' ends 1 --engine jit --count 1 --whole --out "$work" --timeout 1
is 'hangs' holds "$work/stdout" 'crashed: hangs'
close fuzz_compiler_ends
