/* Loops: those that do little but load, those in strides of the grid, and pairs of which one is the
 * other unrolled. */
#include "backend/jit/analysis/loops.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/tune.h"
#include "backend/order.h"
#include "ir/bits.h"
#include "ir/insn.h"

enum { NODE_START = 1, NODE_SUM, NODE_RESULT };

enum { SOURCES = 4 };

/* A value: what a register held at the start, another and a number, or an operation. Without
 * padding: compared as bytes. */
struct node {
    uint32_t kind;
    uint32_t of; /* register, bits of the sum, form */
    uint32_t value[SOURCES];
    struct {
        int64_t imm;
        uint64_t as; /* how the operand is written */
    } source[SOURCES];
};

struct eval {
    const struct jit_facts *a;
    struct node *nodes; /* nodes[0] unused */
    uint32_t n;
    uint32_t *value; /* by register: its node, or 0: that of the start */
    uint32_t
        /* a register to which less than `step` is added without wrapping around, as a type has
         * it */
        index;
    enum pt_type type;
    int64_t step;
    bool fails;
};

static uint32_t find_node(struct eval *e, const struct node *node)
{
    for (uint32_t i = 1; i < e->n; i++)
        if (!memcmp(&e->nodes[i], node, sizeof *node))
            return i;
    e->fails |= e->n == JIT_UNROLLED_NODES;
    if (e->fails)
        return 0;
    e->nodes[e->n] = *node;
    return e->n++;
}

static struct node new_node(uint32_t kind, uint32_t of)
{
    return (struct node){.kind = kind, .of = of};
}

static uint32_t start_of(struct eval *e, uint32_t reg)
{
    struct node node = new_node(NODE_START, reg);
    return find_node(e, &node);
}

static uint32_t value_of(struct eval *e, uint32_t reg)
{
    return e->value[reg] ? e->value[reg] : start_of(e, reg);
}

static uint32_t sum_of(struct eval *e, uint32_t value, unsigned bits, int64_t number)
{
    struct node node = new_node(NODE_SUM, bits), *of = &e->nodes[value];
    bool is_sum = of->kind == NODE_SUM && of->of == bits;
    uint64_t sum = (uint64_t)number + (is_sum ? (uint64_t)of->source[0].imm : 0);
    node.value[0] = is_sum ? of->value[0] : value;
    node.source[0].imm = bits == 32 ? (int32_t)sum : (int64_t)sum;
    return node.source[0].imm ? find_node(e, &node) : node.value[0];
}

/* The register as a whole is read or written as the type has it. */
static bool is_whole(const struct eval *e, const struct pt_operand *o, enum pt_type type)
{
    return o->kind == PT_OPND_REG && !o->flags && !o->select &&
           pt_type_bits((enum pt_type)e->a->unit->f->regs.v[o->index].type) == pt_type_bits(type);
}

/* The operation with its sources; e->fails if some are of another kind. */
static struct node operation(struct eval *e, const struct pt_insn *insn)
{
    struct node node = new_node(NODE_RESULT, insn->form);
    for (uint32_t k = 1; k < insn->n_operands && !e->fails; k++) {
        const struct pt_operand *o = &e->a->unit->f->operands.v[insn->operands + k];
        const struct pt_operand *base = &e->a->unit->f->operands.v[o->index];
        node.source[k - 1].as = o->kind | (uint32_t)o->flags << 8 | (uint32_t)o->select << 16;
        if (o->kind == PT_OPND_REG)
            node.value[k - 1] = value_of(e, o->index);
        else if (o->kind == PT_OPND_IMM)
            node.source[k - 1].imm = o->imm;
        else if (o->kind == PT_OPND_MEM && o->imm == 1 && base->kind == PT_OPND_REG)
            node.value[k - 1] = sum_of(e, value_of(e, base->index), 64, base->imm);
        else
            e->fails = true;
    }
    return node;
}

/* Takes the number out of a value that is a sum with one. */
static int64_t take_number(struct eval *e, uint32_t *value, unsigned bits)
{
    const struct node *of = &e->nodes[*value];
    if (of->kind != NODE_SUM || of->of != bits)
        return 0;
    *value = of->value[0];
    return of->source[0].imm;
}

