/* Contraction: what ptxas 13.0 does at -O3 for sm_90, as counted in its machine code. Each case
 * gives the fma, mul and add instructions that are left, and the instructions in short form where
 * the choice matters. */
#include "ir/print.h"
#include "tests/unit/load.h"

struct counts {
    int fma, mul, add;
};

static bool is_float(const struct pt_form *form)
{
    return pt_type_class(form->type[0]) == PT_CLASS_F || pt_type_class(form->type[0]) == PT_CLASS_H;
}

/* Lowers a body over x0 … x5 (inputs) that leaves its results in y0 …, which are stored. */
static bool lower_case(struct pt_module *m, const char *type, const char *body, bool fmad)
{
    unsigned bits = !strcmp(type, "f64")                         ? 64
                    : !strcmp(type, "f32") || strstr(type, "x2") ? 32
                                                                 : 16;
    struct text t = {0};
    append(&t,
           LOAD_HEADER ".entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b%u x<6>, y<8>, "
                       "t<8>;\n.reg .pred p1, p2;\n"
                       ".reg .b32 r<4>;\n.reg .b64 d;\nld.param.u64 d, [p];\nld.param.u32 r1, "
                       "[n];\nsetp.gt.s32 p1, r1, 3;\n"
                       "setp.gt.s32 p2, r1, 7;\n",
           bits);
    for (int i = 0; i < 6; i++)
        append(&t, "ld.global.b%u x%d, [d+%d];\n", bits, i, i * 8);
    append(&t, "%s\n", body);
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        if (strstr(body, name))
            append(&t, "st.global.b%u [d+%d], y%d;\n", bits, 64 + i * 8, i);
    }
    append(&t, "ret;\n}\n");
    bool ok = load(m, t.text);
    m->fmad = fmad;
    ok = ok && lower_all(m);
    CHECK(ok);
    free(t.text);
    return ok;
}

static struct counts count(const struct pt_module *m)
{
    const struct pt_func *f = &m->funcs.v[1];
    struct counts n = {0, 0, 0};
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_form *form = pt_insn_form(m, &f->insns.v[i]);
        const char *s = form->spelling;
        n.fma += is_float(form) && !strncmp(s, "fma.", 4);
        n.mul += is_float(form) && !strncmp(s, "mul.", 4);
        n.add += is_float(form) && (!strncmp(s, "add.", 4) || !strncmp(s, "sub.", 4));
    }
    return n;
}

static void check_case(const char *type, const char *body, int fma, int mul, int add)
{
    struct pt_module m;
    if (lower_case(&m, type, body, true)) {
        struct counts n = count(&m);
        if (n.fma != fma || n.mul != mul || n.add != add)
            fprintf(stderr, "%s: fma %d, mul %d, add %d\n", body, n.fma, n.mul, n.add);
        CHECK(n.fma == fma && n.mul == mul && n.add == add);
    }
    pt_arena_free(&m.arena);
}

/* The printed function holds the line. */
static void check_text(const char *body, const char *line)
{
    struct pt_module m;
    if (lower_case(&m, "f32", body, true)) {
        size_t len;
        CHECK_HAS(pt_print(&m, 1, &m.arena, &len), line);
    }
    pt_arena_free(&m.arena);
}

#define MUL "mul.f32 t0, x0, x1; "
#define MUL2 MUL "mul.f32 t1, x2, x3; "

