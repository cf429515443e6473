/* Branches, calls, ends, barriers of the CTA and the cluster, the stack. PTX ISA 9.7.12, 9.7.13.1-2, 9.7.17, 9.7.19. */
#include <string.h>

#include "backend/interp/race.h"
#include "backend/barrier.h"

/* ---- guards ---------------------------------------------------------------------------------- */

/* Runs the next c->aux codes for the lanes whose predicate is true. */
const struct pt_code *pt_ctl_guard(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t mask = f->mask, on = mask & PT_PRED(0);
    if (on == mask)
        return c + 1;
    if (!on)
        return c + 1 + c->aux;
    pt_set_mask(f, on);
    const struct pt_code *next = c + 1;
    for (uint32_t i = 0; i < c->aux && next; i++)
        next = next->fn(next, f);
    if (next)
        pt_set_mask(f, mask);
    return next;
}

/* Before a guarded end of a block: lanes whose predicate is false go to the next block. */
const struct pt_code *pt_ctl_split(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t on = f->mask & PT_PRED(0), off = f->mask & ~on;
    if (!on)
        return pt_goto(f, c->o[1], c->ptr);
    if (off) {
        pt_loop_wait(f, c->o[1], off);
        pt_set_mask(f, on);
    }
    return c + 1;
}

/* ---- branches: o = target block, predicate, next block; ptr is the code at the target ---------- */

const struct pt_code *pt_ctl_fall(const struct pt_code *c, struct pt_frame *f)
{
    return pt_goto(f, c->o[0], c + 1);
}

const struct pt_code *pt_ctl_bra(const struct pt_code *c, struct pt_frame *f)
{
    return pt_goto(f, c->o[0], c->ptr);
}

static const struct pt_code *back_edge(const struct pt_code *c, struct pt_frame *f)
{
    if (__builtin_expect(--f->budget == 0, 0))
        return pt_loop_poll(f, c->o[0]);
    return pt_goto(f, c->o[0], c->ptr);
}

const struct pt_code *pt_ctl_back(const struct pt_code *c, struct pt_frame *f)
{
    return back_edge(c, f);
}

const struct pt_code *pt_ctl_turn(const struct pt_code *c, struct pt_frame *f)
{
    return pt_loop_turn(f, c->o[0]);
}

PT_HANDLER(bra_if)
{
    uint32_t taken = f->mask & PT_PRED(1), rest = f->mask & ~taken;
    if (!taken)
        return pt_goto(f, c->o[2], c + 1);
    if (!rest)
        return pt_goto(f, c->o[0], c->ptr);
    if (c->o[0] < c->o[2]) {
        pt_loop_wait(f, c->o[2], rest);
        pt_set_mask(f, taken);
        return pt_goto(f, c->o[0], c->ptr);
    }
    pt_loop_wait(f, c->o[0], taken);
    pt_set_mask(f, rest);
    return pt_goto(f, c->o[2], c + 1);
}

/* Makes the taken lanes of a conditional back edge the running ones; the others wait at the next
 * block. */
static bool leave_rest(const struct pt_code *c, struct pt_frame *f)
{
    uint32_t taken = f->mask & PT_PRED(1), rest = f->mask & ~taken;
    if (!taken)
        return false;
    if (rest) {
        pt_loop_wait(f, c->o[2], rest);
        pt_set_mask(f, taken);
    }
    return true;
}

PT_HANDLER(bra_back_if)
{
    return leave_rest(c, f) ? back_edge(c, f) : pt_goto(f, c->o[2], c + 1);
}

PT_HANDLER(bra_turn_if)
{
    return leave_rest(c, f) ? pt_loop_turn(f, c->o[0]) : pt_goto(f, c->o[2], c + 1);
}

pt_handler PT_DO(bra)(struct pt_select *s)
{
    struct pt_code *c = s->code;
    c->o[0] = pt_code_block(s, s->operands[0].index);
    pt_code_link(s, c->o[0]);
    bool is_back = c->o[0] <= pt_code_here(s), is_turn = is_back && pt_code_communicates(s);
    if (!s->insn->guard)
        return is_turn ? pt_ctl_turn : is_back ? pt_ctl_back : pt_ctl_bra;
    struct pt_operand guard = {.kind = PT_OPND_REG, .index = s->insn->guard};
    c->o[1] = pt_code_dest(s, &guard);
    c->neg = (uint8_t)(s->insn->guard_neg ? 2 : 0);
    c->o[2] = pt_code_after(s);
    return is_turn ? bra_turn_if : is_back ? bra_back_if : bra_if;
}

