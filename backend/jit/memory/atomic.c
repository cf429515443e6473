/* atom and red. Lanes go upwards, one after the other. */
#include "backend/jit/memory/atomic.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/llvm/set_bits.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/atomic_op.h"
#include "backend/jit/memory/lane_address.h"
#include "backend/jit/value/registers.h"

/* Addresses in their space: shared ones are offsets of 32 bits. */
static LLVMValueRef address_of(const struct jit *j, const struct jit_atomic *a, unsigned copy)
{
    enum pt_type type = a->is_shared ? PT_u32 : PT_u64;
    if (a->base->kind != PT_OPND_REG)
        return jit_registers_read_place(j, a->base, type, j->unit->width);
    LLVMValueRef base = jit_registers_read(j, a->base, copy, type, j->unit->width, false);
    if (a->base->imm)
        base =
            LLVMBuildAdd(j->code->b, base, jit_const(LLVMTypeOf(base), (uint64_t)a->base->imm), "");
    return base;
}

static LLVMValueRef pointer_of(const struct jit *j, const struct jit_atomic *a,
                               LLVMValueRef address)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    if (a->is_shared)
        return jit_at(j, j->code->shared, LLVMBuildZExt(j->code->b, address, i64, ""));
    return LLVMBuildIntToPtr(j->code->b, address, LLVMPointerTypeInContext(j->code->context, 0),
                             "");
}

static void check(const struct jit *j, const struct jit_atomic *a, unsigned copy,
                  LLVMValueRef addresses, LLVMValueRef mask)
{
    const struct jit_access access = {.bytes = a->bytes, .n = a->n};
    LLVMValueRef bad = jit_access_misaligned(j, &access, addresses);
    bad = mask ? LLVMBuildAnd(j->code->b, bad, mask, "") : bad;
    LLVMValueRef pointers = addresses;
    if (a->is_shared)
        pointers = jit_access_indexed(j, j->code->shared, addresses, 1, false);
    else
        pointers = LLVMBuildIntToPtr(
            j->code->b, addresses,
            LLVMVectorType(LLVMPointerTypeInContext(j->code->context, 0), j->unit->width), "");
    jit_fault_raise_if_lanes(j, PT_FAULT_MISALIGNED, copy, bad, pointers);
}

static LLVMValueRef as_bits(const struct jit *j, const struct jit_atomic *a,
                            const struct pt_operand *o, unsigned copy)
{
    LLVMValueRef value = jit_registers_read(j, o, copy, a->type, j->unit->width, false);
    return LLVMBuildBitCast(j->code->b, value, LLVMVectorType(a->element, j->unit->width), "");
}

/* Sources of all elements in all lanes, and a variable for what was there. */
struct values {
    LLVMValueRef b[JIT_ATOMIC_ELEMENTS], c, result[JIT_ATOMIC_ELEMENTS];
};

static struct values read_values(const struct jit *j, const struct jit_atomic *a, unsigned copy)
{
    struct values v = {.c = a->c ? as_bits(j, a, a->c, copy) : NULL};
    for (unsigned i = 0; i < a->n; i++) {
        v.b[i] = as_bits(j, a, a->b + i, copy);
        v.result[i] =
            a->d[i] ? jit_alloca(j, LLVMVectorType(a->element, j->unit->width), "") : NULL;
    }
    return v;
}

/* What was there goes to old[], where it is read. */
static void run_elements(const struct jit *j, const struct jit_atomic *a, LLVMValueRef address,
                         const struct values *lane, LLVMValueRef *old)
{
    LLVMValueRef p = pointer_of(j, a, address);
    for (unsigned i = 0; i < a->n; i++) {
        LLVMValueRef at = i ? jit_at(j, p, jit_i64(j, i * a->bytes)) : p;
        old[i] = jit_atomic_op_emit(j, a, at, lane->b[i], lane->c);
    }
}