static void test_one_product(void)
{
    check_case("f32", MUL "add.f32 y0, t0, x2;", 1, 0, 0);
    check_case("f32", MUL "sub.f32 y0, t0, x2;", 1, 0, 0);
    check_case("f32", MUL "sub.f32 y0, x2, t0;", 1, 0, 0);
    check_case("f32", MUL "add.f32 y0, t0, x2; add.f32 y1, t0, x3;", 2, 0, 0);
    check_case("f32", MUL "mov.f32 y1, t0; add.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", MUL "add.f32 y0, t0, x2; mul.f32 y1, t0, x3;", 0, 2, 1);
    check_case("f32", MUL "add.f32 y0, t0, x2; fma.rn.f32 y1, t0, x3, x4;", 1, 1, 1);
    check_case("f32", MUL "add.f32 y0, t0, x2; mul.f32 t1, t0, x3;", 1, 1, 0); /* t1 is dead */
    check_case("f32", MUL "add.f32 y0, t0, t0;", 0, 1, 1);
    check_case("f32", MUL "add.f32 y0, t0, t0; add.f32 y1, t0, x2;", 0, 1, 2);
    check_text(MUL "add.f32 y0, t0, x2;", "fma.rn.f32 y0, x0, x1, x2;");
    check_text(MUL "add.f32 y0, t0, 0f40400000;", "fma.rn.f32 y0, x0, x1, 0f40400000;");
    check_text("mul.f32 t0, x0, 0f40400000; sub.f32 y0, x2, t0;",
               "fma.rn.f32 y0, x0, 0fC0400000, x2;");
    check_text(MUL "sub.f32 y0, t0, 0f40400000;", "fma.rn.f32 y0, x0, x1, 0fC0400000;");
}

static void test_modifiers(void)
{
    check_case("f32", "mul.ftz.f32 t0, x0, x1; add.ftz.f32 y0, t0, x2;", 1, 0, 0);
    check_case("f32", "mul.ftz.f32 t0, x0, x1; add.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", MUL "add.ftz.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", MUL "add.f32 y0, t0, x2; add.ftz.f32 y1, t0, x3;", 0, 1, 2);
    check_case("f32", MUL "add.sat.f32 y0, t0, x2;", 1, 0, 0);
    check_case("f32", "mul.sat.f32 t0, x0, x1; add.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", "mul.rn.f32 t0, x0, x1; add.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", MUL "add.rn.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", MUL "add.f32 y0, t0, x2; add.rn.f32 y1, t0, x3;", 0, 1, 2);
    check_case("f32", "mul.rz.f32 t0, x0, x1; add.rz.f32 y0, t0, x2;", 0, 1, 1);
    check_text("mul.ftz.f32 t0, x0, x1; add.ftz.sat.f32 y0, t0, x2;",
               "fma.rn.ftz.sat.f32 y0, x0, x1, x2;");
}

static void test_looked_through(void)
{
    check_case("f32", MUL "neg.f32 t1, t0; add.f32 y0, t1, x2;", 1, 0, 0);
    check_case("f32", MUL "neg.f32 t1, t0; add.f32 y0, t1, x2; add.f32 y1, t0, x3;", 2, 0, 0);
    check_case("f32", MUL "neg.f32 y1, t0; add.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", MUL "neg.ftz.f32 t1, t0; add.f32 y0, t1, x2;", 0, 1, 1);
    check_case("f32", "mul.ftz.f32 t0, x0, x1; neg.ftz.f32 t1, t0; add.ftz.f32 y0, t1, x2;", 1, 0,
               0);
    check_case("f32", "mul.ftz.f32 t0, x0, x1; neg.ftz.f32 t1, t0; sub.ftz.f32 y0, x2, t1;", 0, 1,
               1);
    check_case("f32", "mul.ftz.f32 t0, x0, x1; neg.ftz.f32 t1, t0; sub.ftz.f32 y0, t1, x2;", 1, 0,
               0);
    check_case(
        "f32",
        "mul.ftz.f32 t0, x0, x1; neg.ftz.f32 t1, t0; neg.f32 t2, t1; add.ftz.f32 y0, t2, x2;", 0, 1,
        1);
    check_case("f32", MUL "abs.f32 t1, t0; add.f32 y0, t1, x2;", 0, 1, 1);
    check_case("f32", MUL "mov.b32 r2, t0; mov.b32 t1, r2; add.f32 y0, t1, x2;", 1, 0, 0);
    check_case("f32", MUL "xor.b32 t1, t0, 0x80000000; add.f32 y0, t1, x2;", 0, 1, 1);
    check_case("f32", MUL "selp.f32 t1, t0, x3, p1; add.f32 y0, t1, x2;", 0, 1, 1);
    check_text("mul.f32 t0, x0, 0f40400000; neg.f32 t1, t0; neg.f32 t2, t1; add.f32 y0, t2, x2;",
               "fma.rn.f32 y0, x0, 0f40400000, x2;");
}

