/* Matrices between shared memory and registers, and transposed between registers: ldmatrix,
 * stmatrix, movmatrix. A register of a warp holds the rows of a matrix one after the other, 16
 * bytes of four lanes each; transposed, its columns.
 */
#include "backend/jit/warp/ldmatrix.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/value/registers.h"

enum { ROWS = 8, ROW_BYTES = 16, ROW_LANES = 4 };

/* Chunks of a warp. */
/* ---- rows and registers ---------------------------------------------------------------------- */

static LLVMTypeRef row_type(const struct jit *j)
{
    return jit_int_type(j, 16, ROWS);
}

/* Lanes of a chunk, or more of them, that begin with `first`. */
static LLVMValueRef part_of(const struct jit *j, LLVMValueRef lanes, unsigned first, unsigned n)
{
    int order[PT_WARP_SIZE];
    for (unsigned i = 0; i < n; i++)
        order[i] = (int)(first + i);
    return jit_shuffle(j, lanes, NULL, order, n);
}

static void rows_of_register(const struct jit *j, LLVMValueRef *values, LLVMValueRef *rows)
{
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned lane = i * ROW_LANES;
        LLVMValueRef row =
            part_of(j, values[lane / j->unit->width], lane % j->unit->width, ROW_LANES);
        rows[i] = LLVMBuildBitCast(j->code->b, row, row_type(j), "");
    }
}

static void register_of_rows(const struct jit *j, LLVMValueRef *rows, LLVMValueRef *values)
{
    unsigned n = j->unit->width / ROW_LANES;
    for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
        LLVMValueRef lanes = jit_concat(j, rows + u * n, n);
        values[u] = LLVMBuildBitCast(j->code->b, lanes, jit_int_type(j, 32, j->unit->width), "");
    }
}

/* Row i and row i + 4 become rows 2 i and 2 i + 1, their elements in turn: three times over, that
 * exchanges rows and columns. */
static void weave(const struct jit *j, LLVMValueRef *rows)
{
    static const int low[] = {0, 8, 1, 9, 2, 10, 3, 11}, high[] = {4, 12, 5, 13, 6, 14, 7, 15};
    LLVMValueRef to[ROWS];
    for (unsigned i = 0; i < ROWS / 2; i++) {
        to[2 * i] = jit_shuffle(j, rows[i], rows[i + ROWS / 2], low, ROWS);
        to[2 * i + 1] = jit_shuffle(j, rows[i], rows[i + ROWS / 2], high, ROWS);
    }
    for (unsigned i = 0; i < ROWS; i++)
        rows[i] = to[i];
}

/* Where vectors hold four rows, their elements go anywhere at once. */
static void permute(const struct jit *j, LLVMValueRef *rows)
{
    LLVMValueRef all = jit_concat(j, rows, ROWS);
    for (unsigned i = 0; i < ROWS; i++) {
        int column[ROWS];
        for (unsigned r = 0; r < ROWS; r++)
            column[r] = (int)(r * ROWS + i);
        rows[i] = jit_shuffle(j, all, NULL, column, ROWS);
    }
}

static void transpose(const struct jit *j, LLVMValueRef *rows)
{
    if (j->unit->cpu->shuffle_bytes >= 4 * ROW_BYTES) {
        permute(j, rows);
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        weave(j, rows);
}

/* ---- the instruction ------------------------------------------------------------------------- */

static const struct pt_operand *operand(const struct jit *j, unsigned k)
{
    return &j->unit->f->operands.v[j->insn->operands + k];
}

/* A register of each matrix. */
static const struct pt_operand *registers(const struct jit *j, const struct pt_operand *o)
{
    return o->kind == PT_OPND_VEC ? &j->unit->f->operands.v[o->index] : o;
}

static unsigned matrices(const struct jit *j)
{
    return pt_form_number(j->form, 'x');
}

static void read_rows(const struct jit *j, const struct pt_operand *o, unsigned first,
                      LLVMValueRef *rows)
{
    LLVMValueRef values[JIT_COPIES];
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        values[u] = jit_registers_read(j, o, first + u, PT_b32, j->unit->width, false);
    rows_of_register(j, values, rows);
}

static void write_rows(const struct jit *j, const struct pt_operand *o, unsigned first,
                       LLVMValueRef *rows)
{
    LLVMValueRef values[JIT_COPIES];
    register_of_rows(j, rows, values);
    for (unsigned u = 0; u < jit_warp_chunks(j); u++)
        jit_registers_write(j, o, first + u, values[u], j->unit->width, false);
}

/* Lanes of the mask (NULL: all) that are among the first n. */
static LLVMValueRef among_first(const struct jit *j, LLVMValueRef mask, unsigned n)
{
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->code->context);
    LLVMValueRef is_among[64];
    if (n >= j->unit->width)
        return mask;
    for (unsigned i = 0; i < j->unit->width; i++)
        is_among[i] = LLVMConstInt(i1, i < n, false);
    LLVMValueRef lanes = LLVMConstVector(is_among, j->unit->width);
    return mask ? LLVMBuildAnd(j->code->b, mask, lanes, "") : lanes;
}

