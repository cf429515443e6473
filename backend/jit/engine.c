/* The entry of the shared object: kernels to code in memory, and which code is whose. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm/Config/llvm-config.h>

#include "backend/jit/cache.h"
#include "backend/jit/front.h"
#include "backend/jit/jit.h"
#include "backend/jit/observe.h"

/* ---- which code is native code ------------------------------------------------------------------------- */

/* Signal handlers read it, so nodes are used again but never freed. */
struct range {
    struct range *next;
    atomic_uintptr_t begin, end; /* begin is UINTPTR_MAX: not in use */
    _Atomic(const struct native *) native;
};

struct native {
    struct pt_native base;
    struct jit_code code;
    struct jit_object object; /* for debuggers, and for places when something fails */
    struct jit_observed *observed;
    struct range *range;
};

static _Atomic(struct range *) ranges;
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER; /* of those who change them */

/* `begin` is read twice: in between the range may have become another. */
static struct range *find_range(uintptr_t pc)
{
    for (struct range *r = atomic_load(&ranges); r; r = r->next) {
        uintptr_t begin = atomic_load(&r->begin), end = atomic_load(&r->end);
        if (pc >= begin && pc < end && atomic_load(&r->begin) == begin)
            return r;
    }
    return NULL;
}

static bool holds(uintptr_t pc)
{
    return find_range(pc) != NULL;
}

static struct range *free_range(void)
{
    for (struct range *r = atomic_load(&ranges); r; r = r->next)
        if (atomic_load(&r->begin) == UINTPTR_MAX)
            return r;
    struct range *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    atomic_init(&r->begin, UINTPTR_MAX);
    r->next = atomic_load(&ranges);
    atomic_store(&ranges, r);
    return r;
}

static bool add_range(struct native *n)
{
    uintptr_t begin = (uintptr_t)n->code.text;
    pthread_mutex_lock(&ranges_lock);
    n->range = free_range();
    if (n->range) {
        atomic_store(&n->range->native, n);
        atomic_store(&n->range->end, begin + n->code.text_bytes);
        atomic_store(&n->range->begin, begin);
    }
    pthread_mutex_unlock(&ranges_lock);
    return n->range != NULL;
}

static void remove_range(struct native *n)
{
    pthread_mutex_lock(&ranges_lock);
    if (n->range) {
        atomic_store(&n->range->begin, UINTPTR_MAX);
        atomic_store(&n->range->native, NULL);
    }
    pthread_mutex_unlock(&ranges_lock);
}

static bool locate(uintptr_t pc, uint32_t *func, uint32_t *insn)
{
    const struct jit_place *best = NULL;
    struct jit_places places = {0};
    pthread_mutex_lock(&ranges_lock);
    const struct range *range = find_range(pc);
    const struct native *n = range ? atomic_load(&range->native) : NULL;
    if (n)
        jit_places_read(&n->object, &places);
    for (uint32_t i = 0; i < places.n; i++)
        if ((uintptr_t)n->code.text + places.v[i].offset <= pc)
            best = &places.v[i];
    bool found = best && best->func != PT_NONE;
    if (found) {
        *func = best->func;
        *insn = best->insn;
    }
    pthread_mutex_unlock(&ranges_lock);
    free(places.v);
    return found;
}

/* ---- LLVM's part --------------------------------------------------------------------------------------- */

/* What a compile has to give back, whichever way it ends. */
struct session {
    struct jit j;
    struct pt_vary *vary;
    struct pt_arena arena;
    LLVMTargetMachineRef machine;
};

static bool fail(struct session *s, const char *why)
{
    s->j.why = why;
    return false;
}

static bool open_session(struct session *s, const struct pt_program *program,
                         const struct pt_native_options *options)
{
    struct jit *j = &s->j;
    j->target = jit_target(options->level);
    s->machine = j->target ? jit_target_machine(j->target) : NULL;
    j->program = program;
    j->options = options;
    j->m = program->image->module;
    j->f = &j->m->funcs.v[program->kernel];
    j->arena = &s->arena;
    pt_arena_init(&s->arena, &pt_malloc_allocator);
    if (!s->machine)
        return fail(s, "LLVM has no target for this machine");
    j->context = LLVMContextCreate();
    j->module = LLVMModuleCreateWithNameInContext(j->f->name, j->context);
    j->b = LLVMCreateBuilderInContext(j->context);
    LLVMSetTarget(j->module, j->target->triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(s->machine);
    LLVMSetModuleDataLayout(j->module, layout);
    LLVMDisposeTargetData(layout);
    return true;
}

static void close_session(struct session *s)
{
    if (s->j.context) {
        jit_debug_finish(&s->j);
        LLVMDisposeBuilder(s->j.b);
        LLVMDisposeModule(s->j.module);
        LLVMContextDispose(s->j.context);
    }
    if (s->machine)
        LLVMDisposeTargetMachine(s->machine);
    pt_arena_free(&s->arena);
}

/* What LLVM's verifier says is our mistake; it is told where the engine tells why a kernel is not native. */
static _Thread_local char verdict[512];

static bool verify(struct session *s)
{
    char *message = NULL;
    bool ok = !LLVMVerifyModule(s->j.module, LLVMReturnStatusAction, &message);
    if (!ok)
        snprintf(verdict, sizeof verdict, PT_NATIVE_BROKEN "%s", message);
    LLVMDisposeMessage(message);
    return ok || fail(s, verdict);
}

static bool generate(struct session *s)
{
    jmp_buf oom;
    s->arena.oom = &oom;
    if (setjmp(oom))
        return fail(s, NULL);
    if (!jit_generate(&s->j))
        return false;
    jit_debug_finish(&s->j);
    return verify(s);
}

static LLVMMemoryBufferRef emit(struct session *s, LLVMCodeGenFileType type)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(s->machine, s->j.module, type, &message, &buffer)) {
        LLVMDisposeMessage(message);
        fail(s, "LLVM cannot emit code for this kernel");
        return NULL;
    }
    return buffer;
}