/* What is left of a division: its factors are mul.rn (two of them, if it is scaled) and rcp. */
static void test_divisions(void)
{
    static const char *const scaled[] = {"div.full.f32 t0, x0, x1; ",
                                         "div.approx.f32 t0, x0, x1; "};
    char body[256];
    for (size_t i = 0; i < 2; i++) {
        const char *div = scaled[i];
        snprintf(body, sizeof body, "%sadd.f32 y0, t0, x2;", div);
        check_case("f32", body, 1, 2, 0);
        snprintf(body, sizeof body, "%sadd.sat.f32 y0, t0, x2; sub.f32 y1, x3, t0;", div);
        check_case("f32", body, 2, 2, 0);
        snprintf(body, sizeof body, "%sneg.f32 t1, t0; sub.f32 y0, t1, x2;", div);
        check_case("f32", body, 1, 2, 0);
        snprintf(body, sizeof body, "%sbar.sync 0; @p1 add.f32 t0, t0, x2; mov.f32 y0, t0;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "%sadd.ftz.f32 y0, t0, x2;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "%sadd.rn.f32 y0, t0, x2;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "%sadd.f32 y0, t0, t0;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "%sadd.f32 y0, t0, x2; mov.f32 y1, t0;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "%smembar.gl; add.f32 y0, t0, x2;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "%sneg.ftz.f32 t1, t0; add.f32 y0, t1, x2;", div);
        check_case("f32", body, 0, 0, 1);
        snprintf(body, sizeof body, "mul.f32 t1, x2, x3; %sadd.f32 y0, t1, t0;", div);
        check_text(body, "fma.rn.f32 y0, x2, x3, t0;");
        snprintf(body, sizeof body, "mul.f32 t1, x2, x3; %sadd.f32 y0, t0, t1;", div);
        check_text(body, ", t1;");
        check_case("f32", body, 1, 3, 0);
        snprintf(body, sizeof body, "%smul.f32 t1, x2, x3; add.f32 y0, t0, t1; add.f32 y1, t0, x4;",
                 div);
        check_text(body, "fma.rn.f32 y0, x2, x3, t0;");
        check_text(body, "add.f32 y1, t0, x4;");
    }
    check_case("f32", "div.full.ftz.f32 t0, x0, x1; add.ftz.f32 y0, t0, x2;", 1, 2, 0);
    check_case("f32", "div.full.ftz.f32 t0, x0, x1; add.f32 y0, t0, x2;", 0, 0, 1);
    check_case("f32", "div.approx.ftz.f32 t0, x0, x1; add.ftz.f32 y0, t0, x2;", 1, 0, 0);
    check_case("f32", "div.approx.ftz.f32 t0, x0, x1; add.f32 y0, t0, x2;", 0, 0, 1);
    check_text("div.approx.ftz.f32 t0, x0, x1; add.ftz.f32 y0, x2, t0;", "rcp.approx.ftz.f32 t0$");
    check_case("f32", "rcp.approx.f32 t0, x0; add.f32 y0, t0, x2; sub.f32 y1, x3, t0;", 2, 1, 0);
    check_case("f32", "rcp.approx.f32 t0, x0; add.f32 y0, t0, x2; mov.f32 y1, t0;", 0, 0, 1);
    check_case("f32", "rcp.approx.ftz.f32 t0, x0; add.ftz.f32 y0, t0, x2;", 0, 0, 1);
    check_case("f32", "sqrt.approx.f32 t0, x0; add.f32 y0, t0, x2;", 0, 0, 1);
}

