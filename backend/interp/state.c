/* A warp that stops at a fault. */
#include "backend/interp/state.h"

const struct pt_code *pt_fail(const struct pt_code *c, struct pt_frame *f, enum pt_fault_kind kind,
                              uint32_t lanes, const char *detail)
{
    f->state->warp->fault = (struct pt_fault){
        .kind = kind, .func = f->body->index, .insn = c->insn, .lanes = lanes, .detail = detail};
    return pt_stop(f->state, PT_RUN_FAULT);
}

const struct pt_code *pt_fail_at(const struct pt_code *c, struct pt_frame *f,
                                 enum pt_fault_kind kind, uint32_t lanes, uint64_t address,
                                 const char *detail)
{
    pt_fail(c, f, kind, lanes, detail);
    f->state->warp->fault.has_address = true;
    f->state->warp->fault.address = address;
    return NULL;
}
