/* What checkers find: kept by the engine, each finding once, with how often it was seen. */
#include "runtime/finding.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "backend/observer.h"
#include "backend/shadow.h"
#include "runtime/finding_text.h"
#include "runtime/history.h"
#include "runtime/job.h"
#include "runtime/near.h"
#include "runtime/sized.h"

enum {
    FINDINGS_MAX = 1000 /* that are told apart; of more it is only known that there are some */
};

void pt_finding_init(ptera_engine *engine, const ptera_options *options)
{
    struct pt_findings *f = &engine->findings;
    const char *kernels = options->check_kernels ? options->check_kernels : "*";
    pthread_mutex_init(&f->lock, NULL);
    f->tell = options->finding;
    f->ud = options->finding_ud;
    f->skip = options->check_skip;
    f->most = options->check_count;
    snprintf(f->kernels, sizeof f->kernels, "%s", kernels);
}

bool pt_finding_may_be(const ptera_options *options)
{
    const char *kernels = options->check_kernels;
    return !kernels || strlen(kernels) < PT_FINDING_PATTERN;
}

bool pt_finding_is_mute(ptera_engine *engine, const char *kernel)
{
    struct pt_findings *f = &engine->findings;
    if (strcmp(f->kernels, "*") != 0 && fnmatch(f->kernels, kernel, 0) != 0)
        return true;
    unsigned before = atomic_fetch_add(&f->n_launches, 1);
    return before < f->skip || (f->most && before - f->skip >= f->most);
}

static void release(struct pt_found *found)
{
    struct pt_arena arena = found->arena;
    pt_arena_free(&arena);
}

void pt_finding_close(ptera_engine *engine)
{
    struct pt_findings *f = &engine->findings;
    for (uint32_t i = 0; i < f->n; i++)
        release(f->v[i]);
    pt_engine_free(engine, f->v);
    pthread_mutex_destroy(&f->lock);
}

/* ---- telling them apart ---------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, const void *bytes, size_t n) /* FNV-1a */
{
    for (size_t i = 0; i < n; i++)
        key = (key ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return key;
}

static uint64_t mix_party(uint64_t key, const struct pt_party *p)
{
    uint32_t place[] = {(uint32_t)p->who, p->func, p->insn};
    key = mix(key, place, sizeof place);
    return p->place ? mix(key, p->place, strlen(p->place)) : key;
}

static uint64_t mix_kernel(uint64_t key, const ptera_kernel *kernel)
{
    const char *name = kernel ? kernel->module->name : "";
    key = mix(key, name, strlen(name));
    return mix(key, kernel ? &kernel->func : &(uint32_t){0}, sizeof(uint32_t));
}

static uint64_t key_of(const struct pt_finding_source *from, const struct pt_finding *x)
{
    uint64_t key = mix(UINT64_C(0xcbf29ce484222325), &x->kind, sizeof x->kind);
    key = mix_kernel(key, from->kernels[0]);
    if (from->kernels[1] != from->kernels[0])
        key = mix_kernel(key, from->kernels[1]);
    return mix_party(mix_party(key, &x->by), &x->other);
}

static struct pt_found *find(const struct pt_findings *f, uint64_t key)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->v[i]->key == key)
            return f->v[i];
    return NULL;
}

static bool make_room(ptera_engine *engine)
{
    struct pt_findings *f = &engine->findings;
    if (f->n == FINDINGS_MAX)
        return false;
    if (f->n < f->room)
        return true;
    uint32_t room = f->room ? 2 * f->room : 16;
    struct pt_found **v =
        engine->allocator.resize(engine->allocator.ud, f->v, room * sizeof(struct pt_found *));
    if (!v)
        return false;
    f->v = v;
    f->room = room;
    return true;
}

/* NULL: there is no memory. */
static struct pt_found *put_into_words(ptera_engine *engine, const struct pt_finding *x,
                                       const struct pt_finding_source *from)
{
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &engine->allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        pt_arena_free(&arena);
        return NULL;
    }
    struct pt_found *found = pt_arena_alloc(&arena, sizeof *found);
    pt_finding_text_fill(found, x, from, &arena);
    arena.oom = NULL;
    found->arena = arena;
    return found;
}

static uint32_t index_of(const struct pt_findings *f, const struct pt_found *found)
{
    uint32_t i = 0;
    while (f->v[i] != found)
        i++;
    return i;
}

/* Returns its index if it was not seen before, else UINT32_MAX; *found: NULL if it is not told
 * apart. */
