/* Asynchronous copies, which native code makes at once: cp.async. What waits for such operations
 * has nothing to do then. */
#include "backend/jit/memory/cp_async.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/value/registers.h"

struct copy {
    const struct jit *j;
    struct jit_access to, from;
    const struct pt_operand *bytes, *ignored;        /* NULL: not given */
    LLVMValueRef at[JIT_COPIES], source[JIT_COPIES]; /* addresses of the lanes of each chunk */
    LLVMValueRef
        read[JIT_COPIES]; /* bytes that come from there, the others are zero; NULL: all do */
};

/* ---- what is copied -------------------------------------------------------------------------- */

static bool describe(struct copy *x)
{
    const struct jit *j = x->j;
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands];
    unsigned bytes = (unsigned)o[2].imm;
    for (unsigned i = 3; i < j->insn->n_operands; i++) {
        enum pt_type type = pt_slot_type(pt_form_slot(j->form, i), j->form);
        x->ignored = type == PT_pred ? &o[i] : x->ignored;
        x->bytes = type == PT_u32 ? &o[i] : x->bytes;
    }
    return jit_access_describe_place(j, &o[0], PT_SPACE_SHARED, bytes, &x->to) &&
           jit_access_describe_place(j, &o[1], PT_SPACE_GLOBAL, bytes, &x->from);
}

static LLVMValueRef each(const struct jit *j, uint32_t value)
{
    return jit_const(jit_int_type(j, 32, j->unit->width), value);
}

/* Bytes that the lanes of a chunk read, no more than there are. */
static LLVMValueRef bytes_read(const struct copy *x, unsigned copy)
{
    const struct jit *j = x->j;
    LLVMValueRef all = each(j, x->to.bytes);
    if (x->ignored) {
        LLVMValueRef ignored =
            jit_registers_read(j, x->ignored, copy, PT_pred, j->unit->width, true);
        return LLVMBuildSelect(j->code->b, ignored, each(j, 0), all, "");
    }
    if (!x->bytes)
        return NULL;
    LLVMValueRef args[] = {jit_registers_read(j, x->bytes, copy, PT_u32, j->unit->width, false),
                           all};
    return jit_intrinsic(j, "llvm.umin", LLVMTypeOf(all), args, 2);
}

/* Reads what the instruction says of all lanes. Misaligned ones fail; where nothing is read from
 * does not matter. */
static void read_operands(struct copy *x)
{
    const struct jit *j = x->j;
    for (unsigned u = 0; u < j->facts->copies; u++) {
        x->at[u] = jit_access_address(j, &x->to, u, j->unit->width);
        x->source[u] = jit_access_address(j, &x->from, u, j->unit->width);
        x->read[u] = bytes_read(x, u);
        LLVMValueRef mask = j->mask[u];
        jit_access_check_all(j, &x->to, u, x->at[u], mask);
        if (x->read[u]) {
            LLVMValueRef reads = LLVMBuildICmp(j->code->b, LLVMIntNE, x->read[u], each(j, 0), "");
            mask = mask ? LLVMBuildAnd(j->code->b, mask, reads, "") : reads;
        }
        jit_access_check_all(j, &x->from, u, x->source[u], mask);
    }
}

/* ---- all bytes of all lanes ------------------------------------------------------------------ */

/* i1: all lanes are on, and read all bytes. */
static LLVMValueRef is_whole(const struct copy *x)
{
    const struct jit *j = x->j;
    LLVMValueRef whole = jit_mask_all(j);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        if (x->read[u]) {
            LLVMValueRef all = each(j, x->to.bytes);
            LLVMValueRef reads = LLVMBuildICmp(j->code->b, LLVMIntEQ, x->read[u], all, "");
            whole = LLVMBuildAnd(j->code->b, whole, reads, "");
        }
        if (j->mask[u])
            whole = LLVMBuildAnd(j->code->b, whole, j->mask[u], "");
    }
    return jit_all(j, whole);
}

/* What one lane copies. */
static LLVMTypeRef piece(const struct copy *x)
{
    const struct jit *j = x->j;
    return x->to.bytes == 16 ? jit_int_type(j, 32, 4) : jit_int_type(j, 8 * x->to.bytes, 1);
}

static void copy_piece(const struct copy *x, LLVMValueRef to, LLVMValueRef from)
{
    jit_access_store(x->j, &x->to, jit_access_load(x->j, &x->from, piece(x), from, x->from.bytes),
                     to);
}

static void copy_whole(const struct copy *x)
{
    const struct jit *j = x->j;
    for (unsigned u = 0; u < j->facts->copies; u++)
        for (unsigned lane = 0; lane < j->unit->width; lane++)
            copy_piece(x, jit_access_pointer(j, &x->to, jit_lane(j, x->at[u], lane)),
                       jit_access_pointer(j, &x->from, jit_lane(j, x->source[u], lane)));
}

/* ---- lane by lane ---------------------------------------------------------------------------- */

enum { IS_OFF = UINT8_MAX }; /* in place of the bytes that a lane reads */

/* The group's lanes in memory. */
struct lanes {
    LLVMValueRef to, from, read;
};

static void keep(const struct jit *j, LLVMValueRef array, unsigned copy, LLVMValueRef lanes)
{
    LLVMTypeRef type = LLVMTypeOf(lanes);
    unsigned bytes = LLVMGetIntTypeWidth(LLVMGetElementType(type)) / 8;
    LLVMValueRef at = jit_at(j, array, jit_i64(j, (uint64_t)copy * j->unit->width * bytes));
    LLVMSetAlignment(LLVMBuildStore(j->code->b, lanes, at), bytes);
}

