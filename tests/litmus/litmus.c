/* Runs every litmus shape in every variant at every scope and looks for outcomes that the memory
 * model forbids.
 *
 *     litmus [-v] ROUNDS      -v: every outcome of every placement with its count
 *     litmus --suite FOLDER   writes them as a set of the conformance suite
 *                             (tools/conform/litmus.c), but those with a host thread
 *
 * For each shape and variant the counts of all outcomes are printed, summed over the placements.
 * That a forbidden outcome is found is tested, too, with shapes for which an outcome that must come
 * is called forbidden. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/support.h"
#include "tests/litmus/litmus.h"
#include "tools/conform/outcome.h"

const struct variant variants[VARIANT_COUNT] = {
#define X(name, order, starred, fence, is_atomic) {#name, order, starred, fence, is_atomic},
    VARIANTS(X)
#undef X
};

_Static_assert((int)MAX_REGS == OUTCOME_REGISTERS && (int)PLACES == OUTCOME_PLACES,
               "outcomes have them all");

static const struct placement placements[] = {
    {"lanes of a warp", ".cta", "", LAYOUT_LANES, false, false},
    {"warps of a CTA", ".cta", ".global", LAYOUT_WARPS, false, false},
    {"CTAs of a cluster", ".cluster", ".global", LAYOUT_CTAS, true, false},
    {"CTAs of a grid", ".gpu", ".global", LAYOUT_CTAS, false, false},
    {"CTAs, generic addresses", ".gpu", "", LAYOUT_CTAS, false, false},
    {"CTAs and a host thread", ".sys", ".global", LAYOUT_CTAS, false, true},
};
enum { PLACEMENTS = sizeof placements / sizeof *placements, WORKERS = 4, LAUNCH_ROUNDS = 10000 };

enum order order_of(const struct variant *v, const struct step *step)
{
    bool is_fence = step->kind == STEP_FENCE;
    enum order order = is_fence ? v->fence : step->is_starred ? v->starred : v->order;
    if (is_fence)
        return order == ORDER_ACQUIRE ? step->fence : order;
    if (step->kind == STEP_ADD)
        return order < ORDER_RELAXED ? ORDER_RELAXED : order;
    if (order == ORDER_ACQ_REL)
        return step->kind == STEP_WRITE ? ORDER_RELEASE : ORDER_ACQUIRE;
    return order;
}

/* ---- reading shapes -------------------------------------------------------------------------- */

static bool read_step(const char *word, struct shape *shape, struct step *s)
{
    size_t n = strlen(word);
    *s = (struct step){.is_starred = word[n - 1] == '*', .fence = ORDER_ACQ_REL};
    switch (word[0]) {
    case 'F':
        s->kind = STEP_FENCE;
        s->fence = word[1] == 'r' ? ORDER_RELEASE : word[1] == 'a' ? ORDER_ACQUIRE : ORDER_ACQ_REL;
        return true;
    case 'R':
        s->kind = STEP_READ;
        s->reg = shape->n_regs++;
        break;
    case 'A':
        s->kind = STEP_ADD;
        s->reg = shape->n_regs++;
        s->value = (unsigned)word[2] - '0';
        break;
    case 'W':
        s->kind = STEP_WRITE;
        s->value = (unsigned)word[2] - '0';
        break;
    default:
        return false;
    }
    s->place = (unsigned)word[1] - 'x';
    return s->place < PLACES && s->value < 8 && shape->n_regs <= MAX_REGS;
}

static bool read_shape(const char *programs, struct shape *shape)
{
    char copy[128], *save = NULL;
    snprintf(copy, sizeof copy, "%s", programs);
    shape->n_threads = 1;
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        struct program *program = &shape->thread[shape->n_threads - 1];
        if (*word == '/') {
            if (shape->n_threads++ == MAX_THREADS)
                return false;
        } else if (program->n == MAX_STEPS ||
                   !read_step(word, shape, &program->step[program->n++])) {
            return false;
        }
    }
    return true;
}

/* ---- outcomes: three bits for each register, then for each place ----------------------------- */

struct outcome {
    uint32_t values;
    uint64_t count;
    bool is_listed; /* as the shape's outcome */
};
struct outcomes {
    unsigned n;
    struct outcome v[256];
    uint64_t wild; /* values that nobody writes, or more outcomes than there is room for */
};

static void count(struct outcomes *all, const char *outcome, uint32_t values, uint64_t times)
{
    for (unsigned i = 0; i < all->n; i++)
        if (all->v[i].values == values) {
            all->v[i].count += times;
            return;
        }
    if (all->n == sizeof all->v / sizeof *all->v)
        all->wild += times;
    else
        all->v[all->n++] =
            (struct outcome){values, times, conform_outcome_is_listed(outcome, values)};
}

static uint64_t count_listed(const struct outcomes *all)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < all->n; i++)
        n += all->v[i].is_listed ? all->v[i].count : 0;
    return n;
}

static int by_values(const void *a, const void *b)
{
    uint32_t x = ((const struct outcome *)a)->values, y = ((const struct outcome *)b)->values;
    return (x > y) - (x < y);
}

