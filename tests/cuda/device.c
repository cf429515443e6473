/* Devices: their number, names and attributes, by the profile of a compute capability; run again as
 * other devices. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static int attribute(CUdevice_attribute which)
{
    int value = -1;
    OK(cuDeviceGetAttribute(&value, which, 0));
    return value;
}

static void check_which(void)
{
    CUdevice device = -1;
    char text[64], short_text[3];
    CUuuid a, b;
    int n = 0;
    OK(cuDeviceGetCount(&n));
    CHECK_INT(n, 3);
    CHECK_CU(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGet(&device, 2));
    CHECK_INT(device, 2);
    CHECK_CU(cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetName(text, sizeof text, 0));
    CHECK_HAS(text, "Ptera");
    OK(cuDeviceGetName(short_text, sizeof short_text, 0));
    CHECK_TEXT(short_text, "Pt");
    CHECK_CU(cuDeviceGetName(text, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetName(NULL, 4, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetName(text, sizeof text, 99), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetUuid_v2(&a, 0));
    OK(cuDeviceGetUuid(&b, 1));
    CHECK(memcmp(&a, &b, sizeof a) != 0);
    OK(cuDeviceGetPCIBusId(text, sizeof text, 1));
    OK(cuDeviceGetByPCIBusId(&device, text));
    CHECK_INT(device, 1);
    CHECK_CU(cuDeviceGetByPCIBusId(&device, "0000:77:00.0"), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuDeviceGetByPCIBusId(&device, "nonsense"), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetByPCIBusId(&device, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* Numbers of CUDA's table of compute capabilities. */
struct expected {
    const char *capability;
    int threads, blocks, shared, block_shared, clusters;
};

static void check_capability(const struct expected *e)
{
    int major, minor;
    CUdevprop properties;
    size_t bytes = 0;
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), major);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), minor);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), e->threads);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), e->blocks);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), e->shared << 10);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
              e->block_shared << 10);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), e->clusters);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
    for (int id = 1; id < CU_DEVICE_ATTRIBUTE_MAX; id++) /* none may fail */
        attribute((CUdevice_attribute)id);
    CHECK_CU(cuDeviceGetAttribute(&major, (CUdevice_attribute)0, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetAttribute(&major, (CUdevice_attribute)100000, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1),
             CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetProperties(&properties, 0));
    CHECK_INT(properties.maxThreadsDim[2], 64);
    CHECK_INT(properties.SIMDWidth, 32);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    CHECK(bytes > 64 << 20);
    CHECK_CU(cuDeviceTotalMem_v2(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void check_peers(void)
{
    int value;
    OK(cuDeviceCanAccessPeer(&value, 0, 1));
    CHECK_INT(value, 1);
    OK(cuDeviceCanAccessPeer(&value, 1, 1));
    CHECK_INT(value, 0);
    CHECK_CU(cuDeviceCanAccessPeer(&value, 0, 7), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuDeviceCanAccessPeer(NULL, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    CHECK_INT(value, 1);
    CHECK_CU(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)77, 0, 1),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1),
             CUDA_ERROR_INVALID_DEVICE);
}

/* The library reads its environment once a process. */
static int in_child(int (*run)(const void *), const void *ud)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int failed = run(ud);
        fflush(NULL);
        _exit(failed);
    }
    waitpid(child, &status, 0);
    return status;
}

static int run_capability(const void *ud)
{
    const struct expected *e = ud;
    setenv("PTERA_DEVICES", "3", 1);
    setenv("PTERA_COMPUTE_CAPABILITY", e->capability, 1);
    OK(cuInit(0));
    check_which();
    check_capability(e);
    check_peers();
    return check_failed != 0;
}

/* What devices had otherwise before compute capability 7.0; `value` by PTERA_DEVICE. */
struct older {
    const char *id;
    CUdevice_attribute attribute;
    int value;
};
#define OLDER(id, name, value)                \
    {                                         \
        id, CU_DEVICE_ATTRIBUTE_##name, value \
    }

