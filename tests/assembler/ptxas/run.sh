#!/bin/sh
# `ptera ptxas`: run.sh PTERA LOAD [PTXAS]. LOAD runs the kernel of a cubin. Where NVIDIA's own
# assembler is named, it says and exits the same.
set -u
. "$(dirname "$0")/../../runner/check.sh"
ptera=$1
load=$2
theirs=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
ln -s "$ptera" ptxas

# x^2 + y: 2^-24 where it is one operation, 0 where it is two.
cat >k.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 there[12];
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd1;
    .reg .f32 %f<4>;
    .shared .align 4 .f32 room[8];
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd1+4];
    st.shared.f32 [room], %f1;
    ld.shared.f32 %f1, [room];
    mul.f32 %f3, %f1, %f1;
    add.f32 %f3, %f3, %f2;
    st.global.f32 [%rd1], %f3;
    ret;
}
END
fused=33800000
apart=00000000

# ---- cubins: what they hold, and that they run
# --------------------------------------------------------------

runs() { # RESULT OPTION...: assembled with the options
    wanted=$1
    shift
    rm -f k.cubin
    ./ptxas -arch=sm_90 "$@" -o k.cubin k.ptx 2>messages
    check "ptxas $* exits" 0 $?
    for engine in interp jit; do
        check "ptxas $*, $engine" "$wanted" "$(PTERA_ENGINE=$engine "$load" k.cubin)"
    done
    check "ptxas $*, from memory" "$wanted" "$("$load" k.cubin memory)"
}
runs $fused
runs $fused -v --opt-level 3 -lineinfo --gpu-name=sm_90 -m64 -c --fmad=true --regAllocOptLevel=2
runs $apart --fmad=false
runs $apart -fmad false
runs $apart -O0
runs $apart --opt-level=0
runs $apart -g
check "the header's machine" "190 0" "$(od -An -tu1 -j18 -N2 k.cubin | xargs)"
check "the note" 1 "$(tr -d '\0' <k.cubin | grep -c 'Pterasm_90')"
"$ptera" ptxas -arch=sm_90 --input-as-string "$(cat k.ptx)" -o text.cubin
check "a text" $fused "$("$load" text.cubin)"
./ptxas -arch=sm_90 - -o - <k.ptx >nothing
check "standard input" $fused "$("$load" ./-)"
./ptxas -arch=sm_80 -o old.cubin k.ptx 2>messages
check "an older GPU" \
    "ptxas fatal   : SM version specified by .target is higher than default SM version assumed" \
    "$(cat messages)"
sed 's/sm_90/sm_100/; s/8\.0/8.6/' k.ptx >new.ptx
./ptxas -arch=sm_100 -o new.cubin new.ptx
check "a newer GPU" CUDA_ERROR_NO_BINARY_FOR_GPU "$("$load" new.cubin)"
head -c 300 k.cubin >cut.cubin
check "cut" CUDA_ERROR_INVALID_IMAGE "$("$load" cut.cubin)"
./ptxas -arch=compute_90 -o none.cubin k.ptx
check "a virtual architecture" "0 " "$? $(ls none.cubin 2>/dev/null)"
printf ' -arch=sm_90\n"-o" "from file.cubin"' >options
./ptxas -optf options k.ptx
check "options in a file" $fused "$("$load" 'from file.cubin')"
printf -- '-optf loop' >loop
./ptxas -optf loop k.ptx 2>messages
check "options without end" "255 ptxas fatal   : Could not open options file 'loop'" "$? $(cat \
    messages)"

# Two inputs are one program; one of them is not enough, but for -c.
cat >half.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.extern .func add_one(.param .b64 p);
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd1;
    .param .b64 q;
    ld.param.u64 %rd1, [p];
    st.param.b64 [q], %rd1;
    call add_one, (q);
    ret;
}
END
cat >other.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .func add_one(.param .b64 p)
{
    .reg .b64 %rd1;
    ld.param.b64 %rd1, [p];
    st.global.u32 [%rd1], 1;
    ret;
}
END
./ptxas -arch=sm_90 half.ptx other.ptx -o whole.cubin
check "two inputs" 00000001 "$("$load" whole.cubin)"
./ptxas -arch=sm_90 half.ptx 2>messages
check "half a program" \
    "255 ptxas half.ptx, line 11; error   : function 'add_one' is declared but not defined" \
    "$? $(head -n 1 messages)"
./ptxas -c -arch=sm_90 half.ptx -o half.cubin
check "an object" 0 $?

# ---- messages
# -----------------------------------------------------------------------------------------------

./ptxas -v -arch=sm_90 k.ptx 2>messages
check "-v" "ptxas info    : 12 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    N bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used N registers, 32 bytes smem" "$(sed \
    's/ [0-9]* bytes stack/ N bytes stack/; s/Used [0-9]*/Used N/' messages)"

