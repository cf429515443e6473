/* The decoder: one lowered function into code. */
#include "backend/interp/decode.h"
#include "backend/interp/blocks.h"
#include "backend/interp/branch.h"
#include "backend/interp/call.h"
#include "backend/interp/decoder.h"
#include "backend/interp/frontier.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/interp/selectors.h"
#include "backend/interp/slots.h"
#include "ir/bits.h"
#include "ir/insn.h"

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
        if (s->n < PT_FLAT_MAX)
            s->flat[s->n++] = o;
    }
}

pt_handler pt_decode_handler(struct pt_module *module, const struct pt_form *form, uint64_t *imm)
{
    struct pt_code code = {0};
    struct pt_select s = {.module = module, .form = form, .code = &code};
    pt_handler handler = pt_selectors[form->op] ? pt_selectors[form->op](&s) : NULL;
    *imm = code.imm;
    return handler;
}

/* The codes before an access. Returns how many. */
static uint32_t make_tests(const struct pt_select *s, const struct pt_code *access, bool is_write,
                           struct pt_code tests[PT_OBSERVERS])
{
    struct pt_decoder *d = s->decoder;
    return pt_observe_make_accesses(d->program, d->f, d->facts, s->form, access, is_write,
                                    d->n_accesses++, tests);
}

static struct pt_code *emit(struct pt_decoder *d, const struct pt_code *code)
{
    struct pt_code *c = pt_vec_push(&d->program->arena, &d->body->codes);
    *c = *code;
    return c;
}

static void emit_link(struct pt_decoder *d, uint32_t block)
{
    struct pt_link *link = pt_vec_push(d->scratch, &d->links);
    *link = (struct pt_link){d->body->codes.n - 1, block};
}

/* A branch to `block` that no instruction stands for. */
static void emit_goto(struct pt_decoder *d, uint32_t insn, uint32_t block)
{
    emit(d, &(struct pt_code){.fn = pt_branch_bra, .o = {block}, .insn = insn});
    emit_link(d, block);
}

/* What selects the lanes of a guarded instruction, of which `n_codes` follow. A guarded end of a
 * block (but bra, which does it itself) sends the others to the next block first; any other
 * instruction runs under a narrowed mask. */
static void emit_guard(struct pt_decoder *d, const struct pt_insn *insn, const struct pt_form *form,
                       uint32_t index, uint32_t n_codes)
{
    struct pt_code guard = {
        .o = {d->slots[insn->guard]}, .insn = index, .neg = insn->guard_neg != 0};
    if (form->effects & (PT_FX_BRANCH | PT_FX_END)) {
        uint32_t next = pt_blocks_next(d, d->ir_block);
        guard.fn = pt_branch_split;
        guard.o[1] = next;
        emit(d, &guard);
        emit_link(d, next);
        return;
    }
    guard.fn = pt_branch_guard;
    guard.aux = (uint16_t)n_codes;
    emit(d, &guard);
}

/* Registers of an instruction that an operation in flight may use. */
struct in_flight {
    struct pt_decoder *d;
    PT_VEC(struct pt_register_use) regs;
};

static void see_in_flight(void *ud, uint32_t reg, bool is_def)
{
    struct in_flight *seen = ud;
    struct pt_decoder *d = seen->d;
    if (d->is_in_flight[reg])
        *(struct pt_register_use *)pt_vec_push(&d->program->arena, &seen->regs) =
            (struct pt_register_use){reg, d->slots[reg], is_def};
}

