/* One ld or st: what it accesses, where, and the loads and stores that it is made of. */
#include "backend/jit/memory/access.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/analysis/def_use.h"
#include "backend/jit/analysis/local_memory.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/lane_offsets.h"
#include "backend/jit/value/local_window.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/symbol.h"
#include "backend/jit/value/visit.h"
#include "backend/order.h"

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

/* The value comes from a load of constants, or from where it goes. */
static bool gives_back(const struct jit *j, const struct jit_access *a,
                       const struct pt_operand *value)
{
    uint32_t only = value->kind == PT_OPND_REG ? j->facts->regs[value->index].only : UINT32_MAX;
    if (only == UINT32_MAX)
        return false;
    const struct pt_insn *def = &j->unit->f->insns.v[only];
    const struct pt_form *form = pt_insn_form(j->unit->m, def);
    if (!is_load_or_store(form))
        return false;
    const struct pt_operand *from =
        &j->unit->f->operands.v[j->unit->f->operands.v[def->operands + 1].index];
    bool is_const_symbol =
        from->kind == PT_OPND_SYM && j->unit->m->symbols.v[from->index].space == PT_SPACE_CONST;
    return is_const_symbol || pt_form_space(form) == PT_SPACE_CONST ||
           (from->kind == a->base->kind && from->index == a->base->index &&
            from->imm == a->base->imm);
}

bool jit_access_names(const struct jit *j, const struct pt_operand *base, enum pt_space space)
{
    return base->kind == PT_OPND_SYM && !(base->flags & PT_OPND_GENERIC) &&
           j->unit->m->symbols.v[base->index].space == space;
}

/* Loads of parameters are not tested for alignment. */
static bool is_misaligned_parameter(const struct jit *j, const struct jit_access *a)
{
    return a->space == PT_SPACE_PARAM &&
           (j->unit->m->symbols.v[a->base->index].offset + (uint64_t)a->base->imm) %
               (a->bytes * a->n);
}

/* Why it cannot be native, or NULL. */
static const char *describe(const struct jit *j, struct jit_access *a)
{
    if (!is_load_or_store(j->form))
        return j->form->spelling;
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    memset(a, 0, sizeof *a);
    a->is_load = j->form->effects & PT_FX_READ;
    a->type = (enum pt_type)j->form->type[0];
    a->bytes = pt_type_bits(a->type) / 8;
    a->space = pt_form_has(j->form, PT_M_param_func) ? PT_SPACE_LOCAL : pt_form_space(j->form);
    const struct pt_operand *value = &o[a->is_load ? 0 : 1], *mem = &o[a->is_load ? 1 : 0];
    a->n = value->kind == PT_OPND_VEC ? (unsigned)value->imm : 1;
    a->base = &j->unit->f->operands.v[mem->index];
    a->extends_sign = pt_type_class(a->type) == PT_CLASS_S;
    if (a->base->kind == PT_OPND_SYM &&
        j->unit->m->symbols.v[a->base->index].space == PT_SPACE_LOCAL)
        a->space = PT_SPACE_LOCAL; /* ld.param and st.param of arguments */
    if (a->space == PT_SPACE_GENERIC && jit_access_names(j, a->base, PT_SPACE_SHARED))
        a->space = PT_SPACE_SHARED;
    if (a->base->kind == PT_OPND_REG && (a->space == PT_SPACE_PARAM || a->space == PT_SPACE_CONST))
        a->window = a->space;
    if (a->window == PT_SPACE_PARAM)
        a->space = PT_SPACE_GENERIC;
    a->is_constant = a->space == PT_SPACE_CONST || a->space == PT_SPACE_PARAM;
    a->was_generic = jit_local_memory_was_generic(j->facts, j->insn);
    a->order = pt_order_of(j->form);
    if (a->base->kind == PT_OPND_FUNC ||
        (a->space == PT_SPACE_PARAM && a->base->kind != PT_OPND_SYM) ||
        is_misaligned_parameter(j, a))
        return "an access of this kind";
    for (unsigned i = 0; i < a->n; i++)
        a->values[i] =
            value->kind == PT_OPND_VEC ? j->unit->f->operands.v[value->index + i] : *value;
    for (unsigned i = 0; !a->is_load && i < a->n; i++)
        a->gives_back |= gives_back(j, a, &a->values[i]);
    a->element = LLVMIntTypeInContext(j->code->context, a->bytes * 8);
    return NULL;
}

