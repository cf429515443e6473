/* Functions of a module as C functions. A kernel of one thread, made for each function, takes
 * the arguments, calls it and stores the result; a closure of libffi launches that. The kernels
 * are in a module that extends the one that they call. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "frontend/link_text.h"
#include "ir/device.h"
#include "runtime/closure.h"
#include "runtime/engine.h"
#include "runtime/module.h"

/* ---- the kernels ----------------------------------------------------------------------------- */

#define PREFIX "$call$"

/* Text that grows in an arena. */
struct text {
    struct pt_arena *arena;
    PT_VEC(char) v;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    n = n < (int)sizeof line ? n : (int)sizeof line - 1;
    memcpy(pt_vec_extend(t->arena, &t->v, (uint32_t)n), line, (size_t)n);
}

static void put_name(struct text *t, const char *name)
{
    size_t n = strlen(name);
    memcpy(pt_vec_extend(t->arena, &t->v, (uint32_t)n), name, n);
}

static bool is_passed(const struct pt_symbol *s)
{
    return s->space != PT_SPACE_REG && s->size && !s->is_unsized;
}

static bool is_callable(const struct pt_module *m, const struct pt_func *f)
{
    bool ok = !f->is_entry && !f->is_declared_only && !f->alias_of &&
              f->linkage == PT_LINK_VISIBLE && f->results.n <= 1;
    for (uint32_t i = 0; i < f->params.n; i++)
        ok = ok && is_passed(&m->symbols.v[f->params.v[i]]);
    for (uint32_t i = 0; i < f->results.n; i++)
        ok = ok && is_passed(&m->symbols.v[f->results.v[i]]);
    return ok;
}

/* .param .align 8 .b8 NAME[16] */
static void put_param(struct text *t, const struct pt_symbol *s, const char *prefix, uint32_t index)
{
    enum pt_type type = (enum pt_type)s->type;
    if (s->is_array)
        put(t, ".param .align %u .%s %s%u[%" PRIu64 "]", s->align, pt_type_name(type), prefix,
            index, s->size / (pt_type_bits(type) / 8));
    else
        put(t, ".param .%s %s%u", pt_type_name(type), prefix, index);
}

static void put_params(struct text *t, const struct pt_module *m, const uint32_t *params,
                       uint32_t n, const char *prefix, const char *between)
{
    for (uint32_t i = 0; i < n; i++) {
        put_param(t, &m->symbols.v[params[i]], prefix, i);
        if (i + 1 < n || *between == ';')
            put(t, "%s", between);
    }
}

/* Copies a value in pieces that its alignment allows. */
static void put_copy(struct text *t, const struct pt_symbol *s, const char *load, const char *from,
                     const char *store, const char *to)
{
    uint64_t align = s->align && s->align < 8 ? s->align : 8;
    for (uint64_t at = 0, n; at < s->size; at += n) {
        for (n = align; n > s->size - at; n /= 2)
            ;
        put(t, "%s.b%" PRIu64 " %%v%" PRIu64 ", [%s+%" PRIu64 "]; ", load, n * 8, n == 1 ? 2 : n,
            from, at);
        put(t, "%s.b%" PRIu64 " [%s+%" PRIu64 "], %%v%" PRIu64 ";\n", store, n * 8, to, at,
            n == 1 ? 2 : n);
    }
}

static void put_signature(struct text *t, const struct pt_module *m, const struct pt_func *f)
{
    if (f->results.n) {
        put(t, "(");
        put_params(t, m, f->results.v, 1, "r", ", ");
        put(t, ") ");
    }
    put_name(t, f->name);
    put(t, " (");
    put_params(t, m, f->params.v, f->params.n, "p", ", ");
    put(t, ")");
}

static void put_call(struct text *t, const struct pt_func *f)
{
    put(t, "call %s", f->results.n ? "(r0), " : "");
    put_name(t, f->name);
    for (uint32_t i = 0; i < f->params.n; i++)
        put(t, "%sp%u", i ? ", " : ", (", i);
    put(t, "%s;\n", f->params.n ? ")" : "");
}

