/* Launches that another thread ends: those that run, in each engine, and those that are queued. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "tests/api/support.h"

static const char text[] = HEADER
    ".visible .entry endless(.param .u64 p)\n{\n"
    "    .reg .b64 %p; .reg .b32 %r; .reg .pred %c;\n"
    "    ld.param.u64 %p, [p]; st.volatile.u32 [%p], 1;\n"
    "LOOP:\n    ld.volatile.u32 %r, [%p]; setp.ne.u32 %c, %r, 0; @%c bra LOOP;\n    ret;\n}\n"
    ".visible .entry add(.param .u64 p)\n{\n"
    "    .reg .b64 %p;\n    ld.param.u64 %p, [p]; red.add.u32 [%p], 1;\n    ret;\n}\n";

struct host {
    pthread_t thread;
    ptera_kernel *kernel;
    ptera_backend backend;
    unsigned grid;
    volatile uint32_t *place;
    ptera_result result;
    char error[1024];
    atomic_bool has_ended;
};

static void *host_main(void *ud)
{
    struct host *h = ud;
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = h->grid;
    launch.block[0] = 64;
    launch.backend = h->backend;
    launch.parameters = (const void *[]){&h->place};
    launch.n_parameters = 1;
    launch.error = h->error;
    launch.error_bytes = sizeof h->error;
    h->result = ptera_kernel_launch(h->kernel, &launch);
    atomic_store(&h->has_ended, true);
    return NULL;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void check_running(ptera_backend backend, unsigned grid)
{
    enum { HOSTS = 2 };
    struct host hosts[HOSTS] = {0};
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].kernel = kernel_of(module, "endless");
        hosts[i].backend = backend;
        hosts[i].grid = grid;
        hosts[i].place = new_buffer(engine, 4);
        CHECK_INT(pthread_create(&hosts[i].thread, NULL, host_main, &hosts[i]), 0);
    }
    for (int i = 0; i < HOSTS; i++)
        while (!*hosts[i].place)
            pause_shortly();
    CHECK(!atomic_load(&hosts[0].has_ended) && !atomic_load(&hosts[1].has_ended));
    CHECK_INT(ptera_engine_cancel(engine), PTERA_OK);
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(hosts[i].thread, NULL);
        CHECK_INT(hosts[i].result, PTERA_ERROR_CANCELLED);
        CHECK_HAS(hosts[i].error, "cancelled in kernel 'endless' at k.ptx");
    }
    /* It meant those alone. */
    uint32_t *sum = new_buffer(engine, 4);
    CHECK_INT(LAUNCH(kernel_of(module, "add"), 10, 64, &sum), PTERA_OK);
    CHECK_INT(*sum, 640);
    ptera_engine_destroy(engine);
}

/* ---- queued ---------------------------------------------------------------------------------- */

struct told {
    atomic_uint calls;
    ptera_result results[4];
};

static void tell(void *ud, ptera_result result, const char *error)
{
    struct told *told = ud;
    told->results[atomic_load(&told->calls) % 4] = result;
    if (result == PTERA_ERROR_CANCELLED)
        CHECK_HAS(error, "cancelled in kernel 'endless' at k.ptx");
    atomic_fetch_add(&told->calls, 1);
}

static void check_queued(void)
{
    ptera_engine *engine = new_engine(2);
    ptera_module *module = load(engine, text);
    volatile uint32_t *place = new_buffer(engine, 4);
    struct told told = {0};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = (const void *[]){&place};
    launch.n_parameters = 1;
    for (int i = 0; i < 3; i++)
        CHECK_INT(ptera_kernel_launch_async(kernel_of(module, "endless"), &launch, tell, &told),
                  PTERA_OK);
    while (!*place)
        pause_shortly();
    CHECK_INT(ptera_engine_cancel(engine), PTERA_OK);
    CHECK_INT(ptera_engine_wait(engine), PTERA_OK);
    CHECK_INT(atomic_load(&told.calls), 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(told.results[i], PTERA_ERROR_CANCELLED);
    ptera_engine_destroy(engine);
}

int main(void)
{
    ptera_engine *engine = new_engine(1);
    ptera_backend best = best_backend(engine);
    CHECK_INT(ptera_engine_cancel(engine), PTERA_OK); /* nothing runs */
    CHECK_INT(ptera_engine_cancel(NULL), PTERA_ERROR_INVALID_ARGUMENT);
    ptera_engine_destroy(engine);
    check_running(PTERA_BACKEND_INTERP, 1);
    check_running(PTERA_BACKEND_INTERP, 100);
    check_running(PTERA_BACKEND_AUTO, 4);
    check_running(best, 1);
    check_running(best, 100);
    check_queued();
    return CHECK_DONE("cancel");
}