static uint32_t evaluate_sum(struct eval *e, struct node node, const struct pt_operand *last,
                             unsigned bits)
{
    int64_t number = take_number(e, &node.value[0], bits);
    if (last->kind == PT_OPND_IMM)
        return sum_of(e, node.value[0], bits, number + last->imm);
    number += take_number(e, &node.value[1], bits);
    return sum_of(e, find_node(e, &node), bits, number);
}

/* (index + number) * factor; 0: it is something else, or may wrap around. */
static uint32_t evaluate_product(struct eval *e, struct node node, const struct pt_operand *last)
{
    int64_t number = take_number(e, &node.value[0], 32);
    if (node.value[0] != start_of(e, e->index) || number <= 0 || number >= e->step ||
        last->kind != PT_OPND_IMM || last->imm <= 0 || last->imm > INT32_MAX)
        return 0;
    return sum_of(e, find_node(e, &node), 64, number * last->imm);
}

/* Numbers are added last, so that both loops show the same sums. */
static uint32_t evaluate(struct eval *e, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(e->a->unit->m, insn);
    const struct pt_operand *o = &e->a->unit->f->operands.v[insn->operands];
    enum pt_type type = (enum pt_type)form->type[0];
    unsigned bits = pt_type_bits(type);
    struct node node = operation(e, insn);
    uint32_t product = 0;
    if (e->fails || insn->n_operands < 2 || !is_whole(e, &o[1], type))
        return find_node(e, &node);
    if (form->op == PT_OP_mov && is_whole(e, &o[0], type))
        return node.value[0];
    if (form->op == PT_OP_add_int && is_whole(e, &o[0], type) && (bits == 32 || bits == 64) &&
        !pt_form_has(form, PT_M_sat))
        return evaluate_sum(e, node, &o[2], bits);
    if (form->op == PT_OP_mul_wide && type == e->type)
        product = evaluate_product(e, node, &o[2]);
    return product ? product : find_node(e, &node);
}

struct regs {
    uint32_t n_defs, reg, n_reads;
    uint64_t *defs; /* NULL: not collected */
    const uint64_t *avoid;
    bool meets;
};

static void see_reg(void *ud, uint32_t reg, bool is_def)
{
    struct regs *r = ud;
    r->n_defs += is_def;
    r->n_reads += !is_def && reg == r->reg;
    r->meets |= !is_def && r->avoid && jit_set_has(r->avoid, reg);
    if (is_def && r->defs)
        jit_set_add(r->defs, reg);
}

static void see_block(const struct jit_facts *a, uint32_t block, struct regs *r)
{
    for (uint32_t i = a->unit->f->blocks.v[block].first; i <= jit_insn_info_last(a, block); i++)
        pt_insn_regs(a->unit->m, a->unit->f, &a->unit->f->insns.v[i], see_reg, r);
}

/* The block, but for the branch at its end, once more. */
static void run_block(struct eval *e, uint32_t block)
{
    for (uint32_t i = e->a->unit->f->blocks.v[block].first; i < jit_insn_info_last(e->a, block);
         i++) {
        const struct pt_insn *insn = &e->a->unit->f->insns.v[i];
        const struct pt_operand *d = &e->a->unit->f->operands.v[insn->operands];
        struct regs r = {0};
        pt_insn_regs(e->a->unit->m, e->a->unit->f, insn, see_reg, &r);
        e->fails |= insn->guard || r.n_defs != 1 || d->kind != PT_OPND_REG ||
                    insn->n_operands > SOURCES + 1;
        uint32_t value = e->fails ? 0 : evaluate(e, insn);
        if (e->fails)
            return;
        e->value[d->index] = value;
    }
}

static void start_again(struct eval *e)
{
    memset(e->value, 0, e->a->unit->f->regs.n * sizeof *e->value);
}

