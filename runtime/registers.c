/* Registers that a kernel has on a GPU: NVIDIA's assembler chooses them by ways that are not known, so trees of decisions, fitted
 * to what it chose for some thousand kernels, tell them from the pressure (pressure.c). */
#include "runtime/registers.h"

#include <math.h>

#include "runtime/pressure.h"

enum { DEPTH = 4, SPLITS = (1 << DEPTH) - 1, UNIT = 4096, FEWEST = 8, MOST = 255 };

struct tree {
    struct {
        uint8_t what; /* enum pt_pressure */
        int16_t n;
    } splits[SPLITS];
    int16_t leaves[1 << DEPTH];
};

static const struct tree trees[] = {
#define START(n)
#define TREE(splits, leaves) {{splits}, {leaves}},
#define S(what, n) {PT_PRESSURE_##what, n},
#define L(n) n,
#include "runtime/registers.def"
#undef START
#undef TREE
};

enum {
    START_AT =
#define START(n) n
#define TREE(splits, leaves)
#include "runtime/registers.def"
};

static int32_t leaf_of(const struct tree *t, const int32_t *pressure)
{
    unsigned k = 0;
    while (k < SPLITS)
        k = 2 * k + (pressure[t->splits[k].what] <= t->splits[k].n ? 1 : 2);
    return t->leaves[k - SPLITS];
}

static unsigned estimate(const int32_t *pressure)
{
    int32_t sum = START_AT;
    for (unsigned t = 0; t < sizeof trees / sizeof *trees; t++)
        sum += leaf_of(&trees[t], pressure);
    return (unsigned)lround(exp2(sum / (double)UNIT));
}

static unsigned threads_of(const struct pt_func *f)
{
    const uint32_t *n = f->reqntid[0] ? f->reqntid : f->maxntid;
    return n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1);
}

unsigned pt_registers_bound(const struct pt_func *f)
{
    enum { WARP = 32, SM_PARTS = 4, PART_REGISTERS = 16 << 10, GRANULE = 8 };
    unsigned most = f->maxnreg && f->maxnreg < MOST ? f->maxnreg : MOST, threads = threads_of(f);
    if (!threads || threads > 1024)
        return most;
    unsigned warps = (threads + WARP - 1) / WARP * (f->minnctapersm ? f->minnctapersm : 1);
    unsigned room = PART_REGISTERS / ((warps + SM_PARTS - 1) / SM_PARTS * WARP) / GRANULE * GRANULE;
    return room >= FEWEST && room < most ? room : most;
}

static unsigned within_bound(const struct pt_func *f, unsigned n)
{
    unsigned bound = pt_registers_bound(f);
    n = n < FEWEST ? FEWEST : n;
    return n < bound ? n : bound;
}

unsigned pt_registers_count(const ptera_kernel *kernel)
{
    const ptera_module *module = kernel->module;
    const struct pt_func *f = &module->ir.funcs.v[kernel->func];
    int32_t pressure[PT_PRESSURE_COUNT];
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &module->engine->allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        pt_arena_free(&arena);
        return within_bound(f, FEWEST);
    }
    pt_pressure_find(&module->ir, f, pressure, &arena);
    pt_arena_free(&arena);
    return within_bound(f, estimate(pressure));
}
