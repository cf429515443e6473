/* Callers with little stack: what they ask for is done, or is an error. */
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/api/support.h"

static const char text[] =
    HEADER ".visible .func (.param .b32 r) half(.param .b32 x)\n{\n    .reg .b32 %r<2>;\n"
           "    ld.param.u32 %r1, [x]; shr.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret;\n}\n"
           ".visible .entry k(.param .u64 p)\n{\n"
           "    .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p];\n"
           "    ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;\n"
           "    ret;\n}\n";

static ptera_backend backend;

static ptera_result touch(ptera_module *module, uint64_t address)
{
    const void *parameters[] = {&address};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = parameters;
    launch.n_parameters = 1;
    launch.backend = backend;
    return ptera_kernel_launch(kernel_of(module, "k"), &launch);
}

/* A text that descends as deep as there is room for: it is refused. */
static void check_deep(ptera_engine *engine)
{
    enum { DEEP = 50000 };
    static const char begin[] = HEADER ".global .u32 x = ";
    ptera_module *module = NULL;
    char *deep = malloc(sizeof begin + DEEP);
    memcpy(deep, begin, sizeof begin);
    memset(deep + sizeof begin - 1, '(', DEEP);
    CHECK_INT(ptera_module_load(engine, "k.ptx", deep, sizeof begin - 1 + DEEP, &module),
              PTERA_ERROR_INVALID_PTX);
    ptera_module_unload(module);
    free(deep);
}

/* Functions that call each other in a long chain, on a thread whose stack is large enough to be
 * used. */
static void *chain_main(void *ud)
{
    enum { FUNCTIONS = 20000, LINE = 64 };
    ptera_engine *engine = ud;
    char *chain = malloc((FUNCTIONS + 4) * LINE);
    size_t n = (size_t)sprintf(chain, HEADER ".func f0()\n{\n    ret;\n}\n");
    for (int i = 1; i < FUNCTIONS; i++)
        n += (size_t)sprintf(chain + n, ".func f%d() { call f%d; ret; }\n", i, i - 1);
    sprintf(chain + n, ".visible .entry k(.param .u64 p) { call f%d; ret; }\n", FUNCTIONS - 1);
    ptera_module *module = load(engine, chain);
    CHECK_INT(touch(module, 0), PTERA_ERROR_STACK_OVERFLOW);
    ptera_module_unload(module);
    free(chain);
    return NULL;
}

/* An engine's life. */
static void check_life(void)
{
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    uint32_t *good = new_buffer(engine, 4);
    ptera_kernel_properties properties = {.size = sizeof properties};
    const char *printed = NULL;
    uint32_t (*half)(uint32_t) = NULL;
    *good = 1;
    CHECK_INT(ptera_module_verify(module), PTERA_OK);
    CHECK_INT(ptera_module_emit(module, "k", PTERA_EMIT_IR, &printed), PTERA_OK);
    CHECK_HAS(printed, "ld.global.u32");
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "k"), &properties), PTERA_OK);
    CHECK_INT(touch(module, (uintptr_t)good), PTERA_OK);
    CHECK_INT(*good, 2);
    CHECK_INT(touch(module, 0xdead000), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "illegal address 0xdead000 in kernel 'k' at k.ptx:12");
    CHECK_INT(ptera_function_pointer(module, "half", "u32 (u32)", (void (**)(void))&half),
              PTERA_OK);
    if (half)
        CHECK_INT(half(9), 4);
    check_deep(engine);
    ptera_module_unload(module);
    ptera_engine_destroy(engine);
}

static void *life_main(void *ud)
{
    (void)ud;
    check_life();
    return NULL;
}

static void on_thread(size_t stack_bytes, void *(*run)(void *ud), void *ud)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    CHECK_INT(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
    CHECK_INT(pthread_create(&thread, &attributes, run, ud), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void check_threads(ptera_engine *engine)
{
    const size_t sizes[] = {(size_t)PTHREAD_STACK_MIN, 32 << 10, 64 << 10, 128 << 10, 512 << 10};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        on_thread(sizes[i], life_main, NULL);
    on_thread(512 << 10, chain_main, engine);
}

static ucontext_t outside, inside;

/* A coroutine, on a stack of the program's making. */
static void check_coroutine(void)
{
    enum { BYTES = 32 << 10 };
    char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, check_life, 0);
    swapcontext(&outside, &inside);
    munmap(stack, BYTES);
}

/* A process whose threads all have little, as `ulimit -s` says. */
static void check_limit(const char *self)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_STACK, &(struct rlimit){160 << 10, 160 << 10});
        execl(self, self, backend == PTERA_BACKEND_INTERP ? "interp" : "jit", NULL);
        _exit(9);
    }
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        backend = !strcmp(argv[1], "jit") ? PTERA_BACKEND_JIT : PTERA_BACKEND_INTERP;
        check_life();
        return check_failed > 0;
    }
    ptera_engine *engine = new_engine(1);
    ptera_backend backends[] = {PTERA_BACKEND_INTERP, best_backend(engine)};
    for (int i = 0; i < 2; i++) {
        backend = backends[i];
        check_threads(engine);
        check_coroutine();
        check_limit(argv[0]);
    }
    ptera_engine_destroy(engine);
    return CHECK_DONE("stack");
}
