/* Variables of CUDA's. Each check is this program again, with some of them set. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static char folder[] = "/tmp/ptera-environment-XXXXXX";

/* ---- devices --------------------------------------------------------------------------------- */

/* Four boards, of which the second and the first are shown. */
static void run_reordered(void)
{
    CUuuid first, second;
    int n = 0;
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    CHECK_INT(n, 2);
    OK(cuDeviceGetUuid_v2(&first, 0));
    OK(cuDeviceGetUuid_v2(&second, 1));
    CHECK(first.bytes[15] == 1 && second.bytes[15] == 0);
}

static void run_none(void)
{
    CHECK_CU(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

static void run_invalid(void)
{
    CHECK_CU(cuInit(0), CUDA_ERROR_INVALID_DEVICE);
}

/* ---- what is loaded -------------------------------------------------------------------------- */

/* A cubin that holds its PTX, from the test before. */
static CUresult load_cubin(CUmodule *module)
{
    char path[128];
    snprintf(path, sizeof path, "%s/cubin", getenv("ENVIRONMENT_FOLDER"));
    return cuModuleLoad(module, path);
}

static void run_write_cubin(void)
{
    char path[128];
    CUlinkState link;
    void *cubin = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/cubin", getenv("ENVIRONMENT_FOLDER"));
    begin();
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels, sizeof kernels, NULL, 0,
                        NULL, NULL));
    OK(cuLinkComplete(link, &cubin, &bytes));
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(cubin, 1, bytes, file) == bytes);
    fclose(file);
    OK(cuLinkDestroy(link));
}

