/* Accesses of kernels outside their allocations that go on, as on a GPU, whose pages are large:
 * PTERA_OOB=warn. */
#include "runtime/stray.h"

#include <string.h>

#include "runtime/engine.h"
#include "runtime/jit.h"
#include "runtime/job.h"
#include "runtime/report.h"
#include "runtime/words.h"
#include "runtime/worker.h"

/* What the engine would say of a fault of the warp; the warp goes on. */
static struct pt_fault place_of(struct pt_warp *warp, uint64_t address)
{
    struct pt_fault before = warp->fault;
    warp->cta->launch->program->engine->locate(warp, address);
    struct pt_fault fault = warp->fault;
    warp->fault = before;
    fault.kind = PT_FAULT_ILLEGAL_ADDRESS;
    return fault;
}

/* In the handler: native code is looked at later. */
static void note(struct pt_worker *w, uintptr_t pc, uint64_t address)
{
    struct pt_warp *warp = w->native ? w->native->stepping : w->running;
    const struct pt_cta *cta = warp ? warp->cta : w->native;
    struct pt_strays *strays = w->strays;
    if (strays->n == PT_STRAYS || !cta)
        return;
    struct pt_stray *s = &strays->v[strays->n++];
    s->has_warp = warp != NULL;
    s->pc = warp ? 0 : pc;
    s->warp = warp ? warp->index : 0;
    memcpy(s->cta, cta->id, sizeof s->cta);
    s->fault = (struct pt_fault){.kind = PT_FAULT_ILLEGAL_ADDRESS, .insn = UINT32_MAX};
    if (warp)
        s->fault = place_of(warp, address);
    s->fault.has_address = true;
    s->fault.address = address;
}

bool pt_stray_take(void *worker, uintptr_t pc, uint64_t address)
{
    struct pt_worker *w = worker;
    if (!pt_mem_open(&w->job->engine->mem, address))
        return false;
    note(w, pc, address);
    return true;
}

/* Where there is no memory for it, the line is told again. */
static void remember(ptera_module *module, const struct pt_told *told)
{
    jmp_buf oom;
    module->ir.arena.oom = &oom;
    if (!setjmp(oom))
        *pt_vec_push(&module->ir.arena, &module->told) = *told;
}

/* Under the module's lock: whether the log does not know the kernel's line yet; now it does. */
static bool is_new(const struct pt_job *job, const struct pt_fault *fault)
{
    ptera_module *module = job->kernel->module;
    const struct pt_insn *insn = pt_words_insn(module, fault->func, fault->insn);
    struct pt_told told = {job->kernel->func, insn ? insn->line : 0};
    for (uint32_t i = 0; i < module->told.n; i++)
        if (!memcmp(&module->told.v[i], &told, sizeof told))
            return false;
    remember(module, &told);
    return true;
}

static void tell(struct pt_job *job, struct pt_stray *stray)
{
    char text[PT_ERROR_BYTES];
    ptera_module *module = job->kernel->module;
    if (stray->pc)
        pt_jit()->locate(stray->pc, &stray->fault.func, &stray->fault.insn);
    pthread_mutex_lock(&module->lock);
    bool is_news = is_new(job, &stray->fault);
    if (is_news)
        pt_report_stray(job, stray, text);
    pthread_mutex_unlock(&module->lock);
    if (is_news)
        pt_engine_log(job->engine, PTERA_ERROR, "%s", text);
}

void pt_stray_tell(struct pt_worker *w)
{
    for (unsigned i = 0; i < w->strays->n; i++)
        tell(w->job, &w->strays->v[i]);
}
