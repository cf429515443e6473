/* libnvidia-ml.so.1: which GPUs there are, by itself and beside a driver that has memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/nvml/abi.h"
#include "tests/cuda/support.h"

nvmlReturn_t nvmlShutdown(void);
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *out, unsigned bytes);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *count,
                                                  nvmlProcessInfo_v1_t *out);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t *info);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                     nvmlProcessInfo_t *out);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *celsius);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *architecture);
const char *nvmlErrorString(nvmlReturn_t result);

static void check_before_init(void)
{
    unsigned n;
    nvmlDevice_t device;
    CHECK_INT(nvmlDeviceGetCount_v2(&n), NVML_ERROR_UNINITIALIZED);
    CHECK_INT(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_ERROR_UNINITIALIZED);
    CHECK_INT(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    CHECK(!strcmp(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported"));
}

static void check_system(void)
{
    static const nvmlReturn_t errors[] = {NVML_SUCCESS,
                                          NVML_ERROR_UNINITIALIZED,
                                          NVML_ERROR_INVALID_ARGUMENT,
                                          NVML_ERROR_NOT_FOUND,
                                          NVML_ERROR_INSUFFICIENT_SIZE,
                                          NVML_ERROR_DRIVER_NOT_LOADED,
                                          NVML_ERROR_ARGUMENT_VERSION_MISMATCH};
    char driver[80], library[80], name[256];
    int cuda = 0;
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        CHECK(strcmp(nvmlErrorString(errors[i]), nvmlErrorString(NVML_ERROR_UNKNOWN)) != 0);
    CHECK(!strcmp(nvmlErrorString((nvmlReturn_t)77), "Unknown Error"));
    CHECK_INT(nvmlSystemGetDriverVersion(driver, sizeof driver), NVML_SUCCESS);
    CHECK_INT(nvmlSystemGetCudaDriverVersion_v2(&cuda), NVML_SUCCESS);
    CHECK_INT(cuda / 1000, 13);
    CHECK_INT(nvmlSystemGetNVMLVersion(library, sizeof library), NVML_SUCCESS);
    CHECK(!strncmp(library, "13.", 3) && !strcmp(library + 3, driver));
    CHECK_INT(nvmlSystemGetNVMLVersion(library, 4), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_INT(nvmlSystemGetNVMLVersion(NULL, 80), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlSystemGetDriverVersion(NULL, 80), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlSystemGetCudaDriverVersion_v2(NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlSystemGetProcessName((unsigned)getpid(), name, sizeof name), NVML_SUCCESS);
    CHECK(strstr(name, "nvml") != NULL);
    CHECK_INT(nvmlSystemGetProcessName(0x7fffffff, name, sizeof name), NVML_ERROR_NOT_FOUND);
    CHECK_INT(nvmlSystemGetProcessName(1, NULL, 0), NVML_ERROR_INVALID_ARGUMENT);
}

/* CUDA_VISIBLE_DEVICES is the driver's alone. */
static void check_devices(void)
{
    unsigned n = 0, index = 9, architecture = 0;
    int major = 0, minor = 0;
    nvmlDevice_t device = NULL, same = NULL;
    char text[96];
    CHECK_INT(nvmlDeviceGetCount_v2(&n), NVML_SUCCESS);
    CHECK_INT(n, 3);
    CHECK_INT(nvmlDeviceGetHandleByIndex_v2(3, &device), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlDeviceGetHandleByIndex_v2(2, &device), NVML_SUCCESS);
    CHECK_INT(nvmlDeviceGetIndex(device, &index), NVML_SUCCESS);
    CHECK_INT(index, 2);
    CHECK_INT(nvmlDeviceGetName(device, text, sizeof text), NVML_SUCCESS);
    CHECK(!strcmp(text, "NVIDIA H100 80GB HBM3"));
    CHECK_INT(nvmlDeviceGetName(device, text, 5), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_INT(nvmlDeviceGetCudaComputeCapability(device, &major, &minor), NVML_SUCCESS);
    CHECK_INT(major * 10 + minor, 90);
    CHECK_INT(nvmlDeviceGetArchitecture(device, &architecture), NVML_SUCCESS);
    CHECK_INT(architecture, 9);
    CHECK_INT(nvmlDeviceGetUUID(device, text, sizeof text), NVML_SUCCESS);
    CHECK(!strcmp(text, "GPU-50746572-6100-0000-0000-000000090002"));
    CHECK_INT(nvmlDeviceGetHandleByUUID(text, &same), NVML_SUCCESS);
    CHECK(same == device);
    CHECK_INT(nvmlDeviceGetHandleByUUID("GPU-0", &same), NVML_ERROR_NOT_FOUND);
    CHECK_INT(nvmlDeviceGetName(NULL, text, sizeof text), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlDeviceGetIndex(device, NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlDeviceGetTemperature(device, 0, &n), NVML_ERROR_NOT_SUPPORTED);
}

static void check_bus(void)
{
    nvmlPciInfo_t info;
    nvmlPciInfo_v2_t old;
    nvmlDevice_t device = NULL, same = NULL;
    CHECK_INT(nvmlDeviceGetHandleByPciBusId_v2("0000:02:00.0", &device), NVML_SUCCESS);
    CHECK_INT(nvmlDeviceGetPciInfo_v3(device, &info), NVML_SUCCESS);
    CHECK(!strcmp(info.busId, "00000000:02:00.0") && info.bus == 2);
    CHECK_INT(nvmlDeviceGetHandleByPciBusId_v2(info.busId, &same), NVML_SUCCESS);
    CHECK(same == device);
    CHECK_INT(nvmlDeviceGetPciInfo(device, &old), NVML_SUCCESS);
    CHECK(!strcmp(old.busId, "0000:02:00.0") && old.bus == 2);
    CHECK_INT(nvmlDeviceGetHandleByPciBusId_v2("0000:09:00.0", &device), NVML_ERROR_NOT_FOUND);
    CHECK_INT(nvmlDeviceGetHandleByPciBusId_v2("nonsense", &device), NVML_ERROR_INVALID_ARGUMENT);
}

/* Device 0 of the driver is the board that CUDA_VISIBLE_DEVICES shows first. */
static void check_memory(void)
{
    nvmlDevice_t device = NULL;
    nvmlMemory_t memory, after;
    nvmlMemory_v2_t v2 = {.version = 1};
    nvmlProcessInfo_t process;
    unsigned n = 1;
    CUcontext ctx;
    CUdeviceptr p;
    size_t total;
    char id[32];
    CHECK_INT(nvmlDeviceGetHandleByIndex_v2(2, &device), NVML_SUCCESS);
    CHECK_INT(nvmlDeviceGetMemoryInfo(device, &memory), NVML_SUCCESS);
    CHECK_INT(nvmlDeviceGetComputeRunningProcesses_v3(device, &n, &process), NVML_SUCCESS);
    CHECK_INT(n, 0);
    OK(cuInit(0));
    OK(cuDeviceGetPCIBusId(id, sizeof id, 0));
    CHECK(!strcmp(id, "0000:03:00.0"));
    OK(cuDeviceTotalMem_v2(&total, 0));
    CHECK(total == memory.total && memory.used == 0 && memory.free == total);
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuMemAlloc_v2(&p, 64 << 20));
    CHECK_INT(nvmlDeviceGetMemoryInfo(device, &after), NVML_SUCCESS);
    CHECK(after.used >= 64 << 20 && after.used + after.free == after.total);
    CHECK_INT(nvmlDeviceGetMemoryInfo_v2(device, &v2), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    v2.version = NVML_MEMORY_V2;
    CHECK_INT(nvmlDeviceGetMemoryInfo_v2(device, &v2), NVML_SUCCESS);
    CHECK(v2.used == after.used);
    n = 0;
    CHECK_INT(nvmlDeviceGetComputeRunningProcesses_v3(device, &n, NULL),
              NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_INT(nvmlDeviceGetComputeRunningProcesses_v3(device, &n, &process), NVML_SUCCESS);
    CHECK(n == 1 && process.pid == (unsigned)getpid() && process.usedGpuMemory == after.used);
    nvmlProcessInfo_v1_t old;
    CHECK_INT(nvmlDeviceGetComputeRunningProcesses(device, &n, &old), NVML_SUCCESS);
    CHECK(n == 1 && old.pid == process.pid && old.usedGpuMemory == after.used);
    CHECK_INT(nvmlDeviceGetComputeRunningProcesses(device, &n, NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_INT(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
    CHECK_INT(nvmlDeviceGetMemoryInfo(device, &after), NVML_SUCCESS);
    CHECK_INT(after.used, 0);
    OK(cuCtxDestroy_v2(ctx));
}

/* What NVML was asked leaves the driver to a process that is forked afterwards. */
static void check_fork(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(cuInit(0) != CUDA_SUCCESS);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

int main(void)
{
    setenv("PTERA_DEVICE", "h100", 1);
    setenv("PTERA_DEVICES", "3", 1);
    setenv("CUDA_VISIBLE_DEVICES", "2,1", 1);
    check_before_init();
    CHECK_INT(nvmlInit_v2(), NVML_SUCCESS);
    CHECK_INT(nvmlInit(), NVML_SUCCESS);
    CHECK_INT(nvmlShutdown(), NVML_SUCCESS);
    CHECK_INT(nvmlInitWithFlags(1), NVML_SUCCESS);
    CHECK_INT(nvmlShutdown(), NVML_SUCCESS);
    check_system();
    check_devices();
    check_bus();
    check_fork();
    check_memory();
    CHECK_INT(nvmlShutdown(), NVML_SUCCESS);
    CHECK_INT(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    return CHECK_DONE("nvml");
}
