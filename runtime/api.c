/* The parts of ptera.h that only look something up or hand it on: information, buffers, texts. */
#include <string.h>

#include "frontend/lex.h"
#include "frontend/lower.h"
#include "ir/print.h"
#include "runtime/diagnostics.h"
#include "runtime/engine.h"
#include "runtime/finding.h"
#include "runtime/jit.h"
#include "runtime/native.h"
#include "runtime/sized.h"
#include "runtime/thread.h"

/* ---- information ----------------------------------------------------------------------------- */

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
static const char version_text[] =
    VERSION_TEXT(PTERA_VERSION_MAJOR, PTERA_VERSION_MINOR, PTERA_VERSION_PATCH);

const char *ptera_version(void)
{
    return version_text;
}

ptera_result ptera_engine_info(const ptera_engine *engine, ptera_info *info)
{
    if (!engine || !info)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    const struct pt_jit *jit = pt_jit();
    ptera_info mine = {
        .version = ptera_version(),
        .cpu_level = engine->backend->name,
        .threads = engine->threads,
        .compute_capability_major = (unsigned)engine->device->limits->major,
        .compute_capability_minor = (unsigned)engine->device->limits->minor,
        .isa_rows = PT_OP_COUNT - 1,
        .has_jit = jit != NULL,
        .llvm_version = jit ? jit->llvm_version : NULL,
        .vector_lanes = jit ? jit->width(engine->backend->name) : 0,
        .cache = jit ? jit->cache() : NULL,
        .jit_error = jit ? NULL : pt_jit_error(),
        .cache_error = jit ? jit->cache_refusal() : NULL,
        .device = engine->device->id,
    };
    for (int op = 1; op < PT_OP_COUNT; op++)
        mine.isa_rows_supported += pt_op_is_supported((enum pt_op)op);
    return PT_GIVE(info, mine);
}

ptera_result ptera_device_get(unsigned index, ptera_device *device)
{
    const struct pt_device *d = pt_device_at(index);
    if (!device)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (!d)
        return PTERA_ERROR_NOT_FOUND;
    ptera_device mine = {
        .id = d->id,
        .name = d->name,
        .compute_capability_major = (unsigned)d->limits->major,
        .compute_capability_minor = (unsigned)d->limits->minor,
        .multiprocessors = (unsigned)d->sms,
        .shared_bytes = (size_t)d->limits->block_shared,
        .memory_bytes = (size_t)d->memory_mib << 20,
        .block_registers = (unsigned)d->limits->block_registers << 10,
        .clock_khz = PT_DEVICE_CLOCK_KHZ,
        .memory_clock_khz = (unsigned)d->memory_khz,
        .memory_bus_bits = (unsigned)d->memory_bits,
    };
    return PT_GIVE(device, mine);
}

ptera_result ptera_isa_row_get(unsigned index, ptera_isa_row *row)
{
    if (!row)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (index >= PT_OP_COUNT - 1)
        return PTERA_ERROR_NOT_FOUND;
    enum pt_op op = (enum pt_op)(index + 1);
    ptera_isa_row mine = {
        .id = pt_op_id(op),
        .syntax = pt_op_syntax(op),
        .is_supported = pt_op_is_supported(op),
        .chapter = pt_op_chapter(op),
        .interprets = pt_op_is_supported(op),
        .compiles = pt_op_compiled(op) == PT_JIT_EMIT   ? 1
                    : pt_op_compiled(op) == PT_JIT_CALL ? 2
                                                        : 0,
        .is_golden = pt_op_is_golden(op),
    };
    return PT_GIVE(row, mine);
}

