/* Turns. A loop in strides of the whole grid (i += gridDim.x * blockDim.x) touches a short run of memory in each round, and other
 * CTAs touch what lies in between. One CTA after the other would go through all of memory for each of them, in steps that the
 * machine's prefetcher does not follow. So CTAs take turns: some rounds, then the loop is left in its middle, what its groups need
 * is kept in the CTA's scratch memory, and the next CTA goes on where this one's memory ends.
 */
#include "backend/jit/control/gen.h"

enum {
    STREAMS = 8, /* accesses of a turn: of lines a power of two apart caches hold few */
    LEAST_ROUNDS = 2,
    DEPTH = 8
};

enum { THROUGH, WAITS }; /* of a group: it has left the region, or waits in the loop */

/* ---- the loop -------------------------------------------------------------------------------- */

static bool is_of_grid(const struct jit *j, const struct pt_operand *o, unsigned depth)
{
    if (o->kind == PT_OPND_SREG)
        return o->index >= PT_SREG_nctaid_x && o->index <= PT_SREG_nctaid_z;
    uint32_t only = o->kind == PT_OPND_REG ? j->regs[o->index].only : UINT32_MAX;
    if (only == UINT32_MAX || depth == DEPTH)
        return false;
    const struct pt_insn *insn = &j->f->insns.v[only];
    if (pt_insn_form(j->m, insn)->effects & ~(uint32_t)PT_FX_FP)
        return false;
    for (uint32_t i = 1; i < insn->n_operands; i++)
        if (is_of_grid(j, &j->f->operands.v[insn->operands + i], depth + 1))
            return true;
    return false;
}

bool jit_strides_grid(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_operand *o = &j->f->operands.v[insn->operands];
    if (pt_insn_form(j->m, insn)->op != PT_OP_add_int || insn->guard || o->kind != PT_OPND_REG)
        return false;
    for (unsigned k = 1; k < 3; k++)
        if (o[k].kind == PT_OPND_REG && o[k].index == o->index)
            return j->regs[o->index].n_defs == 2 && is_of_grid(j, &o[3 - k], 0);
    return false;
}

static bool touches_global(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    return (form->effects & (PT_FX_READ | PT_FX_WRITE)) &&
           (space == PT_SPACE_GLOBAL || space == PT_SPACE_GENERIC);
}

/* Accesses of a round; 0: CTAs do not take turns in such a loop. */
static uint32_t accesses_of(const struct jit *j, const struct pt_loop *loop)
{
    uint32_t n = 0;
    bool has_stride = false;
    if (loop->parent != PT_NONE || !loop->is_reducible)
        return 0;
    for (uint32_t b = loop->header; b < loop->end; b++) {
        const struct pt_block *block = &j->f->blocks.v[b];
        if (jit_is_sync(j, b))
            return 0;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            n += touches_global(pt_insn_form(j->m, &j->f->insns.v[i]));
            has_stride |= jit_strides_grid(j, &j->f->insns.v[i]);
        }
    }
    return has_stride ? n : 0;
}

/* The only region that the block is generated in; NULL: there are several, or one begins there. */
static struct jit_region *region_of(const struct jit_plan *plan, uint32_t block)
{
    struct jit_region *found = NULL;
    if (jit_set_has(plan->entries, block))
        return NULL;
    for (uint32_t r = 0; r < plan->n_regions; r++) {
        if (!jit_set_has(plan->regions[r].set, block))
            continue;
        if (found)
            return NULL;
        found = &plan->regions[r];
    }
    return found;
}

LLVMValueRef jit_turn_variable(struct jit *j, LLVMTypeRef type)
{
    return j->turn_loop ? jit_at(j, j->scratch, jit_i64(j, jit_take_scratch(j, 16)))
                        : jit_alloca(j, type, "");
}

void jit_plan_turns(struct jit *j, struct jit_plan *plan)
{
    struct jit_turns *t = &plan->turns;
    for (uint32_t l = 0; l < j->f->loops.n && !t->region; l++) {
        uint32_t n = accesses_of(j, &j->f->loops.v[l]);
        if (!n)
            continue;
        t->region = region_of(plan, j->f->loops.v[l].header);
        t->loop = l;
        t->rounds = STREAMS / n > LEAST_ROUNDS ? STREAMS / n : LEAST_ROUNDS;
    }
    if (!t->region)
        return;
    j->turn_loop = t->loop + 1;
    t->state = jit_take_scratch(j, plan->n_groups * (uint32_t)sizeof(uint32_t));
    t->next = jit_turn_variable(j, LLVMInt32TypeInContext(j->context));
    t->live = j->live_in + j->f->loops.v[t->loop].header * (size_t)((j->f->regs.n + 63) / 64);
}

