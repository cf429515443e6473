/* The number of registers that NVIDIA's assembler would choose: what allocation.c tells,
 * corrected by trees of decisions that are fitted to what ptxas chose for two thousand kernels. */
#include "runtime/registers/estimate.h"

#include <math.h>

#include "runtime/registers/allocation.h"

enum { UNIT = 4096, NONE = 4, FEWEST = 8 };

enum kind { TREE_NODE, INNER_NODE, LEAF_NODE };

struct node {
    uint8_t kind, feature; /* enum kind, enum pt_feature */
    uint8_t nodes;         /* of the tree; inner: of its left side */
    int32_t n;             /* the most that goes left; of a leaf its value */
};

static const struct node nodes[] = {
#define TREE(nodes) {TREE_NODE, 0, nodes, 0},
#define N(feature, most, nodes) {INNER_NODE, PT_FEATURE_##feature, nodes, most},
#define L(n) {LEAF_NODE, 0, 0, n},
#include "runtime/registers/trees.def"
};

static int32_t leaf_of(const struct node *node, const int32_t *features)
{
    while (node->kind != LEAF_NODE)
        node += features[node->feature] <= node->n ? 1 : node->nodes + 1;
    return node->n;
}

/* log2 of a factor, times UNIT. */
static int32_t correction(const int32_t *features)
{
    int32_t sum = 0;
    for (unsigned at = 0; at < sizeof nodes / sizeof *nodes; at += nodes[at].nodes + 1u)
        sum += leaf_of(&nodes[at + 1], features);
    return sum;
}

/* Registers are given to warps by eights, and the assembler avoids to use few of the last. */
static int32_t snap(int32_t n)
{
    return n > 32 && n % 8 <= 2 ? n / 8 * 8 : n;
}

/* A small correction leaves occupancy as it is. */
static int32_t correct(int32_t registers, int32_t by)
{
    enum { SMALL = UNIT / 20 };
    int32_t n = (int32_t)lrint(registers * exp2(by / (double)UNIT));
    if (by <= -SMALL || by >= SMALL)
        return snap(n);
    int32_t least = pt_allocation_step_below(registers) + 1, most = pt_allocation_step(registers);
    return n < least ? least : n > most ? most : n;
}

/* Not even the order that needs least fits what directives allow: all of that is used. */
static bool is_exhausted(const int32_t *features)
{
    return features[PT_FEATURE_registers] == features[PT_FEATURE_bound] &&
           features[PT_FEATURE_least] >= 100;
}

unsigned pt_estimate_registers(const int32_t features[PT_FEATURES])
{
    if (!features[PT_FEATURE_text])
        return NONE;
    if (is_exhausted(features))
        return (unsigned)features[PT_FEATURE_bound];
    int32_t n = correct(features[PT_FEATURE_registers], correction(features));
    return n < FEWEST ? FEWEST : (unsigned)n;
}