static void test_constant_divisors(void)
{
    check_text("div.full.f32 y0, x0, 0f40400000;", "    mul.f32 y0, x0, 0f3EAAAAAB;");
    check_text("div.approx.ftz.f32 y0, x0, 0fC0400000;", "mul.ftz.f32 y0, x0, 0fBEAAAAAB;");
    check_text("mov.b32 r2, 0x40400000; mov.b32 t0, r2; @p1 bra L; mov.f32 y1, x3; L: "
               "@p2 div.full.f32 y0, x0, t0;",
               "@p2 mul.f32 y0, x0, 0f3EAAAAAB;");
    check_text("mov.f32 t0, 0f40400000; @p1 mov.f32 t0, 0f40000000; div.full.f32 y0, x0, t0;",
               "div.full.f32 y0, x0, t0");
    check_text("div.full.f32 t0, x0, 0f40400000; add.f32 y0, t0, x2;",
               "fma.rn.f32 y0, x0, 0f3EAAAAAB, x2;");
    check_case("f32", "div.full.f32 t0, x0, 0f40400000; add.ftz.f32 y0, t0, x2;", 0, 1, 1);
    /* scaled, or not because of .ftz or .approx */
    check_text("div.full.f32 t0, x0, 0f7F000000; add.f32 y0, t0, x2;", ", x0, 0f3E800000;");
    check_text("div.full.f32 t0, x0, 0f7F000000; add.f32 y0, t0, x2;", ", 0f01000000, x2;");
    check_text("div.approx.f32 y0, x0, 0fFF000000;", "mul.f32 y0, x0, 0f80000000;");
    check_text("div.full.f32 y0, x0, 0f80000001;", ", 0fFE000000;");
    check_text("div.full.ftz.f32 y0, x0, 0f80000001;", "mul.ftz.f32 y0, x0, 0fFF800000;");
    check_text("div.full.ftz.f32 y0, x0, 0f7E800000;", "mul.ftz.f32 y0, x0, 0f00800000;");
    check_text("div.approx.f32 y0, x0, 0f7E800001;", "mul.f32 y0, x0, 0f00000000;");
    check_text("div.approx.f32 y0, x0, 0f7E7FFFFF;", "mul.f32 y0, x0, 0f00800001;");
    check_case("f32", MUL "div.full.f32 t1, t0, 0f7F000000; add.f32 y1, t0, x2; mov.f32 y0, t1;", 0,
               3, 1);
    /* by 1 and -1 */
    check_case("f32", MUL "div.full.f32 t1, t0, 0f3F800000; add.f32 y0, t1, x2;", 1, 0, 0);
    check_case("f32", MUL "div.full.f32 t1, t0, 0fBF800000; add.f32 y0, t1, x2;", 1, 0, 0);
    check_case("f32", MUL "div.full.f32 t1, t0, 0f40000000; add.f32 y0, t1, x2;", 1, 1, 0);
    check_text("div.full.ftz.f32 y0, x0, 0f3F800000;", "mul.ftz.f32 y0, x0, 0f3F800000;");
    check_text("rcp.approx.f32 y0, 0f40400000;", "mov.f32 y0, 0f3EAAAAAB;");
    check_text("rcp.approx.f32 y0, 0f00000001;", "mul.rn.f32 y0, 0f7E000000, 0f4B800000;");
    check_text("rcp.approx.ftz.f32 y0, 0f7F000000;", "mov.f32 y0, 0f00000000;");
}

