/* Columns of what lanes have at a constant stride. Where that is up to three units (four of 64
 * bits), vectors of memory side by side become columns by shuffles of two vectors; where it is
 * more, each lane's units are loaded and stored in rows of four, of which a transposition within
 * parts of 128 bits makes columns. */
#include "backend/jit/memory/columns.h"

#include "backend/jit/llvm/build.h"

enum { ROW = 4, ROWS = 8, LANES = 64 };

static LLVMTypeRef vector_type(const struct jit *j, const struct jit_columns *c, unsigned n)
{
    return jit_int_type(j, c->unit == 3 ? 32 : c->unit * 8, n);
}

static LLVMValueRef at_unit(const struct jit *j, const struct jit_columns *c, LLVMValueRef pointer,
                            unsigned unit)
{
    return unit ? jit_at(j, pointer, jit_i64(j, (uint64_t)unit * c->unit)) : pointer;
}

static unsigned first_of(const struct jit_columns *c)
{
    return (unsigned)__builtin_ctz(c->wanted);
}

static unsigned last_of(const struct jit_columns *c)
{
    return 31 - (unsigned)__builtin_clz(c->wanted);
}

static bool is_wanted(const struct jit_columns *c, unsigned unit)
{
    return c->wanted >> unit & 1;
}

static void store(const struct jit *j, const struct jit_access *a, LLVMValueRef value,
                  LLVMValueRef pointer, unsigned align)
{
    struct jit_access part = *a;
    part.bytes = align;
    jit_access_store(j, &part, value, pointer);
}

/* ---- side by side ---------------------------------------------------------------------------- */

/* Vectors of a stretch: the last ends where the stretch does. */
struct parts {
    unsigned n, start[JIT_COLUMNS]; /* units */
};

static struct parts find_parts(unsigned units, unsigned width)
{
    struct parts p = {.n = (units + width - 1) / width};
    for (unsigned i = 0; i < p.n; i++)
        p.start[i] = i + 1 < p.n ? i * width : units - width;
    return p;
}

/* All elements that are taken stand at different places of their vectors. */
static bool are_apart(const unsigned *place, unsigned width)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < width; i++)
        seen |= UINT64_C(1) << place[i];
    return seen == UINT64_MAX >> (64 - width);
}

/* Lane i from place[i] of v[from[i]]. Where places differ the lanes are brought together first and
 * moved then: the machine has few shuffles of two vectors, and blends are cheap. */
static LLVMValueRef take(const struct jit *j, LLVMValueRef *v, unsigned n, const unsigned *from,
                         const unsigned *place)
{
    unsigned width = j->unit->width;
    bool is_blend = n > 2 && are_apart(place, width);
    LLVMValueRef all = v[0];
    int lanes[LANES], last[LANES];
    for (unsigned i = 0; i < width; i++) {
        lanes[i] = (int)i;
        last[i] = (int)place[i];
    }
    for (unsigned p = 1; p < n; p++) {
        for (unsigned i = 0; i < width; i++) {
            unsigned to = is_blend ? place[i] : i, first = p == 1 && !is_blend ? place[i] : to;
            lanes[to] = (int)(from[i] == p ? width + place[i] : first);
        }
        all = jit_shuffle(j, all, v[p], lanes, width);
    }
    return is_blend || n == 1 ? jit_shuffle(j, all, NULL, last, width) : all;
}

static void load_parts(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                       LLVMValueRef pointer, LLVMValueRef *v)
{
    unsigned width = j->unit->width, first = first_of(c), from[LANES], place[LANES];
    struct parts p = find_parts((width - 1) * c->stride + last_of(c) - first + 1, width);
    LLVMValueRef part[JIT_COLUMNS];
    for (unsigned i = 0; i < p.n; i++)
        part[i] = jit_access_load(j, a, vector_type(j, c, width),
                                  at_unit(j, c, pointer, first + p.start[i]), c->align);
    for (unsigned k = first; k <= last_of(c); k++) {
        for (unsigned i = 0; i < width; i++) {
            unsigned unit = i * c->stride + k - first;
            from[i] = unit >= p.start[p.n - 1] ? p.n - 1 : unit / width;
            place[i] = unit - p.start[from[i]];
        }
        if (is_wanted(c, k))
            v[k] = c->stride == 1 ? part[0] : take(j, part, p.n, from, place);
    }
}

/* Columns moved to their places, where those differ, so that each vector is a blend of them. */
static void move_apart(const struct jit *j, const struct jit_columns *c, LLVMValueRef *v)
{
    int lanes[LANES];
    for (unsigned k = 0; k < c->stride; k++) {
        for (unsigned i = 0; i < j->unit->width; i++)
            lanes[(i * c->stride + k) % j->unit->width] = (int)i;
        v[k] = jit_shuffle(j, v[k], NULL, lanes, j->unit->width);
    }
}

