/* How long after its limit a launch returns, whatever it is doing, and how long a module's
 * unloading, an engine's end and the process's end take while a kernel is being compiled.
 *
 *     stop [ROUNDS]
 *
 * Ten kernels that do not end in time, with each engine: the most of ROUNDS (5) launches, in
 * seconds beyond the limit. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptera.h"
#include "tests/bench/timing.h"

enum { DEAR = 30000 /* instructions that take seconds to compile */, LINE = 64, BYTES = 1 << 16 };

static const double limit = 0.2;

struct family {
    const char *name, *before, *body;
    unsigned grid, block;
};

#define TOP ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n" \
    ".reg .b64 %rd<4>;\n.reg .f32 %f<8>;\n"
#define START "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
#define PRINTF                                                                            \
    ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n" \
    ".global .b8 text[4] = {104, 105, 10, 0};\n"

static const struct family families[] = {
    {"an empty loop", "", "L: bra L;\n", 1, 32},
    {"a load that waits", "", "L: ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p1, %r2, 77;\n"
                              "@%p1 bra L;\n", 4, 64},
    {"atomic additions", "", "L: atom.global.add.u32 %r2, [%rd1], 2;\nsetp.ne.u32 %p1, %r2, 77;\n"
                             "@%p1 bra L;\n", 4, 256},
    {"barriers", ".shared .b32 word;\n",
     "L: st.shared.u32 [word], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [word];\nbar.sync 0;\n"
     "setp.lt.u32 %p1, %r2, 4000;\n@%p1 bra L;\n",
     2, 256},
    {"a barrier that some miss", "", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra M;\nbar.sync 1, 64;\n"
                                     "bra N;\nM: bra M;\nN:\n", 1, 64},
    {"recursion",
     ".func (.reg .b32 %v) f(.reg .b32 %n)\n{\n.reg .b32 %m;\n.reg .pred %q;\nmov.u32 %v, 1;\n"
     "setp.eq.u32 %q, %n, 0;\n@%q ret;\n"
     "sub.u32 %m, %n, 1;\ncall (%v), f, (%m);\nsub.u32 %m, %n, 1;\ncall (%v), f, (%m);\nret;\n}\n",
     "mov.u32 %r3, 60;\ncall (%r2), f, (%r3);\nst.global.u32 [%rd1], %r2;\n", 1, 32},
    {"text", PRINTF,
     "L:\n{\n.param .b64 f;\n.param .b64 a;\n.param .b32 c;\nmov.u64 %rd2, text;\n"
     "cvta.global.u64 %rd2, %rd2;\nst.param.b64 [f], %rd2;\n"
     "mov.u64 %rd3, 0;\nst.param.b64 [a], %rd3;\ncall.uni (c), vprintf, (f, a);\n}\n"
     "ld.volatile.global.u32 %r2, [%rd1];\n"
     "setp.ne.u32 %p1, %r2, 77;\n@%p1 bra L;\n",
     1, 32},
    {"local memory", "",
     ".local .b8 room[65536];\nmov.u32 %r3, 0;\nL: and.b32 %r4, %r3, 0xfffc;\n"
     "cvt.u64.u32 %rd2, %r4;\nmov.u64 %rd3, room;\n"
     "add.u64 %rd2, %rd2, %rd3;\nst.local.u32 [%rd2], %r3;\nadd.u32 %r3, %r3, 4;\n"
     "ld.volatile.global.u32 %r2, [%rd1];\n"
     "setp.ne.u32 %p1, %r2, 77;\n@%p1 bra L;\n",
     2, 64},
    {"many CTAs", "", "mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 20000;\n"
                      "@%p1 bra L;\n"
                      "atom.global.add.u32 %r2, [%rd1], %r3;\n", 1 << 24, 32},
    {"code that is dear to compile", "", NULL, 1 << 16, 64},
};

/* The caller frees it. */
static char *text_of(const struct family *f)
{
    char *text = malloc(strlen(f->before) + (f->body ? strlen(f->body) : 0) + (size_t)DEAR * LINE +
                        2000),
         *p = text;
    if (!text)
        abort();
    p += sprintf(p, "%s%s%s%s", TOP, f->before, ENTRY, START);
    if (f->body)
        p += sprintf(p, "%s", f->body);
    for (unsigned i = 0; !f->body && i < DEAR; i++)
        p += i % 3 ? sprintf(p, "mad.lo.u32 %%r%u, %%r%u, %%r%u, %u;\n", 2 + i % 13, 2 + i * 7 % 13,
                             1 + i * 5 % 14, i)
                   : sprintf(p, "ld.global.u32 %%r%u, [%%rd1+%u];\n", 2 + i % 13, i % 4096 * 4);
    sprintf(p, "st.global.u32 [%%rd1+4], %%r2;\nret;\n}\n");
    return text;
}

