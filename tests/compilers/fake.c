/* What the test puts in the place of NVIDIA's libnvrtc.so.13 and libnvJitLink.so.13: it has one
 * program, prints the options that it is given, and the PTX that it makes writes 42, of LTO
 * code 43. Machine code it has none: a cubin of its own is a failure of the test. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PTX(n)                                                   \
    ".version 8.0\n.target sm_90\n.address_size 64\n"            \
    ".visible .entry k(.param .u64 p)\n{\n    .reg .b64 %rd1;\n" \
    "    ld.param.u64 %rd1, [p];\n    st.global.u32 [%rd1], " #n ";\n    ret;\n}\n"
static const char ptx[] = PTX(42), linked[] = PTX(43);
static char handle;

static void tell(int n, const char *const *options)
{
    for (int i = 0; i < n; i++)
        printf("%s ", options[i]);
}

int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

const char *nvrtcGetErrorString(int result)
{
    return result ? "fake error" : "fake success";
}

int nvrtcCreateProgram(void **program)
{
    *program = &handle;
    return 0;
}

int nvrtcDestroyProgram(void **program)
{
    *program = NULL;
    return 0;
}

int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
    tell(n, options);
    return program != &handle;
}

int nvrtcGetPTXSize(void *program, size_t *size)
{
    *size = sizeof ptx;
    return program != &handle;
}

int nvrtcGetPTX(void *program, char *out)
{
    memcpy(out, ptx, sizeof ptx);
    return program != &handle;
}

int nvrtcGetCUBINSize(void *program, size_t *size)
{
    *size = 0;
    return program != &handle;
}

int nvrtcGetCUBIN(void *program, char *out)
{
    (void)out;
    return program != &handle;
}

int nvJitLinkCreate(void **out, uint32_t n, const char *const *options)
{
    tell((int)n, options);
    *out = &handle;
    return 0;
}

int nvJitLinkDestroy(void **out)
{
    *out = NULL;
    return 0;
}

/* LTO code alone. */
int nvJitLinkAddData(void *h, int type, const void *data, size_t size, const char *name)
{
    (void)data, (void)size, (void)name;
    return h != &handle || type != 3;
}

int nvJitLinkComplete(void *h)
{
    return h != &handle;
}

int nvJitLinkGetLinkedPtxSize(void *h, size_t *size)
{
    *size = sizeof linked;
    return h != &handle;
}

int nvJitLinkGetLinkedPtx(void *h, char *out)
{
    memcpy(out, linked, sizeof linked);
    return h != &handle;
}
