/* Functions of the embedder: registered by name, found by modules that declare them, called by
 * libffi. */
#include "runtime/host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/bits.h"
#include "ir/device.h"
#include "runtime/engine.h"
#include "runtime/fault.h"
#include "runtime/fpenv.h"

enum { FAILURE_BYTES = 512 };

/* What ptera_function_fail said in the call that this thread is in, or was in; NULL: nothing.
 * Behind a pointer: libraries that programs open have little room for what is a thread's own. */
static _Thread_local const char *failure;
static _Thread_local const struct pt_host_caller *calling; /* NULL: it is in none */
static pthread_once_t texts_once = PTHREAD_ONCE_INIT;
static pthread_key_t texts; /* of threads, FAILURE_BYTES each */
static bool has_texts;

/* ---- registering ----------------------------------------------------------------------------- */

static const struct pt_host_function *find(const struct pt_host *host, const char *name)
{
    const struct pt_host_function *f = host->functions;
    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    return f;
}

const struct pt_host_function *pt_host_find(ptera_engine *engine, const char *name)
{
    pthread_mutex_lock(&engine->lock);
    const struct pt_host_function *f = find(&engine->host, name);
    pthread_mutex_unlock(&engine->lock);
    return f;
}

/* Under the engine's lock. */
static ptera_result add(ptera_engine *engine, const char *name, const char *text,
                        void (*code)(void))
{
    jmp_buf oom;
    const char *at;
    struct pt_arena *arena = &engine->host.arena;
    arena->oom = &oom;
    if (setjmp(oom))
        return PTERA_ERROR_OUT_OF_MEMORY;
    struct pt_host_function *f = pt_arena_alloc(arena, sizeof *f);
    if (find(&engine->host, name) || !pt_signature_parse(arena, text, &f->signature, &at) ||
        ffi_prep_cif(&f->cif, FFI_DEFAULT_ABI, f->signature.n_params, f->signature.result,
                     f->signature.params) != FFI_OK)
        return PTERA_ERROR_INVALID_ARGUMENT;
    f->name = pt_arena_text(arena, name, strlen(name));
    f->text = pt_arena_text(arena, text, strlen(text));
    f->code = code;
    f->next = engine->host.functions;
    engine->host.functions = f;
    return PTERA_OK;
}

ptera_result ptera_function_register(ptera_engine *engine, const char *name, const char *signature,
                                     void (*function)(void))
{
    if (!engine || !name || !*name || !signature || !function || pt_device_find(name))
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&engine->lock);
    ptera_result result = add(engine, name, signature, function);
    pthread_mutex_unlock(&engine->lock);
    return result;
}

/* ---- what a module declares ------------------------------------------------------------------ */

bool pt_host_is_integer(const ffi_type *type)
{
    return type->type >= FFI_TYPE_UINT8 && type->type <= FFI_TYPE_SINT64;
}

/* nvcc widens integers below 32 bits. */
static bool passes(const ffi_type *type, const struct pt_symbol *s)
{
    return s->size == type->size || (pt_host_is_integer(type) && type->size < 4 && s->size == 4);
}

static bool check(const ffi_type *type, const struct pt_symbol *s, const char *what, unsigned index,
                  char *why, size_t why_bytes)
{
    if (passes(type, s))
        return true;
    int n = snprintf(why, why_bytes, "%s", what);
    if (index && n >= 0 && (size_t)n < why_bytes)
        n += snprintf(why + n, why_bytes - (size_t)n, " %u", index);
    if (n >= 0 && (size_t)n < why_bytes)
        snprintf(why + n, why_bytes - (size_t)n, " has %zu bytes, not %llu", type->size,
                 (unsigned long long)s->size);
    return false;
}

bool pt_host_fits(const struct pt_module *module, uint32_t func,
                  const struct pt_signature *signature, char *why, size_t why_bytes)
{
    const struct pt_func *f = &module->funcs.v[func];
    uint32_t results = signature->result != &ffi_type_void;
    if (f->params.n != signature->n_params || f->results.n != results) {
        snprintf(why, why_bytes, "it has %u parameters and %u results", signature->n_params,
                 results);
        return false;
    }
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->params.n; i++) {
        if (!check(signature->params[i], &module->symbols.v[f->params.v[i]], "its parameter", i + 1,
                   why, why_bytes))
            return false;
        bytes += module->symbols.v[f->params.v[i]].size;
    }
    if (bytes > PT_DEVICE_BYTES || signature->result->size > PT_DEVICE_BYTES) {
        snprintf(why, why_bytes, "it passes more than %d bytes", PT_DEVICE_BYTES);
        return false;
    }
    return !results || check(signature->result, &module->symbols.v[f->results.v[0]], "its result",
                             0, why, why_bytes);
}

bool pt_host_link(struct pt_module *module, uint32_t func, const struct pt_host_function *function,
                  struct pt_host_link *link, char *why, size_t why_bytes)
{
    const struct pt_func *f = &module->funcs.v[func];
    if (!pt_host_fits(module, func, &function->signature, why, why_bytes))
        return false;
    uint32_t *offsets = pt_arena_alloc(&module->arena, (f->params.n + 1) * sizeof *offsets);
    for (uint32_t i = 0, at = 0; i < f->params.n; i++) {
        const struct pt_symbol *s = &module->symbols.v[f->params.v[i]];
        uint32_t align = s->align ? s->align : 1;
        offsets[i] = at = pt_round_up(at, align);
        at += (uint32_t)s->size;
    }
    uint32_t result = f->results.n ? (uint32_t)module->symbols.v[f->results.v[0]].size : 0;
    *link = (struct pt_host_link){function, offsets, result};
    return true;
}

/* ---- calling --------------------------------------------------------------------------------- */

const struct pt_host_caller *pt_host_caller_get(void)
{
    return calling;
}

const char *pt_host_call(const struct pt_host_link *link, const struct pt_host_caller *caller,
                         const void *args, void *result)
{
    const struct pt_host_function *f = link->function;
    /* libffi widens integer results to ffi_arg. */
    _Alignas(16) char value[PT_DEVICE_BYTES + sizeof(ffi_arg)];
    void *params[PT_DEVICE_BYTES]; /* each has a byte at least */
    for (unsigned i = 0; i < f->signature.n_params; i++)
        params[i] = (char *)(uintptr_t)args + link->offsets[i];
    failure = NULL;
    calling = caller;
    ffi_call((ffi_cif *)(uintptr_t)&f->cif, f->code, value, params);
    calling = NULL;
    pt_fault_host_ran();
    pt_fpenv_reset();
    memcpy(result, value, link->result_bytes);
    return failure;
}

static void make_texts(void)
{
    has_texts = pthread_key_create(&texts, free) == 0;
}

/* This thread's, or NULL without memory. */
static char *failure_text(void)
{
    pthread_once(&texts_once, make_texts);
    char *text = has_texts ? pthread_getspecific(texts) : NULL;
    if (text || !has_texts)
        return text;
    text = malloc(FAILURE_BYTES);
    if (text && pthread_setspecific(texts, text) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

void ptera_function_fail(const char *text)
{
    if (!calling || !text || failure)
        return;
    char *copy = failure_text();
    if (copy)
        snprintf(copy, FAILURE_BYTES, "%s", text);
    failure = copy ? copy : "a function of the host failed; there was no memory for what it says";
}
