/* Sums of bytes in lanes of 16 bits, where no sum needs more.
 *
 * PTX sums bytes in 32 bits. A sum of bytes by constants whose least and most value fit 16 bits is
 * computed there, two sums in one vector: those of two chunks side by side, where each chunk's
 * bytes are a vector of bytes; or two of one chunk in the halves of its lanes, where they are the
 * bytes of words two places apart, as the channels of pixels. Bytes by the same constant are summed
 * before they are multiplied.
 */
#include "backend/jit/llvm/byte_sums.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"

enum { MOST_TERMS = 64, MOST_DEPTH = 80, MOST_PLACES = 16 };

/* A byte of each lane of a vector: its place in the lane. NULL: zero. */
struct byte {
    LLVMValueRef of;
    unsigned place;
};

struct term {
    struct byte byte;
    int32_t factor;
};

/* A value, as a sum of bytes by factors and a constant. */
struct sum {
    LLVMValueRef is;
    int64_t constant, least, most;
    unsigned n;
    bool is_done;
    struct term *terms;
};

/* The sums of a basic block. */
struct block {
    const struct jit *at;
    struct sum sums[JIT_BYTE_SUMS];
    unsigned n;
};

/* Two sums as one: `b` is behind `a` in the block. Terms that go together have one number. */
struct pair {
    struct sum *a, *b;
    bool is_words; /* the bytes of words, else those of two chunks */
    unsigned of_a[MOST_TERMS], of_b[MOST_TERMS];
};

/* Pairs that are summed term by term, as they are of the same words. */
struct group {
    struct pair pairs[2];
    unsigned n;
};

static bool is_op(LLVMValueRef v, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == opcode;
}

static bool is_lanes(const struct block *k, LLVMTypeRef type, unsigned bits)
{
    return type == jit_int_type(k->at, bits, k->at->unit->width);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static unsigned bytes_of(LLVMValueRef v)
{
    return LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(v))) / 8;
}

/* Words as bytes. */
static bool is_bytes(const struct block *k, LLVMTypeRef type)
{
    return type == jit_int_type(k->at, 8, 4 * k->at->unit->width);
}

/* A permutation of the bytes of words that does the same in each lane. */
static bool look_through_shuffle(const struct block *k, struct byte *b)
{
    LLVMValueRef shuffle = b->of;
    int width = (int)k->at->unit->width, first = LLVMGetMaskValue(shuffle, b->place);
    int source = first / (4 * width), place = first % (4 * width);
    LLVMValueRef from = LLVMGetOperand(shuffle, (unsigned)(source == 1));
    bool is_zero = LLVMIsNull(from);
    if (first < 0 || LLVMTypeOf(from) != LLVMTypeOf(shuffle) || (place > 3 && !is_zero))
        return false;
    for (int i = 1; i < width; i++) {
        int m = LLVMGetMaskValue(shuffle, (unsigned)(4 * i) + b->place);
        if (m < 0 || m / (4 * width) != source || (!is_zero && m != first + 4 * i))
            return false;
    }
    *b = is_zero ? (struct byte){NULL, 0} : (struct byte){from, (unsigned)place};
    return true;
}

/* Of words as lanes and as bytes. */
static bool look_through_cast(const struct block *k, struct byte *b)
{
    LLVMTypeRef to = LLVMTypeOf(b->of), from = LLVMTypeOf(LLVMGetOperand(b->of, 0));
    if ((!is_lanes(k, to, 32) || !is_bytes(k, from)) &&
        (!is_bytes(k, to) || !is_lanes(k, from, 32)))
        return false;
    b->of = LLVMGetOperand(b->of, 0);
    return true;
}

static bool look_through_bits(struct byte *b, LLVMOpcode opcode)
{
    uint64_t c;
    LLVMValueRef v = b->of;
    unsigned n = bytes_of(v), shift;
    if (!jit_is_const(LLVMGetOperand(v, 1), &c))
        return false;
    if (opcode == LLVMAnd) {
        unsigned mask = (unsigned)(c >> 8 * b->place & 255);
        if (mask > 0 && mask < 255)
            return false;
        *b = mask ? (struct byte){LLVMGetOperand(v, 0), b->place} : (struct byte){NULL, 0};
        return true;
    }
    if (c % 8 || c >= 8 * n)
        return false;
    shift = (unsigned)c / 8;
    bool is_zero = opcode == LLVMShl ? b->place < shift : b->place + shift >= n;
    unsigned place = opcode == LLVMShl ? b->place - shift : b->place + shift;
    *b = is_zero ? (struct byte){NULL, 0} : (struct byte){LLVMGetOperand(v, 0), place};
    return true;
}

