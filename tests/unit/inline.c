/* Calls that are expanded, and local variables that become registers: what is left of calls,
 * accesses and registers, and where instructions and variables say they are. */
#include "ir/escape.h"
#include "ir/inline.h"
#include "ir/verify.h"
#include "tests/unit/load.h"

struct inline_test {
    struct pt_module m;
    struct pt_inlined out;
};

static uint32_t kernel_of(const struct pt_module *m)
{
    uint32_t f = 1;
    while (f < m->funcs.n - 1 && !m->funcs.v[f].is_entry)
        f++;
    return f;
}

/* Functions, then the body of the kernel. */
static bool expand(struct inline_test *t, const char *functions, const char *body)
{
    struct text text = {0};
    append(&text,
           LOAD_HEADER "%s.entry k(.param .u64 out)\n{\n.reg .pred %%p<9>;\n.reg .b16 %%h<9>;\n"
                       ".reg .b32 %%r<30>;\n.reg .b64 %%d<30>;\n.reg .f32 %%f<9>;\n%s}\n",
           functions, body);
    bool ok = load(&t->m, text.text) && lower_all(&t->m);
    free(text.text);
    CHECK(ok);
    ok = ok && pt_inline(&t->m, kernel_of(&t->m), false, &t->m.arena, &t->out);
    CHECK(ok);
    const char *wrong = ok ? pt_verify(t->out.m, t->out.f) : NULL;
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    CHECK(!wrong);
    return ok;
}

static int count(const struct inline_test *t, const char *mnemonic)
{
    int n = 0;
    for (uint32_t i = 0; i < t->out.f->insns.n; i++) {
        const char *spelling = pt_insn_form(t->out.m, &t->out.f->insns.v[i])->spelling;
        n += !strncmp(spelling, mnemonic, strlen(mnemonic));
    }
    return n;
}

/* How many instructions are left of calls, loads and stores (the kernel's parameter is not
 * counted). */
static void check_left(const char *functions, const char *body, int calls, int accesses)
{
    struct inline_test t;
    if (expand(&t, functions, body)) {
        int n = count(&t, "ld") + count(&t, "st");
        if (count(&t, "call") != calls || n != accesses)
            fprintf(stderr, "%s: call %d, ld and st %d\n", body, count(&t, "call"), n);
        CHECK_INT(count(&t, "call"), calls);
        CHECK_INT(n, accesses);
        CHECK_INT(t.out.f->calls, calls != 0);
    }
    pt_arena_free(&t.m.arena);
}

#define TWICE                                                           \
    ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %a<3>;\n" \
    "ld.param.b32 %a1, [x];\nadd.u32 %a2, %a1, %a1;\nst.param.b32 [r], %a2;\nret;\n}\n"
#define CALL(name)                                                             \
    "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\ncall (q), " name \
    ", (p);\nld.param.b32 %r2, [q]; }\n"

static void test_parameters(void)
{
    check_left("", "ret;", 0, 0);
    check_left(TWICE, "mov.u32 %r1, 3;\n" CALL("twice") "ret;", 0, 0);
    check_left(TWICE, "mov.u32 %r1, 3;\n" CALL("twice") "mov.u32 %r1, %r2;\n" CALL("twice") "ret;",
               0, 0);
    /* Registers. */
    check_left(".func (.reg .f32 y) half(.reg .f32 x)\n{\nmul.f32 y, x, 0f3f000000;\nret;\n}\n",
               "mov.f32 %f1, 0f40000000;\ncall (%f2), half, (%f1);\n"
               "call (%f2), half, (0f40000000);\nret;",
               0, 0);
    /* Elements of a structure; vectors; a size that differs stays in memory. */
    check_left(".func (.param .align 8 .b8 r[16]) pair(.param .align 8 .b8 x[16])\n{\n"
               ".reg .f32 %a<5>;\n"
               "ld.param.v2.f32 {%a1, %a2}, [x];\nld.param.f32 %a3, [x+12];\n"
               "st.param.v2.f32 [r+8], {%a1, %a3};\nret;\n}\n",
               "{ .param .align 8 .b8 p[16]; .param .align 8 .b8 q[16];\nst.param.f32 [p], %f1;\n"
               "st.param.v2.f32 [p+8], {%f1, %f2};\ncall (q), pair, (p);\n"
               "ld.param.f32 %f3, [q+12]; }\nret;",
               0, 0);
    check_left(TWICE,
               "{ .param .b32 p; .param .b32 q;\nst.param.b16 [p], %h1;\nst.param.b16 [p+2], %h1;\n"
               "call (q), twice, (p);\nld.param.b32 %r2, [q]; }\nret;",
               0, 3);
}

