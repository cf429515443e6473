/* A program for exec.sh: launches and copies, then does what its argument says. Without one it is a
 * test like others. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static const char ptx[] = PTX_HEADER PTX_ADD_AND_WAIT
    /* ++*(p + bytes), which *p becomes, too */
    ".visible .entry behind(.param .u64 p, .param .u64 bytes)\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [bytes]; add.u64 %rd3, %rd1, %rd2;\n"
    "    ld.global.u32 %r1, [%rd3]; add.u32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;\n"
    "    st.global.u32 [%rd1], %r1; ret;\n}\n";

static CUdeviceptr memory;
static CUmodule module;

static void launch_behind(uint64_t bytes)
{
    CUfunction behind = function_of(module, "behind");
    OK(LAUNCH(behind, 1, NULL, &memory, &bytes));
}

/* Memory that is the host's, too, and a block that was another one's. */
static void work_on_others(CUfunction add)
{
    unsigned n = 1, value = 3, have = 0, *host;
    CUdeviceptr p;
    OK(cuMemFree_v2(new_memory(64)));
    OK(cuMemAllocHost_v2((void **)&host, 64));
    *host = 1;
    OK(LAUNCH(add, 1, NULL, &host, &n, &value));
    OK(cuMemAllocAsync(&p, 64, NULL));
    OK(cuMemsetD8Async(p, 0, 64, NULL));
    OK(LAUNCH(add, 1, NULL, &p, &n, &value));
    OK(cuMemcpyDtoHAsync_v2(&have, p, 4, NULL));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuCtxSynchronize());
    CHECK(*host == 4 && have == 3);
    OK(cuMemFreeHost(host));
}

/* A kernel of device 0 on memory of device 1. */
static void work_on_peer(CUfunction add)
{
    unsigned n = 1, value = 3, have = 0;
    CUcontext own, other;
    CUdeviceptr p;
    OK(cuCtxGetCurrent(&own));
    OK(cuCtxCreate_v2(&other, 0, 1));
    p = new_memory(4);
    OK(cuCtxSetCurrent(own));
    OK(cuCtxEnablePeerAccess(other, 0));
    OK(LAUNCH(add, 1, NULL, &p, &n, &value));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(&have, p, 4));
    CHECK_INT(have, 3);
    OK(cuCtxDisablePeerAccess(other));
    OK(cuMemcpyDtoD_v2(memory, p, 4)); /* needs none */
    OK(LAUNCH(add, 1, NULL, &memory, &n, &value));
    OK(cuCtxSynchronize());
    LAUNCH(add, 1, NULL, &p, &n, &value);
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void work(void)
{
    unsigned n = 4, value = 3, have[4] = {0};
    CUfunction add;
    begin();
    OK(cuModuleLoadData(&module, ptx));
    add = function_of(module, "add");
    memory = new_memory(sizeof have);
    OK(LAUNCH(add, 32, NULL, &memory, &n, &value));
    OK(LAUNCH(add, 32, NULL, &memory, &n, &value));
    OK(cuMemcpyDtoH_v2(have, memory, sizeof have));
    CHECK_INT(have[3], 6);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    work();
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fault")) {
        launch_behind(UINT64_C(1) << 40);
        CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
        exit(4);
    }
    if (!strcmp(how, "oob")) {
        launch_behind(256);
        OK(cuCtxSynchronize());
    }
    if (!strcmp(how, "newer"))
        OK(cuModuleLoadData(&module, ".version 9.9\n.target sm_90\n.address_size 64\n"
                                     ".visible .entry k() { ret; }\n"));
    if (!strcmp(how, "touch"))
        CHECK_INT(((const volatile unsigned *)(uintptr_t)memory)[2], 6);
    if (!strcmp(how, "peer"))
        work_on_peer(function_of(module, "add"));
    if (!strcmp(how, "others"))
        work_on_others(function_of(module, "add"));
    puts("output");
    return CHECK_DONE("cudart_ends");
}
