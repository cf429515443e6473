/* ld and st. How the lanes' addresses lie decides: one address is one access, consecutive ones a vector access, all
 * others are gathered and scattered. Where an affine form may not hold, a test chooses.
 */
#include "backend/jit/region.h"

#include <string.h>

struct access {
    bool is_load;
    enum pt_type type;
    unsigned bytes, n;           /* of an element, elements */
    LLVMTypeRef element;         /* iN */
    const struct pt_operand *base;
    enum pt_space space;
    struct pt_operand values[8]; /* registers or constants */
    bool extends_sign;
    bool is_constant;            /* memory that no kernel changes */
    enum pt_order order;
};

/* ---- what is accessed ------------------------------------------------------------------------ */

static bool is_load_or_store(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_ld:
    case PT_OP_ld_volatile:
    case PT_OP_ld_acquire:
    case PT_OP_ld_nc:
    case PT_OP_ldu:
    case PT_OP_st:
    case PT_OP_st_volatile:
    case PT_OP_st_release:
        return true;
    default:
        return false;
    }
}

static bool describe(struct jit *j, struct access *a)
{
    if (!is_load_or_store(j->form)) {
        j->why = j->form->spelling;
        return false;
    }
    const struct pt_operand *o = &j->f->operands.v[j->insn->operands];
    memset(a, 0, sizeof *a);
    a->is_load = j->form->effects & PT_FX_READ;
    a->type = (enum pt_type)j->form->type[0];
    a->bytes = pt_type_bits(a->type) / 8;
    a->space = pt_form_has(j->form, PT_M_param_func) ? PT_SPACE_LOCAL : pt_form_space(j->form);
    const struct pt_operand *value = &o[a->is_load ? 0 : 1], *mem = &o[a->is_load ? 1 : 0];
    a->n = value->kind == PT_OPND_VEC ? (unsigned)value->imm : 1;
    a->base = &j->f->operands.v[mem->index];
    a->extends_sign = pt_type_class(a->type) == PT_CLASS_S;
    if (a->base->kind == PT_OPND_SYM && j->m->symbols.v[a->base->index].space == PT_SPACE_LOCAL)
        a->space = PT_SPACE_LOCAL; /* ld.param and st.param of arguments */
    if (a->space == PT_SPACE_PARAM && a->base->kind == PT_OPND_REG && !j->inlined)
        a->space = PT_SPACE_GENERIC; /* addresses of a kernel's parameters are generic */
    a->is_constant = a->space == PT_SPACE_CONST || a->space == PT_SPACE_PARAM;
    a->order = pt_order_of(j->form);
    if (a->base->kind == PT_OPND_FUNC ||
        (a->space == PT_SPACE_PARAM && a->base->kind != PT_OPND_SYM)) {
        j->why = "an access of this kind";
        return false;
    }
    for (unsigned i = 0; i < a->n; i++)
        a->values[i] = value->kind == PT_OPND_VEC ? j->f->operands.v[value->index + i] : *value;
    a->element = LLVMIntTypeInContext(j->context, a->bytes * 8);
    return true;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Bits an address has in its space: a shared address is an offset in the cluster's 4 GiB. */
static enum pt_type address_type(const struct access *a)
{
    return a->space == PT_SPACE_SHARED ? PT_u32 : PT_u64;
}

/* Address of one lane, or of all, as integers with the constant part added. */
static LLVMValueRef address_of(struct jit *j, const struct access *a, unsigned copy, unsigned lanes)
{
    LLVMValueRef base = jit_read(j, a->base, copy, address_type(a), lanes, false);
    if (a->base->kind != PT_OPND_REG || !a->base->imm)
        return base;
    return LLVMBuildAdd(j->b, base, jit_const(LLVMTypeOf(base), (uint64_t)a->base->imm), "");
}

/* base + index * scale for indexes of 32 bits. Gathers take signed ones: for unsigned ones all are moved by half the range. */
static LLVMValueRef indexed(struct jit *j, LLVMValueRef base, LLVMValueRef index, uint64_t scale,
                            bool is_signed)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    LLVMTypeRef element = LLVMIntTypeInContext(j->context, (unsigned)scale * 8);
    if (!is_signed) {
        index = LLVMBuildXor(j->b, index, jit_const(LLVMTypeOf(index), UINT32_C(1) << 31), "");
        base = jit_at(j, base, jit_i64(j, (UINT64_C(1) << 31) * scale));
    }
    index = LLVMBuildSExt(j->b, index, LLVMVectorType(i64, j->width), "");
    return LLVMBuildGEP2(j->b, element, base, &index, 1, "");
}