static void test_two_products(void)
{
    check_text(MUL2 "add.f32 y0, t0, t1;", "fma.rn.f32 y0, x0, x1, t1;");
    check_text(MUL2 "add.f32 y0, t1, t0;", "fma.rn.f32 y0, x2, x3, t0;");
    check_text(MUL2 "neg.f32 t2, t1; add.f32 y0, t0, t2;", "fma.rn.f32 y0, x0, x1, t2;");
    check_text(MUL2 "add.f32 y0, t0, t1; mov.b32 y1, t0;", "fma.rn.f32 y0, x2, x3, t0;");
    /* one use before several, fewer before more, then the first operand */
    check_text(MUL2 "add.f32 y0, t0, t1; add.f32 y1, t0, x4;", "fma.rn.f32 y0, x2, x3, t0;");
    check_text(MUL2 "add.f32 y0, t0, t1; add.f32 y1, t0, x4;", "add.f32 y1, t0, x4;");
    check_text(MUL2 "add.f32 y1, t0, x4; add.f32 y0, t0, t1;", "add.f32 y1, t0, x4;");
    check_case("f32", MUL2 "add.f32 y0, t0, t1; sub.f32 y1, t1, t0;", 2, 1, 0);
    check_text(MUL2 "add.f32 y0, t0, t1; add.f32 y1, t1, x4; add.f32 y2, t0, x5;",
               "add.f32 y1, t1, x4;");
    check_text(MUL2 "add.f32 y0, t1, t0; add.f32 y1, t1, x4; add.f32 y2, t0, x5;",
               "add.f32 y2, t0, x5;");
    /* taken once, then an addend: both happen to one product */
    check_case("f32", MUL2 "add.f32 y0, t0, x4; add.f32 y1, t1, t0; add.f32 y2, t1, x5;", 3, 1, 0);
    check_case("f32",
               MUL2
               "add.f32 y0, t0, t1; add.f32 y1, t0, x4; add.f32 y2, t0, x5; add.f32 y3, t1, x4;",
               2, 1, 2);
    check_case("f32",
               MUL2
               "add.f32 y0, t0, x4; add.f32 y1, t0, t1; add.f32 y2, t0, x5; add.f32 y3, t1, x4;",
               3, 1, 1);
    check_case("f32",
               MUL2
               "mul.f32 t2, x4, x5; add.f32 y0, t0, t1; add.f32 y1, t1, t2; add.f32 y2, t2, t0;",
               3, 2, 0);
    check_case("f32", MUL2 "mul.f32 t2, x4, x5; add.f32 t3, t0, t1; add.f32 y0, t3, t2;", 2, 1, 0);
    check_case("f32", MUL "mul.f32 t1, t0, x3; add.f32 y0, t0, t1;", 1, 1, 0);
}

static void test_stretches(void)
{
    static const char *const joined[] = {"bar.sync 0;",
                                         "bra L; L:",
                                         "shfl.sync.bfly.b32 r2, r1, 1, 31, -1;",
                                         "activemask.b32 r2;",
                                         "atom.global.add.u32 r2, [d], r1;",
                                         "st.global.u32 [d], r1;",
                                         "nanosleep.u32 10;",
                                         "bar.warp.sync -1;",
                                         "div.u32 r2, r1, 3;",
                                         "div.full.f32 y1, x3, x4;",
                                         "sqrt.approx.f32 y1, x3;",
                                         "@p1 mov.u32 r2, r1;",
                                         "fence.acquire.gpu;",
                                         "@p1 ex2.approx.f32 y1, x3;"};
    static const char *const parted[] = {"@p1 bra L; st.global.u32 [d], r1; L:",
                                         "@p1 exit;",
                                         "@p1 bar.sync 0;",
                                         "@p1 ld.global.u32 r2, [d];",
                                         "@p1 st.global.u32 [d], r1;",
                                         "div.rn.f32 y1, x3, x4;",
                                         "sqrt.rn.f32 y1, x3;",
                                         "rcp.rn.f32 y1, x3;",
                                         "div.s32 r2, r1, 3;",
                                         "rem.s64 d, d, 3;",
                                         "membar.gl;",
                                         "fence.sc.gpu;",
                                         "fence.acq_rel.cta;",
                                         "@p1 shfl.sync.bfly.b32 r2, r1, 1, 31, -1;",
                                         "pmevent 1;"};
    char body[256];
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        snprintf(body, sizeof body, MUL "%s add.f32 y0, t0, x2;", joined[i]);
        check_case("f32", body, 1, 0, 0);
    }
    for (size_t i = 0; i < sizeof parted / sizeof *parted; i++) {
        snprintf(body, sizeof body, MUL "%s add.f32 y0, t0, x2;", parted[i]);
        check_case("f32", body, 0, 1, 1);
    }
    check_case("f32",
               MUL "add.f32 y0, t0, x2; mov.f32 y1, x5; @p1 bra L; add.f32 y1, t0, x3; L:", 0, 1,
               2);
    check_case("f32", "mov.f32 y0, x5; " MUL "@p1 add.f32 y0, t0, x2;", 1, 0, 0);
    check_case("f32", "@p1 " MUL "@p1 add.f32 y0, t0, x2;", 0, 1, 1);
    check_case("f32", "mov.f32 t0, x5; @p1 " MUL "add.f32 y0, t0, x2;", 0, 1, 1);
}

