/* How many chunks a group has (thread coarsening), which share what is the same for all of their
 * lanes. */
#include "backend/jit/analysis/group_size.h"

#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/analysis/local_memory.h"
#include "backend/jit/analysis/loops.h"
#include "backend/jit/analysis/register_pressure.h"
#include "backend/jit/bitset.h"
#include "backend/jit/emit/lane_call.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"
#include "ir/bits.h"
#include "ir/insn.h"
#include "ir/liveness.h"

/* A guard that compares affine with uniform values: lanes part only where a range ends. */
static bool is_range_end(const struct jit_facts *a, uint32_t block)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    uint32_t guard = a->unit->f->insns.v[b->first + b->count - 1].guard;
    for (uint32_t i = b->first; guard && i < b->first + b->count; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        const struct pt_operand *o = &a->unit->f->operands.v[insn->operands];
        if (pt_insn_form(a->unit->m, insn)->op != PT_OP_setp_int || o->kind != PT_OPND_REG ||
            o->index != guard)
            continue;
        for (unsigned k = 1; k < 3; k++)
            if (o[k].kind == PT_OPND_REG &&
                a->uniformity->regs[o[k].index].level == PT_LEVEL_LANE &&
                !a->uniformity->regs[o[k].index].is_affine)
                return false;
        return true;
    }
    return false;
}

static bool parts(const struct jit_facts *a, const struct pt_loop *loop)
{
    for (uint32_t b = loop->header; b < loop->end; b++)
        if (a->uniformity->branch[b] > PT_LEVEL_GROUP && !is_range_end(a, b))
            return true;
    return false;
}

/* Lanes part inside a loop: wide groups would go round for the slowest of many lanes. */
static bool has_parting_loop(const struct jit_facts *a)
{
    for (uint32_t l = 0; l < a->unit->f->loops.n; l++)
        if (parts(a, &a->unit->f->loops.v[l]))
            return true;
    return false;
}

/* All such loops are those that lanes run one after the other, each for as long as it needs. */
static bool only_loads_part(const struct jit_facts *a)
{
    for (uint32_t l = 0; l < a->unit->f->loops.n; l++) {
        const struct pt_loop *loop = &a->unit->f->loops.v[l];
        if (parts(a, loop) &&
            (loop->end > loop->header + 1 || !jit_loops_is_loading(a, loop->header)))
            return false;
    }
    return true;
}

/* Such a loop touches memory, which is work for each lane, be it on or not. */
static bool has_parting_access(const struct jit_facts *a)
{
    for (uint32_t l = 0; l < a->unit->f->loops.n; l++) {
        const struct pt_loop *loop = &a->unit->f->loops.v[l];
        uint32_t end = parts(a, loop) ? loop->end : 0;
        for (uint32_t b = loop->header; b < end; b++)
            if (jit_insn_info_block_has_effect(a, b, PT_FX_READ | PT_FX_WRITE))
                return true;
    }
    return false;
}

/* A loop whose indexes advance by what the whole CTA agrees on, known at run time: it walks memory
 * in long strides, where many lanes at a time are worth more than registers, but for those of what
 * goes round the loop. Not in strides of the
 * grid: CTAs that interleave read what lies in between. */
static bool has_striding_loop(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        const struct pt_operand *o = &a->unit->f->operands.v[insn->operands];
        if (pt_insn_form(a->unit->m, insn)->op != PT_OP_add_int || o[0].kind != PT_OPND_REG ||
            a->unit->f->regs.v[o[0].index].n_defs != 2 ||
            !a->uniformity->regs[o[0].index].is_affine || jit_loops_stride_grid(a, insn))
            continue;
        for (unsigned k = 1; k < 3; k++)
            if (o[k].kind == PT_OPND_REG && o[3 - k].kind == PT_OPND_REG &&
                o[3 - k].index == o[0].index &&
                a->uniformity->regs[o[k].index].level == PT_LEVEL_CTA)
                return true;
    }
    return false;
}

