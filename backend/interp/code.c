/* The decoder: one lowered function into code, and one kernel with all it may call into a
 * program.
 *
 * A register's slot is shared with registers whose live ranges (in block order, without holes)
 * do not meet. That is safe under divergence: writes touch active lanes only, and a lane that
 * waits elsewhere keeps its own elements. Slots of different widths never overlap, so a
 * destination is a source's slot or apart from it.
 */
#include <stdlib.h>

#include "backend/interp/async.h"
#include "ir/callee.h"

enum { NO_SLOT = UINT32_MAX, CONSTANT_BUCKETS = 256, FLAT_MAX = 160 };

/* code->ptr of a code will be the start of a block. */
struct link {
    uint32_t code, block;
};

struct pt_decoder {
    struct pt_interp_program *program;
    const struct pt_image *image;
    struct pt_module *m;
    struct pt_func *f;
    struct pt_body *body;
    struct pt_arena *scratch;
    uint32_t *slots;       /* of registers */
    uint32_t *first_block; /* decoded number of each IR block */
    uint32_t frame_bytes;  /* so far */
    uint32_t sink;         /* the slot behind _, or NO_SLOT */
    uint32_t *buckets;     /* constants by value: index + 1 */
    uint32_t *chain;
    uint32_t chain_cap;
    uint32_t ir_block, block;
    bool is_last;        /* the instruction ends its IR block */
    uint32_t link_block; /* of the code being made, or NO_SLOT */
    uint32_t n_accesses; /* so far */
    bool *is_in_flight;  /* by register: an operation in flight may use it; NULL: none may */
    PT_VEC(struct link) links;
    PT_VEC(struct pt_code) before, behind;
    uint8_t *addressed; /* pt_addressed, or NULL: no indirect call so far */
};

/* ---- slots ----------------------------------------------------------------------------------- */

static uint32_t take_bytes(struct pt_decoder *d, uint32_t bytes)
{
    uint32_t offset = d->frame_bytes;
    d->frame_bytes += (bytes + 63) & ~63u;
    return offset;
}

/* Bytes of a slot whose elements have `width` bytes; 0 is a predicate. */
static uint32_t slot_bytes(uint32_t width)
{
    return width ? width * PT_WARP_SIZE : 4;
}

static uint32_t reg_width(const struct pt_func *f, uint32_t reg)
{
    uint32_t bits = pt_type_bits((enum pt_type)f->regs.v[reg].type);
    return bits == 1 ? 0 : bits <= 32 ? 4 : bits / 8;
}

/* Live range of a register: places are twice the instruction's index for uses, one more for
 * definitions. */
struct range {
    uint32_t first, last, reg;
};

struct ranges {
    struct range *v;
    uint32_t place;
    bool is_shared; /* the instruction's definitions must not share slots with its uses */
};

static void extend(struct range *r, uint32_t place)
{
    if (place < r->first)
        r->first = place;
    if (place > r->last)
        r->last = place;
}

static void count_defs(void *ud, uint32_t reg, bool is_def)
{
    (void)reg;
    *(uint32_t *)ud += is_def;
}

static void see_reg(void *ud, uint32_t reg, bool is_def)
{
    struct ranges *r = ud;
    r->v[reg].reg = reg;
    extend(&r->v[reg], r->place + (is_def || r->is_shared));
}

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Calls write parameters in registers, whether these are read or not. */
static void see_params(const struct pt_decoder *d, struct range *ranges)
{
    for (uint32_t i = 0; i < d->f->params.n; i++) {
        const struct pt_symbol *s = &d->m->symbols.v[d->f->params.v[i]];
        if (s->space != PT_SPACE_REG)
            continue;
        ranges[s->reg].reg = s->reg;
        extend(&ranges[s->reg], 0);
    }
}

static struct range *find_ranges(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    struct ranges r = {.v = pt_arena_alloc(d->scratch, f->regs.n * sizeof(struct range))};
    for (uint32_t i = 0; i < f->regs.n; i++)
        r.v[i] = (struct range){.first = UINT32_MAX};
    const uint64_t *live = pt_live_in(d->m, f, d->scratch);
    uint32_t words = (f->regs.n + 63) / 64;
    see_params(d, r.v);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const struct pt_block *block = &f->blocks.v[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            uint32_t defs = 0;
            pt_insn_regs(d->m, f, &f->insns.v[i], count_defs, &defs);
            r.place = 2 * i;
            r.is_shared = defs > 1;
            pt_insn_regs(d->m, f, &f->insns.v[i], see_reg, &r);
        }
        for (uint32_t w = 0; w < words; w++) {
            for (uint64_t bits = live[(size_t)b * words + w]; bits; bits &= bits - 1) {
                struct range *range = &r.v[w * 64 + (uint32_t)__builtin_ctzll(bits)];
                extend(range, 2 * block->first);
                /* Live out of every predecessor. */
                for (uint32_t p = 0; p < block->n_pred; p++) {
                    const struct pt_block *pred = &f->blocks.v[f->edges.v[block->pred + p]];
                    extend(range, 2 * (pred->first + pred->count) - 1);
                }
            }
        }
    }
    return r.v;
}