/* The targets of brx.idx. */
struct switch_targets {
    uint32_t n, here;
    bool is_turn;
    uint32_t block[];
};

PT_HANDLER(brx_idx)
{
    const struct switch_targets *t = c->ptr;
    const uint32_t *index = PT_SLOT(0, u32);
    uint32_t left = f->mask, back = UINT32_MAX, back_lanes = 0;
    for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (index[lane] >= t->n)
            return pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, 1u << lane, PT_NO_TARGET);
    }
    for (; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), block = t->block[index[lane]];
        if (block <= t->here) {
            back = block;
            back_lanes |= 1u << lane;
        }
        pt_loop_wait(f, block, 1u << lane);
    }
    if (back == UINT32_MAX)
        return pt_loop_other(f);
    /* Lanes on the last of the back edges take it as a branch would. */
    uint32_t lanes = f->wait[back] & back_lanes;
    if (t->is_turn) {
        f->wait[back] &= ~lanes;
        f->mask = lanes;
        return pt_loop_turn(f, back);
    }
    if (--f->budget)
        return pt_loop_other(f);
    f->mask = 0;
    return pt_loop_poll(f, back);
}

pt_handler PT_DO(brx_idx)(struct pt_select *s)
{
    uint32_t index = pt_code_source(s, &s->operands[0], 4);
    const struct pt_table *table = &s->func->tables.v[s->operands[1].index];
    struct switch_targets *t = pt_code_array(s, sizeof *t + table->targets.n * sizeof t->block[0]);
    t->n = table->targets.n;
    t->here = pt_code_here(s);
    t->is_turn = pt_code_communicates(s);
    for (uint32_t i = 0; i < t->n; i++)
        t->block[i] = pt_code_block(s, table->targets.v[i]);
    s->code->o[0] = index;
    s->code->ptr = t;
    return index == UINT32_MAX ? NULL : brx_idx;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The running lanes are gone from `f` and, if they exited, from its callers. */
static const struct pt_code *leave(struct pt_frame *f)
{
    struct pt_frame *at = f;
    f->mask = 0;
    while (at->caller && !at->live) {
        struct pt_frame *caller = at->caller;
        pt_loop_drop(at);
        at = caller;
    }
    if (at == f)
        return pt_loop_other(f);
    at->state->next = PT_NEXT_PICK;
    return NULL;
}

PT_HANDLER(exit_lanes)
{
    struct pt_state *s = f->state;
    struct pt_warp *warp = s->warp;
    if (warp->cta->async && !pt_async_exit(c, f, f->mask))
        return NULL;
    for (struct pt_frame *at = f; at; at = at->caller)
        at->live &= ~f->mask;
    warp->live &= ~f->mask;
    if (warp->live)
        pt_loop_unpark(s);
    warp->cta->launch->services->exited(warp);
    return leave(f);
}

static char *local_of(const struct pt_frame *f, uint32_t lane)
{
    return (char *)f->local0 + lane * f->local_stride + f->base[lane];
}

/* One value of one lane from frame `from` to frame `to`. */
static void pass_value(struct pt_frame *from, const struct pt_pass *a, struct pt_frame *to,
                       const struct pt_pass *b, uint32_t lane)
{
    if (!a->is_reg && !b->is_reg) {
        memcpy(local_of(to, lane) + b->at, local_of(from, lane) + a->at,
               a->bytes < b->bytes || b->is_variadic ? a->bytes : b->bytes);
        return;
    }
    uint64_t value[2] = {0};
    char *source =
        a->is_reg ? (char *)from + a->at + (size_t)lane * a->bytes : local_of(from, lane) + a->at;
    char *dest =
        b->is_reg ? (char *)to + b->at + (size_t)lane * b->bytes : local_of(to, lane) + b->at;
    if (a->is_reg && !a->bytes)
        value[0] = *(uint32_t *)source >> lane & 1;
    else
        memcpy(value, source, a->bytes < 16 ? a->bytes : 16);
    if (b->is_reg && !b->bytes)
        *(uint32_t *)dest = (*(uint32_t *)dest & ~(1u << lane)) | (uint32_t)(value[0] & 1) << lane;
    else
        memcpy(dest, value, b->bytes < 16 ? b->bytes : 16);
}

static void pass_values(struct pt_frame *from, const struct pt_pass *a, uint32_t n_a,
                        struct pt_frame *to, const struct pt_pass *b, uint32_t n_b, uint32_t lanes)
{
    for (uint32_t i = 0; i < n_a && i < n_b; i++)
        for (uint32_t left = lanes; left; left &= left - 1)
            pass_value(from, &a[i], to, &b[i], (uint32_t)__builtin_ctz(left));
}

/* A call: what it passes, and whom it calls. */
struct call_site {
    const struct pt_interp_program *program;
    uint32_t callee;                /* PT_NONE: indirect, the address is operand 0 */
    const uint8_t *is_callee;       /* indirect: by function, 1 for those that it may call */
    uint32_t device;                /* a function of the runtime, as services->call takes it; 0: none */
    uint32_t after;
    uint32_t n_args, n_results;
    struct pt_pass *args, *results;
};

PT_HANDLER(return_lanes)
{
    struct pt_frame *caller = f->caller;
    if (!caller)
        return exit_lanes(c, f);
    const struct call_site *site = f->call->ptr;
    pass_values(f, f->body->results, f->body->func->results.n, caller, site->results,
                site->n_results, f->mask);
    f->live &= ~f->mask;
    pt_loop_wait(caller, site->after, f->mask);
    return leave(f);
}

const struct pt_code *pt_ctl_end(const struct pt_code *c, struct pt_frame *f)
{
    return return_lanes(c, f);
}

pt_handler PT_DO(ret)(struct pt_select *s)
{
    (void)s;
    return return_lanes;
}

pt_handler PT_DO(exit)(struct pt_select *s)
{
    (void)s;
    return exit_lanes;
}

PT_HANDLER(trap)
{
    return pt_fail(c, f, PT_FAULT_TRAP, f->mask, NULL);
}

pt_handler PT_DO(trap)(struct pt_select *s)
{
    (void)s;
    return trap;
}

PT_HANDLER(breakpoint)
{
    return pt_fail(c, f, PT_FAULT_TRAP, f->mask, PT_NO_DEBUGGER);
}

pt_handler PT_DO(brkpt)(struct pt_select *s)
{
    (void)s;
    return breakpoint;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What the call passes for an unsized last parameter, as the stack counts. */
static uint32_t variadic_bytes(const struct call_site *site, const struct pt_body *body)
{
    uint32_t n = body->func->params.n;
    return n && n <= site->n_args && body->params[n - 1].is_variadic ? (site->args[n - 1].bytes + 15) & ~15u : 0;
}

static const struct pt_code *call_frame(const struct pt_code *c, struct pt_frame *f,
                                        const struct pt_body *body, uint32_t lanes,
                                        struct pt_frame **made)
{
    const struct call_site *site = c->ptr;
    uint64_t limit = f->local_stride;
    struct pt_frame *callee = pt_loop_frame(f, body);
    if (!callee)
        return pt_fail(c, f, PT_FAULT_STACK_OVERFLOW, lanes, "too many calls are active");
    uint32_t over = 0, bytes = body->local_bytes + variadic_bytes(site, body);
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++) {
        callee->base[i] = f->top[i];
        callee->top[i] = f->top[i] + bytes;
        over |= (uint32_t)(callee->top[i] > limit) << i;
    }
    if (over & lanes)
        return pt_fail(c, f, PT_FAULT_STACK_OVERFLOW, over & lanes, NULL);
    callee->call = c;
    callee->live = lanes;
    pass_values(f, site->args, site->n_args, callee, body->params, body->func->params.n, lanes);
    *made = callee;
    return c;
}

PT_HANDLER(call_direct)
{
    const struct call_site *site = c->ptr;
    struct pt_state *s = f->state;
    struct pt_frame *callee = NULL;
    if (!call_frame(c, f, site->program->bodies[site->callee], f->mask, &callee))
        return NULL;
    s->unbudgeted += callee->body->codes.n + 1; /* calls alone can go on for as long as loops */
    if (pt_loop_is_stopped(s)) {
        pt_loop_wait(callee, 0, f->mask);
        f->mask = 0;
        return pt_stop(s, PT_RUN_YIELDED);
    }
    pt_set_mask(callee, f->mask);
    f->mask = 0;
    s->frame = callee;
    s->code = callee->body->start[0];
    s->next = PT_NEXT_FRAME;
    return NULL;
}

/* The function at an address; NULL if there is none that the call may call. */
static const struct pt_body *function_at(const struct call_site *site, uint64_t address)
{
    const struct pt_interp_program *p = site->program;
    const struct pt_module *m = p->base.image->module;
    uint64_t index = (address - p->base.image->func_base) / 16;
    if (address % 16 != p->base.image->func_base % 16 || index >= m->funcs.n || !site->is_callee[index])
        return NULL;
    while (m->funcs.v[index].alias_of)
        index = m->funcs.v[index].alias_of;
    return p->bodies[index];
}

/* One activation for each distinct target. */
PT_HANDLER(call_indirect)
{
    const struct call_site *site = c->ptr;
    const uint64_t *address = PT_SLOT(0, u64);
    uint32_t left = f->mask;
    while (left) {
        uint64_t target = address[__builtin_ctz(left)];
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
            lanes |= (uint32_t)(address[i] == target) << i;
        lanes &= left;
        left &= ~lanes;
        const struct pt_body *body = function_at(site, target);
        struct pt_frame *callee = NULL;
        if (!body)
            return pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, lanes, PT_NO_FUNCTION);
        if (!call_frame(c, f, body, lanes, &callee))
            return NULL;
        pt_loop_wait(callee, 0, lanes);
        f->state->unbudgeted += body->codes.n + 1;
    }
    f->mask = 0;
    f->state->next = PT_NEXT_PICK;
    return NULL;
}

