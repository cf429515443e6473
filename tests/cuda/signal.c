/* Programs with signals of their own: masks, handlers, closed pipes, forks while kernels run,
 * little stack. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

static const char printing[] =
    PTX_HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
               ".global .align 1 .b8 format[] = {104, 105, 10, 0};\n"
               ".visible .entry print()\n{\n"
               "    .reg .b64 %rd<3>; .reg .b32 %r<2>; mov.u64 %rd1, format; "
               "cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;\n"
               "    { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; "
               "st.param.b64 [a], %rd2;\n"
               "    call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }\n    ret;\n}\n";

/* The end of a child is an ordinary one; but what was the parent's looks leaked there. */
#ifdef PT_SANITIZED
#define END(status) _exit(status)
#else
#define END(status) exit(status)
#endif

static void in_child(void (*run)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        check_failed = 0;
        run();
        END(check_failed > 0);
    }
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
}

/* Whoever read standard output has gone. The program's own writing is its own affair. */
static void print_to_nobody(void)
{
    int ends[2];
    sigset_t pending;
    begin();
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, printing));
    CHECK_INT(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++) {
        OK(LAUNCH(function_of(module, "print"), 32, NULL, NULL));
        OK(cuCtxSynchronize());
        sigpending(&pending);
        CHECK(!sigismember(&pending, SIGPIPE));
        pthread_sigmask(SIG_SETMASK, NULL, &pending);
        CHECK(!sigismember(&pending, SIGPIPE));
    }
}

static CUfunction store;

/* A kernel's fault is an error of its context. */
static void check_fault(void)
{
    CUcontext ctx = begin();
    CUdeviceptr wild = 0x10;
    store = function_of(load_kernels(), "store");
    CUresult r = LAUNCH(store, 1, NULL, &wild);
    CHECK(r == CUDA_SUCCESS || r == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy_v2(ctx));
}

static void all_blocked(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    check_fault();
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

static void handlers_replaced(void)
{
    check_fault();
    for (int i = 0; i < 2; i++) {
        signal(SIGSEGV, i ? SIG_IGN : SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        check_fault();
    }
}

static void spoil_signals(void *ud)
{
    sigset_t all;
    (void)ud;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    signal(SIGSEGV, SIG_DFL);
}

static void nothing(void *ud)
{
    (void)ud;
}

/* The kernels of a graph's launch rely on what the first of them found of the signals; not when a
 * function of the host has run between them. */
static void graph_of_kernels(bool has_host_node)
{
    CUcontext ctx = begin();
    CUdeviceptr wild = 0x10, good = 0;
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    store = function_of(load_kernels(), "store");
    OK(cuMemAlloc_v2(&good, 64));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (has_host_node) /* what is behind it runs on its thread */
        OK(cuLaunchHostFunc(stream, nothing, NULL));
    OK(LAUNCH(store, 1, stream, &good));
    if (has_host_node)
        OK(cuLaunchHostFunc(stream, spoil_signals, NULL));
    OK(LAUNCH(store, 1, stream, &wild));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUresult r = cuGraphLaunch(exec, stream);
    CHECK(r == CUDA_SUCCESS || r == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_CU(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    cuGraphExecDestroy(exec);
    cuGraphDestroy(graph);
    OK(cuCtxDestroy_v2(ctx));
}

static void graphs(void)
{
    graph_of_kernels(true);
    spoil_signals(NULL);
    graph_of_kernels(false);
}

static void *fault_main(void *ud)
{
    (void)ud;
    check_fault();
    return NULL;
}

static void small_stacks(void)
{
    for (size_t bytes = 16 << 10; bytes <= 256 << 10; bytes *= 4) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        CHECK_INT(pthread_attr_setstacksize(&attributes, bytes), 0);
        CHECK_INT(pthread_create(&thread, &attributes, fault_main, NULL), 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
}

/* ---- forks while kernels run ----------------------------------------------------------------- */

static CUcontext shared;
static CUfunction add;
static CUdeviceptr numbers;
static atomic_bool is_over;

static void *keep_busy(void *ud)
{
    CUstream stream = NULL;
    (void)ud;
    OK(cuCtxSetCurrent(shared));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    while (!atomic_load(&is_over)) {
        unsigned n = 1024, value = 1;
        OK(LAUNCH(add, 1024, stream, &numbers, &n, &value));
        CUmodule module = load_kernels();
        OK(cuStreamSynchronize(stream));
        OK(cuModuleUnload(module));
    }
    return NULL;
}

static void refused(void)
{
    unsigned n = 1, value = 1;
    CUdeviceptr p;
    CUmodule module;
    CHECK_CU(LAUNCH(add, 1, NULL, &numbers, &n, &value), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuMemAlloc_v2(&p, 64), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuModuleLoadData(&module, kernels), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_CU(cuCtxDestroy_v2(shared), CUDA_ERROR_NOT_INITIALIZED);
}

static void executes(void)
{
    execl("/bin/true", "true", NULL);
}

static void check_forks(void)
{
    enum { THREADS = 3, FORKS = 10 };
    pthread_t threads[THREADS];
    shared = begin();
    add = function_of(load_kernels(), "add");
    numbers = new_memory(4096);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, keep_busy, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        usleep(3000);
        in_child(i % 2 ? executes : refused);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(shared));
}

int main(void)
{
    in_child(print_to_nobody);
    in_child(all_blocked);
    in_child(handlers_replaced);
    in_child(graphs);
    in_child(small_stacks);
    check_forks();
    return CHECK_DONE("cuda_signal");
}