/* A binary heap of ranges by their end. */
static void heap_push(struct range *heap, uint32_t *n, struct range r)
{
    uint32_t i = (*n)++;
    for (; i && heap[(i - 1) / 2].last > r.last; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = r;
}

static struct range heap_pop(struct range *heap, uint32_t *n)
{
    struct range top = heap[0], r = heap[--*n];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= *n)
            break;
        if (child + 1 < *n && heap[child + 1].last < heap[child].last)
            child++;
        if (heap[child].last >= r.last)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = r;
    return top;
}

static void assign_slots(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    d->slots = d->body->slots = pt_arena_alloc(&d->program->arena, f->regs.n * sizeof *d->slots);
    struct range *ranges = find_ranges(d);
    uint32_t n = 0;
    for (uint32_t i = 1; i < f->regs.n; i++) {
        if (ranges[i].first == UINT32_MAX)
            continue;
        if (d->is_in_flight && d->is_in_flight[i]) { /* its slot is its own */
            extend(&ranges[i], 0);
            extend(&ranges[i], 2 * f->insns.n);
        }
        ranges[n++] = ranges[i];
    }
    qsort(ranges, n, sizeof *ranges, by_start);
    /* One pool for each width: 0, 4, 8, 16. */
    struct range *heap = pt_arena_alloc(d->scratch, n * sizeof *heap);
    uint32_t *free_slots[4], n_free[4] = {0}, n_heap = 0;
    for (int k = 0; k < 4; k++)
        free_slots[k] = pt_arena_alloc(d->scratch, n * sizeof(uint32_t));
    uint32_t preds = 0, pred_base = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (n_heap && heap[0].last < ranges[i].first) {
            uint32_t reg = heap_pop(heap, &n_heap).reg, k = reg_width(f, reg) / 4;
            k = k == 4 ? 3 : k;
            free_slots[k][n_free[k]++] = d->slots[reg];
        }
        uint32_t reg = ranges[i].reg, width = reg_width(f, reg), k = width == 16 ? 3 : width / 4;
        if (n_free[k]) {
            d->slots[reg] = free_slots[k][--n_free[k]];
        } else if (width) {
            d->slots[reg] = take_bytes(d, slot_bytes(width));
        } else {
            if (preds % 16 == 0)
                pred_base = take_bytes(d, 64);
            d->slots[reg] = pred_base + 4 * (preds++ % 16);
        }
        heap_push(heap, &n_heap, ranges[i]);
    }
}

static uint32_t constant_slot(struct pt_decoder *d, uint32_t width, uint64_t lo, uint64_t hi)
{
    uint32_t hash = (uint32_t)((lo * 0x9e3779b97f4a7c15u + hi + width) >> 40) % CONSTANT_BUCKETS;
    struct pt_body *body = d->body;
    for (uint32_t i = d->buckets[hash]; i; i = d->chain[i - 1]) {
        const struct pt_constant *c = &body->constants.v[i - 1];
        if (c->width == width && c->lo == lo && c->hi == hi)
            return c->offset;
    }
    if (body->constants.n == d->chain_cap) {
        uint32_t cap = d->chain_cap ? 2 * d->chain_cap : 64;
        uint32_t *chain = pt_arena_alloc(d->scratch, cap * sizeof *chain);
        if (d->chain_cap)
            memcpy(chain, d->chain, d->chain_cap * sizeof *chain);
        d->chain = chain;
        d->chain_cap = cap;
    }
    struct pt_constant *c = pt_vec_push(&d->program->arena, &body->constants);
    *c = (struct pt_constant){take_bytes(d, slot_bytes(width)), width, lo, hi};
    d->chain[body->constants.n - 1] = d->buckets[hash];
    d->buckets[hash] = body->constants.n;
    return c->offset;
}

uint32_t pt_code_slot(struct pt_select *s, uint32_t bytes)
{
    return take_bytes(s->decoder, slot_bytes(bytes));
}

void *pt_code_array(struct pt_select *s, size_t bytes)
{
    return pt_arena_alloc(&s->decoder->program->arena, bytes);
}

struct pt_interp_program *pt_code_program(const struct pt_select *s)
{
    return s->decoder->program;
}

/* ---- operands -------------------------------------------------------------------------------- */

pt_handler pt_refuse(struct pt_select *s, const char *what)
{
    if (!s->decoder)
        return NULL;
    struct pt_diags *diags = &s->module->diags;
    uint32_t n = diags->list.n;
    pt_diag_error(diags, s->insn->line, s->insn->col, (uint32_t)strlen(s->form->spelling),
                  "'%s'%s%s is known but not supported yet", s->form->spelling,
                  what ? " with " : "", what ? what : "");
    if (diags->list.n > n)
        diags->list.v[n].unsupported = true;
    return NULL;
}

static bool is_kernel_param(const struct pt_select *s, uint32_t symbol)
{
    if (!s->func->is_entry)
        return false;
    for (uint32_t i = 0; i < s->func->params.n; i++)
        if (s->func->params.v[i] == symbol)
            return true;
    return false;
}

uint64_t pt_code_symbol(const struct pt_select *s, uint32_t symbol, enum pt_space *space)
{
    const struct pt_symbol *sym = &s->module->symbols.v[symbol];
    *space = (enum pt_space)sym->space;
    if (sym->space == PT_SPACE_PARAM && !is_kernel_param(s, symbol))
        *space = PT_SPACE_LOCAL;
    if (sym->space == PT_SPACE_PARAM || sym->space == PT_SPACE_LOCAL)
        return sym->offset;
    return s->decoder->image->symbols[symbol];
}

