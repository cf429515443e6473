/* How values and control differ between threads: known kernels by hand, and random ones against a
 * run of all their threads in the order that ir/uniformity.h states. */
#include "ir/insn.h"
#include "ir/print.h"
#include "ir/row.h"
#include "ir/uniformity.h"
#include "tests/unit/load.h"

enum { MAX_THREADS = 64, MAX_REGS = 64, MAX_BLOCKS = 64, MAX_STEPS = 400 };

static const struct pt_uniformity_shape shape_1d = {{256, 1, 1}, 8, 1};
static const struct pt_uniformity_shape shape_warp = {{256, 1, 1}, 8, 4};

/* ---- by hand --------------------------------------------------------------------------------- */

struct vary_test {
    struct pt_module m;
    const struct pt_func *f;
    struct pt_uniformity *uniformity;
};

static bool find(struct vary_test *t, const struct pt_uniformity_shape *shape, const char *body)
{
    struct text text = {0};
    append(&text,
           LOAD_HEADER
           ".global .align 16 .b8 g[64];\n.const .b32 c[4];\n.shared .align 16 .b8 s[64];\n"
           ".entry k(.param .u64 ptr, .param .u32 n)\n{\n.reg .pred %%p<9>;\n"
           ".reg .b32 %%r<30>;\n.reg .b64 %%d<30>;\n.reg .f32 %%f<9>;\n"
           ".local .b8 frame[64];\n%s}\n",
           body);
    bool ok = load(&t->m, text.text) && lower_all(&t->m);
    CHECK(ok);
    free(text.text);
    if (ok) {
        t->f = &t->m.funcs.v[1];
        t->uniformity = pt_uniformity_find(&t->m, t->f, shape, NULL, &t->m.arena);
    } else {
        pt_arena_free(&t->m.arena);
    }
    return ok;
}

static const struct pt_value *reg_value(const struct vary_test *t, const char *reg)
{
    static const struct pt_value none = {.level = 99};
    for (uint32_t r = 1; r < t->f->regs.n; r++) {
        char name[64];
        pt_print_reg(t->f, r, name, sizeof name);
        if (!strcmp(name, reg))
            return &t->uniformity->regs[r];
    }
    return &none;
}

/* "cta", "group", "chunk", "lane", or "lane+4~3" for stride 4 from a multiple of 2^3, with "?" if
 * it may wrap. */
static const char *text_of(const struct pt_value *v)
{
    static char buf[64];
    static const char *const levels[] = {"cta", "group", "chunk", "lane"};
    int n = snprintf(buf, sizeof buf, "%s", v->level < 4 ? levels[v->level] : "none");
    if (v->is_affine)
        snprintf(buf + n, sizeof buf - (size_t)n, "%+lld~%u%s", (long long)v->stride, v->align_log2,
                 v->may_wrap ? "?" : "");
    return buf;
}

/* What one register is after a body. */
static void check_reg(const struct pt_uniformity_shape *shape, const char *body, const char *reg,
                      const char *want)
{
    struct vary_test t;
    if (!find(&t, shape, body))
        return;
    const char *have = text_of(reg_value(&t, reg));
    if (strcmp(have, want))
        fprintf(stderr, "in: %s\n", body);
    CHECK_TEXT(have, want);
    pt_arena_free(&t.m.arena);
}

