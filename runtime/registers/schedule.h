/* Orders of a region's instructions, and the registers that each needs, in halves of 32 bits. */
#ifndef PTERA_RUNTIME_REGISTERS_SCHEDULE_H
#define PTERA_RUNTIME_REGISTERS_SCHEDULE_H

#include "runtime/registers/schedule_graph.h"

struct pt_schedule_need {
    int32_t tight, spread; /* spread: where registers are plentiful */
};

enum { PT_SCHEDULE_NO_CAP = 1 << 20 };

/* As in the text. */
struct pt_schedule_need pt_schedule_text(struct pt_schedule_graph *g);
/* As in the text, but loads and their addresses (`all`: whatever writes nothing) where they are
 * wanted. */
struct pt_schedule_need pt_schedule_late(struct pt_schedule_graph *g, bool all);
/* From the end, what needs least first. */
struct pt_schedule_need pt_schedule_backward(struct pt_schedule_graph *g);
/* A list scheduler's: the longest way to the end first, while so many registers are not
 * exceeded; what frees most otherwise. A graph that is too large for that stays as in the text. */
struct pt_schedule_need pt_schedule_list(struct pt_schedule_graph *g, int32_t cap);

#endif
