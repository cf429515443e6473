/* Memory is copied when the kernel is launched. Of what the kernel wrote, the copy is made anew
 * when it is over: what the host stores before is not told from the kernel's own. The last look is
 * at memory when the host waits, or asks for something else.
 *
 * No finding is made up:
 * - nothing else is under way at the launch, and what comes later begins behind the last look, so
 *   that no other operation writes in between;
 * - a kernel that may tell the host, before the last look, that it can go on, or be told by it, is
 *   left out: one with strong accesses of scope .sys, by which alone the two synchronise;
 * - bytes are compared, not words, and only those that the kernel accessed. */
#include "runtime/cuda/host_store.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/log.h"
#include "runtime/cuda/range.h"

enum { PIECES_MOST = 256 };

/* A range, or the part of it that there is room for. */
struct piece {
    uint64_t first, bytes, id;
    size_t at; /* in copies */
};

static struct {
    bool is_on, is_ended;
    uint32_t n;
    size_t bytes;
    struct piece pieces[PIECES_MOST];
    uint8_t *before, *after;             /* `after`: at the last look */
    const struct pt_footprint *accessed; /* NULL: the kernel is not over */
} watch;

/* The host may store meanwhile: that is what is looked for. */
__attribute__((no_sanitize("thread"))) static void copy(uint8_t *to, uint64_t from, uint64_t bytes)
{
    for (uint64_t n; bytes; from += n, to += n, bytes -= n) {
        n = from % 8 || bytes < 8 ? 1 : 8;
        uint64_t eight = n == 8 ? *(const volatile uint64_t *)(uintptr_t)from
                                : *(const volatile uint8_t *)(uintptr_t)from;
        memcpy(to, &eight, n);
    }
}

/* Still there, and to be read. */
static bool is_there(const struct piece *p)
{
    const struct pt_cu_range *range = pt_cu_range_find(p->first);
    return range && range->id == p->id && !range->is_shut;
}

/* Once. */
static void say_much(void)
{
    static bool is_said;
    _Static_assert(PT_CU_HOST_STORE_MOST == 4 << 20, "as is said, and in docs/findings");
    if (!is_said)
        pt_cu_log_print("ptera check race: more than 4 MiB are both the host's and kernels': what "
                        "the host stores there while a kernel is under way is looked for in 4 MiB");
    is_said = true;
}

static void add_piece(struct pt_cu_range *range, void *ud)
{
    bool *is_all = ud;
    bool is_of_both = range->memory == PT_CU_MANAGED || range->memory == PT_CU_HOST;
    if (!is_of_both || range->is_shut)
        return;
    size_t room = PT_CU_HOST_STORE_MOST - watch.bytes;
    size_t bytes = range->bytes < room ? range->bytes : room;
    if (watch.n == PIECES_MOST)
        bytes = 0;
    *is_all &= bytes == range->bytes;
    if (!bytes)
        return;
    watch.pieces[watch.n++] = (struct piece){range->first, bytes, range->id, watch.bytes};
    watch.bytes += bytes;
}

static void copy_all(uint8_t *to)
{
    for (uint32_t i = 0; i < watch.n; i++)
        if (is_there(&watch.pieces[i]))
            copy(to + watch.pieces[i].at, watch.pieces[i].first, watch.pieces[i].bytes);
}

void pt_cu_host_store_watch(void)
{
    bool is_all = true;
    pt_cu_host_store_drop();
    pt_cu_range_each(add_piece, &is_all);
    if (!is_all)
        say_much();
    watch.before = watch.n ? malloc(watch.bytes) : NULL;
    if (!watch.before) {
        pt_cu_host_store_drop();
        return;
    }
    copy_all(watch.before);
    watch.is_on = true;
}

void pt_cu_host_store_drop(void)
{
    free(watch.before);
    free(watch.after);
    watch.before = watch.after = NULL;
    watch.accessed = NULL;
    watch.n = 0;
    watch.bytes = 0;
    watch.is_on = watch.is_ended = false;
}

/* What of a run lies in a piece. False: nothing. */
static bool cut(const struct pt_footprint_run *run, const struct piece *p, uint64_t *first,
                uint64_t *end)
{
    *first = run->first > p->first ? run->first : p->first;
    *end = run->first + run->bytes;
    *end = *end < p->first + p->bytes ? *end : p->first + p->bytes;
    return *first < *end;
}

/* What the kernel wrote is as it left it, if the host has not gone on before. */
static void copy_written(const struct pt_footprint_run *run)
{
    uint64_t first, end;
    for (uint32_t k = 0; k < watch.n; k++) {
        const struct piece *p = &watch.pieces[k];
        if (!cut(run, p, &first, &end))
            continue;
        uint8_t *to = watch.before + p->at + (first - p->first);
        if (watch.is_ended)
            memcpy(to, watch.after + p->at + (first - p->first), end - first);
        else if (is_there(p))
            copy(to, first, end - first);
    }
}

void pt_cu_host_store_over(const struct pt_footprint *f)
{
    if (!watch.is_on)
        return;
    if (f->is_partial || f->is_of_system) {
        pt_cu_host_store_drop();
        return;
    }
    watch.accessed = f;
    for (size_t i = 0; i < f->n; i++)
        if (f->runs[i].use & PT_USE_WRITE)
            copy_written(&f->runs[i]);
}

void pt_cu_host_store_end(void)
{
    if (!watch.is_on || watch.is_ended)
        return;
    watch.is_ended = true;
    watch.after = malloc(watch.bytes);
    if (!watch.after) {
        pt_cu_host_store_drop();
        return;
    }
    memcpy(watch.after, watch.before, watch.bytes); /* of what is gone, nothing is said */
    copy_all(watch.after);
}

void pt_cu_host_store_tell(void (*found)(void *ud, const struct pt_footprint_run *run,
                                         uint64_t address),
                           void *ud)
{
    uint64_t first, end;
    if (!watch.accessed || !watch.is_ended)
        return;
    for (size_t i = 0; i < watch.accessed->n; i++)
        for (uint32_t k = 0; k < watch.n; k++) {
            const struct pt_footprint_run *run = &watch.accessed->runs[i];
            const struct piece *p = &watch.pieces[k];
            if (!cut(run, p, &first, &end))
                continue;
            const uint8_t *x = watch.before + p->at, *y = watch.after + p->at;
            while (first < end && x[first - p->first] == y[first - p->first])
                first++;
            if (first < end)
                found(ud, run, first);
        }
    pt_cu_host_store_drop();
}
