/* Modules: loaded, looked at, freed. */

#include "runtime/module.h"

#include <stdio.h>
#include <string.h>

#include "frontend/parse.h"
#include "ir/layout.h"
#include "runtime/closure.h"
#include "runtime/compile.h"
#include "runtime/diagnostics.h"
#include "runtime/engine.h"
#include "runtime/fit.h"
#include "runtime/globals.h"
#include "runtime/native.h"
#include "runtime/sized.h"
#include "runtime/slot.h"
#include "runtime/thread.h"
#include "runtime/timeline.h"
#include "runtime/twin.h"

/* ---- loading --------------------------------------------------------------------------------- */

/* Functions that are declared and that the embedder has registered. */
static bool link_host(ptera_module *module)
{
    struct pt_module *ir = &module->ir;
    bool ok = true;
    module->host_links = pt_arena_alloc(&ir->arena, ir->funcs.n * sizeof *module->host_links);
    for (uint32_t i = 1; i < ir->funcs.n; i++) {
        struct pt_func *f = &ir->funcs.v[i];
        const struct pt_host_function *host =
            f->is_declared_only ? pt_host_find(module->engine, f->name) : NULL;
        char why[128];
        if (!host)
            continue;
        f->is_host = pt_host_link(ir, i, host, &module->host_links[i], why, sizeof why);
        if (!f->is_host)
            pt_diag_error(&ir->diags, f->line, 1, 1, "function '%s' is registered as '%s': %s",
                          f->name, host->text, why);
        ok = ok && f->is_host;
    }
    return ok;
}

static void list_kernels(ptera_module *module)
{
    const struct pt_module *ir = &module->ir;
    uint32_t n = 0;
    for (uint32_t i = 1; i < ir->funcs.n; i++)
        n += ir->funcs.v[i].is_entry && !ir->funcs.v[i].is_declared_only;
    module->kernels = pt_arena_alloc(&module->ir.arena, n * sizeof *module->kernels);
    for (uint32_t i = 1; i < ir->funcs.n; i++) {
        if (!ir->funcs.v[i].is_entry || ir->funcs.v[i].is_declared_only)
            continue;
        ptera_kernel *kernel = &module->kernels[module->n_kernels++];
        kernel->module = module;
        kernel->func = i;
    }
}

static ptera_result load_parsed(ptera_module *module, bool is_valid)
{
    is_valid =
        is_valid && pt_globals_check_externs(module) && link_host(module) && pt_fit_shared(module);
    ptera_result placed = is_valid ? pt_globals_place(module) : PTERA_OK;
    pt_diagnostics_format(module);
    if (!is_valid)
        return pt_diagnostics_result(module, 0);
    if (placed != PTERA_OK)
        return placed;
    pt_globals_initialise(module);
    list_kernels(module);
    return PTERA_OK;
}

/* What a module is asked for, on a thread with stack enough for it. */
struct task {
    ptera_module *module;
    const ptera_module *parent;
    ptera_result result;
};

static ptera_result do_task(void (*run)(void *ud), struct task *task)
{
    task->result = PTERA_ERROR_OUT_OF_MEMORY;
    pt_thread_call(PT_STACK_WORK, run, task);
    return task->result;
}

static void load(void *ud)
{
    struct task *task = ud;
    ptera_module *module = task->module;
    jmp_buf oom;
    module->ir.arena.oom = &oom;
    if (setjmp(oom))
        return;
    bool is_valid = pt_parse(&module->ir, module->name, module->text, module->text_len);
    task->result = load_parsed(module, is_valid);
    if (task->result == PTERA_OK)
        pt_native_expect(module);
}

static ptera_module *create(ptera_engine *engine, const char *name, const char *text, size_t bytes)
{
    size_t name_bytes = strlen(name) + 1;
    ptera_module *module = pt_engine_alloc(engine, sizeof *module);
    char *copy = pt_engine_alloc(engine, name_bytes + bytes + 1);
    if (!module || !copy) {
        pt_engine_free(engine, module);
        pt_engine_free(engine, copy);
        return NULL;
    }
    memcpy(copy, name, name_bytes);
    memcpy(copy + name_bytes, text, bytes);
    module->engine = engine;
    module->name = copy;
    module->text = copy + name_bytes;
    module->text_len = bytes;
    pthread_mutex_init(&module->lock, NULL);
    pt_arena_init(&module->ir.arena, &engine->allocator);
    module->ir.fmad = engine->fmad;
    return module;
}

static void link_in(ptera_module *module)
{
    ptera_engine *engine = module->engine;
    pthread_mutex_lock(&engine->lock);
    module->next = engine->modules;
    module->link = &engine->modules;
    if (module->next)
        module->next->link = &module->next;
    engine->modules = module;
    pthread_mutex_unlock(&engine->lock);
}

/* Does nothing to one that did not come in. */
static void link_out(ptera_module *module)
{
    pthread_mutex_lock(&module->engine->lock);
    if (module->link) {
        *module->link = module->next;
        if (module->next)
            module->next->link = module->link;
    }
    pthread_mutex_unlock(&module->engine->lock);
}

