/* Accesses of checked launches: is the memory the kernel's? Before an access its addresses are
 * compared with the extent that accesses through the same pointer lay in, which is kept in
 * variables of the function. Where one is not in there, or misaligned, cold code asks the
 * interpreter's checker (jit_help_check): it says what is wrong, and gives the extent that the
 * addresses do lie in. Then the access goes on.
 *
 * A group is a warp in checked code, and its accesses come in the order in which the interpreter
 * has them, so that both find the same first.
 */
#include "backend/jit/memory/mem_check.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/atomic_op.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/local_window.h"
#include "backend/jit/value/registers.h"
#include "backend/jit/value/visit.h"

/* ---- extents --------------------------------------------------------------------------------- */

/* What an address is made of: offsets, and something that all accesses of one allocation share. */
struct pointer {
    const struct pt_operand *o;
    /* how likely it is one */
    enum { IS_OFFSET, MAY_BE, WAS_LOADED, IS_POINTER } rank;
};

static struct pointer pointer_of(const struct jit_facts *a, const struct pt_operand *o,
                                 unsigned depth)
{
    enum { DEEPEST = 8 }; /* both operands of sums are looked at */
    uint32_t only = o->kind == PT_OPND_REG ? a->regs[o->index].only : UINT32_MAX;
    const struct pt_insn *def = only == UINT32_MAX ? NULL : &a->unit->f->insns.v[only];
    const struct pt_operand *d = def ? &a->unit->f->operands.v[def->operands] : NULL;
    const struct pt_form *form = def ? pt_insn_form(a->unit->m, def) : NULL;
    struct pointer x, y;
    if (!def || depth == DEEPEST)
        return (struct pointer){o, o->kind == PT_OPND_SYM   ? IS_POINTER
                                   : o->kind == PT_OPND_IMM ? IS_OFFSET
                                                            : MAY_BE};
    switch (form->op) {
    case PT_OP_mov:
    case PT_OP_mov_addr:
    case PT_OP_sub_int:
        return pointer_of(a, &d[1], depth + 1);
    case PT_OP_cvta:
    case PT_OP_cvta_to:
        x = pointer_of(a, &d[1], depth + 1);
        return (struct pointer){x.o, IS_POINTER};
    case PT_OP_add_int:
        x = pointer_of(a, &d[1], depth + 1);
        y = pointer_of(a, &d[2], depth + 1);
        return y.rank > x.rank ? y : x;
    case PT_OP_mad_lo:
    case PT_OP_mad_wide:
        return pointer_of(a, &d[3], depth + 1);
    default:
        return (struct pointer){o, form->effects & PT_FX_READ ? WAS_LOADED : IS_OFFSET};
    }
}

static bool is_same(const struct jit_checked_extent *e, const struct jit_checked_extent *f)
{
    return e->pointer->kind == f->pointer->kind && e->pointer->index == f->pointer->index &&
           e->pointer->imm == f->pointer->imm && e->origin == f->origin &&
           e->is_write == f->is_write && e->is_global == f->is_global;
}

static uint32_t origin_of(const struct jit *j)
{
    return pt_origin_of(j->code->checked.origins, j->insn);
}

/* The variable in `space` that the access's address is made of, or NULL. */
static const struct pt_symbol *variable_in(const struct jit *j, enum pt_space space)
{
    const struct pt_symbol *s = pt_origin_variable(j->unit->m, origin_of(j));
    return s && s->space == space ? s : NULL;
}

static struct jit_checked_extent key_of(const struct jit *j, const struct jit_access *a)
{
    return (struct jit_checked_extent){.pointer = pointer_of(j->facts, a->base, 0).o,
                                       .origin = origin_of(j),
                                       .is_write = j->form->effects & PT_FX_WRITE,
                                       .is_global = pt_form_space(j->form) == PT_SPACE_GLOBAL};
}

/* A variable of the function, zero where it begins. */
static LLVMValueRef new_variable(const struct jit *j, const char *name)
{
    LLVMValueRef variable = jit_alloca(j, LLVMInt64TypeInContext(j->code->context), name);
    LLVMBuildStore(j->code->b, jit_i64(j, 0), variable);
    return variable;
}

