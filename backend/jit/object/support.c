/* What native code calls for one thread, or for the whole CTA. */
#include "backend/jit/object/support.h"

#include <string.h>

#include "backend/barrier.h"
#include "backend/environment.h"
#include "backend/semantics/float.h"
#include "backend/sreg.h"

uint64_t jit_help_sreg(const struct pt_cta *cta, uint32_t sreg, uint32_t x)
{
    (void)x; /* which is cta->id[0]: calls that LLVM takes for pure differ by it */
    return pt_sreg_of_cta(cta, (enum pt_sreg)sreg);
}

void jit_help_depend(struct pt_cta *cta, uint32_t is_wait)
{
    const struct pt_environment *e = pt_environment_of(cta->launch);
    if (is_wait)
        e->wait(cta);
    else
        e->launch_dependents(cta);
}

static const char *detail_of(enum pt_fault_kind kind, const struct pt_form *form)
{
    switch (kind) {
    case PT_FAULT_BEYOND_LOCAL:
        return PT_BEYOND_LOCAL;
    case PT_FAULT_MASK:
        return PT_STRANGERS;
    case PT_FAULT_ILLEGAL_INSTRUCTION:
        return form->op == PT_OP_brx_idx ? PT_NO_TARGET : PT_NO_FUNCTION;
    default:
        return form->op == PT_OP_brkpt ? PT_NO_DEBUGGER : NULL;
    }
}

void jit_help_fail(const struct pt_cta *cta, struct pt_fault *fault, uint64_t what, uint64_t place,
                   uint64_t first, const uint32_t *lanes, const uint64_t *addresses)
{
    const struct pt_module *m = cta->launch->program->image->module;
    uint32_t func = (uint32_t)(place >> 32), insn = (uint32_t)place, lowest = 0;
    uint32_t n = (uint32_t)what >> 16, n_addresses = (uint32_t)what & 0xffff;
    const struct pt_form *form = pt_insn_form(m, &m->funcs.v[func].insns.v[insn]);
    enum pt_fault_kind kind = (enum pt_fault_kind)(what >> 32);
    while (lowest < n - 1 && !lanes[lowest])
        lowest++;
    *fault = (struct pt_fault){
        .kind = kind, .func = func, .insn = insn, .detail = detail_of(kind, form)};
    fault->warp = (uint32_t)(first + lowest) / PT_WARP_SIZE;
    for (uint32_t i = lowest; i < n && (first + i) / PT_WARP_SIZE == fault->warp; i++)
        fault->lanes |= (uint32_t)(lanes[i] != 0) << (first + i) % PT_WARP_SIZE;
    if (form->op == PT_OP_brx_idx) /* the interpreter looks at one lane after the other */
        fault->lanes &= -fault->lanes;
    fault->has_address = n_addresses != 0;
    fault->address = n_addresses ? addresses[n_addresses > 1 ? lowest : 0] : 0;
}

uint32_t jit_help_check(struct pt_cta *cta, struct pt_fault *fault, uint64_t what, uint64_t place,
                        uint64_t first, const uint32_t *lanes, const uint64_t *addresses,
                        uint64_t extent[2])
{
    const struct pt_launch *launch = cta->launch;
    struct pt_warp warp = {0};
    struct pt_extent found;
    uint64_t a[PT_WARP_SIZE] = {0}, bytes = what >> 48;
    uint32_t n = what >> 32 & 0xffff, origin = (uint32_t)what, func = (uint32_t)(place >> 32),
             insn = (uint32_t)place;
    uint32_t on = 0, misaligned = 0, before = first % PT_WARP_SIZE;
    pt_warp_place(&warp, cta, launch, (uint32_t)first / PT_WARP_SIZE);
    for (uint32_t i = 0; i < n && first + i < launch->threads; i++) {
        uint32_t lane = before + i;
        a[lane] = addresses[i];
        on |= (uint32_t)(lanes[i] != 0) << lane;
        misaligned |= (uint32_t)(lanes[i] && a[lane] % bytes) << lane;
    }
    if (misaligned) {
        *fault = (struct pt_fault){.kind = PT_FAULT_MISALIGNED,
                                   .func = func,
                                   .insn = insn,
                                   .lanes = misaligned,
                                   .warp = warp.index,
                                   .has_address = true,
                                   .address = a[__builtin_ctz(misaligned)]};
        return 1;
    }
    launch->program->engine->check(&warp, func, insn, on, a, bytes, origin, &found);
    if (found.bytes) {
        extent[0] = found.first;
        extent[1] = found.bytes;
    }
    return 0;
}

void *jit_help_frame(struct pt_cta *cta, uint32_t warp, uint32_t func)
{
    return cta->launch->program->engine->frame(&cta->warps[warp], func);
}

uint32_t jit_help_step(struct pt_cta *cta, uint32_t warp, uint32_t func, uint32_t insn,
                       uint32_t lanes, uint32_t is_fast)
{
    struct pt_warp *w = cta->stepping = &cta->warps[warp];
    uint32_t live = w->live;
    if (!cta->launch->program->engine->step(w, func, insn, lanes, is_fast))
        return 0;
    w->live = live;
    cta->stepping = NULL;
    cta->steps++;
    return 1;
}

uint32_t jit_help_sample(struct pt_cta *cta, struct pt_fault *fault, uint64_t place, uint32_t warp,
                         uint32_t sampling, uint32_t lanes, struct pt_sampled *s)
{
    cta->sampling = place + 1;
    bool ok = cta->launch->program->engine->sample(s, sampling, lanes, fault);
    cta->sampling = 0;
    if (ok)
        return 1;
    fault->func = (uint32_t)(place >> 32);
    fault->insn = (uint32_t)place;
    fault->warp = warp;
    return 0;
}

uint64_t jit_help_atom_add_f64(uint64_t old, uint64_t b, uint32_t in_shared)
{
    return pt_float_atom_add64(old, b, in_shared);
}

bool jit_device_function(struct pt_cta *cta, struct pt_fault *fault, uint32_t thread,
                         uint32_t function, const void *args, void *result)
{
    const uint32_t *block = cta->launch->block;
    uint32_t lane = thread % PT_WARP_SIZE;
    struct pt_warp warp;
    memset(&warp, 0, sizeof warp);
    warp.cta = cta;
    warp.index = thread / PT_WARP_SIZE;
    warp.live = UINT32_C(1) << lane;
    warp.tid[0][lane] = thread % block[0];
    warp.tid[1][lane] = thread / block[0] % block[1];
    warp.tid[2][lane] = thread / block[0] / block[1];
    if (cta->launch->services->call(&warp, lane, function, args, result))
        return true;
    uint32_t func = fault->func, insn = fault->insn;
    *fault = warp.fault;
    fault->func = func;
    fault->insn = insn;
    fault->lanes = UINT32_C(1) << lane;
    fault->warp = warp.index;
    return false;
}
