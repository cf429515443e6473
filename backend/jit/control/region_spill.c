/* What is live from one region into the next: spilled, and loaded again: registers, by memory or by
 * variables; live lanes. */
#include "backend/jit/control/region_spill.h"

#include <string.h>

#include "backend/jit/analysis/plan.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/barrier_reduce.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/remat.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "ir/bits.h"

/* ---- registers ------------------------------------------------------------------------------- */

static LLVMValueRef scratch_of(const struct jit *j, const struct jit_reg *r, uint32_t at)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    if (r->is_in_frame)
        return jit_at(j, j->code->frame, jit_i64(j, (uint64_t)r->scratch + at));
    LLVMValueRef group = LLVMBuildZExt(j->code->b, j->group, i64, "");
    LLVMValueRef offset = LLVMBuildMul(j->code->b, group, jit_i64(j, r->scratch_bytes), "");
    return jit_at(j, j->code->scratch,
                  LLVMBuildAdd(j->code->b, offset, jit_i64(j, (uint64_t)r->scratch + at), ""));
}

static LLVMValueRef load_unaligned(const struct jit *j, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef value = LLVMBuildLoad2(j->code->b, type, at, "");
    LLVMSetAlignment(value, 4);
    return value;
}

static void store_unaligned(const struct jit *j, LLVMValueRef value, LLVMValueRef at)
{
    LLVMSetAlignment(LLVMBuildStore(j->code->b, value, at), 4);
}

unsigned jit_region_spill_copies(const struct jit *j, const struct jit_reg *r)
{
    return r->is_per_copy || r->wide[0] ? j->facts->copies : 1;
}

static uint32_t copy_bytes(const struct jit *j, const struct jit_reg *r)
{
    return (r->scratch_bytes - (r->wide[0] ? 4 * j->facts->copies : 0)) /
           jit_region_spill_copies(j, r);
}

void jit_region_spill_load(const struct jit *j, const struct jit_reg *r, unsigned u)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    bool is_bit = r->type == LLVMInt1TypeInContext(j->code->context);
    uint32_t bytes = copy_bytes(j, r);
    LLVMValueRef at = scratch_of(j, r, u * bytes);
    if (is_bit && r->shape == JIT_VECTOR) {
        jit_mask_store(j, r->slot[u], jit_mask_from_bits(j, load_unaligned(j, i32, at)));
    } else if (is_bit) {
        LLVMValueRef bit = LLVMBuildTrunc(j->code->b, load_unaligned(j, i32, at), r->type, "");
        LLVMBuildStore(j->code->b, bit, r->slot[u]);
    } else if (r->shape == JIT_VECTOR) {
        LLVMTypeRef type = LLVMVectorType(r->type, j->unit->width);
        LLVMBuildStore(j->code->b, load_unaligned(j, type, at), r->slot[u]);
    } else if (r->wide[u]) {
        LLVMValueRef wide = load_unaligned(j, LLVMVectorType(r->type, j->unit->width), at);
        LLVMBuildStore(j->code->b, wide, r->wide[u]);
        if (!r->slot[u])
            return;
        LLVMBuildStore(j->code->b, jit_lane(j, wide, 0), r->slot[u]);
        LLVMValueRef fits =
            load_unaligned(j, i32, scratch_of(j, r, bytes * j->facts->copies + 4 * u));
        LLVMBuildStore(
            j->code->b,
            LLVMBuildTrunc(j->code->b, fits, LLVMInt1TypeInContext(j->code->context), ""),
            r->fits[u]);
    } else {
        LLVMBuildStore(j->code->b, load_unaligned(j, r->type, at), r->slot[u]);
    }
}

