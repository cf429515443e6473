/* PTERA_CHECK: what checkers find in a program that uses the driver goes to a file, calls return
 * what they would, and kernels go on. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/support.h"

/* From n words: `beyond` reads the one behind them, `branch` looks at the first, `move` hands on
 * what it never wrote, `meet` writes the first in each CTA. */
static const char text[] = PTX_HEADER ".visible .entry beyond(.param .u64 p, .param .u32 n)\n{\n"
                                      "    .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
                                      "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
                                      "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
                                      "    ld.global.u32 %r2, [%rd2];\n"
                                      "    st.global.u32 [%rd1], %r2; ret;\n}\n"
                                      ".visible .entry branch(.param .u64 p, .param .u32 n)\n{\n"
                                      "    .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p;\n"
                                      "    ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+4];\n"
                                      "    setp.eq.u32 %p, %r1, 7;\n"
                                      "    @%p st.global.u32 [%rd1], 1; ret;\n}\n"
                                      ".visible .entry move(.param .u64 p, .param .u32 n)\n{\n"
                                      "    .reg .b64 %rd<3>; .reg .b32 %r<3>; .shared .u32 room;\n"
                                      "    ld.param.u64 %rd1, [p]; ld.shared.u32 %r1, [room];\n"
                                      "    st.global.u32 [%rd1], %r1; ret;\n}\n"
                                      ".visible .entry meet(.param .u64 p, .param .u32 n)\n{\n"
                                      "    .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
                                      "    ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;\n"
                                      "    st.global.u32 [%rd1], %r1; ret;\n}\n";

static char file[] = "/tmp/ptera-cuda-check-XXXXXX", found[1 << 16];

static void run(const char *name, CUmodule module, CUdeviceptr p, unsigned n)
{
    unsigned grid = !strcmp(name, "meet") ? n : 1;
    OK(cuLaunchKernel(function_of(module, name), grid, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p, &n},
                      NULL));
    OK(cuCtxSynchronize());
}

static void read_found(void)
{
    FILE *in = fopen(file, "r");
    size_t n = in ? fread(found, 1, sizeof found - 1, in) : 0;
    found[n] = 0;
    if (in)
        fclose(in);
}

static void check_kind(const char *kind, bool is_there)
{
    char line[64];
    snprintf(line, sizeof line, "\nkind %s\n", kind);
    CHECK((strstr(found, line) != NULL) == is_there);
}

