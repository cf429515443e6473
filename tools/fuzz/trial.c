/* Trials: what is done in the process, and asked of it. */
#include "tools/fuzz/trial.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/native.h"
#include "ptera.h"
#include "runtime/engine.h"
#include "tools/fuzz/against.h"
#include "tools/fuzz/gen.h"
#include "tools/fuzz/image.h"
#include "tools/fuzz/observe.h"
#include "tools/fuzz/pen.h"

struct request {
    unsigned grid[3], block[3];
    uint32_t s;
    uint64_t w, seed;
    size_t out_bytes, sums_bytes, text_bytes;
    size_t images_at; /* struct gen_kernel */
    bool is_plain;    /* struct against_launch */
};

const char *verdict_text(enum verdict verdict)
{
    static const char *const texts[] = {"good",   "unsupported", "interpreted", "invalid PTX",
                                        "failed", "different",   "crashed"};
    return texts[verdict];
}

/* ---- in the process of its own --------------------------------------------------------------- */

struct level {
    const char *name;
    ptera_engine *engine;
};

struct bench {
    const struct trial_options *options;
    unsigned n_levels;
    struct level level[TRIAL_LEVELS];
    struct driver driver; /* if there is one */
    bool is_spoiled;      /* it is of no use any more */
};

/* How a kernel runs at a level. */
struct way {
    const char *name;
    ptera_backend backend;
    unsigned checks;
    bool is_taken;
};

/* Contents of out and sums after a launch. */
struct contents {
    char *bytes;
    size_t n;
};

/* All memory is multicast memory: of 64 bytes the first 16, whose replicas the others are. */
static const char *find_replicas(uint64_t address, bool is_write, struct pt_replicas *replicas)
{
    enum { BYTES = 16, REPLICAS = GEN_WISH_BYTES / BYTES };
    (void)is_write;
    *replicas = (struct pt_replicas){
        .first = address - address % GEN_WISH_BYTES, .bytes = BYTES, .n = REPLICAS};
    for (unsigned i = 0; i < REPLICAS; i++)
        replicas->at[i] = replicas->first + (uint64_t)i * BYTES;
    return NULL;
}

static void open_levels(struct bench *bench)
{
    static const char *const names[] = {"v4", "v3", "v2", "aarch64"};
    for (size_t i = 0; i < sizeof names / sizeof *names && bench->n_levels < TRIAL_LEVELS; i++) {
        ptera_options options;
        ptera_options_init(&options);
        options.cpu = names[i];
        options.threads = 1;
        options.compile_seconds = 0; /* the kernel has a limit of its own, behind which it hangs */
        struct level *level = &bench->level[bench->n_levels];
        level->name = names[i];
        if (bench->options->cpu && strcmp(bench->options->cpu, names[i]))
            continue;
        if (bench->options->driver && bench->n_levels)
            continue;
        if (ptera_engine_create(&options, &level->engine) != PTERA_OK)
            continue;
        level->engine->replicas = find_replicas;
        bench->n_levels++;
    }
}

static void say(struct trial *trial, enum verdict verdict, const char *level, const char *engine,
                const char *what)
{
    trial->verdict = verdict;
    snprintf(trial->text, sizeof trial->text, "%s, %s: %.*s", level, engine, TRIAL_TEXT - 32, what);
}

/* Keeps the first finding that the launch is told. */
static void keep_finding(void *ud, const char *text)
{
    char *kept = ud;
    if (!*kept)
        snprintf(kept, TRIAL_TEXT, "%s", text);
}

struct loaded {
    ptera_module *module;
    ptera_kernel *kernel;
};

/* The kernel's buffers, and its launch. */
struct buffers {
    void *out, *sums;
    const void *parameters[4];
    ptera_launch launch;
};