/* Functions of the runtime run for one lane after the other. */
PT_HANDLER(call_device)
{
    const struct call_site *site = c->ptr;
    struct pt_warp *warp = f->state->warp;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        char args[PT_DEVICE_BYTES] __attribute__((aligned(16)));
        char result[PT_DEVICE_BYTES] __attribute__((aligned(16)));
        for (uint32_t i = 0, at = 0; i < site->n_args; i++) {
            const struct pt_pass *a = &site->args[i];
            at = (at + a->align - 1) & ~(a->align - 1);
            memcpy(args + at,
                   a->is_reg ? (char *)f + a->at + (size_t)lane * a->bytes
                             : local_of(f, lane) + a->at,
                   a->bytes);
            at += a->bytes;
        }
        if (!warp->cta->launch->services->call(warp, lane, site->device, args, result)) {
            warp->fault.func = f->body->index;
            warp->fault.insn = c->insn;
            warp->fault.lanes = 1u << lane;
            return pt_stop(f->state, PT_RUN_FAULT);
        }
        for (uint32_t i = 0; i < site->n_results && i < 1; i++)
            memcpy(site->results[i].is_reg
                       ? (char *)f + site->results[i].at + (size_t)lane * site->results[i].bytes
                       : local_of(f, lane) + site->results[i].at,
                   result, site->results[i].bytes);
    }
    return pt_goto(f, site->after, c + 1);
}