static void run_lane(const struct jit *j, const struct jit_atomic *a, const struct values *v,
                     LLVMValueRef address, unsigned lane)
{
    struct values own = {.c = v->c ? jit_lane(j, v->c, lane) : NULL};
    LLVMValueRef old[JIT_ATOMIC_ELEMENTS];
    for (unsigned i = 0; i < a->n; i++)
        own.b[i] = jit_lane(j, v->b[i], lane);
    run_elements(j, a, address, &own, old);
    for (unsigned i = 0; i < a->n; i++) {
        if (!v->result[i])
            continue;
        LLVMTypeRef vector = LLVMVectorType(a->element, j->unit->width);
        LLVMValueRef lanes = LLVMBuildLoad2(j->code->b, vector, v->result[i], "");
        lanes = LLVMBuildInsertElement(j->code->b, lanes, old[i], jit_i32(j, lane), "");
        LLVMBuildStore(j->code->b, lanes, v->result[i]);
    }
}

static LLVMValueRef in_memory(const struct jit *j, LLVMValueRef vector)
{
    LLVMValueRef memory = jit_alloca(j, LLVMTypeOf(vector), "");
    LLVMBuildStore(j->code->b, vector, memory);
    return memory;
}

static LLVMValueRef place_of(const struct jit *j, LLVMTypeRef type, LLVMValueRef memory,
                             LLVMValueRef lane)
{
    return LLVMBuildGEP2(j->code->b, type, memory, &lane, 1, "");
}

static LLVMValueRef load_lane(const struct jit *j, LLVMTypeRef type, LLVMValueRef memory,
                              LLVMValueRef lane)
{
    return LLVMBuildLoad2(j->code->b, type, place_of(j, type, memory, lane), "");
}

/* The lanes that are on, upwards: a round for each, as mostly few are. */
static void run_masked(const struct jit *j, const struct jit_atomic *a, const struct values *v,
                       LLVMValueRef addresses, LLVMValueRef mask)
{
    struct jit_set_bits bits;
    struct values own = {0};
    LLVMTypeRef address = LLVMGetElementType(LLVMTypeOf(addresses));
    LLVMValueRef old[JIT_ATOMIC_ELEMENTS], b[JIT_ATOMIC_ELEMENTS],
        c = v->c ? in_memory(j, v->c) : NULL;
    addresses = in_memory(j, addresses);
    for (unsigned i = 0; i < a->n; i++)
        b[i] = in_memory(j, v->b[i]);
    LLVMValueRef lane = jit_set_bits_begin(j, mask, &bits);
    own.c = c ? load_lane(j, a->element, c, lane) : NULL;
    for (unsigned i = 0; i < a->n; i++)
        own.b[i] = load_lane(j, a->element, b[i], lane);
    run_elements(j, a, load_lane(j, address, addresses, lane), &own, old);
    for (unsigned i = 0; i < a->n; i++)
        if (v->result[i])
            LLVMBuildStore(j->code->b, old[i], place_of(j, a->element, v->result[i], lane));
    jit_set_bits_end(j, &bits);
}

/* Addresses of the lanes that are on, and the mask that is left to test lane by lane. */
static LLVMValueRef checked_addresses(const struct jit *j, const struct jit_atomic *a,
                                      unsigned copy, LLVMValueRef *mask)
{
    LLVMValueRef addresses = address_of(j, a, copy);
    *mask = j->mask[copy];
    check(j, a, copy, addresses, *mask);
    if (!*mask || !a->is_shared)
        return addresses;
    /* lanes that are off change a word of the reserved kilobyte */
    LLVMValueRef nowhere = jit_splat(j, jit_i32(j, PT_SHARED_BASE - 64));
    addresses = LLVMBuildSelect(j->code->b, *mask, addresses, nowhere, "");
    *mask = NULL;
    return addresses;
}

