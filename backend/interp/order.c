/* Launches that run under several schedules: what they are about to write is kept as it was
 * (backend/written.h), and where a floating-point type was written last. Shared and local memory
 * end with their CTA. */
#include "backend/interp/address.h"
#include "backend/observer.h"
#include "backend/written.h"

enum { TYPE = 0 /* of the operands: no address uses it */ };

/* Access code: a fault here is the kernel's. */
PT_ACCESS static void copy_page(uint8_t *to, uint64_t from)
{
    for (uint32_t at = 0; at < PT_WRITTEN_PAGE; at += 16)
        pt_copy16(to + at, (const void *)(uintptr_t)(from + at));
}

/* Shared memory of the cluster, or local of the CTA. */
static bool ends_with_cta(const struct pt_cta *cta, uint64_t address)
{
    uint64_t local = cta->launch->local_stride * cta->launch->threads;
    return address - (uintptr_t)cta->shared < UINT64_C(1) << 32 ||
           address - (uintptr_t)cta->local < local;
}

static void set_types(struct pt_written_page *page, uint64_t first, uint64_t end, uint8_t type)
{
    uint64_t from = first > page->address ? first - page->address : 0;
    uint64_t to = end - page->address < PT_WRITTEN_PAGE ? end - page->address : PT_WRITTEN_PAGE;
    for (uint64_t at = from / PT_WRITTEN_PIECE; at * PT_WRITTEN_PIECE < to; at++)
        page->types[at] = type;
}

/* False: there is no memory. */
static bool keep(const struct pt_code *c, struct pt_frame *f, uint64_t address, uint64_t bytes,
                 uint8_t type)
{
    struct pt_written *w = f->cta->launch->written;
    uint64_t at = address & ~(uint64_t)(PT_WRITTEN_PAGE - 1);
    if (ends_with_cta(f->cta, address) || address - f->cta->launch->grid_barrier < 8)
        return true;
    for (; at < address + bytes; at += PT_WRITTEN_PAGE) {
        struct pt_written_page *page = pt_written_get(w, at);
        if (!page)
            return false;
        if (!page->is_saved) {
            f->state->code = c;
            copy_page(page->before, at);
            page->is_saved = true;
        }
        set_types(page, address, address + bytes, type);
    }
    return true;
}

static const struct pt_code *out_of_memory(const struct pt_code *c, struct pt_frame *f)
{
    return pt_fail(c, f, PT_FAULT_OUT_OF_MEMORY, f->mask, "no memory to keep what a launch writes");
}

/* What is misaligned is left to the access, which reports it. */
PT_HANDLER(before_write)
{
    struct pt_code at = pt_address_code(c);
    uint64_t a[PT_WARP_SIZE], bytes = UINT64_C(1) << (c->aux >> 8 & 15);
    uint32_t outside;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (bytes - 1))
        return c + 1;
    for (uint32_t left = f->mask; left; left &= left - 1)
        if (!keep(c, f, a[__builtin_ctz(left)], bytes, (uint8_t)c->o[TYPE]))
            return out_of_memory(c, f);
    return c + 1;
}

/* Of the elements that the form writes, the first that is of such a type; 0: none is. */
static uint8_t float_of(const struct pt_form *form)
{
    for (uint32_t i = 0; i < form->n_types; i++) {
        enum pt_type_class class = pt_type_class((enum pt_type)form->type[i]);
        if (class == PT_CLASS_F || class == PT_CLASS_H)
            return form->type[i];
    }
    return 0;
}

static bool place(struct pt_code *test, const struct pt_func *func, const void *facts,
                  const struct pt_form *form, bool is_write, uint32_t number)
{
    (void)facts;
    (void)func, (void)number;
    if (!is_write || pt_address_kind(test) > PT_ADDRESS_FIXED)
        return false;
    test->fn = before_write;
    test->o[TYPE] = float_of(form);
    return true;
}

/* Of instructions of a warp, and of asynchronous operations. */
static bool see_access(const struct pt_event *e, const struct pt_access *a)
{
    const struct pt_frame *f = e->frame;
    const struct pt_form *form =
        pt_insn_form(f->state->program->base.image->module, &f->body->func->insns.v[e->insn]);
    for (uint32_t left = a->use & PT_USE_WRITE ? e->lanes : 0; left; left &= left - 1)
        if (!keep(e->code, e->frame, a->address[__builtin_ctz(left)], a->bytes, float_of(form)))
            return out_of_memory(e->code, e->frame);
    return true;
}

const struct pt_observer PT_LEVEL_NAME(pt_observer_order) = {
    .name = "order", .access = see_access, .place = place};