/* Values that differ by lane and go round the loop. */
static uint32_t count_carried(const struct jit_facts *a, const struct pt_loop *loop)
{
    uint32_t n = 0, words = pt_bit_words(a->unit->f->regs.n);
    const uint64_t *live = a->live_in + (size_t)loop->header * words;
    for (uint32_t r = 1; r < a->unit->f->regs.n; r++)
        n += jit_set_has(live, r) && a->uniformity->regs[r].level == PT_LEVEL_LANE &&
             !a->uniformity->regs[r].is_affine && a->unit->f->regs.v[r].type != PT_pred;
    return n;
}

/* The values that go round each loop have registers, of so many chunks. */
static bool fits_carried(const struct jit_facts *a, uint32_t copies)
{
    uint32_t registers = a->unit->cpu->vector_registers;
    for (uint32_t l = 0; l < a->unit->f->loops.n; l++)
        if (copies * count_carried(a, &a->unit->f->loops.v[l]) * 100 >
            registers * JIT_GROUP_REGISTERS_LOOP)
            return false;
    return true;
}

/* Chunks of a row of threads; 1, if it is not of as many as a group may have. */
static uint32_t row_copies(const struct pt_uniformity_shape *shape)
{
    uint32_t row = shape->block[0] / shape->width;
    bool is_even = row && shape->block[0] % shape->width == 0 && !(row & (row - 1));
    return is_even && row <= JIT_COPIES ? row : 1;
}

/* Chunks that have to go together: of a warp. Those of a row of the block, in which the other
 * indexes are the same, had better, unless that is much code: the compiler would make it by few
 * passes. */
static uint32_t least_copies(const struct jit_facts *a, const struct pt_uniformity_shape *shape)
{
    if (jit_is_checked(a->unit) || jit_insn_info_has_effect(a, PT_FX_WARP | PT_FX_CALL) ||
        jit_insn_info_has_ordering_points(a) || jit_insn_info_has_warp_calls(a))
        return PT_WARP_SIZE / shape->width;
    bool has_rows = (shape->block[1] > 1 || shape->block[2] > 1) && !has_parting_loop(a);
    uint32_t copies = has_rows ? row_copies(shape) : 1;
    while (copies > 1 && copies * a->unit->f->insns.n > JIT_GROUP_INSNS)
        copies /= 2;
    return copies;
}

/* More would cost more than they bring: lanes that wait for others, or rows that end at different
 * places. */
static uint32_t most_copies(const struct jit_facts *a, const struct pt_uniformity_shape *shape)
{
    bool has_rows = shape->block[1] > 1 || shape->block[2] > 1;
    if (has_parting_access(a))
        return (only_loads_part(a) ? JIT_GROUP_LANES_LOADING : JIT_GROUP_LANES_PARTING) /
               shape->width;
    if (has_parting_loop(a))
        return JIT_GROUP_COPIES_PARTING;
    if (a->unit->f->loops.n)
        return JIT_COPIES;
    return has_rows ? JIT_GROUP_LANES_ROW / shape->width : JIT_GROUP_COPIES_STRAIGHT;
}

/* A loop calls lane functions. */
static bool has_calling_loop(struct jit_facts *a)
{
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++) {
        const struct pt_block *block = &a->unit->f->blocks.v[b];
        for (uint32_t i = block->first; block->loop && i < block->first + block->count; i++)
            if (jit_lane_call_is_needed(a->unit, pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])))
                return true;
    }
    return false;
}

/* Values of so many chunks fit the registers. Without a loop they need not: what one chunk's chain
 * of operations waits for is longer than what it takes to put a value into memory and back. Nor
 * where they go to memory for each call of a lane function, whose start takes as long as several
 * chunks. What is loaded for one operation may come from memory where chunks are few. Of two chunks
 * they need not where one's values are far too many: they come from memory either way, and chains
 * of the one run while the other's wait. */