static void store_parts(const struct jit *j, const struct jit_access *a,
                        const struct jit_columns *c, LLVMValueRef pointer, LLVMValueRef *v)
{
    unsigned width = j->unit->width, from[LANES], place[LANES];
    LLVMValueRef moved[JIT_COLUMNS];
    bool is_apart = c->stride % 2 && c->stride > 1;
    for (unsigned k = 0; k < c->stride; k++)
        moved[k] = v[k];
    if (is_apart)
        move_apart(j, c, moved);
    for (unsigned p = 0; p < c->stride; p++) {
        for (unsigned i = 0; i < width; i++) {
            from[i] = (p * width + i) % c->stride;
            place[i] = is_apart ? i : (p * width + i) / c->stride;
        }
        LLVMValueRef part = c->stride == 1 ? v[0] : take(j, moved, c->stride, from, place);
        store(j, a, part, at_unit(j, c, pointer, p * width), c->align);
    }
}

/* ---- threes of bytes ------------------------------------------------------------------------- */

/* Twelve bytes of four lanes stand in the first three of four words, or each three in a word: the
 * order of the bytes of 16, repeated. */
static LLVMValueRef move_bytes(const struct jit *j, LLVMValueRef words, const int *order)
{
    unsigned n = 4 * j->unit->width;
    int lanes[4 * LANES];
    LLVMValueRef bytes = LLVMBuildBitCast(j->code->b, words, jit_int_type(j, 8, n), "");
    for (unsigned i = 0; i < n; i++)
        lanes[i] = (int)(i / 16 * 16) + order[i % 16];
    bytes = jit_shuffle(j, bytes, NULL, lanes, n);
    return LLVMBuildBitCast(j->code->b, bytes, jit_int_type(j, 32, n / 4), "");
}

static LLVMValueRef load_threes(const struct jit *j, const struct jit_access *a,
                                LLVMValueRef pointer)
{
    static const int order[16] = {0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11};
    unsigned width = j->unit->width;
    LLVMTypeRef type = jit_int_type(j, 32, width / 4 * 3);
    LLVMValueRef words = jit_access_load(j, a, type, pointer, 1);
    int lanes[LANES];
    for (unsigned i = 0; i < width; i++)
        lanes[i] = (int)(i / 4 * 3 + (i % 4 < 3 ? i % 4 : 2));
    return move_bytes(j, jit_shuffle(j, words, NULL, lanes, width), order);
}

static void store_threes(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                         LLVMValueRef value)
{
    static const int order[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0};
    int lanes[LANES];
    unsigned n = j->unit->width / 4 * 3;
    for (unsigned i = 0; i < n; i++)
        lanes[i] = (int)(i / 3 * 4 + i % 3);
    store(j, a, jit_shuffle(j, move_bytes(j, value, order), NULL, lanes, n), pointer, 1);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where rows begin that have all units that are wanted, and, of those that are stored, no other.
 * 0: there are none such. */
static unsigned find_rows(const struct jit_columns *c, bool is_load, unsigned *row)
{
    unsigned n = 0, unit = first_of(c);
    while (unit <= last_of(c)) {
        unsigned begin = unit, end = unit;
        while (!is_load && end <= last_of(c) && is_wanted(c, end))
            end++;
        end = is_load ? last_of(c) + 1 : end;
        if (end - first_of(c) < ROW || n == ROWS || (!is_load && end - begin < ROW && !n))
            return 0;
        row[n] = begin + ROW > end ? end - ROW : begin;
        for (unsigned i = row[n]; i < row[n] + ROW; i++)
            if (!is_load && !is_wanted(c, i))
                return 0;
        for (unit = row[n++] + ROW; unit <= last_of(c) && !is_wanted(c, unit);)
            unit++;
    }
    return n;
}

static bool is_side_by_side(const struct jit_columns *c)
{
    return c->stride <= (c->unit == 8 ? 4 : 3);
}

unsigned jit_columns_rows(const struct jit_columns *c)
{
    unsigned row[ROWS];
    return is_side_by_side(c) ? 0 : find_rows(c, true, row);
}

bool jit_columns_can_access(const struct jit *j, const struct jit_columns *c, bool is_load)
{
    unsigned row[ROWS];
    (void)j;
    if (is_side_by_side(c))
        return is_load || c->wanted == (1u << c->stride) - 1;
    return c->unit == 4 && find_rows(c, is_load, row);
}

/* Rows of four lanes become columns, or the other way round, in each part of 128 bits. */
static void transpose(const struct jit *j, LLVMValueRef *v)
{
    static const int ones[2][4] = {{0, -1, 1, -2}, {2, -3, 3, -4}};
    static const int twos[2][4] = {{0, 1, -1, -2}, {2, 3, -3, -4}};
    int lanes[2][2][LANES], width = (int)j->unit->width;
    LLVMValueRef u[ROW];
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < width; i++) {
            int one = ones[half][i % 4], two = twos[half][i % 4], part = i / 4 * 4;
            lanes[0][half][i] = part + (one < 0 ? width - one - 1 : one);
            lanes[1][half][i] = part + (two < 0 ? width - two - 1 : two);
        }
    for (unsigned i = 0; i < ROW; i++)
        u[i] = jit_shuffle(j, v[i / 2 * 2], v[i / 2 * 2 + 1], lanes[0][i % 2], (unsigned)width);
    for (unsigned i = 0; i < ROW; i++)
        v[i] = jit_shuffle(j, u[i / 2], u[i / 2 + 2], lanes[1][i % 2], (unsigned)width);
}