/* Pointers to the rows of all matrices, which the first lanes have. */
static void find_rows(const struct jit *j, const struct jit_access *a, unsigned first,
                      LLVMValueRef *pointers)
{
    unsigned n = ROWS * matrices(j);
    for (unsigned at = 0; at < n; at += j->unit->width) {
        unsigned copy = first + at / j->unit->width;
        LLVMValueRef addresses = jit_access_address(j, a, copy, j->unit->width);
        jit_access_check_all(j, a, copy, addresses, among_first(j, j->mask[copy], n - at));
        jit_access_lane_pointers(j, a, copy, addresses, pointers + at);
    }
}

/* Rows of lanes that are off are zero. */
static LLVMValueRef load_row(const struct jit *j, const struct jit_access *a, unsigned first,
                             unsigned lane, LLVMValueRef pointer)
{
    LLVMValueRef row = jit_access_load(j, a, row_type(j), pointer, ROW_BYTES);
    LLVMValueRef mask = j->mask[first + lane / j->unit->width];
    if (!mask)
        return row;
    LLVMValueRef is_on =
        LLVMBuildExtractElement(j->code->b, mask, jit_i32(j, lane % j->unit->width), "");
    return LLVMBuildSelect(j->code->b, is_on, row, LLVMConstNull(row_type(j)), "");
}

static bool load(const struct jit *j, unsigned first)
{
    const struct pt_operand *regs = registers(j, operand(j, 0));
    struct jit_access a;
    LLVMValueRef pointers[PT_WARP_SIZE], rows[PT_WARP_SIZE];
    if (!jit_access_describe_place(j, operand(j, 1), pt_form_space(j->form), ROW_BYTES, &a))
        return false;
    find_rows(j, &a, first, pointers);
    for (unsigned i = 0; i < ROWS * matrices(j); i++)
        rows[i] = load_row(j, &a, first, i, pointers[i]);
    for (unsigned k = 0; k < matrices(j); k++) {
        if (pt_form_has(j->form, PT_M_trans))
            transpose(j, rows + ROWS * k);
        write_rows(j, &regs[k], first, rows + ROWS * k);
    }
    return true;
}

static bool store(const struct jit *j, unsigned first)
{
    const struct pt_operand *regs = registers(j, operand(j, 1));
    struct jit_access a;
    LLVMValueRef pointers[PT_WARP_SIZE], rows[ROWS];
    if (!jit_access_describe_place(j, operand(j, 0), pt_form_space(j->form), ROW_BYTES, &a))
        return false;
    find_rows(j, &a, first, pointers);
    for (unsigned k = 0; k < matrices(j); k++) {
        read_rows(j, &regs[k], first, rows);
        if (pt_form_has(j->form, PT_M_trans))
            transpose(j, rows);
        for (unsigned i = 0; i < ROWS; i++)
            jit_access_store(j, &a, rows[i], pointers[ROWS * k + i]);
    }
    return true;
}

bool jit_ldmatrix_emit(const struct jit *j, unsigned first)
{
    LLVMValueRef rows[ROWS];
    if (j->form->op == PT_OP_ldmatrix)
        return load(j, first);
    if (j->form->op == PT_OP_stmatrix)
        return store(j, first);
    read_rows(j, operand(j, 1), first, rows);
    transpose(j, rows);
    write_rows(j, operand(j, 0), first, rows);
    return true;
}
