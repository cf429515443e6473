/* What the threads of a launch read and wrote, event by event, as hashes: to find where two runs of
 * it part. A run is recorded; another is compared with it, up to the first event of a thread that
 * differs from the thread's event of that number; the first again, to have that event as it was
 * there. */
#ifndef PTERA_BACKEND_TRACED_H
#define PTERA_BACKEND_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/arena.h"

struct pt_steps;

enum { PT_TRACED_LANES = 32 };

/* An access of a thread. */
struct pt_traced_event {
    bool is_there;
    uint32_t func, insn, use; /* enum pt_use */
    uint32_t cta[3], thread[3];
    uint64_t address, bytes, value; /* addresses as pt_traced_place has them */
};

/* Shared and local memory lie elsewhere in each run: a place in them, whatever the run. */
enum { PT_TRACED_GLOBAL, PT_TRACED_SHARED = 0xfff1, PT_TRACED_LOCAL = 0xfff2 };
enum { PT_TRACED_SHIFT = 48 }; /* above the offset in their window */

struct pt_traced_thread {
    uint32_t n, room;
    uint32_t *hashes; /* of its events, while a run is recorded and compared with */
};

struct pt_traced {
    /* backend/steps.h: to be told, and all else here is not used; or NULL */
    struct pt_steps *steps;
    const struct pt_allocator *allocator;
    enum { PT_TRACED_RECORD, PT_TRACED_COMPARE, PT_TRACED_FETCH } mode;
    struct pt_traced_thread *threads;
    uint64_t n_threads, events, most; /* most: hashes that are kept */
    /* COMPARE finds, FETCH wants: of which thread (by its number in the grid), which event, as it
     * is in the run that is under way */
    uint64_t thread;
    uint32_t number;
    struct pt_traced_event event;
    /* the last write of the byte at `watched` */
    uint64_t watched;
    struct pt_traced_event writer;
    /* the access that the warp is about to do, by lane */
    struct {
        uint32_t func, insn, use, lanes;
        uint64_t bytes, address[PT_TRACED_LANES], value[PT_TRACED_LANES];
        uint32_t hash[PT_TRACED_LANES];
    } now;
};

#endif
