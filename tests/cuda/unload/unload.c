/* Programs that open the libraries and close them while a kernel runs: unload LIBCUDA LIBPTERA
 * LIBCUDART. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptera.h"
#include "runtime/cuda/abi.h"
#include "tests/cuda/kernels.h"
#include "tests/unit/check.h"

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n" PTX_ADD_AND_WAIT;

static const char *path;

/* A function of an open library, as the type of its name in our headers. */
#define OF(library, name) ((__typeof__(&(name)))dlsym((library), #name))

static void *open_library(void)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    return library;
}

/* A kernel waits for a word that is set only when the library has been closed. */
static void close_driver(void)
{
    volatile unsigned *word = NULL;
    for (int i = 0; i < 2; i++) {
        void *cuda = open_library();
        CUdevice device;
        CUcontext ctx;
        CUmodule module;
        CUfunction wait;
        CUdeviceptr p;
        CHECK_INT(OF(cuda, cuInit)(0), 0);
        CHECK_INT(OF(cuda, cuDeviceGet)(&device, 0), 0);
        CHECK_INT(OF(cuda, cuCtxCreate_v2)(&ctx, 0, device), 0);
        CHECK_INT(OF(cuda, cuModuleLoadData)(&module, text), 0);
        CHECK_INT(OF(cuda, cuModuleGetFunction)(&wait, module, "wait"), 0);
        CHECK_INT(OF(cuda, cuMemHostAlloc)((void **)(uintptr_t)&word, 4, 0), 0);
        *word = 0;
        p = (uintptr_t)word;
        CHECK_INT(OF(cuda, cuLaunchKernel)(wait, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p}, NULL),
                  0);
        CHECK_INT(dlclose(cuda), 0);
        usleep(50000);
        *word = 1;
        usleep(50000);
    }
}

/* A thread of the library ends the launch, after it was closed. */
static volatile int result = -1;

static void done(void *ud, ptera_result r, const char *error)
{
    (void)ud;
    (void)error;
    result = r;
}

static void close_engine(void)
{
    volatile unsigned word = 0;
    void *library = open_library();
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    volatile unsigned *p = &word;
    ptera_launch launch;
    CHECK_INT(OF(library, ptera_engine_create)(NULL, &engine), 0);
    CHECK_INT(OF(library, ptera_module_load)(engine, "k.ptx", text, sizeof text - 1, &module), 0);
    CHECK_INT(OF(library, ptera_module_kernel)(module, "wait", 0, &kernel), 0);
    OF(library, ptera_launch_init_sized)(&launch, sizeof launch);
    launch.block[0] = 32;
    launch.parameters = (const void *[]){&p};
    launch.n_parameters = 1;
    CHECK_INT(OF(library, ptera_kernel_launch_async)(kernel, &launch, done, NULL), 0);
    CHECK_INT(dlclose(library), 0);
    usleep(50000);
    word = 1;
    for (int i = 0; i < 2000 && result < 0; i++)
        usleep(10000);
    CHECK_INT(result, 0);
    library = open_library();
    OF(library, ptera_engine_destroy)(engine);
    CHECK_INT(dlclose(library), 0);
}

static void close_runtime(void)
{
    for (int i = 0; i < 2; i++) {
        void *library = open_library();
        void *address = dlsym(library, "cudaFree");
        int (*release)(void *);
        memcpy(&release, &address, sizeof release);
        CHECK_INT(release(NULL), 0);
        CHECK_INT(dlclose(library), 0);
    }
}

static void in_child(void (*run)(void), const char *library)
{
    int status = -1;
    path = library;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        run();
        exit(check_failed > 0);
    }
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    in_child(close_driver, argv[1]);
    in_child(close_engine, argv[2]);
    in_child(close_runtime, argv[3]);
    return CHECK_DONE("cuda_unload");
}