void jit_place_kept(struct jit *j, struct jit_plan *plan)
{
    for (uint32_t i = 1; plan->turns.region && i < j->f->regs.n; i++) {
        struct jit_reg *r = &j->regs[i];
        if (!jit_set_has(plan->turns.live, i) || r->crosses)
            continue;
        r->crosses = true;
        r->is_remade = jit_can_remake(j, i);
    }
    plan->turns.kept = jit_take_scratch(j, 0);
}

/* ---- what a group keeps ---------------------------------------------------------------------- */

bool jit_has_turns(const struct jit_gen *g)
{
    return g->plan->turns.region == g->r;
}

static LLVMTypeRef i32_of(struct jit *j)
{
    return LLVMInt32TypeInContext(j->context);
}

static LLVMValueRef state_of(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMValueRef at = LLVMBuildMul(j->b, j->group, jit_i32(j, sizeof(uint32_t)), "");
    at = LLVMBuildAdd(j->b, at, jit_i32(j, g->plan->turns.state), "");
    return jit_at(j, j->scratch, LLVMBuildZExt(j->b, at, LLVMInt64TypeInContext(j->context), ""));
}

/* The region's start gives the register to each group, turn by turn. */
static bool is_given(const struct jit_gen *g, uint32_t reg)
{
    return jit_is_live_into(g->j, g->r->entry, reg) && jit_is_placed(&g->j->regs[reg]) &&
           !jit_set_has(g->written, reg);
}

/* Registers go to the group's memory, or come back from there. */
static void keep_registers(struct jit_gen *g, bool loads)
{
    const struct jit_turns *t = &g->plan->turns;
    struct jit *j = g->j;
    uint32_t at = t->kept;
    for (uint32_t i = 1; i < j->f->regs.n; i++) {
        if (!jit_set_has(t->live, i) || j->regs[i].is_remade || is_given(g, i))
            continue;
        struct jit_reg r = j->regs[i];
        r.scratch = at;
        r.scratch_bytes = jit_crossing_bytes(j, i);
        for (unsigned u = 0; u < jit_crossing_copies(j, &r); u++) {
            if (loads)
                jit_load_crossing(j, &r, u);
            else
                jit_store_crossing(j, &r, u, NULL);
        }
        at += r.scratch_bytes * g->plan->n_groups;
    }
    j->scratch_bytes = at > j->scratch_bytes ? at : j->scratch_bytes;
}

static bool remake_all(struct jit_gen *g)
{
    struct jit *j = g->j;
    uint64_t *done = pt_arena_alloc(j->arena, (j->f->regs.n + 63) / 64 * sizeof *done);
    for (uint32_t i = 1; i < j->f->regs.n; i++)
        if (jit_set_has(g->plan->turns.live, i) && j->regs[i].is_remade && !jit_remake(j, i, done))
            return false;
    return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static LLVMValueRef turn_of(struct jit *j)
{
    return jit_at(j, j->cta, jit_i64(j, offsetof(struct pt_cta, turn)));
}

static LLVMValueRef bit(struct jit *j, bool value)
{
    return LLVMConstInt(LLVMInt1TypeInContext(j->context), value, false);
}

static LLVMValueRef load_bit(struct jit *j, LLVMValueRef variable)
{
    return LLVMBuildLoad2(j->b, LLVMInt1TypeInContext(j->context), variable, "");
}

static uint32_t header_of(const struct jit_gen *g)
{
    return g->j->f->loops.v[g->plan->turns.loop].header;
}

void jit_start_turns(struct jit *j, const struct jit_plan *plan)
{
    LLVMValueRef turn = LLVMBuildLoad2(j->b, i32_of(j), turn_of(j), "");
    LLVMValueRef starts = LLVMBuildICmp(j->b, LLVMIntEQ, turn, jit_i32(j, 0), "");
    LLVMBuildStore(j->b, jit_i32(j, 0), turn_of(j));
    LLVMBuildCondBr(j->b, starts, plan->regions[0].start, plan->turns.resume);
}

void jit_open_turn(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->context);
    LLVMBasicBlockRef open = jit_new_block(j, "turn");
    g->resumes = jit_alloca(j, i1, "resumes");
    g->waits = jit_alloca(j, i1, "waits");
    g->rounds = jit_alloca(j, i32_of(j), "rounds");
    g->wait = jit_new_block(j, "wait");
    LLVMBuildStore(j->b, bit(j, false), g->resumes);
    LLVMBuildBr(j->b, open);
    jit_continue_in(j, g->plan->turns.resume);
    LLVMBuildStore(j->b, bit(j, true), g->resumes);
    LLVMBuildBr(j->b, open);
    jit_continue_in(j, open);
    LLVMBuildStore(j->b, bit(j, false), g->waits);
}