uint64_t pt_code_constants(const struct pt_select *s)
{
    uint32_t first = pt_first_constant(s->module);
    return first == PT_NONE || !s->decoder
               ? 0
               : s->decoder->image->symbols[first] - s->module->symbols.v[first].offset;
}

bool pt_code_is_of_kernel(const struct pt_select *s)
{
    return s->func->is_entry ? !PT_HAS(s, param_func) : PT_HAS(s, param_entry);
}

struct pt_code *pt_code_before(struct pt_select *s, pt_handler fn)
{
    struct pt_code *c = pt_vec_push(s->decoder->scratch, &s->decoder->before);
    c->fn = fn;
    c->insn = s->code->insn;
    return c;
}

struct pt_code *pt_code_behind(struct pt_select *s, pt_handler fn)
{
    struct pt_code *c = pt_vec_push(s->decoder->scratch, &s->decoder->behind);
    c->fn = fn;
    c->insn = s->code->insn;
    return c;
}

/* The tests before an access, of which there are at most two. Returns how many. */
static uint32_t make_tests(const struct pt_select *s, const struct pt_code *access, bool is_write,
                           struct pt_code tests[2])
{
    struct pt_decoder *d = s->decoder;
    uint32_t asked = d->program->base.tests, n = 0;
    tests[n] = *access;
    n += asked & PT_TEST_MEMORY && pt_isolate_test(&tests[n], d->f, is_write, d->n_accesses++);
    tests[n] = *access;
    n += asked & PT_TEST_ASYNC && pt_race_test(&tests[n], s->form, is_write);
    return n;
}

void pt_code_access_behind(struct pt_select *s, const struct pt_code *access)
{
    struct pt_code tests[2];
    uint32_t n = make_tests(s, access, true, tests);
    for (uint32_t i = 0; i < n; i++)
        *pt_code_behind(s, NULL) = tests[i];
    *pt_code_behind(s, NULL) = *access;
}

/* The bits of a constant for a slot of `width` bytes. */
static uint64_t constant_bits(const struct pt_operand *o, uint32_t width)
{
    uint64_t bits = (uint64_t)o->imm;
    if (width == 0)
        return bits ? UINT32_MAX : 0;
    if (o->type == PT_f64 && width == 4) {
        double value;
        memcpy(&value, &bits, sizeof value);
        float narrow = (float)value;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    if (o->type == PT_f32 && width == 8) {
        float value;
        memcpy(&value, &bits, sizeof value);
        double wide = value;
        memcpy(&bits, &wide, sizeof wide);
    }
    return width == 4 ? (uint32_t)bits : bits;
}

static uint32_t address_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    enum pt_space space;
    uint64_t address = pt_code_symbol(s, o->index, &space) + (uint64_t)o->imm;
    if (space == PT_SPACE_CONST && !(o->flags & PT_OPND_GENERIC))
        address -= pt_code_constants(s);
    if (space == PT_SPACE_GLOBAL || space == PT_SPACE_CONST)
        return constant_slot(s->decoder, width, width == 4 ? (uint32_t)address : address, 0);
    pt_handler fn = pt_move_address(space, o->flags & PT_OPND_GENERIC, width);
    if (!fn) {
        pt_refuse(s, "the address of a variable in this state space");
        return NO_SLOT;
    }
    struct pt_code *c = pt_code_before(s, fn);
    c->imm = address;
    return c->o[0] = pt_code_slot(s, width);
}

static uint32_t sreg_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    struct pt_code *c = pt_code_before(s, pt_move_sreg((enum pt_sreg)o->index, width));
    c->aux = (uint16_t)o->index;
    return c->o[0] = pt_code_slot(s, width);
}

static uint32_t reg_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    uint32_t has = reg_width(s->func, o->index), slot = s->decoder->slots[o->index];
    if (has == width)
        return slot;
    if (!width || !has || has == 16 || width == 16) {
        pt_refuse(s, "an operand of this width");
        return NO_SLOT;
    }
    struct pt_code *c =
        pt_code_before(s, width == 4 ? pt_move_narrow() : pt_move_extend(32, 64, false));
    c->o[1] = slot;
    return c->o[0] = pt_code_slot(s, width);
}

uint32_t pt_code_source(struct pt_select *s, const struct pt_operand *o, uint32_t width)
{
    switch (o->kind) {
    case PT_OPND_REG:
        return reg_source(s, o, width);
    case PT_OPND_IMM:
        return constant_slot(s->decoder, width, constant_bits(o, width), 0);
    case PT_OPND_SREG:
        return sreg_source(s, o, width);
    case PT_OPND_SYM:
        return address_source(s, o, width);
    case PT_OPND_FUNC:
        return constant_slot(s->decoder, width,
                             s->decoder->image->func_base + 16 * (uint64_t)o->index, 0);
    case PT_OPND_SINK:
        return pt_code_dest(s, o);
    default:
        pt_refuse(s, "this kind of operand");
        return NO_SLOT;
    }
}

uint32_t pt_code_dest(struct pt_select *s, const struct pt_operand *o)
{
    struct pt_decoder *d = s->decoder;
    if (o->kind == PT_OPND_REG)
        return d->slots[o->index];
    if (d->sink == NO_SLOT)
        d->sink = take_bytes(d, slot_bytes(16));
    return d->sink;
}

