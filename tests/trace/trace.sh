#!/bin/sh
# What `ptera trace` shows of threads, and where two traces part.
# trace.sh ROOT PTERA...
root=$1
shift
tool=$*
command=trace
. "$root/tests/command.sh"
ptx=$root/tests/trace/sums.ptx
tab=$(printf '\t')
shows() { # FILE LINE, with / for a tab
    holds "$1" "$(echo "$2" | tr / "$tab")"
}
counts() { # N FILE PATTERN
    n=$(grep -c -- "$3" "$2")
    [ "$n" = "$1" ] || { echo "$n lines of $2 have $3, not $1"; cat "$2"; false; }
}
one() { # ARGUMENTS: what thread 1 does, to $work/one
    ends 0 "$ptx" -b 64 --thread 1 "$@" zero:512 && cp "$work/stdout" "$work/one"
}

is 'a thread' one
is 'only it' counts 0 "$work/one" "^0,0,0$tab[^1]"
is 'what it reads and writes' shows "$work/one" 'add.u32 %r2, %r1, 100;/%p1=0x1 %r1=0x1/%r2=0x65/'
is 'a loop' counts 3 "$work/one" 'add.u32 %r2, %r2, -50'
is 'another lane' shows "$work/one" 'shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;/%r1=0x1/%r4=0x0/'
is 'a barrier that others come to later' \
    shows "$work/one" 'barrier.cta.red.popc.aligned.u32 %r5, 0, %p1;/%p1=0x1/%r5=0x2/'
is 'a function' shows "$work/one" 'add.u32 %twice, %n, %n;'
is 'a float' shows "$work/one" 'mul.f32 %f2, %f1, 0f3F000000;/%f1=0x40800000(4)/%f2=0x40000000(2)/'
is 'an access' shows "$work/one" \
    'st.global.u32 [%rd3], %r3;/%rd3=arg0+0x4 %r3=0x99//w 4 at arg0+0x4'
is 'a register with several values' shows "$work/one" 'add.u32 %r8, %r7, 1;/%r7=0x1/%r8=0x2/'
is 'the next one' shows "$work/one" 'mov.u32 %r7, %r8;/%r8=0x2/%r7=0x2/'
is 'shared memory' counts 2 "$work/one" 'st.shared.u32.*w 4 at 0x'
is 'its end' counts 1 "$work/one" "ret;$tab$tab$tab\$"

is 'a guard that does not hold' ends 0 "$ptx" -b 64 --thread 5 zero:512
is 'and no step' counts 0 "$work/stdout" 'add.u32 %r2, %r1, 100'
is 'where' ends 0 "$ptx" -b 64 --where 'writes && tid.x >= 62 && text ~ "global.u32"' zero:512
is 'two of them' counts 2 "$work/stdout" 'st.global.u32'
is 'nothing else' counts 2 "$work/stdout" .
is 'by a value' ends 0 "$ptx" -b 64 --where '%r2 == 0x65 && !(line < 20)' zero:512
is 'one has it' counts 1 "$work/stdout" 'add.u32 %r2, %r1, 100'
is 'most' ends 0 "$ptx" -b 64 --max 5 zero:512
is 'five' counts 5 "$work/stdout" .
is 'and says so' holds "$work/stderr" '5 of '
is json ends 0 "$ptx" -b 64 --thread 1 --format json --out "$work/json" zero:512
is 'its objects' holds "$work/json" '"ptx":"@%p1 add.u32 %r2, %r1, 100;","instruction":"add.u32"'
is 'their values' holds "$work/json" '"operands":{"%p1":"0x1","%r1":"0x1"},"results":{"%r2":"0x65"}'

# A failure: the step that failed has no results.
is 'a failure' ends 1 "$ptx" -b 32 --thread 0 u64:16
is 'its last step' counts 1 "$work/stdout" \
    "st.global.u32 \[%rd3\], %r3;$tab%rd3=0x10 %r3=.*$tab${tab}w 4"

# Two traces.
trace() { ends 0 "$@" -b 64 --max 0 --out "$work/$name" zero:512; }
is a trace "$ptx"
is b trace "$ptx" --order reverse
sed 's/%r1, 100/%r1, 101/; s/%r3\b/%total/g; s/\.reg .b64/.reg .b32 %total;\n&/' "$ptx" \
    >"$work/other.ptx"
is c trace "$work/other.ptx"
sed 's/^loop:/    xor.b32 %r7, %r1, 1;\nloop:/' "$ptx" >"$work/more.ptx"
is d trace "$work/more.ptx"
is 'the same under another schedule' ends 0 --diff "$work/a" "$work/b"
is 'all threads' holds "$work/stdout" '0 of 64 threads differ'
is 'another version' ends 1 --diff "$work/a" "$work/c"
is 'first difference' holds "$work/stdout" 'CTA (0,0,0), thread (0,0,0): values differ first here'
is 'its lines' holds "$work/stdout" '@%p1 add.u32 %r2, %r1, 101;'
is 'an instruction more' ends 1 --diff "$work/a" "$work/d"
is 'it alone' holds "$work/stdout" 'other instructions first here'
is 'with its sign' grep -q '  + .*xor.b32 %r7, %r1, 1;' "$work/stdout"
is 'nothing is missing' lacks "$work/stdout" '  - '

# Wrong usage.
is 'native code' ends 2 "$ptx" -b 64 --engine jit zero:512
is 'both engines' ends 2 "$ptx" -b 64 --engine both zero:512
is 'a bad thread' ends 2 "$ptx" --thread x zero:512
is 'a bad expression' ends 2 "$ptx" --where 'tid.x ==' zero:512
is 'an unknown name' ends 2 "$ptx" --where 'tid.q' zero:512
is 'no trace' ends 1 --diff "$ptx" "$work/a"
close trace
