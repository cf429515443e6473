/* Green contexts, messages about errors, entry points. */
#include "tests/hardware/driver/say.h"

static void split(CUdevResource whole, unsigned least, unsigned flags)
{
    CUdevResource groups[32], rest;
    unsigned n = 32;
    memset(&rest, 0, sizeof rest);
    memset(groups, 0, sizeof groups);
    int r = (int)cuDevSmResourceSplitByCount(groups, &n, &whole, &rest, flags, least);
    printf("split by %u, flags %u: %d %u groups of %u, rest %d %u\n", least, flags, r, n,
           groups[0].sm.smCount, (int)rest.type, rest.sm.smCount);
}

void part_green(void)
{
    CUdevResource whole, some, got;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    CUcontext c;
    CUstream s;
    CUevent e;
    unsigned n;
    unsigned long long id = 0;
    say_begin();
    memset(&whole, 0, sizeof whole);
    SAY(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    printf("%d %u\n", (int)whole.type, whole.sm.smCount);
    SAY(cuDeviceGetDevResource(9, &got, CU_DEV_RESOURCE_TYPE_SM));
    SAY(cuDeviceGetDevResource(0, NULL, CU_DEV_RESOURCE_TYPE_SM));
    SAY(cuDeviceGetDevResource(0, &got, CU_DEV_RESOURCE_TYPE_INVALID));
    SAY(cuDeviceGetDevResource(0, &got, (CUdevResourceType)2));
    for (unsigned least = 0; least < 140; least += least < 20 ? 1 : 12)
        split(whole, least, 0);
    split(whole, 8, 1);
    split(whole, 8, 2);
    split(whole, 8, 3);
    split(whole, 8, 4);
    split(whole, 1000, 0);
    GET(n, cuDevSmResourceSplitByCount(NULL, &n, &whole, NULL, 0, 8));
    SAY(cuDevSmResourceSplitByCount(NULL, NULL, &whole, NULL, 0, 8));
    n = 1;
    memset(&some, 0, sizeof some);
    SAY(cuDevSmResourceSplitByCount(&some, &n, &whole, NULL, 0, 16));
    printf("%u %u\n", n, some.sm.smCount);
    MAKE(desc, cuDevResourceGenerateDesc(&desc, NULL, 1));
    SAY(cuDevResourceGenerateDesc(NULL, &some, 1));
    MAKE(desc, cuDevResourceGenerateDesc(&desc, &some, 1));
    MAKE(green, cuGreenCtxCreate(&green, desc, 0, 0));
    MAKE(green, cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MAKE(green, cuGreenCtxCreate(&green, desc, 9, CU_GREEN_CTX_DEFAULT_STREAM));
    SAY(cuGreenCtxCreate(NULL, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MAKE(green, cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    SAY(cuGreenCtxGetDevResource(green, &got, CU_DEV_RESOURCE_TYPE_SM));
    printf("%u\n", got.sm.smCount);
    SAY(cuGreenCtxGetId(green, &id));
    MAKE(c, cuCtxFromGreenCtx(&c, green));
    SAY(cuCtxGetDevResource(c, &got, CU_DEV_RESOURCE_TYPE_SM));
    printf("%u\n", got.sm.smCount);
    SAY(cuCtxGetDevResource(context, &got, CU_DEV_RESOURCE_TYPE_SM));
    printf("%u\n", got.sm.smCount);
    MAKE(s, cuGreenCtxStreamCreate(&s, green, 0, 0));
    MAKE(s, cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, -1));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    CUgreenCtx of;
    MAKE(of, cuStreamGetGreenCtx(s, &of));
    printf("same %d\n", of == green);
    CUcontext primary;
    MAKE(primary, cuStreamGetCtx(s, &primary));
    printf("primary %d\n", primary == context);
    MAKE(e, cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    SAY(cuGreenCtxRecordEvent(green, e));
    SAY(cuGreenCtxWaitEvent(green, e));
    SAY(cuStreamSynchronize(s));
    SAY(cuCtxSetCurrent(c));
    SAY(cuCtxSynchronize());
    MAKE(s, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    SAY(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuCtxSynchronize());
    SAY(cuCtxDestroy(c));
    SAY(cuCtxSetCurrent(context));
    SAY(cuGreenCtxDestroy(green));
    SAY(cuGreenCtxDestroy(NULL));
}

/* What a split leaves, and what can be made of it. */
void part_green_split(void)
{
    CUdevResource whole, halves[2], some[3], rest;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    unsigned n, flags;
    int active;
    SAY(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    SAY(cuInit(0));
    memset(&whole, 0, sizeof whole);
    SAY(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    printf("%u %u %u\n", whole.sm.smCount, whole.sm.minSmPartitionSize,
           whole.sm.smCoscheduledAlignment);
    n = 2;
    memset(halves, 0, sizeof halves);
    SAY(cuDevSmResourceSplitByCount(halves, &n, &whole, &rest, 0, 64));
    printf("%u: %u %u %u, %u %u %u, rest %u %u %u\n", n, halves[0].sm.smCount,
           halves[0].sm.minSmPartitionSize, halves[0].sm.smCoscheduledAlignment,
           halves[1].sm.smCount, halves[1].sm.minSmPartitionSize,
           halves[1].sm.smCoscheduledAlignment, rest.sm.smCount, rest.sm.minSmPartitionSize,
           rest.sm.smCoscheduledAlignment);
    MAKE(desc, cuDevResourceGenerateDesc(&desc, halves, 1));
    MAKE(green, cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MAKE(green, cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    SAY(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active %d\n", active);
    n = 4;
    SAY(cuDevSmResourceSplitByCount(some, &n, &halves[0], &rest, 0, 16));
    printf("%u, rest %u\n", n, rest.sm.smCount);
    n = 0;
    SAY(cuDevSmResourceSplitByCount(some, &n, &whole, NULL, 0, 16));
    n = 2;
    SAY(cuDevSmResourceSplitByCount(some, &n, NULL, NULL, 0, 16));
    n = 1;
    SAY(cuDevSmResourceSplitByCount(some, &n, &whole, NULL,
                                    CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2));
    printf("%u of %u\n", n, some[0].sm.smCount);
    MAKE(desc, cuDevResourceGenerateDesc(&desc, halves, 2));
}

static int logged;

static void take(void *data, CUlogLevel level, char *text, size_t length)
{
    (void)data;
    logged += (int)level + 10 * (length == strlen(text));
}

void part_logs(void)
{
    CUlogsCallbackHandle handle, second;
    CUlogIterator now;
    char text[4096];
    size_t n;
    say_begin();
    MAKE(handle, cuLogsRegisterCallback(NULL, NULL, &handle));
    MAKE(handle, cuLogsRegisterCallback(take, NULL, &handle));
    MAKE(second, cuLogsRegisterCallback(take, NULL, NULL));
    SAY(cuMemAlloc(NULL, 4));
    printf("%d\n", logged > 0);
    GET(now, cuLogsCurrent(&now, 0));
    SAY(cuLogsCurrent(NULL, 0));
    SAY(cuLogsCurrent(&now, 1));
    SAY(cuLogsUnregisterCallback(handle));
    SAY(cuLogsUnregisterCallback(NULL));
    n = sizeof text;
    SAY(cuLogsDumpToMemory(NULL, text, &n, 0));
    printf("%d\n", n > 0);
    n = 10;
    SAY(cuLogsDumpToMemory(NULL, text, &n, 0));
    n = sizeof text;
    SAY(cuLogsDumpToMemory(NULL, NULL, &n, 0));
    SAY(cuLogsDumpToMemory(NULL, text, NULL, 0));
    SAY(cuLogsDumpToMemory(NULL, text, &n, 1));
    SAY(cuLogsDumpToFile(NULL, NULL, 0));
    SAY(cuLogsDumpToFile(NULL, "/does/not/exist", 0));
    SAY(cuLogsDumpToFile(NULL, "/dev/null", 0));
}

static void entry(const char *name, int version, cuuint64_t flags)
{
    void *p = NULL;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)77;
    int r = (int)cuGetProcAddress(name, &p, version, flags, &status);
    printf("entry %s %d %d: %d %s %d\n", name, version, (int)flags, r, p ? "found" : "null",
           (int)status);
}

static void runtime_entry(const char *name, unsigned version, int flags)
{
    void *p = NULL;
    enum cudaDriverEntryPointQueryResult status = (enum cudaDriverEntryPointQueryResult)77;
    int r = (int)cudaGetDriverEntryPointByVersion(name, &p, version, (unsigned long long)flags,
                                                  &status);
    printf("runtime entry %s %u %d: %d %s %d\n", name, version, flags, r, p ? "found" : "null",
           (int)status);
}

void part_entry(void)
{
    static const char *const names[] = {"cuMemAlloc",
                                        "cuMemAlloc_v2",
                                        "cuCtxCreate",
                                        "cuStreamSynchronize",
                                        "cuGreenCtxCreate",
                                        "none",
                                        "",
                                        "cuGetProcAddress",
                                        "cuLaunchKernel",
                                        "cudaMalloc"};
    static const int versions[] = {-1,    0,     1000,  2000,  3020, 11000,
                                   12000, 12080, 13000, 13010, 99000};
    void *p;
    say_begin();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++)
            entry(names[i], versions[k], 0);
    for (cuuint64_t flags = 1; flags < 5; flags++) {
        entry("cuMemAlloc", 13000, flags);
        entry("cuStreamSynchronize", 13000, flags);
    }
    SAY(cuGetProcAddress("cuMemAlloc", &p, 13000, 0, NULL));
    SAY(cuGetProcAddress("none", &p, 13000, 0, NULL));
    runtime_entry("cuMemAlloc", 13000, 0);
    runtime_entry("cuMemAlloc", 1000, 0);
    runtime_entry("none", 13000, 0);
    runtime_entry("cuMemAlloc", 13000, 9);
    SAY(cudaGetDriverEntryPointByVersion(NULL, &p, 13000, 0, NULL));
    const void *table;
    CUuuid uuid;
    memset(&uuid, 0, sizeof uuid);
    MAKE(table, cuGetExportTable(&table, &uuid));
}