/* The integer address (or addresses) as pointers. */
static LLVMValueRef pointer_of(struct jit *j, const struct access *a, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMTypeOf(address), i64 = LLVMInt64TypeInContext(j->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (a->space == PT_SPACE_SHARED && is_vector)
        return indexed(j, j->shared, address, 1, false);
    if (a->space == PT_SPACE_SHARED)
        return jit_at(j, j->shared, LLVMBuildZExt(j->b, address, i64, ""));
    if (is_vector)
        pointer = LLVMVectorType(pointer, j->width);
    return LLVMBuildIntToPtr(j->b, address, pointer, "");
}

static LLVMValueRef parameter(struct jit *j, const struct access *a)
{
    const struct pt_symbol *s = &j->m->symbols.v[a->base->index];
    return jit_at(j, j->params, jit_i64(j, s->offset + (uint64_t)a->base->imm));
}

/* ---- misaligned addresses -------------------------------------------------------------------- */

/* Where `bad` (i1) holds, the kernel fails here. */
static void fail_if(struct jit *j, LLVMValueRef bad, enum pt_fault_kind kind)
{
    LLVMBasicBlockRef fail = jit_new_block(j, "fault"), on = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, bad, fail, on);
    jit_continue_in(j, fail);
    jit_fail(j, kind);
    jit_continue_in(j, on);
}

static LLVMValueRef is_misaligned(struct jit *j, const struct access *a, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMTypeOf(address);
    LLVMValueRef low = LLVMBuildAnd(j->b, address, jit_const(type, a->bytes * a->n - 1), "");
    return LLVMBuildICmp(j->b, LLVMIntNE, low, LLVMConstNull(type), "");
}

static bool is_trusted(const struct jit *j)
{
    return j->trusted && jit_set_has(j->trusted, (uint32_t)(j->insn - j->f->insns.v));
}

static void check_one(struct jit *j, const struct access *a, LLVMValueRef address)
{
    if (a->bytes * a->n > 1 && !is_trusted(j))
        fail_if(j, is_misaligned(j, a, address), PT_FAULT_MISALIGNED);
}

/* Local accesses: from offsets to addresses, and none beyond the window. */
static LLVMValueRef in_window(struct jit *j, const struct access *a, unsigned copy,
                              LLVMValueRef offsets)
{
    LLVMValueRef bad = jit_local_leaves(j, offsets, (uint64_t)a->bytes * a->n);
    if (j->mask[copy])
        bad = LLVMBuildAnd(j->b, bad, j->mask[copy], "");
    fail_if(j, jit_any(j, bad), PT_FAULT_ILLEGAL_ADDRESS);
    return LLVMBuildAdd(j->b, offsets, jit_local_windows(j, copy), "");
}

static void check_all(struct jit *j, const struct access *a, LLVMValueRef addresses,
                      LLVMValueRef mask)
{
    if (a->bytes * a->n == 1)
        return;
    LLVMValueRef bad = is_misaligned(j, a, addresses);
    fail_if(j, jit_any(j, mask ? LLVMBuildAnd(j->b, bad, mask, "") : bad), PT_FAULT_MISALIGNED);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static LLVMValueRef element_at(struct jit *j, const struct access *a, LLVMValueRef pointer,
                               unsigned i)
{
    return i ? jit_at(j, pointer, jit_i64(j, (uint64_t)i * a->bytes)) : pointer;
}

/* Accesses with an order do not tear: of one element by what LLVM promises; of vectors by the machine, as each
 * element is aligned. */
static void make_whole(const struct access *a, LLVMValueRef access, LLVMTypeRef type)
{
    if (a->order == PT_ORDER_PLAIN)
        return;
    LLVMSetVolatile(access, true);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind && a->bytes <= 8)
        LLVMSetOrdering(access, LLVMAtomicOrderingMonotonic);
}