/* A factor that is written between mul and add is kept in a register of its own. */
static void test_overwritten(void)
{
    check_case("f32", "mov.f32 y1, x0; mul.f32 t0, y1, x1; @p1 mov.f32 y1, x4; add.f32 y0, t0, x2;",
               1, 0, 0);
    check_text("mov.f32 y1, x0; mul.f32 t0, y1, x1; @p1 mov.f32 y1, x4; add.f32 y0, t0, x2;",
               "mov.b32 y1$");
    check_text("mov.f32 y1, x0; mul.f32 t0, y1, x1; @p1 mov.f32 y1, x4; add.f32 y0, t0, x2;",
               "fma.rn.f32 y0, y1$");
}

static void test_types(void)
{
    static const char *const types[] = {"f64", "f16", "f16x2", "bf16", "bf16x2"};
    char body[256];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *t = types[i];
        snprintf(body, sizeof body, "mul.%s t0, x0, x1; add.%s y0, t0, x2;", t, t);
        check_case(t, body, 1, 0, 0);
        snprintf(body, sizeof body, "mul.%s t0, x0, x1; mul.%s t1, x2, x3; sub.%s y0, t1, t0;", t,
                 t, t);
        check_case(t, body, 1, 1, 0);
        snprintf(body, sizeof body, "mul.rn.%s t0, x0, x1; add.rn.%s y0, t0, x2;", t, t);
        check_case(t, body, 0, 1, 1);
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *t = types[i];
        int fma = !strcmp(t, "bf16x2") ? 0 : 1, kept = !fma;
        snprintf(body, sizeof body, "mul.%s t0, x0, x1; neg.%s t1, t0; add.%s y0, t1, x2;", t, t,
                 t);
        check_case(t, body, fma, kept, kept);
        /* The product with one use is taken first, or the one that comes first. */
        fma = strstr(t, "x2") ? 2 : 1;
        snprintf(body, sizeof body,
                 "mul.%s t0, x0, x1; mul.%s t1, x2, x3; add.%s y0, t1, x4; add.%s y1, t0, t1;", t,
                 t, t, t);
        check_case(t, body, fma, 1, 2 - fma);
    }
    check_case("f16", "mul.f16 t0, x0, x1; add.sat.f16 y0, t0, x2;", 1, 0, 0);
    check_case("f16", "mul.ftz.f16 t0, x0, x1; add.f16 y0, t0, x2;", 0, 1, 1);
}

static void test_off(void)
{
    struct pt_module m;
    const char *body = MUL "add.f32 y0, t0, x2; div.full.f32 y1, x3, 0f40400000;";
    if (lower_case(&m, "f32", body, false)) {
        CHECK_INT(count(&m).fma, 0);
        CHECK_INT(count(&m).mul, 2); /* a division by a constant is one all the same */
    }
    pt_arena_free(&m.arena);
}

int main(void)
{
    test_one_product();
    test_modifiers();
    test_looked_through();
    test_divisions();
    test_constant_divisors();
    test_two_products();
    test_stretches();
    test_overwritten();
    test_types();
    test_off();
    return CHECK_DONE("contract");
}