static void test_mem(CUmodule module)
{
    CUdeviceptr p = 0, q = new_memory(8);
    char byte[256] = {0};
    OK(cuMemAlloc_v2(&p, 12));
    OK(cuMemsetD8_v2(p, 0, 12));
    run("beyond", module, p, 3);
    run("beyond", module, p, 3);
    CHECK_CU(cuMemcpyDtoH_v2(byte, p, 100000), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    CHECK_CU(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    read_found();
    check_kind("mem-out-of-bounds", true);
    check_kind("mem-api", true);
    check_kind("mem-invalid-free", true);
    check_kind("mem-leak", false);
    CHECK(strstr(found, "a buffer of 12 bytes") && strstr(found, "made by cuMemAlloc_v2"));
    (void)q; /* leaks */
}

/* Memory that no call of the driver's allocator made: a mapped allocation, and registered memory of
 * the host are the kernel's, other memory of the host is not. */
static void test_host(CUmodule module)
{
    static _Alignas(4096) unsigned own[2048], other[16];
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr p;
    size_t bytes = 0;
    OK(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemAddressReserve(&p, bytes, 0, 0, 0));
    OK(cuMemCreate(&handle, bytes, &prop, 0));
    OK(cuMemMap(p, bytes, 0, handle, 0));
    OK(cuMemSetAccess(p, bytes, &access, 1));
    OK(cuMemHostRegister_v2(own, sizeof own, 0));
    run("beyond", module, p, 1);
    run("beyond", module, (uintptr_t)own, 1);
    read_found();
    check_kind("mem-out-of-bounds", false);
    check_kind("mem-host", false);
    OK(cuMemHostUnregister(own));
    OK(cuMemUnmap(p, bytes));
    OK(cuMemAddressFree(p, bytes));
    OK(cuMemRelease(handle));
    run("beyond", module, (uintptr_t)other, 1);
    read_found();
    check_kind("mem-host", true);
    check_kind("mem-out-of-bounds", false);
}

static void test_init(CUmodule module)
{
    CUdeviceptr p = 0, q = 0;
    uint32_t word;
    OK(cuMemAlloc_v2(&p, 8));
    OK(cuMemAlloc_v2(&q, 8));
    OK(cuMemsetD8_v2(p, 0, 8));
    run("branch", module, p, 2);
    OK(cuMemcpyDtoH_v2(&word, q, 4)); /* never written, but nothing is made of it */
    read_found();
    check_kind("init-branch", false);
    check_kind("init-host", false);
    run("branch", module, q, 2);
    run("move", module, p, 2);
    OK(cuMemcpyDtoH_v2(&word, p, 4));
    read_found();
    check_kind("init-branch", true);
    check_kind("init-host", true);
    OK(cuMemFree_v2(p));
    OK(cuMemFree_v2(q));
}

static void test_race(CUmodule module)
{
    CUdeviceptr p = new_memory(8);
    run("meet", module, p, 1);
    read_found();
    check_kind("race", false);
    run("meet", module, p, 2);
    read_found();
    check_kind("race", true);
    OK(cuMemFree_v2(p));
}

/* One of each that is destroyed, and one that leaks. */
static void make_handles(void)
{
    static const char begun[] = PTX_HEADER;
    for (int i = 0; i < 2; i++) {
        CUmodule module;
        CUstream stream;
        CUevent event;
        CUgraph graphs[3];
        CUgraphExec exec;
        OK(cuModuleLoadData(&module, begun));
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&event, 0));
        OK(cuGraphCreate(&graphs[0], 0));
        OK(cuGraphClone(&graphs[1], graphs[0]));
        OK(cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
        OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(cuStreamEndCapture(stream, &graphs[2]));
        if (i)
            return;
        OK(cuModuleUnload(module));
        OK(cuStreamDestroy_v2(stream));
        OK(cuEventDestroy_v2(event));
        for (int k = 0; k < 3; k++)
            OK(cuGraphDestroy(graphs[k]));
        OK(cuGraphExecDestroy(exec));
    }
}

/* The file has what is told, and at the end all of it again. */
static unsigned count_leaks(const char *what)
{
    char text[64];
    unsigned n = 0;
    snprintf(text, sizeof text, "\nmessage mem: the %s 0x", what);
    for (const char *at = found; (at = strstr(at, text)) != NULL; at += strlen(text))
        n++;
    return n / 2;
}

/* For `ptera check -- PROGRAM`: one access beyond a buffer, and one that leaks. */
static int leak(void)
{
    CUmodule module = NULL;
    CUdeviceptr p = 0;
    begin();
    OK(cuModuleLoadData(&module, text));
    OK(cuMemAlloc_v2(&p, 12));
    run("beyond", module, p, 3);
    OK(cuModuleUnload(module));
    return 5;
}

int main(int argc, char **argv)
{
    CUmodule module = NULL;
    (void)argv;
    if (argc > 1)
        return leak();
    int fd = mkstemp(file);
    CHECK(fd >= 0);
    setenv("PTERA_CHECK", "all", 1);
    setenv("PTERA_CHECK_LEAKS", "1", 1);
    setenv("PTERA_CHECK_FILE", file, 1);
    CUcontext ctx = begin();
    OK(cuModuleLoadData(&module, text));
    test_host(module);
    test_mem(module);
    test_init(module);
    test_race(module);
    make_handles();
    OK(cuCtxDestroy_v2(ctx));
    read_found();
    check_kind("mem-leak", true);
    CHECK(count_leaks("module") == 2 && count_leaks("stream") == 1 && count_leaks("event") == 1);
    CHECK(count_leaks("graph") == 3 && count_leaks("executable graph") == 1);
    CHECK(strstr(found, "made by cuGraphClone"));
    CHECK(strstr(found, "\ncount 2\n"));
    unlink(file);
    return CHECK_DONE("check");
}
