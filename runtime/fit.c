/* What a GPU has no room for, as NVIDIA's assembler finds it: modules with more are refused when
 * they are loaded. */
#include "runtime/fit.h"

#include <inttypes.h>

#include "ir/layout.h"
#include "runtime/engine.h"

static bool fits(struct pt_module *ir, uint64_t bytes, uint64_t most, uint32_t line,
                 const char *what)
{
    if (bytes <= most)
        return true;
    pt_diag_error(&ir->diags, line, 1, 1,
                  "%" PRIu64 " bytes of %s, of which there are %" PRIu64 " at most", bytes, what,
                  most);
    return false;
}

/* Few modules have so many that one kernel's could be too many. */
static bool may_have_too_many(const struct pt_module *ir)
{
    uint64_t bytes = 0;
    for (uint32_t i = 1; i < ir->symbols.n; i++) {
        const struct pt_symbol *s = &ir->symbols.v[i];
        uint64_t more = s->space == PT_SPACE_SHARED ? s->size + s->align : 0;
        bytes = more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
    }
    return bytes > PT_DEVICE_STATIC_SHARED;
}

/* Jumps to scratch->oom. */
static bool check_shared(struct pt_module *ir, struct pt_arena *scratch)
{
    bool ok = true;
    for (uint32_t i = 1; i < ir->funcs.n; i++) {
        const struct pt_func *f = &ir->funcs.v[i];
        struct pt_shared shared;
        if (!f->is_entry || f->is_declared_only)
            continue;
        pt_layout_shared(ir, i, &shared, scratch);
        ok = fits(ir, shared.bytes, PT_DEVICE_STATIC_SHARED, f->line,
                  "static shared memory in a kernel") &&
             ok;
    }
    return ok;
}

bool pt_fit_shared(ptera_module *module)
{
    struct pt_module *ir = &module->ir;
    struct pt_arena scratch;
    jmp_buf oom, *outer = ir->arena.oom;
    if (!may_have_too_many(ir))
        return true;
    pt_arena_init(&scratch, &module->engine->allocator);
    ir->arena.oom = scratch.oom = &oom;
    volatile bool is_out = true;
    bool ok = false;
    if (setjmp(oom) == 0) {
        ok = check_shared(ir, &scratch);
        is_out = false;
    }
    pt_arena_free(&scratch);
    ir->arena.oom = outer;
    if (is_out)
        longjmp(*outer, 1);
    return ok;
}

bool pt_fit_constants(ptera_module *module, uint64_t bytes)
{
    uint32_t line = 1;
    for (uint32_t i = 1; i < module->ir.symbols.n; i++)
        if (module->ir.symbols.v[i].space == PT_SPACE_CONST)
            line = module->ir.symbols.v[i].line;
    return fits(&module->ir, bytes, PT_DEVICE_CONSTANTS, line, "constants in a module");
}
