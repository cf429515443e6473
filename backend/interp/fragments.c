/* PT_TEST_sync: wgmma.fence orders what a warp does to registers before the wgmmas behind it that
 * have them as fragments of A or D; between wgmmas alone D is in order (PTX ISA 9.7.15.7.1). A
 * register that is copied to another is not touched: the two are one to the assembler. */
#include "backend/interp/fragments.h"

#include "ir/insn.h"

struct touch {
    uint32_t fence, insn; /* behind the warp's fence of that number; 0: never */
};

struct pt_fragments {
    void *next;                   /* as pt_cta.kept */
    const struct pt_state *owner; /* where others of the list have a frame */
    uint32_t fences;              /* of the warp, and 1 */
    bool has_fenced;              /* its threads have */
    const struct pt_frame *frame; /* that the registers are of; NULL: none was touched */
    uint32_t n;
    struct touch touched[]; /* by register */
};

/* The largest function's. */
static uint32_t most_registers(const struct pt_interp_program *p)
{
    const struct pt_module *m = p->base.image->module;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->funcs.n; i++)
        if (p->bodies[i] && m->funcs.v[i].regs.n > n)
            n = m->funcs.v[i].regs.n;
    return n;
}

static struct pt_fragments *fragments_of(struct pt_state *s)
{
    const struct pt_allocator *a = s->program->arena.allocator;
    if (s->fragments)
        return s->fragments;
    uint32_t n = most_registers(s->program);
    struct pt_fragments *all = a->resize(a->ud, NULL, sizeof *all + n * sizeof all->touched[0]);
    if (!all)
        return NULL;
    void **kept = s->warp->cta->kept;
    *all = (struct pt_fragments){.next = *kept, .owner = s, .fences = 1, .n = n};
    memset(all->touched, 0, n * sizeof all->touched[0]);
    *kept = all;
    return s->fragments = all;
}

void pt_fragments_fence(const struct pt_event *e)
{
    struct pt_fragments *all = fragments_of(e->frame->state);
    if (!all)
        return;
    all->fences++;
    all->has_fenced = true;
}

void pt_fragments_touch(const struct pt_event *e, const struct pt_register_use *uses, uint32_t n)
{
    const struct pt_frame *f = e->frame;
    const struct pt_func *func = f->body->func;
    const struct pt_insn *insn = &func->insns.v[e->insn];
    const struct pt_form *form = pt_insn_form(f->state->program->base.image->module, insn);
    struct pt_fragments *all = fragments_of(f->state);
    bool is_copy =
        form->op == PT_OP_mov && func->operands.v[insn->operands + 1].kind == PT_OPND_REG;
    if (!all || is_copy)
        return;
    if (all->frame != f)
        memset(all->touched, 0, all->n * sizeof all->touched[0]);
    all->frame = f;
    for (uint32_t i = 0; i < n; i++)
        all->touched[uses[i].reg] = (struct touch){all->fences, e->insn};
}

static void find(const struct pt_event *e, const struct pt_operand *o, uint32_t insn,
                 const char *detail)
{
    uint32_t lane = (uint32_t)__builtin_ctz(e->lanes);
    struct pt_finding finding = {.kind = PT_FINDING_SYNC_WGMMA,
                                 .by = pt_party_of(e->warp, lane, e->func, e->insn),
                                 .detail = detail};
    if (o) {
        finding.by.has_register = true;
        finding.by.reg = o->index;
        finding.other = pt_party_of(e->warp, lane, e->func, insn);
    }
    e->warp->cta->launch->services->found(e->warp, &finding);
}

/* The first register of a vector that was touched; NULL: none was. */
static const struct pt_operand *touched_of(const struct pt_fragments *all,
                                           const struct pt_func *func, const struct pt_operand *v)
{
    for (int64_t i = 0; v->kind == PT_OPND_VEC && i < v->imm; i++) {
        const struct pt_operand *o = &func->operands.v[v->index + i];
        if (o->kind == PT_OPND_REG && all->touched[o->index].fence == all->fences)
            return o;
    }
    return NULL;
}

void pt_fragments_issue(const struct pt_event *e, const struct pt_async_op *op)
{
    const struct pt_func *func = e->frame->body->func;
    const struct pt_operand *o = &func->operands.v[func->insns.v[e->insn].operands];
    struct pt_fragments *all = fragments_of(e->frame->state);
    struct pt_event whole = *e;
    whole.lanes = op->frame->mask;
    if (!all)
        return;
    if (!all->has_fenced) {
        find(&whole, NULL, 0, "the warp has executed no wgmma.fence before its first wgmma");
        all->has_fenced = true;
        return;
    }
    const struct pt_operand *touched = NULL;
    if (all->frame == e->frame && !(touched = touched_of(all, func, &o[0])))
        touched = touched_of(all, func, &o[1]);
    if (touched)
        find(&whole, touched, all->touched[touched->index].insn,
             "no wgmma.fence stands between what touched the register and the wgmma");
}

void pt_fragments_end(struct pt_state *s, const struct pt_frame *f)
{
    struct pt_fragments *all = s->fragments;
    if (!all || (f && f != all->frame))
        return;
    all->frame = NULL;
    all->has_fenced = all->has_fenced && f;
}