static void run_chunk(const struct jit *j, const struct jit_atomic *a, unsigned copy)
{
    LLVMTypeRef vector = LLVMVectorType(a->element, j->unit->width);
    LLVMValueRef mask, addresses = checked_addresses(j, a, copy, &mask);
    struct values v = read_values(j, a, copy);
    if (mask)
        run_masked(j, a, &v, addresses, mask);
    for (unsigned i = 0; i < j->unit->width && !mask; i++)
        run_lane(j, a, &v, jit_lane(j, addresses, i), i);
    for (unsigned i = 0; i < a->n; i++)
        if (v.result[i])
            jit_registers_write(j, a->d[i], copy,
                                LLVMBuildLoad2(j->code->b, vector, v.result[i], ""), j->unit->width,
                                false);
}

/* Room for the offsets of all chunks: the same for all instructions, as each is over before the
 * next. */
static LLVMValueRef offsets_memory(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    if (!j->code->offsets) {
        j->code->offsets =
            jit_alloca(j, LLVMArrayType2(i32, JIT_COPIES * j->unit->width), "offsets");
        LLVMSetAlignment(j->code->offsets, 64);
    }
    return j->code->offsets;
}

/* Two neighbours of the offsets in memory. The load is volatile: LLVM would forward what was
 * stored, as moves out of vectors, which are slower than loads. */
static LLVMValueRef load_pair(const struct jit *j, LLVMValueRef memory, unsigned index)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef at = jit_at(j, memory, jit_i64(j, index * 4));
    LLVMValueRef pair = LLVMBuildLoad2(j->code->b, i64, at, "");
    LLVMSetVolatile(pair, true);
    LLVMSetAlignment(pair, 8);
    return pair;
}

/* Shared memory, and nobody reads what was there: the offsets of all chunks take their way to
 * scalar registers through memory. */
static void run_stored(const struct jit *j, const struct jit_atomic *a)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef memory = offsets_memory(j), unmasked;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef offsets = checked_addresses(j, a, u, &unmasked);
        LLVMValueRef at = jit_at(j, memory, jit_i64(j, u * j->unit->width * 4));
        LLVMSetAlignment(LLVMBuildStore(j->code->b, offsets, at), j->unit->width * 4);
    }
    for (unsigned u = 0; u < j->facts->copies; u++) {
        struct values v = read_values(j, a, u);
        for (unsigned i = 0; i < j->unit->width; i += 2) {
            LLVMValueRef pair = load_pair(j, memory, u * j->unit->width + i);
            run_lane(j, a, &v, LLVMBuildTrunc(j->code->b, pair, i32, ""), i);
            LLVMValueRef second = LLVMBuildLShr(j->code->b, pair, jit_i64(j, 32), "");
            run_lane(j, a, &v, LLVMBuildTrunc(j->code->b, second, i32, ""), i + 1);
        }
    }
}

/* The same where addresses are made of what was loaded just before: lane by lane, too. */
static bool run_loaded(const struct jit *j, const struct jit_atomic *a)
{
    struct jit_lane_address at;
    LLVMValueRef unmasked;
    if (!jit_lane_address_find(j, a->base, &at))
        return false;
    for (unsigned u = 0; u < j->facts->copies; u++)
        checked_addresses(j, a, u, &unmasked);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        struct values v = read_values(j, a, u);
        for (unsigned i = 0; i < j->unit->width; i++) {
            LLVMValueRef address = jit_lane_address_make(j, &at, u, i);
            address = LLVMBuildAdd(j->code->b, address, jit_i32(j, (uint32_t)a->base->imm), "");
            run_lane(j, a, &v, address, i);
        }
    }
    return true;
}

static bool is_any_read(const struct jit_atomic *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->d[i])
            return true;
    return false;
}

bool jit_atomic_emit(const struct jit *j)
{
    struct jit_atomic a;
    if (!jit_atomic_op_describe(j, &a))
        return false;
    if (a.is_shared && !is_any_read(&a)) {
        if (!run_loaded(j, &a))
            run_stored(j, &a);
        return true;
    }
    for (unsigned u = 0; u < j->facts->copies; u++)
        run_chunk(j, &a, u);
    return true;
}
