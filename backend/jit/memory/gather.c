/* Gathers and scatters: accesses of lanes anywhere. */
#include "backend/jit/memory/gather.h"

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/repeated_loads.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/value/local_window.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"

/* Lanes anywhere, by the machine's gathers and scatters. */
static void gather(const struct jit *j, const struct jit_access *a, LLVMValueRef pointers,
                   LLVMValueRef mask, LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->unit->width);
    LLVMTypeRef types[] = {type, LLVMTypeOf(pointers)};
    for (unsigned i = 0; i < a->n; i++) {
        LLVMValueRef args[] = {jit_access_element(j, a, pointers, i), mask ? mask : jit_mask_all(j),
                               LLVMConstNull(type)};
        v[i] = jit_access_masked(j, "llvm.masked.gather", types, args, 0, a->bytes);
    }
}

static void scatter(const struct jit *j, const struct jit_access *a, LLVMValueRef pointers,
                    LLVMValueRef mask, LLVMValueRef value)
{
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointers)};
    LLVMValueRef args[] = {value, pointers, mask ? mask : jit_mask_all(j)};
    jit_access_masked(j, "llvm.masked.scatter", types, args, 1, a->bytes);
}

static void load_lanes(const struct jit *j, const struct jit_access *a,
                       const LLVMValueRef *pointers, LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->unit->width);
    for (unsigned i = 0; i < a->n; i++)
        v[i] = LLVMGetPoison(type);
    for (unsigned lane = 0; lane < j->unit->width; lane++)
        for (unsigned i = 0; i < a->n; i++) {
            LLVMValueRef at = jit_access_element(j, a, pointers[lane], i);
            LLVMValueRef one = jit_access_load(j, a, a->element, at, a->bytes);
            v[i] = LLVMBuildInsertElement(j->code->b, v[i], one, jit_i32(j, lane), "");
        }
}

/* Upwards, all elements of a lane together: the last lane's value stays. */
static void store_lanes(const struct jit *j, const struct jit_access *a,
                        const LLVMValueRef *pointers, LLVMValueRef *v)
{
    for (unsigned lane = 0; lane < j->unit->width; lane++)
        for (unsigned i = 0; i < a->n; i++)
            jit_access_store(j, a, jit_lane(j, v[i], lane),
                             jit_access_element(j, a, pointers[lane], i));
}

static void access_lanes(const struct jit *j, const struct jit_access *a,
                         const LLVMValueRef *pointers, LLVMValueRef *v)
{
    if (a->is_load)
        load_lanes(j, a, pointers, v);
    else
        store_lanes(j, a, pointers, v);
}

/* The machine has gathers and scatters of such elements, and they are faster than lanes one by one:
 * what is anywhere in memory waits longer for that. In code that hardly ever runs slow gathers do:
 * they are less of it. */
static bool has_gather(const struct jit *j, const struct jit_access *a, LLVMValueRef mask)
{
    bool is_near = a->space == PT_SPACE_SHARED && !mask;
    bool scatters = a->n == 1 && !(is_near && j->unit->machine->scatters_slowly);
    if (a->is_load && j->unit->cpu->has_slow_gather && jit_access_is_distrusted(j))
        return a->bytes == 4 || a->bytes == 8;
    return j->unit->cpu->has_gather && (a->bytes == 4 || a->bytes == 8) && (a->is_load || scatters);
}

/* Likewise of all lanes at a constant stride: where lines have several of them they are near, too.
 * (Zen 4, loaded, 2026-11-27, best of 21: records of 24 bytes 15.0 ms, 19.0 by scatters.) */
static bool has_strided_gather(const struct jit *j, const struct jit_access *a, int64_t stride)
{
    int64_t line = j->unit->machine->line_bytes;
    bool is_near = stride > -line && stride < line;
    return has_gather(j, a, NULL) && (a->is_load || !is_near || !j->unit->machine->scatters_slowly);
}

static void access_by_machine(const struct jit *j, const struct jit_access *a,
                              LLVMValueRef pointers, LLVMValueRef mask, LLVMValueRef *v)
{
    if (a->is_load)
        gather(j, a, pointers, mask, v);
    else
        scatter(j, a, pointers, mask, v[0]);
}