void pt_module_free(ptera_module *module)
{
    ptera_engine *engine = module->engine;
    pt_closure_free_all(module);
    if (module->callers)
        pt_module_free(module->callers);
    link_out(module);
    if (module->n_kernels)
        pt_slot_forget(engine, module);
    pt_native_forget(module);
    for (uint32_t i = 0; i < module->n_kernels; i++)
        pt_compile_release(&module->kernels[i]);
    if (module->globals)
        pt_mem_free(&engine->mem, module->globals, PT_MEM_GLOBALS);
    pt_twin_unmap(&module->constants);
    if (module->funcs_bytes)
        pt_mem_unreserve(module->funcs, module->funcs_bytes);
    pt_arena_free(&module->ir.arena);
    pthread_mutex_destroy(&module->lock);
    pt_engine_free(engine, (void *)(uintptr_t)module->name);
    pt_engine_free(engine, module);
}

ptera_result ptera_module_load(ptera_engine *engine, const char *name, const char *text,
                               size_t bytes, ptera_module **module)
{
    if (!engine || !name || (!text && bytes) || !module)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    ptera_module *m = create(engine, name, text ? text : "", bytes);
    if (!m)
        return PTERA_ERROR_OUT_OF_MEMORY;
    uint64_t begun = pt_timeline_begin(engine);
    ptera_result result = do_task(load, &(struct task){.module = m});
    pt_timeline_end(engine, name, &pt_timeline_load, begun);
    if (result == PTERA_ERROR_OUT_OF_MEMORY) {
        pt_module_free(m);
        return result;
    }
    link_in(m);
    *module = m;
    return result;
}

static void share_with_parent(void *ud)
{
    struct task *task = ud;
    ptera_module *module = task->module;
    const ptera_module *parent = task->parent;
    jmp_buf oom;
    struct pt_module *ir = &module->ir;
    ir->arena.oom = &oom;
    if (setjmp(oom))
        return;
    if (!pt_parse(ir, module->name, module->text, module->text_len) || !link_host(module) ||
        ir->symbols.n < parent->ir.symbols.n)
        return;
    module->symbols = pt_arena_alloc(&ir->arena, ir->symbols.n * sizeof *module->symbols);
    memcpy(module->symbols, parent->symbols, parent->ir.symbols.n * sizeof *module->symbols);
    module->funcs = parent->funcs;
    list_kernels(module);
    task->result = PTERA_OK;
}

ptera_module *pt_module_extend(ptera_module *parent, const char *text, size_t bytes)
{
    ptera_module *module = create(parent->engine, parent->name, text, bytes);
    struct task task = {.module = module, .parent = parent};
    if (!module || do_task(share_with_parent, &task) == PTERA_OK)
        return module;
    pt_module_free(module);
    return NULL;
}

static char *read_all(ptera_engine *engine, FILE *file, size_t *bytes, ptera_result *result)
{
    size_t n = 0, cap = (size_t)64 << 10;
    char *text = pt_engine_alloc(engine, cap);
    while (text) {
        n += fread(text + n, 1, cap - n, file);
        if (n < cap)
            break;
        cap *= 2;
        char *more = engine->allocator.resize(engine->allocator.ud, text, cap);
        if (!more)
            pt_engine_free(engine, text);
        text = more;
    }
    *result = !text ? PTERA_ERROR_OUT_OF_MEMORY : ferror(file) ? PTERA_ERROR_FILE : PTERA_OK;
    *bytes = n;
    return text;
}

ptera_result ptera_module_load_file(ptera_engine *engine, const char *path, ptera_module **module)
{
    if (!engine || !path || !module)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    FILE *file = fopen(path, "rb");
    if (!file)
        return PTERA_ERROR_FILE;
    size_t bytes;
    ptera_result result;
    char *text = read_all(engine, file, &bytes, &result);
    fclose(file);
    if (result == PTERA_OK)
        result = ptera_module_load(engine, path, text, bytes, module);
    pt_engine_free(engine, text);
    return result;
}

void ptera_module_unload(ptera_module *module)
{
    if (module && !pt_engine_is_inherited(module->engine))
        pt_module_free(module);
}

/* ---- looking at a module --------------------------------------------------------------------- */

uint32_t pt_module_func(const ptera_module *module, const char *name)
{
    for (uint32_t i = 1; i < module->ir.funcs.n; i++)
        if (!strcmp(module->ir.funcs.v[i].name, name))
            return i;
    return PT_NONE;
}

ptera_result ptera_module_properties_get(const ptera_module *module,
                                         ptera_module_properties *properties)
{
    if (!module || !properties)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    ptera_module_properties mine = {.ptx_version = module->ir.ptx,
                                    .target = module->ir.sm,
                                    .target_feature = (char)module->ir.sm_feature};
    for (uint32_t i = 1; i < module->ir.symbols.n; i++) {
        const struct pt_symbol *s = &module->ir.symbols.v[i];
        mine.global_bytes += pt_layout_is_placed(s, PT_SPACE_GLOBAL) ? s->size : 0;
        mine.constant_bytes += pt_layout_is_placed(s, PT_SPACE_CONST) ? s->size : 0;
    }
    return PT_GIVE(properties, mine);
}

ptera_result ptera_module_kernel(ptera_module *module, const char *name, unsigned index,
                                 ptera_kernel **kernel)
{
    if (!module || !kernel)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    for (uint32_t i = 0; i < module->n_kernels; i++) {
        ptera_kernel *k = &module->kernels[i];
        if (name ? strcmp(module->ir.funcs.v[k->func].name, name) == 0 : i == index) {
            *kernel = k;
            return PTERA_OK;
        }
    }
    return PTERA_ERROR_NOT_FOUND;
}
