/* What a scheduler orders: the instructions of a region, each with the values that it reads and
 * makes and with those that it must follow. A value has a name of its own; a loop's body may be
 * in it several times. */
#ifndef PTERA_RUNTIME_REGISTERS_SCHEDULE_GRAPH_H
#define PTERA_RUNTIME_REGISTERS_SCHEDULE_GRAPH_H

#include "runtime/registers/region.h"
#include "runtime/registers/register_file.h"

struct pt_schedule_node {
    const struct pt_insn_cost *cost;
    uint32_t first, n_uses, n_defs; /* in pt_schedule_graph.operands: uses, then definitions */
    /* in .edges: nodes that it must follow, then those that must follow it */
    uint32_t edges, n_before, n_after;
    bool is_free;   /* only for uniform registers and constants: takes the vector units no time */
    bool may_sink;  /* a load, or an integer that only loads want */
    int32_t height; /* cycles from its start to the end of the region */
    /* of the schedule in work */
    uint32_t waits; /* for so many */
    bool is_issued;
    int32_t early; /* the first cycle in which its operands are there */
};

struct pt_schedule_value {
    int32_t size;            /* halves of 32 bits */
    int32_t spread;          /* the same where registers are plentiful */
    uint32_t total, writers; /* uses and definitions in the region */
    bool is_in, is_out;      /* live before the region; behind it */
    uint32_t writer;         /* node + 1 */
    uint32_t readers;        /* since: index + 1 into .readers */
    /* of the schedule in work */
    uint32_t uses, defs; /* still to come */
    bool is_live;
};

struct pt_schedule_pair {
    uint32_t a, b;
};

struct pt_schedule_graph {
    PT_VEC(struct pt_schedule_node) nodes;
    PT_VEC(struct pt_schedule_value) values;
    PT_VEC(uint32_t) operands;               /* values */
    PT_VEC(struct pt_schedule_pair) readers; /* node, next + 1 */
    PT_VEC(struct pt_schedule_pair) arcs;    /* from, to */
    uint32_t *edges;
    uint32_t *ready;           /* room for as many nodes */
    int32_t base, base_spread; /* live from end to end and not named */
};

/* `copies` of the region, one behind the other. */
struct pt_schedule_graph *pt_schedule_graph_make(const struct pt_code *code,
                                                 const struct pt_register_file *file,
                                                 const struct pt_region *region, unsigned copies);

#endif