/* The only lane of the mask stores. */
static void store_lane_of(const struct jit *j, const struct jit_access *a, LLVMValueRef addresses,
                          LLVMValueRef bits, LLVMValueRef value)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false)};
    LLVMValueRef lane =
        jit_check_proven(j->code, jit_intrinsic(j, "llvm.cttz", i32, args, 2), "nonzero");
    LLVMValueRef address = jit_check_proven(
        j->code, LLVMBuildExtractElement(j->code->b, addresses, lane, ""), "index");
    LLVMValueRef one =
        jit_check_proven(j->code, LLVMBuildExtractElement(j->code->b, value, lane, ""), "index");
    jit_access_store(j, a, one, jit_access_pointer(j, a, address));
}

/* A scatter takes its time however few its lanes are: first threads of warps store by
 * themselves. */
static void scatter_unless_one(const struct jit *j, const struct jit_access *a,
                               LLVMValueRef addresses, LLVMValueRef mask, LLVMValueRef value)
{
    LLVMBuilderRef b = j->code->b;
    LLVMBasicBlockRef few = jit_new_block(j, "few"), one = jit_new_block(j, "one"),
                      many = jit_new_block(j, "many"), after = jit_new_block(j, "");
    LLVMValueRef bits = jit_mask_to_bits(j, mask), zero = jit_i32(j, 0);
    LLVMValueRef rest = LLVMBuildAnd(b, bits, LLVMBuildSub(b, bits, jit_i32(j, 1), ""), "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, rest, zero, ""), few, many);
    jit_continue_in(j, few);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, zero, ""), after, one);
    jit_continue_in(j, one);
    store_lane_of(j, a, addresses, bits, value);
    LLVMBuildBr(b, after);
    jit_continue_in(j, many);
    scatter(j, a, jit_access_pointer(j, a, addresses), mask, value);
    LLVMBuildBr(b, after);
    jit_continue_in(j, after);
}

/* By a gather or scatter of a base and indexes of 32 bits. False if the address is not made so. */
static bool access_indexed(const struct jit *j, const struct jit_access *a, unsigned copy,
                           LLVMValueRef *v)
{
    struct jit_split s;
    if (!has_gather(j, a, j->mask[copy]) || a->space == PT_SPACE_SHARED ||
        a->space == PT_SPACE_LOCAL ||
        !jit_address_form_split(j->facts, j->insn, j->block, a->base, &s) ||
        s.scale % (a->bytes * a->n))
        return false;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMValueRef base = jit_registers_read(j, s.base, copy, PT_u64, 1, false);
    base = LLVMBuildAdd(j->code->b, jit_access_from_window(j, a, base),
                        jit_i64(j, (uint64_t)a->base->imm), "");
    LLVMValueRef bad = jit_access_misaligned(j, a, base);
    if (j->mask[copy])
        bad = LLVMBuildAnd(j->code->b, bad, jit_any(j, j->mask[copy]), "");
    struct jit_blame who = {.first = copy, .n = 1, .lanes = {j->mask[copy]}};
    jit_fault_raise_if(j, bad, PT_FAULT_MISALIGNED, &who);
    base = LLVMBuildIntToPtr(j->code->b, base, pointer, "");
    LLVMValueRef index = jit_registers_read(j, s.index, copy, PT_u32, j->unit->width, false);
    LLVMValueRef pointers = jit_access_indexed(j, base, index, s.scale, s.is_signed);
    access_by_machine(j, a, pointers, j->mask[copy], v);
    return true;
}

enum { LOCAL_ALIGN = 16 }; /* of windows, at least */