/* One instruction nearer to where the byte comes from; false: it is what it is. */
static bool look_through(const struct block *k, struct byte *b)
{
    LLVMValueRef v = b->of;
    LLVMOpcode opcode = v && LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMUnreachable;
    switch (opcode) {
    case LLVMZExt:
        if (bytes_of(LLVMGetOperand(v, 0)) == 0)
            return false;
        if (b->place < bytes_of(LLVMGetOperand(v, 0)))
            b->of = LLVMGetOperand(v, 0);
        else
            *b = (struct byte){NULL, 0};
        return true;
    case LLVMTrunc:
        b->of = LLVMGetOperand(v, 0);
        return true;
    case LLVMAnd:
    case LLVMShl:
    case LLVMLShr:
        return look_through_bits(b, opcode);
    case LLVMShuffleVector:
        return is_bytes(k, LLVMTypeOf(v)) && look_through_shuffle(k, b);
    case LLVMBitCast:
        return look_through_cast(k, b);
    default:
        return false;
    }
}

static struct byte find_byte(const struct block *k, LLVMValueRef v, unsigned place)
{
    struct byte b = {v, place};
    for (unsigned i = 0; i < MOST_PLACES && look_through(k, &b); i++)
        ;
    return b;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The one instruction that reads a value; NULL: none, or several. */
static LLVMValueRef one_user(LLVMValueRef v)
{
    LLVMUseRef u = LLVMGetFirstUse(v);
    return u && !LLVMGetNextUse(u) ? LLVMGetUser(u) : NULL;
}

/* A factor by which all lanes are multiplied, and what is. */
static LLVMValueRef factor_of(LLVMValueRef v, int64_t *factor)
{
    uint64_t c;
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    if (is_op(v, LLVMShl) && jit_is_const(y, &c) && c < 16) {
        *factor = 1 << c;
        return x;
    }
    if (!is_op(v, LLVMMul))
        return NULL;
    if (!jit_is_const(y, &c)) {
        y = x, x = LLVMGetOperand(v, 1);
        if (!jit_is_const(y, &c))
            return NULL;
    }
    *factor = (int32_t)c;
    return x;
}

static bool is_sum(LLVMValueRef v)
{
    int64_t factor;
    return is_op(v, LLVMAdd) || is_op(v, LLVMSub) ||
           ((is_op(v, LLVMMul) || is_op(v, LLVMShl)) && factor_of(v, &factor));
}

static bool add_byte(struct sum *s, struct byte b, int64_t factor)
{
    unsigned n = 0;
    while (n < s->n && (s->terms[n].byte.of != b.of || s->terms[n].byte.place != b.place))
        n++;
    if (n == MOST_TERMS)
        return false;
    if (n == s->n)
        s->terms[s->n++] = (struct term){.byte = b};
    s->terms[n].factor += (int32_t)factor;
    return true;
}

static bool add_leaf(const struct block *k, struct sum *s, LLVMValueRef v, int64_t factor)
{
    for (unsigned place = 3; place > 0; place--)
        if (find_byte(k, v, place).of)
            return false;
    struct byte b = find_byte(k, v, 0);
    return !b.of || add_byte(s, b, factor);
}

static bool add_value(const struct block *k, struct sum *s, LLVMValueRef v, int64_t factor,
                      unsigned depth)
{
    uint64_t c;
    int64_t by;
    if (depth > MOST_DEPTH || factor < -65535 || factor > 65535)
        return false;
    if (jit_is_const(v, &c)) {
        s->constant += factor * (int32_t)c;
        return s->constant >= -65536 && s->constant <= 65536;
    }
    if (v != s->is && !one_user(v))
        return add_leaf(k, s, v, factor);
    if (is_op(v, LLVMAdd) || is_op(v, LLVMSub)) {
        LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
        return add_value(k, s, x, factor, depth + 1) &&
               add_value(k, s, y, is_op(v, LLVMSub) ? -factor : factor, depth + 1);
    }
    LLVMValueRef x = is_sum(v) ? factor_of(v, &by) : NULL;
    return x ? add_value(k, s, x, factor * by, depth + 1) : add_leaf(k, s, v, factor);
}

/* Sums nobody adds to another one. */
static bool is_whole(const struct block *k, LLVMValueRef v)
{
    if (!is_lanes(k, LLVMTypeOf(v), 32) || !(is_op(v, LLVMAdd) || is_op(v, LLVMSub)))
        return false;
    LLVMValueRef user = one_user(v);
    return !user || !is_sum(user) || LLVMGetInstructionParent(user) != LLVMGetInstructionParent(v);
}

static void find_sum(struct block *k, LLVMValueRef v)
{
    struct term terms[MOST_TERMS];
    struct sum s = {.is = v, .terms = terms};
    if (k->n == JIT_BYTE_SUMS || !is_whole(k, v) || !add_value(k, &s, v, 1, 0) ||
        s.n < JIT_BYTE_SUM_TERMS)
        return;
    s.least = s.most = s.constant;
    for (unsigned n = 0; n < s.n; n++)
        *(terms[n].factor < 0 ? &s.least : &s.most) += 255 * (int64_t)terms[n].factor;
    if (s.least < 0 ? s.least < -32768 || s.most > 32767 : s.most > 65535)
        return;
    s.terms = pt_arena_alloc(k->at->unit->arena, s.n * sizeof *terms);
    memcpy(s.terms, terms, s.n * sizeof *terms);
    k->sums[k->n++] = s;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* A vector of bytes that was loaded. */
static bool is_loaded(const struct block *k, LLVMValueRef v)
{
    return is_lanes(k, LLVMTypeOf(v), 8) && (LLVMIsALoadInst(v) || LLVMIsACallInst(v));
}

static bool are_chunks(const struct block *k, struct pair *p)
{
    for (unsigned n = 0; n < p->a->n; n++) {
        const struct term *x = &p->a->terms[n], *y = &p->b->terms[n];
        if (x->factor != y->factor || !is_loaded(k, x->byte.of) || !is_loaded(k, y->byte.of))
            return false;
        p->of_a[n] = p->of_b[n] = n;
    }
    p->is_words = false;
    return true;
}

/* The term of a sum of a byte of the same word with the same factor, `apart` from that of `x`. */
static bool find_term(const struct sum *s, const struct term *x, unsigned apart, unsigned *n)
{
    for (*n = 0; *n < s->n; ++*n) {
        const struct term *y = &s->terms[*n];
        if (x->byte.of == y->byte.of && x->factor == y->factor &&
            (x->byte.place ^ apart) == y->byte.place)
            return true;
    }
    return false;
}

static bool are_words(const struct block *k, struct pair *p)
{
    for (unsigned n = 0; n < p->a->n; n++) {
        const struct term *x = &p->a->terms[n];
        if (!is_lanes(k, LLVMTypeOf(x->byte.of), 32) ||
            (x->byte.place & 2) != (p->a->terms[0].byte.place & 2) ||
            !find_term(p->b, x, 2, &p->of_b[n]))
            return false;
        p->of_a[n] = n;
    }
    p->is_words = true;
    return true;
}

/* The other two bytes of the same words. */
static bool are_other_words(const struct pair *p, struct pair *q)
{
    for (unsigned n = 0; n < p->a->n; n++) {
        const struct term *x = &p->a->terms[n];
        if (!find_term(q->a, x, 1, &q->of_a[n]) && !find_term(q->a, x, 3, &q->of_a[n]))
            return false;
        if (!find_term(q->b, &q->a->terms[q->of_a[n]], 2, &q->of_b[n]))
            return false;
    }
    return true;
}

static bool reads(LLVMValueRef i, LLVMValueRef v)
{
    for (unsigned n = 0; n < (unsigned)LLVMGetNumOperands(i); n++)
        if (LLVMGetOperand(i, n) == v)
            return true;
    return false;
}

/* What both give is there behind `b`: nobody reads `a` before. */
static bool can_wait(const struct sum *a, const struct sum *b)
{
    if (a == b)
        return true;
    for (LLVMValueRef i = LLVMGetNextInstruction(a->is); i != b->is; i = LLVMGetNextInstruction(i))
        if (reads(i, a->is))
            return false;
    return true;
}

static bool is_pair(const struct block *k, struct pair *p)
{
    const struct sum *a = p->a, *b = p->b;
    return a->n == b->n && a->constant == b->constant && (a->least < 0) == (b->least < 0) &&
           (are_chunks(k, p) || are_words(k, p)) && can_wait(a, b);
}

/* ---- code ------------------------------------------------------------------------------------ */

static LLVMTypeRef narrow_type(const struct jit *at)
{
    return jit_int_type(at, 16, 2 * at->unit->width);
}

static bool may_write(LLVMValueRef i)
{
    static const char prefetch[] = "llvm.prefetch";
    if (LLVMIsACallInst(i))
        return !LLVMIsAIntrinsicInst(i) || LLVMGetIntrinsicID(LLVMGetCalledValue(i)) !=
                                               LLVMLookupIntrinsicID(prefetch, sizeof prefetch - 1);
    return LLVMIsAStoreInst(i) || LLVMIsAFenceInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i);
}

/* An address as a number and a constant. */
static LLVMValueRef address_of(LLVMValueRef load, int64_t *offset)
{
    uint64_t c;
    LLVMValueRef v = LLVMGetOperand(load, 0);
    *offset = 0;
    if (!is_op(v, LLVMIntToPtr))
        return v;
    for (v = LLVMGetOperand(v, 0); is_op(v, LLVMAdd) && jit_is_const(LLVMGetOperand(v, 1), &c);
         v = LLVMGetOperand(v, 0))
        *offset += (int64_t)c;
    return v;
}

/* Where the second load is nothing has been written since the first. */
static bool is_unwritten_between(LLVMValueRef first, LLVMValueRef second)
{
    LLVMValueRef i = first;
    for (unsigned n = 0; i && i != second && n < JIT_BYTE_SUM_APART; n++) {
        i = LLVMGetNextInstruction(i);
        if (i && may_write(i))
            return false;
    }
    return i == second;
}

/* The bytes of two chunks: one load where they lie side by side. */
static LLVMValueRef both_chunks(const struct jit *at, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef build = at->code->b;
    int64_t first, second;
    LLVMValueRef both[] = {a, b};
    bool are_loads = LLVMIsALoadInst(a) && LLVMIsALoadInst(b) && !LLVMGetVolatile(a) &&
                     !LLVMGetVolatile(b) && LLVMGetOrdering(a) == LLVMAtomicOrderingNotAtomic &&
                     LLVMGetOrdering(b) == LLVMAtomicOrderingNotAtomic;
    if (!are_loads || address_of(a, &first) != address_of(b, &second) ||
        second - first != (int64_t)at->unit->width || !is_unwritten_between(a, b))
        return jit_concat(at, both, 2);
    LLVMBasicBlockRef block = LLVMGetInstructionParent(b);
    LLVMValueRef next = LLVMGetNextInstruction(b);
    LLVMValueRef wide =
        LLVMBuildLoad2(build, jit_int_type(at, 8, 2 * at->unit->width), LLVMGetOperand(a, 0), "");
    LLVMSetAlignment(wide, 1);
    LLVMInstructionRemoveFromParent(wide);
    LLVMBuilderRef there = LLVMCreateBuilderInContext(at->code->context);
    LLVMPositionBuilder(there, block, next);
    LLVMInsertIntoBuilder(there, wide);
    LLVMDisposeBuilder(there);
    return wide;
}

static LLVMValueRef leaf(const struct jit *at, const struct pair *p, unsigned n)
{
    LLVMBuilderRef b = at->code->b;
    LLVMTypeRef type = narrow_type(at);
    struct byte x = p->a->terms[p->of_a[n]].byte, y = p->b->terms[p->of_b[n]].byte;
    if (!p->is_words)
        return LLVMBuildZExt(b, both_chunks(at, x.of, y.of), type, "");
    LLVMValueRef halves = LLVMBuildBitCast(b, x.of, type, "");
    return x.place & 1 ? LLVMBuildLShr(b, halves, jit_const(type, 8), "")
                       : LLVMBuildAnd(b, halves, jit_const(type, 255), "");
}

/* All that is multiplied by the same number, or less that. */
static void sum_of_factor(const struct jit *at, const struct group *g, int32_t factor,
                          LLVMValueRef *sum)
{
    const struct sum *s = g->pairs[0].a;
    LLVMBuilderRef b = at->code->b;
    for (unsigned i = 0; i < g->n; i++)
        sum[i] = LLVMConstNull(narrow_type(at));
    for (unsigned n = 0; n < s->n; n++)
        for (unsigned i = 0; i < g->n && s->terms[n].factor == factor; i++)
            sum[i] = LLVMBuildAdd(b, sum[i], leaf(at, &g->pairs[i], n), "");
    for (unsigned n = 0; n < s->n; n++)
        for (unsigned i = 0; i < g->n && s->terms[n].factor == -factor; i++)
            sum[i] = LLVMBuildSub(b, sum[i], leaf(at, &g->pairs[i], n), "");
}

static bool is_first_of_factor(const struct sum *s, unsigned n)
{
    int32_t factor = s->terms[n].factor;
    for (unsigned k = 0; k < n; k++)
        if (s->terms[k].factor == factor || s->terms[k].factor == -factor)
            return false;
    return factor != 0;
}

static void add_up(const struct jit *at, const struct group *g, LLVMValueRef *total)
{
    const struct sum *s = g->pairs[0].a;
    LLVMBuilderRef b = at->code->b;
    LLVMTypeRef type = narrow_type(at);
    for (unsigned i = 0; i < g->n; i++)
        total[i] = jit_const(type, (uint64_t)g->pairs[i].a->constant & 65535);
    for (unsigned n = 0; n < s->n; n++) {
        LLVMValueRef sum[2];
        int32_t factor = s->terms[n].factor < 0 ? -s->terms[n].factor : s->terms[n].factor;
        if (!is_first_of_factor(s, n))
            continue;
        sum_of_factor(at, g, factor, sum);
        for (unsigned i = 0; i < g->n; i++) {
            sum[i] = LLVMBuildMul(b, sum[i], jit_const(type, (uint64_t)factor & 65535), "");
            total[i] = LLVMBuildAdd(b, sum[i], total[i], "");
        }
    }
}

/* One of the two in lanes of 32 bits. */
static LLVMValueRef part(const struct jit *at, const struct pair *p, LLVMValueRef both,
                         bool is_second)
{
    LLVMBuilderRef b = at->code->b;
    int lanes[PT_WARP_SIZE];
    unsigned width = at->unit->width;
    LLVMTypeRef type = jit_int_type(at, 32, width);
    if (!p->is_words) {
        for (unsigned i = 0; i < width; i++)
            lanes[i] = (int)(is_second ? width + i : i);
        both = jit_shuffle(at, both, NULL, lanes, width);
        return p->a->least < 0 ? LLVMBuildSExt(b, both, type, "")
                               : LLVMBuildZExt(b, both, type, "");
    }
    LLVMValueRef sixteen = jit_const(type, 16);
    bool is_high = is_second != (p->a->terms[0].byte.place > 1);
    both = LLVMBuildBitCast(b, both, type, "");
    if (p->a->least >= 0)
        return is_high ? LLVMBuildLShr(b, both, sixteen, "")
                       : LLVMBuildAnd(b, both, jit_const(type, 65535), "");
    return LLVMBuildAShr(b, is_high ? both : LLVMBuildShl(b, both, sixteen, ""), sixteen, "");
}

/* ---- products -------------------------------------------------------------------------------- */

static bool is_shift_by_32(LLVMValueRef v)
{
    uint64_t c;
    return (is_op(v, LLVMAShr) || is_op(v, LLVMLShr)) && jit_is_const(LLVMGetOperand(v, 1), &c) &&
           c == 32;
}

/* `v` has every other lane of 32 bits, from the first or from the second on, of what is returned:
 * emit/integer.c. */
static LLVMValueRef every_other_of(LLVMValueRef v, bool is_second)
{
    uint64_t c;
    if (!is_shift_by_32(v))
        return NULL;
    v = LLVMGetOperand(v, 0);
    if (!is_second) {
        if (!is_op(v, LLVMShl) || !jit_is_const(LLVMGetOperand(v, 1), &c) || c != 32)
            return NULL;
        v = LLVMGetOperand(v, 0);
    }
    bool is_cast =
        is_op(v, LLVMBitCast) || (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMBitCast);
    return is_cast ? LLVMGetOperand(v, 0) : NULL;
}

/* Of a product of every other lane: its constant factor, where the other is x. */
static bool is_product_of(LLVMValueRef v, LLVMValueRef x, bool is_second, uint64_t *c)
{
    if (!is_op(v, LLVMBitCast) || !is_op(v = LLVMGetOperand(v, 0), LLVMMul) ||
        every_other_of(LLVMGetOperand(v, 0), is_second) != x)
        return false;
    LLVMValueRef factor = every_other_of(LLVMGetOperand(v, 1), is_second);
    return factor && jit_is_const(factor, c);
}

/* The upper halves of products of x and a number below 2^31, as emit/integer.c makes them for CPUs
 * that multiply every other lane (`multiplies_every_other`): those of x86. */
static bool is_high_product(LLVMValueRef v, LLVMValueRef x, uint64_t *c)
{
    uint64_t first, second;
    unsigned width = LLVMIsAShuffleVectorInst(v) ? LLVMGetVectorSize(LLVMTypeOf(v)) : 0;
    if (!width || LLVMTypeOf(v) != LLVMTypeOf(x) ||
        !is_product_of(LLVMGetOperand(v, 0), x, false, &first) ||
        !is_product_of(LLVMGetOperand(v, 1), x, true, &second) || first != second || first >> 31)
        return false;
    for (unsigned i = 0; i < width; i++)
        if (LLVMGetMaskValue(v, i) != (int)(i % 2 ? width + i : i + 1))
            return false;
    *c = first;
    return true;
}

/* What uses x in such a product; NULL: nothing. */
static LLVMValueRef find_high_product(LLVMValueRef x, uint64_t *c)
{
    for (LLVMUseRef u = LLVMGetFirstUse(x); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef pairs = LLVMGetUser(u);
        for (LLVMUseRef w = LLVMGetFirstUse(pairs); w; w = LLVMGetNextUse(w)) {
            LLVMValueRef v = LLVMGetUser(w);
            for (unsigned i = 0; i < 3 && v; i++)
                v = one_user(v);
            if (v && is_high_product(v, x, c))
                return v;
        }
    }
    return NULL;
}

/* A factor of 16 bits that gives the same upper halves for numbers up to `most`; 0: none does. */
static uint32_t narrow_factor(uint64_t factor, int64_t most)
{
    uint32_t narrow = (uint32_t)((factor + 65535) >> 16);
    for (uint64_t x = 0; x <= (uint64_t)most; x++)
        if (x * factor >> 32 != x * narrow >> 16)
            return 0;
    return narrow;
}

static LLVMValueRef high_halves(const struct jit *at, LLVMValueRef x, uint32_t factor)
{
    unsigned lanes = 2 * at->unit->width;
    const char *name = lanes == 8    ? "llvm.x86.sse2.pmulhu.w"
                       : lanes == 16 ? "llvm.x86.avx2.pmulhu.w"
                                     : "llvm.x86.avx512.pmulhu.w.512";
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(at->code->module, id, NULL, 0);
    LLVMValueRef args[] = {x, jit_const(LLVMTypeOf(x), factor)};
    return LLVMBuildCall2(at->code->b, LLVMGlobalGetValueType(f), f, args, 2, "");
}

/* Divisions by constants: of both sums in one product. */
static void narrow_products(const struct jit *at, const struct pair *p, LLVMValueRef both)
{
    uint64_t c, d;
    LLVMValueRef x = find_high_product(p->a->is, &c), y = find_high_product(p->b->is, &d);
    uint32_t factor = x && y && c == d && p->a->least >= 0 ? narrow_factor(c, p->a->most) : 0;
    if (!factor)
        return;
    both = high_halves(at, both, factor);
    LLVMReplaceAllUsesWith(x, part(at, p, both, false));
    LLVMReplaceAllUsesWith(y, part(at, p, both, true));
}

/* Of a pair: the sums, and what is multiplied with them. */
static void replace_sums(const struct jit *at, const struct pair *p, LLVMValueRef both)
{
    narrow_products(at, p, both);
    LLVMReplaceAllUsesWith(p->a->is, part(at, p, both, false));
    LLVMReplaceAllUsesWith(p->b->is, part(at, p, both, true));
    p->a->is_done = p->b->is_done = true;
}

static void make_group(const struct block *k, const struct group *g)
{
    LLVMValueRef total[2];
    LLVMBuilderRef b = k->at->code->b;
    LLVMValueRef last = g->pairs[0].b->is;
    if (g->n > 1 && g->pairs[1].b > g->pairs[0].b)
        last = g->pairs[1].b->is;
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(last));
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(last));
    add_up(k->at, g, total);
    for (unsigned i = 0; i < g->n; i++)
        replace_sums(k->at, &g->pairs[i], total[i]);
}

