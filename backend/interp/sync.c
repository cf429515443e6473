/* Checked launches: lanes that synchronise in ways that the PTX ISA leaves undefined, where the
 * machine goes on. What it does not go on from is a fault, which the runtime makes a finding. */
#include <stdio.h>

#include "backend/interp/state.h"
#include "backend/observer.h"

enum { WORDS = 160 };

static void see_misused(const struct pt_event *e, enum pt_misuse what, uint32_t others)
{
    static const struct {
        enum pt_finding_kind kind;
        const char *format;
    } texts[] = {
        [PT_MISUSE_PASSED] =
            {PT_FINDING_SYNC_DIVERGENT,
             "lanes 0x%08x of the warp come to the aligned barrier, 0x%08x do not"},
        [PT_MISUSE_MASKS] =
            {PT_FINDING_SYNC_MASK,
             "the member mask of lanes 0x%08x names lanes 0x%08x, whose masks differ"},
        [PT_MISUSE_CALLER] = {PT_FINDING_SYNC_MASK,
                              "the member mask of lanes 0x%08x leaves them out"},
    };
    char words[WORDS];
    snprintf(words, sizeof words, texts[what].format, e->lanes, others);
    struct pt_finding finding = {
        .kind = texts[what].kind,
        .by = pt_party_of(e->warp, (uint32_t)__builtin_ctz(e->lanes), e->func, e->insn),
        .detail = words};
    e->warp->cta->launch->services->found(e->warp, &finding);
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_sync) = {.name = "sync", .misused = see_misused};
