/* A program with marks for profilers: kernels before, between and behind cuProfilerStart and
 * cuProfilerStop, and, where NVIDIA's header of NVTX is, ranges around them. */
#include <stdbool.h>
#include <stdio.h>

#include "runtime/cuda/abi.h"
#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif
#endif

static const char ptx[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
                          ".visible .entry early()\n{\n\tret;\n}\n"
                          ".visible .entry between()\n{\n\tret;\n}\n"
                          ".visible .entry late()\n{\n\tret;\n}\n";
static CUmodule module;
static bool is_good = true;

static void check(CUresult r)
{
    is_good = is_good && r == CUDA_SUCCESS;
}

static void launch(const char *kernel)
{
    CUfunction function;
    check(cuModuleGetFunction(&function, module, kernel));
    check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

#ifdef HAS_NVTX
static nvtxEventAttributes_t attributes(int32_t type)
{
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = type;
    return a;
}

/* Domains whose ranges do not fit into each other. */
static void use_domains(void)
{
    nvtxDomainHandle_t one = nvtxDomainCreateA("one"), two = nvtxDomainCreateW(L"zwölf");
    nvtxEventAttributes_t a = attributes(NVTX_MESSAGE_TYPE_REGISTERED);
    nvtxDomainNameCategoryA(one, 7, "seventh");
    a.message.registered = nvtxDomainRegisterStringA(one, "kept text");
    is_good = is_good && a.message.registered == nvtxDomainRegisterStringA(one, "kept text");
    a.category = 7;
    a.colorType = NVTX_COLOR_ARGB;
    a.color = 0xff00a1b2;
    a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    a.payload.llValue = -5;
    is_good = is_good && nvtxDomainRangePushEx(one, &a) == 0;
    is_good = is_good && nvtxDomainRangePushEx(one, &a) == 1;
    a = attributes(NVTX_MESSAGE_TYPE_UNICODE);
    a.message.unicode = L"über";
    is_good = is_good && nvtxDomainRangePushEx(two, &a) == 0;
    is_good = is_good && nvtxDomainRangePop(one) == 1 && nvtxDomainRangePop(one) == 0;
    is_good = is_good && nvtxDomainRangePop(one) < 0 && nvtxDomainRangePop(two) == 0;
}

static void use_ranges(void)
{
    nvtxRangeId_t id = nvtxRangeStartA("start \"and\" end");
    nvtxEventAttributes_t a = attributes(NVTX_MESSAGE_TYPE_ASCII);
    a.message.ascii = "half";
    a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    a.payload.dValue = 0.5;
    nvtxMarkEx(&a);
    nvtxRangePushA("outer");
    launch("between");
    nvtxRangePop();
    use_domains();
    nvtxRangeEnd(id);
    nvtxRangePushA("left open");
}
#else
static void use_ranges(void)
{
    launch("between");
}
#endif

int main(void)
{
    CUcontext context;
    check(cuInit(0));
    check(cuCtxCreate_v2(&context, 0, 0));
    check(cuModuleLoadData(&module, ptx));
    launch("early");
    check(cuProfilerStart());
    use_ranges();
    check(cuProfilerStop());
    launch("late");
    check(cuProfilerStart());
    check(cuCtxSynchronize());
#ifdef HAS_NVTX
    puts("has NVTX");
#endif
    return !is_good;
}
