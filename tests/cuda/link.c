/* cuLink*: PTX modules that are handed over one by one, and what is wrong with them. */
#include "tests/cuda/support.h"

static const char caller[] =
    PTX_HEADER ".extern .func (.param .b32 r) twice(.param .b32 a);\n.extern .global .u32 base;\n"
               ".visible .entry run(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd1;\n"
               "ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [base];\n"
               "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\ncall (r), twice, (a);\n"
               "ld.param.b32 %r2, [r]; }\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
static const char callee[] = PTX_HEADER
    ".visible .global .u32 base = 21;\n.visible .func (.param .b32 r) twice(.param .b32 a)\n{\n"
    ".reg .b32 %r1;\nld.param.b32 %r1, [a];\nadd.u32 %r1, %r1, %r1;\nst.param.b32 [r], "
    "%r1;\nret;\n}\n";

static CUresult add(CUlinkState state, const char *text, const char *name)
{
    return cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text), name, 0,
                            NULL, NULL);
}

/* Loads what was linked and runs it; the image is copied first, as clients do it. */
static void check_image(const void *image, size_t bytes)
{
    CUmodule module;
    CUfunction run;
    CUdeviceptr p;
    unsigned out = 0;
    void *copy = malloc(bytes), *args[] = {&p};
    memcpy(copy, image, bytes);
    OK(cuModuleLoadData(&module, copy));
    free(copy);
    OK(cuModuleGetFunction(&run, module, "run"));
    OK(cuMemAlloc_v2(&p, sizeof out));
    OK(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH_v2(&out, p, sizeof out));
    CHECK_INT(out, 42);
    OK(cuMemFree_v2(p));
    OK(cuModuleUnload(module));
}

static void check_two_modules(void)
{
    CUlinkState state;
    void *image = NULL;
    size_t bytes = 0;
    char info[64] = "x", error[64] = "x";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_LOG_VERBOSE,      CU_JIT_TARGET};
    void *values[] = {info,      (void *)sizeof info, error, (void *)sizeof error,
                      (void *)1, (void *)90};
    OK(cuLinkCreate_v2(6, options, values, &state));
    OK(add(state, caller, "caller.ptx"));
    OK(add(state, callee, "callee.ptx"));
    OK(cuLinkComplete(state, &image, &bytes));
    CHECK(bytes > sizeof caller && !error[0] && !info[0]);
    CHECK_INT((uintptr_t)values[1], 0); /* bytes written */
    check_image(image, bytes);
    CHECK_CU(add(state, callee, "late.ptx"), CUDA_ERROR_INVALID_VALUE);
    /* What was linked can be linked again. */
    CUlinkState again;
    OK(cuLinkCreate_v2(0, NULL, NULL, &again));
    OK(cuLinkAddData_v2(again, CU_JIT_INPUT_CUBIN, image, bytes, "linked", 0, NULL, NULL));
    OK(cuLinkDestroy(state));
    OK(cuLinkComplete(again, &image, &bytes));
    check_image(image, bytes);
    OK(cuLinkDestroy(again));
}

