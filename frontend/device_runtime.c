#define _GNU_SOURCE /* memmem */
#include "frontend/device_runtime.h"

#include <string.h>

bool pt_device_runtime_is(const void *data, size_t size)
{
    static const char archive[] = "!<arch>\n", member[] = "cuda_device_runtime.o";
    size_t n = sizeof archive - 1;
    return size > n && !memcmp(data, archive, n) && memmem(data, size, member, sizeof member - 1);
}

bool pt_device_runtime_is_text(const char *text, size_t len)
{
    static const char call[] = "__cuda_syscall_cnpv2";
    return memmem(text, len, call, sizeof call - 1);
}

/* The handle is the address that %envreg1 and %envreg2 hold in a cooperative launch, of a size and
 * the barrier's word; 0 in others, and for sets of blocks other than the grid (1). At the barrier
 * the first block adds what makes the sum of all additions 2^31: its top bit changes when the last
 * block has come. */
const char pt_device_runtime_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    "    .reg .b32 %low, %high, %scope; .reg .b64 %address; .reg .pred %is_other;\n"
    "    ld.param.b32 %scope, [scope];\n"
    "    mov.b32 %high, %envreg1; mov.b32 %low, %envreg2; mov.b64 %address, {%low, %high};\n"
    "    setp.ne.u32 %is_other, %scope, 1; @%is_other mov.b64 %address, 0;\n"
    "    st.param.b64 [handle], %address; ret;\n}\n"
    ".visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n"
    "{\n"
    "    .reg .b32 %a, %b, %c, %blocks, %place, %old, %now; .reg .b64 %word;\n"
    "    .reg .pred %is_invalid, %is_not_first, %waits;\n"
    "    ld.param.b64 %word, [handle];\n"
    "    setp.eq.u64 %is_invalid, %word, 0; @%is_invalid bra INVALID;\n"
    "    barrier.sync 0;\n"
    "    mov.u32 %a, %tid.x; mov.u32 %b, %tid.y; mov.u32 %c, %tid.z;\n"
    "    or.b32 %a, %a, %b; or.b32 %a, %a, %c;\n"
    "    setp.ne.u32 %is_not_first, %a, 0; @%is_not_first bra DONE;\n"
    "    mov.u32 %a, %nctaid.x; mov.u32 %b, %nctaid.y; mov.u32 %c, %nctaid.z;\n"
    "    mul.lo.u32 %blocks, %a, %b; mul.lo.u32 %blocks, %blocks, %c;\n"
    "    mov.u32 %a, %ctaid.x; mov.u32 %b, %ctaid.y; mov.u32 %c, %ctaid.z;\n"
    "    or.b32 %place, %a, %b; or.b32 %place, %place, %c;\n"
    "    setp.ne.u32 %is_not_first, %place, 0;\n"
    "    sub.u32 %a, 0x80000001, %blocks; @%is_not_first mov.u32 %a, 1;\n"
    "    fence.acq_rel.gpu;\n"
    "    atom.global.add.u32 %old, [%word+4], %a;\n"
    "WAIT:\n"
    "    ld.relaxed.gpu.global.u32 %now, [%word+4]; xor.b32 %now, %now, %old;\n"
    "    setp.ge.s32 %waits, %now, 0; @%waits bra WAIT;\n"
    "    fence.acq_rel.gpu;\n"
    "DONE:\n"
    "    barrier.sync 0;\n"
    "    st.param.b32 [error], 0; ret;\n"
    "INVALID:\n"
    "    st.param.b32 [error], 1; ret;\n}\n"; /* cudaErrorInvalidValue */