ptera_result ptera_kernel_info(const ptera_kernel *kernel, ptera_kernel_status *status)
{
    if (!kernel || !status)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(kernel->module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    ptera_engine *engine = kernel->module->engine;
    ptera_kernel_status mine = {
        .native_launches = atomic_load(&kernel->native_launches),
        .interpreted_launches = atomic_load(&kernel->interpreted_launches),
        .why = atomic_load(&kernel->why),
        .stepped = atomic_load(&kernel->stepped),
    };
    pthread_mutex_lock(&engine->lock);
    for (const struct pt_version *v = kernel->versions; v; v = v->next) {
        mine.versions += v->native != NULL;
        mine.code_bytes += v->native ? v->native->code_bytes : 0;
    }
    pthread_mutex_unlock(&engine->lock);
    return PT_GIVE(status, mine);
}

/* ---- buffers --------------------------------------------------------------------------------- */

ptera_result ptera_buffer_alloc(ptera_engine *engine, size_t bytes, void **address)
{
    if (!engine || !bytes || !address)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    void *p = pt_mem_alloc(&engine->mem, bytes, PT_MEM_BUFFER);
    if (!p)
        return PTERA_ERROR_OUT_OF_MEMORY;
    *address = p;
    return PTERA_OK;
}

ptera_result ptera_buffer_free(ptera_engine *engine, void *address)
{
    if (!engine)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    if (address && !pt_mem_free(&engine->mem, address, PT_MEM_BUFFER))
        return PTERA_ERROR_INVALID_ARGUMENT;
    return PTERA_OK;
}

ptera_result ptera_memory_register(ptera_engine *engine, void *address, size_t bytes)
{
    bool overlaps;
    if (!engine || !address || !bytes || bytes > UINTPTR_MAX - (uintptr_t)address)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    if (pt_mem_register(&engine->mem, (uintptr_t)address, bytes, &overlaps))
        return PTERA_OK;
    return overlaps ? PTERA_ERROR_INVALID_ARGUMENT : PTERA_ERROR_OUT_OF_MEMORY;
}

ptera_result ptera_memory_unregister(ptera_engine *engine, void *address)
{
    if (!engine)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    if (address && !pt_mem_unregister(&engine->mem, (uintptr_t)address))
        return PTERA_ERROR_INVALID_ARGUMENT;
    return PTERA_OK;
}

ptera_result ptera_memory_read(ptera_engine *engine, const void *address, size_t bytes)
{
    if (!engine || (bytes && !address))
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    bool is_found = pt_finding_add_unmade(engine, (uintptr_t)address, bytes, "the host's reading");
    return is_found ? PTERA_ERROR_FINDINGS : PTERA_OK;
}

/* ---- modules --------------------------------------------------------------------------------- */

ptera_result ptera_module_diagnostic(const ptera_module *module, unsigned index,
                                     ptera_diagnostic *diagnostic)
{
    static const ptera_severity severities[] = {
        [PT_SEV_NOTE] = PTERA_NOTE, [PT_SEV_WARNING] = PTERA_WARNING, [PT_SEV_ERROR] = PTERA_ERROR};
    _Static_assert(sizeof severities / sizeof *severities == PT_SEV_ERROR + 1,
                   "the last of enum pt_severity");
    ptera_diagnostic mine;
    if (!module || !diagnostic)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&module->lock;
    pthread_mutex_lock(lock); /* launches of other threads may add some */
    bool is_there = index < module->diag_texts.n;
    if (is_there) {
        const struct pt_diag *d = &module->ir.diags.list.v[index];
        uint32_t file_line = 0;
        const char *file = pt_diag_place(&module->ir.diags, d->line, &file_line);
        mine = (ptera_diagnostic){0,
                                  severities[d->severity],
                                  d->unsupported,
                                  d->line,
                                  d->col,
                                  d->message,
                                  module->diag_texts.v[index],
                                  file,
                                  d->line ? file_line : 0};
    }
    pthread_mutex_unlock(lock);
    return is_there ? PT_GIVE(diagnostic, mine) : PTERA_ERROR_NOT_FOUND;
}

static uint32_t find_func(const ptera_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->n_kernels; i++)
        if (strcmp(module->ir.funcs.v[module->kernels[i].func].name, name) == 0)
            return module->kernels[i].func;
    return PT_NONE;
}

static bool lower_for(ptera_module *module, uint32_t func)
{
    struct pt_module *ir = &module->ir;
    bool ok = true;
    for (uint32_t i = 1; i < ir->funcs.n; i++) {
        const struct pt_func *f = &ir->funcs.v[i];
        if ((func == PT_NONE || i == func) && !f->is_declared_only && !f->alias_of)
            ok = pt_lower(ir, i) && ok;
    }
    return ok;
}

struct emission {
    ptera_module *module;
    uint32_t func;
    ptera_emit what;
    const char *text;
    ptera_result result;
};

static void emit(void *ud)
{
    struct emission *e = ud;
    jmp_buf oom;
    size_t n;
    struct pt_module *ir = &e->module->ir;
    ir->arena.oom = &oom;
    if (setjmp(oom))
        return;
    if (e->what == PTERA_EMIT_TOKENS) {
        e->text = pt_lex_dump(e->module->text, e->module->text_len, &ir->arena, &n);
        e->result = PTERA_OK;
        return;
    }
    bool ok = e->what == PTERA_EMIT_AST || lower_for(e->module, e->func);
    pt_diagnostics_format(e->module);
    if (ok)
        e->text = pt_print(ir, e->func, &ir->arena, &n);
    e->result = ok ? PTERA_OK : pt_diagnostics_result(e->module, 0);
}

ptera_result ptera_module_emit(ptera_module *module, const char *kernel, ptera_emit what,
                               const char **text)
{
    if (!module || !text || what < PTERA_EMIT_TOKENS || what > PTERA_EMIT_IR)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    uint32_t func = kernel ? find_func(module, kernel) : PT_NONE;
    if (kernel && func == PT_NONE)
        return PTERA_ERROR_NOT_FOUND;
    pthread_mutex_lock(&module->lock);
    struct emission e = {module, func, what, NULL, PTERA_ERROR_OUT_OF_MEMORY};
    if (what != PTERA_EMIT_TOKENS && module->ir.diags.errors)
        e.result = pt_diagnostics_result(module, 0);
    else
        pt_thread_call(PT_STACK_WORK, emit, &e);
    pthread_mutex_unlock(&module->lock);
    if (e.result == PTERA_OK)
        *text = e.text;
    return e.result;
}

/* ---- kernels --------------------------------------------------------------------------------- */

const char *ptera_kernel_name(const ptera_kernel *kernel)
{
    return kernel ? kernel->module->ir.funcs.v[kernel->func].name : "";
}

ptera_result ptera_kernel_parameter(const ptera_kernel *kernel, unsigned index,
                                    ptera_parameter *parameter)
{
    if (!kernel || !parameter)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(kernel->module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    const struct pt_module *ir = &kernel->module->ir;
    const struct pt_func *f = &ir->funcs.v[kernel->func];
    if (index >= f->params.n)
        return PTERA_ERROR_NOT_FOUND;
    const struct pt_symbol *s = &ir->symbols.v[f->params.v[index]];
    ptera_parameter mine = {
        0, s->name, pt_type_name((enum pt_type)s->type), s->offset, s->size, s->align, s->is_array};
    return PT_GIVE(parameter, mine);
}