static LLVMValueRef load(struct jit *j, const struct access *a, LLVMTypeRef type,
                         LLVMValueRef pointer, unsigned align)
{
    LLVMValueRef value = LLVMBuildLoad2(j->b, type, pointer, "");
    LLVMSetAlignment(value, align);
    make_whole(a, value, type);
    if (a->is_constant)
        LLVMSetMetadata(value, LLVMGetMDKindIDInContext(j->context, "invariant.load", 14),
                        LLVMMDNodeInContext(j->context, NULL, 0));
    return value;
}

static void store(struct jit *j, const struct access *a, LLVMValueRef value, LLVMValueRef pointer)
{
    LLVMValueRef access = LLVMBuildStore(j->b, value, pointer);
    LLVMSetAlignment(access, a->bytes);
    make_whole(a, access, LLVMTypeOf(value));
}

static LLVMValueRef shuffle(struct jit *j, LLVMValueRef x, LLVMValueRef y, const int *lanes,
                            unsigned n)
{
    LLVMValueRef order[256];
    for (unsigned i = 0; i < n; i++)
        order[i] = jit_i32(j, (uint32_t)lanes[i]);
    return LLVMBuildShuffleVector(j->b, x, y ? y : LLVMGetPoison(LLVMTypeOf(x)),
                                  LLVMConstVector(order, n), "");
}

/* A mask whose lanes stand for n elements each. */
static LLVMValueRef spread_mask(struct jit *j, LLVMValueRef mask, unsigned n)
{
    int lanes[256];
    for (unsigned i = 0; i < n * j->width; i++)
        lanes[i] = (int)(i / n);
    return n == 1 ? mask : shuffle(j, mask, NULL, lanes, n * j->width);
}

static LLVMValueRef masked(struct jit *j, const char *name, LLVMTypeRef *types, unsigned n_types,
                           LLVMValueRef *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(j->module, id, types, n_types);
    return LLVMBuildCall2(j->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* Elements i, i + n, i + 2n …: those of one register. */
static LLVMValueRef take_every(struct jit *j, LLVMValueRef all, unsigned i, unsigned n)
{
    int lanes[64];
    for (unsigned k = 0; k < j->width; k++)
        lanes[k] = (int)(k * n + i);
    return n == 1 ? all : shuffle(j, all, NULL, lanes, j->width);
}

/* One after the other: x0 y0 x1 y1 … of n vectors, n a power of two. */
static LLVMValueRef interleave(struct jit *j, LLVMValueRef *v, unsigned n)
{
    LLVMValueRef half[8];
    unsigned each = j->width;
    int lanes[256];
    for (unsigned i = 0; i < n; i++)
        half[i] = v[i];
    for (unsigned count = n; count > 1; count /= 2, each *= 2) {
        for (unsigned i = 0; i < 2 * each; i++)
            lanes[i] = (int)i;
        for (unsigned i = 0; i < count / 2; i++)
            half[i] = shuffle(j, half[2 * i], half[2 * i + 1], lanes, 2 * each);
    }
    for (unsigned i = 0; i < n * j->width; i++)
        lanes[i] = (int)(i % n * j->width + i / n);
    return n == 1 ? v[0] : shuffle(j, half[0], NULL, lanes, n * j->width);
}

/* Consecutive lanes. v[i]: element i of all lanes. */
static void load_run(struct jit *j, const struct access *a, LLVMValueRef pointer, LLVMValueRef mask,
                     LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width * a->n);
    LLVMValueRef all;
    if (!mask) {
        all = load(j, a, type, pointer, a->bytes);
    } else {
        LLVMTypeRef types[] = {type, LLVMTypeOf(pointer)};
        LLVMValueRef args[] = {pointer, jit_i32(j, a->bytes), spread_mask(j, mask, a->n),
                               LLVMConstNull(type)};
        all = masked(j, "llvm.masked.load", types, 2, args, 4);
    }
    for (unsigned i = 0; i < a->n; i++)
        v[i] = take_every(j, all, i, a->n);
}

static void store_run(struct jit *j, const struct access *a, LLVMValueRef pointer,
                      LLVMValueRef mask, LLVMValueRef *v)
{
    LLVMValueRef all = interleave(j, v, a->n);
    if (!mask) {
        store(j, a, all, pointer);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(all), LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {all, pointer, jit_i32(j, a->bytes), spread_mask(j, mask, a->n)};
    masked(j, "llvm.masked.store", types, 2, args, 4);
}

/* Lanes a few elements apart: vector accesses to the elements that are the lanes'. */
static bool is_near(const struct jit *j, const struct access *a, int64_t stride)
{
    return j->target->has_mask_registers && a->n == 1 && a->bytes >= 4 &&
           (stride == 2 * (int64_t)a->bytes || stride == 4 * (int64_t)a->bytes);
}

static LLVMValueRef near_mask(struct jit *j, unsigned apart)
{
    LLVMValueRef lanes[64];
    for (unsigned i = 0; i < j->width; i++)
        lanes[i] = LLVMConstInt(LLVMInt1TypeInContext(j->context), i % apart == 0, false);
    return LLVMConstVector(lanes, j->width);
}

static LLVMValueRef load_near(struct jit *j, const struct access *a, LLVMValueRef pointer,
                              unsigned apart)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width);
    LLVMTypeRef types[] = {type, LLVMTypeOf(pointer)};
    LLVMValueRef part[4];
    int lanes[64];
    for (unsigned i = 0; i < apart; i++) {
        LLVMValueRef at = element_at(j, a, pointer, i * j->width);
        LLVMValueRef args[] = {at, jit_i32(j, a->bytes), near_mask(j, apart), LLVMConstNull(type)};
        part[i] = masked(j, "llvm.masked.load", types, 2, args, 4);
    }
    unsigned each = j->width / apart; /* lanes that a part holds */
    for (unsigned i = 0; i < j->width; i++)
        lanes[i] = (int)(i % (2 * each) / each * j->width + i % each * apart);
    for (unsigned i = 0; i < apart; i += 2)
        part[i] = shuffle(j, part[i], part[i + 1], lanes, j->width);
    if (apart == 2)
        return part[0];
    for (unsigned i = 0; i < j->width; i++)
        lanes[i] = (int)(i < 2 * each ? i : j->width + i - 2 * each);
    return shuffle(j, part[0], part[2], lanes, j->width);
}

