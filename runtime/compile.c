/* Programs of kernels: decoded for the interpreter when they are first needed, and checked
 * without. */
#include "runtime/compile.h"

#include <string.h>

#include "frontend/lower.h"
#include "ir/layout.h"
#include "runtime/diagnostics.h"
#include "runtime/engine.h"
#include "runtime/thread.h"

/* What a module is asked for, on a thread with stack enough for it. */
struct task {
    ptera_module *module;
    ptera_kernel *kernel;
    uint32_t tests;
    ptera_result result;
};

static ptera_result do_task(void (*run)(void *ud), struct task *task)
{
    task->result = PTERA_ERROR_OUT_OF_MEMORY;
    pt_thread_call(PT_STACK_WORK, run, task);
    return task->result;
}

static void make_image(ptera_kernel *kernel, struct pt_shared *shared, struct pt_arena *scratch)
{
    ptera_module *module = kernel->module;
    uint32_t n = module->ir.symbols.n;
    uint64_t *symbols = pt_arena_alloc(&module->ir.arena, n * sizeof *symbols);
    memcpy(symbols, module->symbols, n * sizeof *symbols);
    pt_layout_shared(&module->ir, kernel->func, shared, scratch);
    for (uint32_t i = 0; i < shared->n; i++)
        symbols[shared->symbols[i]] = PT_SHARED_BASE + shared->offsets[i];
    kernel->image = (struct pt_image){&module->ir, symbols, (uintptr_t)module->funcs};
}

/* Makes the program with some tests. The image, and with it the layout of shared memory, is the
 * same for all. */
static ptera_result compile_into(ptera_kernel *kernel, uint32_t tests, struct pt_arena *scratch)
{
    ptera_module *module = kernel->module;
    jmp_buf oom;
    module->ir.arena.oom = scratch->oom = &oom;
    if (setjmp(oom))
        return PTERA_ERROR_OUT_OF_MEMORY;
    struct pt_program *other = atomic_load(&kernel->programs);
    struct pt_shared shared = {0};
    uint32_t errors = module->ir.diags.errors, listed = module->ir.diags.list.n;
    if (!other)
        make_image(kernel, &shared, scratch);
    struct pt_program *program = module->engine->backend->compile(
        &kernel->image, kernel->func, tests, &module->engine->allocator);
    module->ir.arena.oom = &oom; /* the engine had its own */
    pt_diagnostics_format(module);
    if (!program) {
        if (module->ir.diags.errors == errors)
            return PTERA_ERROR_OUT_OF_MEMORY;
        /* Other kernels of the module may still be fit to run. */
        module->ir.diags.errors = errors;
        const char *why = pt_diagnostics_first_error(module, listed);
        atomic_store(&kernel->invalid, why);
        pt_engine_fail(module->engine, "%s", why);
        return pt_diagnostics_result(module, listed);
    }
    program->shared_static = shared.bytes < UINT32_MAX ? (uint32_t)shared.bytes : UINT32_MAX;
    program->shared_align = shared.dynamic_align;
    if (other) {
        program->shared_static = other->shared_static;
        program->shared_align = other->shared_align;
    }
    program->next = other;
    atomic_store_explicit(&kernel->programs, program, memory_order_release);
    return PTERA_OK;
}

static void compile(void *ud)
{
    struct task *task = ud;
    struct pt_arena scratch;
    pt_arena_init(&scratch, &task->module->engine->allocator);
    task->result = compile_into(task->kernel, task->tests, &scratch);
    pt_arena_free(&scratch);
}

const struct pt_program *pt_compile_made(const ptera_kernel *kernel, uint32_t tests)
{
    const struct pt_program *p = atomic_load_explicit(&kernel->programs, memory_order_acquire);
    while (p && p->tests != tests)
        p = p->next;
    return p;
}

void pt_compile_release(ptera_kernel *kernel)
{
    struct pt_program *p = atomic_exchange(&kernel->programs, NULL);
    while (p) {
        struct pt_program *next = p->next;
        p->engine->release(p);
        p = next;
    }
}

ptera_result pt_compile_kernel(ptera_kernel *kernel, uint32_t tests,
                               const struct pt_program **program)
{
    ptera_module *module = kernel->module;
    ptera_result result = PTERA_OK;
    *program = pt_compile_made(kernel, tests);
    if (*program)
        return PTERA_OK;
    pthread_mutex_lock(&module->lock);
    if (!pt_compile_made(kernel, tests))
        result =
            do_task(compile, &(struct task){.module = module, .kernel = kernel, .tests = tests});
    *program = pt_compile_made(kernel, tests);
    pthread_mutex_unlock(&module->lock);
    return result;
}

static void verify_all(void *ud)
{
    struct task *task = ud;
    ptera_module *module = task->module;
    jmp_buf oom;
    module->ir.arena.oom = &oom;
    if (setjmp(oom))
        return;
    bool is_valid = module->ir.diags.errors == 0;
    for (uint32_t i = 1; is_valid && i < module->ir.funcs.n; i++)
        if (!module->ir.funcs.v[i].is_declared_only && !module->ir.funcs.v[i].alias_of)
            pt_lower(&module->ir, i);
    pt_diagnostics_format(module);
    task->result = module->ir.diags.errors ? pt_diagnostics_result(module, 0) : PTERA_OK;
}

ptera_result ptera_module_verify(ptera_module *module)
{
    if (!module)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&module->lock);
    ptera_result result = do_task(verify_all, &(struct task){.module = module});
    pthread_mutex_unlock(&module->lock);
    return result;
}
