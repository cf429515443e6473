/* The text form: what is printed reads back and prints the same, parsed and lowered. */
#include <glob.h>

#include "ir/print.h"
#include "tests/unit/load.h"

/* A bit of everything that a module can hold. */
static const char everything[] =
    ".version 8.0\n.target sm_90, debug\n.address_size 64\n"
    ".file 1 \"a.cu\"\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".visible .global .align 4 .u32 table[4] = {1, 2, 0xffffffff};\n"
    ".global .f32 half = 0.5;\n.global .f64 third = 0d3FD5555555555555;\n"
    ".global .v2 .f32 pair = {1.0, 2.0};\n"
    ".const .align 8 .u64 place[2] = {table+4, generic(table)};\n"
    ".global .u8 mask[2] = {0xff(table), 0xff00(table)};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".shared .align 8 .b8 buffer[64];\n.common .global .u32 c;\n.weak .global .s16 minus = -3;\n"
    ".global .attribute(.managed) .u32 managed;\n"
    ".func (.param .b32 r) twice(.param .b32 a, .param .align 8 .b8 s[16]);\n"
    ".func (.reg .f32 r) old(.reg .f32 a, .reg .pred q) { @q add.f32 a, a, 0f3F800000; mov.f32 r, "
    "a; ret; }\n"
    ".global .u64 calls[1] = {twice};\n"
    ".func die() .noreturn { trap; }\n"
    ".visible .entry main(.param .u64 .ptr .global .align 16 p, .param .u32 n)\n"
    ".maxntid 128, 1, 1\n.minnctapersm 2\n"
    "{\n.reg .pred %p<4>;\n.reg .b32 %r<10>, one;\n.reg .b64 %d<6>;\n.reg .f32 %f<8>;\n.reg .v2 "
    ".f32 v;\n.reg .b16 h;\n"
    ".local .align 16 .b8 depot[32];\n"
    ".loc 1 10 3\n"
    "ld.param.u64 %d1, [p];\nld.param.u32 %r1, [n];\n"
    "mov.u64 %d2, depot;\ncvta.local.u64 %d2, %d2;\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, buffer+8;\n"
    "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p0;\n"
    "{ .reg .b32 %r<3>; .reg .b32 one; mov.u32 %r1, 7; mov.b32 one, %r1; st.shared.u32 [buffer+4], "
    "one; }\n"
    "again:\n"
    ".loc 1 11 1\n"
    "ld.global.v2.f32 v, [%d1+8];\n mov.f32 %f1, v.x;\n"
    "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 q; st.param.b32 [a], %r1; "
    "st.param.b64 [s+8], %d1;\n"
    "call (q), twice, (a, s); ld.param.b32 %r4, [q]; }\n"
    "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 q; again: st.param.b32 [a], %r4; "
    "st.param.b64 [s+8], %d1;\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
    "ld.global.u64 %d3, [calls]; call (q), %d3, (a, s), proto; ld.param.b32 %r4, [q]; @%p2 bra "
    "again; }\n"
    "call (%f2), old, (%f1, %p1);\n"
    "fma.rn.f32 %f3, %f2, 0f3F000000, %f1;\n"
    "shfl.sync.bfly.b32 %r5|%p3, %r4, 1, 31, 0xffffffff;\n"
    "vadd.s32.u32.s32.sat %r6, %r5.b1, %r4.h0;\n"
    "vmad.s32.s32.s32 %r6, %r5.b0, %r4.h1, -%r1;\n"
    "vadd4.u32.u32.u32 %r6, %r5.b7610, %r4, %r1;\n"
    "atom.global.add.u32 _, [%d1], 1;\n"
    "mov.b64 {%r7, %r8}, %d1;\n"
    "lbl: .branchtargets again, out, next;\n"
    "@%p1 brx.idx %r2, lbl;\n"
    "next: bar.sync 0;\n"
    "@!%p1 bra.uni again;\n"
    "call die;\n"
    "out: @%p3 exit;\n}\n"
    ".func (.param .b32 r) twice(.param .b32 a, .param .align 8 .b8 s[16])\n"
    "{ .reg .b32 x; ld.param.b32 x, [a]; add.s32 x, x, x; st.param.b32 [r], x; ret; }\n";

/* Prints a and what is read from that; they are the same text. */
static void check_same(struct pt_module *a, const char *name, bool lowered)
{
    struct pt_module b;
    size_t len_a, len_b;
    const char *first = pt_print(a, PT_NONE, &a->arena, &len_a);
    CHECK_INT(strlen(first), len_a);
    bool ok = load(&b, first) && (!lowered || lower_all(&b));
    const char *second = ok ? pt_print(&b, PT_NONE, &b.arena, &len_b) : "";
    if (strcmp(first, second) != 0)
        fprintf(stderr, "%s, %s: printed\n%s\nthen\n%s\n", name, lowered ? "lowered" : "parsed",
                first, second);
    CHECK(!strcmp(first, second));
    pt_arena_free(&b.arena);
}

