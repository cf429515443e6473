/* Loads of shared memory through one address, a few elements from each other, as those of a
 * stencil. Each would take vectors that lie across two of those that lanes have stored, which are
 * not there for loads until the machine has taken them to its cache, behind all that was stored
 * before. So vectors are loaded as they were stored, each once, and all others are made of two of
 * them.
 */
#include "backend/jit/memory/overlapping_loads.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"
#include "backend/order.h"
#include "ir/insn.h"

enum { VECTORS = JIT_COPIES + 4 };

struct jit_overlap {
    struct jit_overlap *next;
    uint32_t insns[JIT_OVERLAP_LOADS], n;
    struct jit_access first;
    int64_t lowest, highest;       /* offsets */
    int64_t origin;                /* of the first vector, which may begin before the lowest */
    LLVMValueRef vectors[VECTORS]; /* NULL: part of it is not loaded */
};

/* ---- what overlaps --------------------------------------------------------------------------- */

static int64_t vector_bytes(const struct jit *j, const struct jit_access *a)
{
    return (int64_t)a->bytes * j->unit->width;
}

/* Moves cost less than the loads: of vectors of 16 bytes few cross a line, and elements of 8 bytes
 * take two registers a vector, of which there are to be many then. */
static bool pays(const struct jit *j, unsigned bytes)
{
    return j->unit->cpu->vector_bytes > 16 &&
           (bytes == 4 || (bytes == 8 && j->unit->cpu->vector_registers >= 32));
}

/* The instruction accesses shared memory, lanes side by side in all chunks. */
static bool is_contiguous(const struct jit *j, uint32_t insn, struct jit_access *a)
{
    int64_t stride;
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    if (at.form->op != PT_OP_ld && at.form->op != PT_OP_st)
        return false;
    return jit_access_try_describe(&at, a) && a->space == PT_SPACE_SHARED &&
           a->order == PT_ORDER_PLAIN && a->n == 1 && pays(j, a->bytes) &&
           a->base->kind == PT_OPND_REG && !jit_def_use_is_per_copy(j->facts, a->base) &&
           jit_def_use_shape(j->facts, a->base, &stride) == JIT_AFFINE && stride == a->bytes;
}

static bool may_overlap(const struct jit *j, uint32_t insn, struct jit_access *a)
{
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    return is_contiguous(j, insn, a) && a->is_load && !at.insn->guard && jit_access_is_trusted(&at);
}

struct change {
    uint32_t reg;
    bool is_seen;
};

static void see(void *ud, uint32_t reg, bool is_def)
{
    struct change *c = ud;
    c->is_seen |= is_def && reg == c->reg;
}

/* Behind the instruction memory, or the address, is another. */
static bool ends_reach(const struct jit *j, const struct pt_insn *insn, uint32_t base)
{
    struct change c = {base, false};
    pt_insn_regs(j->unit->m, j->unit->f, insn, see, &c);
    return c.is_seen ||
           (pt_insn_form(j->unit->m, insn)->effects & ~(uint32_t)(PT_FX_READ | PT_FX_FP));
}

/* Where a vector begins that lanes have stored: of the stores through the address, or else the
 * lowest load. */
static int64_t find_phase(const struct jit *j, const struct jit_overlap *o)
{
    struct jit_access a;
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++)
        if (is_contiguous(j, i, &a) && !a.is_load && a.bytes == o->first.bytes &&
            a.base->index == o->first.base->index)
            return a.base->imm;
    return o->lowest;
}

static void add(struct jit_overlap *o, uint32_t insn, int64_t offset)
{
    o->insns[o->n++] = insn;
    o->lowest = o->n == 1 || offset < o->lowest ? offset : o->lowest;
    o->highest = o->n == 1 || offset > o->highest ? offset : o->highest;
}

/* Together they load a stretch without gaps, and enough of them begin within a stored vector. */
static bool is_worth_it(const struct jit *j, struct jit_overlap *o)
{
    struct jit_access a;
    unsigned n_within = 0;
    int64_t bytes = vector_bytes(j, &o->first), before = (o->lowest - find_phase(j, o)) % bytes;
    o->origin = o->lowest - (before < 0 ? before + bytes : before);
    for (uint32_t i = 0; i < o->n; i++) {
        is_contiguous(j, o->insns[i], &a);
        n_within += (a.base->imm - o->origin) % bytes != 0;
    }
    return n_within >= JIT_OVERLAP_LOADS_LEAST &&
           o->highest - o->lowest <= bytes * j->facts->copies &&
           (o->highest - o->origin) / bytes + j->facts->copies + 1 < VECTORS;
}

