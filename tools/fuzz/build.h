/* What the generator's files share: random numbers, names of registers, making nodes. */
#ifndef PTERA_TOOLS_FUZZ_BUILD_H
#define PTERA_TOOLS_FUZZ_BUILD_H

#include "tools/fuzz/gen.h"

enum gen_class { GEN_P, GEN_H, GEN_R, GEN_D, GEN_CLASSES }; /* predicates, 16, 32, 64 bits */

enum {
    GEN_POOL = 5,
    GEN_UNIFORM_POOL = 2,
    GEN_ARRAYS = 4,
    GEN_COUNTERS = 4,
    GEN_TABLE = 128,
    GEN_OWN = 16,
    GEN_VALUES = 32
};

/* An array of `out`: a thread's own element is at index(thread) of GEN_MAP's kind. */
struct gen_array {
    unsigned bytes; /* of an element */
    unsigned map, a, b;
    unsigned record; /* elements of a thread side by side */
    size_t offset;   /* in out */
};

/* What stands in a register of its own, written once, by an instruction without a guard. */
struct gen_value {
    enum gen_class class;
    bool is_float; /* the register's type is .f32 or .f64 */
    const char *name;
};

/* Sources that are preferred, and where their kind comes from. */
struct gen_values {
    unsigned depth; /* of the statements that add to them */
    unsigned n;
    struct gen_value v[GEN_VALUES];
};

/* Where code stands. */
struct gen_place {
    enum gen_shape shape; /* the innermost that holds it */
    bool is_uniform;      /* all threads of the CTA that still run come here together */
    /* lanes of the warp that come here together, a constant or a register; NULL: not known */
    const char *mask;
    /* labels of the innermost loop, NULL: none; leaving must not break what is said above */
    const char *leave, *again;
    bool leaves_uniformly;
    unsigned depth;
    bool stays;          /* nobody may return here */
    unsigned n_counters; /* of loops around: 32-bit temporaries, readable */
    unsigned counter[GEN_COUNTERS];
    bool counter_is_uniform[GEN_COUNTERS];
    struct gen_values *values; /* NULL: none are preferred */
};

/* The function being made. Registers: %p %h %r %d 0..GEN_POOL-1 are variables, initialised at
 * its head; %up %uh %ur %ud likewise, the same in all threads of the CTA. %q %t %x are numbered
 * temporaries of predicates, 32 and 64 bits, %s of 16, as are %m %w %z32 and %y %z; %f and %fd are
 * of .f32 and .f64. */
struct gen {
    struct gen_kernel *k;
    uint64_t random;
    unsigned n_temps;
    bool is_entry;
    bool for_gpu, is_small; /* struct gen_options */
    /* of the kernel */
    bool has_selectors, has_parted_talk, has_tables, has_returns, has_order, has_carries, has_const,
        has_many;
    bool talks; /* warp instructions; lanes then return at the outermost level only */
    bool has_local, has_shared;
    bool has_waits;                /* loops that wait for other threads, locks, barriers of some */
    unsigned threads, cta_threads; /* of the grid, of a CTA */
    const struct gen_wishes *wishes; /* NULL: none */
    size_t wish_at;                  /* in out: GEN_WISH_BYTES for each thread */
    uint32_t images;                 /* image.h: which references there are */
    unsigned cell_bytes;             /* of shared memory where sums of a CTA are */
    unsigned n_arrays;
    struct gen_array array[GEN_ARRAYS];
    bool is_filled[GEN_ARRAYS]; /* has first values */
    struct gen_node **at;       /* where the next node goes */
    /* n statements of any kind (gen_statements), as accesses to neighbours have in between. */
    void (*statements)(struct gen *g, struct gen_place place, unsigned n);
};

/* random.c */
uint64_t gen_random(struct gen *g);
unsigned gen_below(struct gen *g, unsigned n);
bool gen_chance(struct gen *g, unsigned percent);
/* Bits of an interesting number: small, a corner of a floating-point format, a power of two,
 * anything. */
uint64_t gen_special(struct gen *g, unsigned bits);

/* tree.c */
__attribute__((format(printf, 2, 3))) char *gen_format(struct gen *g, const char *format, ...);
/* A node of n lists at the place where the next node goes, which then lies behind it. Parts are
 * empty texts. */
struct gen_node *gen_node(struct gen *g, unsigned n_children);
/* A node of one text. */
__attribute__((format(printf, 2, 3))) struct gen_node *gen_line(struct gen *g, const char *format,
                                                                ...);
/* The next nodes go into list `child` of the node; returns where they would have gone. */
struct gen_node **gen_enter(struct gen *g, struct gen_node *node, unsigned child);

/* names.c: names of registers */
const char *gen_source(struct gen *g, const struct gen_place *place, enum gen_class class);
const char *gen_uniform_source(struct gen *g, const struct gen_place *place, enum gen_class class);
const char *gen_dest(struct gen *g, enum gen_class class);
/* "@%p1 ", "@!%p2 " or "". */
const char *gen_guard(struct gen *g);
unsigned gen_temp(struct gen *g);
/* One of the preferred values, mostly; NULL: another source is to be drawn. */
const char *gen_preferred(struct gen *g, const struct gen_place *place, enum gen_class class,
                          bool takes_float);
/* form.c: an instruction of the table that only computes; with uniform operands only. */
void gen_compute(struct gen *g, const struct gen_place *place, bool uniform);
/* One instruction several times, of other values. */
void gen_burst(struct gen *g, const struct gen_place *place);
/* One of the values; NULL: there is none. */
const char *gen_value(struct gen *g, const struct gen_values *values, enum gen_class class,
                      bool takes_float);
/* A register for a value of that kind, and what defines it without its instruction. */
struct gen_value gen_new_value(struct gen *g, enum gen_class class, bool is_float);
char *gen_zero_text(struct gen *g, const struct gen_value *value);
void gen_add_value(struct gen_values *values, const struct gen_value *value);
void gen_special_register(struct gen *g);
void gen_carry_chain(struct gen *g, const struct gen_place *place);

/* memory.c */
void gen_lay_out(struct gen *g);
/* An array in which a thread has several elements, g->threads apart from each other; NULL: there
 * is none. */
const struct gen_array *gen_rounds(struct gen *g);
void gen_memory(struct gen *g, const struct gen_place *place);
/* Computes the address of the array's element %t<n> into %x<n>, without the array's offset. */
char *gen_address(struct gen *g, unsigned n, unsigned bytes, const char *base);

/* So many for each thread of the grid, but the last `left_out`: a number; or %w<n>, which `text`
 * computes from the grid's width. */
const char *gen_bound(struct gen *g, unsigned n, unsigned each, unsigned left_out,
                      const char **text);

/* near.c: what a thread does with elements that lie side by side. A record whose address is in
 * %x<n>: */
void gen_neighbours(struct gen *g, const struct gen_place *place, const struct gen_array *a,
                    unsigned n);
/* The thread's record of one round; elements up to a bound, each behind a guard of its own. */
void gen_near(struct gen *g, const struct gen_place *place);
/* First values for arrays whose records have been used. */
void gen_fill_arrays(struct gen *g);

/* share.c: what threads do together */
void gen_warp(struct gen *g, const struct gen_place *place);
void gen_cta(struct gen *g, const struct gen_place *place);
/* Threads of the CTA, all of which come there, exchange at distances. */
void gen_meet(struct gen *g, const struct gen_place *place);

/* want_image.c: the references of the module that have been named. */
const char *gen_images_text(struct gen *g);

/* flow.c: a list of statements */
void gen_statements(struct gen *g, struct gen_place place, unsigned n);

#endif