static void check_errors(void)
{
    CUlinkState state;
    void *image;
    size_t bytes;
    char error[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error};
    OK(cuLinkCreate_v2(2, options, values, &state));
    CHECK_CU(cuLinkComplete(state, &image, &bytes), CUDA_ERROR_INVALID_VALUE); /* nothing to link */
    CHECK_CU(add(state, PTX_HEADER "nonsense\n", "bad.ptx"), CUDA_ERROR_INVALID_PTX);
    CHECK_HAS(error, "bad.ptx:4:1: error:");
    CHECK_CU(add(state, "\177ELF", "elf"), CUDA_ERROR_INVALID_IMAGE);
    OK(add(state, callee, "one.ptx"));
    OK(add(state, callee, "two.ptx"));
    CHECK_CU(cuLinkComplete(state, &image, &bytes), CUDA_ERROR_INVALID_PTX);
    CHECK_HAS(error, "two.ptx:4:23: error: 'base' is already defined on line 4 of one.ptx");
    OK(cuLinkDestroy(state));
    CHECK_CU(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLinkComplete(WILD, &image, &bytes), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(add(WILD, callee, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_CU(cuLinkCreate_v2(0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuLinkCreate_v2(0, NULL, NULL, &state));
    CHECK_CU(cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, NULL, 1, NULL, 0, NULL, NULL),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLinkAddData_v2(state, CU_JIT_NUM_INPUT_TYPES, (void *)1, 1, NULL, 0, NULL, NULL),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuLinkAddFile_v2(state, CU_JIT_INPUT_PTX, "/does/not/exist", 0, NULL, NULL),
             CUDA_ERROR_FILE_NOT_FOUND);
    CHECK_CU(cuLinkAddFile_v2(state, CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL),
             CUDA_ERROR_INVALID_VALUE);
    OK(cuLinkDestroy(state));
}

/* CUDA's device runtime library has machine code; ours stands in its place. */
static void check_device_runtime(void)
{
    static const char grid[] = PTX_HEADER
        ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
        ".visible .entry run(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r;\n"
        ".reg .pred %q;\nld.param.u64 %rd1, [p];\n"
        "{ .param .b32 a; .param .b64 r; st.param.b32 [a], 1;\n"
        "call (r), cudaCGGetIntrinsicHandle, (a);\nld.param.b64 %rd2, [r]; }\n"
        "setp.eq.u64 %q, %rd2, 0; selp.b32 %r, 42, 0, %q;\nst.global.u32 [%rd1], %r;\nret;\n}\n";
    static const char library[] = "!<arch>\ncuda_device_runtime.o/";
    CUlinkState state;
    void *image;
    size_t bytes;
    OK(cuLinkCreate_v2(0, NULL, NULL, &state));
    OK(add(state, grid, "grid.ptx"));
    OK(cuLinkAddData_v2(state, CU_JIT_INPUT_LIBRARY, (void *)(uintptr_t)library, sizeof library,
                        "libcudadevrt.a", 0, NULL, NULL));
    OK(cuLinkComplete(state, &image, &bytes));
    check_image(image, bytes);
    OK(cuLinkDestroy(state));
}

/* Forty sums at once. */
static const char *many_registers(char *text)
{
    char *p = text + sprintf(text, PTX_HEADER ".visible .entry run(.param .u64 p)\n{\n"
                                              ".reg .b32 %%r<40>;\n.reg .b64 %%rd1;\n"
                                              "ld.param.u64 %%rd1, [p];\n");
    for (int i = 0; i < 40; i++)
        p += sprintf(p, "ld.volatile.global.u32 %%r%d, [%%rd1+%d];\n", i, 4 * i);
    for (int i = 0; i < 40; i++)
        p += sprintf(p, "st.volatile.global.u32 [%%rd1+%d], %%r%d;\n", 4 * i, 39 - i);
    strcpy(p, "ret;\n}\n");
    return text;
}

static int registers_of(const void *image, unsigned most)
{
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)(uintptr_t)most;
    CUmodule module;
    CUfunction run;
    int registers = 0;
    OK(cuModuleLoadDataEx(&module, image, most != 0, &option, &value));
    OK(cuModuleGetFunction(&run, module, "run"));
    OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, run));
    OK(cuModuleUnload(module));
    return registers;
}

/* Of PTX, as by ptxas's -maxrregcount; what is assembled keeps what it has. */
static void check_registers(void)
{
    static char text[8192];
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)32, *image;
    CUlinkState state;
    size_t bytes;
    many_registers(text);
    CHECK(registers_of(text, 0) > 40);
    CHECK_INT(registers_of(text, 32), 32);
    OK(cuLinkCreate_v2(1, &option, &value, &state));
    OK(add(state, text, "many.ptx"));
    OK(cuLinkComplete(state, &image, &bytes));
    CHECK_INT(registers_of(image, 0), 32);
    CHECK_INT(registers_of(image, 64), 32);
    OK(cuLinkDestroy(state));
}

int main(void)
{
    begin();
    check_two_modules();
    check_device_runtime();
    check_registers();
    check_errors();
    return CHECK_DONE("cuda_link");
}