static void access_anywhere(const struct jit *j, const struct jit_access *a, unsigned copy,
                            LLVMValueRef *v)
{
    if (access_indexed(j, a, copy, v))
        return;
    LLVMValueRef addresses = jit_access_address(j, a, copy, j->unit->width), aligned = addresses;
    LLVMValueRef mask = j->mask[copy];
    if (a->space == PT_SPACE_LOCAL && a->bytes * a->n > LOCAL_ALIGN)
        aligned = LLVMBuildAdd(j->code->b, addresses, jit_local_window_begin(j, copy), "");
    jit_access_check_all(j, a, copy, aligned, mask); /* misaligned comes first, as interpreted */
    if (a->space == PT_SPACE_LOCAL)
        addresses = jit_access_in_window(j, a, copy, addresses);
    if (has_gather(j, a, mask) && !a->is_load && mask && a->space == PT_SPACE_SHARED &&
        j->unit->machine->scatters_slowly) {
        scatter_unless_one(j, a, addresses, mask, v[0]);
        return;
    }
    if (has_gather(j, a, mask)) {
        access_by_machine(j, a, jit_access_pointer(j, a, addresses), mask, v);
        return;
    }
    LLVMValueRef pointers[64];
    jit_access_lane_pointers(j, a, copy, addresses, pointers);
    access_lanes(j, a, pointers, v);
}

/* ---- what groups repeat ---------------------------------------------------------------------- */

enum { KEPT_ELEMENTS = 4 };

struct jit_kept_load {
    const struct jit_kept_load *next;
    const struct pt_insn *insn;
    struct jit_access access;
    unsigned period; /* chunks */
    /* allocas, by chunk of the period: lanes whose values are there, and those */
    LLVMValueRef lanes[JIT_COPIES], values[JIT_COPIES][KEPT_ELEMENTS];
};

static LLVMValueRef cleared(const struct jit *j, LLVMTypeRef type)
{
    LLVMValueRef memory = jit_alloca(j, type, "kept");
    LLVMBuildStore(j->code->b, LLVMConstNull(type), memory);
    return memory;
}

const struct jit_kept_load *jit_gather_begin_region(const struct jit *j, const struct jit_region *r)
{
    const struct jit_kept_load *first = NULL;
    const uint64_t *set = jit_repeated_loads_find(j->facts, r);
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        struct jit at = *j;
        struct jit_kept_load load = {.next = first, .period = jit_repeated_loads_period(j->facts)};
        if (!jit_set_has(set, i))
            continue;
        jit_visit_insn(&at, i);
        load.insn = at.insn;
        if (!jit_access_try_describe(&at, &load.access) || load.access.n > KEPT_ELEMENTS ||
            load.access.is_constant || load.access.space == PT_SPACE_SHARED)
            continue;
        LLVMTypeRef vector = LLVMVectorType(load.access.element, j->unit->width);
        for (unsigned c = 0; c < load.period; c++) {
            load.lanes[c] = cleared(j, jit_flow_type(j));
            for (unsigned e = 0; e < load.access.n; e++)
                load.values[c][e] = cleared(j, vector);
        }
        struct jit_kept_load *kept = pt_arena_alloc(j->unit->arena, sizeof *kept);
        *kept = load;
        first = kept;
    }
    return first;
}

/* NULL: the access is no such load, or another with it. */
static const struct jit_kept_load *find_kept(const struct jit *j, const struct jit_access *a)
{
    for (const struct jit_kept_load *k = j->kept; k; k = k->next)
        if (k->insn == j->insn)
            return k->access.n == a->n && k->access.bytes == a->bytes ? k : NULL;
    return NULL;
}

bool jit_gather_has_loaded(const struct jit *j, const struct jit_access *a, unsigned copy,
                           unsigned *from)
{
    const struct jit_kept_load *k = a->is_load ? find_kept(j, a) : NULL;
    if (!k || copy < j->first_copy + k->period)
        return false;
    *from = copy - k->period;
    return !j->mask[*from];
}