static void run_forced(void)
{
    CUmodule module;
    begin();
    OK(cuModuleLoadData(&module, kernels));
    CHECK_CU(load_cubin(&module), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

static void run_disabled(void)
{
    CUmodule module;
    CUlinkState link;
    begin();
    CHECK_CU(cuModuleLoadData(&module, kernels), CUDA_ERROR_JIT_COMPILATION_DISABLED);
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    CHECK_CU(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels, sizeof kernels,
                              NULL, 0, NULL, NULL),
             CUDA_ERROR_JIT_COMPILATION_DISABLED);
    OK(cuLinkDestroy(link));
    OK(load_cubin(&module));
    OK(LAUNCH(function_of(module, "empty"), 1, NULL, NULL));
    OK(cuCtxSynchronize());
}

static void check_loading(CUmoduleLoadingMode want, CUfunctionLoadingState state)
{
    CUmoduleLoadingMode mode;
    CUfunctionLoadingState have;
    begin();
    OK(cuModuleGetLoadingMode(&mode));
    CHECK_INT(mode, want);
    OK(cuFuncIsLoaded(&have, function_of(load_kernels(), "empty")));
    CHECK_INT(have, state);
}

static void run_eager(void)
{
    check_loading(CU_MODULE_EAGER_LOADING, CU_FUNCTION_LOADING_STATE_LOADED);
}

static void run_lazy(void)
{
    check_loading(CU_MODULE_LAZY_LOADING, CU_FUNCTION_LOADING_STATE_UNLOADED);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The file comes with the first error. */
static void run_log(void)
{
    const char *path = getenv("CUDA_LOG_FILE");
    char line[256] = "";
    begin();
    CHECK(access(path, F_OK) != 0);
    CHECK_CU(cuMemAlloc_v2(NULL, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuMemFree_v2(4), CUDA_ERROR_INVALID_VALUE);
    FILE *file = fopen(path, "r");
    CHECK(file && fgets(line, sizeof line, file) && strstr(line, "from cuMemAlloc_v2\n"));
    CHECK(file && fgets(line, sizeof line, file) && strstr(line, "from cuMemFree_v2\n"));
    CHECK(file && !fgets(line, sizeof line, file));
    if (file)
        fclose(file);
}

/* A log that cannot be written is none. */
static void run_no_log(void)
{
    CHECK_CU(cuMemAlloc_v2(NULL, 4), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
}

static void run_fault(void)
{
    begin();
    OK(LAUNCH(function_of(load_kernels(), "stop"), 1, NULL, NULL));
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

/* ---- this program again ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} runs[] = {{"reordered", run_reordered}, {"none", run_none},     {"invalid", run_invalid},
            {"cubin", run_write_cubin},   {"forced", run_forced}, {"disabled", run_disabled},
            {"eager", run_eager},         {"lazy", run_lazy},     {"log", run_log},
            {"no log", run_no_log},       {"fault", run_fault}};

static int run_as(const char *name)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(runs[i].name, name) == 0)
            runs[i].run();
    return check_failed || !check_passed;
}

static pid_t start(const char *name, const char *setting, int err)
{
    char *copy = strdup(setting);
    pid_t child = fork();
    if (child == 0) {
        if (err >= 0)
            dup2(err, STDERR_FILENO);
        if (putenv(copy) == 0)
            execl("/proc/self/exe", "cuda_environment", name, NULL);
        _exit(3);
    }
    free(copy);
    return child;
}

static void check(const char *name, const char *setting)
{
    int status = -1;
    waitpid(start(name, setting, -1), &status, 0);
    if (status)
        fprintf(stderr, "%s, %s\n", name, setting);
    CHECK_INT(status, 0);
}

static void check_devices(void)
{
    setenv("PTERA_DEVICES", "4", 1);
    check("reordered", "CUDA_VISIBLE_DEVICES=1,0");
    check("reordered", "CUDA_VISIBLE_DEVICES=1,0,4,2");
    check("reordered", "CUDA_VISIBLE_DEVICES=GPU-50746572-6100-0000-0000-000000090001,"
                       "GPU-50746572-6100-0000-0000-000000090000");
    check("reordered", "CUDA_VISIBLE_DEVICES=GPU-50746572-6100-0000-0000-000000090001,"
                       "MIG-50746572-6100-0000-0000-000000090000,GPU-5");
    check("none", "CUDA_VISIBLE_DEVICES=GPU-50746572-6100"); /* which of four? */
    check("none", "CUDA_VISIBLE_DEVICES=GPU-60746572-6100-0000-0000-000000090001");
    check("none", "CUDA_VISIBLE_DEVICES=MIG-GPU-50746572-6100-0000-0000-000000090001/0/0");
    check("none", "CUDA_VISIBLE_DEVICES=4,0");
    check("invalid", "CUDA_VISIBLE_DEVICES=1,0,1");
    check("invalid", "CUDA_DEVICE_ORDER=slowest");
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    check("reordered", "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    check("reordered", "CUDA_DEVICE_ORDER=FASTEST_FIRST");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("PTERA_DEVICES");
}

/* A kernel that fails holds the process until somebody traces it. */
static void check_wait(void)
{
    int pipes[2], status = -1;
    char line[256] = "";
    if (pipe2(pipes, O_CLOEXEC))
        return;
    pid_t child = start("fault", "CUDA_DEVICE_WAITS_ON_EXCEPTION=1", pipes[1]);
    close(pipes[1]);
    FILE *told = fdopen(pipes[0], "r");
    while (told && !strstr(line, "waits for a debugger") && fgets(line, sizeof line, told))
        continue;
    CHECK(strstr(line, "waits for a debugger") != NULL);
    CHECK_INT(waitpid(child, &status, WNOHANG), 0);
    bool is_traced = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0; /* some containers forbid it */
    if (!is_traced)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, NULL, NULL);
    CHECK(is_traced ? status == 0 : WIFSIGNALED(status));
    if (told)
        fclose(told);
}

int main(int argc, char **argv)
{
    char path[128], setting[256];
    if (argc > 1 && !strcmp(argv[1], "fault"))
        _exit(run_as(argv[1])); /* traced: at an exit the leak sanitizer would fail for that */
    if (argc > 1)
        return run_as(argv[1]);
    CHECK(mkdtemp(folder) != NULL);
    setenv("ENVIRONMENT_FOLDER", folder, 1);
    check_devices();
    check("cubin", "NONE=");
    check("forced", "CUDA_FORCE_PTX_JIT=1");
    check("forced", "CUDA_FORCE_JIT=1");
    check("disabled", "CUDA_DISABLE_PTX_JIT=1");
    check("disabled", "CUDA_DISABLE_JIT=1");
    check("eager", "CUDA_MODULE_LOADING=EAGER");
    check("lazy", "CUDA_MODULE_LOADING=LAZY");
    snprintf(path, sizeof path, "%s/log", folder);
    snprintf(setting, sizeof setting, "CUDA_LOG_FILE=%s", path);
    check("log", setting);
    check("no log", "CUDA_LOG_FILE=/does/not/exist");
    check_wait();
    remove(path);
    snprintf(path, sizeof path, "%s/cubin", folder);
    remove(path);
    rmdir(folder);
    return CHECK_DONE("cuda_environment");
}