static void store_near(struct jit *j, const struct access *a, LLVMValueRef pointer, unsigned apart,
                       LLVMValueRef value)
{
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointer)};
    int lanes[64];
    for (unsigned i = 0; i < apart; i++) {
        for (unsigned k = 0; k < j->width; k++)
            lanes[k] = (int)((i * j->width + k) / apart);
        LLVMValueRef args[] = {shuffle(j, value, NULL, lanes, j->width),
                               element_at(j, a, pointer, i * j->width), jit_i32(j, a->bytes),
                               near_mask(j, apart)};
        masked(j, "llvm.masked.store", types, 2, args, 4);
    }
}

/* Lanes anywhere, by the machine's gathers and scatters. */
static void gather(struct jit *j, const struct access *a, LLVMValueRef pointers, LLVMValueRef mask,
                   LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width);
    LLVMTypeRef types[] = {type, LLVMTypeOf(pointers)};
    for (unsigned i = 0; i < a->n; i++) {
        LLVMValueRef args[] = {element_at(j, a, pointers, i), jit_i32(j, a->bytes),
                               mask ? mask : jit_mask_all(j), LLVMConstNull(type)};
        v[i] = masked(j, "llvm.masked.gather", types, 2, args, 4);
    }
}

static void scatter(struct jit *j, const struct access *a, LLVMValueRef pointers, LLVMValueRef mask,
                    LLVMValueRef value)
{
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointers)};
    LLVMValueRef args[] = {value, pointers, jit_i32(j, a->bytes), mask ? mask : jit_mask_all(j)};
    masked(j, "llvm.masked.scatter", types, 2, args, 4);
}

/* Lane by lane, without branches: lanes that are off touch memory that nobody reads. */
static LLVMValueRef address_or_nowhere(struct jit *j, const struct access *a,
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

static void load_lanes(struct jit *j, const struct access *a, LLVMValueRef addresses,
                       LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width);
    for (unsigned i = 0; i < a->n; i++)
        v[i] = LLVMGetPoison(type);
    for (unsigned lane = 0; lane < j->width; lane++) {
        LLVMValueRef pointer = pointer_of(j, a, jit_lane(j, addresses, lane));
        for (unsigned i = 0; i < a->n; i++) {
            LLVMValueRef one = load(j, a, a->element, element_at(j, a, pointer, i), a->bytes);
            v[i] = LLVMBuildInsertElement(j->b, v[i], one, jit_i32(j, lane), "");
        }
    }
}