/* The comparison of 32 bits by which the block, a loop, goes on; NULL: it is another. */
static const struct pt_insn *end_of(const struct jit_facts *a, uint32_t block)
{
    const struct pt_insn *last = &a->unit->f->insns.v[jit_insn_info_last(a, block)];
    uint32_t only = a->regs[last->guard].only;
    if (last->guard_neg || only < a->unit->f->blocks.v[block].first ||
        only >= jit_insn_info_last(a, block))
        return NULL;
    const struct pt_insn *insn = &a->unit->f->insns.v[only];
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    bool is_plain = form->op == PT_OP_setp_int && insn->n_operands == 3 && !insn->guard;
    return is_plain && pt_type_bits((enum pt_type)form->type[0]) == 32 ? insn : NULL;
}

/* What the second loop adds to its index in a round, as the comparison sees it; 0: it is not so. */
static int64_t find_index(struct eval *e, uint32_t block, struct jit_reroll *r)
{
    const struct jit_facts *a = e->a;
    const struct pt_insn *end = end_of(a, block);
    if (!end || !pt_form_has(pt_insn_form(a->unit->m, end), PT_M_lt))
        return 0;
    const struct pt_operand *o = &a->unit->f->operands.v[end->operands];
    r->index = o[1];
    r->end = o[2];
    r->type = (enum pt_type)pt_insn_form(a->unit->m, end)->type[0];
    if (!is_whole(e, &o[1], r->type) || (o[2].kind != PT_OPND_IMM && !is_whole(e, &o[2], r->type)))
        return 0;
    run_block(e, block);
    const struct node *sum = &e->nodes[value_of(e, o[1].index)];
    bool is_sum = sum->kind == NODE_SUM && sum->value[0] == start_of(e, o[1].index);
    bool is_seen = !e->fails && e->nodes[e->value[o[0].index]].value[0] == value_of(e, o[1].index);
    bool is_fixed = o[2].kind == PT_OPND_IMM || !e->value[o[2].index];
    e->index = o[1].index;
    e->type = r->type;
    return is_sum && is_seen && is_fixed ? sum->source[0].imm : 0;
}

/* The first loop counts down to 0 in a register that nothing else reads. */
static bool find_counter(struct eval *e, uint32_t block, struct jit_reroll *r)
{
    const struct jit_facts *a = e->a;
    const struct pt_insn *end = end_of(a, block);
    if (!end || !pt_form_has(pt_insn_form(a->unit->m, end), PT_M_ne))
        return false;
    const struct pt_operand *o = &a->unit->f->operands.v[end->operands];
    enum pt_type type = (enum pt_type)pt_insn_form(a->unit->m, end)->type[0];
    if (!is_whole(e, &o[1], type) || o[2].kind != PT_OPND_IMM || o[2].imm)
        return false;
    r->counter = o[1];
    struct regs reads = {.reg = o[1].index};
    see_block(a, block, &reads);
    uint32_t value = value_of(e, o[1].index);
    return reads.n_reads == 2 && e->nodes[e->value[o[0].index]].value[0] == value &&
           value == sum_of(e, start_of(e, o[1].index), 32, -1);
}

/* What lies between can run before: it reads nothing that the first loop writes, loads nothing, and
 * is read nowhere else. */
static bool comes_before(const struct jit_facts *a, uint32_t first, const uint64_t *written)
{
    size_t words = pt_bit_words(a->unit->f->regs.n);
    uint64_t *defs = pt_arena_alloc(a->unit->arena, words * sizeof *defs);
    struct regs r = {.defs = defs, .avoid = written};
    see_block(a, first + 1, &r);
    for (uint32_t i = a->unit->f->blocks.v[first + 1].first; i <= jit_insn_info_last(a, first + 1);
         i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        uint32_t effects = pt_insn_form(a->unit->m, insn)->effects;
        bool is_branch = effects & PT_FX_BRANCH;
        r.meets |= (effects & PT_FX_READ) || (insn->guard && !is_branch);
    }
    for (uint32_t reg = 0; reg < a->unit->f->regs.n; reg++)
        for (uint32_t b = first; b <= first + 3 && jit_set_has(defs, reg); b++)
            r.meets |= jit_def_use_is_live_into(a, b, reg);
    return !r.meets;
}

