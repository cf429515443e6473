/* Metrics of a kernel. */
#include "tools/metrics.h"

#include <string.h>

enum kind metrics_kind(const struct counted_insn *x)
{
    static const char *const names[KIND_NONE] = {"load",     "store",  "copy",      "atom",
                                                 "red",      "ldgsts", "bulk_load", "bulk_store",
                                                 "bulk_red", "branch"};
    int kind = 0;
    while (kind < KIND_NONE && strcmp(names[kind], x->kind) != 0)
        kind++;
    return (enum kind)kind;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_access(struct counted_access *to, const struct counted_access *more)
{
    to->requests += more->requests;
    to->lanes += more->lanes;
    to->bytes += more->bytes;
    to->parts += more->parts;
    to->conflicts += more->conflicts;
}

static void add_work(struct sums *s, const struct counted_insn *x)
{
    enum operation operation = operations_find(x);
    enum insn_class class = operations_class(x);
    enum tensor_unit unit;
    enum tensor tensor = operations_tensor(x, &unit);
    if (operation != OPERATIONS)
        s->operations[operation] += x->on;
    if (class != CLASSES)
        s->classes[class] += x->on;
    if (tensor != TENSORS) {
        s->tensors[tensor] += x->warps * operations_tensor_work(x);
        s->units[unit] += x->warps;
    }
    if (operations_is_barrier(x)) {
        s->barriers += x->warps;
        s->barrier_waits += x->waits;
    }
    s->waits += x->waits;
}

static void add_insn(struct sums *s, const struct counted_insn *x)
{
    enum kind kind = metrics_kind(x);
    add_work(s, x);
    s->warps += x->warps;
    s->lanes += x->lanes;
    s->on += x->on;
    if (kind == KIND_BRANCH) {
        s->branches += x->warps;
        s->split_branches += x->split;
    }
    for (int i = 0; kind < KIND_BRANCH && i < COUNTED_SPACES; i++) {
        bool is_read = kind == KIND_LDGSTS && i == COUNTED_GLOBAL; /* and written: once is enough */
        bool is_told = kind < KIND_BULK_LOAD && i != COUNTED_CONST && !is_read;
        s->accesses += is_told ? x->spaces[i].lanes : 0;
        s->access[kind][i].warps += x->spaces[i].requests ? x->warps : 0;
        add_access(&s->access[kind][i].sum, &x->spaces[i]);
    }
}

static unsigned product(const unsigned v[3])
{
    return v[0] * v[1] * v[2];
}

void metrics_sum(struct sums *s, const struct counted_kernel *kernel)
{
    *s = (struct sums){.kernel = kernel, .threads = product(kernel->block)};
    s->cta_warps = (s->threads + 31) / 32;
    s->n_ctas = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    s->n_warps = s->n_ctas * s->cta_warps;
    for (size_t i = 0; i < kernel->n; i++)
        add_insn(s, &kernel->insns[i]);
    if (kernel->is_timed)
        estimate_make(&s->estimate, s);
}

/* ---- the metrics ----------------------------------------------------------------------------- */

const struct metric metrics[] = {
#define METRIC(NAME, UNIT, VALUE, SUMMARY) {NAME, UNIT, SUMMARY, false},
#define ESTIMATE(NAME, UNIT, VALUE, SUMMARY) {NAME, UNIT, SUMMARY, true},
#include "tools/metrics.def"
};
const unsigned n_metrics = sizeof metrics / sizeof *metrics;

static double ratio(double part, double all)
{
    return all != 0 ? part / all : 0;
}

#define RATIO(part, all) ratio((double)(part), (double)(all))
#define PERCENT(part, all) (100 * RATIO(part, all))

double metrics_value(const struct metric *metric, const struct sums *s)
{
    const double values[] = {
#define METRIC(NAME, UNIT, VALUE, SUMMARY) (double)(VALUE),
#define ESTIMATE METRIC
#include "tools/metrics.def"
    };
    return values[metric - metrics];
}

const struct metric *metrics_find(const char *name, size_t length)
{
    for (unsigned i = 0; i < n_metrics; i++)
        if (strlen(metrics[i].name) == length && !memcmp(metrics[i].name, name, length))
            return &metrics[i];
    return NULL;
}