static void test_special_registers(void)
{
    struct pt_uniformity_shape square = {{16, 16, 1}, 8, 1}, square16 = {{16, 16, 1}, 16, 1};
    struct pt_uniformity_shape square4 = {{16, 16, 1}, 8, 4}, small = {{4, 64, 1}, 8, 1};
    struct pt_uniformity_shape cube = {{8, 4, 4}, 8, 4}, column = {{1, 64, 1}, 8, 1},
                               any = {{0}, 8, 1};
    struct pt_uniformity_shape odd = {{100, 1, 1}, 8, 4}, odd2 = {{100, 2, 1}, 8, 1};
    const struct {
        const struct pt_uniformity_shape *shape;
        enum pt_sreg sreg;
        const char *want;
    } cases[] = {
        {&shape_1d, PT_SREG_tid_x, "lane+1~3"}, {&shape_1d, PT_SREG_tid_y, "cta"},
        {&shape_1d, PT_SREG_ctaid_x, "cta"},    {&shape_1d, PT_SREG_laneid, "lane+1~3"},
        {&shape_1d, PT_SREG_warpid, "group"},   {&shape_1d, PT_SREG_lanemask_lt, "lane"},
        {&shape_1d, PT_SREG_clock64, "lane"},   {&square, PT_SREG_tid_x, "lane+1~3"},
        {&square, PT_SREG_tid_y, "group"},      {&square16, PT_SREG_tid_x, "lane+1~4"},
        {&square16, PT_SREG_tid_y, "group"},    {&square4, PT_SREG_tid_y, "chunk"},
        {&square4, PT_SREG_tid_z, "cta"},       {&small, PT_SREG_tid_x, "lane"},
        {&small, PT_SREG_tid_y, "lane"},        {&cube, PT_SREG_tid_z, "group"},
        {&cube, PT_SREG_tid_y, "chunk"},        {&column, PT_SREG_tid_y, "lane+1~3"},
        {&column, PT_SREG_tid_x, "cta"},        {&any, PT_SREG_tid_x, "lane"},
        {&any, PT_SREG_ntid_x, "cta"},          {&any, PT_SREG_laneid, "lane+1~3"},
        {&odd, PT_SREG_tid_x, "lane+1~3"},      {&odd2, PT_SREG_tid_x, "lane"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_value v = pt_uniformity_sreg(cases[i].shape, cases[i].sreg);
        CHECK_TEXT(text_of(&v), cases[i].want);
    }
}

#define INDEX /* the index of every 1-D kernel in %r4 */                                           \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, " \
    "%r3;"
#define STORE(reg) "st.global.u32 [g], " reg ";"

static void test_affine(void)
{
    static const struct {
        const char *body, *reg, *want;
    } cases[] = {
        {INDEX STORE("%r4"), "%r4", "lane+1~3"},
        {INDEX "min.s32 %r5, %r4, %r6;" STORE("%r5"), "%r5", "lane+1~0?"}, /* nobody writes %r6 */
        {INDEX "top: min.s32 %r5, %r5, %r4; setp.lt.s32 %p1, %r5, 0; @%p1 bra top;" STORE("%r5"),
         "%r5", "lane"},
        {INDEX "mul.wide.s32 %d1, %r4, 4; ld.param.u64 %d2, [ptr]; add.s64 %d3, %d2, %d1;", "%d1",
         "lane+4~5"},
        {INDEX "mul.wide.s32 %d1, %r4, 4; ld.param.u64 %d2, [ptr]; add.s64 %d3, %d2, %d1;", "%d3",
         "lane+4~0"},
        {INDEX "ld.param.u32 %r5, [n]; add.s32 %r6, %r4, %r5; mul.wide.s32 %d1, %r6, 4;", "%d1",
         "lane+4~2?"},
        {INDEX
         "ld.param.u32 %r5, [n]; add.s32 %r6, %r4, %r5; cvt.u64.u32 %d1, %r6; shl.b64 %d2, %d1, 3;",
         "%d2", "lane+8~3?"},
        {INDEX "cvt.u64.u32 %d1, %r4; cvt.u32.u64 %r5, %d1;", "%r5", "lane+1~3"},
        {INDEX "sub.s32 %r5, 7, %r4;", "%r5", "lane-1~0"},
        {INDEX "neg.s32 %r5, %r4;", "%r5", "lane-1~3"},
        {INDEX "ld.param.u32 %r5, [n]; mul.lo.s32 %r6, %r4, %r5;", "%r6", "lane"},
        {INDEX "sub.s32 %r5, %r4, %r3;", "%r5", "group"},
        {INDEX "and.b32 %r5, %r4, 31;", "%r5", "lane+1~3"},
        {INDEX "and.b32 %r5, %r4, 3;", "%r5", "lane"},
        {INDEX "and.b32 %r5, %r4, -8;", "%r5", "group"},
        {INDEX "and.b32 %r5, %r4, 0;", "%r5", "cta"},
        {INDEX "popc.b32 %r5, %r4; and.b32 %r6, %r5, 0;", "%r6", "lane"},
        {INDEX "or.b32 %r5, %r4, 256;", "%r5", "lane+1~3"},
        {INDEX "or.b32 %r5, %r4, 1;", "%r5", "lane"},
        {INDEX "or.b32 %r5, %r4, 7;", "%r5", "group"},
        {INDEX "xor.b32 %r5, %r4, 64;", "%r5", "lane+1~3"},
        {INDEX "shl.b32 %r5, %r1, 8; or.b32 %r6, %r5, %r3;", "%r6", "lane+1~3"},
        {INDEX "shr.u32 %r5, %r4, 5;", "%r5", "group"},
        {INDEX "shr.u32 %r5, %r4, 2;", "%r5", "lane"},
        {INDEX "shr.s32 %r5, %r4, 3;", "%r5", "group"},
        {INDEX "div.u32 %r5, %r4, 32;", "%r5", "group"},
        {INDEX "div.s32 %r5, %r3, 32; rem.s32 %r6, %r3, 32; mad.lo.s32 %r7, %r5, 33, %r6;", "%r7",
         "lane+1~0"},
        {INDEX "div.s32 %r5, %r4, 32;", "%r5", "lane"},
        {INDEX "bfe.u32 %r5, %r4, 5, 3;", "%r5", "group"},
        {INDEX "mov.b32 %f1, %r4; mov.b32 %r5, %f1;", "%f1", "lane"},
        {INDEX "mov.u32 %r5, g; cvta.global.u64 %d1, %d2;", "%r5", "cta"},
        {"mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; ld.u32 %r1, [%d2];", "%d2", "cta"},
        {"mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; ld.u32 %r1, [%d2];", "%r1", "group"},
        {"mov.u64 %d1, frame; cvta.local.u64 %d2, %d1;", "%d1", "cta"},
        {"mov.u64 %d1, frame; cvta.local.u64 %d2, %d1;", "%d2", "lane"},
        {"mov.u64 %d1, frame; ld.local.u32 %r1, [%d1];", "%r1", "lane"},
        {INDEX "ld.const.u32 %r5, [c+4];", "%r5", "cta"},
        {INDEX "ld.global.nc.u32 %r5, [g];", "%r5", "cta"},
        {INDEX "ld.global.u32 %r5, [g]; add.s32 %r6, %r5, %r3;", "%r6", "lane+1~0"},
        {INDEX "ld.volatile.global.u32 %r5, [g];", "%r5", "lane"},
        {INDEX "atom.global.add.u32 %r5, [g], 1;", "%r5", "lane"},
        {INDEX "cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, %f1;", "%f2", "cta"},
        {INDEX "cvt.rn.f32.u32 %f1, %r4; add.f32 %f2, %f1, %f1;", "%f2", "lane"},
        {INDEX "add.cc.u32 %r5, %r3, %r1; addc.u32 %r6, %r1, 0;", "%r6", "lane"},
        {"add.cc.u32 %r5, 1, 2; addc.u32 %r6, 3, 0;", "%r6", "cta"},
        {"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;", "%p1", "group"},
        {"mov.u32 %r1, %tid.x; setp.le.s32 %p1, %r1, 31;", "%p1", "group"},
        {"mov.u32 %r1, %tid.x; setp.gt.u32 %p1, 32, %r1;", "%p1", "group"},
        {"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 33;", "%p1", "lane"},
        {"mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;", "%p1", "lane"},
        {"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 512;", "%p1", "cta"},
        {"mov.u32 %r1, %tid.x; setp.gt.s32 %p1, %r1, 255;", "%p1", "cta"},
        {"setp.eq.s32 %p1, 0, 1; mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 8; selp.b32 %r3, %r1, %r2, "
         "%p1;",
         "%r3", "lane+1~3"},
        {"mov.u32 %r1, %tid.x; min.s32 %r2, %r1, 7;", "%r2", "lane+1~0?"},
        {"mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; max.u32 %r3, %r2, %r1;", "%r3", "lane+1~0?"},
        {"mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 1; min.u32 %r3, %r1, %r2;", "%r3", "lane"},
        {"mov.u32 %r1, %ctaid.x; min.u32 %r2, %r1, 5;", "%r2", "cta"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_reg(&shape_1d, cases[i].body, cases[i].reg, cases[i].want);
}

/* Groups of a whole warp. */
static void test_warp(void)
{
    static const struct {
        const char *body, *reg, *want;
    } cases[] = {
        {"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;", "%p1", "group"},
        {"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8;", "%p1", "chunk"},
        {"mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;", "%r2", "group"},
        {"mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 3;", "%r2", "chunk"},
        {"mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; and.b32 %r3, %r1, 7;", "%r3", "lane+1~3"},
        {"mov.u32 %r1, %laneid; shfl.sync.down.b32 %r2, %r1, 1, 31, -1;", "%r2", "lane"},
        {"mov.u32 %r1, %laneid; setp.eq.u32 %p1, %r1, 3; vote.sync.ballot.b32 %r2, %p1, -1;", "%r2",
         "group"},
        {"mov.u32 %r1, %laneid; redux.sync.add.u32 %r2, %r1, -1;", "%r2", "group"},
        {"mov.u32 %r1, %laneid; redux.sync.add.u32 %r2, %r1, %r1;", "%r2", "lane"},
        {"mov.u32 %r1, %laneid; setp.eq.u32 %p1, %r1, 3; bar.red.popc.u32 %r2, 0, %p1;", "%r2",
         "cta"},
        {"mov.u32 %r1, %laneid; setp.eq.u32 %p1, %r1, 3; bar.red.popc.u32 %r2, 0, 64, %p1;", "%r2",
         "group"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_reg(&shape_warp, cases[i].body, cases[i].reg, cases[i].want);
    check_reg(&shape_1d, cases[7].body, "%r2", "lane"); /* members outside of the group */
}

#define VARYING "mov.u32 %r1, %tid.x; ld.global.u32 %r2, [g]; setp.eq.u32 %p1, %r1, 5;"
#define UNIFORM "ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 5;"

static void test_control(void)
{
    static const struct {
        const char *body, *reg, *want;
    } cases[] = {
        /* joined: different constants on the two ways */
        {VARYING "mov.u32 %r3, 1; @%p1 bra J; mov.u32 %r3, 2; J: " STORE("%r3"), "%r3", "lane"},
        {UNIFORM "mov.u32 %r3, 1; @%p1 bra J; mov.u32 %r3, 2; J: " STORE("%r3"), "%r3", "cta"},
        {VARYING "mov.u32 %r3, 1; @!%p1 mov.u32 %r3, 2;" STORE("%r3"), "%r3", "lane"},
        {UNIFORM "mov.u32 %r3, 1; @!%p1 mov.u32 %r3, 2;" STORE("%r3"), "%r3", "cta"},
        {VARYING "@%p1 mov.u32 %r3, 2; @%p1 st.global.u32 [g], %r3;", "%r3", "cta"},
        /* inside one way all agree */
        {VARYING "@%p1 bra J; mov.u32 %r3, 2; " STORE("%r3") "J: ret;", "%r3", "cta"},
        {VARYING "@%p1 bra J; add.u32 %r3, %r1, 2; " STORE("%r3") "J: ret;", "%r3", "lane+1~1"},
        /* lanes leave the loop at different times: what is carried out differs */
        {VARYING
         "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1; @%p2 bra L;" STORE(
             "%r3"),
         "%r3", "lane"},
        {VARYING
         "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; " STORE("%r3") "setp.lt.u32 %p2, %r3, %r1; @%p2 "
                                                                 "bra L;",
         "%r3", "cta"},
        {UNIFORM
         "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r2; @%p2 bra L;" STORE(
             "%r3"),
         "%r3", "cta"},
        /* a grid-stride loop: affine all the way, with its one varying exit */
        {INDEX "ld.param.u32 %r5, [n]; L: " STORE("%r4") "add.s32 %r4, %r4, 1024;"
                                                         "setp.lt.s32 %p2, %r4, %r5; @%p2 bra L;",
         "%r4", "lane+1~3"},
        /* kept from an earlier iteration in lanes that the guard leaves out */
        {VARYING "mov.u32 %r3, 0; L: mul.lo.u32 %r4, %r3, 3; @%p1 mov.u32 %r5, %r4; " STORE(
             "%r5") "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; xor.pred %p1, %p1, %p2; @%p2 "
                    "bra L;",
         "%r5", "lane"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_reg(&shape_1d, cases[i].body, cases[i].reg, cases[i].want);
}

/* ---- against a run of all threads ------------------------------------------------------------ */

struct machine {
    const struct pt_module *m;
    const struct pt_func *f;
    const struct pt_uniformity *uniformity;
    uint32_t threads;
    uint64_t regs[MAX_THREADS][MAX_REGS];
    uint64_t waiting[MAX_BLOCKS]; /* threads that stand there */
    bool is_cta;                  /* of the CTA at once; else only one group's */
    uint32_t steps;
};

static bool has_bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i & 63) & 1;
}

static unsigned reg_bits(const struct machine *w, uint32_t reg)
{
    return pt_type_bits((enum pt_type)w->f->regs.v[reg].type);
}

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint32_t first_of_chunk(const struct machine *w, uint32_t t)
{
    return t & ~(w->uniformity->shape.width - 1);
}

/* Threads of one chunk hold what the analysis says. */
static bool fits_chunk(const struct machine *w, uint32_t reg, uint32_t t, uint32_t u)
{
    const struct pt_value *v = &w->uniformity->regs[reg];
    uint64_t a = w->regs[t][reg], b = w->regs[u][reg], mask = ones(reg_bits(w, reg));
    if (v->is_affine && v->may_wrap)
        return true;
    if (v->is_affine) {
        uint64_t base = a - (uint64_t)v->stride * (t - first_of_chunk(w, t));
        return !((b - a - (uint64_t)v->stride * (u - t)) & mask) &&
               !(base & mask & ones(v->align_log2));
    }
    return v->level == PT_LEVEL_LANE || (a == b && !(a & ones(v->align_log2)));
}

/* What the threads that run together read is as the analysis says. */
static void check_read(struct machine *w, uint32_t reg, uint64_t threads)
{
    const struct pt_value *v = &w->uniformity->regs[reg];
    uint32_t t = (uint32_t)__builtin_ctzll(threads);
    bool is_alike = true, is_right = true;
    for (uint32_t u = t; u < w->threads; u++) {
        if (!(threads >> u & 1))
            continue;
        uint32_t chunk = first_of_chunk(w, u);
        uint32_t first = chunk + (uint32_t)__builtin_ctzll(threads >> chunk);
        is_alike &= w->regs[t][reg] == w->regs[u][reg];
        is_right &= w->is_cta || fits_chunk(w, reg, first, u);
    }
    CHECK(is_right);
    if (v->level <= (w->is_cta ? PT_LEVEL_CTA : PT_LEVEL_GROUP))
        CHECK(is_alike);
}

static uint64_t read_operand(const struct machine *w, uint32_t t, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_REG)
        return w->regs[t][o->index];
    if (o->kind == PT_OPND_IMM)
        return (uint64_t)o->imm;
    return 77; /* a parameter */
}

static uint64_t read_sreg(const struct machine *w, uint32_t t, uint32_t sreg)
{
    const uint32_t *n = w->uniformity->shape.block;
    return sreg == PT_SREG_tid_x ? t % n[0] : sreg == PT_SREG_tid_y ? t / n[0] : 3;
}

static uint64_t compute(const struct machine *w, uint32_t t, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(w->m, insn);
    const struct pt_operand *o = w->f->operands.v + insn->operands;
    uint32_t a = (uint32_t)read_operand(w, t, &o[1]);
    uint64_t wide = read_operand(w, t, &o[1]);
    uint32_t b = insn->n_operands > 2 ? (uint32_t)read_operand(w, t, &o[2]) : 0;
    uint32_t c = insn->n_operands > 3 ? (uint32_t)read_operand(w, t, &o[3]) : 0;
    switch (form->op) {
    case PT_OP_ld:
    case PT_OP_mov:
        return wide;
    case PT_OP_mov_sreg:
        return read_sreg(w, t, o[1].index);
    case PT_OP_add_int:
        return a + b;
    case PT_OP_sub_int:
        return a - b;
    case PT_OP_mul_lo:
        return a * b;
    case PT_OP_and_b:
        return a & b;
    case PT_OP_or_b:
        return a | b;
    case PT_OP_xor_b:
        return a ^ b;
    case PT_OP_shl:
        return b > 31 ? 0 : a << b;
    case PT_OP_shr:
        if (form->type[0] == PT_s32)
            return (uint32_t)((int32_t)a >> (b > 31 ? 31 : b));
        return b > 31 ? 0 : a >> b;
    case PT_OP_setp_int:
        return form->type[0] == PT_s32 ? (int32_t)a < (int32_t)b : a < b;
    case PT_OP_selp:
        return c ? a : b;
    case PT_OP_mul_wide:
        return form->type[0] == PT_s32 ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b)
                                       : (uint64_t)a * b;
    case PT_OP_cvt_int:
        return form->type[1] == PT_s32 ? (uint64_t)(int64_t)(int32_t)a : wide;
    default:
        CHECK(!"an instruction of the generator");
        return 0;
    }
}

struct reads {
    struct machine *w;
    uint64_t threads;
};

static void visit_read(void *ud, uint32_t reg, bool is_def)
{
    struct reads *r = ud;
    if (!is_def)
        check_read(r->w, reg, r->threads);
}

static uint64_t guarded(const struct machine *w, const struct pt_insn *insn, uint64_t threads)
{
    for (uint32_t t = 0; t < w->threads && insn->guard; t++)
        if ((w->regs[t][insn->guard] != 0) == insn->guard_neg)
            threads &= ~(UINT64_C(1) << t);
    return threads;
}

/* Threads that the last instruction sends elsewhere than to `next`; those that end are dropped. */
static uint64_t branch(struct machine *w, const struct pt_insn *insn, uint64_t threads)
{
    const struct pt_operand *o = w->f->operands.v + insn->operands;
    uint64_t taken = guarded(w, insn, threads);
    if (pt_insn_form(w->m, insn)->op == PT_OP_bra)
        w->waiting[o->index] |= taken;
    return taken;
}

static void execute(struct machine *w, const struct pt_insn *insn, uint64_t threads)
{
    const struct pt_operand *o = w->f->operands.v + insn->operands;
    uint64_t results[MAX_THREADS];
    for (uint32_t t = 0; t < w->threads; t++)
        if (threads >> t & 1)
            results[t] = compute(w, t, insn) & ones(reg_bits(w, o[0].index));
    for (uint32_t t = 0; t < w->threads; t++)
        if (threads >> t & 1)
            w->regs[t][o[0].index] = results[t];
}

static void check_waiting(struct machine *w, uint32_t block)
{
    const uint64_t *waits = w->is_cta ? w->uniformity->waits_cta : w->uniformity->waits_group;
    for (uint32_t x = 0; x < w->f->blocks.n; x++)
        if (w->waiting[x])
            CHECK(has_bit(waits + block * w->uniformity->words, x));
}

static void run_block(struct machine *w, uint32_t block)
{
    const struct pt_block *b = &w->f->blocks.v[block];
    uint64_t threads = w->waiting[block];
    uint8_t agree = w->is_cta ? PT_LEVEL_CTA : PT_LEVEL_GROUP;
    w->waiting[block] = 0;
    if (!threads || w->steps++ > MAX_STEPS)
        return;
    check_waiting(w, block);
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_insn *insn = &w->f->insns.v[i];
        struct reads reads = {w, threads};
        bool is_last = pt_insn_form(w->m, insn)->effects & (PT_FX_BRANCH | PT_FX_END);
        uint64_t run = is_last ? branch(w, insn, threads) : guarded(w, insn, threads);
        if (insn->guard)
            check_read(w, insn->guard, threads);
        reads.threads = run;
        if (run)
            pt_insn_regs(w->m, w->f, insn, visit_read, &reads);
        if (!is_last) {
            execute(w, insn, run);
            continue;
        }
        if (w->uniformity->branch[block] <= agree)
            CHECK(run == 0 || run == threads);
        threads &= ~run;
    }
    if (threads && b->next != UINT32_MAX)
        w->waiting[b->next] |= threads;
}

/* The blocks from `first` in order, each loop among them until nobody is left in it. */
static void run_blocks(struct machine *w, uint32_t first, uint32_t end)
{
    for (uint32_t b = first; b < end;) {
        uint32_t loop = w->f->blocks.v[b].loop;
        if (!loop || w->f->loops.v[loop - 1].header != b) {
            run_block(w, b++);
            continue;
        }
        uint32_t loop_end = w->f->loops.v[loop - 1].end;
        do {
            run_block(w, b);
            run_blocks(w, b + 1, loop_end);
        } while (w->waiting[b] && w->steps <= MAX_STEPS);
        b = loop_end;
    }
}

static void run_threads(struct machine *w, uint32_t first, uint32_t n)
{
    memset(w->waiting, 0, sizeof w->waiting);
    memset(w->regs, 0, sizeof w->regs);
    w->steps = 0;
    w->waiting[0] = ones(n) << first;
    run_blocks(w, 0, w->f->blocks.n);
}

/* ---- random kernels -------------------------------------------------------------------------- */

static void random_insn(struct text *t, uint32_t *seed)
{
    static const char *const ops[] = {"add.s32", "sub.s32", "mul.lo.s32", "and.b32",
                                      "or.b32",  "xor.b32", "shl.b32",    "shr.u32",
                                      "shr.s32", "add.s32", "add.s32",    "and.b32"};
    static const int numbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, -1, -4, -8, 255, 15};
    uint32_t d = next_random(seed) % 5, a = next_random(seed) % 5, b = next_random(seed) % 5;
    int number = numbers[next_random(seed) % 16];
    if (next_random(seed) % 4 == 0)
        append(t, "@%s%%p%u ", next_random(seed) % 2 ? "!" : "", next_random(seed) % 3);
    switch (next_random(seed) % 10) {
    case 0:
        append(t, "mov.u32 %%r%u, %%tid.%c;\n", d, next_random(seed) % 3 ? 'x' : 'y');
        break;
    case 1:
        append(t, "mov.u32 %%r%u, %d;\n", d, number);
        break;
    case 2:
        append(t, "mul.wide.%c32 %%d%u, %%r%u, %d;\n", next_random(seed) % 2 ? 'u' : 's', d % 2, a,
               number);
        break;
    case 3:
        if (next_random(seed) % 2)
            append(t, "cvt.u32.u64 %%r%u, %%d%u;\n", d, a % 2);
        else
            append(t, "cvt.%s %%d%u, %%r%u;\n", b % 2 ? "u64.u32" : "s64.s32", d % 2, a);
        break;
    case 4:
        append(t, "setp.lt.%c32 %%p%u, %%r%u, %d;\n", next_random(seed) % 2 ? 'u' : 's', d % 3, a,
               number);
        break;
    case 5:
        append(t, "setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", d % 3, a, b);
        break;
    case 6:
        append(t, "selp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", d, a, b, next_random(seed) % 3);
        break;
    case 7:
        append(t, "%s %%r%u, %%r%u, %%r%u;\n", ops[next_random(seed) % 6], d, a, b);
        break;
    default:
        append(t, "%s %%r%u, %%r%u, %d;\n", ops[next_random(seed) % 12], d, a, number);
    }
}

static void random_kernel(struct text *t, uint32_t *seed)
{
    uint32_t n = 2 + next_random(seed) % 9;
    append(t, LOAD_HEADER ".entry k(.param .u32 n)\n{\n");
    append(t, ".reg .pred %%p<3>;\n.reg .b32 %%r<5>;\n.reg .b64 %%d<2>;\n");
    append(t, "mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; ld.param.u32 %%r2, [n];\n");
    append(t, "mov.u32 %%r3, %%tid.y; mov.u32 %%r4, 0; mov.u64 %%d0, 0; mov.u64 %%d1, 5;\n");
    append(t, "setp.lt.u32 %%p0, %%r0, 8; setp.lt.u32 %%p1, %%r0, 5; setp.lt.u32 %%p2, %%r2, 5;\n");
    for (uint32_t i = 0; i < n; i++) {
        append(t, "L%u:\n", i);
        for (uint32_t k = next_random(seed) % 5; k--;)
            random_insn(t, seed);
        if (next_random(seed) % 8)
            append(t, "@%s%%p%u ", next_random(seed) % 2 ? "!" : "", next_random(seed) % 3);
        if (next_random(seed) % 8)
            append(t, "bra L%u;\n", next_random(seed) % n);
        else
            append(t, "ret;\n");
    }
    append(t, "ret;\n}\n");
}

static void test_random(const struct pt_uniformity_shape *shape, uint32_t seed)
{
    static struct machine w;
    struct pt_module m;
    struct text t = {0};
    int failed = check_failed;
    random_kernel(&t, &seed);
    if (!load(&m, t.text) || !lower_all(&m)) {
        CHECK(!"the kernel lowers");
        return;
    }
    w.m = &m;
    w.f = &m.funcs.v[1];
    w.uniformity = pt_uniformity_find(&m, w.f, shape, NULL, &m.arena);
    w.threads = shape->block[0] * shape->block[1] * shape->block[2];
    if (w.f->regs.n <= MAX_REGS && w.f->blocks.n <= MAX_BLOCKS) {
        uint32_t group = shape->width * shape->copies;
        w.is_cta = true;
        run_threads(&w, 0, w.threads);
        w.is_cta = false;
        for (uint32_t first = 0; first < w.threads; first += group)
            run_threads(&w, first, w.threads - first < group ? w.threads - first : group);
    }
    if (check_failed > failed)
        fprintf(stderr, "in this kernel (width %u, copies %u):\n%s", shape->width, shape->copies,
                t.text);
    free(t.text);
    pt_arena_free(&m.arena);
}

int main(void)
{
    static const struct pt_uniformity_shape shapes[] = {
        {{32, 1, 1}, 4, 1}, {{32, 1, 1}, 4, 2},  {{8, 4, 1}, 4, 1}, {{8, 4, 1}, 4, 4},
        {{4, 8, 1}, 4, 2},  {{16, 2, 1}, 16, 1}, {{8, 4, 1}, 8, 4}, {{30, 1, 1}, 8, 2},
    };
    test_special_registers();
    test_affine();
    test_warp();
    test_control();
    for (uint32_t i = 0; i < 2000; i++)
        test_random(&shapes[i % 8], i + 1);
    return CHECK_DONE("unit_vary");
}