/* v[k]: rows of lanes k, 4 + k, 8 + k … */
static void load_row(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                     LLVMValueRef pointer, unsigned row, LLVMValueRef *v)
{
    LLVMValueRef part[LANES / ROW];
    for (unsigned k = 0; k < ROW; k++) {
        for (unsigned i = 0; i < j->unit->width / ROW; i++)
            part[i] =
                jit_access_load(j, a, vector_type(j, c, ROW),
                                at_unit(j, c, pointer, (i * ROW + k) * c->stride + row), c->align);
        v[k] = jit_concat(j, part, j->unit->width / ROW);
    }
    transpose(j, v);
}

static void store_row(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                      LLVMValueRef pointer, unsigned row, LLVMValueRef *v)
{
    LLVMValueRef lane[ROW] = {v[0], v[1], v[2], v[3]};
    transpose(j, lane);
    for (unsigned i = 0; i < j->unit->width; i++) {
        int from = (int)(i / ROW * ROW), lanes[ROW] = {from, from + 1, from + 2, from + 3};
        store(j, a, jit_shuffle(j, lane[i % ROW], NULL, lanes, ROW),
              at_unit(j, c, pointer, i * c->stride + row), c->align);
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

void jit_columns_load(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                      LLVMValueRef pointer, LLVMValueRef *v)
{
    unsigned row[ROWS];
    if (c->unit == 3) {
        v[0] = load_threes(j, a, pointer);
    } else if (is_side_by_side(c)) {
        load_parts(j, a, c, pointer, v);
    } else {
        unsigned n = find_rows(c, true, row);
        for (unsigned i = 0; i < n; i++)
            load_row(j, a, c, pointer, row[i], v + row[i]);
    }
}

void jit_columns_store(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                       LLVMValueRef pointer, LLVMValueRef *v)
{
    unsigned row[ROWS];
    if (c->unit == 3) {
        store_threes(j, a, pointer, v[0]);
    } else if (is_side_by_side(c)) {
        store_parts(j, a, c, pointer, v);
    } else {
        unsigned n = find_rows(c, false, row);
        for (unsigned i = 0; i < n; i++)
            store_row(j, a, c, pointer, row[i], v + row[i]);
    }
}

/* ---- parts of words -------------------------------------------------------------------------- */

/* A byte from inside words, as words: one shuffle. Shifts LLVM would narrow to 16 bits, and widen
 * again behind. */
static LLVMValueRef byte_of_words(const struct jit *j, LLVMValueRef words, unsigned byte)
{
    unsigned n = j->unit->width * 4;
    int lanes[4 * LANES];
    for (unsigned i = 0; i < n; i++)
        lanes[i] = (int)(i % 4 ? n : i + byte);
    LLVMTypeRef type = jit_int_type(j, 8, n);
    LLVMValueRef bytes = LLVMBuildBitCast(j->code->b, words, type, "");
    bytes = jit_shuffle(j, bytes, LLVMConstNull(type), lanes, n);
    return LLVMBuildBitCast(j->code->b, bytes, LLVMTypeOf(words), "");
}

LLVMValueRef jit_columns_part(const struct jit *j, LLVMValueRef words, unsigned offset,
                              unsigned bytes)
{
    LLVMTypeRef type = LLVMTypeOf(words);
    unsigned word_bytes = LLVMGetIntTypeWidth(LLVMGetElementType(type)) / 8;
    if (word_bytes == 4 && bytes == 1 && (offset == 1 || offset == 2))
        words = byte_of_words(j, words, offset);
    else if (offset)
        words = LLVMBuildLShr(j->code->b, words, jit_const(type, offset * 8), "");
    return bytes < word_bytes
               ? LLVMBuildTrunc(j->code->b, words, jit_int_type(j, bytes * 8, j->unit->width), "")
               : words;
}