void jit_region_spill_store(const struct jit *j, const struct jit_reg *r, unsigned u,
                            LLVMValueRef mask)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    bool is_bit = r->type == LLVMInt1TypeInContext(j->code->context);
    uint32_t bytes = copy_bytes(j, r);
    LLVMValueRef at = scratch_of(j, r, u * bytes);
    if (is_bit && r->shape == JIT_VECTOR) {
        LLVMValueRef bits = jit_mask_load(j, r->slot[u]);
        if (mask)
            bits = LLVMBuildSelect(j->code->b, mask, bits,
                                   jit_mask_from_bits(j, load_unaligned(j, i32, at)), "");
        store_unaligned(j, jit_mask_to_bits(j, bits), at);
        return;
    }
    if (r->shape == JIT_VECTOR || r->wide[u]) {
        LLVMTypeRef type = LLVMVectorType(r->type, j->unit->width);
        LLVMValueRef from = r->wide[u] ? r->wide[u] : r->slot[u];
        LLVMValueRef value = LLVMBuildLoad2(j->code->b, type, from, "");
        if (mask && !r->wide[u])
            value = LLVMBuildSelect(j->code->b, mask, value, load_unaligned(j, type, at), "");
        store_unaligned(j, value, at);
        if (r->fits[u]) {
            LLVMValueRef fits =
                LLVMBuildLoad2(j->code->b, LLVMInt1TypeInContext(j->code->context), r->fits[u], "");
            store_unaligned(j, LLVMBuildZExt(j->code->b, fits, i32, ""),
                            scratch_of(j, r, bytes * j->facts->copies + 4 * u));
        }
        return;
    }
    LLVMValueRef value = LLVMBuildLoad2(j->code->b, r->type, r->slot[u], "");
    store_unaligned(j, is_bit ? LLVMBuildZExt(j->code->b, value, i32, "") : value, at);
}

static const uint64_t *live_into(const struct jit *j, uint32_t block)
{
    return j->facts->live_in + block * (size_t)pt_bit_words(j->unit->f->regs.n);
}

/* Zeros where a lane's old value could be asked for though nothing wrote it yet. */
static void clear_reg(const struct jit *j, const struct jit_reg *r)
{
    for (unsigned u = 0; u < (r->is_per_copy ? j->facts->copies : 1); u++)
        LLVMBuildStore(j->code->b, LLVMConstNull(LLVMGetAllocatedType(r->slot[u])), r->slot[u]);
}

static bool stays_in_memory(const struct jit_gen *g, const struct jit_reg *r)
{
    return g->code->stays_in_memory && r->shape == JIT_VECTOR && !r->wide[0] &&
           r->type != LLVMInt1TypeInContext(g->j->code->context);
}

/* The place in memory is the register's variable. */
static void stay_in_memory(struct jit_gen *g, struct jit_reg *r)
{
    uint32_t bytes = copy_bytes(g->j, r);
    r->is_in_memory = true;
    for (unsigned u = 0; u < jit_region_spill_copies(g->j, r); u++)
        r->slot[u] = scratch_of(g->j, r, u * bytes);
}

bool jit_region_spill_load_registers(struct jit_gen *g)
{
    const struct jit *j = g->j;
    const uint64_t *in = live_into(j, g->r->entry);
    uint64_t *done =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *done);
    clear_reg(j, &j->facts->regs[j->unit->f->regs.n]);
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++) {
        struct jit_reg *r = &j->facts->regs[i];
        if (r->is_remat) {
            continue;
        } else if (!jit_set_has(in, i) || !jit_region_spill_is_placed(r)) {
            if (j->unit->f->regs.v[i].n_defs > 1 || jit_set_has(in, i))
                clear_reg(j, r);
        } else if (r->is_cta_uniform) {
            LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, r->type, r->cta_value, ""),
                           r->slot[0]);
        } else if (stays_in_memory(g, r)) {
            stay_in_memory(g, r);
        } else {
            for (unsigned u = 0; u < jit_region_spill_copies(j, r); u++)
                jit_region_spill_load(j, r, u);
        }
    }
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
        if (g->r->entry && jit_set_has(in, i) && j->facts->regs[i].is_remat &&
            !jit_remat_compute(j, i, done))
            return false;
    return true;
}

/* ---- live lanes ------------------------------------------------------------------------------ */

static LLVMValueRef alive_at(struct jit_gen *g, unsigned u)
{
    const struct jit *j = g->j;
    LLVMValueRef offset = LLVMBuildMul(j->code->b, j->group, jit_i32(j, 4 * j->facts->copies), "");
    offset = LLVMBuildAdd(j->code->b, offset, jit_i32(j, g->plan->alive + 4 * u), "");
    return jit_at(j, j->code->scratch,
                  LLVMBuildZExt(j->code->b, offset, LLVMInt64TypeInContext(j->code->context), ""));
}

