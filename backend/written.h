/* Which memory a launch has written, with what was there before, in pages: for launches that run
 * again from where they began. One thread at a time. */
#ifndef PTERA_BACKEND_WRITTEN_H
#define PTERA_BACKEND_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir/arena.h"

enum { PT_WRITTEN_PAGE = 4096, PT_WRITTEN_PIECE = 2 /* bytes of which a type is known */ };

struct pt_written_page {
    uint64_t address;
    bool is_saved;    /* `before` is there */
    bool is_compared; /* so is `after`: what the first run left */
    uint8_t before[PT_WRITTEN_PAGE], after[PT_WRITTEN_PAGE];
    /* of each piece, the floating-point type as which it was written last, in any run: enum
     * pt_type; 0: as none */
    uint8_t types[PT_WRITTEN_PAGE / PT_WRITTEN_PIECE];
};

struct pt_written {
    const struct pt_allocator *allocator;
    struct pt_written_page **slots; /* by hash; NULL: free */
    size_t n, room;                 /* room: a power of two */
    struct pt_written_page *last;   /* that was found last, or NULL */
    bool is_out_of_memory;
};

static inline size_t pt_written_slot(const struct pt_written *w, uint64_t address)
{
    size_t i = (size_t)((address / PT_WRITTEN_PAGE) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    for (i &= w->room - 1; w->slots[i] && w->slots[i]->address != address;)
        i = (i + 1) & (w->room - 1);
    return i;
}

static inline bool pt_written_grow(struct pt_written *w)
{
    enum { ROOM_FIRST = 256 };
    struct pt_written old = *w;
    size_t room = w->room ? 2 * w->room : ROOM_FIRST;
    struct pt_written_page **slots =
        w->allocator->resize(w->allocator->ud, NULL, room * sizeof(struct pt_written_page *));
    if (!slots)
        return false;
    memset(slots, 0, room * sizeof(struct pt_written_page *));
    w->slots = slots;
    w->room = room;
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i])
            w->slots[pt_written_slot(w, old.slots[i]->address)] = old.slots[i];
    if (old.slots)
        w->allocator->resize(w->allocator->ud, old.slots, 0);
    return true;
}

/* The page that begins at the address, made if there was none. NULL: there is no memory. */
static inline struct pt_written_page *pt_written_get(struct pt_written *w, uint64_t address)
{
    if (w->last && w->last->address == address)
        return w->last;
    if (w->n >= w->room / 2 && !pt_written_grow(w))
        return NULL;
    struct pt_written_page **slot = &w->slots[pt_written_slot(w, address)];
    if (!*slot) {
        struct pt_written_page *page = w->allocator->resize(w->allocator->ud, NULL, sizeof *page);
        if (!page)
            return NULL;
        page->address = address;
        page->is_saved = page->is_compared = false;
        memset(page->types, 0, sizeof page->types);
        *slot = page;
        w->n++;
    }
    return w->last = *slot;
}

static inline void pt_written_free(struct pt_written *w)
{
    for (size_t i = 0; i < w->room; i++)
        if (w->slots[i])
            w->allocator->resize(w->allocator->ud, w->slots[i], 0);
    if (w->slots)
        w->allocator->resize(w->allocator->ud, w->slots, 0);
    w->slots = NULL;
    w->n = w->room = 0;
    w->last = NULL;
}

#endif
