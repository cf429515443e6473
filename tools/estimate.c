/* How long launches would take on a GPU. The model:
 *
 * What a launch needs of each of the device's parts takes a time of its own (the terms below), as
 * if the others took none. Those times overlap, and so the launch takes little more than the
 * longest: their power mean, and what an empty launch takes. CTAs are dealt out evenly: of what
 * they need of an SM, the SM with the most CTAs has its part; the time of one CTA after the other
 * is that of as many rounds as the device is filled with CTAs. Caches are empty when the launch
 * begins. */
#include "tools/estimate.h"

#include <math.h>
#include <string.h>

#include "runtime/device.h"
#include "tools/metrics.h"

static const struct {
#define CONSTANT(name, value) double name;
#define DEVICE(...)
#include "tools/estimate.def"
#undef CONSTANT
#undef DEVICE
} constants = {
#define CONSTANT(name, value) .name = (value),
#define DEVICE(...)
#include "tools/estimate.def"
#undef CONSTANT
#undef DEVICE
};

static const struct {
    const char *id, *error;
} measured[] = {
#define CONSTANT(...)
#define DEVICE(id, error) {id, error},
#include "tools/estimate.def"
#undef CONSTANT
#undef DEVICE
};

enum term {
    ROUNDS,
    SLOWEST,
    ISSUE,
    ALU,
    FMA,
    FP64,
    XU,
    TENSOR,
    L1,
    SM_L2,
    L2,
    DRAM,
    ATOMICS,
    HOTTEST,
    CTAS,
    TERMS
};

static const char *const words[TERMS] = {
    [ROUNDS] = "each CTA waits for what it computes and loads",
    [SLOWEST] = "the slowest CTA",
    [ISSUE] = "issuing instructions",
    [ALU] = "integers, comparisons and logic",
    [FMA] = "single precision",
    [FP64] = "double precision",
    [XU] = "transcendental functions and conversions",
    [TENSOR] = "tensor cores",
    [L1] = "L1 and shared memory",
    [SM_L2] = "what L1 asks L2 for",
    [L2] = "L2",
    [DRAM] = "memory",
    [ATOMICS] = "atomics",
    [HOTTEST] = "atomics of one place",
    [CTAS] = "starting CTAs",
};

static const struct pt_device *device_of(const struct sums *s)
{
    char why[256];
    return pt_device_choose(s->kernel->device, why, sizeof why);
}

static double cycle_ns(const struct pt_device *d)
{
    return 1e3 / (d->boost_mhz * constants.clock);
}

/* How often the device is filled with CTAs. */
static double rounds_of(const struct sums *s)
{
    double ctas = s->kernel->ctas ? s->kernel->ctas : 1;
    return ceil((double)s->n_ctas / (ctas * s->kernel->sms));
}

/* Of the SM that has the most to do, as a part of the launch: it has as many CTAs as any, one of
 * them the slowest. */
static double most_of(const struct sums *s)
{
    const struct pt_timed_sums *t = &s->kernel->time;
    double n = (double)s->n_ctas, most = ceil(n / s->kernel->sms);
    double mean = (double)t->path_cycles / (double)t->paths;
    double slowest = (double)t->path_longest / (double)s->kernel->launches;
    double more = mean > 0 && slowest > mean ? slowest / mean - 1 : 0;
    return (most + more) / n;
}

/* Cycles in which an SM's L1 is busy. Four warps read what a wgmma multiplies together, and the
 * time that takes is in its costs (runtime/timing.def). */
static double l1_cycles(const struct sums *s)
{
    const struct pt_timed_sums *t = &s->kernel->time;
    double wavefronts = 0, atomics = 0, constants_words = 0;
    for (int kind = 0; kind < KIND_BRANCH; kind++) {
        double parts = (double)s->access[kind][COUNTED_SHARED].sum.parts;
        wavefronts += parts;
        atomics += kind == KIND_ATOM || kind == KIND_RED ? parts : 0;
        constants_words += (double)s->access[kind][COUNTED_CONST].sum.parts;
    }
    for (size_t i = 0; i < s->kernel->n; i++)
        if (!strncmp(s->kernel->insns[i].spelling, "wgmma.", 6))
            wavefronts -= (double)s->kernel->insns[i].spaces[COUNTED_SHARED].parts;
    double busy = fmax((double)t->l1_lines / 2, (double)t->l1_sectors / 4) + wavefronts;
    return fmax((double)t->lsu, busy) + constants.shared_atomic * atomics +
           constants.constant * constants_words;
}