/* The index of the extent for the access. Those for which there is no room share one. */
static uint32_t index_of(const struct jit *j, const struct jit_access *a)
{
    struct jit_checked *c = &j->code->checked;
    struct jit_checked_extent mine = key_of(j, a);
    for (uint32_t i = 0; i < c->n; i++)
        if (is_same(&c->extents[i], &mine))
            return i;
    if (c->n == JIT_CHECKED_EXTENTS)
        return mine.pointer->index % c->n;
    mine.first = new_variable(j, "first");
    mine.bytes = new_variable(j, "bytes");
    c->extents[c->n] = mine;
    return c->n++;
}

static struct jit_checked_extent *extent_of(const struct jit *j)
{
    struct jit_checked *c = &j->code->checked;
    return &c->extents[c->of[j->insn - j->unit->f->insns.v]];
}

static bool describe(const struct jit *j, struct jit_access *a)
{
    struct jit_atomic atomic;
    if (!(j->form->effects & PT_FX_ATOMIC))
        return jit_access_try_describe(j, a);
    if (!jit_atomic_op_describe(j, &atomic))
        return false;
    *a = (struct jit_access){.base = atomic.base,
                             .bytes = atomic.bytes,
                             .n = atomic.n,
                             .space = atomic.is_shared ? PT_SPACE_SHARED : PT_SPACE_GENERIC};
    return true;
}

static bool stays_in(const struct pt_symbol *variable, const struct jit_access *a)
{
    uint64_t at = (uint64_t)a->base->imm, bytes = (uint64_t)a->bytes * a->n;
    return a->base->kind == PT_OPND_SYM && at <= variable->size && bytes <= variable->size - at;
}

/* What native code has no access for is no matter here: the compile ends there. */
static bool is_checked(const struct jit *j, struct jit_access *a)
{
    bool is_access = j->form->effects & (PT_FX_READ | PT_FX_WRITE);
    bool is_other = j->form->effects & (PT_FX_CALL | PT_FX_WARP);
    if (!is_access || is_other || !describe(j, a))
        return false;
    const struct pt_symbol *variable = variable_in(j, PT_SPACE_LOCAL);
    if (a->space == PT_SPACE_LOCAL) /* those that leave the window tell by themselves */
        return a->was_generic || (variable && !stays_in(variable, a));
    uint64_t all = j->unit->f->param_size, bytes = (uint64_t)a->bytes * a->n;
    if (a->space != PT_SPACE_PARAM)
        return true;
    uint64_t at = j->unit->m->symbols.v[a->base->index].offset + (uint64_t)a->base->imm;
    return at > all || bytes > all - at;
}

void jit_mem_check_begin(const struct jit *j)
{
    struct jit_checked *c = &j->code->checked;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    struct jit_access a;
    struct jit at = *j;
    if (!jit_is_checked(j->unit))
        return;
    c->origins = pt_origin_analyse(j->unit->m, j->unit->f, j->unit->arena);
    c->of = pt_arena_alloc(j->unit->arena, j->unit->f->insns.n);
    c->releases = new_variable(j, "releases");
    c->found = jit_alloca(j, LLVMArrayType2(i64, 2), "extent");
    c->addresses = jit_alloca(j, LLVMArrayType2(i64, PT_WARP_SIZE), "addresses");
    for (uint32_t i = 0; i < j->unit->f->insns.n; i++) {
        jit_visit_insn(&at, i);
        if (is_checked(&at, &a) && a.space != PT_SPACE_LOCAL && a.space != PT_SPACE_SHARED)
            c->of[i] = (uint8_t)index_of(&at, &a);
    }
}

