/* Random, well-defined PTX kernels: the same seed gives the same kernel. (No expression draws
 * twice: C leaves open which draw comes first.)
 *
 * A kernel is a tree of nodes that hold text, so that it can be reduced: any node can be taken out,
 * or what its lists hold put in its place, and the kernel stays well-defined. Its result does not
 * depend on the order in which threads run: a thread writes its own elements of each array of
 * `out`, cells of `sums` take one commutative operation each, shared memory is exchanged between
 * barriers that all threads of the CTA reach. Every loop ends, every register is written before it
 * is read.
 *
 * Accesses that native code joins, orders or runs ahead with have statements of their own:
 * neighbouring elements (near.c), loops in strides of a grid of many CTAs (flow.c, walk), threads
 * that meet at distances (share.c, gen_meet).
 *
 * The kernel's parameters: out (u64), sums (u64), s (u32), w (u64).
 */
#ifndef PTERA_TOOLS_FUZZ_GEN_H
#define PTERA_TOOLS_FUZZ_GEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/arena.h"

enum gen_state {
    GEN_WHOLE,
    GEN_OPEN,    /* what its lists hold, without its own text but the stand-in */
    GEN_REMOVED, /* the stand-in alone */
    GEN_GONE     /* nothing */
};

/* Text part[0], list child[0], part[1], ... part[n_children]. */
struct gen_node {
    struct gen_node *next;
    unsigned n_children;
    char **part;
    struct gen_node **child; /* lists: the first node, or NULL */
    char *stand_in;          /* defines what other nodes read; or NULL */
    bool is_fixed;           /* nothing works without it */
    uint8_t state;           /* enum gen_state */
};

enum gen_shape {
#define SHAPE(ID, text, needs, has) GEN_SHAPE_##ID,
#include "tools/fuzz/shapes.def"
    GEN_SHAPES
};

enum { GEN_WISHES = 6, GEN_WISH_BYTES = 64 };

struct corner_group;

/* An operand that a kernel is to have: corner.h. */
struct gen_wish {
    const struct corner_group *group;
    unsigned class; /* enum corner_class */
};

struct gen_wishes {
    unsigned n;
    struct gen_wish v[GEN_WISHES];
};

/* What a kernel is to be like. */
struct gen_options {
    bool for_gpu;                    /* see gen_make */
    bool is_small;                   /* few statements, and nothing inside what is inside another */
    const struct gen_wishes *wishes; /* NULL: none */
};

struct gen_func {
    const char *name, *head;
    struct gen_node *body;
    const char *tail;
};

enum { GEN_FUNCS = 4 };

struct gen_kernel {
    struct pt_arena arena;
    uint64_t seed;
    unsigned grid[3], block[3];
    uint32_t s;
    uint64_t w;
    size_t out_bytes, sums_bytes;
    size_t images_at;      /* in out, where textures and surfaces lie (image.h); 0: it has none */
    const char *variables; /* module scope */
    bool shape[GEN_SHAPES][GEN_SHAPES]; /* what it has: [outer][inner] */
    unsigned n_funcs;
    struct gen_func func[GEN_FUNCS], entry;
};

/* Makes the kernel of a seed and of wishes, most of which it then has; memory that runs out ends
 * the process. With `for_gpu` it has nothing
 * of which NVIDIA's assembler and GPUs make something else than PTX says, or that PTX leaves open
 * (seen with driver 580 on an H100 and an H200; docs/ptx.md has what machine code shows):
 *
 *   - %warpid, and the values of createpolicy, mapa and getctarank
 *   - the payloads and signs of NaNs (neg and abs change bits, where the assembler likes; min(x, x)
 *     is x; constants are folded)
 *   - floating-point constants (sqrt.rn of them loses subnormals)
 *   - set and testp under a guard, of which a part is done in any case; set to f16 and bf16, whose
 *     result stands in the upper half of the register, too
 *   - constants in 16-bit instructions: shifts take 16 bits of theirs
 *   - narrow results of conversions in wider registers
 *   - stores of 8, 16 and 32 bits from wider registers, which may hold a float, and 64-bit shifts
 *     by one: it is converted; stores of vectors of 8 bits from registers that hold more, which
 *     saturate
 *   - loops with two entries, which go round once too often
 *   - 64-bit atomics on shared memory, at the head of loops that have barriers
 *   - known operands of approximations, slct, mad.hi and conversions with .sat
 */
void gen_make(struct gen_kernel *k, uint64_t seed, const struct gen_options *options);
void gen_free(struct gen_kernel *k);

/* The module as PTX, with its `ptera run` command at its head. The caller frees. Functions that
 * nobody calls are left out. */
char *gen_text(const struct gen_kernel *k);
/* A list of nodes as it is written now. The caller frees. */
char *gen_list_text(const struct gen_node *list);
/* The name of a register, whole, is in the text. */
bool gen_mentions(const char *text, const char *name);

#endif