bool jit_access_describe(const struct jit *j, struct jit_access *a)
{
    const char *why = describe(j, a);
    return !why || jit_refuse(j->unit, why);
}

bool jit_access_try_describe(const struct jit *j, struct jit_access *a)
{
    return !describe(j, a);
}

const struct pt_operand *jit_access_base_of(const struct jit *j, uint32_t insn)
{
    struct jit_access a;
    struct jit at = *j;
    jit_visit_insn(&at, insn);
    jit_access_describe(&at, &a);
    return a.base;
}

bool jit_access_describe_place(const struct jit *j, const struct pt_operand *mem,
                               enum pt_space space, unsigned bytes, struct jit_access *a)
{
    *a = (struct jit_access){.bytes = bytes, .n = 1, .space = space, .order = PT_ORDER_PLAIN};
    a->base = &j->unit->f->operands.v[mem->index];
    enum pt_space of = space;
    if (a->base->kind == PT_OPND_SYM)
        of = (enum pt_space)j->unit->m->symbols.v[a->base->index].space;
    if (a->base->kind == PT_OPND_FUNC || of == PT_SPACE_LOCAL || of == PT_SPACE_PARAM)
        return jit_refuse(j->unit, "an access of this kind");
    return true;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Bits an address has in its space: a shared address is an offset in the cluster's 4 GiB. */
static enum pt_type address_type(const struct jit_access *a)
{
    return a->space == PT_SPACE_SHARED ? PT_u32 : PT_u64;
}

/* Lanes of an address, from an index that is kept as an origin and offsets: where they are not
 * needed, which is mostly, nothing but those is computed. NULL: it is not made so. */
static LLVMValueRef address_of_parts(const struct jit *j, const struct jit_access *a, unsigned copy)
{
    struct jit_split s;
    LLVMValueRef origin, offsets;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    if (address_type(a) != PT_u64 ||
        !jit_address_form_split(j->facts, j->insn, j->block, a->base, &s) ||
        !jit_lane_offsets_find(j, s.index, copy, &origin, &offsets))
        return NULL;
    LLVMTypeRef type = LLVMVectorType(i64, j->unit->width);
    LLVMValueRef index = jit_registers_read(j, s.index, copy, PT_u32, j->unit->width, false);
    index = LLVMBuildIntCast2(j->code->b, index, type, s.is_signed, "");
    index = LLVMBuildMul(j->code->b, index, jit_const(type, s.scale), "");
    return LLVMBuildAdd(j->code->b, index,
                        jit_registers_read(j, s.base, copy, PT_u64, j->unit->width, false), "");
}

LLVMValueRef jit_access_from_window(const struct jit *j, const struct jit_access *a,
                                    LLVMValueRef address)
{
    if (a->window == PT_SPACE_GENERIC)
        return address;
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind;
    LLVMValueRef window = jit_symbol_window(j, a->window);
    return LLVMBuildAdd(j->code->b, address, is_vector ? jit_splat(j, window) : window, "");
}

LLVMValueRef jit_access_address(const struct jit *j, const struct jit_access *a, unsigned copy,
                                unsigned lanes)
{
    LLVMValueRef base = lanes > 1 ? address_of_parts(j, a, copy) : NULL;
    if (a->base->kind != PT_OPND_REG)
        return jit_registers_read_place(j, a->base, address_type(a), lanes);
    base = base ? base : jit_registers_read(j, a->base, copy, address_type(a), lanes, false);
    base = jit_access_from_window(j, a, base);
    if (!a->base->imm)
        return base;
    return LLVMBuildAdd(j->code->b, base, jit_const(LLVMTypeOf(base), (uint64_t)a->base->imm), "");
}

LLVMValueRef jit_access_indexed(const struct jit *j, LLVMValueRef base, LLVMValueRef index,
                                uint64_t scale, bool is_signed)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef element = LLVMIntTypeInContext(j->code->context, (unsigned)scale * 8);
    if (!is_signed) {
        index =
            LLVMBuildXor(j->code->b, index, jit_const(LLVMTypeOf(index), UINT32_C(1) << 31), "");
        base = jit_at(j, base, jit_i64(j, (UINT64_C(1) << 31) * scale));
    }
    index = LLVMBuildSExt(j->code->b, index, LLVMVectorType(i64, j->unit->width), "");
    return LLVMBuildGEP2(j->code->b, element, base, &index, 1, "");
}

