/* What launches have written, compared and undone. */
#ifndef PTERA_RUNTIME_ORDER_PAGES_H
#define PTERA_RUNTIME_ORDER_PAGES_H

#include "backend/written.h"

/* An element that two runs have left different. */
struct pt_order_difference {
    uint64_t address, bytes;
    uint64_t first, now; /* what the first run left, and the last */
};

struct pt_order_excuse {
    double tolerance;          /* of floating-point elements, relative; 0: none */
    uint64_t heap, heap_bytes; /* the device heap: which block is whose may differ */
    uint64_t tolerated;        /* elements that differed no more than that */
};

/* Memory is what the first run leaves. */
void pt_order_pages_keep(struct pt_written *w);
/* Memory becomes what it was before all runs, or behind the first. */
void pt_order_pages_restore(const struct pt_written *w, bool is_behind);
/* False: memory is what the first run left; else *d is the difference of the lowest address. */
bool pt_order_pages_compare(const struct pt_written *w, struct pt_order_excuse *excuse,
                            struct pt_order_difference *d);
/* What is at its address now. */
uint64_t pt_order_pages_read(uint64_t address, uint64_t bytes);

#endif