static const struct older older[] = {
    OLDER("k40", MAX_REGISTERS_PER_MULTIPROCESSOR, 64 << 10),
    OLDER("k80", MAX_REGISTERS_PER_MULTIPROCESSOR, 128 << 10),
    OLDER("k80", MAX_REGISTERS_PER_BLOCK, 64 << 10),
    OLDER("k80", MAXIMUM_TEXTURE3D_WIDTH, 4096),
    OLDER("gtx750ti", MAXIMUM_TEXTURE1D_WIDTH, 65536),
    OLDER("gtx980", MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 16384),
    OLDER("gtx980", MAXIMUM_TEXTURE2D_WIDTH, 65536),
    OLDER("gtx980", MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65536),
    OLDER("gtx980", MAXIMUM_TEXTURECUBEMAP_WIDTH, 16384),
    OLDER("gtx980", MAXIMUM_SURFACE2D_WIDTH, 65536),
    OLDER("gtx980", COOPERATIVE_LAUNCH, 0),
    OLDER("gtx980", CONCURRENT_MANAGED_ACCESS, 0),
    OLDER("tx1", MAX_REGISTERS_PER_BLOCK, 32 << 10),
    OLDER("tx1", MAX_REGISTERS_PER_MULTIPROCESSOR, 64 << 10),
    OLDER("p100", MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28),
    OLDER("p100", MAXIMUM_TEXTURE3D_WIDTH, 16384),
    OLDER("p100", COOPERATIVE_LAUNCH, 1),
    OLDER("gtx1080", MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 27),
    OLDER("tx2", MAX_REGISTERS_PER_BLOCK, 32 << 10),
    OLDER("xavier", MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 27),
    OLDER("t4", MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28),
};

static int run_older(const void *ud)
{
    const struct older *o = ud;
    setenv("PTERA_DEVICE", o->id, 1);
    OK(cuInit(0));
    CHECK_INT(attribute(o->attribute), o->value);
    return check_failed != 0;
}

/* A GTX 980 takes PTX for 5.2 and no later one, 2,048 threads of 32 registers an SM, and no
 * cooperative launch. */
static int run_maxwell(const void *ud)
{
    static const char text[] =
        ".version 8.0\n.target sm_%d\n.address_size 64\n"
        ".visible .entry set(.param .u64 p) { .reg .b64 %%r; ld.param.u64 %%r, [p];\n"
        "st.global.u32 [%%r], 7; ret; }\n";
    char older[sizeof text], newer[sizeof text];
    CUmodule module;
    unsigned value = 0;
    int blocks = 0;
    (void)ud;
    snprintf(older, sizeof older, text, 52);
    snprintf(newer, sizeof newer, text, 53);
    setenv("PTERA_DEVICE", "gtx980", 1);
    begin();
    CHECK_CU(cuModuleLoadData(&module, newer), CUDA_ERROR_INVALID_PTX);
    OK(cuModuleLoadData(&module, older));
    CUfunction set = function_of(module, "set");
    CUdeviceptr p = new_memory(4);
    OK(LAUNCH(set, 1, NULL, &p));
    OK(cuMemcpyDtoH_v2(&value, p, 4));
    CHECK_INT(value, 7);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, set, 64, 0));
    CHECK_INT(blocks, 32);
    CHECK_CU(cuLaunchCooperativeKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}),
             CUDA_ERROR_NOT_SUPPORTED);
    return check_failed != 0;
}

/* What devices of all compute capabilities have alike. */
static void check_alike(void)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } alike[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046},
        {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    };
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        CHECK_INT(attribute(alike[i].attribute), alike[i].value);
}

/* Devices by their names. */
struct named {
    const char *id, *name;
    int sms, block_shared, major, minor, gib,
        cooperative; /* cooperative: the most blocks of 768 threads */
};

static void check_launches(const struct named *n)
{
    CUcontext ctx = begin();
    CUfunction empty = function_of(load_kernels(), "empty");
    CUresult fits = n->block_shared >= 150 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    unsigned most = (unsigned)n->cooperative;
    int blocks = 0;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 768, 0));
    CHECK_INT(blocks * n->sms, n->cooperative);
    CHECK_CU(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 150 << 10),
             fits);
    CHECK_CU(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 150 << 10, NULL, NULL, NULL), fits);
    OK(cuLaunchCooperativeKernel(empty, most, 1, 1, 768, 1, 1, 0, NULL, NULL));
    CHECK_CU(cuLaunchCooperativeKernel(empty, most + 1, 1, 1, 768, 1, 1, 0, NULL, NULL),
             CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuCtxDestroy_v2(ctx));
}

static int run_named(const void *ud)
{
    const struct named *n = ud;
    char name[64];
    size_t bytes = 0;
    setenv("PTERA_DEVICE", n->id, 1);
    OK(cuInit(0));
    OK(cuDeviceGetName(name, sizeof name, 0));
    CHECK_TEXT(name, n->name);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), n->sms);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
              n->block_shared << 10);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), n->major);
    CHECK_INT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), n->minor);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    CHECK(bytes && bytes >> 30 <= (size_t)n->gib);
    check_launches(n);
    return check_failed != 0;
}