/* A destination of the type in a register that may be wider. */
static uint32_t wide_dest(struct pt_select *s, const struct pt_operand *o, enum pt_type type)
{
    uint32_t bits = pt_type_bits(type);
    if (o->kind != PT_OPND_REG)
        return pt_code_dest(s, o);
    uint32_t reg_bits = pt_type_bits((enum pt_type)s->func->regs.v[o->index].type);
    bool is_signed = pt_type_class(type) == PT_CLASS_S;
    uint32_t has = reg_bits <= 32 ? 4 : 8, width = bits <= 32 ? 4 : 8;
    if (reg_bits <= bits || (has == width && !is_signed))
        return pt_code_dest(s, o);
    struct pt_code *c = pt_code_behind(s, pt_move_extend(bits, reg_bits, is_signed));
    c->o[0] = pt_code_dest(s, o);
    return c->o[1] = pt_code_slot(s, width);
}

static uint32_t bind_one(struct pt_select *s, const struct pt_operand *o, char letter)
{
    switch (letter) {
    case 'w':
        return pt_code_source(s, o, 4);
    case 'l':
        return pt_code_source(s, o, 8);
    case 'q':
        return pt_code_source(s, o, 16);
    case 'p':
        return pt_code_source(s, o, 0);
    case 'x':
        return wide_dest(s, o, (enum pt_type)s->form->type[0]);
    case 'y':
        return wide_dest(s, o, PT_u32);
    case 'i':
        s->code->imm = (uint64_t)o->imm;
        return 0;
    default:
        return 0;
    }
}

bool pt_bind(struct pt_select *s, const char *widths)
{
    if (!s->decoder)
        return false;
    uint32_t n = 0, slots[FLAT_MAX];
    for (; n < s->n && widths[n]; n++) {
        const struct pt_operand *o = s->flat[n];
        slots[n] = bind_one(s, o, widths[n]);
        if (slots[n] == NO_SLOT)
            return false;
        if (n < 8 && (o->flags & PT_OPND_NEG))
            s->code->neg |= (uint8_t)(1u << n);
    }
    s->code->n = (uint8_t)n;
    memcpy(s->code->o, slots, (n < PT_OPERANDS ? n : PT_OPERANDS) * sizeof *slots);
    if (n > PT_OPERANDS) {
        uint32_t *ops = pt_code_array(s, n * sizeof *ops);
        memcpy(ops, slots, n * sizeof *ops);
        s->code->ops = ops;
    }
    return true;
}