/* Upwards, all elements of a lane together: the last lane's value stays. */
static void store_lanes(struct jit *j, const struct access *a, LLVMValueRef addresses,
                        LLVMValueRef *v)
{
    for (unsigned lane = 0; lane < j->width; lane++) {
        LLVMValueRef pointer = pointer_of(j, a, jit_lane(j, addresses, lane));
        for (unsigned i = 0; i < a->n; i++)
            store(j, a, jit_lane(j, v[i], lane), element_at(j, a, pointer, i));
    }
}

/* ---- one chunk ------------------------------------------------------------------------------- */

/* By a gather or scatter of a base and indexes of 32 bits. False if the address is not made so. */
static bool access_indexed(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef *v)
{
    struct jit_split s;
    bool is_wide = a->bytes == 4 || a->bytes == 8;
    if ((!a->is_load && a->n > 1) || !is_wide || !j->target->has_mask_registers ||
        a->space == PT_SPACE_SHARED || a->space == PT_SPACE_LOCAL ||
        !jit_split_address(j, a->base, &s) ||
        s.scale % (a->bytes * a->n))
        return false;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    LLVMValueRef base = jit_read(j, s.base, copy, PT_u64, 1, false);
    base = LLVMBuildAdd(j->b, base, jit_i64(j, (uint64_t)a->base->imm), "");
    LLVMValueRef bad = is_misaligned(j, a, base);
    if (j->mask[copy])
        bad = LLVMBuildAnd(j->b, bad, jit_any(j, j->mask[copy]), "");
    fail_if(j, bad, PT_FAULT_MISALIGNED);
    base = LLVMBuildIntToPtr(j->b, base, pointer, "");
    LLVMValueRef index = jit_read(j, s.index, copy, PT_u32, j->width, false);
    LLVMValueRef pointers = indexed(j, base, index, s.scale, s.is_signed);
    if (a->is_load)
        gather(j, a, pointers, j->mask[copy], v);
    else
        scatter(j, a, pointers, j->mask[copy], v[0]);
    return true;
}

static void access_any(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef *v)
{
    if (access_indexed(j, a, copy, v))
        return;
    LLVMValueRef addresses = address_of(j, a, copy, j->width);
    LLVMValueRef mask = j->mask[copy];
    if (a->space == PT_SPACE_LOCAL)
        addresses = in_window(j, a, copy, addresses);
    check_all(j, a, addresses, mask);
    bool by_machine = j->target->has_mask_registers && (a->bytes == 4 || a->bytes == 8);
    if (by_machine && a->is_load)
        gather(j, a, pointer_of(j, a, addresses), mask, v);
    else if (by_machine && a->n == 1)
        scatter(j, a, pointer_of(j, a, addresses), mask, v[0]);
    else if (a->is_load)
        load_lanes(j, a, address_or_nowhere(j, a, addresses, mask), v);
    else
        store_lanes(j, a, address_or_nowhere(j, a, addresses, mask), v);
}

static void access_run(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef address,
                       LLVMValueRef *v)
{
    LLVMValueRef pointer = pointer_of(j, a, address);
    bool is_far = a->space == PT_SPACE_GLOBAL || a->space == PT_SPACE_GENERIC;
    int64_t size = a->bytes * a->n, stride = size;
    if (jit_shape_of(j, a->base, &stride) != JIT_AFFINE)
        stride = size;
    if (is_far && !j->mask[copy] && a->base->kind == PT_OPND_REG)
        jit_prefetch(j, a->base->index, pointer, (unsigned)stride * j->width);
    if (stride != size && a->is_load)
        v[0] = load_near(j, a, pointer, (unsigned)(stride / a->bytes));
    else if (stride != size)
        store_near(j, a, pointer, (unsigned)(stride / a->bytes), v[0]);
    else if (a->is_load)
        load_run(j, a, pointer, j->mask[copy], v);
    else
        store_run(j, a, pointer, j->mask[copy], v);
}