/* All lanes of the group stand at the loop's header, and nowhere else. */
static void stand_at_header(struct jit_gen *g)
{
    struct jit *j = g->j;
    uint32_t header = header_of(g), l = g->plan->turns.loop;
    LLVMValueRef all = LLVMConstAllOnes(jit_flow_type(j));
    for (unsigned u = 0; jit_has_mask(g, header) && u < j->copies; u++)
        LLVMBuildStore(j->b, all, g->masks[header][u]);
    if (g->full[header])
        LLVMBuildStore(j->b, bit(j, true), g->full[header]);
    for (unsigned u = 0; g->outlet[l] != PT_NONE && u < j->copies; u++)
        LLVMBuildStore(j->b, all, g->inside[l][u]);
}

LLVMValueRef jit_takes_turns(struct jit *j)
{
    LLVMValueRef alone = jit_field(j, i32_of(j), j->cta, offsetof(struct pt_cta, is_alone));
    return LLVMBuildICmp(j->b, LLVMIntEQ, alone, jit_i32(j, 0), "");
}

/* Of a turn; 0: it does not end. */
static LLVMValueRef rounds_of(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMValueRef rounds = jit_i32(j, g->plan->turns.rounds);
    return LLVMBuildSelect(j->b, jit_takes_turns(j), rounds, jit_i32(j, 0), "");
}

bool jit_resume_group(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMBasicBlockRef again = jit_new_block(j, "again"), goes_on = jit_new_block(j, "goes_on");
    LLVMBasicBlockRef starts = jit_new_block(j, "starts");
    LLVMValueRef state = state_of(g);
    LLVMBuildStore(j->b, rounds_of(g), g->rounds);
    LLVMBuildCondBr(j->b, load_bit(j, g->resumes), again, starts);
    jit_continue_in(j, again);
    LLVMValueRef was = LLVMBuildLoad2(j->b, i32_of(j), state, "");
    LLVMBuildStore(j->b, jit_i32(j, THROUGH), state);
    LLVMValueRef waited = LLVMBuildICmp(j->b, LLVMIntEQ, was, jit_i32(j, WAITS), "");
    LLVMBuildCondBr(j->b, waited, goes_on, g->done);
    jit_continue_in(j, goes_on);
    keep_registers(g, true);
    if (!remake_all(g))
        return false;
    stand_at_header(g);
    LLVMBuildBr(j->b, g->body[header_of(g)]);
    jit_continue_in(j, starts);
    LLVMBuildStore(j->b, jit_i32(j, THROUGH), state);
    return true;
}

/* Each back edge has code of its own: where all lanes go round by one of them, LLVM sees a loop inside the loop. Groups that have
 * parted go on to the end: these are the last rounds. */
void jit_go_again(struct jit_gen *g, uint32_t header)
{
    struct jit *j = g->j;
    if (!jit_has_turns(g) || header_of(g) != header) {
        LLVMBuildBr(j->b, g->body[header]);
        return;
    }
    LLVMValueRef left = LLVMBuildLoad2(j->b, i32_of(j), g->rounds, "");
    left = LLVMBuildSub(j->b, left, jit_i32(j, 1), "");
    LLVMBuildStore(j->b, left, g->rounds);
    LLVMValueRef is_over = LLVMBuildICmp(j->b, LLVMIntEQ, left, jit_i32(j, 0), "");
    LLVMBasicBlockRef over = jit_new_block(j, "over");
    LLVMBuildCondBr(j->b, is_over, over, g->body[header]);
    jit_continue_in(j, over);
    LLVMValueRef all = jit_has_mask(g, header) ? jit_all_wait(g, header) : bit(j, true);
    LLVMBuildCondBr(j->b, all, g->wait, g->body[header]);
}

void jit_end_turn(struct jit_gen *g)
{
    struct jit *j = g->j;
    jit_continue_in(j, g->wait);
    keep_registers(g, false);
    LLVMBuildStore(j->b, jit_i32(j, WAITS), state_of(g));
    LLVMBuildStore(j->b, bit(j, true), g->waits);
    LLVMBuildBr(j->b, g->done);
}

void jit_close_turn(struct jit_gen *g)
{
    struct jit *j = g->j;
    LLVMBasicBlockRef yield = jit_new_block(j, "yield"), over = jit_new_block(j, "through");
    LLVMBuildCondBr(j->b, load_bit(j, g->waits), yield, over);
    jit_continue_in(j, yield);
    LLVMBuildStore(j->b, jit_i32(j, 1), turn_of(j));
    LLVMBuildRet(j->b, jit_i32(j, PT_RUN_YIELDED));
    jit_continue_in(j, over);
}