static void flatten(struct pt_select *s, const struct pt_operand *o)
{
    switch (o->kind) {
    case PT_OPND_PAIR:
        for (uint32_t i = 0; i < 2; i++)
            flatten(s, &s->func->operands.v[o->index + i]);
        return;
    case PT_OPND_VEC:
    case PT_OPND_MEM:
    case PT_OPND_LIST:
        for (int64_t i = 0; i < o->imm; i++)
            flatten(s, &s->func->operands.v[o->index + i]);
        return;
    default:
        if (s->n < FLAT_MAX)
            s->flat[s->n++] = o;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

uint32_t pt_code_block(const struct pt_select *s, uint32_t ir_block)
{
    return s->decoder->first_block[ir_block];
}

uint32_t pt_code_ir_block(const struct pt_select *s)
{
    return s->decoder->ir_block;
}

bool pt_code_communicates(const struct pt_select *s)
{
    return s->decoder->f->blocks.v[s->decoder->ir_block].communicates;
}

const uint8_t *pt_code_callees(const struct pt_select *s)
{
    struct pt_decoder *d = s->decoder;
    uint8_t *is_callee = pt_arena_alloc(&d->program->arena, d->m->funcs.n);
    uint32_t n;
    if (!d->addressed)
        d->addressed = pt_addressed(d->m, d->scratch);
    const uint32_t *funcs = pt_callees(d->m, d->f, s->insn, d->addressed, d->scratch, &n);
    for (uint32_t i = 0; i < n; i++)
        is_callee[funcs[i]] = 1;
    return is_callee;
}

uint32_t pt_code_here(const struct pt_select *s)
{
    return s->decoder->block;
}

/* Does IR block b lead back to itself or before, other than by a branch? Then a block of its own, the last it is decoded to,
 * takes the back edge, so that no loop goes round without looking at the clock and at other lanes. */
static bool falls_back(const struct pt_func *f, uint32_t b)
{
    return f->blocks.v[b].next <= b;
}

/* The number of the block that follows IR block b. */
static uint32_t next_number(const struct pt_decoder *d, uint32_t b)
{
    return falls_back(d->f, b) ? d->first_block[b + 1] - 1 : d->first_block[d->f->blocks.v[b].next];
}

static uint32_t block_after(const struct pt_decoder *d)
{
    if (!d->is_last || d->f->blocks.v[d->ir_block].next == UINT32_MAX)
        return d->block + 1;
    return next_number(d, d->ir_block);
}

uint32_t pt_code_after(const struct pt_select *s)
{
    return block_after(s->decoder);
}

void pt_code_link(struct pt_select *s, uint32_t block)
{
    s->decoder->link_block = block;
}

static const pt_selector selectors[PT_OP_COUNT] = {
#define ROW(id, syntax, shape, effects, jit, ptx, sm) [PT_OP_##id] = PT_DO(id),
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm)
#include "ir/isa.def"
};

pt_handler pt_code_handler(struct pt_module *module, const struct pt_form *form, uint64_t *imm)
{
    struct pt_code code = {0};
    struct pt_select s = {.module = module, .form = form, .code = &code};
    pt_handler handler = selectors[form->op] ? selectors[form->op](&s) : NULL;
    *imm = code.imm;
    return handler;
}

static struct pt_code *emit(struct pt_decoder *d, const struct pt_code *code)
{
    struct pt_code *c = pt_vec_push(&d->program->arena, &d->body->codes);
    *c = *code;
    return c;
}

static void emit_link(struct pt_decoder *d, uint32_t block)
{
    struct link *link = pt_vec_push(d->scratch, &d->links);
    *link = (struct link){d->body->codes.n - 1, block};
}

/* A branch to `block` that no instruction stands for. */
static void emit_goto(struct pt_decoder *d, uint32_t insn, uint32_t block)
{
    emit(d, &(struct pt_code){.fn = pt_ctl_bra, .o = {block}, .insn = insn});
    emit_link(d, block);
}

/* What selects the lanes of a guarded instruction. A guarded end of a block (but bra, which does
 * it itself) sends the others to the next block first; any other instruction runs under a
 * narrowed mask. */
static void emit_guard(struct pt_decoder *d, const struct pt_insn *insn, const struct pt_form *form,
                       uint32_t index, uint32_t n_tests)
{
    struct pt_code guard = {
        .o = {d->slots[insn->guard]}, .insn = index, .neg = insn->guard_neg != 0};
    if (form->effects & (PT_FX_BRANCH | PT_FX_END)) {
        uint32_t next = next_number(d, d->ir_block);
        guard.fn = pt_ctl_split;
        guard.o[1] = next;
        emit(d, &guard);
        emit_link(d, next);
        return;
    }
    guard.fn = pt_ctl_guard;
    guard.aux = (uint16_t)(n_tests + 1 + d->behind.n);
    emit(d, &guard);
}

/* Registers of an instruction that an operation in flight may use. */
struct in_flight {
    struct pt_decoder *d;
    PT_VEC(struct pt_race_reg) regs;
};

static void see_in_flight(void *ud, uint32_t reg, bool is_def)
{
    struct in_flight *seen = ud;
    struct pt_decoder *d = seen->d;
    if (d->is_in_flight[reg])
        *(struct pt_race_reg *)pt_vec_push(&d->program->arena, &seen->regs) =
            (struct pt_race_reg){reg, d->slots[reg], is_def};
}

/* What a wgmma writes may be in flight already, for another of the same shape. */
static bool make_register_test(struct pt_decoder *d, uint32_t index, struct pt_code *test)
{
    struct in_flight seen = {.d = d};
    const struct pt_insn *insn = &d->f->insns.v[index];
    if (pt_is_wgmma(pt_insn_form(d->m, insn)))
        return false;
    pt_insn_regs(d->m, d->f, insn, see_in_flight, &seen);
    *test = pt_race_test_registers(index, seen.regs.v, seen.regs.n);
    return seen.regs.n > 0;
}

static void mark_in_flight(void *ud, uint32_t reg, bool is_def)
{
    struct pt_decoder *d = ud;
    (void)is_def;
    d->is_in_flight[reg] |= pt_type_bits((enum pt_type)d->f->regs.v[reg].type) == 32;
}

/* Fragments of the function's wgmmas, and what else of 32 bits these have. */
static void find_in_flight(struct pt_decoder *d)
{
    for (uint32_t i = 0; d->program->base.tests & PT_TEST_ASYNC && i < d->f->insns.n; i++) {
        const struct pt_insn *insn = &d->f->insns.v[i];
        if (!pt_is_wgmma(pt_insn_form(d->m, insn)))
            continue;
        if (!d->is_in_flight)
            d->is_in_flight = pt_arena_alloc(d->scratch, d->f->regs.n * sizeof *d->is_in_flight);
        pt_insn_regs(d->m, d->f, insn, mark_in_flight, d);
    }
}

static bool decode_insn(struct pt_decoder *d, uint32_t index)
{
    const struct pt_insn *insn = &d->f->insns.v[index];
    const struct pt_form *form = pt_insn_form(d->m, insn);
    const struct pt_operand *flat[FLAT_MAX];
    struct pt_code code = {.insn = index};
    struct pt_select s = {.decoder = d,
                          .module = d->m,
                          .func = d->f,
                          .insn = insn,
                          .form = form,
                          .operands = insn->n_operands ? d->f->operands.v + insn->operands : NULL,
                          .code = &code,
                          .flat = flat};
    for (uint32_t i = 0; i < insn->n_operands; i++)
        flatten(&s, &s.operands[i]);
    struct pt_span *span = &d->body->spans[index];
    span->first = d->body->codes.n;
    d->before.n = d->behind.n = 0;
    d->link_block = NO_SLOT;
    uint32_t errors = d->m->diags.errors;
    code.fn = selectors[form->op] ? selectors[form->op](&s) : pt_refuse(&s, NULL);
    if (!code.fn) {
        if (d->m->diags.errors == errors)
            pt_refuse(&s, "these operands");
        return false;
    }
    struct pt_code tests[3];
    bool is_write = form->effects & (PT_FX_WRITE | PT_FX_ATOMIC);
    uint32_t n_tests = s.is_access ? make_tests(&s, &code, is_write, tests) : 0;
    n_tests += d->is_in_flight && make_register_test(d, index, &tests[n_tests]);
    for (uint32_t i = 0; i < d->before.n; i++)
        emit(d, &d->before.v[i]);
    if (insn->guard && !pt_ctl_takes_guard(form))
        emit_guard(d, insn, form, index, n_tests);
    for (uint32_t i = 0; i < n_tests; i++)
        emit(d, &tests[i]);
    emit(d, &code);
    if (d->link_block != NO_SLOT)
        emit_link(d, d->link_block);
    for (uint32_t i = 0; i < d->behind.n; i++)
        emit(d, &d->behind.v[i]);
    span->n = d->body->codes.n - span->first;
    return true;
}

static bool is_sync(const struct pt_form *form)
{
    return form->effects & (PT_FX_CTA | PT_FX_CLUSTER | PT_FX_WARP);
}

/* Other warps go on behind the instruction. */
static bool gives_way(const struct pt_decoder *d, const struct pt_form *form)
{
    bool is_access = form->effects & (PT_FX_READ | PT_FX_WRITE) && !(form->effects & (PT_FX_BRANCH | PT_FX_CALL | PT_FX_END));
    return is_access && d->program->base.tests & PT_TEST_TURNS;
}

/* True if lanes may wait between this instruction and the next. */
static bool splits_block(const struct pt_decoder *d, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(d->m, insn);
    return is_sync(form) || gives_way(d, form);
}

static void number_blocks(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    d->first_block = pt_arena_alloc(d->scratch, (f->blocks.n + 1) * sizeof *d->first_block);
    uint32_t n = 0;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        d->first_block[b] = n++;
        const struct pt_block *block = &f->blocks.v[b];
        for (uint32_t i = 0; i + 1 < block->count; i++)
            n += splits_block(d, &f->insns.v[block->first + i]);
        n += falls_back(f, b);
    }
    d->first_block[f->blocks.n] = n;
    d->body->n_blocks = n;
    d->body->n_words = (n + 63) / 64;
}