static const struct pt_operand *callee_operand(const struct pt_func *f, const struct pt_insn *insn)
{
    const struct pt_operand *o = f->operands.v + insn->operands;
    return o->kind == PT_OPND_LIST ? o + 1 : o;
}

uint32_t pt_ctl_callee(const struct pt_func *f, const struct pt_insn *insn)
{
    const struct pt_operand *o = callee_operand(f, insn);
    return o->kind == PT_OPND_FUNC ? o->index : PT_NONE;
}

static bool pass_operand(struct pt_select *s, const struct pt_operand *o, struct pt_pass *pass)
{
    if (o->kind == PT_OPND_SYM) {
        const struct pt_symbol *sym = &s->module->symbols.v[o->index];
        *pass = (struct pt_pass){.at = (uint32_t)sym->offset,
                                 .bytes = (uint32_t)sym->size,
                                 .align = sym->align ? sym->align : 1};
        return true;
    }
    uint32_t bytes = o->kind == PT_OPND_IMM && o->type == PT_f32 ? 4 : 8;
    if (o->kind == PT_OPND_REG) {
        uint32_t bits = pt_type_bits((enum pt_type)s->func->regs.v[o->index].type);
        bytes = bits == 1 ? 0 : bits <= 32 ? 4 : bits / 8;
    }
    *pass = (struct pt_pass){.is_reg = true,
                             .bytes = bytes,
                             .align = bytes ? bytes : 1,
                             .at = pt_code_source(s, o, bytes)};
    return pass->at != UINT32_MAX;
}

static bool pass_list(struct pt_select *s, const struct pt_operand *list, uint32_t *n,
                      struct pt_pass **passes)
{
    *n = (uint32_t)list->imm;
    *passes = pt_code_array(s, (*n + 1) * sizeof **passes);
    for (uint32_t i = 0; i < *n; i++)
        if (!pass_operand(s, &s->func->operands.v[list->index + i], &(*passes)[i]))
            return false;
    return true;
}