LLVMValueRef jit_access_pointer(const struct jit *j, const struct jit_access *a,
                                LLVMValueRef address)
{
    LLVMTypeRef type = LLVMTypeOf(address), i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (a->space == PT_SPACE_SHARED && is_vector)
        return jit_access_indexed(j, j->code->shared, address, 1, false);
    if (a->space == PT_SPACE_SHARED)
        return jit_at(j, j->code->shared, LLVMBuildZExt(j->code->b, address, i64, ""));
    if (is_vector)
        pointer = LLVMVectorType(pointer, j->unit->width);
    return LLVMBuildIntToPtr(j->code->b, address, pointer, "");
}

LLVMValueRef jit_access_parameter(const struct jit *j, const struct jit_access *a)
{
    const struct pt_symbol *s = &j->unit->m->symbols.v[a->base->index];
    return jit_at(j, j->code->params, jit_i64(j, s->offset + (uint64_t)a->base->imm));
}

/* ---- misaligned addresses -------------------------------------------------------------------- */

/* What is as aligned as the address: without an offset that does not count, so that tests of one
 * base are one. */
static LLVMValueRef without_offset(LLVMValueRef address, unsigned align)
{
    bool is_sum = LLVMIsAInstruction(address) && LLVMGetInstructionOpcode(address) == LLVMAdd;
    LLVMValueRef offset = is_sum ? LLVMGetOperand(address, 1) : NULL;
    bool is_whole =
        offset && LLVMIsAConstantInt(offset) && LLVMConstIntGetZExtValue(offset) % align == 0;
    return is_whole ? LLVMGetOperand(address, 0) : address;
}

/* Where masks are vectors their lanes have 32 bits: a test of addresses of 64 bits would have to be
 * brought to that form, in more instructions than the test itself. */