/* What a wgmma writes may be in flight already, for another of the same shape. */
static bool make_register_test(struct pt_decoder *d, uint32_t index, struct pt_code *test)
{
    struct in_flight seen = {.d = d};
    const struct pt_insn *insn = &d->f->insns.v[index];
    if (!d->is_in_flight || !pt_observe_asks_registers(d->program) ||
        pt_is_wgmma(pt_insn_form(d->m, insn)))
        return false;
    pt_insn_regs(d->m, d->f, insn, see_in_flight, &seen);
    *test = pt_observe_make_registers(index, seen.regs.v, seen.regs.n);
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

static void emit_before_guard(struct pt_decoder *d, uint32_t index)
{
    struct pt_code codes[PT_OBSERVERS];
    uint32_t n = pt_observe_make_instructions(d->program, d->f, d->facts, index, true, codes);
    for (uint32_t i = 0; i < n; i++)
        emit(d, &codes[i]);
}

static bool decode_insn(struct pt_decoder *d, uint32_t index)
{
    const struct pt_insn *insn = &d->f->insns.v[index];
    const struct pt_form *form = pt_insn_form(d->m, insn);
    const struct pt_operand *flat[PT_FLAT_MAX];
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
    d->before.n = d->behind.n = d->access_behind = 0;
    d->link_block = PT_NO_SLOT;
    uint32_t errors = d->m->diags.errors;
    code.fn = pt_selectors[form->op] ? pt_selectors[form->op](&s) : pt_refuse(&s, NULL);
    if (!code.fn) {
        if (d->m->diags.errors == errors)
            pt_refuse(&s, "these operands");
        return false;
    }
    struct pt_code tests[2 * PT_OBSERVERS + 3];
    bool is_write = form->effects & (PT_FX_WRITE | PT_FX_ATOMIC) && !d->access_behind;
    uint32_t n_tests = 0;
    if (pt_observe_asks_instructions(d->program))
        tests[n_tests++] = (struct pt_code){.fn = pt_observe_instruction, .insn = index};
    n_tests +=
        pt_observe_make_instructions(d->program, d->f, d->facts, index, false, &tests[n_tests]);
    if (form->effects & PT_FX_FENCE && !s.is_access && pt_observe_asks_fences(d->program))
        tests[n_tests++] = (struct pt_code){.fn = pt_observe_fence, .insn = index};
    if (s.is_access)
        n_tests += make_tests(&s, &code, is_write, &tests[n_tests]);
    n_tests += make_register_test(d, index, &tests[n_tests]);
    struct pt_code tests_behind[PT_OBSERVERS];
    uint32_t n_behind = 0;
    if (d->access_behind)
        n_behind = make_tests(&s, &d->behind.v[d->access_behind - 1], true, tests_behind);
    if (d->is_first && pt_observe_asks_blocks(d->program))
        emit(d, &(struct pt_code){.fn = pt_observe_block, .insn = index});
    for (uint32_t i = 0; i < d->before.n; i++)
        emit(d, &d->before.v[i]);
    if (insn->guard)
        emit_before_guard(d, index);
    if (insn->guard && !pt_branch_takes_guard(form))
        emit_guard(d, insn, form, index, n_tests + 1 + n_behind + d->behind.n);
    for (uint32_t i = 0; i < n_tests; i++)
        emit(d, &tests[i]);
    emit(d, &code);
    if (d->link_block != PT_NO_SLOT)
        emit_link(d, d->link_block);
    for (uint32_t i = 0; i < d->behind.n; i++) {
        for (uint32_t k = 0; i + 1 == d->access_behind && k < n_behind; k++)
            emit(d, &tests_behind[k]);
        emit(d, &d->behind.v[i]);
    }
    span->n = d->body->codes.n - span->first;
    return true;
}

/* The block that takes the back edge of a block that falls back. */
static void back_block(struct pt_decoder *d, uint32_t b, uint32_t *starts)
{
    const struct pt_block *block = &d->f->blocks.v[b];
    uint32_t target = d->first_block[block->next], here = pt_blocks_next(d, b);
    uint32_t last = block->first + block->count - 1;
    uint32_t effects = pt_insn_form(d->m, &d->f->insns.v[last])->effects;
    if (!(effects & (PT_FX_BRANCH | PT_FX_CALL)))
        emit(d, &(struct pt_code){.fn = pt_branch_fall, .o = {here}, .insn = last});
    starts[here] = d->body->codes.n;
    emit(d, &(struct pt_code){.fn = block->communicates ? pt_branch_turn : pt_branch_back,
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
        emit(d, &(struct pt_code){.fn = pt_call_end, .insn = last});
        return;
    }
    if (pt_blocks_falls_back(d->f, b)) {
        back_block(d, b, starts);
        return;
    }
    const struct pt_block *next = &d->f->blocks.v[block->next];
    uint32_t number = d->first_block[block->next];
    if (block->next != b + 1)
        emit_goto(d, last, number);
    else if (next->n_pred > 1 && !(form->effects & (PT_FX_BRANCH | PT_FX_CALL)))
        emit(d, &(struct pt_code){.fn = pt_branch_fall, .o = {number}, .insn = last});
}

/* True if lanes that run one after the other meet at the instruction: before those that need
 * others, and before functions, in which there may be some. */
static bool is_meeting(const struct pt_decoder *d, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(d->m, insn);
    uint32_t callee = form->effects & PT_FX_CALL ? pt_call_callee(d->f, insn) : PT_NONE;
    return pt_blocks_is_sync(form) ||
           (form->effects & PT_FX_CALL &&
            (callee == PT_NONE || !d->m->funcs.v[callee].is_declared_only));
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
        emit_order(d, pt_frontier_meet, index, d->block);
    else if (index == 0)
        emit_order(d, pt_frontier_part, index, d->block);
    decode_insn(d, index);
    if (pt_blocks_is_sync(pt_insn_form(d->m, insn)))
        emit_order(d, pt_frontier_part, index, pt_blocks_behind(d));
    if (pt_blocks_gives_way(d, pt_insn_form(d->m, insn)))
        emit(d, &(struct pt_code){
                    .fn = pt_frontier_give_way, .o = {pt_blocks_behind(d)}, .insn = index});
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
            d->is_first = starts[d->block] == d->body->codes.n;
            decode_in_order(d, block->first + i);
            if (!d->is_last && pt_blocks_splits(d, &f->insns.v[block->first + i]))
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
        pass[i].bytes = pass[i].is_reg ? pt_slots_width(d->f, s->reg) : (uint32_t)s->size;
        pass[i].align = s->align;
        pass[i].is_variadic = s->is_unsized;
    }
    return pass;
}

/* Decodes function `index`, whose lowering is done. Errors are in the module's list. */
void pt_decode_func(struct pt_interp_program *p, uint32_t index, struct pt_arena *scratch)
{
    const struct pt_image *image = p->base.image;
    struct pt_decoder d = {.program = p,
                           .image = image,
                           .m = image->module,
                           .f = &image->module->funcs.v[index],
                           .scratch = scratch,
                           .sink = PT_NO_SLOT};
    struct pt_body *body = d.body = pt_arena_alloc(&p->arena, sizeof *body);
    body->func = d.f;
    body->index = index;
    body->local_bytes = (uint32_t)pt_round_up(d.f->local_size, 16);
    body->spans = pt_arena_alloc(&p->arena, d.f->insns.n * sizeof *body->spans);
    d.buckets = pt_arena_alloc(scratch, PT_CONSTANT_BUCKETS * sizeof *d.buckets);
    pt_blocks_number(&d);
    d.frame_bytes = (uint32_t)pt_round_up(sizeof(struct pt_frame), 64);
    find_in_flight(&d);
    pt_observe_analyse(p, d.f, scratch, d.facts);
    pt_slots_assign(&d);
    body->params = formals(&d, d.f->params.v, d.f->is_entry ? 0 : d.f->params.n);
    body->results = formals(&d, d.f->results.v, d.f->results.n);
    decode_blocks(&d);
    body->wait_offset = pt_slots_take(&d, body->n_blocks * 4);
    body->set_offset = pt_slots_take(&d, body->n_words * 24);
    body->frame_bytes = (uint32_t)pt_round_up(d.frame_bytes, 64);
    body->budget = PT_CODES_UNTIL_POLL / (body->codes.n + 1) + 1;
    p->bodies[index] = body;
}