/* "r0=0 r1=1: 17 times", those listed with a star. */
static void print_outcomes(const struct shape *shape, struct outcomes *all)
{
    unsigned written = 0;
    for (unsigned t = 0; t < shape->n_threads; t++)
        for (unsigned k = 0; k < shape->thread[t].n; k++)
            written |= (shape->thread[t].step[k].kind == STEP_WRITE ||
                        shape->thread[t].step[k].kind == STEP_ADD) &&
                               strchr(shape->outcome, (int)('x' + shape->thread[t].step[k].place))
                           ? 1u << shape->thread[t].step[k].place
                           : 0;
    qsort(all->v, all->n, sizeof *all->v, by_values);
    for (unsigned i = 0; i < all->n; i++) {
        printf("  ");
        for (unsigned r = 0; r < shape->n_regs; r++)
            printf("%u", outcome_value(all->v[i].values, r));
        for (unsigned p = 0; p < PLACES; p++)
            if (written & 1u << p)
                printf("%c%u", (int)('x' + p), outcome_value(all->v[i].values, MAX_REGS + p));
        printf("%s %llu", all->v[i].is_listed ? "*" : "", (unsigned long long)all->v[i].count);
    }
    printf("\n");
}

/* ---- running --------------------------------------------------------------------------------- */

static ptera_engine *engine;
static char *mem;
static uint32_t *out, *pace;
static bool is_verbose;

static bool places_fit(const struct shape *shape, const struct placement *p)
{
    return !p->has_host || shape->n_threads > 1;
}

static void *host_main(void *ud)
{
    litmus_host(ud);
    return NULL;
}

/* One launch, and the host's thread beside it. */
static bool launch(ptera_kernel *kernel, const struct shape *shape, const struct variant *v,
                   const struct placement *p, uint32_t rounds)
{
    unsigned n = shape->n_threads - p->has_host;
    int is_over = 0;
    struct host host = {shape, v, n, rounds, mem, out, pace, &is_over};
    const void *parameters[] = {&mem, &out, &pace, &rounds};
    pthread_t thread;
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = p->layout == LAYOUT_CTAS ? n : 1;
    launch.block[0] = p->layout == LAYOUT_CTAS ? 1 : p->layout == LAYOUT_WARPS ? 32 * n : n;
    launch.cluster[0] = p->is_cluster ? n : 0;
    launch.cluster[1] = launch.cluster[2] = p->is_cluster;
    launch.cooperative = !p->is_cluster; /* all at once */
    launch.parameters = parameters;
    launch.n_parameters = 4;
    memset(mem, 0, (size_t)rounds * ROUND_BYTES);
    memset(out, 0xff, (size_t)rounds * MAX_REGS * sizeof *out);
    *pace = 0;
    bool is_started = p->has_host && pthread_create(&thread, NULL, host_main, &host) == 0;
    bool ok = ptera_kernel_launch(kernel, &launch) == PTERA_OK;
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    if (is_started)
        pthread_join(thread, NULL);
    return ok && is_started == p->has_host;
}

static void collect(const struct shape *shape, uint32_t rounds, struct outcomes *all)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t values = 0, high = 0;
        for (unsigned r = 0; r < shape->n_regs; r++) {
            high |= out[r * rounds + i];
            values |= (out[r * rounds + i] & 7) << 3 * r;
        }
        for (unsigned p = 0; p < PLACES; p++) {
            uint32_t value = *(uint32_t *)(void *)(mem + (size_t)i * ROUND_BYTES + p * LINE);
            high |= value;
            values |= (value & 7) << 3 * (MAX_REGS + p);
        }
        all->wild += high > 7;
        count(all, shape->outcome, values, 1);
    }
}

static bool run_at(const struct shape *shape, const struct variant *v, const struct placement *p,
                   uint64_t rounds, struct outcomes *all)
{
    ptera_module *module = load(engine, litmus_ptx(shape, v, p));
    ptera_kernel *kernel = module ? kernel_of(module, "litmus") : NULL;
    bool ok = kernel != NULL;
    while (ok && rounds) {
        uint32_t now = rounds < LAUNCH_ROUNDS ? (uint32_t)rounds : LAUNCH_ROUNDS;
        ok = launch(kernel, shape, v, p, now);
        collect(shape, ok ? now : 0, all);
        rounds -= now;
    }
    if (!ok)
        fprintf(stderr, "%s\n", ptera_engine_error(engine));
    ptera_module_unload(module);
    return ok;
}