/* The register is needed where the first loop, the second or what follows begins. */
static bool matters(const struct jit_facts *a, uint32_t first, uint32_t reg)
{
    return jit_def_use_is_live_into(a, first, reg) || jit_def_use_is_live_into(a, first + 2, reg) ||
           jit_def_use_is_live_into(a, first + 3, reg);
}

/* Some rounds of the first loop do what one of the second does. */
static bool do_the_same(struct eval *e, uint32_t first, unsigned rounds, const uint64_t *written,
                        const struct jit_reroll *r)
{
    size_t n = e->a->unit->f->regs.n;
    start_again(e);
    run_block(e, first + 2);
    uint32_t *after = pt_arena_alloc(e->a->unit->arena, n * sizeof *after);
    if (!e->fails)
        memcpy(after, e->value, n * sizeof *after);
    start_again(e);
    for (unsigned i = 0; i < rounds && !e->fails; i++)
        run_block(e, first);
    for (uint32_t reg = 0; reg < n && !e->fails; reg++)
        if (jit_set_has(written, reg) && reg != r->counter.index && matters(e->a, first, reg) &&
            e->value[reg] != after[reg])
            return false;
    return !e->fails;
}

static bool is_power(int64_t number)
{
    return number > 0 && !(number & (number - 1));
}

/* The block between leads to the second loop, unless its guard takes lanes behind it. */
static bool leads_on(const struct jit_facts *a, uint32_t block)
{
    const struct pt_insn *last = &a->unit->f->insns.v[jit_insn_info_last(a, block)];
    bool branches = pt_insn_form(a->unit->m, last)->op == PT_OP_bra;
    return !branches || (last->guard && a->unit->f->operands.v[last->operands].index == block + 2);
}

bool jit_loops_find_reroll(const struct jit_facts *a, uint32_t first, struct jit_reroll *r)
{
    size_t n = a->unit->f->regs.n, words = pt_bit_words(n);
    struct eval e = {.a = a, .n = 1};
    e.nodes = pt_arena_alloc(a->unit->arena, JIT_UNROLLED_NODES * sizeof *e.nodes);
    e.value = pt_arena_alloc(a->unit->arena, n * sizeof *e.value);
    uint64_t *written = pt_arena_alloc(a->unit->arena, words * sizeof *written);
    struct regs loops = {.defs = written};
    see_block(a, first, &loops);
    if (!leads_on(a, first + 1) || !comes_before(a, first, written))
        return false;
    see_block(a, first + 2, &loops);
    int64_t step = e.step = find_index(&e, first + 2, r);
    start_again(&e);
    run_block(&e, first);
    if (e.fails || !is_power(step) || step > JIT_UNROLLED_STEP || !find_counter(&e, first, r) ||
        jit_def_use_is_live_into(a, first + 2, r->counter.index) ||
        jit_def_use_is_live_into(a, first + 3, r->counter.index) ||
        (r->end.kind == PT_OPND_REG && jit_set_has(written, r->end.index)))
        return false;
    const struct node *sum = &e.nodes[value_of(&e, r->index.index)];
    if (sum->kind != NODE_SUM || sum->value[0] != start_of(&e, r->index.index) ||
        !is_power(sum->source[0].imm) || sum->source[0].imm >= step)
        return false;
    r->step = (unsigned)sum->source[0].imm;
    r->rounds = (unsigned)step / r->step;
    return r->rounds <= JIT_UNROLLED_ROUNDS && do_the_same(&e, first, r->rounds, written, r);
}

const struct pt_operand *jit_loops_load_base(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    if ((form->op != PT_OP_ld && form->op != PT_OP_ld_nc) || pt_order_of(form) != PT_ORDER_PLAIN ||
        pt_form_has(form, PT_M_local))
        return NULL;
    const struct pt_operand *mem = &a->unit->f->operands.v[insn->operands + 1];
    const struct pt_operand *base = &a->unit->f->operands.v[mem->index];
    return mem->kind == PT_OPND_MEM && base->kind == PT_OPND_REG ? base : NULL;
}

