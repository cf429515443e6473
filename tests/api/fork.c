/* fork(): an engine stays with the parent; the child hears so from every call and makes engines of
 * its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/support.h"

enum { N = 1 << 17 };

static const char text[] = HEADER ".visible .global .u32 g;\n"
                                  ".visible .entry k(.param .u64 p)\n{\n"
                                  "    .reg .b64 %rd<3>; .reg .b32 %r<4>;\n"
                                  "    ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, "
                                  "%tid.x; mad.lo.u32 %r3, %r1, 256, %r2;\n"
                                  "    mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;\n"
                                  "    st.global.u32 [%rd1], %r3;\n    ret;\n}\n";

struct world {
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    uint32_t *buffer;
};

static struct world make(unsigned threads, int allow_fork)
{
    struct world w;
    ptera_options options;
    ptera_options_init(&options);
    options.threads = threads;
    options.allow_fork = allow_fork;
    CHECK_INT(ptera_engine_create(&options, &w.engine), PTERA_OK);
    w.module = load(w.engine, text);
    w.kernel = kernel_of(w.module, "k");
    w.buffer = new_buffer(w.engine, N * 4);
    return w;
}

/* Enough CTAs that other threads start. */
static void check_launch(struct world *w)
{
    memset(w->buffer, 0xff, N * 4);
    CHECK_INT(LAUNCH(w->kernel, N / 256, 256, &w->buffer), PTERA_OK);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < N; i++)
        wrong += w->buffer[i] != i;
    CHECK_INT(wrong, 0);
}

static void check_refused(struct world *w)
{
    static char host[64];
    ptera_info info = {.size = sizeof info};
    ptera_kernel_status status = {.size = sizeof status};
    ptera_parameter parameter = {.size = sizeof parameter};
    ptera_diagnostic diagnostic = {.size = sizeof diagnostic};
    ptera_module *module;
    ptera_kernel *kernel;
    void *p;
    const void *data;
    const char *name;
    size_t bytes;
    enum { REFUSED = PTERA_ERROR_NOT_INITIALIZED };
    CHECK_INT(ptera_engine_info(w->engine, &info), REFUSED);
    CHECK_INT(ptera_module_load(w->engine, "k.ptx", text, strlen(text), &module), REFUSED);
    CHECK_INT(ptera_module_load_file(w->engine, SOURCE_DIR "/samples/saxpy/saxpy.ptx", &module),
              REFUSED);
    CHECK_INT(ptera_module_diagnostic(w->module, 0, &diagnostic), REFUSED);
    CHECK_INT(ptera_module_verify(w->module), REFUSED);
    CHECK_INT(ptera_module_emit(w->module, NULL, PTERA_EMIT_IR, &name), REFUSED);
    CHECK_INT(ptera_module_variable(w->module, "g", &p, &bytes), REFUSED);
    CHECK_INT(ptera_module_variable_at(w->module, 0, &name, &p, &bytes), REFUSED);
    CHECK_INT(ptera_module_kernel(w->module, "k", 0, &kernel), REFUSED);
    CHECK_INT(ptera_kernel_info(w->kernel, &status), REFUSED);
    CHECK_INT(ptera_kernel_parameter(w->kernel, 0, &parameter), REFUSED);
    CHECK_INT(ptera_kernel_emit(w->kernel, (const unsigned[]){32, 1, 1}, 0, PTERA_EMIT_LLVM, &data,
                                &bytes),
              REFUSED);
    CHECK_INT(ptera_buffer_alloc(w->engine, 64, &p), REFUSED);
    CHECK_INT(ptera_buffer_free(w->engine, w->buffer), REFUSED);
    CHECK_INT(ptera_memory_register(w->engine, host, sizeof host), REFUSED);
    CHECK_INT(ptera_memory_unregister(w->engine, host), REFUSED);
    CHECK_INT(LAUNCH(w->kernel, 1, 32, &w->buffer), REFUSED);
    ptera_launch launch;
    ptera_kernel_properties properties = {.size = sizeof properties};
    ptera_module_properties heads = {.size = sizeof heads};
    void (*function)(void);
    ptera_launch_init(&launch);
    CHECK_INT(ptera_kernel_launch_async(w->kernel, &launch, NULL, NULL), REFUSED);
    CHECK_INT(ptera_engine_wait(w->engine), REFUSED);
    CHECK_INT(ptera_engine_cancel(w->engine), REFUSED);
    CHECK_INT(ptera_kernel_properties_get(w->kernel, &properties), REFUSED);
    CHECK_INT(ptera_module_properties_get(w->module, &heads), REFUSED);
    CHECK_INT(ptera_function_register(w->engine, "f", "void ()", (void (*)(void))abort), REFUSED);
    CHECK_INT(ptera_function_pointer(w->module, "f", "void ()", &function), REFUSED);
    ptera_module_unload(w->module);
    ptera_engine_destroy(w->engine);
}