static void find_terms(double ns[TERMS], const struct sums *s, const struct pt_device *d)
{
    const struct pt_timed_sums *t = &s->kernel->time;
    double launches = (double)s->kernel->launches, cycle = cycle_ns(d);
    double on_sm = most_of(s) * cycle / launches, on_part = on_sm / 4;
    double l2 = constants.l2_bytes * d->sms / cycle;
    double memory = constants.memory * 2e-6 * (double)d->memory_khz * d->memory_bits / 8;
    ns[ROUNDS] = (double)t->path_cycles / (double)t->paths * rounds_of(s) * cycle;
    ns[SLOWEST] = (double)t->path_longest / launches * cycle;
    ns[ISSUE] = (double)t->slots * on_part;
    ns[ALU] = (double)t->alu * on_part;
    ns[FMA] = (double)t->fma * on_part * 128 / d->limits->fma32;
    ns[FP64] = (double)t->fp64 * on_part * 64 / d->limits->fma64;
    ns[XU] = (double)t->xu * on_part;
    ns[TENSOR] = (double)t->tensor * on_part;
    ns[L1] = l1_cycles(s) * on_sm;
    ns[SM_L2] = (double)(t->l2_reads + t->l2_writes) / 2 * on_sm;
    ns[L2] = (double)t->l2_turns * 16 / l2 / launches;
    ns[DRAM] = (double)t->dram_pairs * 64 / memory / launches;
    ns[ATOMICS] = (double)t->atomics * constants.atomic_ns / launches;
    ns[HOTTEST] = (double)t->hottest * constants.turn_ns / launches;
    ns[CTAS] = (double)s->n_ctas * constants.cta_ns;
}

/* Of the CTAs that there are at once, the warps that have not ended: there are not more than the
 * device has started within the life of one, and where an SM has several, not all the time. */
static double active_of(const struct sums *s, double ns)
{
    const struct counted_kernel *k = s->kernel;
    double n = (double)s->n_ctas, rounds = rounds_of(s), sms = fmin(n, k->sms);
    double ctas = fmin(n / rounds, ns / rounds / constants.cta_ns) / sms;
    double warps = (double)k->time.path_warp_cycles / (double)k->time.path_cycles;
    double part = ctas * warps / k->sm_warps;
    if (!k->time.path_cycles)
        return 0;
    return ctas > 2 ? fmin(part, 1) * constants.filled : part;
}

const char *estimate_refuse(const char *device)
{
    static char why[256];
    const struct pt_device *d = pt_device_choose(device, why, sizeof why);
    if (d && !d->boost_mhz)
        snprintf(why, sizeof why, "the clock of a %s is not known", d->name);
    return d && d->boost_mhz ? NULL : why;
}

void estimate_make(struct estimate *e, const struct sums *s)
{
    const struct pt_device *d = device_of(s);
    double ns[TERMS], sum = 0;
    enum term most = 0;
    *e = (struct estimate){0};
    if (!d || !d->boost_mhz || !s->kernel->time.paths)
        return;
    find_terms(ns, s, d);
    for (enum term i = 0; i < TERMS; i++)
        most = ns[i] > ns[most] ? i : most;
    for (enum term i = 0; i < TERMS && ns[most] > 0; i++)
        sum += pow(ns[i] / ns[most], constants.power);
    double busy = ns[most] * pow(sum, 1 / constants.power);
    *e = (struct estimate){.ns = constants.launch_ns + busy,
                           .active = active_of(s, busy),
                           .limit = busy < constants.launch_ns ? "launching it" : words[most]};
}

void estimate_put(FILE *out, const struct sums *s)
{
    const struct pt_device *d = device_of(s);
    const struct pt_timed_sums *t = &s->kernel->time;
    const char *error = "its parts are taken to be like an H100's: the error is not known";
    for (size_t i = 0; d && i < sizeof measured / sizeof *measured; i++)
        if (!strcmp(measured[i].id, d->id))
            error = measured[i].error;
    if (!s->estimate.ns)
        return;
    fprintf(
        out,
        "    %s: %.1f us, most of it %s; L1 has %.0f %%, L2 %.0f %%; memory moves %.3g MB; %.0f "
        "%% of its warps\n        (%s)\n",
        d->name, s->estimate.ns * 1e-3, s->estimate.limit,
        100.0 * (double)t->l1_hits / fmax(1, (double)t->l1_sectors),
        100.0 * (double)t->l2_hits / fmax(1, (double)(t->l2_reads + t->l2_writes)),
        32e-6 * (double)(t->dram_reads + t->dram_writes) / (double)s->kernel->launches,
        100 * s->estimate.active, error);
}