void jit_mem_check_refresh(const struct jit *j)
{
    const struct jit_checked *c = &j->code->checked;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    if (!jit_is_checked(j->unit))
        return;
    LLVMValueRef now = jit_field(j, pointer, j->code->launch, offsetof(struct pt_launch, releases));
    now = LLVMBuildLoad2(j->code->b, i64, now, "");
    LLVMValueRef then = LLVMBuildLoad2(j->code->b, i64, c->releases, "");
    LLVMBasicBlockRef forget = jit_new_block(j, "forget"), on = jit_new_block(j, "");
    jit_branch_mostly(j, LLVMBuildICmp(j->code->b, LLVMIntEQ, now, then, ""), on, forget);
    jit_continue_in(j, forget);
    LLVMBuildStore(j->code->b, now, c->releases);
    for (uint32_t i = 0; i < c->n; i++)
        LLVMBuildStore(j->code->b, jit_i64(j, 0), c->extents[i].bytes);
    LLVMBuildBr(j->code->b, on);
    jit_continue_in(j, on);
}

/* ---- tests ----------------------------------------------------------------------------------- */

struct test {
    const struct jit *j;
    struct jit_access a;
    uint64_t size;                 /* of each lane's access */
    LLVMValueRef first, end;       /* its memory: an address, and the bytes where it may begin */
    struct jit_checked_extent *in; /* NULL: it is that of a window */
    LLVMValueRef one, many;        /* something is wrong: i1; lanes of copies together */
};

static LLVMValueRef less(const struct jit *j, LLVMValueRef n, uint64_t by)
{
    LLVMValueRef args[] = {n, jit_const(LLVMTypeOf(n), by)};
    return jit_intrinsic(j, "llvm.usub.sat", LLVMTypeOf(n), args, 2);
}

/* The first and the end are of the type of addresses in the space. */
static void bound_by(struct test *t, LLVMTypeRef type, uint64_t first, uint64_t size)
{
    t->first = jit_const(type, first);
    t->end = jit_const(type, size < t->size ? 0 : size - t->size + 1);
}

/* A CTA's own window of shared memory, or a variable in it. */
static void find_shared_bounds(struct test *t)
{
    const struct jit *j = t->j;
    const struct pt_symbol *variable = variable_in(j, PT_SPACE_SHARED);
    if (variable) {
        bound_by(t, jit_i32_of(j), j->unit->snapshot->shared[origin_of(j)], variable->size);
    } else {
        t->first = jit_i32(j, PT_SHARED_BASE);
        t->end = less(j, j->code->shared_bytes, PT_SHARED_BASE + t->size - 1);
    }
    if (j->unit->options->has_cluster)
        t->first = LLVMBuildAdd(
            j->code->b, t->first,
            jit_field(j, jit_i32_of(j), j->code->cta, offsetof(struct pt_cta, window)), "");
}

/* Those, a variable in the local window, or the extent of the pointer. */
static void find_bounds(struct test *t)
{
    const struct jit *j = t->j;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    const struct pt_symbol *variable = variable_in(j, PT_SPACE_LOCAL);
    if (t->a.space == PT_SPACE_SHARED) {
        find_shared_bounds(t);
    } else if (t->a.space != PT_SPACE_LOCAL) {
        t->in = extent_of(j);
        t->first = LLVMBuildLoad2(j->code->b, i64, t->in->first, "");
        t->end = less(j, LLVMBuildLoad2(j->code->b, i64, t->in->bytes, ""), t->size - 1);
    } else if (variable) {
        bound_by(t, i64, variable->offset, variable->size);
    }
}

static LLVMValueRef is_outside(const struct test *t, LLVMValueRef address)
{
    const struct jit *j = t->j;
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind;
    LLVMValueRef first = is_vector ? jit_splat(j, t->first) : t->first;
    LLVMValueRef end = is_vector ? jit_splat(j, t->end) : t->end;
    return LLVMBuildICmp(j->code->b, LLVMIntUGE, LLVMBuildSub(j->code->b, address, first, ""), end,
                         "");
}

static LLVMValueRef either(const struct jit *j, LLVMValueRef x, LLVMValueRef y)
{
    return !x ? y : !y ? x : LLVMBuildOr(j->code->b, x, y, "");
}