/* The block that takes the back edge of a block that falls back. */
static void back_block(struct pt_decoder *d, uint32_t b, uint32_t *starts)
{
    const struct pt_block *block = &d->f->blocks.v[b];
    uint32_t target = d->first_block[block->next], here = next_number(d, b);
    uint32_t last = block->first + block->count - 1;
    uint32_t effects = pt_insn_form(d->m, &d->f->insns.v[last])->effects;
    if (!(effects & (PT_FX_BRANCH | PT_FX_CALL)))
        emit(d, &(struct pt_code){.fn = pt_ctl_fall, .o = {here}, .insn = last});
    starts[here] = d->body->codes.n;
    emit(d, &(struct pt_code){.fn = block->communicates ? pt_ctl_turn : pt_ctl_back,
                              .o = {target},
                              .insn = last});
    emit_link(d, target);
}

/* Behind the last instruction of block b: lanes that go on elsewhere, or meet others at the next
 * block. */
static void end_block(struct pt_decoder *d, uint32_t b, uint32_t *starts)
{
    const struct pt_block *block = &d->f->blocks.v[b];
    uint32_t last = block->first + block->count - 1;
    const struct pt_insn *insn = &d->f->insns.v[last];
    const struct pt_form *form = pt_insn_form(d->m, insn);
    if ((form->effects & PT_FX_END) && !insn->guard)
        return;
    if (block->next == UINT32_MAX) {
        emit(d, &(struct pt_code){.fn = pt_ctl_end, .insn = last});
        return;
    }
    if (falls_back(d->f, b)) {
        back_block(d, b, starts);
        return;
    }
    const struct pt_block *next = &d->f->blocks.v[block->next];
    uint32_t number = d->first_block[block->next];
    if (block->next != b + 1)
        emit_goto(d, last, number);
    else if (next->n_pred > 1 && !(form->effects & (PT_FX_BRANCH | PT_FX_CALL)))
        emit(d, &(struct pt_code){.fn = pt_ctl_fall, .o = {number}, .insn = last});
}

/* True if lanes that run one after the other meet at the instruction: before those that need others, and before functions, in
 * which there may be some. */
static bool is_meeting(const struct pt_decoder *d, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(d->m, insn);
    uint32_t callee = form->effects & PT_FX_CALL ? pt_ctl_callee(d->f, insn) : PT_NONE;
    return is_sync(form) ||
           (form->effects & PT_FX_CALL && (callee == PT_NONE || !d->m->funcs.v[callee].is_declared_only));
}

static void emit_order(struct pt_decoder *d, pt_handler fn, uint32_t insn, uint32_t block)
{
    if (d->program->base.tests & PT_TEST_ORDER)
        emit(d, &(struct pt_code){.fn = fn, .o = {block}, .insn = insn});
}

/* An instruction, and what else there is of it where lanes run one after the other. */
static void decode_in_order(struct pt_decoder *d, uint32_t index)
{
    const struct pt_insn *insn = &d->f->insns.v[index];
    if (is_meeting(d, insn))
        emit_order(d, pt_loop_meet, index, d->block);
    else if (index == 0)
        emit_order(d, pt_loop_part, index, d->block);
    decode_insn(d, index);
    if (is_sync(pt_insn_form(d->m, insn)))
        emit_order(d, pt_loop_part, index, block_after(d));
    if (gives_way(d, pt_insn_form(d->m, insn)))
        emit(d, &(struct pt_code){.fn = pt_loop_give_way, .o = {block_after(d)}, .insn = index});
}

