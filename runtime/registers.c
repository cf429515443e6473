/* Registers that a kernel has on a GPU: NVIDIA's assembler chooses them by ways that are not
 * known, so trees of decisions, fitted to what it chose for some thousand kernels, tell them
 * from the pressure (pressure.c). */
#include "runtime/registers.h"

#include <math.h>

#include "runtime/pressure.h"

enum { DEPTH = 5, SPLITS = (1 << DEPTH) - 1, UNIT = 4096, NONE = 4, FEWEST = 8 };

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

/* Registers are given to warps by eights, and the assembler avoids to use few of the last. */
static unsigned snap(unsigned n)
{
    return n > 32 && n % 8 <= 2 ? n / 8 * 8 : n;
}

static unsigned estimate(const int32_t *pressure)
{
    int32_t sum = START_AT;
    for (unsigned t = 0; t < sizeof trees / sizeof *trees; t++)
        sum += leaf_of(&trees[t], pressure);
    unsigned n = snap((unsigned)lround(exp2(sum / (double)UNIT)));
    return n < FEWEST ? FEWEST : n;
}

static unsigned within_bound(const struct pt_func *f, unsigned n)
{
    unsigned bound = pt_pressure_bound(f);
    return n < bound ? n : bound;
}

static unsigned count(const ptera_kernel *kernel)
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
    return within_bound(f, pressure[PT_PRESSURE_text] ? estimate(pressure) : NONE);
}

unsigned pt_registers_count(ptera_kernel *kernel)
{
    if (!kernel->registers)
        kernel->registers = count(kernel);
    return kernel->registers;
}
