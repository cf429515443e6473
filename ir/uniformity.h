/* Who agrees on what: how values and control differ between the threads of a CTA.
 *
 * The compiler runs threads in *groups* of `copies` chunks of `width` lanes: chunk k of a CTA holds
 * the threads k * width ... k * width + width - 1 in linear order. Where a kernel talks within
 * warps the group is a warp.
 *
 * A value has a *level*: the largest set of threads over which every execution of its definition
 * gives the same value. Where a register lies at level LANE it may still be *affine*: lane i of a
 * chunk holds base + i * stride.
 *
 * Control is described by where lanes may wait for each other. When lanes of a group part at a
 * branch, those that run later wait at the blocks they will run, as design "thread frontiers" says:
 * blocks run in their numbering, those of a loop until no lane of the group is left in it. waits(b)
 * is the set of blocks where other lanes of the same group (or CTA) may stand while lanes run block
 * b. A block that nobody waits beside is run by all live threads of the group together; a register
 * written in b needs its old value kept in the other lanes only if it is live into a block of
 * waits(b).
 *
 * This holds as long as that order does: where a block that needs other threads (a sync point) has
 * lanes waiting beside it, or the back edges of a loop let other work run first
 * (pt_block.communicates), it is for the caller to see that it does, or to name the blocks at which
 * lanes of a group stop (enum pt_stop).
 */
#ifndef PTERA_IR_UNIFORMITY_H
#define PTERA_IR_UNIFORMITY_H

#include "ir/ir.h"

enum pt_level {
    PT_LEVEL_CTA,   /* the same in all threads of the CTA */
    PT_LEVEL_GROUP, /* the same in the threads of a group */
    PT_LEVEL_CHUNK, /* the same in the lanes of a chunk */
    PT_LEVEL_LANE
};
_Static_assert(PT_LEVEL_CTA < PT_LEVEL_GROUP && PT_LEVEL_GROUP < PT_LEVEL_CHUNK &&
                   PT_LEVEL_CHUNK < PT_LEVEL_LANE,
               "the fewer threads agree, the higher");

/* Blocks at whose start lanes stop as long as others of their group can go on elsewhere. */
enum pt_stop {
    PT_STOP_NONE,
    PT_STOP_SOME, /* those that have come go on then; which of several such blocks is first is not
                     known */
    PT_STOP_EACH, /* likewise, but part of them may stay */
    PT_STOP_ALL   /* all of the group that have not ended go on together */
};
_Static_assert(PT_STOP_SOME < PT_STOP_EACH && PT_STOP_EACH < PT_STOP_ALL,
               "the stricter, the higher");

struct pt_uniformity_shape {
    uint32_t block[3];      /* threads of the CTA; block[0] == 0: not known */
    uint32_t width, copies; /* powers of two */
};

struct pt_value {
    uint8_t level;      /* enum pt_level */
    uint8_t is_affine;  /* level LANE: base + stride * lane in the arithmetic of the register's own
                           width */
    uint8_t spans_group; /* affine: over the whole group, from chunk to chunk as from lane to
                            lane */
    uint8_t may_wrap;   /* the affine form holds only where a narrower value did not wrap within the
                           chunk (group): the code that widened it must have tested that */
    uint8_t align_log2; /* affine: the value in lane 0 of a chunk is a multiple of 1 << align_log2;
                           below LANE: the value */
    int64_t stride;     /* affine: not 0 */
};

struct pt_uniformity {
    struct pt_uniformity_shape shape;
    const uint8_t *stops;  /* enum pt_stop by block, or NULL */
    struct pt_value *regs; /* by register; the one behind the last is CC.CF */
    uint8_t *branch;       /* by block: level of the choice its last instruction makes (CTA where
                              there is none) */
    uint32_t words;        /* of a set of blocks */
    uint64_t *waits_cta, *waits_group; /* `words` words for each block */
    uint64_t *stuck;       /* the set of blocks of PT_STOP_ALL beside which lanes may stand at
                              another one */
};

/* The function is lowered. `stops`: enum pt_stop by block; NULL: there are none. Everything is in
 * `arena`. */
struct pt_uniformity *pt_uniformity_find(const struct pt_module *m, const struct pt_func *f,
                                         const struct pt_uniformity_shape *shape,
                                         const uint8_t *stops, struct pt_arena *arena);

/* The value of a special register over chunks of the shape. */
struct pt_value pt_uniformity_sreg(const struct pt_uniformity_shape *shape, enum pt_sreg sreg);

#endif