static void decode_blocks(struct pt_decoder *d)
{
    struct pt_func *f = d->f;
    uint32_t *starts = pt_arena_alloc(d->scratch, (d->body->n_blocks + 1) * sizeof *starts);
    for (uint32_t b = 0; b < f->blocks.n && !pt_diags_full(&d->m->diags); b++) {
        const struct pt_block *block = &f->blocks.v[b];
        d->ir_block = b;
        d->block = d->first_block[b];
        starts[d->block] = d->body->codes.n;
        for (uint32_t i = 0; i < block->count; i++) {
            d->is_last = i + 1 == block->count;
            decode_in_order(d, block->first + i);
            if (!d->is_last && splits_block(d, &f->insns.v[block->first + i]))
                starts[++d->block] = d->body->codes.n;
        }
        end_block(d, b, starts);
    }
    struct pt_body *body = d->body;
    body->start = pt_arena_alloc(&d->program->arena, (body->n_blocks + 1) * sizeof *body->start);
    for (uint32_t b = 0; b < body->n_blocks; b++)
        body->start[b] = body->codes.v + starts[b];
    for (uint32_t i = 0; i < d->links.n; i++)
        body->codes.v[d->links.v[i].code].ptr = body->start[d->links.v[i].block];
}

static struct pt_pass *formals(struct pt_decoder *d, const uint32_t *symbols, uint32_t n)
{
    struct pt_pass *pass = pt_arena_alloc(&d->program->arena, (n + 1) * sizeof *pass);
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_symbol *s = &d->m->symbols.v[symbols[i]];
        pass[i].is_reg = s->space == PT_SPACE_REG;
        pass[i].at = pass[i].is_reg ? d->slots[s->reg] : (uint32_t)s->offset;
        pass[i].bytes = pass[i].is_reg ? reg_width(d->f, s->reg) : (uint32_t)s->size;
        pass[i].align = s->align;
        pass[i].is_variadic = s->is_unsized;
    }
    return pass;
}

/* Decodes function `index`, whose lowering is done. Errors are in the module's list. */
static void decode_func(struct pt_interp_program *p, uint32_t index, struct pt_arena *scratch)
{
    const struct pt_image *image = p->base.image;
    struct pt_decoder d = {.program = p,
                           .image = image,
                           .m = image->module,
                           .f = &image->module->funcs.v[index],
                           .scratch = scratch,
                           .sink = NO_SLOT};
    struct pt_body *body = d.body = pt_arena_alloc(&p->arena, sizeof *body);
    body->func = d.f;
    body->index = index;
    body->local_bytes = (d.f->local_size + 15) & ~15u;
    body->spans = pt_arena_alloc(&p->arena, d.f->insns.n * sizeof *body->spans);
    d.buckets = pt_arena_alloc(scratch, CONSTANT_BUCKETS * sizeof *d.buckets);
    number_blocks(&d);
    d.frame_bytes = (sizeof(struct pt_frame) + 63) & ~63u;
    find_in_flight(&d);
    assign_slots(&d);
    body->params = formals(&d, d.f->params.v, d.f->is_entry ? 0 : d.f->params.n);
    body->results = formals(&d, d.f->results.v, d.f->results.n);
    decode_blocks(&d);
    body->wait_offset = take_bytes(&d, body->n_blocks * 4);
    body->set_offset = take_bytes(&d, body->n_words * 24);
    body->frame_bytes = (d.frame_bytes + 63) & ~63u;
    body->budget = PT_CODES_UNTIL_POLL / (body->codes.n + 1) + 1;
    p->bodies[index] = body;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* The call graph below a kernel: how deep activations nest and how much local memory they take. */
struct reach {
    struct pt_interp_program *program;
    struct pt_module *m;
    const uint32_t *funcs; /* reachable functions, the kernel first */
    uint32_t n;
    uint8_t *state;  /* by function: 0 not seen, 1 on the path, 2 done */
    uint32_t *depth; /* activations below, its own included */
    uint64_t *local; /* local bytes, callees included */
    bool is_bounded; /* no recursion, no indirect calls */
};

static uint32_t real_func(const struct pt_module *m, uint32_t func)
{
    while (m->funcs.v[func].alias_of)
        func = m->funcs.v[func].alias_of;
    return func;
}

static bool takes_variadic(const struct pt_module *m, uint32_t func)
{
    const struct pt_func *f = &m->funcs.v[func];
    return f->params.n && m->symbols.v[f->params.v[f->params.n - 1]].is_unsized;
}

/* The function that an instruction calls and that has a body, or PT_NONE. */
static uint32_t callee_of(struct reach *r, const struct pt_func *f, const struct pt_insn *insn)
{
    if (!(pt_insn_form(r->m, insn)->effects & PT_FX_CALL))
        return PT_NONE;
    uint32_t callee = pt_ctl_callee(f, insn);
    if (callee == PT_NONE) {
        r->is_bounded = false;
        return PT_NONE;
    }
    callee = real_func(r->m, callee);
    return r->m->funcs.v[callee].is_declared_only ? PT_NONE : callee;
}

static uint64_t own_local(const struct reach *r, uint32_t func)
{
    return (r->m->funcs.v[func].local_size + 15) & ~15u;
}

static void add_call(struct reach *r, uint32_t func, uint32_t callee)
{
    uint64_t own = own_local(r, func);
    if (r->state[callee] == 1)
        r->is_bounded = false;
    if (r->depth[func] < r->depth[callee] + 1)
        r->depth[func] = r->depth[callee] + 1;
    /* What a variadic function takes besides lies in its caller's variables too. */
    uint64_t below = r->local[callee] + (takes_variadic(r->m, callee) ? own : 0);
    if (r->local[func] < below + own)
        r->local[func] = below + own;
}

/* A function that is being measured, and the instruction that it has come to. */
struct step {
    uint32_t func, insn;
};

static struct step begin_measuring(struct reach *r, uint32_t func)
{
    r->state[func] = 1;
    r->depth[func] = 1;
    r->local[func] = own_local(r, func);
    return (struct step){func, 0};
}

/* Chains of calls may be as long as a module has functions: they are not followed by recursion. */
static void measure(struct reach *r, uint32_t kernel, struct pt_arena *scratch)
{
    struct step *path = pt_arena_alloc(scratch, r->m->funcs.n * sizeof *path);
    size_t n = 0;
    path[n++] = begin_measuring(r, kernel);
    while (n) {
        struct step *step = &path[n - 1];
        const struct pt_func *f = &r->m->funcs.v[step->func];
        if (step->insn == f->insns.n) {
            r->state[step->func] = 2;
            n--;
            continue;
        }
        uint32_t callee = callee_of(r, f, &f->insns.v[step->insn]);
        if (callee != PT_NONE && r->state[callee] == 0) { /* it is come back to when that is known */
            path[n++] = begin_measuring(r, callee);
            continue;
        }
        if (callee != PT_NONE)
            add_call(r, step->func, callee);
        step->insn++;
    }
}

enum { CALLEE_ROOM = 8 << 20 }; /* bytes for the activations of a warp whose depth is not known */

static void size_state(struct reach *r, uint32_t kernel)
{
    struct pt_interp_program *p = r->program;
    p->entry_bytes = p->bodies[kernel]->frame_bytes;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct pt_body *body = p->bodies[r->funcs[i]];
        if (body && r->funcs[i] != kernel && body->frame_bytes > p->callee_bytes)
            p->callee_bytes = body->frame_bytes;
    }
    if (p->callee_bytes) {
        uint64_t room = CALLEE_ROOM / p->callee_bytes;
        uint64_t chains = (uint64_t)(r->depth[kernel] - 1) * PT_WARP_SIZE;
        p->n_callees = (uint32_t)(r->is_bounded && chains < room ? chains : room);
    }
    size_t state = (sizeof(struct pt_state) + 63) & ~(size_t)63;
    p->base.warp_bytes = 64 + state + p->entry_bytes + (size_t)p->n_callees * p->callee_bytes;
    uint64_t local = r->local[kernel];
    p->base.local_bytes = !r->is_bounded || p->is_unbounded ? 0 : local ? local : 16;
}