/* From `address` on if `is_run`; else anywhere, where misaligned lanes are found. */
static void access_either(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef is_run,
                          LLVMValueRef address, LLVMValueRef *v)
{
    LLVMBasicBlockRef run = jit_new_block(j, "run"), any = jit_new_block(j, "any");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMValueRef fast[8], slow[8];
    memcpy(fast, v, sizeof fast);
    memcpy(slow, v, sizeof slow);
    LLVMBuildCondBr(j->b, is_run, run, any);
    jit_continue_in(j, run);
    access_run(j, a, copy, address, fast);
    LLVMBasicBlockRef from_run = LLVMGetInsertBlock(j->b);
    LLVMBuildBr(j->b, after);
    jit_continue_in(j, any);
    access_any(j, a, copy, slow);
    LLVMBasicBlockRef from_any = LLVMGetInsertBlock(j->b);
    LLVMBuildBr(j->b, after);
    jit_continue_in(j, after);
    for (unsigned i = 0; a->is_load && i < a->n; i++) {
        v[i] = LLVMBuildPhi(j->b, LLVMTypeOf(fast[i]), "");
        LLVMValueRef values[] = {fast[i], slow[i]};
        LLVMBasicBlockRef blocks[] = {from_run, from_any};
        LLVMAddIncoming(v[i], values, blocks, 2);
    }
}

/* Consecutive if the affine form holds, and aligned. */
static void access_affine(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef *v)
{
    LLVMValueRef address = address_of(j, a, copy, 1), fits = NULL;
    if (!is_trusted(j)) {
        fits = jit_fits(j, a->base, copy);
        if (a->bytes * a->n > 1) {
            LLVMValueRef aligned = LLVMBuildNot(j->b, is_misaligned(j, a, address), "");
            fits = fits ? LLVMBuildAnd(j->b, fits, aligned, "") : aligned;
        }
    }
    if (fits)
        access_either(j, a, copy, fits, address, v);
    else
        access_run(j, a, copy, address, v);
}

/* Addresses that thread indexes alone tell apart are consecutive more often than not (an exchange at a distance, a row of a
 * tile), though it shows only at run time. False if it is not worth asking. */
static bool access_computed(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef *v)
{
    struct jit_split s = {.scale = 1};
    bool is_split = a->space != PT_SPACE_SHARED && jit_split_address(j, a->base, &s);
    if (a->space == PT_SPACE_LOCAL || !jit_is_computed(j, a->base) || a->bytes * a->n % s.scale)
        return false;
    uint64_t stride = a->bytes * a->n / s.scale;
    LLVMValueRef lanes = is_split ? jit_read(j, s.index, copy, PT_u32, j->width, false)
                                  : address_of(j, a, copy, j->width);
    lanes = LLVMBuildFreeze(j->b, lanes, ""); /* lanes that are off may hold nothing */
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(lanes));
    LLVMValueRef first = LLVMBuildExtractElement(j->b, lanes, jit_i32(j, 0), "");
    LLVMValueRef run = LLVMBuildAdd(j->b, jit_splat(j, first), jit_steps(j, type, (int64_t)stride), "");
    LLVMValueRef is_run = jit_all(j, LLVMBuildICmp(j->b, LLVMIntEQ, lanes, run, ""));
    /* and none wraps round */
    uint64_t top = UINT64_MAX >> (64 - LLVMGetIntTypeWidth(type)) >> s.is_signed;
    LLVMValueRef last = LLVMConstInt(type, top - stride * (j->width - 1), false);
    LLVMValueRef fits = LLVMBuildICmp(j->b, s.is_signed ? LLVMIntSLE : LLVMIntULE, first, last, "");
    if (is_split) {
        LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
        first = LLVMBuildIntCast2(j->b, first, i64, s.is_signed, "");
        first = LLVMBuildMul(j->b, first, jit_i64(j, s.scale), "");
        first = LLVMBuildAdd(j->b, first, jit_read(j, s.base, copy, PT_u64, 1, false), "");
        first = LLVMBuildAdd(j->b, first, jit_i64(j, (uint64_t)a->base->imm), "");
    }
    is_run = LLVMBuildAnd(j->b, is_run, fits, "");
    is_run = LLVMBuildAnd(j->b, is_run, LLVMBuildNot(j->b, is_misaligned(j, a, first), ""), "");
    access_either(j, a, copy, is_run, first, v);
    return true;
}

/* ---- one address ----------------------------------------------------------------------------- */

static void load_one(struct jit *j, const struct access *a, unsigned copy, LLVMValueRef *v)
{
    LLVMValueRef pointer;
    if (a->space == PT_SPACE_PARAM) {
        pointer = parameter(j, a);
    } else {
        LLVMValueRef address = address_of(j, a, copy, 1);
        check_one(j, a, address);
        pointer = pointer_of(j, a, address);
    }
    unsigned align = a->space == PT_SPACE_PARAM ? 1 : a->bytes;
    for (unsigned i = 0; i < a->n; i++)
        v[i] = load(j, a, a->element, element_at(j, a, pointer, i), align);
}