static LLVMValueRef low_half(const struct jit *j, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMTypeOf(address);
    if (j->unit->cpu->has_mask_registers || LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return address;
    return LLVMBuildTruncOrBitCast(j->code->b, address,
                                   jit_int_type(j, 32, LLVMGetVectorSize(type)), "");
}

LLVMValueRef jit_access_misaligned(const struct jit *j, const struct jit_access *a,
                                   LLVMValueRef address)
{
    unsigned align = a->bytes * a->n;
    LLVMValueRef low = low_half(j, without_offset(address, align));
    LLVMTypeRef type = LLVMTypeOf(low);
    low = LLVMBuildAnd(j->code->b, low, jit_const(type, align - 1), "");
    return LLVMBuildICmp(j->code->b, LLVMIntNE, low, LLVMConstNull(type), "");
}

bool jit_access_is_trusted(const struct jit *j)
{
    return j->trusted && jit_set_has(j->trusted, (uint32_t)(j->insn - j->unit->f->insns.v));
}

bool jit_access_is_distrusted(const struct jit *j)
{
    return j->distrusted && jit_set_has(j->distrusted, (uint32_t)(j->insn - j->unit->f->insns.v));
}

void jit_access_check_one(const struct jit *j, const struct jit_access *a, unsigned copy,
                          LLVMValueRef address)
{
    if (a->bytes * a->n == 1 || jit_access_is_trusted(j))
        return;
    struct jit_blame who = {.first = copy};
    who.n = jit_def_use_is_per_copy(j->facts, a->base) ? 1 : j->facts->copies - copy;
    for (unsigned i = 0; i < who.n; i++)
        who.lanes[i] = j->mask[copy + i];
    jit_fault_raise_if(j, jit_access_misaligned(j, a, address), PT_FAULT_MISALIGNED, &who);
}

/* Offsets in the window that are known, of variables of the kernel: no smaller window is given to
 * native code. */
static bool is_in_variables(const struct jit *j, const struct jit_access *a, LLVMValueRef offsets)
{
    for (unsigned lane = 0; LLVMIsConstant(offsets) && lane < j->unit->width; lane++) {
        LLVMValueRef offset = LLVMGetAggregateElement(offsets, lane);
        uint64_t bytes = (uint64_t)a->bytes * a->n, size = j->unit->f->local_size;
        if (!offset || !LLVMIsAConstantInt(offset) || size < bytes ||
            LLVMConstIntGetZExtValue(offset) > size - bytes)
            return false;
    }
    return LLVMIsConstant(offsets);
}

LLVMValueRef jit_access_in_window(const struct jit *j, const struct jit_access *a, unsigned copy,
                                  LLVMValueRef offsets)
{
    LLVMValueRef addresses = LLVMBuildAdd(j->code->b, offsets, jit_local_window_begin(j, copy), "");
    if (a->was_generic || is_in_variables(j, a, offsets))
        return addresses;
    LLVMValueRef bad = jit_local_window_leaves(j, offsets, (uint64_t)a->bytes * a->n);
    if (j->mask[copy])
        bad = LLVMBuildAnd(j->code->b, bad, j->mask[copy], "");
    jit_fault_raise_if_lanes(j, PT_FAULT_BEYOND_LOCAL, copy, bad,
                             jit_access_pointer(j, a, addresses));
    return addresses;
}

void jit_access_check_all(const struct jit *j, const struct jit_access *a, unsigned copy,
                          LLVMValueRef addresses, LLVMValueRef mask)
{
    if (a->bytes * a->n == 1)
        return;
    LLVMValueRef bad = jit_access_misaligned(j, a, addresses);
    if (LLVMIsNull(bad))
        return;
    bad = mask ? LLVMBuildAnd(j->code->b, bad, mask, "") : bad;
    jit_fault_raise_if_lanes(j, PT_FAULT_MISALIGNED, copy, bad, NULL);
}

/* ---- accesses -------------------------------------------------------------------------------- */

LLVMValueRef jit_access_element(const struct jit *j, const struct jit_access *a,
                                LLVMValueRef pointer, unsigned i)
{
    return i ? jit_at(j, pointer, jit_i64(j, (uint64_t)i * a->bytes)) : pointer;
}

/* Accesses with an order do not tear: of one element by what LLVM promises; of vectors by the
 * machine, as each element is aligned. */
static void make_whole(const struct jit_access *a, LLVMValueRef access, LLVMTypeRef type)
{
    if (a->order == PT_ORDER_PLAIN)
        return;
    LLVMSetVolatile(access, true);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind && a->bytes <= 8)
        LLVMSetOrdering(access, LLVMAtomicOrderingMonotonic);
}

LLVMValueRef jit_access_load(const struct jit *j, const struct jit_access *a, LLVMTypeRef type,
                             LLVMValueRef pointer, unsigned align)
{
    LLVMValueRef value = LLVMBuildLoad2(j->code->b, type, pointer, "");
    LLVMSetAlignment(value, align);
    make_whole(a, value, type);
    if (a->is_constant)
        jit_set_invariant(j, value);
    return value;
}

void jit_access_store(const struct jit *j, const struct jit_access *a, LLVMValueRef value,
                      LLVMValueRef pointer)
{
    LLVMValueRef access = LLVMBuildStore(j->code->b, value, pointer);
    LLVMSetAlignment(access, a->bytes);
    LLVMSetVolatile(access, a->gives_back);
    make_whole(a, access, LLVMTypeOf(value));
}

/* Up to LLVM 21 the alignment is an argument of its own behind the pointer, then an attribute of
 * the pointer. */