/* ---- loads ----------------------------------------------------------------------------------- */

static bool is_pure(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMBitCast:
    case LLVMShuffleVector:
        return true;
    default:
        return LLVMIsALoadInst(i) && !LLVMGetVolatile(i) &&
               LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
    }
}

/* What the sums in lanes of 32 bits needed. */
static void remove_dead(LLVMBasicBlockRef block)
{
    LLVMValueRef before;
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i; i = before) {
        before = LLVMGetPreviousInstruction(i);
        if (is_pure(i) && !LLVMGetFirstUse(i))
            LLVMInstructionEraseFromParent(i);
    }
}

/* A vector is loaded where it is needed first, or before memory is written. */
static void sink(const struct jit *at, LLVMValueRef load)
{
    LLVMValueRef i = LLVMGetNextInstruction(load), first = i;
    while (i && !LLVMIsATerminatorInst(i) && !may_write(i) && !reads(i, load))
        i = LLVMGetNextInstruction(i);
    if (!i || i == first)
        return;
    LLVMPositionBuilderBefore(at->code->b, i);
    LLVMInstructionRemoveFromParent(load);
    LLVMInsertIntoBuilder(at->code->b, load);
}

/* Sums stand behind all loads: their vectors would be in memory until then. */
static void sink_loads(const struct jit *at, LLVMBasicBlockRef block)
{
    LLVMValueRef before;
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i; i = before) {
        before = LLVMGetPreviousInstruction(i);
        if (LLVMIsALoadInst(i) && is_pure(i) &&
            LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind)
            sink(at, i);
    }
}

