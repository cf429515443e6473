/* CTAs that interleave in a loop: they take turns of some rounds. A loop in strides of the whole
 * grid (i += gridDim.x * blockDim.x) touches a short run of memory in each round, and other CTAs
 * touch what lies in between. One CTA after the other would go through all of memory for each of
 * them, in steps that the machine's prefetcher does not follow. So CTAs take turns: some rounds,
 * then the loop is left in its middle, what its groups need is kept in the CTA's scratch memory,
 * and the next CTA goes on where this one's memory ends.
 */
#include "backend/jit/control/cta_interleave.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/plan.h"
#include "backend/jit/analysis/scratch_layout.h"
#include "backend/jit/bitset.h"
#include "backend/jit/control/gen.h"
#include "backend/jit/control/region_spill.h"
#include "backend/jit/control/remat.h"
#include "backend/jit/control/wait_masks.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "ir/bits.h"

enum { THROUGH, WAITS }; /* of a group: it has left the region, or waits in the loop */

/* ---- what a group keeps ---------------------------------------------------------------------- */

bool jit_cta_interleave_applies(const struct jit_gen *g)
{
    return g->plan->interleave.region == g->r;
}

static LLVMValueRef state_of(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMValueRef at = LLVMBuildMul(j->code->b, j->group, jit_i32(j, sizeof(uint32_t)), "");
    at = LLVMBuildAdd(j->code->b, at, jit_i32(j, g->plan->interleave.state), "");
    return jit_at(j, j->code->scratch,
                  LLVMBuildZExt(j->code->b, at, LLVMInt64TypeInContext(j->code->context), ""));
}

/* The region's start gives the register to each group, turn by turn. */
static bool is_given(const struct jit_gen *g, uint32_t reg)
{
    return jit_def_use_is_live_into(g->j->facts, g->r->entry, reg) &&
           jit_region_spill_is_placed(&g->j->facts->regs[reg]) &&
           !jit_set_has(g->code->written, reg);
}

/* Registers go to the group's memory, or come back from there. */
static void keep_registers(struct jit_gen *g, bool loads)
{
    const struct jit_cta_interleave *t = &g->plan->interleave;
    const struct jit *j = g->j;
    uint32_t at = t->kept;
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++) {
        if (!jit_set_has(t->live, i) || j->facts->regs[i].is_remat || is_given(g, i))
            continue;
        struct jit_reg r = j->facts->regs[i];
        r.scratch = at;
        r.scratch_bytes = jit_scratch_layout_crossing_bytes(j->facts, i);
        for (unsigned u = 0; u < jit_region_spill_copies(j, &r); u++) {
            if (loads)
                jit_region_spill_load(j, &r, u);
            else
                jit_region_spill_store(j, &r, u, NULL);
        }
        at += r.scratch_bytes * g->plan->n_groups;
    }
    j->code->scratch_bytes = at > j->code->scratch_bytes ? at : j->code->scratch_bytes;
}

static bool remat_all(struct jit_gen *g)
{
    const struct jit *j = g->j;
    uint64_t *done =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *done);
    for (uint32_t i = 1; i < j->unit->f->regs.n; i++)
        if (jit_set_has(g->plan->interleave.live, i) && j->facts->regs[i].is_remat &&
            !jit_remat_compute(j, i, done))
            return false;
    return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static LLVMValueRef turn_of(const struct jit *j)
{
    return jit_at(j, j->code->cta, jit_i64(j, offsetof(struct pt_cta, turn)));
}

static LLVMValueRef bit(const struct jit *j, bool value)
{
    return LLVMConstInt(LLVMInt1TypeInContext(j->code->context), value, false);
}

static LLVMValueRef load_bit(const struct jit *j, LLVMValueRef variable)
{
    return LLVMBuildLoad2(j->code->b, LLVMInt1TypeInContext(j->code->context), variable, "");
}

static uint32_t header_of(const struct jit_gen *g)
{
    return g->j->unit->f->loops.v[g->plan->interleave.loop].header;
}

void jit_cta_interleave_start(const struct jit *j)
{
    LLVMValueRef turn = LLVMBuildLoad2(j->code->b, jit_i32_of(j), turn_of(j), "");
    LLVMValueRef starts = LLVMBuildICmp(j->code->b, LLVMIntEQ, turn, jit_i32(j, 0), "");
    LLVMBuildStore(j->code->b, jit_i32(j, 0), turn_of(j));
    LLVMBuildCondBr(j->code->b, starts, j->code->regions[0], j->code->interleave_resume);
}

void jit_cta_interleave_open(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->code->context);
    LLVMBasicBlockRef open = jit_new_block(j, "turn");
    g->code->resumes = jit_alloca(j, i1, "resumes");
    g->code->waits = jit_alloca(j, i1, "waits");
    g->code->rounds = jit_alloca(j, jit_i32_of(j), "rounds");
    g->code->wait = jit_new_block(j, "wait");
    LLVMBuildStore(j->code->b, bit(j, false), g->code->resumes);
    LLVMBuildBr(j->code->b, open);
    jit_continue_in(j, j->code->interleave_resume);
    LLVMBuildStore(j->code->b, bit(j, true), g->code->resumes);
    LLVMBuildBr(j->code->b, open);
    jit_continue_in(j, open);
    LLVMBuildStore(j->code->b, bit(j, false), g->code->waits);
}