LLVMValueRef jit_access_masked(const struct jit *j, const char *name, LLVMTypeRef types[2],
                               LLVMValueRef args[3], unsigned pointer, unsigned align)
{
    LLVMValueRef all[4];
    unsigned n = 0, id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(j->code->module, id, types, 2);
    for (unsigned i = 0; i < 3; i++) {
        all[n++] = args[i];
        if (i == pointer && LLVM_VERSION_MAJOR < 22)
            all[n++] = jit_i32(j, align);
    }
    LLVMValueRef call = LLVMBuildCall2(j->code->b, LLVMGlobalGetValueType(f), f, all, n, "");
    if (LLVM_VERSION_MAJOR >= 22)
        /* tested before, or lanes are off */
        LLVMSetInstrParamAlignment(jit_check_proven(j->code, call, "arguments"), pointer + 1,
                                   align);
    return call;
}

/* ---- one of several ways --------------------------------------------------------------------- */

void jit_access_begin_ways(const struct jit *j, const struct jit_access *a, struct jit_ways *ways)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(j->code->b);
    LLVMTypeRef type = LLVMVectorType(a->element, j->unit->width);
    *ways = (struct jit_ways){.after = jit_new_block(j, ""), .n = a->is_load ? a->n : 0};
    jit_continue_in(j, ways->after);
    for (unsigned i = 0; i < ways->n; i++)
        ways->loaded[i] = LLVMBuildPhi(j->code->b, type, "");
    jit_continue_in(j, here);
}

void jit_access_end_way(const struct jit *j, struct jit_ways *ways, LLVMValueRef *v)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(j->code->b);
    for (unsigned i = 0; i < ways->n; i++)
        LLVMAddIncoming(ways->loaded[i], &v[i], &here, 1);
    LLVMBuildBr(j->code->b, ways->after);
}

void jit_access_end_way_mostly(const struct jit *j, struct jit_ways *ways, LLVMValueRef condition,
                               LLVMBasicBlockRef rare, LLVMValueRef *v)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(j->code->b);
    for (unsigned i = 0; i < ways->n; i++)
        LLVMAddIncoming(ways->loaded[i], &v[i], &here, 1);
    jit_branch_mostly(j, LLVMBuildNot(j->code->b, condition, ""), ways->after, rare);
}

void jit_access_join_ways(const struct jit *j, const struct jit_ways *ways, LLVMValueRef *v)
{
    jit_continue_in(j, ways->after);
    for (unsigned i = 0; i < ways->n; i++)
        v[i] = ways->loaded[i];
}

/* Lane by lane, without branches: lanes that are off touch memory that nobody reads. */
static LLVMValueRef address_or_nowhere(const struct jit *j, const struct jit_access *a,
                                       LLVMValueRef addresses, LLVMValueRef mask)
{
    LLVMValueRef nowhere;
    if (!mask)
        return addresses;
    if (a->space == PT_SPACE_SHARED)
        nowhere = jit_i32(j, PT_SHARED_BASE - 64); /* of the reserved kilobyte */
    else
        nowhere = LLVMBuildPtrToInt(j->code->b, jit_nowhere(j),
                                    LLVMInt64TypeInContext(j->code->context), "");
    return LLVMBuildSelect(j->code->b, mask, addresses, jit_splat(j, nowhere), "");
}

void jit_access_lane_pointers(const struct jit *j, const struct jit_access *a, unsigned copy,
                              LLVMValueRef addresses, LLVMValueRef *pointers)
{
    addresses = address_or_nowhere(j, a, addresses, j->mask[copy]);
    for (unsigned lane = 0; lane < j->unit->width; lane++)
        pointers[lane] = jit_access_pointer(j, a, jit_lane(j, addresses, lane));
}

const struct jit_interleaved *jit_access_interleaved(const struct jit *j)
{
    uint32_t insn = (uint32_t)(j->insn - j->unit->f->insns.v);
    for (const struct jit_interleaved *join = j->interleaved; join; join = join->next)
        for (unsigned i = 0; i < join->n; i++)
            if (join->insns[i] == insn)
                return join;
    return NULL;
}
