/* Calls, returns, ends of threads, and the stack. PTX ISA 9.7.12.4-6, 9.7.17, 9.7.19. */
#include "backend/interp/call.h"
#include "backend/interp/async.h"
#include "backend/interp/blocks.h"
#include "backend/interp/frame.h"
#include "backend/interp/frontier.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "ir/bits.h"

/* ---- ends ------------------------------------------------------------------------------------ */

/* The running lanes are gone from `f` and, if they exited, from its callers. */
static const struct pt_code *leave(struct pt_frame *f)
{
    struct pt_frame *at = f;
    f->mask = 0;
    while (at->caller && !at->live) {
        struct pt_frame *caller = at->caller;
        pt_frame_drop(at);
        at = caller;
    }
    if (at == f)
        return pt_frontier_other(f);
    at->state->next = PT_NEXT_PICK;
    return NULL;
}

PT_HANDLER(exit_lanes)
{
    struct pt_state *s = f->state;
    struct pt_warp *warp = s->warp;
    if (pt_is_observed(f))
        pt_observe_exited(c, f);
    if (warp->cta->async && !pt_async_exit(c, f, f->mask))
        return NULL;
    for (struct pt_frame *at = f; at; at = at->caller)
        at->live &= ~f->mask;
    warp->live &= ~f->mask;
    if (warp->live)
        pt_frontier_unpark(s);
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
    uint32_t callee;          /* PT_NONE: indirect, the address is operand 0 */
    const uint8_t *is_callee; /* indirect: by function, 1 for those that it may call */
    uint32_t device;          /* a function of the runtime, as services->call takes it; 0: none */
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
    pt_frontier_wait(caller, site->after, f->mask);
    return leave(f);
}

const struct pt_code *pt_call_end(const struct pt_code *c, struct pt_frame *f)
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
    return n && n <= site->n_args && body->params[n - 1].is_variadic
               ? (uint32_t)pt_round_up(site->args[n - 1].bytes, 16)
               : 0;
}

static const struct pt_code *call_frame(const struct pt_code *c, struct pt_frame *f,
                                        const struct pt_body *body, uint32_t lanes,
                                        struct pt_frame **made)
{
    const struct call_site *site = c->ptr;
    uint64_t limit = f->local_stride;
    struct pt_frame *callee = pt_frame_make(f, body);
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
    if (pt_frontier_is_stopped(s)) {
        pt_frontier_wait(callee, 0, f->mask);
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
    if (address % 16 != p->base.image->func_base % 16 || index >= m->funcs.n ||
        !site->is_callee[index])
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
        pt_frontier_wait(callee, 0, lanes);
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
        if (pt_is_observed(f) && site->device == PT_DEVICE_malloc)
            pt_observe_allocated(c, f, lane, *(const uint64_t *)(const void *)result,
                                 *(const uint64_t *)(const void *)args);
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

uint32_t pt_call_callee(const struct pt_func *f, const struct pt_insn *insn)
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
                             .at = pt_operands_source(s, o, bytes)};
    return pass->at != UINT32_MAX;
}

static bool pass_list(struct pt_select *s, const struct pt_operand *list, uint32_t *n,
                      struct pt_pass **passes)
{
    *n = (uint32_t)list->imm;
    *passes = pt_operands_array(s, (*n + 1) * sizeof **passes);
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
    return bytes <= PT_DEVICE_BYTES &&
           (!site->n_results || site->results[0].bytes <= PT_DEVICE_BYTES);
}

/* Functions of CUDA's device runtime library (cudadevrt), of which there is no PTX: its prefix, and
 * what had none before CUDA 12. */
static bool is_device_runtime(const char *name)
{
    static const char *const prefixes[] = {"__cudaCDP2", "cudaLaunchDevice",
                                           "cudaGetParameterBuffer"};
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
                  is_theirs ? "'%s' is of the device's runtime library: this call of CUDA "
                              "in kernels is not supported yet"
                            : "function '%s' is declared but not defined",
                  name);
    if (is_theirs && diags->list.n > n)
        diags->list.v[n].unsupported = true;
}

static pt_handler device_call(struct pt_select *s, struct call_site *site,
                              const struct pt_func *target)
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
    struct call_site *site = pt_operands_array(s, sizeof *site);
    const struct pt_operand *o = s->operands, *end = o + s->insn->n_operands;
    site->program = pt_operands_program(s);
    site->after = pt_blocks_after(s);
    if (o->kind == PT_OPND_LIST && !pass_list(s, o++, &site->n_results, &site->results))
        return NULL;
    const struct pt_operand *callee = o++;
    if (o < end && o->kind == PT_OPND_LIST && !pass_list(s, o, &site->n_args, &site->args))
        return NULL;
    s->code->ptr = site;
    if (callee->kind != PT_OPND_FUNC) {
        site->is_callee = pt_operands_callees(s);
        s->code->o[0] = pt_operands_source(s, callee, 8);
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

/* ---- the stack ----------------------------------------------------------------------------- */

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
        f->top[lane] = (uint32_t)pt_round_up(at + size, 16);
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
    pt_operands_program(s)->is_unbounded = true;
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
