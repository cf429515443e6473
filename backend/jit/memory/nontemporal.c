/* Non-temporal stores, past the caches. A launch that stores more than caches hold would have the
 * machine read each line before it is written, and push out what is read again: vectors of such a
 * launch go to memory as they are. The machine orders these stores with no others of their thread
 * until an atomic operation of it, which follows each worker's last CTA; so kernels that agree on
 * an order with others have none. Memory that is loaded just before is in the caches already, and
 * loops may store to one place again and again.
 */
#include "backend/jit/memory/nontemporal.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/insn_info.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/visit.h"
#include "ir/bits.h"

/* Nobody can tell in which order the kernel's stores take place while it runs. */
static bool has_no_order(const struct jit *j)
{
    return !j->facts->is_resumable && !jit_insn_info_has_ordering_points(j->facts) &&
           !jit_insn_info_has_effect(j->facts, PT_FX_FENCE | PT_FX_CALL | PT_FX_CLUSTER);
}

/* Registers through which something is loaded. */
static uint64_t *find_loaded(const struct jit *j)
{
    uint64_t *loaded =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->regs.n) * sizeof *loaded);
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        const struct pt_insn *insn = &j->unit->f->insns.v[i];
        bool loads = pt_insn_form(j->unit->m, insn)->effects & PT_FX_READ;
        for (uint32_t k = 0; loads && k < insn->n_operands; k++) {
            const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
            if (o->kind == PT_OPND_MEM && j->unit->f->operands.v[o->index].kind == PT_OPND_REG)
                jit_set_add(loaded, j->unit->f->operands.v[o->index].index);
        }
    }
    return loaded;
}

/* Bytes of a thread; 0: it is no store that may go past the caches. */
static uint32_t bytes_of(const struct jit *j, uint32_t insn, const uint64_t *loaded)
{
    struct jit_access a;
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    if (at.form->effects != PT_FX_WRITE || pt_form_space(at.form) != PT_SPACE_GLOBAL ||
        j->unit->f->blocks.v[jit_def_use_block(j->facts, insn)].loop)
        return 0;
    if (!jit_access_try_describe(&at, &a))
        return 0;
    return a.base->kind == PT_OPND_REG &&
                   a.bytes * a.n * j->unit->width >= JIT_NONTEMPORAL_VECTOR &&
                   !jit_set_has(loaded, a.base->index)
               ? a.bytes * a.n
               : 0;
}

/* i1: the launch stores more than caches hold, so many bytes a thread. */
static LLVMValueRef is_beyond_caches(const struct jit *j, uint32_t bytes)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    size_t grid = offsetof(struct pt_launch, grid), threads = offsetof(struct pt_launch, threads);
    LLVMValueRef all =
        LLVMBuildZExt(j->code->b, jit_field(j, i32, j->code->launch, threads), i64, "");
    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef size = jit_field(j, i32, j->code->launch, grid + d * sizeof(uint32_t));
        all = LLVMBuildMul(j->code->b, all, LLVMBuildZExt(j->code->b, size, i64, ""), "");
    }
    return LLVMBuildICmp(j->code->b, LLVMIntUGT, all, jit_i64(j, JIT_NONTEMPORAL_LAUNCH / bytes),
                         "");
}

uint64_t *jit_nontemporal_find(const struct jit *j)
{
    uint32_t all = 0;
    uint64_t *streaming =
        pt_arena_alloc(j->unit->arena, pt_bit_words(j->unit->f->insns.n) * sizeof *streaming);
    if (!has_no_order(j))
        return streaming;
    const uint64_t *loaded = find_loaded(j);
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        uint32_t bytes = bytes_of(j, i, loaded);
        if (bytes)
            jit_set_add(streaming, i);
        all += bytes;
    }
    if (all)
        j->code->streams = is_beyond_caches(j, all);
    return streaming;
}

bool jit_nontemporal_applies(const struct jit *j)
{
    return jit_set_has(j->facts->streaming, (uint32_t)(j->insn - j->unit->f->insns.v));
}

static unsigned alignment(const struct jit *j, const struct jit_access *a)
{
    unsigned bytes = a->bytes * a->n * j->unit->width, line = j->unit->machine->line_bytes;
    return bytes < line ? bytes : line;
}

/* i1: the launch streams, and all pointers are aligned for it. */
static LLVMValueRef may_stream(const struct jit *j, unsigned align, const struct jit_stream *s)
{
    LLVMValueRef all = j->code->streams;
    for (unsigned i = 0; i < s->n; i++) {
        LLVMValueRef low = LLVMBuildPtrToInt(j->code->b, s->pointer[i],
                                             LLVMInt64TypeInContext(j->code->context), "");
        low = LLVMBuildAnd(j->code->b, low, jit_i64(j, align - 1), "");
        LLVMValueRef fits = LLVMBuildICmp(j->code->b, LLVMIntEQ, low, jit_i64(j, 0), "");
        all = LLVMBuildAnd(j->code->b, all, fits, "");
    }
    return all;
}

static void store_past(const struct jit *j, LLVMValueRef value, LLVMValueRef pointer,
                       unsigned align)
{
    LLVMValueRef store = LLVMBuildStore(j->code->b, value, pointer);
    LLVMSetAlignment(store, align);
    LLVMMetadataRef one = LLVMValueAsMetadata(jit_i32(j, 1));
    LLVMSetMetadata(
        store, LLVMGetMDKindIDInContext(j->code->context, "nontemporal", 11),
        LLVMMetadataAsValue(j->code->context, LLVMMDNodeInContext2(j->code->context, &one, 1)));
}

void jit_nontemporal_end(const struct jit *j, const struct jit_access *a,
                         const struct jit_stream *s)
{
    unsigned align = alignment(j, a);
    if (!s->n)
        return;
    LLVMBasicBlockRef past = jit_new_block(j, "past"), plain = jit_new_block(j, "plain");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, may_stream(j, align, s), past, plain);
    jit_continue_in(j, plain);
    for (unsigned i = 0; i < s->n; i++)
        jit_access_store(j, a, s->value[i], s->pointer[i]);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, past);
    for (unsigned i = 0; i < s->n; i++)
        store_past(j, s->value[i], s->pointer[i], align);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
}

void jit_nontemporal_store(const struct jit *j, const struct jit_access *a, LLVMValueRef value,
                           LLVMValueRef pointer)
{
    struct jit_stream one = {.n = 0}, *s = j->stream ? j->stream : &one;
    s->value[s->n] = value;
    s->pointer[s->n++] = pointer;
    if (!j->stream)
        jit_nontemporal_end(j, a, &one);
}