static void put_kernel(struct text *t, const struct pt_module *m, const struct pt_func *f)
{
    char from[16], to[16];
    put(t, ".extern .func ");
    put_signature(t, m, f);
    put(t, ";\n.visible .entry " PREFIX);
    put_name(t, f->name);
    put(t, "(.param .u64 result%s", f->params.n ? ", " : "");
    put_params(t, m, f->params.v, f->params.n, "a", ", ");
    put(t, ")\n{\n.reg .b16 %%v2; .reg .b32 %%v4; .reg .b64 %%v8, %%result;\n");
    put_params(t, m, f->results.v, f->results.n, "r", ";\n");
    put_params(t, m, f->params.v, f->params.n, "p", ";\n");
    for (uint32_t i = 0; i < f->params.n; i++) {
        snprintf(from, sizeof from, "a%u", i);
        snprintf(to, sizeof to, "p%u", i);
        put_copy(t, &m->symbols.v[f->params.v[i]], "ld.param", from, "st.param", to);
    }
    put_call(t, f);
    if (f->results.n) {
        put(t, "ld.param.u64 %%result, [result];\n");
        put_copy(t, &m->symbols.v[f->results.v[0]], "ld.param", "r0", "st", "%result");
    }
    put(t, "ret;\n}\n");
}

/* The module's text, and behind it a module of kernels, one for each function. */
static char *text_with_kernels(const ptera_module *module, struct pt_arena *arena, size_t *bytes)
{
    const struct pt_module *m = &module->ir;
    struct text t = {.arena = arena};
    put(&t, ".version %u.%u\n.target sm_%u%.1s\n.address_size %u\n", m->ptx / 10u, m->ptx % 10u,
        m->sm, (const char *)&m->sm_feature, m->address_size);
    for (uint32_t i = 1; i < m->funcs.n; i++)
        if (is_callable(m, &m->funcs.v[i]))
            put_kernel(&t, m, &m->funcs.v[i]);
    const struct pt_link_unit units[] = {{NULL, module->text, module->text_len},
                                         {"host calls", t.v.v, t.v.n}};
    return pt_link_text_join(units, 2, arena, bytes);
}

/* Under the module's lock. */
static ptera_result make_callers(ptera_module *module)
{
    jmp_buf oom;
    struct pt_arena scratch;
    size_t bytes;
    if (module->callers)
        return PTERA_OK;
    pt_arena_init(&scratch, &module->engine->allocator);
    scratch.oom = &oom;
    if (!setjmp(oom)) {
        const char *text = text_with_kernels(module, &scratch, &bytes);
        module->callers = pt_module_extend(module, text, bytes);
    }
    pt_arena_free(&scratch);
    return module->callers ? PTERA_OK : PTERA_ERROR_OUT_OF_MEMORY;
}

static ptera_kernel *find_caller(const ptera_module *callers, const char *name)
{
    for (uint32_t i = 0; i < callers->n_kernels; i++) {
        const char *kernel = callers->ir.funcs.v[callers->kernels[i].func].name;
        if (!strncmp(kernel, PREFIX, sizeof PREFIX - 1) &&
            !strcmp(kernel + sizeof PREFIX - 1, name))
            return &callers->kernels[i];
    }
    return NULL;
}

/* ---- the closures ---------------------------------------------------------------------------- */

/* An integer in 64 bits: libffi takes results so, and a parameter may be declared wider than its
 * C type. */
static uint64_t widened(const ffi_type *type, const void *value)
{
    uint64_t u = 0;
    unsigned bits = (unsigned)type->size * 8;
    bool is_signed = type->type == FFI_TYPE_SINT8 || type->type == FFI_TYPE_SINT16 ||
                     type->type == FFI_TYPE_SINT32;
    memcpy(&u, value, type->size);
    if (is_signed && u >> (bits - 1))
        u |= UINT64_MAX << (bits - 1);
    return u;
}