LLVMValueRef jit_region_spill_load_alive(struct jit_gen *g, unsigned copy)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(g->j->code->context);
    return jit_mask_from_bits(g->j, load_unaligned(g->j, i32, alive_at(g, copy)));
}

/* ---- the edges of a region ------------------------------------------------------------------- */

/* A variable of the CTA: in scratch memory where it goes on from one turn to the next. */
static LLVMValueRef make_variable(const struct jit *j, LLVMTypeRef type, uint32_t at)
{
    return j->facts->interleave_loop ? jit_at(j, j->code->scratch, jit_i64(j, at))
                                     : jit_alloca(j, type, "");
}

void jit_region_spill_make_variables(const struct jit *j)
{
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++) {
        struct jit_reg *r = &j->facts->regs[i];
        if (!r->is_cta_uniform)
            continue;
        r->cta_value = make_variable(j, r->type, r->scratch);
        r->cta_next = make_variable(j, r->type, r->scratch_next);
    }
}

void jit_region_spill_begin(const struct jit *j)
{
    jit_barrier_reduce_complete(j);
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
        if (j->facts->regs[i].is_cta_uniform)
            LLVMBuildStore(
                j->code->b,
                LLVMBuildLoad2(j->code->b, j->facts->regs[i].type, j->facts->regs[i].cta_value, ""),
                j->facts->regs[i].cta_next);
}

/* Lanes of the group may stand at other places, with registers of their own in memory. */
static bool others_stand(const struct jit_gen *g)
{
    const struct jit *j = g->j;
    for (uint32_t i = 0; j->facts->is_resumable && i < g->r->n_blocks; i++)
        if (jit_plan_is_left(j->facts, g->plan, g->r->blocks[i]))
            return true;
    return false;
}

/* The region leaves the register to region `to`. Others may have had its place in the frame, so
 * that it is not there still. */
static bool is_saved(const struct jit_gen *g, uint32_t reg, uint32_t to)
{
    const struct jit_reg *r = &g->j->facts->regs[reg];
    if (!r->crosses || r->is_remat || !jit_set_has(live_into(g->j, to), reg) ||
        g->j->facts->regs[reg].is_in_memory)
        return false;
    return r->is_in_frame || jit_set_has(g->code->written, reg);
}

static void save_register(struct jit_gen *g, const struct jit_reg *r, uint32_t to, bool is_part)
{
    const struct jit *j = g->j;
    if (r->is_cta_uniform)
        LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, r->type, r->slot[0], ""),
                       r->cta_next);
    for (unsigned u = 0; !r->is_cta_uniform && u < jit_region_spill_copies(j, r); u++)
        jit_region_spill_store(j, r, u, is_part ? jit_mask_load(j, g->code->masks[to][u]) : NULL);
}

/* Those of the frame first: what an instruction of the interpreter's left there stays where it is,
 * if LLVM sees no other store in between. */
void jit_region_spill_save_group(struct jit_gen *g, uint32_t to)
{
    const struct jit *j = g->j;
    bool is_part = others_stand(g);
    for (int in_frame = 1; in_frame >= 0; in_frame--)
        for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
            if (j->facts->regs[i].is_in_frame == in_frame && is_saved(g, i, to))
                save_register(g, &j->facts->regs[i], to, is_part);
    if (!j->facts->is_resumable)
        jit_barrier_reduce_arrive(g, to);
    for (unsigned u = 0; g->plan->keeps_alive && u < j->facts->copies; u++)
        store_unaligned(j, jit_mask_to_bits(j, jit_mask_load(j, g->code->masks[to][u])),
                        alive_at(g, u));
}

void jit_region_spill_save_ended(struct jit_gen *g)
{
    for (unsigned u = 0; g->plan->keeps_alive && u < g->j->facts->copies; u++)
        store_unaligned(g->j, jit_i32(g->j, 0), alive_at(g, u));
}

void jit_region_spill_end(struct jit_gen *g)
{
    const struct jit *j = g->j;
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
        if (j->facts->regs[i].is_cta_uniform && jit_set_has(g->code->written, i))
            LLVMBuildStore(
                j->code->b,
                LLVMBuildLoad2(j->code->b, j->facts->regs[i].type, j->facts->regs[i].cta_next, ""),
                j->facts->regs[i].cta_value);
}