/* The callee writes into its parameter: the caller's argument is another variable. */
static void test_changed_parameter(void)
{
    check_left(".func (.param .b32 r) change(.param .b32 x)\n{\n.reg .b32 %a<3>;\n"
               ".reg .b64 %b<3>;\n"
               "mov.b64 %b1, x;\nld.param.b32 %a1, [x];\nst.local.b32 [%b1], %a1;\n"
               "st.param.b32 [r], %a1;\nret;\n}\n",
               CALL("change") "ret;", 0, 3); /* the copy of the argument, a load and a store in the
                                              * callee */
}

/* Calls `%d1` by prototype P. */
#define CALL_ANY                                                                        \
    "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"                            \
    "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\ncall (q), %d1, (p), P;\n" \
    "ld.param.b32 %r2, [q]; }\n"
#define SQUARE                                                           \
    ".func (.param .b32 r) square(.param .b32 x)\n{\n.reg .b32 %a<3>;\n" \
    "ld.param.b32 %a1, [x];\nmul.lo.u32 %a2, %a1, %a1;\nst.param.b32 [r], %a2;\nret;\n}\n"
#define OTHER ".func other(.param .b64 x)\n{\nret;\n}\n"

/* Those whose address is taken, be it by an initialiser, and that have the prototype's
 * parameters. */
static void test_indirect(void)
{
    struct inline_test t;
    check_left(TWICE SQUARE OTHER,
               "mov.u64 %d2, other;\n"
               "mov.u64 %d1, twice;\n" CALL_ANY "ret;",
               0, 0);
    if (expand(&t, TWICE SQUARE OTHER ".global .u64 table[2] = {other, square};\n",
               "mov.u64 %d1, twice;\n" CALL_ANY "ret;")) {
        CHECK_INT(count(&t, "call"), 0);
        CHECK_INT(count(&t, "brx.idx"), 1);
        CHECK_INT(count(&t, "setp.eq.u64"), 2);
        CHECK_INT(count(&t, "mul.lo.u32"), 1);
        CHECK(!t.out.stays);
    }
    pt_arena_free(&t.m.arena);
    if (expand(&t, TWICE SQUARE,
               "mov.u64 %d1, twice;\nmov.u64 %d2, square;\nnames: .calltargets twice;\n"
               "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\n"
               "call (q), %d1, (p), names; }\nret;"))
        CHECK_INT(count(&t, "setp.eq.u64"), 1);
    pt_arena_free(&t.m.arena);
}

static void test_what_stays(void)
{
    check_left(".func (.param .b32 r) again(.param .b32 x)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;\n"
               "mov.u64 %d1, again;\nld.param.b32 %r1, [x];\n" CALL_ANY "st.param.b32 [r], %r2;\n"
               "ret;\n}\n",
               CALL("again") "ret;", 1, 2);
    check_left(".func (.param .b32 r) down(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
               "ld.param.b32 %r1, [x];\n" CALL("down") "st.param.b32 [r], %r2;\nret;\n}\n",
               CALL("down") "ret;", 1, 2);
    check_left(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n",
               "{ .param .b64 p; .param .b64 v; .param .b32 q;\nst.param.b64 [p], %d1;\n"
               "st.param.b64 [v], %d1;\ncall (q), vprintf, (p, v);\nld.param.b32 %r1, [q]; }\nret;",
               1, 3);
}

/* Early returns, loops and barriers inside the callee; the code after the call runs once. */
static void test_control(void)
{
    struct inline_test t;
    if (expand(&t,
               ".func walk(.reg .u32 n)\n{\n.reg .pred %q<3>;\nsetp.eq.u32 %q1, n, 0;\n@%q1 ret;\n"
               "L: sub.u32 n, n, 1;\nsetp.gt.u32 %q2, n, 0;\n@%q2 bra L;\nbar.sync 0;\nret;\n}\n",
               "mov.u32 %r1, 5;\nM: call walk, (%r1);\nadd.u32 %r1, %r1, 1;\n"
               "setp.lt.u32 %p1, %r1, 9;\n"
               "@%p1 bra M;\nexit;\n")) {
        CHECK_INT(count(&t, "call"), 0);
        CHECK_INT(count(&t, "ret"), 0);
        CHECK_INT(count(&t, "exit"), 1);
        CHECK_INT(count(&t, "bar.sync"), 1);
        CHECK_INT(t.out.f->loops.n, 2);
    }
    pt_arena_free(&t.m.arena);
}