/* Those that overlap with the first of the instructions. */
static bool gather(const struct jit *j, const uint32_t *insns, uint32_t n, struct jit_overlap *o)
{
    struct jit_access a;
    *o = (struct jit_overlap){0};
    if (!may_overlap(j, insns[0], &o->first))
        return false;
    add(o, insns[0], o->first.base->imm);
    for (uint32_t i = 1; i < n && i < JIT_OVERLAP_INSNS && o->n < JIT_OVERLAP_LOADS; i++) {
        if (ends_reach(j, &j->unit->f->insns.v[insns[i - 1]], o->first.base->index))
            break;
        if (may_overlap(j, insns[i], &a) && a.bytes == o->first.bytes &&
            a.base->index == o->first.base->index && (a.base->imm - o->lowest) % a.bytes == 0)
            add(o, insns[i], a.base->imm);
    }
    return o->n >= JIT_OVERLAP_LOADS_LEAST && is_worth_it(j, o);
}

static struct jit_overlap *overlap_of(const struct jit *j, uint32_t insn)
{
    for (struct jit_overlap *o = j->overlaps; o; o = o->next)
        for (unsigned i = 0; i < o->n; i++)
            if (o->insns[i] == insn)
                return o;
    return NULL;
}

void jit_overlapping_loads_find(struct jit *j, const uint32_t *insns, uint32_t n)
{
    struct jit_overlap o;
    for (uint32_t i = 0; i < n; i++) {
        if (overlap_of(j, insns[i]) || !gather(j, insns + i, n - i, &o))
            continue;
        o.next = j->overlaps;
        j->overlaps = pt_arena_alloc(j->unit->arena, sizeof o);
        *j->overlaps = o;
    }
}

/* ---- the loads ------------------------------------------------------------------------------- */

/* All lanes of all chunks load. */
static bool loads_all(const struct jit *j)
{
    for (unsigned u = 0; u < j->facts->copies; u++)
        if (j->mask[u])
            return false;
    return j->first_copy == 0 && j->end_copy == j->facts->copies;
}

/* Those vectors of which the loads touch every byte: no other page is. */
static void load_vectors(const struct jit *j, struct jit_overlap *o)
{
    struct jit_access a = o->first;
    struct pt_operand base = *a.base;
    int64_t bytes = vector_bytes(j, &a), end = o->highest + bytes * j->facts->copies;
    a.base = &base;
    base.imm = o->origin;
    for (unsigned i = 0; base.imm + bytes <= end; i++, base.imm += bytes) {
        if (base.imm < o->lowest)
            continue;
        LLVMValueRef pointer = jit_access_pointer(j, &a, jit_access_address(j, &a, 0, 1));
        jit_contiguous_load(j, &a, pointer, NULL, &o->vectors[i]);
    }
}

/* Lanes from `from` on of two vectors, the second behind the first. */
static LLVMValueRef take_across(const struct jit *j, LLVMValueRef x, LLVMValueRef y, unsigned from)
{
    int lanes[64] = {0};
    for (unsigned i = 0; i < j->unit->width; i++)
        lanes[i] = (int)(from + i);
    return jit_shuffle(j, x, y, lanes, j->unit->width);
}

/* Vectors of two halves, where the machine moves lanes within those: first the halves, which others
 * want as well. LLVM finds longer ways. */
static LLVMValueRef take_by_halves(const struct jit *j, LLVMValueRef x, LLVMValueRef y,
                                   unsigned from)
{
    int lanes[64] = {0}, half = (int)j->unit->width / 2, within = (int)from % half;
    LLVMValueRef middle = take_across(j, x, y, (unsigned)half);
    if (!within)
        return middle;
    /* the second vector's numbers are those behind the first's */
    for (int i = 0; i < 2 * half; i++)
        lanes[i] = i % half + within < half ? i + within : i + within + half;
    bool is_late = (int)from > half;
    return jit_shuffle(j, is_late ? middle : x, is_late ? y : middle, lanes, j->unit->width);
}

bool jit_overlapping_loads_load(const struct jit *j, const struct jit_access *a, unsigned copy)
{
    uint32_t insn = (uint32_t)(j->insn - j->unit->f->insns.v);
    struct jit_overlap *o = overlap_of(j, insn);
    if (!o || !loads_all(j))
        return false;
    if (insn == o->insns[0] && copy == 0)
        load_vectors(j, o);
    int64_t bytes = vector_bytes(j, a), at = a->base->imm + bytes * copy - o->origin;
    unsigned from = (unsigned)(at % bytes / a->bytes);
    LLVMValueRef x = o->vectors[at / bytes], y = from ? o->vectors[at / bytes + 1] : x;
    if (!x || !y)
        return false;
    LLVMValueRef v = from ? take_by_halves(j, x, y, from) : x;
    jit_registers_write(j, &a->values[0], copy, v, j->unit->width, a->extends_sign);
    return true;
}