struct use {
    uint64_t *set;
    bool meets;
};

static void note_use(void *ud, uint32_t reg, bool is_def)
{
    struct use *u = ud;
    u->meets |= !is_def && jit_set_has(u->set, reg);
}

static void note_def(void *ud, uint32_t reg, bool is_def)
{
    struct use *u = ud;
    if (is_def)
        jit_set_add(u->set, reg);
}

/* Adds to `set` what the block computes from its registers, and from loads if `starts`. */
static void spread(const struct jit_facts *a, const struct pt_block *b, uint64_t *set, bool starts)
{
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_insn *insn = &a->unit->f->insns.v[i];
        struct use u = {.set = set, .meets = starts && jit_loops_load_base(a, insn)};
        pt_insn_regs(a->unit->m, a->unit->f, insn, note_use, &u);
        if (u.meets)
            pt_insn_regs(a->unit->m, a->unit->f, insn, note_def, &u);
    }
}

/* Where a round loads from, or whether it is the last, comes from what rounds before it loaded. */
static bool is_chained(const struct jit_facts *a, uint32_t block)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    size_t words = pt_bit_words(a->unit->f->regs.n);
    uint64_t *set = pt_arena_alloc(a->unit->arena, words * sizeof *set);
    spread(a, b, set, true);
    for (size_t w = 0; w < words; w++)
        set[w] &= a->live_in[block * words + w];
    spread(a, b, set, false);
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_operand *base = jit_loops_load_base(a, &a->unit->f->insns.v[i]);
        if (base && jit_set_has(set, base->index))
            return true;
    }
    return jit_set_has(set, a->unit->f->insns.v[jit_insn_info_last(a, block)].guard);
}

bool jit_loops_is_loading(const struct jit_facts *a, uint32_t block)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    const struct pt_insn *last = &a->unit->f->insns.v[jit_insn_info_last(a, block)];
    uint32_t loads = 0,
             most = a->unit->cpu->has_gather ? JIT_LOADING_INSNS_GATHERED : JIT_LOADING_INSNS;
    if (a->uniformity->branch[block] <= PT_LEVEL_GROUP ||
        pt_insn_form(a->unit->m, last)->op != PT_OP_bra || !last->guard || b->next == block ||
        a->unit->f->operands.v[last->operands].index != block)
        return false;
    for (uint32_t i = b->first; i < b->first + b->count - 1; i++)
        loads += jit_loops_load_base(a, &a->unit->f->insns.v[i]) != NULL;
    return loads * most >= b->count && !is_chained(a, block);
}

static bool is_of_grid(const struct jit_facts *a, const struct pt_operand *o, unsigned depth)
{
    _Static_assert(PT_SREG_nctaid_z == PT_SREG_nctaid_x + 2, "sreg.def");
    if (o->kind == PT_OPND_SREG)
        return o->index >= PT_SREG_nctaid_x && o->index <= PT_SREG_nctaid_z;
    uint32_t only = o->kind == PT_OPND_REG ? a->regs[o->index].only : UINT32_MAX;
    if (only == UINT32_MAX || depth == JIT_GRID_DEPTH)
        return false;
    const struct pt_insn *insn = &a->unit->f->insns.v[only];
    if (pt_insn_form(a->unit->m, insn)->effects & ~(uint32_t)PT_FX_FP)
        return false;
    for (uint32_t i = 1; i < insn->n_operands; i++)
        if (is_of_grid(a, &a->unit->f->operands.v[insn->operands + i], depth + 1))
            return true;
    return false;
}

bool jit_loops_stride_grid(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_operand *o = &a->unit->f->operands.v[insn->operands];
    if (pt_insn_form(a->unit->m, insn)->op != PT_OP_add_int || insn->guard ||
        o->kind != PT_OPND_REG)
        return false;
    for (unsigned k = 1; k < 3; k++)
        if (o[k].kind == PT_OPND_REG && o[k].index == o->index)
            return a->regs[o->index].n_defs == 2 && is_of_grid(a, &o[3 - k], 0);
    return false;
}