static bool fits_registers(struct jit_facts *a, uint32_t copies)
{
    uint32_t registers = a->unit->cpu->vector_registers;
    if (copies <= JIT_GROUP_COPIES_CALLING && has_calling_loop(a))
        return true;
    uint32_t variables = jit_local_memory_pressure(a);
    uint32_t pressure =
        jit_register_pressure_find(a, copies <= JIT_GROUP_COPIES_ENOUGH) + variables;
    bool has_loops = a->unit->f->loops.n || variables;
    uint32_t percent = has_loops ? JIT_GROUP_REGISTERS_LOOP : JIT_GROUP_REGISTERS_STRAIGHT;
    bool is_spilled = copies <= JIT_GROUP_COPIES_SPILLED && has_loops && !variables &&
                      pressure * 100 > registers * JIT_GROUP_REGISTERS_SPILLED;
    return is_spilled || copies * pressure * 100 <= registers * percent;
}

/* Several chunks share the work that is the same for all, above all a loop's. Device functions are
 * called warp by warp: what they print has an order. */
static uint32_t choose_copies(struct jit_facts *a, const struct pt_uniformity_shape *shape)
{
    uint32_t width = shape->width, copies = least_copies(a, shape), most = most_copies(a, shape);
    uint32_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    bool is_wide = has_parting_access(a) && only_loads_part(a), strides = has_striding_loop(a);
    if (!threads || jit_is_checked(a->unit) || jit_insn_info_tells_order(a) ||
        jit_insn_info_has_effect(a, PT_FX_CALL) || jit_insn_info_has_warp_calls(a))
        return copies;
    while (2 * copies <= most &&
           (is_wide || (strides && fits_carried(a, 2 * copies)) || fits_registers(a, 2 * copies)) &&
           threads % (2 * copies * width) == 0 &&
           2 * copies * a->unit->f->insns.n <= JIT_GROUP_INSNS)
        copies *= 2;
    return copies;
}

static void note_read(void *ud, uint32_t reg, bool is_def)
{
    if (!is_def)
        jit_set_add(ud, reg);
}

/* Warps that go together may part where one alone would not: an instruction of a warp needs all of
 * its lanes. */
static bool parts_warps(struct jit_facts *a)
{
    for (uint32_t block = 0; block < a->unit->f->blocks.n; block++) {
        const struct pt_block *b = &a->unit->f->blocks.v[block];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if ((pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])->effects & PT_FX_WARP) &&
                !jit_insn_info_is_whole(a, block))
                return true;
    }
    return false;
}

void jit_group_size_choose(struct jit_facts *a, struct pt_uniformity_shape *shape)
{
    a->live_in = pt_liveness_in(a->unit->m, a->unit->f, a->unit->arena);
    a->read = pt_arena_alloc(a->unit->arena, pt_bit_words(a->unit->f->regs.n) * sizeof *a->read);
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[i], note_read, a->read);
    a->uniformity = pt_uniformity_find(a->unit->m, a->unit->f, shape, NULL, a->unit->arena);
    shape->copies = choose_copies(a, shape);
    if (shape->copies > 1)
        a->uniformity = pt_uniformity_find(a->unit->m, a->unit->f, shape, NULL, a->unit->arena);
    if (shape->copies > PT_WARP_SIZE / shape->width && parts_warps(a)) {
        shape->copies = PT_WARP_SIZE / shape->width;
        a->uniformity = pt_uniformity_find(a->unit->m, a->unit->f, shape, NULL, a->unit->arena);
    }
}

void jit_group_size_find_rows(struct jit_facts *a, const struct pt_uniformity_shape *shape)
{
    struct pt_uniformity_shape row = *shape;
    row.copies = row_copies(shape);
    if (row.copies > 1 && row.copies < shape->copies)
        a->row = pt_uniformity_find(a->unit->m, a->unit->f, &row, NULL, a->unit->arena);
}
