/* The number of registers that NVIDIA's assembler would choose: its ways are not known, so trees
 * of decisions, fitted to what it chose for some thousand kernels, tell it from the features. */
#include "runtime/registers/estimate.h"

#include <math.h>

enum { DEPTH = 5, SPLITS = (1 << DEPTH) - 1, UNIT = 4096, NONE = 4, FEWEST = 8 };

struct tree {
    struct {
        uint8_t what; /* enum pt_feature */
        int16_t n;
    } splits[SPLITS];
    int16_t leaves[1 << DEPTH];
};

static const struct tree trees[] = {
#define START(n)
#define TREE(splits, leaves) {{splits}, {leaves}},
#define S(what, n) {PT_FEATURE_##what, n},
#define L(n) n,
#include "runtime/registers/trees.def"
#undef START
#undef TREE
};

enum {
    START_AT =
#define START(n) n
#define TREE(splits, leaves)
#include "runtime/registers/trees.def"
};

static int32_t leaf_of(const struct tree *t, const int32_t *features)
{
    unsigned k = 0;
    while (k < SPLITS)
        k = 2 * k + (features[t->splits[k].what] <= t->splits[k].n ? 1 : 2);
    return t->leaves[k - SPLITS];
}

/* Registers are given to warps by eights, and the assembler avoids to use few of the last. */
static unsigned snap(unsigned n)
{
    return n > 32 && n % 8 <= 2 ? n / 8 * 8 : n;
}

unsigned pt_estimate_registers(const int32_t features[PT_FEATURES])
{
    if (!features[PT_FEATURE_text])
        return NONE;
    int32_t sum = START_AT;
    for (unsigned t = 0; t < sizeof trees / sizeof *trees; t++)
        sum += leaf_of(&trees[t], features);
    unsigned n = snap((unsigned)lround(exp2(sum / (double)UNIT)));
    return n < FEWEST ? FEWEST : n;
}