static uint32_t count(ptera_engine *engine, const struct pt_finding *x,
                      const struct pt_finding_source *from, struct pt_found **found)
{
    struct pt_findings *f = &engine->findings;
    uint64_t key = key_of(from, x);
    struct pt_found *entry = *found = find(f, key);
    if (entry) {
        entry->data.count++;
        return UINT32_MAX;
    }
    if (!make_room(engine) || !(entry = put_into_words(engine, x, from))) {
        f->untold++;
        return UINT32_MAX;
    }
    entry->key = key;
    entry->data.count = 1;
    entry->data.launch = from->job ? from->job->launch.grid_id : 0;
    f->v[f->n] = *found = entry;
    return f->n++;
}

/* What lies outside may have been freed, or the host's. */
static struct pt_finding refined(struct pt_job *job, const struct pt_cta *cta,
                                 const struct pt_finding *given)
{
    struct pt_finding finding = *given;
    struct pt_allocation a;
    if (given->kind != PT_FINDING_MEM_OUT_OF_BOUNDS)
        return finding;
    if (pt_history_find(job->engine->mem.history, given->by.address, &a) && a.is_freed)
        finding.kind = PT_FINDING_MEM_USE_AFTER_FREE;
    else if (pt_near_is_of_host(job, cta, given->by.address))
        finding.kind = PT_FINDING_MEM_HOST;
    return finding;
}

void pt_finding_add(const struct pt_warp *warp, const struct pt_finding *given)
{
    struct pt_job *job = pt_job_of(warp->cta->launch);
    struct pt_finding mine = refined(job, warp->cta, given), *finding = &mine;
    if (job->is_mute)
        return;
    struct pt_findings *f = &job->engine->findings;
    struct pt_found *found;
    pthread_mutex_lock(&f->lock);
    struct pt_finding_source from = {job->engine, {job->kernel, job->kernel}, warp, job};
    uint32_t index = count(job->engine, finding, &from, &found);
    bool is_new = found && found->seen_by != job->launch.grid_id;
    if (is_new) {
        found->seen_by = job->launch.grid_id;
        if (!found->data.is_note)
            atomic_fetch_add(&job->n_findings, 1);
        if (job->finding)
            job->finding(job->finding_ud, found->data.text);
        if (f->tells_launches && index == UINT32_MAX)
            index = index_of(f, found);
    } else if (!found && !pt_finding_text_kinds[finding->kind].is_note &&
               !atomic_load(&job->n_findings)) {
        atomic_store(&job->n_findings, 1);
    }
    pthread_mutex_unlock(&f->lock);
    if (index != UINT32_MAX && f->tell)
        f->tell(f->ud, index);
}

/* Of the checker of synchronisation. PT_FINDING_KINDS: it is none. */
static enum pt_finding_kind kind_of_sync(const struct pt_fault *fault)
{
    switch (fault->kind) {
    case PT_FAULT_DEADLOCK:
        return PT_FINDING_SYNC_DEADLOCK;
    case PT_FAULT_MASK:
        return PT_FINDING_SYNC_MASK;
    case PT_FAULT_BARRIER:
        return PT_FINDING_SYNC_BARRIER;
    case PT_FAULT_MBARRIER:
        return PT_FINDING_SYNC_MBARRIER;
    default:
        return PT_FINDING_KINDS;
    }
}

/* Of the checker of memory. What was found before the access is not told again. */
static enum pt_finding_kind kind_of_memory(const struct pt_job *job, const struct pt_fault *fault)
{
    switch (fault->kind) {
    case PT_FAULT_MISALIGNED:
        return PT_FINDING_MEM_MISALIGNED;
    case PT_FAULT_STACK_OVERFLOW:
    case PT_FAULT_BEYOND_LOCAL:
        return PT_FINDING_MEM_STACK;
    case PT_FAULT_INVALID_FREE:
        return PT_FINDING_MEM_INVALID_FREE;
    case PT_FAULT_ILLEGAL_ADDRESS:
        return atomic_load(&job->n_findings) ? PT_FINDING_KINDS : PT_FINDING_MEM_OUT_OF_BOUNDS;
    default:
        return PT_FINDING_KINDS;
    }
}

static void add_fault(const struct pt_warp *warp, const struct pt_fault *fault,
                      enum pt_finding_kind kind)
{
    uint32_t lane = fault->lanes ? (uint32_t)__builtin_ctz(fault->lanes) : 0;
    struct pt_finding finding = {.kind = kind,
                                 .by = pt_party_of(warp, lane, fault->func, fault->insn),
                                 .detail = fault->detail};
    finding.by.has_address = fault->has_address && fault->address != PT_ADDRESS_UNKNOWN;
    finding.by.address = fault->address;
    if (kind != PT_FINDING_KINDS)
        pt_finding_add(warp, &finding);
}