/* Counts the outcomes at every placement; returns those that are forbidden there. */
static uint64_t run_variant(const struct shape *shape, const struct variant *v, uint64_t rounds)
{
    static struct outcomes sum;
    bool is_forbidden = shape->forbidden >> (v - variants) & 1;
    sum = (struct outcomes){0};
    for (unsigned k = 0; k < PLACEMENTS; k++) {
        static struct outcomes here;
        here = (struct outcomes){0};
        if (!places_fit(shape, &placements[k]))
            continue;
        CHECK(run_at(shape, v, &placements[k], rounds, &here));
        CHECK_INT(here.wild, 0);
        for (unsigned i = 0; i < here.n; i++)
            count(&sum, shape->outcome, here.v[i].values, here.v[i].count);
        if (is_verbose || (is_forbidden && count_listed(&here))) {
            printf("%-9s %-14s %s:", shape->name, v->name, placements[k].name);
            print_outcomes(shape, &here);
        }
    }
    printf("%-9s %-14s %s:", shape->name, v->name, is_forbidden ? "forbids *" : "allows *");
    print_outcomes(shape, &sum);
    return is_forbidden ? count_listed(&sum) : 0;
}

static const struct shape_text {
    const char *name, *programs, *outcome;
    unsigned forbidden;
    const char *why;
} shapes[] = {
#define SHAPE(name, programs, outcome, forbidden, why) {#name, programs, outcome, forbidden, why},
#include "tests/litmus/shapes.def"
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct shape shape_of(const struct shape_text *text)
{
    struct shape shape = {
        .name = text->name, .outcome = text->outcome, .forbidden = text->forbidden};
    CHECK(read_shape(text->programs, &shape));
    return shape;
}

static void run_shapes(uint64_t rounds)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        struct shape shape = shape_of(&shapes[i]);
        printf("%s: %s; *: %s (%s)\n", shape.name, shapes[i].programs, shape.outcome,
               shapes[i].why);
        for (unsigned v = 0; v < VARIANT_COUNT; v++)
            CHECK_INT(run_variant(&shape, &variants[v], rounds), 0);
    }
}

/* ---- as a set of the conformance suite ------------------------------------------------------- */

static void write_test(FILE *index, FILE *modules, const struct shape_text *text,
                       const struct variant *v, unsigned place)
{
    static const char *const short_names[PLACEMENTS] = {"lanes", "warps",   "cluster",
                                                        "grid",  "generic", "host"};
    const struct placement *p = &placements[place];
    struct shape shape = shape_of(text);
    const char *ptx = litmus_ptx(&shape, v, p);
    unsigned n = shape.n_threads;
    bool is_grid = p->layout == LAYOUT_CTAS;
    fprintf(index, "%s.%s\t%s\t%s, %s (%s)\t%ld\t%zu\t%u\t%u\t%s\t%u\t%s\t%s\n", v->name,
            short_names[place], text->name, text->programs, p->name, text->why, ftell(modules),
            strlen(ptx), is_grid ? n : 1,
            is_grid                     ? 1
            : p->layout == LAYOUT_WARPS ? 32 * n
                                        : n,
            p->is_cluster ? "cluster" : "cooperative", shape.n_regs,
            shape.forbidden >> (v - variants) & 1 ? "forbidden" : "allowed", shape.outcome);
    fputs(ptx, modules);
}

static int write_suite(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/index.tsv", folder);
    FILE *index = fopen(path, "w");
    snprintf(path, sizeof path, "%s/modules.ptx", folder);
    FILE *modules = fopen(path, "w");
    if (!index || !modules) {
        perror(path);
        return 2;
    }
    for (unsigned i = 0; i < SHAPES; i++)
        for (unsigned v = 0; v < VARIANT_COUNT; v++)
            for (unsigned k = 0; k < PLACEMENTS; k++)
                if (!placements[k].has_host)
                    write_test(index, modules, &shapes[i], &variants[v], k);
    bool ok = fclose(index) == 0;
    return !(fclose(modules) == 0 && ok);
}

/* Outcomes that come for sure, called forbidden, are found: by registers and by what is left in
 * memory. */
static void check_the_check(void)
{
    static const struct {
        const char *programs, *outcome;
    } list[] = {{"Wx1 Wy1 / Ry Rx", "r0=0 r1=0 | r0=0 r1=1 | r0=1 r1=1"},
                {"Wx1 Wx2 / Rx", "x=2"},
                {"Ax1 / Ax1", "x=2"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct shape shape = {.name = "self-test", .outcome = list[i].outcome};
        CHECK(read_shape(list[i].programs, &shape));
        for (unsigned k = 0; k < PLACEMENTS; k++) {
            static struct outcomes all;
            all = (struct outcomes){0};
            CHECK(run_at(&shape, &variants[VARIANT_relaxed], &placements[k], 100, &all));
            CHECK(count_listed(&all) > 90);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--suite"))
        return write_suite(argv[2]);
    is_verbose = argc > 1 && !strcmp(argv[1], "-v");
    uint64_t rounds =
        argc > 1 + is_verbose ? strtoull(argv[1 + is_verbose], NULL, 0) : LAUNCH_ROUNDS;
    engine = new_engine(WORKERS);
    mem = new_buffer(engine, LAUNCH_ROUNDS * ROUND_BYTES);
    out = new_buffer(engine, LAUNCH_ROUNDS * MAX_REGS * sizeof *out);
    pace = new_buffer(engine, sizeof *pace);
    check_the_check();
    run_shapes(rounds);
    ptera_engine_destroy(engine);
    return CHECK_DONE("litmus");
}