/* False: there is no memory; buffers_free in any case. */
static bool buffers_alloc(struct buffers *b, const struct level *level, const struct loaded *loaded,
                          const struct request *r)
{
    *b = (struct buffers){.parameters = {&b->out, &b->sums, &r->s, &r->w}};
    ptera_launch_init(&b->launch);
    memcpy(b->launch.grid, r->grid, sizeof b->launch.grid);
    memcpy(b->launch.block, r->block, sizeof b->launch.block);
    b->launch.parameters = b->parameters;
    b->launch.n_parameters = 4;
    bool ok = ptera_buffer_alloc(level->engine, r->out_bytes, &b->out) == PTERA_OK &&
              ptera_buffer_alloc(level->engine, r->sums_bytes, &b->sums) == PTERA_OK;
    if (ok && r->images_at)
        image_bind(loaded->module, r->seed, (char *)b->out + r->images_at);
    return ok;
}

static void buffers_free(struct buffers *b, const struct level *level)
{
    ptera_buffer_free(level->engine, b->out);
    ptera_buffer_free(level->engine, b->sums);
}

static bool launch(const struct level *level, const struct loaded *loaded, const struct request *r,
                   const struct way *way, struct contents *after, struct trial *trial)
{
    char found[TRIAL_TEXT] = "";
    struct buffers b;
    bool ok = buffers_alloc(&b, level, loaded, r);
    b.launch.backend = way->backend;
    b.launch.checks = way->checks;
    b.launch.finding = keep_finding;
    b.launch.finding_ud = found;
    ptera_result result =
        ok ? ptera_kernel_launch(loaded->kernel, &b.launch) : PTERA_ERROR_OUT_OF_MEMORY;
    after->n = r->out_bytes + r->sums_bytes;
    after->bytes = malloc(after->n);
    if (result == PTERA_OK && after->bytes) {
        memcpy(after->bytes, b.out, r->out_bytes);
        memcpy(after->bytes + r->out_bytes, b.sums, r->sums_bytes);
    } else {
        bool unsupported = result == PTERA_ERROR_UNSUPPORTED_PTX,
             invalid = result == PTERA_ERROR_INVALID_PTX;
        const char *why = *found ? found : ptera_engine_error(level->engine);
        say(trial,
            unsupported ? VERDICT_UNSUPPORTED
            : invalid   ? VERDICT_INVALID
                        : VERDICT_FAILED,
            level->name, way->name, *why ? why : ptera_result_text(result));
    }
    buffers_free(&b, level);
    return trial->verdict == VERDICT_GOOD;
}

/* The first byte that differs. */
static void compare(const struct contents *first, const struct contents *other,
                    const struct request *r, const struct level *level, const struct way *way,
                    struct trial *trial)
{
    size_t at = 0;
    char text[160];
    while (at < first->n && first->bytes[at] == other->bytes[at])
        at++;
    if (at == first->n)
        return;
    bool is_sum = at >= r->out_bytes;
    trial->at = at;
    snprintf(text, sizeof text, "byte %zu of %s is 0x%02x, the first engine's is 0x%02x",
             is_sum ? at - r->out_bytes : at, is_sum ? "sums" : "out", other->bytes[at] & 0xff,
             first->bytes[at] & 0xff);
    say(trial, VERDICT_DIFFERENT, level->name, way->name, text);
}

/* Whether a reason begins so. */
static bool begins(const char *why, const char *with)
{
    return !strncmp(why, with, strlen(with));
}

static void expect_native(ptera_kernel *kernel, const struct level *level, struct trial *trial)
{
    ptera_kernel_status status = {.size = sizeof status};
    ptera_kernel_info(kernel, &status);
    const char *why = status.why ? status.why : "no reason given";
    bool is_broken = begins(why, PT_NATIVE_BROKEN) || begins(why, PT_NATIVE_ENDED);
    if (!status.native_launches)
        say(trial, is_broken ? VERDICT_FAILED : VERDICT_INTERPRETED, level->name, "native", why);
}

