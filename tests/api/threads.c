/* Several host threads and several engines at once. */
#include <pthread.h>

#include "tests/api/support.h"

enum { HOSTS = 4, ROUNDS = 20, N = 1024 };

static const char text[] =
    HEADER
    ".visible .entry add(.param .u64 p, .param .u32 v)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .u32 room[64];\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r2, 64, %r3; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "    ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd1], %r5;\n"
    "    bar.sync 0;\n    ret;\n}\n"
    ".visible .entry fail()\n{\n    trap;\n}\n";

static ptera_engine *shared_engine;
static ptera_module *shared_module;

struct host {
    pthread_t thread;
    uint32_t value;
    unsigned wrong;
    ptera_engine *engine;
    ptera_module *module;
};

static void *host_main(void *ud)
{
    struct host *h = ud;
    ptera_kernel *add = NULL, *fail = NULL;
    uint32_t *p = NULL;
    h->wrong += ptera_module_kernel(h->module, "add", 0, &add) != PTERA_OK;
    h->wrong += ptera_module_kernel(h->module, "fail", 0, &fail) != PTERA_OK;
    h->wrong += ptera_buffer_alloc(h->engine, N * 4, (void **)&p) != PTERA_OK;
    for (int i = 0; i < ROUNDS; i++) {
        h->wrong += LAUNCH(add, N / 64, 64, &p, &h->value) != PTERA_OK;
        if (h->value == 2)
            h->wrong += launch_with(fail, 4, 64, NULL, 0) != PTERA_ERROR_TRAP;
    }
    for (int i = 0; i < N; i++)
        h->wrong += p[i] != h->value * ROUNDS;
    h->wrong += ptera_buffer_free(h->engine, p) != PTERA_OK;
    return NULL;
}

static void run_hosts(struct host *hosts)
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        hosts[i].value = i + 1;
        CHECK_INT(pthread_create(&hosts[i].thread, NULL, host_main, &hosts[i]), 0);
    }
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(hosts[i].thread, NULL);
        CHECK_INT(hosts[i].wrong, 0);
    }
}

static void check_one_engine(unsigned threads)
{
    struct host hosts[HOSTS] = {0};
    shared_engine = new_engine(threads);
    shared_module = load(shared_engine, text);
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].engine = shared_engine;
        hosts[i].module = shared_module;
    }
    run_hosts(hosts);
    ptera_engine_destroy(shared_engine);
}

static void check_engine_each(void)
{
    struct host hosts[HOSTS] = {0};
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].engine = new_engine(2);
        hosts[i].module = load(hosts[i].engine, text);
    }
    run_hosts(hosts);
    for (int i = 0; i < HOSTS; i++)
        ptera_engine_destroy(hosts[i].engine);
}

int main(void)
{
    check_one_engine(1);
    check_one_engine(3);
    check_engine_each();
    return CHECK_DONE("threads");
}