static LLVMValueRef is_misaligned(const struct test *t, LLVMValueRef address)
{
    return t->size > 1 ? jit_access_misaligned(t->j, &t->a, address) : NULL;
}

/* Lanes whose addresses are kept as one: of a group that they go on over, or of a chunk. */
static void test_row(struct test *t, unsigned copy, unsigned chunks, int64_t stride)
{
    const struct jit *j = t->j;
    LLVMValueRef low = jit_access_address(j, &t->a, copy, 1);
    t->one = either(j, t->one, either(j, is_outside(t, low), is_misaligned(t, low)));
    if (!stride)
        return;
    int64_t last = stride * (int64_t)(chunks * j->unit->width - 1);
    LLVMValueRef high =
        LLVMBuildAdd(j->code->b, low, jit_const(LLVMTypeOf(low), (uint64_t)last), "");
    t->one = either(j, t->one, is_outside(t, high));
    for (unsigned u = copy; u < copy + chunks; u++) {
        LLVMValueRef fits = jit_registers_fit(j, t->a.base, u);
        t->one = either(j, t->one, fits ? LLVMBuildNot(j->code->b, fits, "") : NULL);
    }
}

static LLVMValueRef local_offsets(const struct test *t, unsigned copy)
{
    return jit_access_address(t->j, &t->a, copy, t->j->unit->width);
}

static void test_lanes(struct test *t, unsigned copy)
{
    const struct jit *j = t->j;
    LLVMValueRef bad = NULL, address = local_offsets(t, copy);
    if (t->a.was_generic)
        bad = jit_local_window_leaves(j, address, t->size);
    if (t->first)
        bad = either(j, bad, is_outside(t, address));
    bad = either(j, bad, is_misaligned(t, address));
    if (j->mask[copy])
        bad = LLVMBuildAnd(j->code->b, bad, j->mask[copy], "");
    t->many = either(j, t->many, bad);
}

static bool is_row(const struct test *t, int64_t *stride)
{
    enum jit_shape shape = jit_def_use_shape(t->j->facts, t->a.base, stride);
    *stride = shape == JIT_SCALAR ? 0 : *stride;
    return t->a.space != PT_SPACE_LOCAL && shape != JIT_VECTOR && *stride % (int64_t)t->size == 0 &&
           !(t->j->form->effects & PT_FX_ATOMIC);
}

/* Returns whether lanes were tested as rows, be they on or not. */
static bool test_all(struct test *t)
{
    const struct jit *j = t->j;
    const struct pt_operand *base = t->a.base;
    int64_t stride;
    bool in_row = is_row(t, &stride);
    for (unsigned u = j->first_copy, n = 1; u < j->end_copy; u += n) {
        if (in_row && base->kind == PT_OPND_REG) {
            n = jit_def_use_copies_on(j->facts, base->index);
            n = u % n || u + n > j->end_copy ? 1 : n;
        } else if (in_row) {
            n = j->end_copy - u;
        }
        if (in_row)
            test_row(t, u, n, stride);
        else
            test_lanes(t, u);
    }
    if (t->many)
        t->one = either(j, t->one, jit_any(j, t->many));
    return in_row;
}

