#include "tools/litmus/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptera.h"
#include "tools/conform/launch.h"
#include "tools/litmus/judge.h"
#include "tools/litmus/ptx.h"

enum {
    /* of a launch on a device: so many CTAs at once, rounds, looks at a meeting */
    DEVICE_CTAS = 256,
    DEVICE_ROUNDS = 16,
    DEVICE_PATIENCE = 4000,
    /* of one on the engines, each by a few threads that may share a core */
    ENGINE_THREADS = 4,
    ENGINE_ROUNDS = 8,
    ENGINE_PATIENCE = 200,
    PACE_BYTES = 128
};

/* How the engines run a test. */
static const struct way {
    const char *name;
    ptera_backend backend;
    ptera_order order;
    bool is_by_schedules; /* of PTERA_CHECK_ORDER */
} ways[LITMUS_WAYS] = {{"interpreted", PTERA_BACKEND_INTERP, PTERA_ORDER_LOCKSTEP, false},
                       {"by lanes", PTERA_BACKEND_INTERP, PTERA_ORDER_LANES, false},
                       {"reversed", PTERA_BACKEND_INTERP, PTERA_ORDER_REVERSE, false},
                       {"in turns", PTERA_BACKEND_INTERP, PTERA_ORDER_TURNS, false},
                       {"old values", PTERA_BACKEND_INTERP, PTERA_ORDER_LOCKSTEP, true},
                       {"native", PTERA_BACKEND_JIT, PTERA_ORDER_LOCKSTEP, false}};

struct litmus_runner {
    struct litmus_run_options options;
    ptera_engine *engine, *scheduled[LITMUS_SCHEDULES];
    struct worker worker;
};

/* A launch: how large, and its memory. */
struct shot {
    const struct litmus_test *test;
    struct litmus_layout layout;
    unsigned groups, rounds, instances, plane, patience;
    uint32_t *mem, *out;
};

const char *litmus_run_way(const struct litmus_run_options *options, unsigned way)
{
    if (way >= LITMUS_WAYS)
        return NULL;
    if (options->driver)
        return way ? NULL : "the driver";
    return ways[way].name;
}

bool litmus_run_is_taken(const struct litmus_run_options *o, unsigned way)
{
    bool is_native = ways[way].backend == PTERA_BACKEND_JIT;
    return o->driver || ((o->engine == LITMUS_BOTH || is_native == (o->engine == LITMUS_JIT)) &&
                         (o->schedules || !ways[way].is_by_schedules));
}

bool litmus_run_is_by_schedules(unsigned way)
{
    return ways[way].is_by_schedules;
}

bool litmus_run_is_spoiled(const struct litmus_runner *r)
{
    return r && r->worker.is_spoiled;
}

/* Seeds of schedules under which reads may see old values: 2, 3, 6, 7, ... */
static unsigned long long schedule(unsigned i)
{
    return i / 2 * 4 + i % 2 + 2;
}

static bool open_engines(struct litmus_runner *r)
{
    ptera_options o;
    ptera_options_init(&o);
    o.threads = ENGINE_THREADS;
    o.compile_seconds = 0; /* what takes long is still native: the test has a limit of its own */
    bool ok = ptera_engine_create(&o, &r->engine) == PTERA_OK;
    for (unsigned i = 0; ok && r->options.engine != LITMUS_JIT && i < r->options.schedules; i++) {
        o.order_seed = schedule(i);
        o.threads = 1;
        ok = ptera_engine_create(&o, &r->scheduled[i]) == PTERA_OK;
    }
    return ok;
}

struct litmus_runner *litmus_run_open(const struct litmus_run_options *options,
                                      char why[LITMUS_WHY])
{
    struct litmus_runner *r = calloc(1, sizeof *r);
    if (!r) {
        snprintf(why, LITMUS_WHY, "no memory");
        return NULL;
    }
    r->options = *options;
    snprintf(why, LITMUS_WHY, "no engine");
    if (options->driver ? conform_driver_open(&r->worker.driver, options->driver, why, LITMUS_WHY)
                        : open_engines(r))
        return r;
    litmus_run_close(r);
    return NULL;
}

