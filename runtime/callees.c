/* Which functions of the host a kernel calls. */
#include "runtime/callees.h"

#include <string.h>

#include "ir/call_graph.h"

static bool has_host(const struct pt_module *m, const uint8_t *named, const char *prefix)
{
    for (uint32_t i = 1; i < m->funcs.n; i++)
        if ((!named || named[i]) && m->funcs.v[i].is_host &&
            strncmp(m->funcs.v[i].name, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

bool pt_callees_have(const ptera_kernel *kernel, const char *prefix)
{
    const struct pt_module *m = &kernel->module->ir;
    struct pt_arena arena;
    jmp_buf oom;
    if (!has_host(m, NULL, prefix))
        return false;
    pt_arena_init(&arena, &kernel->module->engine->allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        pt_arena_free(&arena);
        return false;
    }
    bool have = has_host(m, pt_call_graph_named(m, kernel->func, &arena), prefix);
    pt_arena_free(&arena);
    return have;
}
