/* What an event of several processes has recorded, and how far that is done: a page that they share. */
#ifndef PTERA_CUDA_EVENT_PAGE_H
#define PTERA_CUDA_EVENT_PAGE_H

#include <stdatomic.h>

#include "runtime/cuda/driver.h"

/* The page. Records are numbered; one is done when `done` has come so far. */
struct pt_cu_event_counts {
    atomic_uint_fast64_t recorded, done;
};

struct pt_cu_shared {
    unsigned refs; /* of the event and of operations under way */
    bool is_imported;
    int fd;        /* of the file behind it; -1: imported */
    struct pt_cu_event_counts *page;
};

/* Of the page in a file; the file is kept unless it is another process's. NULL: no memory. */
struct pt_cu_shared *pt_cu_event_page_map(int fd, bool is_imported);

#endif