# Sixty values at once, and what a kernel may have of registers.
{
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n'
    printf '.reg .b64 %%rd1; .reg .b32 %%r<60>; ld.param.u64 %%rd1, [p];\n'
    for i in $(seq 0 59); do echo "ld.global.b32 %r$i, [%rd1+$((4 * i))];"; done
    for i in $(seq 0 59); do echo "st.global.b32 [%rd1+$((4 * i + 4))], %r$i;"; done
    printf 'ret;\n}\n'
} >many.ptx
# No thread has more than 255, whatever is alive at once.
sed 's/%r<60>/%r<360>/' many.ptx | awk '
    /^ret;/ { for (i = 60; i < 360; i++) print "ld.global.b32 %r" i ", [%rd1+" 4 * i "];"
              for (i = 60; i < 360; i++) print "st.global.b32 [%rd1+" 4 * i + 4 "], %r" i ";" }
    { print }' >most.ptx
registers() {
    ./ptxas -v -arch=sm_90 "$@" many.ptx 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p'
}
check "many registers" yes "$([ "$(registers)" -ge 60 ] && echo yes)"
check "more registers than there are" 255 \
    "$(./ptxas -v -arch=sm_90 most.ptx 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')"
check "-maxrregcount" 38 "$(registers -maxrregcount=38)"
check "-maxrregcount, the kernel's own" 46 \
    "$(sed -i 's/u64 p)$/u64 p) .maxnreg 46/' many.ptx && registers -maxrregcount=38)"

sed 's/mul\.f32/mul.f33/' k.ptx >bad.ptx
./ptxas -arch=sm_90 bad.ptx 2>messages
check "bad PTX" \
    "255 ptxas bad.ptx, line 15; error   : '.f33' is not known (did you mean '.f32'?) in 'mul.f33'
ptxas fatal   : Ptx assembly aborted due to errors" "$? $(cat messages)"
sed 's/\.visible \.global/.extern .global/' k.ptx >warn.ptx
sed -i 's/\[room\], %f1/[room], %f1; st.global.b8 [there], 1/' warn.ptx
./ptxas -c -arch=sm_90 warn.ptx 2>messages
check "a warning" \
    "0 ptxas warn.ptx, line 4; warning : unresolved extern variable 'there' is taken as defined \
here" "$? $(cat messages)"
./ptxas -w -c -arch=sm_90 warn.ptx 2>messages
check "-w" "0 " "$? $(cat messages)"
./ptxas -Werror -c -arch=sm_90 warn.ptx 2>messages
check "-Werror" \
    "255 ptxas warn.ptx, line 4; error   : unresolved extern variable 'there' is taken as defined \
here" "$? $(head -n 1 messages)"
check "--version" 1 "$(./ptxas --version | grep -c \
    'release [0-9]*\.[0-9]*, V[0-9]*\.[0-9]*\.[0-9]*$')"
check "--list-version" "1.0 8.8" "$(./ptxas --list-version | grep -xE '1\.0|8\.8' | xargs)"
check "--help" 0 "$(./ptxas --help >help; echo $?)"

# What is wrong with a command line is said in NVIDIA's words.
says() { # MESSAGE OPTION...
    wanted=$1
    shift
    ./ptxas "$@" k.ptx >nothing 2>messages
    check "ptxas $*" "255 $wanted" "$? $(head -n 1 messages)"
    if [ -n "$theirs" ]; then
        "$theirs" "$@" k.ptx >nothing 2>messages
        check "NVIDIA's ptxas $*" "255 $wanted" "$? $(head -n 1 messages)"
    else
        skipped=$((skipped + 1))
    fi
}
says "ptxas fatal   : Unknown option 'bogus'" -bogus
says "ptxas fatal   : Unknown option '-bogus'" --bogus
says "ptxas fatal   : Value 'sm_14' is not defined for option 'gpu-name'" -arch=sm_14
says "ptxas fatal   : 'maybe': expected true or false" --fmad=maybe
says "ptxas fatal   : 'x': expected a number" -Ox
says "ptxas fatal   : Invalid value 'abc' for option 'maxrregcount'" -arch=sm_90 -maxrregcount=abc
says "ptxas fatal   : Value '32' is not defined for option 'machine'" -m 32
says "ptxas fatal   : Value 'foo' is not defined for option 'sanitize'" -sanitize=foo
says "ptxas fatal   : Unknown function nothing" -arch=sm_90 -e nothing
says "ptxas fatal   : Output file '/no/such/folder' could not be opened" -arch=sm_90 -o \
    /no/such/folder
says "ptxas fatal   : Could not open options file 'missing'" -optf missing
says "ptxas fatal   : Input file 'missing.ptx' could not be opened" -arch=sm_90 missing.ptx
says "ptxas warning : incompatible redefinition for option 'gpu-name', the last value of this \
option was used" -arch=sm_90 -arch=sm_80
for pair in "90a sm_90" "90a sm_100" "100f sm_120" "100a sm_100f" "90 sm_80"; do
    target=${pair% *}
    sed "s/sm_90/sm_$target/; s/8\.0/8.8/" k.ptx >target.ptx
    ./ptxas -arch="${pair#* }" target.ptx 2>ours
    check "$pair" 255 $?
    if [ -n "$theirs" ]; then
        "$theirs" -arch="${pair#* }" target.ptx 2>messages
        check "$pair in words" "$(cat messages)" "$(cat ours)"
    else
        skipped=$((skipped + 1))
    fi
done

[ "$skipped" = 0 ] || echo "skipped $skipped comparisons: no ptxas of NVIDIA's here"
finish ptxas
