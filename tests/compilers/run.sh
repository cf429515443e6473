#!/bin/sh
# NVRTC and nvJitLink under `ptera exec`: run.sh PTERA CLIENT FAKE [FOLDER]. FAKE stands for
# NVIDIA's libraries; FOLDER has real ones.
set -u
. "$(dirname "$0")/../runner/check.sh"
ptera=$1
client=$2
fake=$3
real=${4-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

gives() { # WANTED ARGUMENT...
    wanted=$1
    shift
    check "$*" "$wanted" "$("$ptera" exec "$client" "$@" 2>messages)"
}

ptx() { # NUMBER
    printf '.version 8.0\n.target sm_90\n.address_size 64\n'
    printf '.visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd1;\n'
    printf 'ld.param.u64 %%rd1, [p];\nst.global.u32 [%%rd1], %s;\nret;\n}\n' "$1"
}

# ---- a library of ours behind ours
# ---------------------------------------------------------------------------

# By a path, and by its name where the loader looks.
mkdir lib
cp "$fake" lib/libnvrtc.so.13.0.1
ln -s libnvrtc.so.13.0.1 lib/libnvrtc.so.13
cp "$fake" lib/libnvJitLink.so.13
for library in "$work/lib/libnvrtc.so.13" "$work/lib/libnvrtc.so.13.0.1"; do
    gives "-arch=compute_90 cubin 42" nvrtc "$library" -arch=sm_90
done
export LD_LIBRARY_PATH="$work/lib"
gives "-arch=compute_90 cubin 42" nvrtc libnvrtc.so.13 -arch=sm_90
gives "--gpu-architecture=compute_90a -DA=sm_1 cubin 42" nvrtc libnvrtc.so.13 \
    --gpu-architecture=sm_90a -DA=sm_1
gives "-G -arch compute_90 cubin 42" nvrtc libnvrtc.so.13 -G -arch sm_90
gives "-arch=compute_80 ptx 42" nvrtc libnvrtc.so.13 -arch=compute_80
gives "-arch=sm_80 --gpu-architecture compute_90 ptx 42" nvrtc libnvrtc.so.13 -arch=sm_80 \
    --gpu-architecture compute_90
gives "-w ptx 42" nvrtc libnvrtc.so.13 -w

ptx 7 >seven.ptx
"$ptera" ptxas -arch=sm_90 seven.ptx -o seven.cubin
gives "-arch=sm_90 cubin 7" link libnvJitLink.so.13 2 seven.ptx
gives "-arch=sm_90 cubin 7" link "$work/lib/libnvJitLink.so.13" 1 seven.cubin
gives "-arch=sm_90 cubin 7" link libnvJitLink.so.13 10 seven.cubin
gives "-arch=sm_90 -lto -ptx cubin 43" link libnvJitLink.so.13 3 seven.ptx
cat >part.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .func unused() { ret; }
END
gives "-arch=sm_90 cubin 7" link libnvJitLink.so.13 2 part.ptx seven.ptx
# A barrier of the grid in a launch that is not cooperative: it returns 1.
cat >grid.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %rd<2>;
    {
        .param .b32 a; .param .b32 f; .param .b64 h; .param .b32 e;
        st.param.b32 [a], 1; st.param.b32 [f], 0;
        call (h), cudaCGGetIntrinsicHandle, (a);
        call (e), cudaCGSynchronize, (h, f);
        ld.param.b32 %r, [e];
    }
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; st.global.u32 [%rd1], %r; ret;
}
END
printf '!<arch>\ncuda_device_runtime.o/' >libcudadevrt.a
gives "-arch=sm_90 cubin 1" link libnvJitLink.so.13 10 grid.ptx libcudadevrt.a
gives "-arch=sm_90 nvJitLinkAddData: 8" link libnvJitLink.so.13 5 seven.ptx
check "why" \
    "ptera: libnvJitLink.so.13: seven.ptx: objects and libraries of the host, and LTO code, are \
linked with -lto only" "$(cat messages)"
head -c 64 seven.cubin >cut.cubin
gives "-arch=sm_90 nvJitLinkAddData: 3" link libnvJitLink.so.13 1 cut.cubin
gives "-arch=sm_90 nvJitLinkComplete: 3" link libnvJitLink.so.13 2

# Where NVIDIA's is not, neither is ours.
unset LD_LIBRARY_PATH
ours=$(dirname "$("$ptera" exec sh -c 'echo "$LD_AUDIT"')")/ptera-compilers
gives "no library" nvrtc libnvrtc.so.11.2 -arch=sm_90
gives "no library" nvrtc "$work/libnvrtc.so.13" -arch=sm_90
check "ours alone" "nvrtcCreateProgram: 11" "$(CUDA_HOME=$work CUDA_PATH=$work "$client" nvrtc \
    "$ours/libnvrtc.so.11.2" -arch=sm_90 2>messages)"
check "says so" 1 "$(grep -c "libnvrtc.so.11.2: NVIDIA's own.* is not found" messages)"
# Without exec by LD_LIBRARY_PATH.
check "without exec" "-arch=compute_90 cubin 42" \
    "$(LD_LIBRARY_PATH=$ours:$work/lib "$client" nvrtc libnvrtc.so.13 -arch=sm_90)"

# ---- NVIDIA's own
# ---------------------------------------------------------------------------------------------

if [ -n "$real" ]; then
    for options in "-arch=sm_90" "--gpu-architecture sm_90a" "-arch=sm_90 -G" \
        "-arch=sm_90 -rdc=true --ptxas-options=-v"; do
        # shellcheck disable=SC2086
        gives "cubin 42" nvrtc "$real/libnvrtc.so.13" $options
    done
    gives "ptx 42" nvrtc "$real/libnvrtc.so.13" -arch=compute_90
    gives "nvrtcCompileProgram: 5" nvrtc "$real/libnvrtc.so.13" -arch=sm_14
    gives "" ltoir "$real/libnvrtc.so.13" k.ltoir
    gives "cubin 42" link "$real/libnvJitLink.so.13" 3 k.ltoir
    gives "cubin 7" link "$real/libnvJitLink.so.13" 2 seven.ptx
else
    skipped=$((skipped + 9))
    echo "skipped 9 checks: no libraries of NVIDIA's here"
fi

finish compilers