/* One launch at a level, compared with the first there was. */
static bool run_one(const struct bench *bench, unsigned i, const struct loaded *loaded,
                    const struct request *r, const struct way *way, struct contents *first,
                    struct trial *trial)
{
    struct contents after = {0};
    bool ok = launch(&bench->level[i], loaded, r, way, &after, trial);
    if (ok && way->backend == PTERA_BACKEND_JIT)
        expect_native(loaded->kernel, &bench->level[i], trial);
    if (ok && first->bytes)
        compare(first, &after, r, &bench->level[i], way, trial);
    if (ok && !first->bytes)
        *first = after;
    else
        free(after.bytes);
    return trial->verdict == VERDICT_GOOD;
}

static bool runs_natively(const struct bench *bench, unsigned i, const struct request *r)
{
    const struct trial_options *o = bench->options;
    return o->engine != TRIAL_INTERP && (!o->is_native_once || r->seed % bench->n_levels == i);
}

static bool runs_interpreted(const struct bench *bench, unsigned i, const struct request *r)
{
    const struct trial_options *o = bench->options;
    return o->engine != TRIAL_JIT &&
           (!o->is_interpreted_once || r->seed / bench->n_levels % bench->n_levels == i);
}

/* Something is to run at the level. */
static bool is_used(const struct bench *bench, unsigned i, const struct request *r)
{
    const struct trial_options *o = bench->options;
    return runs_natively(bench, i, r) || runs_interpreted(bench, i, r) ||
           (!i && (o->checks || o->corners));
}

