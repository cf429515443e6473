/* What became of memory: which call made an allocation, which freed it, and from where. Kept while
 * the checker of memory watches. */
#ifndef PTERA_RUNTIME_HISTORY_H
#define PTERA_RUNTIME_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_allocator;
struct pt_history;

enum { PT_HISTORY_FRAMES = 8 };

/* A call of the host, and, of an API's, who called it. */
struct pt_history_call {
    const char *name; /* static text; NULL: a kernel's malloc or free */
    unsigned n_frames;
    void *frames[PT_HISTORY_FRAMES];
};

struct pt_allocation {
    uint64_t address, bytes;
    bool is_freed;
    struct pt_history_call made, freed;
};

/* NULL: no memory. */
struct pt_history *pt_history_new(const struct pt_allocator *allocator);
void pt_history_free(struct pt_history *history);
/* The call of an API that this thread is in, as static text; NULL: none. */
void pt_history_enter(const char *call);
/* That call, and who called it. */
void pt_history_now(struct pt_history_call *call);
/* An allocation is made, or freed; `is_kernel`: by a kernel. The oldest that are freed are
 * forgotten. `history` may be NULL. */
void pt_history_add(struct pt_history *history, uint64_t address, uint64_t bytes, bool is_kernel);
void pt_history_end(struct pt_history *history, uint64_t address, bool is_kernel);
/* The latest allocation that holds, or held, an address. False: none is known. */
bool pt_history_find(struct pt_history *history, uint64_t address, struct pt_allocation *found);
/* The next allocation from *index on that was not freed, and by the host; false: there is none. */
bool pt_history_next_live(struct pt_history *history, size_t *index, struct pt_allocation *found);
/* "made by cuMemAlloc_v2, called by main+0x12 (program) < ...", with "made" as `verb`, into
 * `text`. */
void pt_history_describe(const struct pt_history_call *call, const char *verb, char *text,
                         size_t size);

#endif