/* All lanes of the group stand at the loop's header, and nowhere else. */
static void stand_at_header(struct jit_gen *g)
{
    const struct jit *j = g->j;
    uint32_t header = header_of(g), l = g->plan->interleave.loop;
    LLVMValueRef all = LLVMConstAllOnes(jit_flow_type(j));
    for (unsigned u = 0; jit_has_mask(g, header) && u < j->facts->copies; u++)
        LLVMBuildStore(j->code->b, all, g->code->masks[header][u]);
    if (g->code->full[header])
        LLVMBuildStore(j->code->b, bit(j, true), g->code->full[header]);
    for (unsigned u = 0; g->code->outlet[l] != PT_NONE && u < j->facts->copies; u++)
        LLVMBuildStore(j->code->b, all, g->code->inside[l][u]);
}

/* Of a turn; 0: it does not end. */
static LLVMValueRef rounds_of(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMValueRef rounds = jit_i32(j, g->plan->interleave.rounds);
    return LLVMBuildSelect(j->code->b, jit_interleaves(j), rounds, jit_i32(j, 0), "");
}

bool jit_cta_interleave_resume_group(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMBasicBlockRef again = jit_new_block(j, "again"), goes_on = jit_new_block(j, "goes_on");
    LLVMBasicBlockRef starts = jit_new_block(j, "starts");
    LLVMValueRef state = state_of(g);
    LLVMBuildStore(j->code->b, rounds_of(g), g->code->rounds);
    LLVMBuildCondBr(j->code->b, load_bit(j, g->code->resumes), again, starts);
    jit_continue_in(j, again);
    LLVMValueRef was = LLVMBuildLoad2(j->code->b, jit_i32_of(j), state, "");
    LLVMBuildStore(j->code->b, jit_i32(j, THROUGH), state);
    LLVMValueRef waited = LLVMBuildICmp(j->code->b, LLVMIntEQ, was, jit_i32(j, WAITS), "");
    LLVMBuildCondBr(j->code->b, waited, goes_on, g->code->done);
    jit_continue_in(j, goes_on);
    keep_registers(g, true);
    if (!remat_all(g))
        return false;
    stand_at_header(g);
    LLVMBuildBr(j->code->b, g->code->body[header_of(g)]);
    jit_continue_in(j, starts);
    LLVMBuildStore(j->code->b, jit_i32(j, THROUGH), state);
    return true;
}

/* Each back edge has code of its own: where all lanes go round by one of them, LLVM sees a loop
 * inside the loop. Groups that have parted go on to the end: these are the last rounds. */
void jit_cta_interleave_go_again(struct jit_gen *g, uint32_t header)
{
    const struct jit *j = g->j;
    if (!jit_cta_interleave_applies(g) || header_of(g) != header) {
        LLVMBuildBr(j->code->b, g->code->body[header]);
        return;
    }
    LLVMValueRef left = LLVMBuildLoad2(j->code->b, jit_i32_of(j), g->code->rounds, "");
    left = LLVMBuildSub(j->code->b, left, jit_i32(j, 1), "");
    LLVMBuildStore(j->code->b, left, g->code->rounds);
    LLVMValueRef is_over = LLVMBuildICmp(j->code->b, LLVMIntEQ, left, jit_i32(j, 0), "");
    LLVMBasicBlockRef over = jit_new_block(j, "over");
    LLVMBuildCondBr(j->code->b, is_over, over, g->code->body[header]);
    jit_continue_in(j, over);
    LLVMValueRef all = jit_has_mask(g, header) ? jit_wait_masks_all_wait(g, header) : bit(j, true);
    LLVMBuildCondBr(j->code->b, all, g->code->wait, g->code->body[header]);
}

void jit_cta_interleave_end_turn(struct jit_gen *g)
{
    const struct jit *j = g->j;
    jit_continue_in(j, g->code->wait);
    keep_registers(g, false);
    LLVMBuildStore(j->code->b, jit_i32(j, WAITS), state_of(g));
    LLVMBuildStore(j->code->b, bit(j, true), g->code->waits);
    LLVMBuildBr(j->code->b, g->code->done);
}

void jit_cta_interleave_close(struct jit_gen *g)
{
    const struct jit *j = g->j;
    LLVMBasicBlockRef yield = jit_new_block(j, "yield"), over = jit_new_block(j, "through");
    LLVMBuildCondBr(j->code->b, load_bit(j, g->code->waits), yield, over);
    jit_continue_in(j, yield);
    LLVMBuildStore(j->code->b, jit_i32(j, 1), turn_of(j));
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_YIELDED));
    jit_continue_in(j, over);
}