/* Loads the lanes that no group before has loaded. */
static void load_missing(const struct jit *j, const struct jit_access *a, unsigned copy,
                         const struct jit_kept_load *k, LLVMValueRef *v)
{
    struct jit missing = *j;
    unsigned c = copy % k->period;
    LLVMTypeRef vector = LLVMVectorType(a->element, j->unit->width);
    LLVMBasicBlockRef load = jit_new_block(j, "missing"), after = jit_new_block(j, "kept");
    LLVMValueRef there = jit_mask_load(j, k->lanes[c]), lanes = LLVMBuildNot(j->code->b, there, "");
    if (j->mask[copy])
        lanes = LLVMBuildAnd(j->code->b, lanes, j->mask[copy], "");
    LLVMBuildCondBr(j->code->b, jit_any(j, lanes), load, after);
    jit_continue_in(j, load);
    missing.mask[copy] = lanes;
    access_anywhere(&missing, a, copy, v);
    for (unsigned e = 0; e < a->n; e++) {
        LLVMValueRef others = LLVMBuildLoad2(j->code->b, vector, k->values[c][e], "");
        others = LLVMBuildSelect(j->code->b, lanes, v[e], others, "");
        LLVMBuildStore(j->code->b, others, k->values[c][e]);
    }
    jit_mask_store(j, k->lanes[c], LLVMBuildOr(j->code->b, there, lanes, ""));
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    for (unsigned e = 0; e < a->n; e++)
        v[e] = LLVMBuildLoad2(j->code->b, vector, k->values[c][e], "");
}

void jit_gather_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                       LLVMValueRef *v)
{
    const struct jit_kept_load *kept = a->is_load ? find_kept(j, a) : NULL;
    if (kept)
        load_missing(j, a, copy, kept, v);
    else
        access_anywhere(j, a, copy, v);
}

void jit_gather_access_strided(const struct jit *j, const struct jit_access *a,
                               LLVMValueRef pointer, int64_t stride, LLVMValueRef *v)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef steps = jit_steps(j, i64, stride), pointers[64];
    if (has_strided_gather(j, a, stride)) {
        access_by_machine(j, a, LLVMBuildGEP2(j->code->b, i8, pointer, &steps, 1, ""), NULL, v);
        return;
    }
    for (unsigned lane = 0; lane < j->unit->width; lane++)
        pointers[lane] = jit_at(j, pointer, jit_i64(j, (uint64_t)stride * lane));
    access_lanes(j, a, pointers, v);
}

/* Lane by lane, at base + index * scale, where no index is negative. */
static void access_lanes_indexed(const struct jit *j, const struct jit_access *a, LLVMValueRef base,
                                 LLVMValueRef index, uint64_t scale, LLVMValueRef *v)
{
    LLVMValueRef pointers[64];
    for (unsigned lane = 0; lane < j->unit->width; lane++) {
        LLVMValueRef at = LLVMBuildZExt(j->code->b, jit_lane(j, index, lane),
                                        LLVMInt64TypeInContext(j->code->context), "");
        pointers[lane] = jit_at(j, base, LLVMBuildMul(j->code->b, at, jit_i64(j, scale), ""));
    }
    access_lanes(j, a, pointers, v);
}

void jit_gather_indexed(const struct jit *j, const struct jit_access *a, LLVMValueRef base,
                        LLVMValueRef index, LLVMValueRef *v)
{
    if (has_gather(j, a, NULL))
        access_by_machine(j, a, jit_access_indexed(j, base, index, a->bytes, true), NULL, v);
    else
        access_lanes_indexed(j, a, base, index, a->bytes, v);
}

LLVMValueRef jit_gather_words(const struct jit *j, LLVMValueRef base, LLVMValueRef at,
                              LLVMValueRef mask)
{
    const struct jit_access a = {
        .is_load = true, .bytes = 4, .n = 1, .element = jit_i32_of(j), .space = PT_SPACE_GLOBAL};
    LLVMValueRef words, none = LLVMConstNull(LLVMTypeOf(at));
    if (has_gather(j, &a, mask)) {
        gather(j, &a, jit_access_indexed(j, base, at, 1, true), mask, &words);
        return words;
    }
    at = mask ? LLVMBuildSelect(j->code->b, mask, at, none, "") : at;
    access_lanes_indexed(j, &a, base, at, 1, &words);
    return mask ? LLVMBuildSelect(j->code->b, mask, words, none, "") : words;
}