static struct lanes keep_lanes(const struct copy *x)
{
    const struct jit *j = x->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    unsigned n = j->unit->width * j->facts->copies;
    struct lanes l = {.to = jit_alloca(j, LLVMArrayType2(i32, n), ""),
                      .from = jit_alloca(j, LLVMArrayType2(i64, n), ""),
                      .read = jit_alloca(j, LLVMArrayType2(i32, n), "")};
    for (unsigned u = 0; u < j->facts->copies; u++) {
        LLVMValueRef read = x->read[u] ? x->read[u] : each(j, x->to.bytes);
        if (j->mask[u])
            read = LLVMBuildSelect(j->code->b, j->mask[u], read, each(j, IS_OFF), "");
        keep(j, l.to, u, x->at[u]);
        keep(j, l.from, u, x->source[u]);
        keep(j, l.read, u, read);
    }
    return l;
}

static LLVMValueRef kept(const struct jit *j, LLVMTypeRef type, LLVMValueRef array,
                         LLVMValueRef lane)
{
    LLVMValueRef at = LLVMBuildGEP2(j->code->b, type, array, &lane, 1, "");
    return LLVMBuildLoad2(j->code->b, type, at, "");
}

/* A loop from 0 to n: what is built from here on is its body, for `*i`. */
struct loop {
    LLVMBasicBlockRef head, next;
    LLVMValueRef counter, i;
};

static struct loop begin_loop(const struct jit *j)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    struct loop loop = {.head = jit_new_block(j, "lane"), .next = jit_new_block(j, "")};
    loop.counter = jit_alloca(j, i32, "");
    LLVMBuildStore(j->code->b, jit_i32(j, 0), loop.counter);
    LLVMBuildBr(j->code->b, loop.head);
    jit_continue_in(j, loop.head);
    loop.i = LLVMBuildLoad2(j->code->b, i32, loop.counter, "");
    return loop;
}

static void end_loop(const struct jit *j, const struct loop *loop, uint32_t n)
{
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMBuildBr(j->code->b, loop->next);
    jit_continue_in(j, loop->next);
    LLVMValueRef more = LLVMBuildAdd(j->code->b, loop->i, jit_i32(j, 1), "");
    LLVMBuildStore(j->code->b, more, loop->counter);
    LLVMValueRef goes_on = LLVMBuildICmp(j->code->b, LLVMIntULT, more, jit_i32(j, n), "");
    LLVMBuildCondBr(j->code->b, goes_on, loop->head, after);
    jit_continue_in(j, after);
}

static LLVMValueRef byte_at(const struct jit *j, LLVMValueRef pointer, LLVMValueRef i)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    return jit_at(j, pointer, LLVMBuildZExt(j->code->b, i, i64, ""));
}

/* `read` bytes from there, then zeros. */
static void copy_bytes(const struct copy *x, LLVMValueRef to, LLVMValueRef from, LLVMValueRef read)
{
    const struct jit *j = x->j;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(j->code->context);
    LLVMBasicBlockRef load = jit_new_block(j, ""), zero = jit_new_block(j, "");
    struct loop loop = begin_loop(j);
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntULT, loop.i, read, ""), load,
                    zero);
    jit_continue_in(j, zero);
    LLVMBuildStore(j->code->b, LLVMConstNull(i8), byte_at(j, to, loop.i));
    LLVMBuildBr(j->code->b, loop.next);
    jit_continue_in(j, load);
    LLVMValueRef byte = LLVMBuildLoad2(j->code->b, i8, byte_at(j, from, loop.i), "");
    LLVMBuildStore(j->code->b, byte, byte_at(j, to, loop.i));
    end_loop(j, &loop, x->to.bytes);
}

/* Lanes upwards: those that are off, that copy all bytes, that copy none, and others. */
static void copy_lanes(const struct copy *x)
{
    const struct jit *j = x->j;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    struct lanes l = keep_lanes(x);
    LLVMBasicBlockRef all = jit_new_block(j, ""), none = jit_new_block(j, "");
    LLVMBasicBlockRef some = jit_new_block(j, "");
    struct loop loop = begin_loop(j);
    LLVMValueRef read = kept(j, i32, l.read, loop.i);
    LLVMValueRef to = jit_access_pointer(j, &x->to, kept(j, i32, l.to, loop.i));
    LLVMValueRef from = jit_access_pointer(j, &x->from, kept(j, i64, l.from, loop.i));
    LLVMValueRef choice = LLVMBuildSwitch(j->code->b, read, some, 3);
    LLVMAddCase(choice, jit_i32(j, IS_OFF), loop.next);
    LLVMAddCase(choice, jit_i32(j, x->to.bytes), all);
    LLVMAddCase(choice, jit_i32(j, 0), none);
    jit_continue_in(j, all);
    copy_piece(x, to, from);
    LLVMBuildBr(j->code->b, loop.next);
    jit_continue_in(j, none);
    jit_access_store(j, &x->to, LLVMConstNull(piece(x)), to);
    LLVMBuildBr(j->code->b, loop.next);
    jit_continue_in(j, some);
    copy_bytes(x, to, from, read);
    end_loop(j, &loop, j->unit->width * j->facts->copies);
}

bool jit_cp_async_emit(const struct jit *j)
{
    struct copy x = {.j = j};
    if (!describe(&x))
        return false;
    read_operands(&x);
    LLVMBasicBlockRef whole = jit_new_block(j, "whole"), lanes = jit_new_block(j, "lanes");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, is_whole(&x), whole, lanes);
    jit_continue_in(j, lanes);
    copy_lanes(&x);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, whole);
    copy_whole(&x);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
    return true;
}