static void check_module(const char *name, const char *text)
{
    struct pt_module m;
    bool ok = load(&m, text);
    CHECK(ok);
    if (ok)
        check_same(&m, name, false);
    ok = ok && lower_all(&m);
    CHECK(ok);
    if (ok)
        check_same(&m, name, true);
    pt_arena_free(&m.arena);
}

/* Each function alone, with what it needs, reads back too. */
static void check_functions(const char *text)
{
    struct pt_module m, again;
    CHECK(load(&m, text) && lower_all(&m));
    for (uint32_t i = 1; i < m.funcs.n; i++) {
        size_t len;
        if (m.funcs.v[i].is_lowered) {
            CHECK(load(&again, pt_print(&m, i, &m.arena, &len)));
            pt_arena_free(&again.arena);
        }
    }
    pt_arena_free(&m.arena);
}

static void check_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct text t = {0};
    char line[4096];
    CHECK(file);
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        append(&t, "%s", line);
    fclose(file);
    if (t.text)
        check_module(path, t.text);
    free(t.text);
}

static void check_files(const char *pattern)
{
    glob_t found;
    CHECK_INT(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
}

/* What the comments of a lowered function say. */
static void test_facts(void)
{
    struct pt_module m;
    size_t len;
    CHECK(load(&m, LOAD_HEADER ".entry k(.param .u64 p)\n{\n.reg .pred q;\n.reg .b32 r;\n.reg .b64 "
                               "d;\nld.param.u64 d, [p];\n"
                               "L: ld.volatile.global.u32 r, [d]; setp.eq.s32 q, r, 0; @q bra "
                               "L;\nst.global.u32 [d], r;\nret;\n}\n") &&
          lower_all(&m));
    const char *text = pt_print(&m, 1, &m.arena, &len);
    CHECK_HAS(text, "$B0: // joins at 1, from nowhere\n");
    CHECK_HAS(text, "$B1: // loop 1-1 communicating, dominated by 0, joins at 2, from 0 1\n");
    CHECK_HAS(text, "$B2: // dominated by 1, from 1\n");
    CHECK_HAS(text, "@q bra $B1; // parts lanes\n");
    pt_arena_free(&m.arena);
}

static const char uniform_kernel[] =
    LOAD_HEADER ".entry k(.param .u64 p, .param .u32 cnt)\n.reqntid 128, 1, 1\n{\n"
                ".reg .pred q, s;\n"
                ".reg .b32 r, t, w, x, n;\n.reg .b64 d, e, wide;\n.local .b32 a[2];\n"
                ".local .b8 b[16];\nld.param.u64 d, [p];\nld.param.u32 n, [cnt];\n"
                "mov.u32 t, %tid.x;\nmul.wide.u32 e, t, 4;\nadd.u64 d, d, e;\nshr.u32 w, t, 5;\n"
                "mov.u32 x, %laneid;\nadd.u32 r, t, n;\nmul.wide.u32 wide, r, 8;\n"
                "st.local.u32 [a+4], t;\nmov.u64 e, b;\nst.local.u64 [e], d;\n"
                "setp.eq.u32 q, n, 0;\n@q bra L;\nbar.sync 0;\nsetp.eq.u32 s, w, 1;\n@s bra L;\n"
                "st.global.u32 [d], x;\nL: st.global.u64 [d], wide;\nret;\n}\n";

/* How values and branches differ between threads; what lives across a barrier; local variables. */
static void test_thread_facts(void)
{
    struct pt_module m;
    size_t len;
    CHECK(load(&m, uniform_kernel) && lower_all(&m));
    const char *text = pt_print(&m, 1, &m.arena, &len);
    CHECK_HAS(text, "    .local .b32 a[2]; // does not escape, elements of 4 bytes\n");
    CHECK_HAS(text, "    .local .b8 b[16]; // escapes\n");
    CHECK_HAS(text, "    ld.param.u32 n, [cnt]; // n: one a CTA\n");
    CHECK_HAS(text, "; // t: +1 a lane from a multiple of 32\n");
    CHECK_HAS(text, "; // w: one a warp\n");
    CHECK_HAS(text, "; // r: +1 a lane\n");
    CHECK_HAS(text, "; // wide: +8 a lane unless it wraps from a multiple of 8\n");
    CHECK_HAS(text, "; // one way for the CTA\n");
    CHECK_HAS(text, "; // parts warps\n");
    CHECK_HAS(text, ", live: ");
    check_same(&m, "thread facts", true);
    pt_arena_free(&m.arena);
}

int main(void)
{
    check_module("everything", everything);
    check_functions(everything);
    test_facts();
    test_thread_facts();
    check_files(SOURCE_DIR "/samples/*/*.ptx");
    check_files(SOURCE_DIR "/tests/ptx/*/*.ptx");
    return CHECK_DONE("print");
}
