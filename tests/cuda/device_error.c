/* What kernels are told of errors: names and texts of the runtime library's, not the driver's. */
#include "tests/cuda/support.h"

enum { MOST = 96 };

/* Copies what a function says of an error, up to its end. */
#define TELL(name, function)                                                    \
    ".extern .func (.param .b64 text) " function "(.param .b32 error);\n"       \
    ".visible .entry " name "(.param .u64 to, .param .u32 error)\n{\n"          \
    "    .reg .b64 %to, %from; .reg .b32 %e, %c; .reg .pred %more;\n"           \
    "    ld.param.u64 %to, [to]; ld.param.u32 %e, [error];\n"                   \
    "    { .param .b64 r; .param .b32 a; st.param.b32 [a], %e;\n"               \
    "      call.uni (r), " function ", (a); ld.param.b64 %from, [r]; }\n"       \
    "L:  ld.u8 %c, [%from]; st.global.u8 [%to], %c; add.u64 %from, %from, 1;\n" \
    "    add.u64 %to, %to, 1; setp.ne.u32 %more, %c, 0; @%more bra L;\n    ret;\n}\n"

static const char text[] =
    PTX_HEADER TELL("name", "__cudaCDP2GetErrorName") TELL("text", "__cudaCDP2GetErrorString");

static void check(CUfunction tell, int error, const char *want)
{
    char have[MOST] = "";
    CUdeviceptr to = new_memory(sizeof have);
    OK(LAUNCH(tell, 1, NULL, &to, &error));
    OK(cuMemcpyDtoH_v2(have, to, sizeof have));
    CHECK_TEXT(have, want);
    OK(cuMemFree_v2(to));
}

int main(void)
{
    CUmodule module;
    CUcontext ctx = begin();
    OK(cuModuleLoadData(&module, text));
    CUfunction name = function_of(module, "name"), say = function_of(module, "text");
    check(name, 0, "cudaSuccess");
    check(name, 1, "cudaErrorInvalidValue");
    check(name, 65, "cudaErrorLaunchMaxDepthExceeded");
    check(name, -5, "unrecognized error code");
    check(say, 0, "no error");
    check(say, 1, "invalid argument");
    check(say, 9, "invalid configuration argument"); /* no error of the driver's */
    check(say, 65, "launch would exceed maximum depth of nested launches");
    check(say, 812,
          "unsupported interaction between different versions of CUDA Dynamic "
          "Parallelism");
    check(say, 123456, "unrecognized error code");
    OK(cuCtxDestroy_v2(ctx));
    return CHECK_DONE("cuda_device_error");
}
