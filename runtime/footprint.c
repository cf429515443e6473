/* What an operation accessed. */
#include "runtime/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/job.h"

/* Room for one more in an array. False: there is none. */
static bool make_room(struct pt_footprint *f, void **v, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return true;
    size_t more = *room ? 2 * *room : 16;
    bool fits = f->bytes + (more - *room) * size <= PT_FOOTPRINT_MOST;
    void *larger = fits ? f->allocator->resize(f->allocator->ud, *v, more * size) : NULL;
    f->is_partial |= !larger;
    if (!larger)
        return false;
    f->bytes += (more - *room) * size;
    *v = larger;
    *room = more;
    return true;
}

/* True if the run goes on where the last one ends, by the same thread or the next. */
static bool extend(struct pt_footprint_run *last, const struct pt_footprint_run *run)
{
    bool is_alike = last->func == run->func && last->insn == run->insn && last->use == run->use &&
                    last->scope == run->scope && last->first + last->bytes == run->first;
    if (!is_alike)
        return false;
    uint64_t per = last->per ? last->per : run->thread == last->thread ? 0 : last->bytes;
    if (run->thread != last->thread + (per ? last->bytes / per : 0))
        return false;
    last->per = per;
    last->bytes += run->bytes;
    return true;
}

void pt_footprint_add(struct pt_footprint *f, const struct pt_footprint_run *run)
{
    if (!run->bytes || (f->n && extend(&f->runs[f->n - 1], run)))
        return;
    void *runs = f->runs;
    if (!make_room(f, &runs, f->n, &f->room, sizeof *f->runs))
        return;
    f->runs = runs;
    f->runs[f->n++] = *run;
}

void pt_footprint_add_release(struct pt_footprint *f, uint64_t address)
{
    void *releases = f->releases;
    if (!make_room(f, &releases, f->n_releases, &f->room_releases, sizeof *f->releases))
        return;
    f->releases = releases;
    f->releases[f->n_releases++] = address;
}

static void add_touched(void *ud, const struct pt_touched *t)
{
    struct pt_footprint *f = ud;
    if (!t->use && t->scope == PT_SCOPE_SYS)
        f->is_of_system = true;
    else if (!t->use)
        pt_footprint_add_release(f, t->address);
    for (uint32_t n, left = t->use ? t->bytes : 0; left; left &= left + (left & -left)) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        n = (uint32_t)__builtin_ctz(~(left >> first));
        pt_footprint_add(
            f, &(struct pt_footprint_run){.first = t->address + first,
                                          .bytes = n,
                                          .thread = (uint64_t)t->warp * PT_WARP_SIZE + t->lane,
                                          .func = t->func,
                                          .insn = t->insn,
                                          .use = t->use,
                                          .scope = t->scope});
    }
}

void pt_footprint_take(struct pt_footprint *f, const struct pt_job *job)
{
    const struct pt_observer *const *observers = job->launch.program->engine->observers;
    for (uint32_t i = 0; i < PT_OBSERVERS; i++)
        if (job->launch.program->tests & (uint32_t)PT_TEST_OBSERVER << i && observers[i]->touched)
            f->is_partial |= !observers[i]->touched(&job->launch, add_touched, f);
}

static int compare_runs(const void *a, const void *b)
{
    const struct pt_footprint_run *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void pt_footprint_sort(struct pt_footprint *f)
{
    if (f->n)
        qsort(f->runs, f->n, sizeof *f->runs, compare_runs);
    if (f->n_releases)
        qsort(f->releases, f->n_releases, sizeof *f->releases, compare_addresses);
}

void pt_footprint_cut(struct pt_footprint *f, uint64_t address, uint64_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->runs[i].first + f->runs[i].bytes <= address || address + bytes <= f->runs[i].first)
            f->runs[n++] = f->runs[i];
    f->n = n;
}

void pt_footprint_free(struct pt_footprint *f)
{
    if (f->runs)
        f->allocator->resize(f->allocator->ud, f->runs, 0);
    if (f->releases)
        f->allocator->resize(f->allocator->ud, f->releases, 0);
    *f = (struct pt_footprint){.allocator = f->allocator};
}

bool pt_footprint_meet(const struct pt_footprint *a, const struct pt_footprint *b,
                       bool (*meet)(void *ud, const struct pt_footprint_run *a,
                                    const struct pt_footprint_run *b),
                       void *ud)
{
    for (size_t i = 0, begin = 0; i < a->n; i++) {
        const struct pt_footprint_run *x = &a->runs[i];
        while (begin < b->n && b->runs[begin].first + b->runs[begin].bytes <= x->first)
            begin++;
        for (size_t k = begin; k < b->n && b->runs[k].first < x->first + x->bytes; k++)
            if (b->runs[k].first + b->runs[k].bytes > x->first && meet(ud, x, &b->runs[k]))
                return true;
    }
    return false;
}

static bool is_released(const struct pt_footprint *f, uint64_t first, uint64_t bytes)
{
    for (uint64_t at = first & ~UINT64_C(3); at < first + bytes; at += 4)
        if (bsearch(&at, f->releases, f->n_releases, sizeof at, compare_addresses))
            return true;
    return false;
}

bool pt_footprint_passes(const struct pt_footprint *from, const struct pt_footprint *to)
{
    for (size_t i = 0; from->n_releases && i < to->n; i++) {
        const struct pt_footprint_run *x = &to->runs[i];
        if (x->scope >= PT_SCOPE_GPU && is_released(from, x->first, x->bytes))
            return true;
    }
    return false;
}