static int run_conflict(const void *ud)
{
    setenv("PTERA_DEVICE", ud, 1);
    setenv("PTERA_COMPUTE_CAPABILITY", "12.0", 1);
    CHECK_CU(cuInit(0), strcmp(ud, "rtx5090") ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
    return check_failed != 0;
}

static int run_invisible(const void *ud)
{
    int n;
    setenv("CUDA_VISIBLE_DEVICES", ud, 1);
    CHECK_CU(cuInit(0), CUDA_ERROR_NO_DEVICE);
    CHECK_CU(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    return check_failed != 0;
}

static int run_visible(const void *ud)
{
    int n = 0;
    setenv("PTERA_DEVICES", "4", 1);
    setenv("CUDA_VISIBLE_DEVICES", ud, 1);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    CHECK_INT(n, 2);
    return check_failed != 0;
}

static int run_unknown(const void *ud)
{
    setenv(ud, "6.1x", 1);
    CHECK_CU(cuInit(0), CUDA_ERROR_INVALID_DEVICE);
    return check_failed != 0;
}

/* A process that is forked afterwards has lost the driver. */
static int run_inherited(const void *ud)
{
    int n;
    (void)ud;
    CHECK_CU(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    return check_failed != 0;
}

int main(void)
{
    static const struct expected table[] = {
        {"3.5", 2048, 16, 48, 48, 0},    {"3.7", 2048, 16, 112, 48, 0},
        {"5.0", 2048, 32, 64, 48, 0},    {"5.2", 2048, 32, 96, 48, 0},
        {"5.3", 2048, 32, 64, 48, 0},    {"6.0", 2048, 32, 64, 48, 0},
        {"6.1", 2048, 32, 96, 48, 0},    {"6.2", 2048, 32, 64, 48, 0},
        {"7.0", 2048, 32, 96, 96, 0},    {"7.2", 2048, 32, 96, 96, 0},
        {"7.5", 1024, 16, 64, 64, 0},    {"8.0", 2048, 32, 164, 163, 0},
        {"8.6", 1536, 16, 100, 99, 0},   {"8.7", 1536, 16, 164, 163, 0},
        {"8.9", 1536, 24, 100, 99, 0},   {"9.0", 2048, 32, 228, 227, 1},
        {"10.0", 2048, 32, 228, 227, 1}, {"10.3", 2048, 32, 228, 227, 1},
        {"11.0", 1536, 24, 228, 227, 1}, {"12.0", 1536, 24, 100, 99, 1},
        {"121", 1536, 24, 100, 99, 1},   {"", 2048, 32, 228, 227, 1},
    };
    static const struct named named[] = {
        {"h100", "NVIDIA H100 80GB HBM3", 132, 227, 9, 0, 80, 264},
        {"H200", "NVIDIA H200", 132, 227, 9, 0, 141, 264},
        {"a100", "NVIDIA A100-SXM4-40GB", 108, 163, 8, 0, 40, 216},
        {"l4", "NVIDIA L4", 58, 99, 8, 9, 24, 116},
        {"RTX 4090", "NVIDIA GeForce RTX 4090", 128, 99, 8, 9, 24, 256},
        {"b200", "NVIDIA B200", 148, 227, 10, 0, 192, 296},
        {"rtx5090", "NVIDIA GeForce RTX 5090", 170, 99, 12, 0, 32, 340},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_INT(in_child(run_capability, &table[i]), 0);
    CHECK_INT(in_child(run_invisible, ""), 0);
    CHECK_INT(in_child(run_invisible, "-1"), 0);
    CHECK_INT(in_child(run_visible, "0,2,9"), 0);
    CHECK_INT(in_child(run_unknown, "PTERA_COMPUTE_CAPABILITY"), 0);
    CHECK_INT(in_child(run_unknown, "PTERA_DEVICES"), 0);
    CHECK_INT(in_child(run_unknown, "PTERA_DEVICE"), 0);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        CHECK_INT(in_child(run_named, &named[i]), 0);
    CHECK_INT(in_child(run_conflict, "h100"), 0);
    CHECK_INT(in_child(run_conflict, "rtx5090"), 0);
    for (size_t i = 0; i < sizeof older / sizeof *older; i++)
        CHECK_INT(in_child(run_older, &older[i]), 0);
    CHECK_INT(in_child(run_maxwell, NULL), 0);
    OK(cuInit(0));
    check_alike();
    CHECK_INT(in_child(run_inherited, NULL), 0);
    return CHECK_DONE("cuda_device");
}
