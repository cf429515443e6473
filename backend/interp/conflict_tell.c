/* Races in words: who else, with what values, and which order is missing. */
#include "backend/interp/conflict.h"

#include <stdio.h>

#include "backend/interp/address.h"

/* ---- what a lane knows ----------------------------------------------------------------------- */

static bool is_known(const struct pt_conflict *a, uint32_t lane, uint64_t stamp, uint32_t other)
{
    return pt_causality_knows(a->launch, a->warp, lane, pt_stamp_warp(stamp), other,
                              pt_stamp_time(stamp));
}

uint32_t pt_conflict_other(const struct pt_conflict *a, uint32_t lane, uint64_t stamp)
{
    uint32_t low = pt_stamp_low(stamp), high = pt_stamp_high(stamp);
    bool low_known = is_known(a, lane, stamp, low), high_known = is_known(a, lane, stamp, high);
    if (!(stamp >> PT_STAMP_IS_SPREAD & 1))
        return !low_known ? low : !high_known ? high : PT_WARP_SIZE;
    bool is_inside = pt_stamp_warp(stamp) == a->warp->number && low <= lane && lane <= high;
    return low_known || high_known || is_inside ? PT_WARP_SIZE : low;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* What lies in kernel memory, which another access has touched. */
PT_ACCESS static void read_memory(uint64_t address, uint32_t n, uint8_t *bytes)
{
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = *(const volatile uint8_t *)(uintptr_t)(address + i);
}

/* What the lane is about to write. */
static void read_slot(const struct pt_conflict *a, uint32_t lane, uint8_t *bytes)
{
    if (a->data)
        memcpy(bytes, a->data + (size_t)lane * a->bytes, a->bytes);
    else if (a->code->aux & PT_ADDRESS_VECTOR)
        pt_load_store_bytes(a->code, a->frame, lane, bytes);
    else
        memcpy(bytes, (const char *)a->frame + a->code->o[0] + (size_t)lane * a->width, a->bytes);
}

static uint64_t value_of(const uint8_t *bytes, uint32_t n)
{
    uint64_t value = 0;
    memcpy(&value, bytes, n < sizeof value ? n : sizeof value);
    return value;
}

static uint32_t line_of(const struct pt_conflict *a, uint32_t site)
{
    const struct pt_site *s = &a->launch->cells.sites[site];
    const struct pt_module *m = a->frame->state->program->base.image->module;
    return site && s->func ? m->funcs.v[s->func - 1].insns.v[s->insn].line : 0;
}

/* Numbers of a thread to its indices. */
static struct pt_party party_of(const struct pt_conflict *a, uint32_t warp, uint32_t lane,
                                uint32_t site)
{
    const struct pt_launch *l = a->frame->cta->launch;
    const struct pt_site *s = &a->launch->cells.sites[site];
    struct pt_party party = {.who = PT_PARTY_THREAD,
                             .func = site && s->func ? s->func - 1 : a->frame->body->index,
                             .insn = site && s->func ? s->insn : UINT32_MAX};
    pt_party_number(&party, l, warp, lane);
    return party;
}

static const char *name_of(enum pt_scope scope)
{
    static const char *const names[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
    return names[scope];
}

static const char *whose(const struct pt_conflict *a, uint32_t warp)
{
    return warp == a->warp->number ? "the same warp"
           : warp / a->launch->clocks.n_warps == a->warp->number / a->launch->clocks.n_warps
               ? "the same CTA"
           : warp / a->cluster->n_warps == a->warp->number / a->cluster->n_warps
               ? "another CTA of the cluster"
               : "another CTA";
}

enum { WORDS = 256, BYTES_MAX = 64 };

/* A release that the reader saw, and that orders nothing. False: there was none of those. */
static bool explain_missed(const struct pt_conflict *a, uint64_t stamp, char words[WORDS])
{
    const struct pt_missed *m = &a->warp->missed;
    uint32_t n = a->launch->clocks.n_warps, line = line_of(a, m->writer.site);
    uint32_t reader = line_of(a, m->reader.site);
    if (m->why == PT_MISSED_NOTHING ||
        (!m->is_mixed && m->writer.warp / n != pt_stamp_warp(stamp) / n))
        return false;
    switch (m->why) {
    case PT_MISSED_RELEASE:
        snprintf(words, WORDS,
                 "the write at line %u that line %u reads is relaxed, and no fence stands before "
                 "it: it releases nothing",
                 line, reader);
        return true;
    case PT_MISSED_RELEASE_SCOPE:
        snprintf(words, WORDS,
                 "the release at line %u has scope %s, the reader at line %u is in %s", line,
                 name_of(m->scope), reader, whose(a, m->writer.warp));
        return true;
    case PT_MISSED_ACQUIRE_SCOPE:
        snprintf(words, WORDS,
                 "the acquire behind line %u has scope %s, the releaser at line %u is in %s",
                 reader, name_of(m->scope), line, whose(a, m->writer.warp));
        return true;
    default:
        snprintf(words, WORDS,
                 "the read at line %u of what line %u releases is relaxed, and no fence stands "
                 "behind it: it acquires nothing",
                 reader, line);
        return true;
    }
}

static void explain(const struct pt_conflict *a, uint64_t stamp, char words[WORDS])
{
    enum pt_scope theirs =
        (enum pt_scope)pt_stamp_field(stamp, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS);
    uint32_t other = pt_stamp_warp(stamp);
    if (a->scope && theirs) {
        bool is_mine =
            !pt_causality_includes(a->launch, a->cluster, a->scope, a->warp->number, other);
        snprintf(words, WORDS, "both are strong, but scope %s of %s leaves out a thread in %s",
                 name_of(is_mine ? a->scope : theirs), is_mine ? "this one" : "the other",
                 whose(a, other));
    } else if (!explain_missed(a, stamp, words)) {
        bool is_warp = other == a->warp->number;
        snprintf(words, WORDS, "nothing orders them, of threads in %s: %s%s", whose(a, other),
                 is_warp ? "bar.warp.sync (__syncwarp), "
                 : other / a->cluster->n_warps != a->warp->number / a->cluster->n_warps
                     ? "a release and an acquire of scope .gpu"
                 : other / a->launch->clocks.n_warps == a->warp->number / a->launch->clocks.n_warps
                     ? "bar.sync (__syncthreads), "
                     : "barrier.cluster, ",
                 is_warp || other / a->cluster->n_warps == a->warp->number / a->cluster->n_warps
                     ? "or a release and an acquire, is missing"
                     : " are missing");
    }
}

static uint32_t use_of(uint64_t stamp, enum pt_cell_stamp which)
{
    bool is_write = which == PT_CELL_WRITE || stamp >> PT_STAMP_IS_WRITE & 1;
    return !is_write                         ? PT_USE_READ
           : stamp >> PT_STAMP_IS_ATOMIC & 1 ? PT_USE_WRITE | PT_USE_ATOMIC
                                             : PT_USE_WRITE;
}

static bool is_there(const struct pt_conflict *a, const struct pt_word *w, uint32_t lane)
{
    return a->address[lane] < w->address + 4 && w->address < a->address[lane] + a->bytes;
}

/* True if the stamp, of lane `other`, may be of this very instruction. */
static bool is_of_now(const struct pt_conflict *a, const struct pt_word *w, uint64_t stamp,
                      uint32_t other)
{
    return pt_stamp_warp(stamp) == a->warp->number &&
           pt_stamp_time(stamp) == pt_stamp_time(a->stamp) &&
           pt_cell_site(w->cell, PT_CELL_WRITE) == a->site && a->lanes >> other & 1;
}

/* A lane that writes there in this very instruction: that which is told of, as single lanes of the
 * upper half are seen before those of the lower, or a lower one; PT_WARP_SIZE: none. */
static uint32_t find_twin(const struct pt_conflict *a, const struct pt_word *w, uint64_t stamp,
                          uint32_t other)
{
    if (other > w->lane && is_of_now(a, w, stamp, other) && is_there(a, w, other))
        return other;
    for (uint32_t left = a->lanes & ((1u << w->lane) - 1); left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (is_there(a, w, i))
            return i;
    }
    return PT_WARP_SIZE;
}

/* The values of both, as far as they are known. Returns true if they are, and are the same. */
static bool set_values(const struct pt_conflict *a, const struct pt_word *w, uint32_t twin,
                       struct pt_finding *finding)
{
    uint8_t mine[BYTES_MAX], theirs[BYTES_MAX];
    bool is_write = a->use & PT_USE_WRITE;
    bool is_told = a->data || a->width >= a->bytes || a->width >= 4;
    bool is_twin = twin < PT_WARP_SIZE;
    if (a->bytes > BYTES_MAX)
        return false;
    finding->by.has_value = a->bytes <= 8 && (!is_write || is_told);
    finding->other.has_value = a->bytes <= 8 && (!is_twin || is_told);
    if (is_twin && is_told)
        read_slot(a, twin, theirs);
    else if (!is_twin)
        read_memory(a->address[w->lane], a->bytes, theirs);
    if (is_write && is_told)
        read_slot(a, w->lane, mine);
    if (finding->other.has_value)
        finding->other.value = value_of(theirs, a->bytes);
    if (finding->by.has_value)
        finding->by.value = value_of(is_write ? mine : theirs, a->bytes);
    return is_write && is_told && !memcmp(mine, theirs, a->bytes) &&
           (!is_twin || a->address[twin] == a->address[w->lane]);
}

void pt_conflict_tell(const struct pt_conflict *a, const struct pt_word *w,
                      enum pt_cell_stamp which, uint32_t other)
{
    uint64_t stamp = pt_cell_stamp(w->cell, which);
    bool is_write = a->use & PT_USE_WRITE;
    uint32_t twin =
        is_write && which == PT_CELL_WRITE ? find_twin(a, w, stamp, other) : PT_WARP_SIZE;
    char words[WORDS];
    struct pt_finding finding = {
        .kind = PT_FINDING_RACE,
        .by = party_of(a, a->warp->number, w->lane, a->site),
        .other = party_of(a, pt_stamp_warp(stamp), other, pt_cell_site(w->cell, which)),
        .detail = words};
    finding.by.use = is_write ? a->use & ~(uint32_t)PT_USE_READ : a->use;
    finding.other.use = use_of(stamp, which);
    finding.by.has_address = finding.other.has_address = true;
    finding.by.address = finding.other.address = a->address[w->lane];
    finding.by.bytes = finding.other.bytes = a->bytes;
    bool is_same = set_values(a, w, twin, &finding) && which == PT_CELL_WRITE;
    bool is_made = a->width == PT_CONFLICT_SAME && which == PT_CELL_WRITE &&
                   pt_cell_site(w->cell, which) == a->site;
    if ((twin < PT_WARP_SIZE && is_same) || is_made)
        return; /* one write, whichever thread's it is */
    if (is_same) {
        finding.kind = PT_FINDING_RACE_SAME_VALUE;
        finding.detail = "both write the same value, in no order: benign as long as they do";
    } else {
        explain(a, stamp, words);
    }
    a->frame->cta->launch->services->found(a->frame->state->warp, &finding);
}

void pt_conflict_tell_proxy(const struct pt_conflict *a, const struct pt_word *w, uint32_t other)
{
    uint64_t stamp = pt_cell_stamp(w->cell, PT_CELL_WRITE);
    struct pt_finding finding = {
        .kind = PT_FINDING_RACE_PROXY,
        .by = party_of(a, a->warp->number, w->lane, a->site),
        .other = party_of(a, pt_stamp_warp(stamp), other, pt_cell_site(w->cell, PT_CELL_WRITE)),
        .detail = "the operation is of the async proxy, and no fence.proxy.async stands between"};
    finding.by.use = a->use;
    finding.other.use = use_of(stamp, PT_CELL_WRITE);
    finding.by.has_address = finding.other.has_address = true;
    finding.by.address = finding.other.address = w->address;
    a->frame->cta->launch->services->found(a->frame->state->warp, &finding);
}

void pt_conflict_tell_map(const struct pt_conflict *a, uint32_t lane, uint64_t address,
                          const struct pt_doer *writer)
{
    struct pt_finding finding = {
        .kind = PT_FINDING_RACE_PROXY,
        .by = party_of(a, a->warp->number, lane, a->site),
        .other = party_of(a, writer->warp, writer->lane, writer->site),
        .detail = "the kernel wrote the tensor map, and no fence.proxy.tensormap::generic.acquire "
                  "of it that the thread knows of stands between"};
    finding.by.use = PT_USE_READ;
    finding.other.use = PT_USE_WRITE;
    finding.by.has_address = finding.other.has_address = true;
    finding.by.address = finding.other.address = address;
    a->frame->cta->launch->services->found(a->frame->state->warp, &finding);
}

void pt_conflict_tell_end(const struct pt_conflict *a, const struct pt_doer *by, uint64_t address,
                          const struct pt_doer *last)
{
    struct pt_finding finding = {
        .kind = PT_FINDING_RACE_EXIT,
        .by = party_of(a, by->warp, by->lane, by->site),
        .other = party_of(a, last->warp, last->lane, last->site),
        .detail =
            "the last thread of the CTA whose shared memory that is exits, and nothing orders "
            "the access before: a barrier.cluster behind the last access is missing"};
    finding.by.has_address = true;
    finding.by.address = address;
    a->frame->cta->launch->services->found(a->frame->state->warp, &finding);
}

void pt_conflict_tell_constant(const struct pt_conflict *a, const struct pt_word *w)
{
    uint64_t stamp = pt_cell_stamp(w->cell, PT_CELL_WRITE);
    struct pt_finding finding = {
        .kind = PT_FINDING_RACE_READ_ONLY,
        .by = party_of(a, a->warp->number, w->lane, a->site),
        .other = party_of(a, pt_stamp_warp(stamp), pt_stamp_low(stamp),
                          pt_cell_site(w->cell, PT_CELL_WRITE)),
        .detail =
            "memory that ld.global.nc (__ldg) reads must not be written while the kernel runs, "
            "whatever orders the two"};
    finding.by.use = a->use;
    finding.other.use = use_of(stamp, PT_CELL_WRITE);
    finding.by.has_address = finding.other.has_address = true;
    finding.by.address = finding.other.address = a->address[w->lane];
    finding.by.bytes = finding.other.bytes = a->bytes;
    a->frame->cta->launch->services->found(a->frame->state->warp, &finding);
}