struct run {
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    void *out;
};

static ptera_result begin(const struct family *f, struct run *r)
{
    ptera_options options;
    char *text = text_of(f);
    ptera_options_init(&options);
    ptera_result result = ptera_engine_create(&options, &r->engine);
    if (result == PTERA_OK)
        result = ptera_module_load(r->engine, "k.ptx", text, strlen(text), &r->module);
    if (result == PTERA_OK)
        result = ptera_module_kernel(r->module, "k", 0, &r->kernel);
    if (result == PTERA_OK)
        result = ptera_buffer_alloc(r->engine, BYTES, &r->out);
    if (result == PTERA_OK)
        memset(r->out, 0, BYTES);
    free(text);
    return result;
}

static ptera_result launch(struct run *r, const struct family *f, ptera_backend backend,
                           double seconds)
{
    ptera_launch l;
    ptera_launch_init(&l);
    l.grid[0] = f->grid;
    l.block[0] = f->block;
    l.backend = backend;
    l.timeout_seconds = seconds;
    l.parameters = (const void *[]){&r->out};
    l.n_parameters = 1;
    return ptera_kernel_launch(r->kernel, &l);
}

static double beyond(const struct family *f, ptera_backend backend, int rounds)
{
    double most = 0;
    for (int i = 0; i < rounds; i++) {
        struct run r = {0};
        if (begin(f, &r) != PTERA_OK) {
            fprintf(stderr, "%s: %s\n", f->name, ptera_engine_error(r.engine));
            exit(1);
        }
        double start = now_ms();
        ptera_result result = launch(&r, f, backend, limit);
        double after = (now_ms() - start) / 1e3 - limit;
        if (result != PTERA_ERROR_TIMEOUT)
            printf("  (%s)", ptera_result_text(result));
        most = after > most ? after : most;
        ptera_engine_destroy(r.engine);
    }
    return most;
}

/* The dear kernel, interpreted up to the limit while it is compiled. */
static struct run begin_dear(void)
{
    const struct family *dear = &families[sizeof families / sizeof *families - 1];
    struct run r = {0};
    if (begin(dear, &r) != PTERA_OK)
        exit(1);
    launch(&r, dear, PTERA_BACKEND_AUTO, limit);
    return r;
}

static void end_by_calls(void)
{
    struct run r = begin_dear();
    double start = now_ms();
    ptera_module_unload(r.module);
    double unloaded = now_ms();
    ptera_engine_destroy(r.engine);
    printf("%-30s %8.3f\n"
           "%-30s %8.3f\n",
           "unload, while it compiles", (unloaded - start) / 1e3, "destroy, likewise",
           (now_ms() - unloaded) / 1e3);
}

/* The child tells when its end begins. */
static void end_by_exit(void)
{
    int ends[2];
    double start;
    fflush(stdout);
    if (pipe(ends))
        exit(1);
    pid_t child = fork();
    if (!child) {
        begin_dear();
        start = now_ms();
        exit(write(ends[1], &start, sizeof start) != sizeof start);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status ||
        read(ends[0], &start, sizeof start) != sizeof start)
        exit(1);
    printf("%-30s %8.3f\n", "the process's end, likewise", (now_ms() - start) / 1e3);
}

int main(int argc, char **argv)
{
    static const ptera_backend backends[] = {PTERA_BACKEND_INTERP, PTERA_BACKEND_JIT,
                                             PTERA_BACKEND_AUTO};
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    printf("seconds beyond a limit of %g s %8s %8s %8s\n", limit, "interp", "jit", "auto");
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++) {
        printf("%-30s", families[i].name);
        for (unsigned b = 0; b < 3; b++)
            printf(" %8.3f", beyond(&families[i], backends[b], rounds));
        printf("\n");
        fflush(stdout);
    }
    end_by_calls();
    end_by_exit();
    return 0;
}