void litmus_run_close(struct litmus_runner *r)
{
    if (r->engine)
        ptera_engine_destroy(r->engine);
    for (unsigned i = 0; i < LITMUS_SCHEDULES && r->scheduled[i]; i++)
        ptera_engine_destroy(r->scheduled[i]);
    free(r);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* False: a value that nobody writes. */
static bool read_outcome(const struct shot *s, unsigned instance, uint64_t *outcome)
{
    uint32_t all = 0;
    *outcome = 0;
    for (unsigned i = 0; i < s->test->n_registers; i++) {
        uint32_t value = s->out[i * s->instances + instance];
        all |= value;
        *outcome |= litmus_outcome_put(i, value);
    }
    for (unsigned i = 0; i < s->test->n_places; i++) {
        uint32_t value = s->mem[i * s->instances + instance];
        all |= value;
        *outcome |= litmus_outcome_put(LITMUS_REGISTERS + i, value);
    }
    return all < 16;
}

struct verdicts {
    struct litmus_outcomes allowed, strong, seen;
};

static void count(const struct shot *s, struct verdicts *v, struct litmus_count *c)
{
    for (unsigned i = 0; i < s->instances; i++) {
        uint64_t outcome;
        bool is_good = read_outcome(s, i, &outcome) && litmus_outcomes_have(&v->allowed, outcome);
        if (!is_good && !c->forbidden++)
            c->first = outcome;
        if (is_good && !litmus_outcomes_have(&v->strong, outcome)) {
            litmus_outcomes_add(&v->seen, outcome);
            c->weak++;
        }
    }
    c->instances += s->instances;
}

/* ---- engines --------------------------------------------------------------------------------- */

static void shape(ptera_launch *l, const struct shot *s, unsigned groups)
{
    ptera_launch_init(l);
    l->grid[0] = groups * s->layout.clusters * s->layout.ctas;
    l->block[0] = 32 * s->layout.warps;
    l->cluster[0] = s->layout.ctas;
    l->cluster[1] = l->cluster[2] = 1;
    l->cooperative = 1;
}

static ptera_result launch(struct litmus_runner *r, ptera_kernel *kernel, const struct shot *s,
                           const struct way *way)
{
    void *mem = NULL, *out = NULL, *pace = NULL;
    size_t mem_bytes = (size_t)s->plane * LITMUS_PLACES,
           out_bytes = (size_t)s->plane * LITMUS_REGISTERS;
    bool ok = ptera_buffer_alloc(r->engine, mem_bytes, &mem) == PTERA_OK &&
              ptera_buffer_alloc(r->engine, out_bytes, &out) == PTERA_OK &&
              ptera_buffer_alloc(r->engine, (size_t)s->groups * PACE_BYTES, &pace) == PTERA_OK;
    const void *parameters[] = {&mem, &out, &pace, &s->rounds, &s->plane, &s->patience};
    ptera_launch l;
    shape(&l, s, s->groups);
    l.parameters = parameters;
    l.n_parameters = sizeof parameters / sizeof *parameters;
    l.backend = way->backend;
    l.order = way->order;
    if (out)
        memset(out, 0xff, out_bytes);
    ptera_result result = ok ? ptera_kernel_launch(kernel, &l) : PTERA_ERROR_OUT_OF_MEMORY;
    if (result == PTERA_OK) {
        memcpy(s->mem, mem, mem_bytes);
        memcpy(s->out, out, out_bytes);
    }
    ptera_buffer_free(r->engine, mem);
    ptera_buffer_free(r->engine, out);
    ptera_buffer_free(r->engine, pace);
    return result;
}

static void fail(struct litmus_verdict *verdict, const char *what, const char *why)
{
    verdict->has_failed = true;
    snprintf(verdict->why, LITMUS_WHY, "%s: %.*s", what, LITMUS_WHY - 32, why);
}

/* Native code that was not made is no native run. */
static bool was_native(ptera_kernel *kernel, struct litmus_verdict *verdict)
{
    ptera_kernel_status status = {.size = sizeof status};
    ptera_kernel_info(kernel, &status);
    if (!status.native_launches)
        fail(verdict, "native", status.why ? status.why : "no reason given");
    return status.native_launches;
}

/* NULL: it has failed. */
static ptera_module *load(ptera_engine *engine, const char *ptx, ptera_kernel **kernel,
                          struct litmus_verdict *verdict)
{
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    if (ptera_module_load(engine, "litmus.ptx", ptx, strlen(ptx), &module) == PTERA_OK &&
        ptera_module_kernel(module, "litmus", 0, kernel) == PTERA_OK)
        return module;
    bool has_text = module && ptera_module_diagnostic(module, 0, &d) == PTERA_OK;
    fail(verdict, "loading", has_text ? d.text : "no module");
    ptera_module_unload(module);
    return NULL;
}

static void run_engines(struct litmus_runner *r, const char *ptx, const struct shot *s,
                        struct verdicts *v, struct litmus_verdict *verdict)
{
    ptera_kernel *kernel;
    ptera_module *module = load(r->engine, ptx, &kernel, verdict);
    for (unsigned w = 0; w < LITMUS_WAYS && !verdict->has_failed; w++) {
        if (!litmus_run_is_taken(&r->options, w) || ways[w].is_by_schedules)
            continue;
        ptera_result result = launch(r, kernel, s, &ways[w]);
        if (result != PTERA_OK)
            fail(verdict, ways[w].name,
                 *ptera_engine_error(r->engine) ? ptera_engine_error(r->engine)
                                                : ptera_result_text(result));
        else if (ways[w].backend != PTERA_BACKEND_JIT || was_native(kernel, verdict))
            count(s, v, &verdict->way[w]);
    }
    ptera_module_unload(module);
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* A launch that fails under its schedule has trapped. */
static void hear(void *ud, const char *text)
{
    *(bool *)ud |= strstr(text, "the launch fails") != NULL;
}

/* Whether there is an outcome that is not in the set. */
static bool leaves(ptera_engine *engine, ptera_kernel *kernel, const struct shot *s,
                   const struct litmus_outcomes *set, struct litmus_verdict *verdict)
{
    void *mem = NULL, *out = NULL, *pace = NULL, *list = NULL;
    uint32_t rounds = 1, plane = 32 * sizeof(uint32_t), patience = 1;
    bool has_left = false;
    bool ok = ptera_buffer_alloc(engine, plane * (LITMUS_PLACES + 1), &mem) == PTERA_OK &&
              ptera_buffer_alloc(engine, plane * LITMUS_REGISTERS, &out) == PTERA_OK &&
              ptera_buffer_alloc(engine, PACE_BYTES, &pace) == PTERA_OK &&
              ptera_buffer_alloc(engine, set->n * sizeof *set->v, &list) == PTERA_OK;
    const void *parameters[] = {&mem, &out, &pace, &rounds, &plane, &patience, &list, &set->n};
    ptera_launch l;
    shape(&l, s, 1);
    l.parameters = parameters;
    l.n_parameters = sizeof parameters / sizeof *parameters;
    l.checks = PTERA_CHECK_ORDER;
    l.finding = hear;
    l.finding_ud = &has_left;
    if (ok)
        memcpy(list, set->v, set->n * sizeof *set->v);
    ptera_result result = ok ? ptera_kernel_launch(kernel, &l) : PTERA_ERROR_OUT_OF_MEMORY;
    if (result != PTERA_OK && result != PTERA_ERROR_FINDINGS)
        fail(verdict, "schedules", ptera_engine_error(engine));
    ptera_buffer_free(engine, mem);
    ptera_buffer_free(engine, out);
    ptera_buffer_free(engine, pace);
    ptera_buffer_free(engine, list);
    return has_left;
}

static void run_schedules(struct litmus_runner *r, const struct shot *s, const struct verdicts *v,
                          struct litmus_count *c, struct litmus_verdict *verdict)
{
    char *ptx = litmus_ptx(s->test, true);
    for (unsigned i = 0; ptx && !verdict->has_failed && i < r->options.schedules; i++) {
        ptera_kernel *kernel;
        ptera_module *module = load(r->scheduled[i], ptx, &kernel, verdict);
        if (module && leaves(r->scheduled[i], kernel, s, &v->strong, verdict)) {
            bool is_bad = leaves(r->scheduled[i], kernel, s, &v->allowed, verdict);
            if (is_bad && !c->forbidden++)
                c->first = schedule(i);
            c->weak += !is_bad;
        }
        c->instances += module != NULL;
        ptera_module_unload(module);
    }
    free(ptx);
}

/* ---- a driver -------------------------------------------------------------------------------- */

static void run_driver(struct litmus_runner *r, const char *ptx, const struct shot *s,
                       struct verdicts *v, struct litmus_verdict *verdict)
{
    static struct result result;
    struct launch l = {
        .ptx = ptx,
        .kernel = "litmus",
        .grid = {s->groups * s->layout.clusters * s->layout.ctas, 1, 1},
        .block = {32 * s->layout.warps, 1, 1},
        .cluster = s->layout.ctas > 1 ? s->layout.ctas : 0,
        .level = -1,
        .buffer = {{.bytes = (size_t)s->plane * LITMUS_PLACES, .to = s->mem},
                   {.bytes = (size_t)s->plane * LITMUS_REGISTERS, .fill = 0xff, .to = s->out},
                   {.bytes = (size_t)s->groups * PACE_BYTES}},
        .n_buffers = 3,
        .scalar = {s->rounds, s->plane, s->patience},
        .n_scalars = 3};
    memset(&result, 0, sizeof result);
    if (conform_launch_run(&r->worker, &l, &result))
        count(s, v, &verdict->way[0]);
    else
        fail(verdict, "the driver", result.text);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static bool make_shot(const struct litmus_runner *r, const struct litmus_test *test, struct shot *s)
{
    bool is_device = r->options.driver;
    *s = (struct shot){.test = test, .layout = litmus_ptx_layout(test)};
    s->groups = is_device ? DEVICE_CTAS / (s->layout.clusters * s->layout.ctas) : 1;
    s->rounds = r->options.rounds ? r->options.rounds : is_device ? DEVICE_ROUNDS : ENGINE_ROUNDS;
    s->patience = is_device ? DEVICE_PATIENCE : ENGINE_PATIENCE;
    s->instances = s->groups * s->rounds * 32;
    s->plane = s->instances * (unsigned)sizeof *s->mem;
    s->mem = malloc((size_t)s->plane * LITMUS_PLACES);
    s->out = malloc((size_t)s->plane * LITMUS_REGISTERS);
    return s->mem && s->out;
}

void litmus_run_test(struct litmus_runner *r, const struct litmus_test *test,
                     struct litmus_verdict *verdict)
{
    struct verdicts v = {0};
    struct shot s;
    char *ptx = litmus_ptx(test, false);
    memset(verdict, 0, sizeof *verdict);
    litmus_interleave(test, &v.strong);
    if (!make_shot(r, test, &s) || !litmus_judge_allowed(test, 0, &v.allowed) || v.strong.is_short)
        fail(verdict, "the model", "no memory");
    else if (!ptx)
        fail(verdict, "the kernel", "it has instructions that cannot be run");
    else if (r->options.driver)
        run_driver(r, ptx, &s, &v, verdict);
    else
        run_engines(r, ptx, &s, &v, verdict);
    for (unsigned w = 0; !r->options.driver && w < LITMUS_WAYS && !verdict->has_failed; w++)
        if (ways[w].is_by_schedules && litmus_run_is_taken(&r->options, w))
            run_schedules(r, &s, &v, &verdict->way[w], verdict);
    for (unsigned i = 0; i < v.allowed.n; i++)
        verdict->n_weak += !litmus_outcomes_have(&v.strong, v.allowed.v[i]);
    verdict->n_seen = v.seen.n;
    free(s.mem);
    free(s.out);
    free(ptx);
    litmus_outcomes_free(&v.allowed);
    litmus_outcomes_free(&v.strong);
    litmus_outcomes_free(&v.seen);
}
