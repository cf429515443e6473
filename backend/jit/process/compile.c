/* LLVM's part of a compile, from the snapshot of a kernel to an object or a text. */
#include "backend/jit/process/compile.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/jit/control/kernel.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/llvm/target.h"
#include "backend/jit/object/object.h"
#include "backend/jit/object/snapshot.h"
#include "backend/jit/tune.h"
#include "backend/native.h"

/* What a compile has to give back, whichever way it ends. */
struct session {
    struct jit_unit unit;
    struct jit_facts facts;
    struct jit_code code;
    const char *why;
    struct pt_arena arena;
    LLVMTargetMachineRef machine;
    struct pt_native_result *result;
};

static bool refuse(struct session *s, const char *before, const char *why)
{
    s->result->end = PT_NATIVE_REFUSED;
    snprintf(s->result->why, sizeof s->result->why, "%s%s", before, why);
    return false;
}

static bool open_llvm(struct session *s)
{
    struct jit_unit *u = &s->unit;
    struct jit_code *c = &s->code;
    const char *host = jit_cpu_host();
    u->cpu = host ? jit_cpu_find(u->options->level) : NULL;
    s->machine = u->cpu ? jit_target_machine(u->cpu, LLVMCodeGenLevelDefault) : NULL;
    if (!s->machine)
        return refuse(s, "", "LLVM has no target for this machine");
    u->machine = jit_cpu_machine(host);
    u->width = jit_cpu_width(u->options->level);
    c->context = LLVMContextCreate();
    c->module = LLVMModuleCreateWithNameInContext(u->f->name, c->context);
    c->b = LLVMCreateBuilderInContext(c->context);
    char *triple = LLVMGetTargetMachineTriple(s->machine);
    LLVMSetTarget(c->module, triple);
    LLVMDisposeMessage(triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(s->machine);
    LLVMSetModuleDataLayout(c->module, layout);
    LLVMDisposeTargetData(layout);
    return true;
}

static void close_session(struct session *s)
{
    if (s->code.context) {
        jit_debug_info_finish(&s->code);
        LLVMDisposeBuilder(s->code.b);
        LLVMDisposeModule(s->code.module);
        LLVMContextDispose(s->code.context);
    }
    if (s->machine)
        LLVMDisposeTargetMachine(s->machine);
    pt_arena_free(&s->arena);
}

/* What LLVM's verifier says, or ours, is our mistake. */
static bool verify(struct session *s)
{
    char *message = NULL, found[256] = "";
    bool ok = !LLVMVerifyModule(s->code.module, LLVMReturnStatusAction, &message) &&
              jit_check_module(&s->code, found, sizeof found);
    if (!ok)
        refuse(s, PT_NATIVE_BROKEN, *found ? found : message);
    LLVMDisposeMessage(message);
    return ok;
}

static bool generate(struct session *s, const uint8_t *snapshot, size_t n)
{
    struct jit_unit *u = &s->unit;
    u->arena = &s->arena;
    u->why = &s->why;
    u->snapshot = jit_snapshot_read(snapshot, n, u->arena);
    if (!u->snapshot)
        return refuse(s, "", "a snapshot that is not whole");
    u->options = &u->snapshot->options;
    u->m = &u->snapshot->m;
    u->f = &u->m->funcs.v[u->snapshot->kernel];
    if (!open_llvm(s))
        return false;
    s->facts.unit = s->code.unit = u;
    if (!jit_kernel_generate(u, &s->facts, &s->code))
        return refuse(s, "", s->why);
    jit_debug_info_finish(&s->code);
    return verify(s);
}

static bool generate_in_arena(struct session *s, const uint8_t *snapshot, size_t n)
{
    jmp_buf oom;
    pt_arena_init(&s->arena, &pt_malloc_allocator);
    s->arena.oom = &oom;
    if (setjmp(oom) == 0)
        return generate(s, snapshot, n);
    s->result->end = PT_NATIVE_NO_MEMORY;
    return false;
}

static bool copy(struct session *s, const char *from, size_t n, struct jit_object *object)
{
    object->size = n;
    object->bytes = malloc(n + 1);
    if (!object->bytes) {
        s->result->end = PT_NATIVE_NO_MEMORY;
        return false;
    }
    memcpy(object->bytes, from, n);
    object->bytes[n] = 0;
    return true;
}

static bool print(struct session *s, struct jit_object *object)
{
    char *text = LLVMPrintModuleToString(s->code.module);
    bool ok = copy(s, text, strlen(text), object);
    LLVMDisposeMessage(text);
    return ok;
}

/* Instructions are chosen, and registers given, in time that grows with the code alone. */
static void take_light_machine(struct session *s)
{
    LLVMTargetMachineRef machine = jit_target_machine(s->unit.cpu, LLVMCodeGenLevelNone);
    if (!machine)
        return;
    LLVMDisposeTargetMachine(s->machine);
    s->machine = machine;
}

static bool emit(struct session *s, LLVMCodeGenFileType type, struct jit_object *object)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (s->code.is_light)
        take_light_machine(s);
    if (LLVMTargetMachineEmitToMemoryBuffer(s->machine, s->code.module, type, &message, &buffer)) {
        LLVMDisposeMessage(message);
        return refuse(s, "", "LLVM cannot emit code for this kernel");
    }
    bool ok = copy(s, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), object);
    LLVMDisposeMemoryBuffer(buffer);
    return ok;
}

static void describe(const struct session *s, struct jit_object *object)
{
    bool is_more = s->code.scratch_bytes > s->facts.scratch_bytes;
    object->scratch_bytes = is_more ? s->code.scratch_bytes : s->facts.scratch_bytes;
    object->needs_warps = s->facts.has_steps || s->facts.is_resumable;
    object->front_bytes = s->facts.front_bytes;
    object->local_bytes = s->unit.f->local_size;
    object->together = s->facts.interleave_loop ? JIT_INTERLEAVE_CTAS : 0;
}

bool jit_compile_snapshot(const uint8_t *snapshot, size_t n, enum pt_native_print what,
                          struct jit_object *object, struct pt_native_result *result)
{
    struct session s = {.result = result};
    bool ok = generate_in_arena(&s, snapshot, n);
    if (ok) {
        jit_target_optimise(&s.code, s.machine);
        ok = what == PT_NATIVE_LLVM
                 ? print(&s, object)
                 : emit(&s, what == PT_NATIVE_OBJECT ? LLVMObjectFile : LLVMAssemblyFile, object);
    }
    if (ok) {
        describe(&s, object);
        result->end = PT_NATIVE_MADE;
    }
    close_session(&s);
    return ok;
}
