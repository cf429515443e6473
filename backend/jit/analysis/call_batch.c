/* Operations that are calls of lane functions (backend/lanes.h) share calls: a function's latency
 * is long, so it should have many lanes to work on. Within a block, instructions of one form that
 * do not depend on each other are brought together, and all their chunks go through one call.
 */
#include "backend/jit/analysis/call_batch.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"
#include "ir/insn.h"

/* ---- order ----------------------------------------------------------------------------------- */

/* What a set of instructions reads and writes. */
struct footprint {
    uint64_t *read, *written;
    bool loads, stores;
};

struct probe {
    const struct jit_facts *a;
    struct footprint *of;
    bool collects, conflicts;
};

static void see(void *ud, uint32_t reg, bool is_def)
{
    struct probe *p = ud;
    if (p->collects && !is_def)
        jit_def_use_add_roots(p->a, reg, p->of->read);
    if (p->collects)
        jit_set_add(is_def ? p->of->written : p->of->read, reg);
    else
        p->conflicts |=
            jit_set_has(p->of->written, reg) || (is_def && jit_set_has(p->of->read, reg));
}

static void add(const struct jit_facts *a, struct footprint *of, const struct pt_insn *insn)
{
    struct probe p = {a, of, true, false};
    uint32_t effects = pt_insn_form(a->unit->m, insn)->effects;
    pt_insn_regs(a->unit->m, a->unit->f, insn, see, &p);
    of->loads |= (effects & PT_FX_READ) != 0;
    of->stores |= (effects & ~(uint32_t)(PT_FX_READ | PT_FX_FP)) != 0;
}

/* The instruction may not go before what `of` holds. */
static bool conflicts(const struct jit_facts *a, struct footprint *of, const struct pt_insn *insn)
{
    struct probe p = {a, of, false, false};
    uint32_t effects = pt_insn_form(a->unit->m, insn)->effects;
    bool loads = effects & PT_FX_READ, stores = effects & ~(uint32_t)(PT_FX_READ | PT_FX_FP);
    pt_insn_regs(a->unit->m, a->unit->f, insn, see, &p);
    return p.conflicts || (of->stores && (loads || stores)) || (of->loads && stores);
}

static struct footprint nothing(const struct jit_facts *a)
{
    size_t bytes = pt_bit_words(a->unit->f->regs.n) * sizeof(uint64_t);
    return (struct footprint){pt_arena_alloc(a->unit->arena, bytes),
                              pt_arena_alloc(a->unit->arena, bytes), false, false};
}

/* Where instructions that a batch passes by run. */
enum place { BEFORE, IN_BATCH, BEHIND };

/* The first batched instruction and all like it that can run with it; others before it, as far as
 * they can. Returns how many the batch has. */
static uint32_t find_batch(const struct jit_facts *a, const uint32_t *insns, uint32_t n,
                           uint8_t *place)
{
    uint32_t form = a->unit->f->insns.v[insns[0]].form, n_batch = 0;
    struct footprint behind = nothing(a); /* of the batch and all that is behind it */
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[insns[i]];
        bool waits = conflicts(a, &behind, insn);
        bool joins = !waits && insn->form == form && jit_insn_info_is_batched(a, insn) &&
                     (n_batch + 1) * a->copies * a->unit->width <= JIT_LANE_CALL_LANES;
        place[i] = joins ? IN_BATCH : waits || insn->form == form ? BEHIND : BEFORE;
        n_batch += joins;
        if (place[i] != BEFORE)
            add(a, &behind, insn);
    }
    return n_batch;
}

static bool meet(const struct jit_facts *a, const struct footprint *x, const struct footprint *y)
{
    bool meets = (x->stores && (y->loads || y->stores)) || (x->loads && y->stores);
    for (size_t w = 0; w < pt_bit_words(a->unit->f->regs.n) && !meets; w++)
        meets = (x->written[w] & (y->read[w] | y->written[w])) || (x->read[w] & y->written[w]);
    return meets;
}

static void clear(const struct jit_facts *a, struct footprint *of)
{
    size_t bytes = pt_bit_words(a->unit->f->regs.n) * sizeof(uint64_t);
    memset(of->read, 0, bytes);
    memset(of->written, 0, bytes);
    of->loads = of->stores = false;
}

/* What the batch does not need runs behind it: what is loaded, say, would wait in memory while the
 * function runs. */
static void put_off(const struct jit_facts *a, const uint32_t *insns, uint32_t n, uint8_t *place)
{
    struct footprint before = nothing(a), one = nothing(a); /* the batch and what it needs */
    for (uint32_t i = n; i-- > 0;) {
        const struct pt_insn *insn = &a->unit->f->insns.v[insns[i]];
        clear(a, &one);
        add(a, &one, insn);
        if (place[i] == BEFORE && !meet(a, &one, &before))
            place[i] = BEHIND;
        if (place[i] != BEHIND)
            add(a, &before, insn);
    }
}

/* Takes the first batched instruction and all like it that can run with it. insns becomes: what
 * runs before, the batch, what runs after. Returns how many are no longer to be looked at: all up
 * to the end of the batch. */
static uint32_t gather(const struct jit_facts *a, uint32_t *insns, uint32_t n)
{
    uint32_t first = 0, at = 0, done = 0;
    while (first < n && !jit_insn_info_is_batched(a, &a->unit->f->insns.v[insns[first]]))
        first++;
    if (first == n)
        return n;
    insns += first;
    n -= first;
    uint32_t *order = pt_arena_alloc(a->unit->arena, n * sizeof *order);
    uint8_t *place = pt_arena_alloc(a->unit->arena, n);
    if (find_batch(a, insns, n, place) > 1)
        put_off(a, insns, n, place);
    for (unsigned p = BEFORE; p <= BEHIND; p++) {
        for (uint32_t i = 0; i < n; i++)
            if (place[i] == p)
                order[at++] = insns[i];
        done = p == IN_BATCH ? at : done;
    }
    memcpy(insns, order, n * sizeof *order);
    return first + done;
}

void jit_call_batch_gather(const struct jit_facts *a, uint32_t *insns, uint32_t n)
{
    for (uint32_t at = 0; at < n;)
        at += gather(a, insns + at, n - at < JIT_CALL_BATCH_INSNS ? n - at : JIT_CALL_BATCH_INSNS);
}

/* ---- calls ----------------------------------------------------------------------------------- */

uint32_t jit_call_batch_length(const struct jit_facts *a, const uint32_t *insns, uint32_t n)
{
    uint32_t length = 0, room = JIT_LANE_CALL_LANES / (a->copies * a->unit->width);
    while (length < n && length < room &&
           a->unit->f->insns.v[insns[length]].form == a->unit->f->insns.v[insns[0]].form &&
           jit_insn_info_is_batched(a, &a->unit->f->insns.v[insns[length]]))
        length++;
    if (length < 2)
        return length;
    /* An instruction that needs another's result ends the batch. */
    struct footprint of = nothing(a);
    for (uint32_t i = 0; i < length; i++) {
        if (conflicts(a, &of, &a->unit->f->insns.v[insns[i]]))
            return i;
        add(a, &of, &a->unit->f->insns.v[insns[i]]);
    }
    return length;
}