static void run_ways(const struct bench *bench, unsigned i, const struct loaded *loaded,
                     const struct request *r, struct contents *first, struct trial *trial)
{
    const struct trial_options *o = bench->options;
    bool is_native = runs_natively(bench, i, r), is_interpreted = runs_interpreted(bench, i, r);
    const struct way ways[] = {{"interpreted", PTERA_BACKEND_INTERP, 0, is_interpreted},
                               {"checked", PTERA_BACKEND_INTERP, o->checks, o->checks && !i},
                               {"native", PTERA_BACKEND_JIT, 0, is_native}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        if (ways[w].is_taken && !run_one(bench, i, loaded, r, &ways[w], first, trial))
            return;
}

/* What corners it has. */
static void observe(const struct bench *bench, const struct loaded *loaded, const struct request *r,
                    const char *text)
{
    struct buffers b;
    if (buffers_alloc(&b, &bench->level[0], loaded, r))
        observe_launch(loaded->kernel, &b.launch, text, bench->options->corners);
    buffers_free(&b, &bench->level[0]);
}

/* The driver's launch, compared with the first there was. */
static void run_driver(struct bench *bench, const struct request *r, const char *text,
                       const struct contents *first, struct trial *trial)
{
    static const struct way way = {.name = "the driver"};
    struct level level = {.name = bench->options->driver};
    struct against_launch l = {.text = text,
                               .s = r->s,
                               .w = r->w,
                               .out_bytes = r->out_bytes,
                               .sums_bytes = r->sums_bytes,
                               .is_plain = r->is_plain};
    struct contents after = {malloc(first->n), first->n};
    char why[TRIAL_TEXT] = "no memory";
    memcpy(l.grid, r->grid, sizeof l.grid);
    memcpy(l.block, r->block, sizeof l.block);
    enum verdict verdict =
        after.bytes ? against_run(&bench->driver, &l, after.bytes, why) : VERDICT_FAILED;
    if (verdict == VERDICT_GOOD)
        compare(first, &after, r, &level, &way, trial);
    else
        say(trial, verdict, level.name, way.name, why);
    bench->is_spoiled = verdict == VERDICT_FAILED;
    free(after.bytes);
}

static void run_level(const struct bench *bench, unsigned i, const struct request *r,
                      const char *text, struct contents *first, struct trial *trial)
{
    const struct level *level = &bench->level[i];
    struct loaded loaded = {NULL, NULL};
    if (ptera_module_load(level->engine, "random.ptx", text, r->text_bytes, &loaded.module) !=
            PTERA_OK ||
        ptera_module_kernel(loaded.module, "k", 0, &loaded.kernel) != PTERA_OK) {
        ptera_diagnostic d = {.size = sizeof d};
        bool has_text = loaded.module && ptera_module_diagnostic(loaded.module, 0, &d) == PTERA_OK;
        say(trial, VERDICT_INVALID, level->name, "loading", has_text ? d.text : "no module");
    } else {
        run_ways(bench, i, &loaded, r, first, trial);
        if (bench->options->corners && !i && trial->verdict == VERDICT_GOOD)
            observe(bench, &loaded, r, text);
    }
    ptera_module_unload(loaded.module);
}

/* What stands in the way of any trial. */
static void open_bench(struct bench *bench, struct trial *trial)
{
    const struct trial_options *o = bench->options;
    char why[TRIAL_TEXT];
    open_levels(bench);
    if (!bench->n_levels)
        say(trial, VERDICT_FAILED, o->cpu ? o->cpu : "", "engine", "no such CPU level");
    else if (o->driver && !conform_driver_open(&bench->driver, o->driver, why, sizeof why))
        say(trial, VERDICT_FAILED, o->driver, "the driver", why);
}

static void serve(const void *ud, int in, int out)
{
    const struct trial_options *options = ud;
    struct bench bench = {.options = options};
    struct trial opened = {.verdict = VERDICT_GOOD};
    struct request r;
    open_bench(&bench, &opened);
    while (!bench.is_spoiled && pen_read(in, &r, sizeof r)) {
        struct trial trial = opened;
        struct contents first = {0};
        char *text = malloc(r.text_bytes + 1);
        if (!text || !pen_read(in, text, r.text_bytes))
            return;
        text[r.text_bytes] = 0;
        pen_limit(options->seconds);
        for (unsigned i = 0; i < bench.n_levels && trial.verdict == VERDICT_GOOD; i++)
            if (is_used(&bench, i, &r))
                run_level(&bench, i, &r, text, &first, &trial);
        if (options->driver && trial.verdict == VERDICT_GOOD)
            run_driver(&bench, &r, text, &first, &trial);
        pen_limit(0);
        free(first.bytes);
        free(text);
        if (!pen_write(out, &trial, sizeof trial))
            return;
    }
}

/* ---- here ------------------------------------------------------------------------------------ */

struct pen *trial_open(const struct trial_options *options)
{
    return pen_open(serve, options);
}

static void ask(struct pen *pen, const struct gen_kernel *k, bool is_plain, struct trial *trial)
{
    char *text = gen_text(k);
    struct request r = {.s = k->s,
                        .w = k->w,
                        .seed = k->seed,
                        .out_bytes = k->out_bytes,
                        .sums_bytes = k->sums_bytes,
                        .text_bytes = strlen(text),
                        .images_at = k->images_at,
                        .is_plain = is_plain};
    memcpy(r.grid, k->grid, sizeof r.grid);
    memcpy(r.block, k->block, sizeof r.block);
    char why[TRIAL_TEXT];
    memset(trial, 0, sizeof *trial);
    if (!pen_ask(pen, &r, sizeof r, text, r.text_bytes, trial, sizeof *trial, why, sizeof why)) {
        memset(trial, 0, sizeof *trial);
        trial->verdict = VERDICT_CRASHED;
        memcpy(trial->text, why, sizeof why);
    }
    free(text);
}

void trial_run(struct pen *pen, const struct gen_kernel *kernel, struct trial *trial)
{
    ask(pen, kernel, false, trial);
}

void trial_run_plain(struct pen *pen, const struct gen_kernel *kernel, struct trial *trial)
{
    struct trial plain;
    size_t n = strlen(trial->text);
    ask(pen, kernel, true, &plain);
    snprintf(trial->text + n, sizeof trial->text - n, " (at -O0 %s)",
             plain.verdict == VERDICT_GOOD ? "as interpreted" : verdict_text(plain.verdict));
}