/* i1: a lane of the copy runs the instruction; NULL: surely. */
static LLVMValueRef runs_at_all(struct jit *j, unsigned copy)
{
    bool is_sure = !j->mask[copy] || (!j->insn->guard && j->copies == 1);
    return is_sure ? NULL : jit_any(j, j->mask[copy]);
}

/* The same of all copies. Some lane runs the block. */
static LLVMValueRef runs_in_group(struct jit *j)
{
    LLVMValueRef any = j->guard;
    struct pt_operand guard = {.kind = PT_OPND_REG, .index = j->insn->guard};
    if (!j->insn->guard || !jit_is_per_copy(j, &guard))
        return any;
    any = jit_any(j, j->mask[0]);
    for (unsigned u = 1; u < j->copies; u++)
        any = LLVMBuildOr(j->b, any, jit_any(j, j->mask[u]), "");
    return any;
}

/* A block that runs only where `condition` holds; NULL where there is none. */
static LLVMBasicBlockRef begin_if(struct jit *j, LLVMValueRef condition)
{
    if (!condition)
        return NULL;
    LLVMBasicBlockRef run = jit_new_block(j, "one"), after = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, condition, run, after);
    jit_continue_in(j, run);
    return after;
}

/* One address, if `condition` (NULL: in any case) holds. */
static void load_uniform(struct jit *j, const struct access *a, unsigned copy,
                         LLVMValueRef condition, LLVMValueRef *v)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(j->b);
    LLVMBasicBlockRef after =
        a->is_constant && a->space == PT_SPACE_PARAM ? NULL : begin_if(j, condition);
    load_one(j, a, copy, v);
    if (!after)
        return;
    LLVMBasicBlockRef run = LLVMGetInsertBlock(j->b);
    LLVMBuildBr(j->b, after);
    jit_continue_in(j, after);
    for (unsigned i = 0; i < a->n; i++) {
        LLVMValueRef values[] = {v[i], LLVMConstNull(a->element)};
        LLVMBasicBlockRef blocks[] = {run, before};
        v[i] = LLVMBuildPhi(j->b, a->element, "");
        LLVMAddIncoming(v[i], values, blocks, 2);
    }
}

/* The highest lane of the mask: the one whose value stays where all lanes store to one address. */
static LLVMValueRef last_lane(struct jit *j, LLVMValueRef mask)
{
    if (!mask)
        return jit_i32(j, j->width - 1);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    LLVMValueRef bits =
        LLVMBuildBitCast(j->b, mask, LLVMIntTypeInContext(j->context, j->width), "");
    bits = LLVMBuildZExtOrBitCast(j->b, bits, i32, "");
    LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(j->context), 1, false)};
    LLVMValueRef zeros = jit_intrinsic(j, "llvm.ctlz", i32, args, 2);
    return LLVMBuildSub(j->b, jit_i32(j, 31), zeros, "");
}

static void store_uniform(struct jit *j, const struct access *a, unsigned copy)
{
    LLVMBasicBlockRef after = begin_if(j, runs_at_all(j, copy));
    LLVMValueRef address = address_of(j, a, copy, 1);
    check_one(j, a, address);
    LLVMValueRef pointer = pointer_of(j, a, address);
    for (unsigned i = 0; i < a->n; i++) {
        int64_t stride;
        bool is_one = jit_shape_of(j, &a->values[i], &stride) == JIT_SCALAR;
        LLVMValueRef value =
            jit_read(j, &a->values[i], copy, a->type, is_one ? 1 : j->width, false);
        if (!is_one)
            value = LLVMBuildExtractElement(j->b, value, last_lane(j, j->mask[copy]), "");
        store(j, a, value, element_at(j, a, pointer, i));
    }
    if (after) {
        LLVMBuildBr(j->b, after);
        jit_continue_in(j, after);
    }
}

/* ---- the instruction ------------------------------------------------------------------------- */

static LLVMValueRef as_stored(struct jit *j, const struct access *a, LLVMValueRef value)
{
    return LLVMBuildBitCast(j->b, value, LLVMVectorType(a->element, j->width), "");
}