/* What the call passes lies as the declaration says. */
static bool fits_device(struct pt_select *s, struct call_site *site, const struct pt_func *target)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < site->n_args && i < target->params.n; i++) {
        uint32_t align = s->module->symbols.v[target->params.v[i]].align;
        site->args[i].align = align ? align : 1;
        bytes += site->args[i].bytes + site->args[i].align;
    }
    return bytes <= PT_DEVICE_BYTES && (!site->n_results || site->results[0].bytes <= PT_DEVICE_BYTES);
}

/* Functions of CUDA's device runtime library (cudadevrt), of which there is no PTX: its prefix, and what had none before CUDA 12. */
static bool is_device_runtime(const char *name)
{
    static const char *const prefixes[] = {"__cudaCDP2", "cudaLaunchDevice", "cudaGetParameterBuffer"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static void refuse_function(struct pt_select *s, const char *name)
{
    struct pt_diags *diags = &s->module->diags;
    uint32_t n = diags->list.n;
    bool is_theirs = is_device_runtime(name);
    pt_diag_error(diags, s->insn->line, s->insn->col, 1,
                  is_theirs ? "'%s' is of the device's runtime library: launches of kernels by kernels, and other calls of CUDA in "
                              "kernels, are not supported yet"
                            : "function '%s' is declared but not defined", name);
    if (is_theirs && diags->list.n > n)
        diags->list.v[n].unsupported = true;
}

static pt_handler device_call(struct pt_select *s, struct call_site *site, const struct pt_func *target)
{
    site->device = target->is_host ? PT_DEVICE_COUNT + site->callee : pt_device_find(target->name);
    if (!site->device)
        refuse_function(s, target->name);
    else if (!fits_device(s, site, target))
        pt_diag_error(&s->module->diags, s->insn->line, s->insn->col, 1,
                      "function '%s' passes more than %d bytes", target->name, PT_DEVICE_BYTES);
    else
        return call_device;
    return NULL;
}

static pt_handler select_call(struct pt_select *s)
{
    struct call_site *site = pt_code_array(s, sizeof *site);
    const struct pt_operand *o = s->operands, *end = o + s->insn->n_operands;
    site->program = pt_code_program(s);
    site->after = pt_code_after(s);
    if (o->kind == PT_OPND_LIST && !pass_list(s, o++, &site->n_results, &site->results))
        return NULL;
    const struct pt_operand *callee = o++;
    if (o < end && o->kind == PT_OPND_LIST && !pass_list(s, o, &site->n_args, &site->args))
        return NULL;
    s->code->ptr = site;
    if (callee->kind != PT_OPND_FUNC) {
        site->is_callee = pt_code_callees(s);
        s->code->o[0] = pt_code_source(s, callee, 8);
        return s->code->o[0] == UINT32_MAX ? NULL : call_indirect;
    }
    site->callee = callee->index;
    while (s->module->funcs.v[site->callee].alias_of)
        site->callee = s->module->funcs.v[site->callee].alias_of;
    const struct pt_func *target = &s->module->funcs.v[site->callee];
    return target->is_declared_only ? device_call(s, site, target) : call_direct;
}

pt_handler PT_DO(call)(struct pt_select *s)
{
    return select_call(s);
}

pt_handler PT_DO(call_indirect)(struct pt_select *s)
{
    return select_call(s);
}

/* ---- barriers: o = destination, barrier, threads, predicate ------------------------------------ */

enum {
    BAR_POPC = 1,
    BAR_AND = 2,
    BAR_OR = 3,
    BAR_RESULT = 3,
    BAR_ARRIVE = 4,
    BAR_ALIGNED = 8,
    BAR_COUNTED = 16,
    BAR_FIXED = 32, /* number and count are constants */
    BAR_RELAXED = 64 /* orders nothing */
};

/* A barrier instruction: its block, the one behind, and the blocks behind where all lanes meet again that parted before it. */
struct barrier_site {
    uint32_t here, after, n_joins;
    uint32_t joins[];
};

void pt_ctl_barrier_result(const struct pt_group *g)
{
    const struct pt_code *c = g->code;
    if (pt_race_is_on(g->frame))
        pt_race_acquire(g->frame, g->mask, pt_race_barrier(g->frame->cta, g->bar, g->phase));
    if (!c)
        return;
    const struct pt_barrier *bar = &g->frame->cta->bar[g->bar];
    char *slot = (char *)g->frame + c->o[0];
    if ((c->aux & BAR_RESULT) == BAR_POPC) {
        for (uint32_t left = g->mask; left; left &= left - 1)
            ((uint32_t *)slot)[__builtin_ctz(left)] = bar->result_popc;
    } else if (c->aux & BAR_RESULT) {
        bool is_and = (c->aux & BAR_RESULT) == BAR_AND;
        bool value = is_and ? bar->result_popc == bar->result_of : bar->result_popc > 0;
        uint32_t *pred = (uint32_t *)slot;
        *pred = value ? *pred | g->mask : *pred & ~g->mask;
    }
}

/* All lanes give what `lane` gives: one barrier and one count. */
static bool is_agreed(const struct pt_code *c, const struct pt_frame *f, uint32_t lane)
{
    const uint32_t *ids = PT_SLOT(1, u32), *counts = PT_SLOT(2, u32);
    uint32_t differ = 0;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        differ |= (((ids[i] ^ ids[lane]) & PT_BARRIER_NUMBER_BITS) |
                   (c->aux & BAR_COUNTED ? (counts[i] ^ counts[lane]) & PT_BARRIER_COUNT_BITS : 0)) &
                  f->lanes[i];
    return !differ;
}

/* The count that the barrier gives, or PT_BARRIER_ALL; 0 if there can be no such barrier. */
static uint32_t count_of(const struct pt_code *c, const struct pt_frame *f, uint32_t lane)
{
    return pt_barrier_count(c->aux & BAR_COUNTED ? PT_SLOT(2, u32)[lane] : 0, c->aux & BAR_ARRIVE);
}

/* An aligned barrier that lanes of the warp have not come to. They are waited for, and often in vain, as on an H200. But a
 * short `if` around the barrier is no branch there: the whole warp passes by. So where the others wait at the end of such an
 * `if` the warp counts, and waits, as a whole; true then. */
static bool comes_whole(const struct barrier_site *site, const struct pt_frame *f, uint32_t others)
{
    for (uint32_t i = 0; i < site->n_joins; i++)
        others &= ~f->wait[site->joins[i]];
    return !others;
}

/* Those lanes wait with the ones that came. */
static void wait_with(struct pt_frame *f, const struct pt_code *c, uint32_t bar, uint32_t phase)
{
    const struct barrier_site *site = c->ptr;
    struct pt_state *s = f->state;
    for (uint32_t i = 0; i < site->n_joins; i++) {
        uint32_t block = site->joins[i], lanes = f->wait[block];
        if (!lanes)
            continue;
        f->wait[block] = 0;
        pt_loop_clear(f, block);
        s->groups[s->n_groups++] = (struct pt_group){f, NULL, lanes, block, bar, phase};
    }
}

static const struct pt_code *barrier_fault(const struct pt_code *c, struct pt_frame *f)
{
    struct pt_fault *fault = &f->state->warp->fault;
    fault->func = f->body->index;
    fault->insn = c->insn;
    fault->lanes = f->mask;
    return pt_stop(f->state, PT_RUN_FAULT);
}

PT_HANDLER(barrier)
{
    const struct barrier_site *site = c->ptr;
    struct pt_state *s = f->state;
    bool is_aligned = c->aux & BAR_ALIGNED;
    if (is_aligned && f->wait[site->here]) {
        pt_set_mask(f, f->mask | f->wait[site->here]);
        f->wait[site->here] = 0;
        pt_loop_clear(f, site->here);
    }
    uint32_t lane = (uint32_t)__builtin_ctz(f->mask), others = s->warp->live & ~f->mask;
    if (!(c->aux & BAR_FIXED) && !is_agreed(c, f, lane))
        return pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, f->mask, PT_BARRIER_DIFFERS);
    uint32_t id = PT_SLOT(1, u32)[lane] & PT_BARRIER_NUMBER_BITS, count = count_of(c, f, lane);
    if (!count)
        return pt_fail(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, f->mask, PT_BARRIER_BAD_COUNT);
    if (is_aligned && others && !comes_whole(site, f, others)) {
        pt_loop_park(f, site->here, f->mask);
        return pt_loop_other(f);
    }
    struct pt_group g = {f, c, f->mask, site->after, id, f->cta->bar[id].phase};
    if (pt_race_is_on(f))
        pt_race_release(f, is_aligned ? s->warp->live : f->mask,
                        pt_race_barrier(f->cta, id, g.phase));
    if (!f->cta->launch->services->arrive(s->warp, id, f->mask, is_aligned, count,
                                          c->aux & BAR_RESULT ? PT_PRED(3) & f->mask : 0))
        return barrier_fault(c, f);
    if (c->aux & BAR_ARRIVE)
        return pt_goto(f, g.block, c + 1);
    if (f->cta->bar[id].phase != g.phase && !(s->program->base.tests & PT_TEST_TURNS)) {
        pt_ctl_barrier_result(&g);
        return pt_goto(f, g.block, c + 1);
    }
    s->groups[s->n_groups++] = g;
    if (!others)
        return pt_loop_outside(s);
    if (is_aligned)
        wait_with(f, c, id, g.phase);
    return pt_loop_other(f);
}

/* The blocks that lanes at IR block b come to in any case, within its loop. */
static struct barrier_site *make_site(struct pt_select *s, uint32_t b)
{
    const struct pt_block *blocks = s->func->blocks.v;
    struct barrier_site *site =
        pt_code_array(s, sizeof *site + s->func->blocks.n * sizeof site->joins[0]);
    site->here = pt_code_here(s);
    site->after = pt_code_after(s);
    for (uint32_t j = blocks[b].ipdom; j != UINT32_MAX && blocks[j].loop == blocks[b].loop;
         j = blocks[j].ipdom)
        site->joins[site->n_joins++] = pt_code_block(s, j);
    return site;
}

static pt_handler select_barrier(struct pt_select *s, uint32_t kind, bool is_aligned)
{
    struct pt_code *c = s->code;
    const struct pt_operand *o = s->operands, *end = o + s->insn->n_operands;
    bool has_result = kind & BAR_RESULT;
    if (has_result)
        c->o[0] = pt_code_dest(s, o++);
    kind |= o->kind == PT_OPND_IMM ? BAR_FIXED : 0;
    c->o[1] = c->o[2] = pt_code_source(s, o++, 4);
    if (end - o > has_result) {
        kind &= o->kind == PT_OPND_IMM ? ~0u : ~(uint32_t)BAR_FIXED;
        c->o[2] = pt_code_source(s, o++, 4);
        kind |= BAR_COUNTED;
    }
    if (has_result) {
        c->o[3] = pt_code_source(s, o, 0);
        c->neg = o->flags & PT_OPND_NEG ? 8 : 0;
    }
    for (int i = 0; i < 4; i++)
        if (c->o[i] == UINT32_MAX)
            return NULL;
    c->ptr = make_site(s, pt_code_ir_block(s));
    c->aux = (uint16_t)(kind | (is_aligned ? BAR_ALIGNED : 0));
    return barrier;
}

pt_handler PT_DO(bar_sync)(struct pt_select *s)
{
    return select_barrier(s, 0, true);
}

pt_handler PT_DO(bar_arrive)(struct pt_select *s)
{
    return select_barrier(s, BAR_ARRIVE, true);
}

pt_handler PT_DO(bar_red_popc)(struct pt_select *s)
{
    return select_barrier(s, BAR_POPC, true);
}

pt_handler PT_DO(bar_red_pred)(struct pt_select *s)
{
    return select_barrier(s, PT_HAS(s, and) ? BAR_AND : BAR_OR, true);
}

pt_handler PT_DO(barrier_sync)(struct pt_select *s)
{
    return select_barrier(s, 0, PT_HAS(s, aligned));
}

pt_handler PT_DO(barrier_arrive)(struct pt_select *s)
{
    return select_barrier(s, BAR_ARRIVE, PT_HAS(s, aligned));
}

pt_handler PT_DO(barrier_red_popc)(struct pt_select *s)
{
    return select_barrier(s, BAR_POPC, PT_HAS(s, aligned));
}

pt_handler PT_DO(barrier_red_pred)(struct pt_select *s)
{
    return select_barrier(s, PT_HAS(s, and) ? BAR_AND : BAR_OR, PT_HAS(s, aligned));
}

/* ---- the cluster's barrier: imm is the block behind -------------------------------------------- */

PT_HANDLER(cluster_arrive)
{
    if (pt_race_is_on(f) && !(c->aux & BAR_RELAXED))
        pt_race_release(f, f->mask, pt_race_barrier(f->cta, PT_CLUSTER_BARRIER,
                                                    f->cta->bar[PT_CLUSTER_BARRIER].phase));
    f->cta->launch->services->arrive(f->state->warp, PT_CLUSTER_BARRIER, f->mask,
                                     c->aux & BAR_ALIGNED, PT_BARRIER_ALL, 0);
    return pt_goto(f, (uint32_t)c->imm, c + 1);
}

/* Lanes wait that have arrived in the phase that runs; for those that have not, the phase of their last arrival is over. */
PT_HANDLER(cluster_wait)
{
    struct pt_state *s = f->state;
    const struct pt_barrier *bar = &f->cta->bar[PT_CLUSTER_BARRIER];
    bool is_counted = bar->warps >> s->warp->index & 1;
    uint32_t stay = f->mask & (is_counted ? UINT32_MAX : bar->arrived_lanes[s->warp->index]);
    uint32_t go = f->mask & ~stay;
    uint32_t block = (uint32_t)c->imm;
    struct pt_group g = {f, c, stay, block, PT_CLUSTER_BARRIER, bar->phase};
    if (pt_race_is_on(f))
        pt_race_acquire(f, go, pt_race_barrier(f->cta, PT_CLUSTER_BARRIER, bar->phase - 1));
    if (stay)
        s->groups[s->n_groups++] = g;
    if (!go)
        return pt_loop_other(f);
    if (stay)
        pt_set_mask(f, go);
    return pt_goto(f, block, c + 1);
}

static pt_handler select_cluster(struct pt_select *s, pt_handler handler)
{
    s->code->imm = pt_code_after(s);
    s->code->aux =
        (uint16_t)((PT_HAS(s, aligned) ? BAR_ALIGNED : 0) | (PT_HAS(s, relaxed) ? BAR_RELAXED : 0));
    return handler;
}

pt_handler PT_DO(barrier_cluster_arrive)(struct pt_select *s)
{
    return select_cluster(s, cluster_arrive);
}

pt_handler PT_DO(barrier_cluster_wait)(struct pt_select *s)
{
    return select_cluster(s, cluster_wait);
}

/* ---- the stack, and what changes nothing ----------------------------------------------------- */

/* Destinations and sources are as wide as the type: aux. */
static uint64_t get_lane(const char *slot, uint32_t bytes, uint32_t lane)
{
    return bytes == 8 ? ((const uint64_t *)slot)[lane] : ((const uint32_t *)slot)[lane];
}

static void put_lane(char *slot, uint32_t bytes, uint32_t lane, uint64_t value)
{
    if (bytes == 8)
        ((uint64_t *)slot)[lane] = value;
    else
        ((uint32_t *)slot)[lane] = (uint32_t)value;
}

PT_HANDLER(stack_alloc)
{
    uint64_t align = c->imm;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t at = (f->top[lane] + align - 1) & ~(align - 1);
        uint64_t size = get_lane((char *)f + c->o[1], c->aux, lane);
        if (at > f->local_stride || size > f->local_stride - at)
            return pt_fail(c, f, PT_FAULT_STACK_OVERFLOW, 1u << lane, NULL);
        put_lane((char *)f + c->o[0], c->aux, lane, at);
        f->top[lane] = (uint32_t)(at + size + 15) & ~15u;
    }
    return c + 1;
}

