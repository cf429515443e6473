/* Accesses of lanes anywhere. */
#include "backend/jit/access.h"

/* Lanes anywhere, by the machine's gathers and scatters. */
static void gather(struct jit *j, const struct jit_access *a, LLVMValueRef pointers,
                   LLVMValueRef mask, LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width);
    LLVMTypeRef types[] = {type, LLVMTypeOf(pointers)};
    for (unsigned i = 0; i < a->n; i++) {
        LLVMValueRef args[] = {jit_element(j, a, pointers, i), mask ? mask : jit_mask_all(j),
                               LLVMConstNull(type)};
        v[i] = jit_masked(j, "llvm.masked.gather", types, args, 0, a->bytes);
    }
}

static void scatter(struct jit *j, const struct jit_access *a, LLVMValueRef pointers,
                    LLVMValueRef mask, LLVMValueRef value)
{
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointers)};
    LLVMValueRef args[] = {value, pointers, mask ? mask : jit_mask_all(j)};
    jit_masked(j, "llvm.masked.scatter", types, args, 1, a->bytes);
}

/* Lane by lane, without branches: lanes that are off touch memory that nobody reads. */
static LLVMValueRef address_or_nowhere(struct jit *j, const struct jit_access *a,
                                       LLVMValueRef addresses, LLVMValueRef mask)
{
    LLVMValueRef nowhere;
    if (!mask)
        return addresses;
    if (a->space == PT_SPACE_SHARED)
        nowhere = jit_i32(j, PT_SHARED_BASE - 64); /* of the reserved kilobyte */
    else
        nowhere = LLVMBuildPtrToInt(j->b, jit_nowhere(j), LLVMInt64TypeInContext(j->context), "");
    return LLVMBuildSelect(j->b, mask, addresses, jit_splat(j, nowhere), "");
}

static void load_lanes(struct jit *j, const struct jit_access *a, LLVMValueRef addresses,
                       LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width);
    for (unsigned i = 0; i < a->n; i++)
        v[i] = LLVMGetPoison(type);
    for (unsigned lane = 0; lane < j->width; lane++) {
        LLVMValueRef pointer = jit_pointer(j, a, jit_lane(j, addresses, lane));
        for (unsigned i = 0; i < a->n; i++) {
            LLVMValueRef one =
                jit_load_at(j, a, a->element, jit_element(j, a, pointer, i), a->bytes);
            v[i] = LLVMBuildInsertElement(j->b, v[i], one, jit_i32(j, lane), "");
        }
    }
}

/* Upwards, all elements of a lane together: the last lane's value stays. */
static void store_lanes(struct jit *j, const struct jit_access *a, LLVMValueRef addresses,
                        LLVMValueRef *v)
{
    for (unsigned lane = 0; lane < j->width; lane++) {
        LLVMValueRef pointer = jit_pointer(j, a, jit_lane(j, addresses, lane));
        for (unsigned i = 0; i < a->n; i++)
            jit_store_at(j, a, jit_lane(j, v[i], lane), jit_element(j, a, pointer, i));
    }
}

/* By a gather or scatter of a base and indexes of 32 bits. False if the address is not made so. */
static bool access_indexed(struct jit *j, const struct jit_access *a, unsigned copy,
                           LLVMValueRef *v)
{
    struct jit_split s;
    bool is_wide = a->bytes == 4 || a->bytes == 8;
    if ((!a->is_load && a->n > 1) || !is_wide || !j->target->has_mask_registers ||
        a->space == PT_SPACE_SHARED || a->space == PT_SPACE_LOCAL ||
        !jit_split_address(j, a->base, &s) || s.scale % (a->bytes * a->n))
        return false;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    LLVMValueRef base = jit_read(j, s.base, copy, PT_u64, 1, false);
    base = LLVMBuildAdd(j->b, base, jit_i64(j, (uint64_t)a->base->imm), "");
    LLVMValueRef bad = jit_misaligned(j, a, base);
    if (j->mask[copy])
        bad = LLVMBuildAnd(j->b, bad, jit_any(j, j->mask[copy]), "");
    jit_fail_if(j, bad, PT_FAULT_MISALIGNED);
    base = LLVMBuildIntToPtr(j->b, base, pointer, "");
    LLVMValueRef index = jit_read(j, s.index, copy, PT_u32, j->width, false);
    LLVMValueRef pointers = jit_indexed(j, base, index, s.scale, s.is_signed);
    if (a->is_load)
        gather(j, a, pointers, j->mask[copy], v);
    else
        scatter(j, a, pointers, j->mask[copy], v[0]);
    return true;
}

void jit_access_any(struct jit *j, const struct jit_access *a, unsigned copy, LLVMValueRef *v)
{
    if (access_indexed(j, a, copy, v))
        return;
    LLVMValueRef addresses = jit_address(j, a, copy, j->width);
    LLVMValueRef mask = j->mask[copy];
    if (a->space == PT_SPACE_LOCAL)
        addresses = jit_in_window(j, a, copy, addresses);
    jit_check_all(j, a, addresses, mask);
    bool by_machine = j->target->has_mask_registers && (a->bytes == 4 || a->bytes == 8);
    if (by_machine && a->is_load)
        gather(j, a, jit_pointer(j, a, addresses), mask, v);
    else if (by_machine && a->n == 1)
        scatter(j, a, jit_pointer(j, a, addresses), mask, v[0]);
    else if (a->is_load)
        load_lanes(j, a, address_or_nowhere(j, a, addresses, mask), v);
    else
        store_lanes(j, a, address_or_nowhere(j, a, addresses, mask), v);
}