/* A pair of sums from `a` on. */
static bool find_pair(struct block *k, unsigned a, struct pair *p)
{
    p->a = &k->sums[a];
    for (unsigned b = a + 1; b < k->n && !p->a->is_done; b++) {
        p->b = &k->sums[b];
        if (!p->b->is_done && is_pair(k, p))
            return true;
    }
    return false;
}

/* Another pair of the same words, all of which is read behind all of both. */
static bool find_other(struct block *k, struct group *g)
{
    const struct pair *p = &g->pairs[0];
    struct pair *q = &g->pairs[1];
    for (unsigned a = (unsigned)(p->a - k->sums) + 1; p->is_words && a < k->n; a++) {
        if (&k->sums[a] == p->b || !find_pair(k, a, q) || q->b == p->b || q->a->n != p->a->n ||
            !are_other_words(p, q))
            continue;
        const struct sum *last = p->b > q->b ? p->b : q->b;
        return can_wait(p->a, last) && can_wait(p->b, last) && can_wait(q->a, last) &&
               can_wait(q->b, last);
    }
    return false;
}

static bool make_pairs(struct block *k)
{
    bool has_made = false;
    for (unsigned a = 0; a < k->n; a++) {
        struct group g = {.n = 1};
        if (!find_pair(k, a, &g.pairs[0]))
            continue;
        g.n += find_other(k, &g);
        make_group(k, &g);
        has_made = true;
    }
    return has_made;
}

static void visit_block(const struct jit *at, LLVMBasicBlockRef block)
{
    struct block k = {.at = at};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        find_sum(&k, i);
    if (!make_pairs(&k))
        return;
    remove_dead(block);
    sink_loads(at, block);
}

void jit_byte_sums_narrow(struct jit_code *code)
{
    const struct jit at = {.unit = code->unit, .code = code};
    if (code->unit->width < 4)
        return;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(code->function); b;
         b = LLVMGetNextBasicBlock(b))
        visit_block(&at, b);
}