PT_HANDLER(stack_save)
{
    for (uint32_t left = f->mask; left; left &= left - 1)
        put_lane((char *)f + c->o[0], c->aux, (uint32_t)__builtin_ctz(left),
                 f->top[__builtin_ctz(left)]);
    return c + 1;
}

PT_HANDLER(stack_restore)
{
    for (uint32_t left = f->mask; left; left &= left - 1)
        f->top[__builtin_ctz(left)] =
            (uint32_t)get_lane((char *)f + c->o[0], c->aux, (uint32_t)__builtin_ctz(left));
    return c + 1;
}

static pt_handler select_stack(struct pt_select *s, pt_handler handler)
{
    bool is_wide = PT_BITS(s, 0) == 64;
    s->code->aux = is_wide ? 8 : 4;
    pt_code_program(s)->is_unbounded = true;
    return pt_bind(s, is_wide ? "ll" : "ww") ? handler : NULL;
}

pt_handler PT_DO(alloca)(struct pt_select *s)
{
    uint64_t align = s->n > 2 ? (uint64_t)s->flat[2]->imm : 8;
    s->code->imm = align ? align : 8;
    return select_stack(s, stack_alloc);
}

pt_handler PT_DO(stacksave)(struct pt_select *s)
{
    return select_stack(s, stack_save);
}

pt_handler PT_DO(stackrestore)(struct pt_select *s)
{
    return select_stack(s, stack_restore);
}

PT_HANDLER(nothing)
{
    (void)f;
    return c + 1;
}

/* A loop around it lets others run at its back edge. */
pt_handler PT_DO(nanosleep)(struct pt_select *s)
{
    (void)s;
    return nothing;
}

pt_handler PT_DO(pmevent)(struct pt_select *s)
{
    (void)s;
    return nothing;
}

/* Registers are the compiler's to give away; here every warp has all it names. */
pt_handler PT_DO(setmaxnreg)(struct pt_select *s)
{
    (void)s;
    return nothing;
}
