/* Events of several processes: what was recorded, and how far it is done, stands in a page that
 * they share. */
#ifndef PTERA_CUDA_EVENT_PAGE_H
#define PTERA_CUDA_EVENT_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/op.h"

/* The page. Records are numbered; one is done when `done` has come so far. */
struct pt_cu_event_counts {
    atomic_uint_fast64_t recorded, done;
};

struct pt_cu_event_page {
    unsigned refs; /* of the event and of operations under way */
    bool is_imported;
    int fd; /* of the file behind it; -1: imported */
    struct pt_cu_event_counts *page;
};

/* Of the page in a file; the file is kept unless it is another process's. NULL: no memory. */
struct pt_cu_event_page *pt_cu_event_page_map(int fd, bool is_imported);

/* What an event of several processes shares; NULL: no memory. */
struct pt_cu_event_page *pt_cu_event_page_new(void);
struct pt_cu_event_page *pt_cu_event_page_ref(struct pt_cu_event_page *shared);
void pt_cu_event_page_put(struct pt_cu_event_page *shared);
/* The number of a new record, which is done when pt_cu_event_page_done says so. */
uint64_t pt_cu_event_page_record(struct pt_cu_event_page *shared);
void pt_cu_event_page_done(struct pt_cu_event_page *shared, uint64_t number);
bool pt_cu_event_page_is_done(const struct pt_cu_event_page *shared);
/* What waits for the last record so far. */
struct pt_cu_op pt_cu_event_page_wait(struct pt_cu_event_page *shared);

#endif