/* Something is wrong with a row: with lanes that are on? */
static void test_again(const struct test *row, LLVMBasicBlockRef on)
{
    const struct jit *j = row->j;
    struct test t = *row;
    bool is_partial = false;
    t.one = t.many = NULL;
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        is_partial |= j->mask[u] || jit_registers_fit(j, t.a.base, u);
    if (!is_partial)
        return;
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        test_lanes(&t, u);
    LLVMBasicBlockRef wrong = jit_new_block(j, "check");
    LLVMBuildCondBr(j->code->b, jit_any(j, t.many), wrong, on);
    jit_continue_in(j, wrong);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* Generic addresses of the copy's lanes. */
static LLVMValueRef generic(const struct test *t, unsigned copy)
{
    const struct jit *j = t->j;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef lanes = LLVMVectorType(i64, j->unit->width);
    if (t->a.space == PT_SPACE_PARAM)
        return jit_splat(j, LLVMBuildPtrToInt(j->code->b, jit_access_parameter(j, &t->a), i64, ""));
    LLVMValueRef address = jit_access_address(j, &t->a, copy, j->unit->width);
    if (t->a.space == PT_SPACE_LOCAL)
        return LLVMBuildAdd(j->code->b, address, jit_local_window_begin(j, copy), "");
    if (t->a.space != PT_SPACE_SHARED)
        return address;
    LLVMValueRef shared = LLVMBuildPtrToInt(j->code->b, j->code->shared, i64, "");
    return LLVMBuildAdd(j->code->b, LLVMBuildZExt(j->code->b, address, lanes, ""),
                        jit_splat(j, shared), "");
}

static LLVMValueRef call(const struct test *t)
{
    const struct jit *j = t->j;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, pointer, i64, i64, i64, pointer, pointer, pointer};
    struct jit_blame who = {.first = j->first_copy, .n = j->end_copy - j->first_copy};
    unsigned width = j->unit->width;
    for (unsigned i = 0; i < who.n; i++) {
        who.lanes[i] = j->mask[who.first + i];
        LLVMValueRef to = jit_at(j, j->code->checked.addresses, jit_i64(j, i * width * 8));
        LLVMSetAlignment(LLVMBuildStore(j->code->b, generic(t, who.first + i), to), 8);
    }
    LLVMValueRef args[] = {
        j->code->cta,
        j->code->fault,
        jit_i64(j, t->size << 48 | (uint64_t)(who.n * width) << 32 | origin_of(j)),
        jit_i64(j, jit_fault_place(j)),
        jit_fault_first_thread(j, who.first),
        jit_fault_store_lanes(j, &who),
        j->code->checked.addresses,
        j->code->checked.found};
    LLVMTypeRef type = LLVMFunctionType(jit_i32_of(j), types, 8, false);
    return jit_help(j, "jit_help_check", type, args);
}

/* Half `i` of what the checker is given and gives back: where the extent begins, and its bytes. */
static LLVMValueRef found(const struct jit *j, unsigned i)
{
    return jit_at(j, j->code->checked.found, jit_i64(j, i * sizeof(uint64_t)));
}

static void ask(const struct test *t, LLVMBasicBlockRef on)
{
    const struct jit *j = t->j;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMBasicBlockRef fails = jit_new_block(j, "fault"), back = jit_new_block(j, "");
    LLVMValueRef halves[] = {t->in ? t->in->first : NULL, t->in ? t->in->bytes : NULL};
    for (unsigned i = 0; t->in && i < 2; i++)
        LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, i64, halves[i], ""), found(j, i));
    LLVMValueRef failed = LLVMBuildICmp(j->code->b, LLVMIntNE, call(t), jit_i32(j, 0), "");
    LLVMBuildCondBr(j->code->b, failed, fails, back);
    jit_continue_in(j, fails);
    LLVMBuildRet(j->code->b, jit_i32(j, PT_RUN_FAULT));
    jit_continue_in(j, back);
    for (unsigned i = 0; t->in && i < 2; i++)
        LLVMBuildStore(j->code->b, LLVMBuildLoad2(j->code->b, i64, found(j, i), ""), halves[i]);
    LLVMBuildBr(j->code->b, on);
}

void jit_mem_check_emit(const struct jit *j)
{
    struct test t = {.j = j};
    if (!jit_is_checked(j->unit) || !is_checked(j, &t.a))
        return;
    bool in_row = false;
    t.size = (uint64_t)t.a.bytes * t.a.n;
    if (t.a.space == PT_SPACE_PARAM) {
        t.one = LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false);
    } else {
        find_bounds(&t);
        in_row = test_all(&t);
    }
    LLVMBasicBlockRef wrong = jit_new_block(j, "check"), on = jit_new_block(j, "");
    jit_branch_mostly(j, LLVMBuildNot(j->code->b, t.one, ""), on, wrong);
    jit_continue_in(j, wrong);
    if (in_row)
        test_again(&t, on);
    ask(&t, on);
    jit_continue_in(j, on);
}
