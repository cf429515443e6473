/* Multicast objects: what they are bound to and mapped from, what is refused, what kernels may not
 * do with them. */
#include <pthread.h>
#include <string.h>

#include "tests/cuda/multicast.h"

static const char accesses[] =
    ".version 8.2\n.target sm_90\n.address_size 64\n"
    ".visible .entry store(.param .u64 m)\n{\n"
    "    .reg .b64 %rd1; ld.param.u64 %rd1, [m]; multimem.st.u32 [%rd1], 77; ret;\n}\n"
    ".visible .entry load(.param .u64 m)\n{\n"
    "    .reg .b64 %rd1; .reg .b32 %r1; ld.param.u64 %rd1, [m]; multimem.ld_reduce.or.b32 %r1, "
    "[%rd1]; ret;\n}\n"
    ".visible .entry plain(.param .u64 m)\n{\n"
    "    .reg .b64 %rd1; .reg .b32 %r1; ld.param.u64 %rd1, [m]; ld.volatile.global.u32 %r1, "
    "[%rd1]; ret;\n}\n";

/* A mapping of a part, and memory of a pool. */
static void check_parts(void)
{
    CUdeviceptr pooled = 0, part;
    CUmemGenericAllocationHandle object;
    CUmulticastObjectProp prop = multicast_prop(2 * UNIT);
    CUmodule module;
    unsigned have = 0;
    OK(cuModuleLoadData(&module, accesses));
    prop.numDevices = 1;
    OK(cuMulticastCreate(&object, &prop));
    OK(cuMulticastAddDevice(object, 0));
    OK(cuMemAllocAsync(&pooled, UNIT, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMulticastBindAddr(object, UNIT, pooled, UNIT, 0));
    part = map(object, UNIT, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(LAUNCH(function_of(module, "store"), 1, NULL, &part));
    OK(cuMemcpyDtoH_v2(&have, pooled, sizeof have));
    CHECK_INT(have, 77);
    unmap(part, UNIT);
    OK(cuMulticastUnbind(object, 0, UNIT, UNIT));
    OK(cuMemRelease(object));
    OK(cuMemFree_v2(pooled));
    OK(cuModuleUnload(module));
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* A kernel that fails in a context of its own, with a message of the place that has the text. */
static void check_fault(const char *kernel, CUdeviceptr address, CUresult want, const char *text)
{
    char said[8192] = "";
    CUcontext ctx;
    CUmodule module = NULL;
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuModuleLoadData(&module, accesses));
    CUfunction function = function_of(module, kernel);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    LAUNCH(function, 1, NULL, &address);
    CUresult have = cuCtxSynchronize();
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    CHECK_CU(have, want);
    CHECK(strstr(said, " at ptx:") && strstr(said, text));
    CHECK(!strstr(said, "ordinary") == !strstr(text, "ordinary"));
    OK(cuCtxDestroy_v2(ctx));
}

static void check_faults(const struct team *team)
{
    CUdeviceptr buffer = new_memory(64),
                closed = map(team->object, UNIT, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE),
                read_only = map(team->object, UNIT, 0, CU_MEM_ACCESS_FLAGS_PROT_READ);
    const CUresult illegal = CUDA_ERROR_ILLEGAL_ADDRESS;
    check_fault("load", buffer, illegal, "not an address of multicast memory");
    check_fault("load", team->replica[0], illegal, "not an address of multicast memory");
    check_fault("store", team->all + UNIT, illegal, "a device has bound no memory to this part");
    check_fault("load", team->all + 2 * UNIT, illegal, "a device has bound no memory to this part");
    check_fault("load", closed, illegal, "no access to this multicast memory has been set");
    check_fault("store", read_only, illegal, "this multicast memory may only be read");
    check_fault("plain", team->all, illegal, "a multimem address in an ordinary access");
    check_fault("load", team->all + 2, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address");
    CHECK_CU(cuMemFree_v2(buffer), illegal); /* the device's other contexts have failed, too */
    unmap(closed, UNIT);
    unmap(read_only, UNIT);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_object_refusals(void)
{
    CUmulticastObjectProp prop = multicast_prop(UNIT), bad;
    CUmemGenericAllocationHandle object;
    size_t bytes = 0;
    int supported = 0;
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    CHECK_INT(supported, 1);
    OK(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    CHECK_INT(bytes, UNIT);
    OK(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    CHECK_INT(bytes, UNIT);
    CHECK_CU(cuMulticastGetGranularity(NULL, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMulticastGetGranularity(&bytes, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMulticastGetGranularity(&bytes, &prop, 2), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMulticastCreate(NULL, &prop), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMulticastCreate(&object, NULL), CUDA_ERROR_INVALID_VALUE);
#define REFUSED(field, value, error)                         \
    do {                                                     \
        bad = prop;                                          \
        bad.field = (value);                                 \
        CHECK_CU(cuMulticastCreate(&object, &bad), (error)); \
    } while (0)
    REFUSED(size, 0, CUDA_ERROR_INVALID_VALUE);
    REFUSED(size, UNIT + 4096, CUDA_ERROR_INVALID_VALUE);
    REFUSED(numDevices, 0, CUDA_ERROR_INVALID_VALUE);
    REFUSED(numDevices, (unsigned)n_devices + 1, CUDA_ERROR_INVALID_VALUE);
    REFUSED(flags, 1, CUDA_ERROR_INVALID_VALUE);
    REFUSED(handleTypes, CU_MEM_HANDLE_TYPE_FABRIC, CUDA_ERROR_NOT_SUPPORTED);
}

static void check_device_refusals(void)
{
    CUmulticastObjectProp prop = multicast_prop(UNIT);
    CUmemGenericAllocationHandle object, memory = new_allocation(0, UNIT), again;
    CUmemAllocationProp back;
    int fd;
    prop.numDevices = 1;
    OK(cuMulticastCreate(&object, &prop));
    CHECK_CU(cuMulticastAddDevice(object, n_devices), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuMulticastAddDevice(memory, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMulticastAddDevice((uintptr_t)WILD, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMulticastAddDevice(object, 1));
    CHECK_CU(cuMulticastAddDevice(object, 1), CUDA_ERROR_INVALID_VALUE); /* it is there */
    CHECK_CU(cuMulticastAddDevice(object, 0), CUDA_ERROR_INVALID_VALUE); /* one too many */
    CHECK_CU(cuMulticastBindMem(object, 0, memory, 0, UNIT, 0), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuMulticastUnbind(object, 0, 0, UNIT), CUDA_ERROR_INVALID_DEVICE);
    CHECK_CU(cuMemGetAllocationPropertiesFromHandle(&back, object), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemExportToShareableHandle(&fd, object, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
             CUDA_ERROR_NOT_SUPPORTED);
    CUdeviceptr p = map(object, UNIT, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(p + 5)));
    CHECK(again == object);
    OK(cuMemRelease(again));
    unmap(p, UNIT);
    OK(cuMemRelease(object));
    CHECK_CU(cuMemRelease(object), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMulticastAddDevice(object, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(memory));
}

static void check_bind_refusals(const struct team *team)
{
    const CUmemGenericAllocationHandle object = team->object, memory = team->allocation[0];
    const CUresult invalid = CUDA_ERROR_INVALID_VALUE;
    const size_t at = 2 * UNIT;
    CUdeviceptr buffer = new_memory(4 * UNIT);
    CHECK_CU(cuMulticastBindMem(object, 0, memory, 0, UNIT, 0), invalid); /* bound already */
    CHECK_CU(cuMulticastBindMem(object, at, memory, 0, UNIT, 1), invalid);
    CHECK_CU(cuMulticastBindMem(object, at, memory, 0, 0, 0), invalid);
    CHECK_CU(cuMulticastBindMem(object, at, memory, 0, 4096, 0), invalid);
    CHECK_CU(cuMulticastBindMem(object, at + 4096, memory, 0, UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindMem(object, at, memory, 4096, UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindMem(object, at, memory, 0, 2 * UNIT, 0),
             invalid); /* beyond the object */
    CHECK_CU(cuMulticastBindMem(object, at, memory, 2 * UNIT, UNIT, 0),
             invalid); /* beyond the memory */
    CHECK_CU(cuMulticastBindMem(object, at, memory, 0, (size_t)0 - UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindMem(object, at, object, 0, UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindMem(object, at, 0, 0, UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindMem(memory, at, memory, 0, UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindAddr(object, at, team->replica[0] + 4096, UNIT - 4096, 0), invalid);
    CHECK_CU(cuMulticastBindAddr(object, at, team->replica[0], 2 * UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindAddr(object, at, team->replica[0], UNIT, 1), invalid);
    CHECK_CU(cuMulticastBindAddr(object, at, team->all, UNIT, 0), invalid);
    CHECK_CU(cuMulticastBindAddr(object, at, buffer, UNIT, 0),
             invalid); /* neither made by cuMemCreate nor a pool's */
    CHECK_CU(cuMulticastBindAddr(object, at, 0, UNIT, 0), invalid);
    CHECK_CU(cuMulticastUnbind(object, 0, at, UNIT), invalid); /* nothing is there */
    CHECK_CU(cuMulticastUnbind(object, 0, 0, 2 * UNIT), invalid);
    CHECK_CU(cuMulticastUnbind((uintptr_t)WILD, 0, 0, UNIT), invalid);
    CHECK_CU(cuMemMap(team->all, UNIT, 3 * UNIT, object, 0), invalid);
    CHECK_CU(cuMemMap(team->all, UNIT, 0, object, 0), invalid);
    CHECK_CU(cuMemsetD32_v2(team->all, 0, 1), invalid); /* copies are ordinary accesses */
    CHECK_CU(cuMemcpyHtoD_v2(team->all, &buffer, 4), invalid);
    OK(cuMemFree_v2(buffer));
}

/* An object that others may get takes only memory that others may get. */
static void check_shareable(void)
{
    CUmulticastObjectProp prop = multicast_prop(UNIT);
    CUmemAllocationProp shared = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemGenericAllocationHandle object, memory = new_allocation(0, UNIT), good;
    prop.numDevices = 1;
    prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cuMulticastCreate(&object, &prop));
    OK(cuMulticastAddDevice(object, 0));
    CHECK_CU(cuMulticastBindMem(object, 0, memory, 0, UNIT, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemCreate(&good, UNIT, &shared, 0));
    OK(cuMulticastBindMem(object, 0, good, 0, UNIT, 0));
    OK(cuMemRelease(good));
    OK(cuMemRelease(memory));
    OK(cuMemRelease(object));
}

/* Binding and mapping wait for the last device. */
struct late {
    CUmemGenericAllocationHandle object;
    volatile int is_added;
};

static void *add_late(void *ud)
{
    struct late *late = ud;
    usleep(20000);
    late->is_added = 1;
    OK(cuMulticastAddDevice(late->object, 1));
    return NULL;
}

static void *release_late(void *ud)
{
    struct late *late = ud;
    usleep(20000);
    OK(cuMemRelease(late->object));
    return NULL;
}

enum waiting { BIND, MAP, MAP_RELEASED };

static void check_waiting(enum waiting how)
{
    CUmulticastObjectProp prop = multicast_prop(UNIT);
    CUmemGenericAllocationHandle memory = new_allocation(0, UNIT);
    struct late late = {0};
    CUdeviceptr p = 0;
    pthread_t thread;
    prop.numDevices = 2;
    OK(cuMulticastCreate(&late.object, &prop));
    OK(cuMulticastAddDevice(late.object, 0));
    OK(cuMemAddressReserve(&p, UNIT, 0, 0, 0));
    CHECK_INT(pthread_create(&thread, NULL, how == MAP_RELEASED ? release_late : add_late, &late),
              0);
    if (how == BIND)
        OK(cuMulticastBindMem(late.object, 0, memory, 0, UNIT, 0));
    else
        CHECK_CU(cuMemMap(p, UNIT, 0, late.object, 0),
                 how == MAP ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    pthread_join(thread, NULL);
    CHECK_INT(late.is_added, how != MAP_RELEASED);
    if (how == MAP)
        OK(cuMemUnmap(p, UNIT));
    if (how != MAP_RELEASED)
        OK(cuMemRelease(late.object));
    OK(cuMemAddressFree(p, UNIT));
    OK(cuMemRelease(memory));
}

/* ---- running --------------------------------------------------------------------------------- */

static void check_all(void)
{
    struct team team;
    CUmulticastObjectProp prop = {.numDevices = 1, .size = UNIT};
    CUmemGenericAllocationHandle object;
    CHECK_CU(cuMulticastCreate(&object, &prop), CUDA_ERROR_NOT_INITIALIZED);
    begin();
    make_team(&team);
    check_parts();
    check_object_refusals();
    check_device_refusals();
    check_bind_refusals(&team);
    check_shareable();
    check_waiting(BIND);
    check_waiting(MAP);
    check_waiting(MAP_RELEASED);
    check_faults(&team);
    end_team(&team);
}

int main(void)
{
    run_with_devices(check_all);
    return CHECK_DONE("cuda_multicast");
}
