/* Local variables in rows of a group's own (analysis/local_memory.c): row r has bytes r * row_bytes
 * and on of the variables of each lane of a chunk, lane beside lane. What all lanes access at one
 * offset is a vector; where offsets are constant, LLVM makes values of rows. What lies outside the
 * function's variables goes to the threads' windows, as elsewhere, and there are rows for lanes
 * that touch nothing.
 */
#include "backend/jit/memory/local_rows.h"

#include "backend/jit/analysis/local_memory.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/tune.h"

enum { WIDEST = 16 }; /* bytes of an access at most */

static unsigned row_bytes(const struct jit *j)
{
    return j->facts->local.row_bytes;
}

static LLVMTypeRef row_type(const struct jit *j)
{
    return jit_int_type(j, row_bytes(j) * 8, j->unit->width);
}

/* Behind the variables' rows those of lanes that touch nothing. */
static unsigned all_rows(const struct jit *j)
{
    return j->facts->local.rows + WIDEST / row_bytes(j);
}

void jit_local_rows_begin_group(const struct jit *j)
{
    for (unsigned u = 0; j->facts->local.rows && u < j->facts->copies; u++) {
        LLVMValueRef *rows = &j->code->local[u];
        if (!*rows) {
            *rows = jit_alloca(j, LLVMArrayType2(row_type(j), all_rows(j)), "local");
            LLVMSetAlignment(*rows, row_bytes(j) * j->unit->width);
        }
        LLVMValueRef n = jit_i64(j, (uint64_t)j->facts->local.rows * row_bytes(j) * j->unit->width);
        LLVMValueRef zero = LLVMConstNull(LLVMInt8TypeInContext(j->code->context));
        LLVMValueRef clear =
            LLVMBuildMemSet(j->code->b, *rows, zero, n, row_bytes(j) * j->unit->width);
        jit_check_proven(j->code, clear, "intrinsic"); /* of the alloca, and no more */
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where an access goes: offsets of all lanes that count are in the variables, or one is; lanes that
 * run it (NULL: all). */
struct place {
    const struct jit *j;
    unsigned copy;
    bool is_one;
    LLVMValueRef offset; /* i64 or a vector of i32 */
    LLVMValueRef mask;
};

static LLVMValueRef row_pointer(const struct place *p, unsigned more)
{
    const struct jit *j = p->j;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMValueRef at =
        LLVMBuildAnd(j->code->b, p->offset, jit_const(i64, ~(uint64_t)(row_bytes(j) - 1)), "");
    at = LLVMBuildMul(j->code->b, at, jit_i64(j, j->unit->width), "");
    at = LLVMBuildAdd(j->code->b, at, jit_i64(j, (uint64_t)more * row_bytes(j) * j->unit->width),
                      "");
    return jit_at(j, j->code->local[p->copy], at);
}

/* Elements from the start of the rows. */
static LLVMValueRef row_index(const struct place *p, unsigned more)
{
    const struct jit *j = p->j;
    LLVMTypeRef type = LLVMTypeOf(p->offset), i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef row = LLVMBuildUDiv(j->code->b, p->offset, jit_const(type, row_bytes(j)), "");
    row = LLVMBuildMul(j->code->b, row, jit_const(type, j->unit->width), "");
    LLVMValueRef lanes = LLVMBuildAdd(j->code->b, jit_steps(j, i32, 1),
                                      jit_const(type, (uint64_t)more * j->unit->width), "");
    return LLVMBuildAdd(j->code->b, row, lanes, "");
}

static struct jit_access row_access(const struct jit *j, bool is_load)
{
    return (struct jit_access){.is_load = is_load,
                               .bytes = row_bytes(j),
                               .n = 1,
                               .element = LLVMIntTypeInContext(j->code->context, row_bytes(j) * 8),
                               .order = PT_ORDER_PLAIN};
}

/* Few rows: each is looked at, which where masks have registers takes less than an access of each
 * lane, and lets LLVM make values of them. */
static bool looks_at_all(const struct jit *j)
{
    return j->unit->cpu->has_mask_registers && j->facts->local.rows <= JIT_LOCAL_SELECT_ROWS;
}

static LLVMValueRef nth_row(const struct place *p, unsigned n)
{
    const struct jit *j = p->j;
    return jit_at(j, j->code->local[p->copy],
                  jit_i64(j, (uint64_t)n * row_bytes(j) * j->unit->width));
}

static LLVMValueRef load_at(const struct jit *j, LLVMValueRef pointer)
{
    LLVMValueRef v = LLVMBuildLoad2(j->code->b, row_type(j), pointer, "");
    LLVMSetAlignment(v, row_bytes(j) * j->unit->width);
    return v;
}

static void store_at(const struct jit *j, LLVMValueRef value, LLVMValueRef pointer)
{
    LLVMSetAlignment(LLVMBuildStore(j->code->b, value, pointer), row_bytes(j) * j->unit->width);
}

/* Lanes whose row, `more` behind that of their offset, is the nth. */
static LLVMValueRef lanes_at(const struct place *p, unsigned more, unsigned n)
{
    const struct jit *j = p->j;
    LLVMTypeRef type = LLVMTypeOf(p->offset);
    LLVMValueRef row = LLVMBuildUDiv(j->code->b, p->offset, jit_const(type, row_bytes(j)), "");
    return LLVMBuildICmp(j->code->b, LLVMIntEQ, row, jit_const(type, n - more), "");
}

static LLVMValueRef select_row(const struct place *p, unsigned more)
{
    const struct jit *j = p->j;
    LLVMValueRef v = load_at(j, nth_row(p, more));
    for (unsigned n = more + 1; n < j->facts->local.rows; n++)
        v = LLVMBuildSelect(j->code->b, lanes_at(p, more, n), load_at(j, nth_row(p, n)), v, "");
    return v;
}

static void replace_row(const struct place *p, unsigned more, LLVMValueRef value)
{
    const struct jit *j = p->j;
    for (unsigned n = more; n < j->facts->local.rows; n++) {
        LLVMValueRef at = nth_row(p, n), old = load_at(j, at);
        store_at(j, LLVMBuildSelect(j->code->b, lanes_at(p, more, n), value, old, ""), at);
    }
}

static LLVMValueRef load_row(const struct place *p, unsigned more)
{
    const struct jit *j = p->j;
    LLVMValueRef v;
    if (p->is_one)
        return load_at(j, row_pointer(p, more));
    if (looks_at_all(j))
        return select_row(p, more);
    struct jit_access a = row_access(j, true);
    jit_gather_indexed(j, &a, j->code->local[p->copy], row_index(p, more), &v);
    return v;
}

static void store_row(const struct place *p, unsigned more, LLVMValueRef value)
{
    const struct jit *j = p->j;
    if (p->is_one) {
        if (p->mask)
            value = LLVMBuildSelect(j->code->b, p->mask, value, load_row(p, more), "");
        store_at(j, value, row_pointer(p, more));
        return;
    }
    if (looks_at_all(j)) {
        replace_row(p, more, value);
        return;
    }
    struct jit_access a = row_access(j, false);
    jit_gather_indexed(j, &a, j->code->local[p->copy], row_index(p, more), &value);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Elements narrower than a row: how far theirs lies from the row's lowest bit, which is less than
 * the row has. */
static LLVMValueRef shift_of(const struct place *p)
{
    const struct jit *j = p->j;
    LLVMTypeRef type = LLVMTypeOf(p->offset);
    LLVMValueRef low = LLVMBuildAnd(j->code->b, p->offset, jit_const(type, row_bytes(j) - 1), "");
    low = LLVMBuildShl(j->code->b, low, jit_const(type, 3), "");
    if (!p->is_one)
        return low;
    low = LLVMBuildTrunc(j->code->b, low, LLVMInt32TypeInContext(j->code->context), "");
    return jit_splat(j, low);
}

static LLVMValueRef load_element(const struct place *p, unsigned bytes, unsigned more)
{
    const struct jit *j = p->j;
    LLVMTypeRef type = jit_int_type(j, bytes * 8, j->unit->width);
    LLVMValueRef low = load_row(p, more);
    if (bytes == row_bytes(j))
        return low;
    if (bytes < row_bytes(j)) {
        low = jit_check_proven(j->code, LLVMBuildLShr(j->code->b, low, shift_of(p), ""), "amount");
        return LLVMBuildTrunc(j->code->b, low, type, "");
    }
    LLVMValueRef high = LLVMBuildZExt(j->code->b, load_row(p, more + 1), type, "");
    high = LLVMBuildShl(j->code->b, high, jit_const(type, row_bytes(j) * 8), "");
    return LLVMBuildOr(j->code->b, LLVMBuildZExt(j->code->b, low, type, ""), high, "");
}

static void store_element(const struct place *p, unsigned bytes, unsigned more, LLVMValueRef v)
{
    const struct jit *j = p->j;
    LLVMTypeRef row = row_type(j);
    if (bytes > row_bytes(j)) {
        LLVMTypeRef type = LLVMTypeOf(v);
        LLVMValueRef high = LLVMBuildLShr(j->code->b, v, jit_const(type, row_bytes(j) * 8), "");
        store_row(p, more, LLVMBuildTrunc(j->code->b, v, row, ""));
        store_row(p, more + 1, LLVMBuildTrunc(j->code->b, high, row, ""));
        return;
    }
    if (bytes < row_bytes(j)) {
        LLVMValueRef shift = shift_of(p);
        LLVMValueRef bits = jit_const(row, (UINT64_C(1) << bytes * 8) - 1);
        bits = jit_check_proven(j->code, LLVMBuildShl(j->code->b, bits, shift, ""), "amount");
        bits = LLVMBuildNot(j->code->b, bits, "");
        LLVMValueRef others = LLVMBuildAnd(j->code->b, load_row(p, more), bits, "");
        v = LLVMBuildShl(j->code->b, LLVMBuildZExt(j->code->b, v, row, ""), shift, "");
        v = jit_check_proven(j->code, v, "amount");
        v = LLVMBuildOr(j->code->b, v, others, "");
    }
    store_row(p, more, v);
}

static void access_rows(const struct place *p, const struct jit_access *a, LLVMValueRef *v)
{
    const struct jit *j = p->j;
    for (unsigned i = 0; i < a->n; i++) {
        struct place at = *p; /* elements of less than a row share one */
        unsigned bytes = i * a->bytes, inside = bytes % row_bytes(j);
        at.offset =
            LLVMBuildAdd(j->code->b, p->offset, jit_const(LLVMTypeOf(p->offset), inside), "");
        if (a->is_load)
            v[i] = load_element(&at, a->bytes, bytes / row_bytes(j));
        else
            store_element(&at, a->bytes, bytes / row_bytes(j), v[i]);
    }
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* i1, or lanes: those that are on. */
static LLVMValueRef among(const struct jit *j, unsigned copy, bool is_one, LLVMValueRef which)
{
    LLVMValueRef mask = j->mask[copy];
    if (!mask)
        return which;
    return LLVMBuildAnd(j->code->b, which, is_one ? jit_any(j, mask) : mask, "");
}

static void check_alignment(const struct jit *j, const struct jit_access *a, unsigned copy,
                            bool is_one, LLVMValueRef offset)
{
    if (jit_local_memory_offset(j->facts, a->base).unit >= a->bytes * a->n)
        return;
    if (!is_one) {
        jit_access_check_all(j, a, copy, offset, j->mask[copy]);
        return;
    }
    LLVMValueRef bad = among(j, copy, true, jit_access_misaligned(j, a, offset));
    struct jit_blame who = {.first = copy, .n = 1, .lanes = {j->mask[copy]}};
    jit_fault_raise_if(j, bad, PT_FAULT_MISALIGNED, &who);
}

/* Lanes that lie outside the variables, in the windows; what the others have loaded stays. */
static void access_outside(const struct jit *j, const struct jit_access *a, unsigned copy,
                           bool is_one, LLVMValueRef outside, LLVMValueRef *v)
{
    struct jit there = *j;
    LLVMBasicBlockRef rare = jit_new_block(j, "outside");
    LLVMValueRef before[8], mask = j->mask[copy];
    struct jit_ways ways;
    outside = among(j, copy, is_one, outside);
    jit_access_begin_ways(j, a, &ways);
    jit_access_end_way_mostly(j, &ways, is_one ? outside : jit_any(j, outside), rare, v);
    jit_continue_in(j, rare);
    if (is_one)
        outside = mask ? mask : jit_mask_all(j);
    there.mask[copy] = outside;
    for (unsigned i = 0; i < a->n; i++)
        before[i] = v[i];
    jit_gather_access(&there, a, copy, v);
    for (unsigned i = 0; a->is_load && i < a->n; i++)
        v[i] = LLVMBuildSelect(j->code->b, outside, v[i], before[i], "");
    jit_access_end_way(j, &ways, v);
    jit_access_join_ways(j, &ways, v);
}

/* i1 or lanes: the access is not whole in the variables; NULL: it is. */
static LLVMValueRef find_outside(const struct jit *j, const struct jit_access *a,
                                 LLVMValueRef offset)
{
    uint64_t size = j->unit->f->local_size, bytes = (uint64_t)a->bytes * a->n;
    LLVMTypeRef type = LLVMTypeOf(offset);
    if (size < bytes)
        return LLVMBuildICmp(j->code->b, LLVMIntEQ, offset, offset, "");
    if (jit_local_memory_offset(j->facts, a->base).max <= size - bytes)
        return NULL;
    return LLVMBuildICmp(j->code->b, LLVMIntUGT, offset, jit_const(type, size - bytes), "");
}

/* Offsets of lanes that touch the variables, and behind these those of the others. */
static LLVMValueRef inside(const struct jit *j, const struct jit_access *a, unsigned copy,
                           bool is_one, LLVMValueRef offset, LLVMValueRef outside)
{
    LLVMTypeRef type = LLVMTypeOf(offset);
    if (!is_one && !a->is_load && j->mask[copy]) {
        LLVMValueRef off = LLVMBuildNot(j->code->b, j->mask[copy], "");
        outside = outside ? LLVMBuildOr(j->code->b, outside, off, "") : off;
    }
    LLVMValueRef behind = jit_const(type, (uint64_t)j->facts->local.rows * row_bytes(j));
    return outside ? LLVMBuildSelect(j->code->b, outside, behind, offset, "") : offset;
}

void jit_local_rows_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                           bool is_one, LLVMValueRef *v)
{
    struct jit_offset known = jit_local_memory_offset(j->facts, a->base);
    LLVMValueRef offset = known.is_exact
                              ? jit_i64(j, known.max)
                              : jit_access_address(j, a, copy, is_one ? 1 : j->unit->width);
    is_one = is_one || known.is_exact;
    check_alignment(j, a, copy, is_one, offset);
    LLVMValueRef outside = find_outside(j, a, offset);
    struct place p = {.j = j, .copy = copy, .is_one = is_one, .mask = j->mask[copy]};
    p.offset = inside(j, a, copy, is_one, offset, outside);
    if (!is_one)
        p.offset = LLVMBuildTrunc(j->code->b, p.offset, jit_int_type(j, 32, j->unit->width), "");
    access_rows(&p, a, v);
    if (outside)
        access_outside(j, a, copy, is_one, outside, v);
}