static uint8_t *copy_buffer(LLVMMemoryBufferRef buffer, size_t *size)
{
    *size = LLVMGetBufferSize(buffer);
    uint8_t *copy = malloc(*size + 1);
    if (copy) {
        memcpy(copy, LLVMGetBufferStart(buffer), *size);
        copy[*size] = 0;
    }
    LLVMDisposeMemoryBuffer(buffer);
    return copy;
}

static bool make_object(const struct pt_program *program, const struct pt_native_options *options,
                        struct jit_object *object, const char **why)
{
    struct session s = {0};
    if (open_session(&s, program, options) && generate(&s)) {
        jit_optimise(&s.j, s.machine);
        LLVMMemoryBufferRef buffer = emit(&s, LLVMObjectFile);
        if (buffer)
            object->bytes = copy_buffer(buffer, &object->size);
        object->scratch_bytes = s.j.scratch_bytes;
        object->needs_warps = s.j.has_steps || s.j.runs_apart;
        object->front_bytes = s.j.front_bytes;
        object->local_bytes = s.j.f->local_size;
        object->together = s.j.turn_loop ? JIT_TOGETHER : 0;
    }
    *why = s.j.why;
    close_session(&s);
    return object->bytes != NULL;
}

/* ---- the entry ----------------------------------------------------------------------------------------- */

static void release(struct pt_native *native)
{
    struct native *n = (struct native *)native;
    jit_forget(n->observed);
    remove_range(n);
    jit_unload(&n->code);
    free(n->object.bytes);
    free(n);
}

/* Takes the object's bytes, which know where they were loaded then. */
static struct native *load(struct jit_object *object, const struct pt_program *program,
                           const char **why)
{
    struct native *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    if (!jit_load(object, program, &n->code, why) || !add_range(n)) {
        release(&n->base);
        return NULL;
    }
    n->object = *object;
    object->bytes = NULL;
    n->observed =
        jit_observe(&n->object, &n->code, program->image->module->funcs.v[program->kernel].name);
    if (n->object.front_bytes)
        n->base.resume = (enum pt_run(*)(struct pt_warp *, struct pt_fault *))n->code.entry;
    else
        n->base.run = (enum pt_run(*)(struct pt_cta *, struct pt_fault *))n->code.entry;
    n->base.front_bytes = n->object.front_bytes;
    n->base.scratch_bytes = n->object.scratch_bytes;
    n->base.needs_warps = n->object.needs_warps;
    n->base.local_bytes = n->object.local_bytes;
    n->base.together = n->object.together;
    n->base.code_bytes = n->code.bytes;
    return n;
}

static void places(const struct pt_native *native, const struct pt_warp *warp,
                   void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes, uint32_t bar), void *ud)
{
    jit_front_places(jit_front_of(warp, native->front_bytes), report, ud);
}

static bool find_key(const struct pt_program *program, const struct pt_native_options *options,
                     struct jit_key *key)
{
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    bool ok = setjmp(oom) == 0 && jit_key(program, options, jit_host_cpu(), &arena, key);
    pt_arena_free(&arena);
    return ok;
}

static struct pt_native *compile(const struct pt_program *program,
                                 const struct pt_native_options *options, const char **why)
{
    struct jit_object object = {0};
    struct jit_key key;
    struct native *n = NULL;
    *why = NULL;
    bool has_key = jit_cache_folder() && find_key(program, options, &key);
    if (has_key && jit_cache_read(&key, &object))
        n = load(&object, program, why);
    if (!n) {
        free(object.bytes);
        object = (struct jit_object){0};
        bool is_made = make_object(program, options, &object, why);
        if (is_made && has_key)
            jit_cache_write(&key, &object);
        if (is_made)
            n = load(&object, program, why);
    }
    free(object.bytes);
    return n ? &n->base : NULL;
}

static char *print(const struct pt_program *program, const struct pt_native_options *options,
                   enum pt_native_print what, size_t *bytes, const char **why)
{
    struct session s = {0};
    char *text = NULL;
    if (open_session(&s, program, options) && generate(&s)) {
        jit_optimise(&s.j, s.machine);
        if (what == PT_NATIVE_LLVM) {
            char *ir = LLVMPrintModuleToString(s.j.module);
            text = strdup(ir);
            *bytes = strlen(ir);
            LLVMDisposeMessage(ir);
        } else {
            LLVMMemoryBufferRef buffer =
                emit(&s, what == PT_NATIVE_OBJECT ? LLVMObjectFile : LLVMAssemblyFile);
            if (buffer)
                text = (char *)copy_buffer(buffer, bytes);
        }
    }
    *why = s.j.why;
    close_session(&s);
    return text;
}

static unsigned width(const char *level)
{
    const struct jit_target *target = jit_target(level);
    return target ? target->width : 0;
}

static const struct pt_jit jit = {
    .version = PT_JIT_VERSION,
    .compile = compile,
    .release = release,
    .print = print,
    .places = places,
    .holds = holds,
    .locate = locate,
    .cache = jit_cache_folder,
    .width = width,
    .llvm_version = LLVM_VERSION_STRING,
};

__attribute__((visibility("default"))) const struct pt_jit *ptera_jit(void)
{
    return &jit;
}