static void access_chunk(struct jit *j, const struct access *a, unsigned copy)
{
    int64_t stride;
    enum jit_shape shape = jit_shape_of(j, a->base, &stride);
    LLVMValueRef v[8] = {0};
    if (a->space == PT_SPACE_LOCAL)
        shape = JIT_VECTOR; /* the lanes' windows lie apart */
    if (shape == JIT_SCALAR && !a->is_load) {
        store_uniform(j, a, copy);
        return;
    }
    for (unsigned i = 0; !a->is_load && i < a->n; i++)
        v[i] = as_stored(j, a, jit_read(j, &a->values[i], copy, a->type, j->width, false));
    if (shape == JIT_SCALAR)
        load_uniform(j, a, copy, runs_at_all(j, copy), v);
    else if (shape == JIT_AFFINE && (stride == (int64_t)(a->bytes * a->n) ||
                                     (!j->mask[copy] && is_near(j, a, stride))))
        access_affine(j, a, copy, v);
    else if (shape != JIT_VECTOR || !access_computed(j, a, copy, v))
        access_any(j, a, copy, v);
    for (unsigned i = 0; a->is_load && i < a->n; i++)
        jit_write(j, &a->values[i], copy, a->type, v[i], shape == JIT_SCALAR ? 1 : j->width,
                  a->extends_sign);
}

/* A load from one address for the group. */
static bool is_shared(const struct jit *j, const struct access *a)
{
    int64_t stride;
    return a->is_load && a->space != PT_SPACE_LOCAL &&
           jit_shape_of(j, a->base, &stride) == JIT_SCALAR && !jit_is_per_copy(j, a->base);
}

static void load_shared(struct jit *j, const struct access *a)
{
    LLVMValueRef v[8];
    load_uniform(j, a, 0, runs_in_group(j), v);
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned u = 0; u < (jit_is_per_copy(j, &a->values[i]) ? j->copies : 1); u++)
            jit_write(j, &a->values[i], u, a->type, v[i], 1, a->extends_sign);
}

bool jit_test_access(struct jit *j, const uint64_t *written, LLVMValueRef *test)
{
    struct access a;
    int64_t stride;
    if ((j->form->effects & PT_FX_ATOMIC) || !(j->form->effects & (PT_FX_READ | PT_FX_WRITE)))
        return false;
    const char *why = j->why;
    if (!describe(j, &a)) {
        j->why = why;
        return false;
    }
    enum jit_shape shape = jit_shape_of(j, a.base, &stride);
    bool is_run = shape == JIT_AFFINE &&
                  (stride == (int64_t)(a.bytes * a.n) || is_near(j, &a, stride));
    if (a.space == PT_SPACE_PARAM || a.space == PT_SPACE_LOCAL || !(is_run || shape == JIT_SCALAR) ||
        (a.base->kind == PT_OPND_REG && jit_set_has(written, a.base->index)))
        return false;
    for (unsigned u = 0; u < (jit_is_per_copy(j, a.base) ? j->copies : 1); u++) {
        LLVMValueRef bad = is_misaligned(j, &a, address_of(j, &a, u, 1));
        LLVMValueRef good = LLVMBuildNot(j->b, bad, ""), fits = jit_fits(j, a.base, u);
        good = fits ? LLVMBuildAnd(j->b, good, fits, "") : good;
        *test = *test ? LLVMBuildAnd(j->b, *test, good, "") : good;
    }
    return true;
}

/* Nothing that the order concerns is moved across by LLVM, or by the machine. */
static void fence(struct jit *j, LLVMAtomicOrdering order, bool only_here)
{
    LLVMBuildFence(j->b, order, only_here, "");
}

static void access_copies(struct jit *j, const struct access *a)
{
    if (is_shared(j, a)) {
        load_shared(j, a);
        return;
    }
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        access_chunk(j, a, u);
}

bool jit_memory(struct jit *j)
{
    struct access a;
    if (!describe(j, &a))
        return false;
    if (a.order == PT_ORDER_PLAIN) {
        access_copies(j, &a);
        return true;
    }
    bool acquires = pt_order_acquires(a.order), releases = pt_order_releases(a.order);
    fence(j, releases ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquireRelease, !releases);
    access_copies(j, &a);
    fence(j, acquires ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingAcquireRelease, !acquires);
    return true;
}