/* Every instruction of the copy says where it was written. */
static void test_places(void)
{
    struct inline_test t;
    if (expand(&t, TWICE, "mov.u32 %r1, 3;\n" CALL("twice") "st.global.u32 [%d1], %r2;\nret;")) {
        uint32_t kernel = kernel_of(&t.m), found = 0;
        for (uint32_t i = 0; i < t.out.f->insns.n; i++) {
            struct pt_place place = pt_inlined_place(&t.out, i);
            const struct pt_insn *from = &t.m.funcs.v[place.func].insns.v[place.insn];
            CHECK(place.func == 1 || place.func == kernel);
            CHECK_INT(t.out.f->insns.v[i].line, from->line);
            found += place.func == 1 && !strcmp(pt_insn_form(&t.m, from)->spelling, "add.u32");
        }
        CHECK_INT(found, 1);
    }
    pt_arena_free(&t.m.arena);
}

/* Frames of callees lie behind their callers', as on the interpreter's stack. */
static void test_frames(void)
{
    struct inline_test t;
    if (expand(&t,
               ".func deep()\n{\n.local .b32 v[3];\n.reg .b64 %a<2>;\nmov.b64 %a1, v;\n"
               "st.local.b64 [%a1], %a1;\nret;\n}\n"
               ".func mid()\n{\n.local .b32 w[5];\n.reg .b64 %a<2>;\nmov.b64 %a1, w;\n"
               "st.local.b64 [%a1], %a1;\n"
               "call deep;\nret;\n}\n",
               ".local .align 8 .b8 mine[24];\nmov.b64 %d1, mine;\nst.local.b64 [%d1], %d1;\n"
               "call mid;\nret;\n")) {
        uint64_t offsets[3] = {0};
        uint32_t n = 0;
        for (uint32_t i = t.m.symbols.n; i < t.out.m->symbols.n && n < 3; i++)
            offsets[n++] = t.out.m->symbols.v[i].offset;
        CHECK_INT(n, 3);
        CHECK_INT(offsets[0], 0);
        CHECK_INT(offsets[1], 32);
        CHECK_INT(offsets[2], 64);
        CHECK_INT(t.out.f->local_size, 80);
    }
    pt_arena_free(&t.m.arena);
}

static void check_use(const char *body, bool escapes, bool is_scalar)
{
    struct pt_module m;
    struct text text = {0};
    append(&text,
           LOAD_HEADER ".entry k(.param .u64 out)\n{\n.local .align 16 .b8 v[32];\n"
                       ".reg .b16 %%h<9>;\n"
                       ".reg .b32 %%r<9>;\n.reg .b64 %%d<9>;\n.reg .f32 %%f<9>;\n%s\nret;\n}\n",
           body);
    bool ok = load(&m, text.text) && lower_all(&m);
    CHECK(ok);
    free(text.text);
    for (uint32_t i = 1; ok && i < m.symbols.n; i++) {
        if (strcmp(m.symbols.v[i].name, "v"))
            continue;
        const struct pt_local_use *use = &pt_escape_find(&m, &m.funcs.v[1], 1, &m.arena)[i];
        if (use->escapes != escapes || use->is_scalar != is_scalar)
            fprintf(stderr, "%s\n", body);
        CHECK(use->escapes == escapes && use->is_scalar == is_scalar);
    }
    pt_arena_free(&m.arena);
}