/* Runs `child` in a child process and takes over its count of failures. */
static void in_child(void (*child)(struct world *), struct world *w)
{
    int status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        check_failed = 0;
        child(w);
        fflush(stdout);
        _exit(check_failed > 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void refused_then_own(struct world *w)
{
    check_refused(w);
    struct world own = make(1, 0);
    check_launch(&own);
    CHECK(strcmp(ptera_result_text(PTERA_ERROR_NOT_INITIALIZED), "unknown result") != 0);
    in_child(check_refused, &own);
    ptera_engine_destroy(own.engine);
}

static void copy_works(struct world *w)
{
    check_launch(w);
    ptera_engine_destroy(w->engine);
}

/* ---- launches under way ---------------------------------------------------------------------- */

static atomic_bool is_over;

/* One engine for all threads, which compile, load and launch all the time. */
static void *keep_busy(void *ud)
{
    const struct world *shared = ud;
    struct world mine = *shared;
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        mine.buffer = new_buffer(mine.engine, N * 4);
        check_launch(&mine);
        ptera_buffer_free(mine.engine, mine.buffer);
        ptera_module *module = load(mine.engine, text);
        struct world own = {mine.engine, module, kernel_of(module, "k"), shared->buffer};
        ptera_launch launch;
        ptera_launch_init(&launch);
        launch.block[0] = i % 4 ? 32 : 64;
        launch.parameters = (const void *[]){&own.buffer};
        launch.n_parameters = 1;
        launch.backend = i % 4 ? PTERA_BACKEND_INTERP : best_backend(mine.engine);
        CHECK_INT(ptera_kernel_launch(own.kernel, &launch), PTERA_OK);
        ptera_module_unload(module);
    }
    return NULL;
}

/* The end of a child is an ordinary one; but what was the parent's looks leaked there. */
#ifdef PT_SANITIZED
#define END(status) _exit(status)
#else
#define END(status) exit(status)
#endif

static void refused_and_exits(struct world *w)
{
    alarm(60);
    check_refused(w);
    struct world own = make(2, 0);
    check_launch(&own);
    ptera_engine_destroy(own.engine);
    fflush(stdout);
    END(check_failed > 0);
}

static void executes(struct world *w)
{
    alarm(60);
    check_refused(w);
    if (!check_failed)
        execl("/bin/true", "true", NULL);
}

static void check_under_way(void)
{
    enum { THREADS = 3, FORKS = 12 };
    pthread_t threads[THREADS];
    struct world w = make(4, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, keep_busy, &w), 0);
    for (int i = 0; i < FORKS; i++) {
        usleep(3000);
        in_child(i % 2 ? executes : refused_and_exits, &w);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_launch(&w);
    ptera_engine_destroy(w.engine);
}

/* ---- the compiler that is being opened ------------------------------------------------------- */

static useconds_t open_delay;

static void *open_compiler(void *ud)
{
    (void)ud;
    ptera_info info = {.size = sizeof info};
    ptera_engine *engine;
    CHECK_INT(ptera_engine_create(NULL, &engine), PTERA_OK);
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    ptera_engine_destroy(engine);
    return NULL;
}

static void opens_too(struct world *w)
{
    (void)w;
    alarm(60);
    open_compiler(NULL);
}

/* A process of its own, which has not opened it yet, forks so long after a thread began to. */
static void forks_meanwhile(struct world *w)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, open_compiler, NULL), 0);
    usleep(open_delay);
    in_child(opens_too, w);
    pthread_join(thread, NULL);
}

static void check_opening(void)
{
    for (open_delay = 0; open_delay < 40000; open_delay += 2000)
        in_child(forks_meanwhile, NULL);
}

int main(void)
{
    check_opening(); /* first: nothing has opened it */
    struct world idle = make(4, 0), busy = make(4, 0), copied = make(1, 1), threaded = make(4, 1);
    in_child(copy_works, &threaded);
    check_launch(&busy);
    check_launch(&threaded);
    in_child(check_refused, &threaded);
    in_child(refused_then_own, &idle);
    in_child(refused_then_own, &busy);
    in_child(copy_works, &copied);
    check_launch(&idle);
    check_launch(&busy);
    check_launch(&copied);
    in_child(copy_works, &copied); /* one worker: it has not started threads */
    ptera_engine_destroy(idle.engine);
    ptera_engine_destroy(busy.engine);
    ptera_engine_destroy(copied.engine);
    ptera_engine_destroy(threaded.engine);
    check_under_way();
    return CHECK_DONE("fork");
}