static void call(ffi_cif *cif, void *result, void **args, void *ud)
{
    const struct pt_closure *c = ud;
    _Alignas(16) char value[PT_DEVICE_BYTES] = {0};
    uint64_t integers[cif->nargs + 1]; /* the host's stack may be small */
    const void *parameters[cif->nargs + 1];
    void *address = value;
    ptera_launch launch;
    ptera_launch_init(&launch);
    parameters[0] = &address;
    for (unsigned i = 0; i < cif->nargs; i++) {
        bool widens = pt_host_is_integer(cif->arg_types[i]);
        integers[i] = widens ? widened(cif->arg_types[i], args[i]) : 0;
        parameters[i + 1] = widens ? &integers[i] : args[i];
    }
    launch.parameters = parameters;
    launch.n_parameters = cif->nargs + 1;
    ptera_result r = ptera_kernel_launch(c->kernel, &launch);
    if (r != PTERA_OK)
        pt_engine_log(c->kernel->module->engine, PTERA_ERROR, "a call from the host failed: %s",
                      ptera_result_text(r));
    if (pt_host_is_integer(cif->rtype))
        *(uint64_t *)result = widened(cif->rtype, value);
    else if (cif->rtype != &ffi_type_void)
        memcpy(result, value, cif->rtype->size);
}

static ptera_result prepare(struct pt_closure *c, const ptera_module *module, const char *name,
                            const char *text, void **code)
{
    jmp_buf oom;
    const char *at;
    char why[128] = "it is no signature";
    c->arena.oom = &oom;
    if (setjmp(oom))
        return PTERA_ERROR_OUT_OF_MEMORY;
    bool is_read = pt_signature_parse(&c->arena, text, &c->signature, &at) &&
                   ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, c->signature.n_params,
                                c->signature.result, c->signature.params) == FFI_OK;
    if (!is_read ||
        !pt_host_fits(&module->ir, pt_module_func(module, name), &c->signature, why, sizeof why)) {
        pt_engine_fail(module->engine, "function '%s' as '%s': %s", name, text, why);
        return PTERA_ERROR_INVALID_ARGUMENT;
    }
    c->closure = ffi_closure_alloc(sizeof *c->closure, code);
    return c->closure && ffi_prep_closure_loc(c->closure, &c->cif, call, c, *code) == FFI_OK
               ? PTERA_OK
               : PTERA_ERROR_OUT_OF_MEMORY;
}

/* Under the module's lock. */
static ptera_result make_closure(ptera_module *module, const char *name, const char *signature,
                                 void **code)
{
    ptera_result result =
        module->ir.diags.errors ? PTERA_ERROR_INVALID_ARGUMENT : make_callers(module);
    if (result != PTERA_OK)
        return result;
    ptera_kernel *kernel = find_caller(module->callers, name);
    if (!kernel)
        return PTERA_ERROR_NOT_FOUND;
    struct pt_closure *c = pt_engine_alloc(module->engine, sizeof *c);
    if (!c)
        return PTERA_ERROR_OUT_OF_MEMORY;
    pt_arena_init(&c->arena, &module->engine->allocator);
    c->kernel = kernel;
    result = prepare(c, module, name, signature, code);
    if (result != PTERA_OK) {
        pt_closure_free(module->engine, c);
        return result;
    }
    c->next = module->closures;
    module->closures = c;
    return PTERA_OK;
}

ptera_result ptera_function_pointer(ptera_module *module, const char *name, const char *signature,
                                    void (**function)(void))
{
    void *code;
    if (!module || !name || !signature || !function)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&module->lock);
    ptera_result result = make_closure(module, name, signature, &code);
    pthread_mutex_unlock(&module->lock);
    if (result == PTERA_OK)
        memcpy(function, &code, sizeof code);
    return result;
}
