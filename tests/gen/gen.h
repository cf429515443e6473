/* Random, well-defined PTX kernels: the same seed gives the same kernel. (No expression draws twice: C leaves open which draw comes
 * first.)
 *
 * A kernel is a tree of nodes that hold text, so that it can be reduced: any node can be taken out, or what its lists hold
 * put in its place, and the kernel stays well-defined. Its result does not depend on the order in which threads run: a
 * thread writes its own elements of each array of `out`, cells of `sums` take one commutative operation each, shared memory
 * is exchanged between barriers that all threads of the CTA reach. Every loop ends, every register is written before it is
 * read.
 *
 * The kernel's parameters: out (u64), sums (u64), s (u32), w (u64).
 */
#ifndef PTERA_TESTS_GEN_GEN_H
#define PTERA_TESTS_GEN_GEN_H

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
    const char *variables; /* module scope */
    unsigned n_funcs;
    struct gen_func func[GEN_FUNCS], entry;
};

/* Makes the kernel of a seed; memory that runs out ends the process. */
void gen_make(struct gen_kernel *k, uint64_t seed);
void gen_free(struct gen_kernel *k);

/* The module as PTX, with its `ptera run` command at its head. The caller frees. Functions that nobody calls are left out. */
char *gen_text(const struct gen_kernel *k);
/* A list of nodes as it is written now. The caller frees. */
char *gen_list_text(const struct gen_node *list);
/* The name of a register, whole, is in the text. */
bool gen_mentions(const char *text, const char *name);

#endif
