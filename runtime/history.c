/* What became of memory: which call made an allocation, which freed it, and from where. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/history.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ir/arena.h"

enum { ALLOCATIONS_MAX = 1 << 16 };

struct pt_history {
    const struct pt_allocator *allocator;
    pthread_mutex_t lock;
    struct pt_allocation *v; /* in the order in which they were made, a ring once it is full */
    size_t n, room, oldest;
};

static _Thread_local const char *current_call;

void pt_history_enter(const char *call)
{
    current_call = call;
}

struct pt_history *pt_history_new(const struct pt_allocator *allocator)
{
    struct pt_history *h = allocator->resize(allocator->ud, NULL, sizeof *h);
    if (!h)
        return NULL;
    memset(h, 0, sizeof *h);
    h->allocator = allocator;
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void pt_history_free(struct pt_history *h)
{
    if (!h)
        return;
    pthread_mutex_destroy(&h->lock);
    if (h->v)
        h->allocator->resize(h->allocator->ud, h->v, 0);
    h->allocator->resize(h->allocator->ud, h, 0);
}

/* Room for one more; without memory, and beyond the most, that of the oldest. */
static struct pt_allocation *make_room(struct pt_history *h)
{
    if (h->n == h->room && h->room < ALLOCATIONS_MAX) {
        size_t room = h->room ? 2 * h->room : 64;
        void *v = h->allocator->resize(h->allocator->ud, h->v, room * sizeof *h->v);
        h->v = v ? v : h->v;
        h->room = v ? room : h->room;
    }
    if (h->n < h->room)
        return &h->v[h->n++];
    if (!h->n)
        return NULL;
    size_t oldest = h->oldest;
    h->oldest = (h->oldest + 1) % h->n;
    return &h->v[oldest];
}

void pt_history_now(struct pt_history_call *call)
{
    *call = (struct pt_history_call){.name = current_call ? current_call : "the host"};
    int n = current_call ? backtrace(call->frames, PT_HISTORY_FRAMES) : 0;
    call->n_frames = n > 0 ? (unsigned)n : 0;
}

static struct pt_history_call call_now(bool is_kernel)
{
    struct pt_history_call call = {0};
    if (!is_kernel)
        pt_history_now(&call);
    return call;
}

/* The latest that began at `address`, or, with `holds`, that has it. */
static struct pt_allocation *latest(struct pt_history *h, uint64_t address, bool holds)
{
    for (size_t i = h->n; i-- > 0;) {
        struct pt_allocation *a = &h->v[(h->oldest + i) % h->n];
        if (holds ? address - a->address < a->bytes : address == a->address)
            return a;
    }
    return NULL;
}

void pt_history_add(struct pt_history *h, uint64_t address, uint64_t bytes, bool is_kernel)
{
    if (!h)
        return;
    struct pt_history_call call = call_now(is_kernel);
    pthread_mutex_lock(&h->lock);
    struct pt_allocation *a = make_room(h);
    if (a)
        *a = (struct pt_allocation){.address = address, .bytes = bytes, .made = call};
    pthread_mutex_unlock(&h->lock);
}

void pt_history_end(struct pt_history *h, uint64_t address, bool is_kernel)
{
    if (!h)
        return;
    struct pt_history_call call = call_now(is_kernel);
    pthread_mutex_lock(&h->lock);
    struct pt_allocation *a = latest(h, address, false);
    if (a && !a->is_freed) {
        a->is_freed = true;
        a->freed = call;
    }
    pthread_mutex_unlock(&h->lock);
}

bool pt_history_find(struct pt_history *h, uint64_t address, struct pt_allocation *found)
{
    if (!h)
        return false;
    pthread_mutex_lock(&h->lock);
    const struct pt_allocation *a = latest(h, address, true);
    if (a)
        *found = *a;
    pthread_mutex_unlock(&h->lock);
    return a;
}

bool pt_history_next_live(struct pt_history *h, size_t *index, struct pt_allocation *found)
{
    bool is_there = false;
    pthread_mutex_lock(&h->lock);
    for (; !is_there && *index < h->n; ++*index) {
        const struct pt_allocation *a = &h->v[*index];
        is_there = !a->is_freed && a->made.name;
        if (is_there)
            *found = *a;
    }
    pthread_mutex_unlock(&h->lock);
    return is_there;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Frames of the library itself say nothing to its user. */
static bool is_of_library(const Dl_info *info)
{
    static Dl_info mine;
    if (!mine.dli_fbase && !dladdr((void *)pt_history_enter, &mine))
        return false;
    return info->dli_fbase == mine.dli_fbase;
}

void pt_history_describe(const struct pt_history_call *call, const char *verb, char *text,
                         size_t size)
{
    int n = snprintf(text, size, "%s by %s", verb, call->name ? call->name : "a kernel");
    const char *comma = ", called by ";
    for (unsigned i = 0; i < call->n_frames && n > 0 && (size_t)n < size; i++) {
        Dl_info info;
        if (!dladdr(call->frames[i], &info) || is_of_library(&info))
            continue;
        const char *base = info.dli_saddr ? info.dli_saddr : info.dli_fbase;
        n += snprintf(text + n, size - (size_t)n, "%s%s+0x%zx (%s)", comma,
                      info.dli_sname ? info.dli_sname : "?",
                      (size_t)((char *)call->frames[i] - base), base_name(info.dli_fname));
        comma = " < ";
    }
}