static bool build(struct pt_interp_program *p, struct pt_arena *scratch)
{
    struct pt_module *m = p->base.image->module;
    uint32_t errors = m->diags.errors, kernel = real_func(m, p->base.kernel);
    struct reach r = {.program = p, .m = m, .is_bounded = true};
    r.funcs = pt_reachable(m, kernel, scratch, &r.n);
    p->bodies = pt_arena_alloc(&p->arena, m->funcs.n * sizeof(struct pt_body *));
    for (uint32_t i = 0; i < r.n; i++)
        if (!m->funcs.v[r.funcs[i]].is_declared_only && !pt_lower(m, r.funcs[i]))
            return false;
    for (uint32_t i = 0; i < r.n && !pt_diags_full(&m->diags); i++)
        if (!m->funcs.v[r.funcs[i]].is_declared_only)
            decode_func(p, r.funcs[i], scratch);
    if (m->diags.errors > errors)
        return false;
    r.state = pt_arena_alloc(scratch, m->funcs.n);
    r.depth = pt_arena_alloc(scratch, m->funcs.n * sizeof *r.depth);
    r.local = pt_arena_alloc(scratch, m->funcs.n * sizeof *r.local);
    measure(&r, kernel, scratch);
    size_state(&r, kernel);
    return true;
}

struct pt_program *pt_code_compile(const struct pt_image *image, uint32_t kernel, uint32_t tests,
                                   const struct pt_allocator *allocator)
{
    struct pt_interp_program *volatile p = allocator->resize(allocator->ud, NULL, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->base.image = image;
    p->base.kernel = kernel;
    p->base.tests = tests;
    pt_arena_init(&p->arena, allocator);
    struct pt_arena scratch;
    pt_arena_init(&scratch, allocator);
    jmp_buf oom, *outer = image->module->arena.oom;
    volatile bool is_built = false;
    if (!setjmp(oom)) {
        p->arena.oom = scratch.oom = image->module->arena.oom = &oom;
        is_built = build(p, &scratch);
    }
    image->module->arena.oom = outer;
    pt_arena_free(&scratch);
    if (is_built)
        return &p->base;
    pt_code_release(&p->base);
    return NULL;
}

void pt_code_release(struct pt_program *program)
{
    struct pt_interp_program *p = (struct pt_interp_program *)program;
    const struct pt_allocator *allocator = p->arena.allocator;
    pt_arena_free(&p->arena);
    allocator->resize(allocator->ud, p, 0);
}
