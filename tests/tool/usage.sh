#!/bin/sh
# What `ptera` says of itself, and to what it cannot take: usage.sh ROOT PTERA... The exit status,
# the words of the message, and nothing on standard output.
set -u
root=$1
shift
tool=$*
command=
. "$root/tests/command.sh"
samples=$root/samples

helps() { # COMMAND
    ends 0 "$1" --help && grep -q "^usage: ptera $1" "$work/stdout" && [ ! -s "$work/stderr" ]
}
refuses() { # STATUS WORDS ARGUMENT...
    status=$1
    words=$2
    shift 2
    ends "$status" "$@" </dev/null && holds "$work/stderr" "$words" && [ ! -s "$work/stdout" ]
}
gives() { # WORDS ARGUMENT...
    words=$1
    shift
    ends 0 "$@" && holds "$work/stdout" "$words"
}

# ---- commands ----------------------------------------------------------------------------------

commands=$($tool --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for name in $commands; do
    is "$name --help" helps "$name"
done
is "help" gives "usage: ptera COMMAND" help
is "-h" gives "usage: ptera COMMAND" -h
is "--version" gives "ptera 0." --version
is "no command" refuses 2 "usage: ptera COMMAND"
is "an unknown command" refuses 2 "unknown command 'walk'" walk
for name in run check profile trace fuzz litmus exec compile info; do
    is "$name --nonsense" refuses 2 "--nonsense" "$name" --nonsense
done
is "ptxas --nonsense" refuses 255 "Unknown option '-nonsense'" ptxas --nonsense
is "verify without a file" refuses 2 "no file given" verify
is "a file that is not there" refuses 2 "cannot read $work/none.ptx" verify "$work/none.ptx"
is "compile without --emit" refuses 2 "needs FILE.ptx and --emit" compile
is "an unknown --emit" refuses 2 "bad value for --emit" \
    compile "$samples/saxpy/saxpy.ptx" --emit walk
is "doctor without a program" refuses 2 "usage: ptera doctor" doctor
is "doctor of text" refuses 2 "is no 64-bit ELF program" doctor "$samples/saxpy/saxpy.ptx"
is "exec of nothing" refuses 2 "usage: ptera exec" exec
is "conform without a suite" refuses 2 "the arguments do not fit" conform
is "an unknown checker" refuses 2 "walk" check walk "$samples/saxpy/saxpy.ptx"
is "fuzz: a bad number" refuses 2 "--count" fuzz --count many
is "litmus: a bad number" refuses 2 "--count" litmus --count many

# ---- what is shown -----------------------------------------------------------------------------

saxpy=$samples/saxpy/saxpy.ptx
is "tokens" gives ".visible" compile "$saxpy" --emit tokens
is "the syntax tree" gives "saxpy" compile "$saxpy" --emit ast
is "IR" gives "saxpy" compile "$saxpy" --emit ir -k saxpy
is "IR of a kernel that is not there" refuses 2 "has no kernel 'walk'" \
    compile "$saxpy" --emit ir -k walk
is "a bad block" refuses 2 "-b" compile "$saxpy" --emit llvm -b 0
if ! $tool info | grep -q "^compiler  *none"; then
    is "LLVM's IR" gives "define" compile "$saxpy" --emit llvm -b 64
    is "assembly" gives "saxpy" compile "$saxpy" --emit asm -b 64 --math fast
    is "an object" gives "ELF" compile "$saxpy" --emit obj -b 64
fi
is "the instruction table" gives "chapter" info --isa
is "its summary" ends 0 info --isa --summary
is "verify, of what is right" ends 0 verify "$saxpy"

# ---- options of a launch -----------------------------------------------------------------------

kernel=$work/k.ptx
cat >"$kernel" <<'END'
.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
    .reg .b64 %p; .reg .b32 %n;
    ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; st.global.u32 [%p], %n; ret;
}
END
run() { # WORDS ARGUMENT...
    words=$1
    shift
    is "run $*" refuses 2 "$words" run "$kernel" "$@"
}
for option in "-g 0" "-g 1,2,3,4" "-b x" "--cluster -1" "--shared -4" "--threads 0" "--timeout 0" \
    "--math slow" "--fmad maybe" "--async soon" "--order none" "--unwritten 256" "--engine gpu"; do
    # shellcheck disable=SC2086
    run "bad value '${option#* }' for ${option% *}" $option
done
run "unknown option" --walk 3
run "one without its value" --grid
run "watched kernels are interpreted" --engine both --observe race
is "run without a file" refuses 2 "no PTX file given" run
is "trace, natively" refuses 2 "traced kernels are interpreted" trace "$kernel" --engine jit

# ---- arguments of a kernel ---------------------------------------------------------------------

run "has 2 parameters, 1 arguments" zero:4
run "has 4 bytes, parameter p (.u64) has 8" u32:1 u32:1
run "has 8 bytes, parameter n" zero:4 zero:4
run "expected KIND:VALUE" zero u32:1
run "unknown kind of argument" walk:4 u32:1
run "expected zero:BYTES" zero:0 u32:1
run "expected zero:BYTES" zero:-4 u32:1
run "does not fit the type" zero:4 u32:-1
run "does not fit the type" zero:4 u32:4294967296
run "does not fit the type" zero:4 f32:one
run "does not fit the type" zero:4 f32:0d0000000000000000
run "does not fit the type" fill:u8:4:256 u32:1
run "does not fit the type" rand:u8:4:x u32:1
run "expected TYPE:N:VALUE" fill:u8:4 u32:1
run "expected iota:TYPE:N" iota:u8:4:1 u32:1
run "unknown element type" iota:u7:4 u32:1
run "expected out:FILE:BYTES" out:file u32:1
run "cannot read $work/none" "in:$work/none" u32:1
run "cannot read $work/none" zero:4 "raw:$work/none"
: >"$work/empty"
run "the file is empty" "in:$work/empty" u32:1
run "only a buffer can be printed or saved" zero:4 u32:1@u32
run "fewer elements than are to be printed" zero:4@u32:2 u32:1
run "bad count after '@'" zero:4@u32:0 u32:1
run "no file after '>'" "zero:4>" u32:1
is "a file that cannot be written" refuses 1 "cannot write $work/no/file" \
    run "$kernel" "out:$work/no/file:4" u32:1

# What is printed, of each type: the same four bytes, 0xc0c00000.
prints() { # TYPE WORDS
    gives "$2" run "$kernel" "zero:8@$1" u32:3233808384
}
is "as u32" prints u32 "3233808384 0"
is "as s32" prints s32 "-1061158912 0"
is "as b64" prints b64 "0x00000000c0c00000"
is "as f32" prints f32 "-6 0"
is "as f16" prints f16 "0 -2.375 0 0"
is "as bf16" prints bf16 "0 -6 0 0"
is "as u8" prints u8 "0 0 192 192 0 0 0 0"

close tool_usage