static void test_escape(void)
{
    check_use("st.local.b32 [v+4], %r1;\nld.local.f32 %f1, [v+4];", false, true);
    check_use("st.local.v4.b32 [v+16], {%r1, %r2, %r3, %r4};", false, true);
    check_use("st.local.b32 [v], 7;", false, true);
    check_use("st.local.b32 [v+2], %r1;", false, false);  /* across elements */
    check_use("st.local.b32 [v+32], %r1;", false, false); /* outside */
    check_use("st.local.b32 [v+-4], %r1;", false, false);
    check_use("st.local.b32 [v], %r1;\nld.local.b16 %h1, [v];", false, false); /* two sizes */
    check_use("ld.local.u32 %d1, [v];", false, false);                         /* extends */
    check_use("ld.local.u8 %h1, [v];", false, false);
    check_use("mov.b64 %d1, v;", true, false);
    check_use("cvta.local.u64 %d1, v;", true, false);
}

/* How many loops are left. */
static void check_loops(const char *body, uint32_t loops)
{
    struct inline_test t;
    if (expand(&t, "", body))
        CHECK_INT(t.out.f->loops.n, loops);
    pt_arena_free(&t.m.arena);
}

#define ROUND(end)              \
    "mul.wide.u32 %d2, %r1, 4;" \
    "add.s64 %d2, %d1, %d2;"    \
    "st.local.u32 [%d2], %r1;"  \
    "add.u32 %r1, %r1, 1;"      \
    "setp.lt.u32 %p1, %r1, " end "; @%p1 bra again;"
#define START ".local .b32 v[4]; mov.u64 %d1, v; mov.u32 %r3, %tid.x; mov.u32 %r1, 0;"

/* Loops over local variables, of as many rounds for all threads. */
static void test_loops(void)
{
    check_loops(START "again: " ROUND("4") "ret;", 0);
    check_loops(START "again: " ROUND("%r3") "ret;", 1);
    check_loops(START "again: " ROUND("100000") "ret;", 1);
    check_loops(START "again: bar.sync 0;" ROUND("4") "ret;", 1);
    check_loops(START "again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra again; ret;",
                1);
    check_loops(START "mov.u32 %r4, 0; more: mov.u32 %r1, 0; again: " ROUND(
                    "4") "add.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 3; @%p2 bra more; ret;",
                0);
    check_loops(START "mov.u32 %r4, 0; more: mov.u32 %r1, 0; again: " ROUND(
                    "4") "add.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, %r3; @%p2 bra more; ret;",
                1);
    check_loops(START "again: setp.eq.u32 %p2, %r1, %r3; @%p2 bra left;" ROUND("4") "left: ret;",
                0);
}

/* Reads of the counter, r1, that are left: a loop's own are of its copy. */
static int count_reads(const struct inline_test *t)
{
    int n = 0;
    for (uint32_t i = 0; i < t->out.f->insns.n; i++) {
        const struct pt_insn *insn = &t->out.f->insns.v[i];
        for (uint32_t k = 1; k < insn->n_operands; k++) {
            const struct pt_operand *o = &t->out.f->operands.v[insn->operands + k];
            const char *name = o->kind == PT_OPND_REG ? t->out.f->regs.v[o->index].name : NULL;
            n += name && !strncmp(name, "%count", 6);
        }
    }
    return n;
}

static void check_counter(const char *body, int reads)
{
    struct inline_test t;
    if (expand(&t, "", body))
        CHECK_INT(count_reads(&t), reads);
    pt_arena_free(&t.m.arena);
}

/* Counters that are read behind their loops have copies, which are read inside. */
static void test_counters(void)
{
#define ROUNDS "again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r3; @%p1 bra again;"
    check_counter("mov.u32 %r1, 0;" ROUNDS "st.global.u32 [%d1], %r1; ret;", 3);
    check_counter("mov.u32 %r1, 0;" ROUNDS "ret;", 0);
    check_counter("mov.u32 %r1, %tid.x;" ROUNDS "st.global.u32 [%d1], %r1; ret;", 3);
    check_counter("ld.global.u32 %r1, [%d1];" ROUNDS "st.global.u32 [%d1], %r1; ret;", 0);
    check_counter("mov.u32 %r1, 0; again: add.u32 %r1, %r1, 1; @%p2 add.u32 %r1, %r1, 1;"
                  "setp.lt.u32 %p1, %r1, %r3; @%p1 bra again; st.global.u32 [%d1], %r1; ret;",
                  0);
}

int main(void)
{
    test_parameters();
    test_changed_parameter();
    test_indirect();
    test_what_stays();
    test_control();
    test_places();
    test_frames();
    test_escape();
    test_loops();
    test_counters();
    return CHECK_DONE("unit_inline");
}