void pt_finding_add_fault(const struct pt_warp *warp, const struct pt_fault *fault)
{
    const struct pt_job *job = pt_job_of(warp->cta->launch);
    if (job->tests & PT_TEST_mem)
        add_fault(warp, fault, kind_of_memory(job, fault));
    if (job->tests & PT_TEST_sync)
        add_fault(warp, fault, kind_of_sync(fault));
}

void pt_finding_tell_launches(ptera_engine *engine)
{
    pthread_mutex_lock(&engine->findings.lock);
    engine->findings.tells_launches = true;
    pthread_mutex_unlock(&engine->findings.lock);
}

bool pt_finding_was_told(ptera_engine *engine, unsigned index, uint64_t whom)
{
    struct pt_findings *f = &engine->findings;
    pthread_mutex_lock(&f->lock);
    bool was_told = index < f->n && f->v[index]->told_to == whom;
    pthread_mutex_unlock(&f->lock);
    return was_told;
}

bool pt_finding_tell_to(ptera_engine *engine, unsigned index, uint64_t whom)
{
    struct pt_findings *f = &engine->findings;
    pthread_mutex_lock(&f->lock);
    bool is_new = index < f->n && f->v[index]->told_to != whom;
    if (is_new)
        f->v[index]->told_to = whom;
    pthread_mutex_unlock(&f->lock);
    return is_new;
}

void pt_finding_add_host(ptera_engine *engine, const struct pt_finding *finding)
{
    pt_finding_add_kernels(engine, finding, (ptera_kernel *const[2]){NULL, NULL});
}

void pt_finding_add_kernels(ptera_engine *engine, const struct pt_finding *finding,
                            ptera_kernel *const kernels[2])
{
    struct pt_findings *f = &engine->findings;
    struct pt_finding_source from = {.engine = engine, .kernels = {kernels[0], kernels[1]}};
    struct pt_found *found;
    pthread_mutex_lock(&f->lock);
    uint32_t index = count(engine, finding, &from, &found);
    pthread_mutex_unlock(&f->lock);
    if (index != UINT32_MAX && f->tell)
        f->tell(f->ud, index);
}

bool pt_finding_add_unmade(ptera_engine *engine, uint64_t from, uint64_t bytes, const char *place)
{
    struct pt_shadow *shadow = atomic_load(&engine->mem.shadow);
    uint8_t values[64];
    for (uint64_t n, at = 0; shadow && at < bytes; at += n) {
        n = bytes - at < sizeof values ? bytes - at : sizeof values;
        const uint8_t *first = pt_shadow_get(shadow, from + at, n, values)
                                   ? memchr(values, PT_SHADOW_STORED, n)
                                   : NULL;
        if (!first)
            continue;
        struct pt_finding finding = {
            .kind = PT_FINDING_INIT_HOST,
            .by = {.who = PT_PARTY_HOST,
                   .place = place,
                   .use = PT_USE_READ,
                   .has_address = true,
                   .address = from + at + (uint64_t)(first - values)},
            .detail = "a kernel stored there what was made of what nobody wrote"};
        pt_finding_add_host(engine, &finding);
        return true;
    }
    return false;
}

/* ---- as data --------------------------------------------------------------------------------- */

ptera_result ptera_engine_finding(const ptera_engine *engine, unsigned index,
                                  ptera_finding *finding)
{
    if (!engine || !finding)
        return PTERA_ERROR_INVALID_ARGUMENT;
    ptera_finding mine;
    struct pt_findings *f = (struct pt_findings *)(uintptr_t)&engine->findings;
    pthread_mutex_lock(&f->lock);
    bool is_there = index < f->n;
    if (is_there)
        mine = f->v[index]->data;
    pthread_mutex_unlock(&f->lock);
    return is_there ? PT_GIVE(finding, mine) : PTERA_ERROR_NOT_FOUND;
}

ptera_result ptera_engine_finding_party(const ptera_engine *engine, unsigned index, unsigned which,
                                        ptera_party *party)
{
    if (!engine || !party)
        return PTERA_ERROR_INVALID_ARGUMENT;
    ptera_party mine;
    struct pt_findings *f = (struct pt_findings *)(uintptr_t)&engine->findings;
    pthread_mutex_lock(&f->lock);
    bool is_there = index < f->n && which < f->v[index]->data.parties;
    if (is_there)
        mine = f->v[index]->parties[which];
    pthread_mutex_unlock(&f->lock);
    return is_there ? PT_GIVE(party, mine) : PTERA_ERROR_NOT_FOUND;
}

ptera_result ptera_finding_kind_get(unsigned index, ptera_finding_kind *kind)
{
    if (!kind)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (index >= PT_FINDING_KINDS)
        return PTERA_ERROR_NOT_FOUND;
    ptera_finding_kind mine = pt_finding_text_kinds[index];
    return PT_GIVE(kind, mine);
}
