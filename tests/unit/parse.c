/* What the parser makes of a text: layouts, initial values, scopes, operands. What it refuses is in
 * tests/bad. */
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "frontend/lex.h"
#include "frontend/parse.h"
#include "ir/ir.h"
#include "ir/print.h"

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

static struct pt_module module;
static jmp_buf oom;

/* Parses into `module`; prints what is wrong. */
static bool parse(const char *text)
{
    if (module.arena.allocator)
        pt_arena_free(&module.arena);
    memset(&module, 0, sizeof module);
    pt_arena_init(&module.arena, &pt_malloc_allocator);
    module.arena.oom = &oom;
    if (setjmp(oom))
        return false;
    bool ok = pt_parse(&module, "text", text, strlen(text));
    for (uint32_t i = 0; i < module.diags.list.n; i++)
        fputs(pt_diag_format(&module.diags, &module.diags.list.v[i], &module.arena), stderr);
    return ok;
}

static const struct pt_symbol *symbol(const char *name)
{
    static const struct pt_symbol none;
    for (uint32_t i = 1; i < module.symbols.n; i++)
        if (!strcmp(module.symbols.v[i].name, name))
            return &module.symbols.v[i];
    CHECK(!"the symbol exists");
    return &none;
}

static const struct pt_func *function(const char *name)
{
    for (uint32_t i = 1; i < module.funcs.n; i++)
        if (!strcmp(module.funcs.v[i].name, name))
            return &module.funcs.v[i];
    return NULL;
}

static const struct pt_operand *operand(const struct pt_func *f, uint32_t insn, uint32_t n)
{
    return &f->operands.v[f->insns.v[insn].operands + n];
}

/* ---- the head and variables ------------------------------------------------------------------ */

static void test_head(void)
{
    CHECK(parse(".version 8.7\n.target sm_90a, texmode_independent\n"));
    CHECK_INT(module.ptx, 87);
    CHECK_INT(module.sm, 90);
    CHECK_INT(module.sm_feature, 'a');
    CHECK_INT(module.address_size, 32);
    CHECK(module.texmode_independent);
    CHECK(parse("# 1 \"a.cu\"\n.version 1.0 .target sm_10\n"));
    CHECK_INT(module.ptx, 10);
}

static void test_sizes(void)
{
    CHECK(parse(HEAD
                ".global .align 16 .b8 a[20];\n.global .v4 .f32 b[3];\n.global .u64 c;\n"
                ".extern .shared .align 8 .b8 d[];\n.global .u16 e[][2] = {{1}, {2, 3}, {4}};\n"
                ".global .align 2 .u32 f;\n.global .u8 g<3>;\n"));
    CHECK_INT(symbol("a")->size, 20);
    CHECK_INT(symbol("a")->align, 16);
    CHECK_INT(symbol("b")->size, 48);
    CHECK_INT(symbol("b")->align, 16);
    CHECK_INT(symbol("c")->align, 8);
    CHECK(symbol("d")->is_unsized && !symbol("d")->size);
    CHECK_INT(symbol("d")->linkage, PT_LINK_EXTERN);
    CHECK_INT(symbol("e")->size, 12);
    CHECK_INT(symbol("f")->align,
              4); /* never below the natural one, as the assembler lays it out */
    CHECK_INT(symbol("g2")->size, 1);
}

static uint64_t value(const struct pt_symbol *s, uint64_t offset, unsigned bytes)
{
    uint64_t v = 0;
    if (offset + bytes <= s->init_size)
        memcpy(&v, s->init + offset, bytes);
    return v;
}

static void test_initial_values(void)
{
    CHECK(parse(
        HEAD
        ".global .u32 a = (3 + 4) * 2 - (7 >> 1);\n.global .s64 b = -1 ? ~0 : 2;\n"
        ".global .f32 c[2][2] = {{1.0, 0f40000000}, {-3.5}};\n.global .f64 d = 0f3f800000;\n"
        ".global .b32 e = 1.5;\n.global .u8 f[] = {1, 2, 300};\n.global .u64 g = "
        "0x8000000000000000 >> 63;\n"
        ".global .u32 h = -8 / 3U > 5 && 1 << 2 == 4;\n.global .f64 i = .5e1 + 1.;\n"
        ".const .u32 j[2] = {WARP_SZ, 017};\n.global .u32 k = -7 % 3;\n.global .b128 l = -2;\n"));
    CHECK_INT(value(symbol("a"), 0, 4), 11);
    CHECK_INT(value(symbol("b"), 0, 8), -1);
    CHECK_INT(value(symbol("c"), 0, 4), 0x3f800000);
    CHECK_INT(value(symbol("c"), 4, 4), 0x40000000);
    CHECK_INT(value(symbol("c"), 8, 4), 0xc0600000);
    CHECK_INT(symbol("c")->size, 16);
    CHECK_INT(value(symbol("d"), 0, 8), 0x3ff0000000000000);
    CHECK_INT(value(symbol("e"), 0, 4), 0x3fc00000);
    CHECK_INT(symbol("f")->size, 3);
    CHECK_INT(value(symbol("f"), 2, 1), 44);
    CHECK_INT(value(symbol("g"), 0, 8), 1); /* above the signed range: unsigned */
    CHECK_INT(value(symbol("h"), 0, 4), 1);
    CHECK_INT(value(symbol("i"), 0, 8), 0x4018000000000000);
    CHECK_INT(value(symbol("j"), 0, 4), 32);
    CHECK_INT(value(symbol("j"), 4, 4), 15);
    CHECK_INT((int32_t)value(symbol("k"), 0, 4), -1);
    CHECK_INT(value(symbol("l"), 8, 8), -1);
}

static void test_addresses(void)
{
    CHECK(parse(
        HEAD ".func fn { ret; }\n.global .u32 t[4];\n.global .u64 a[3] = {t, generic(t) + 8, fn};\n"
             ".global .u8 b[2] = {0xff(t), 0xff0000(t)};\n"));
    const struct pt_symbol *a = symbol("a"), *b = symbol("b");
    CHECK_INT(a->relocs.n, 3);
    CHECK_INT(b->relocs.n, 2);
    if (a->relocs.n != 3 || b->relocs.n != 2)
        return;
    CHECK(&module.symbols.v[a->relocs.v[0].target] == symbol("t"));
    CHECK_INT(a->relocs.v[1].offset, 8);
    CHECK_INT(a->relocs.v[1].addend, 8);
    CHECK_INT(a->relocs.v[1].bytes, 8);
    CHECK(a->relocs.v[1].is_generic && !a->relocs.v[0].is_generic);
    CHECK(a->relocs.v[2].is_func && &module.funcs.v[a->relocs.v[2].target] == function("fn"));
    CHECK_INT(b->relocs.v[1].offset, 1);
    CHECK_INT(b->relocs.v[1].bytes, 1);
    CHECK_INT(b->relocs.v[1].shift, 16);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void test_parameters(void)
{
    CHECK(parse(HEAD ".entry k(.param .u8 a, .param .u64 .ptr .global .align 32 b, .param .u16 c,\n"
                     "  .param .align 16 .b8 d[20], .param .u32 e)\n"
                     ".maxntid 32, 4 .minnctapersm 2 { ret; }\n"));
    const struct pt_func *f = function("k");
    CHECK(f && f->is_entry && f->params.n == 5);
    CHECK_INT(symbol("b")->offset, 8);
    CHECK_INT(symbol("b")->ptr_space, PT_SPACE_GLOBAL);
    CHECK_INT(symbol("b")->ptr_align, 32);
    CHECK_INT(symbol("c")->offset, 16);
    CHECK_INT(symbol("d")->offset, 32);
    CHECK_INT(symbol("e")->offset, 52);
    CHECK_INT(f ? f->param_size : 0, 56);
    CHECK_INT(f ? f->maxntid[1] : 0, 4);
    CHECK_INT(f ? f->maxntid[2] : 0, 1);
}

static void test_declarations(void)
{
    CHECK(parse(HEAD ".visible .func (.reg .u32 r) f(.reg .u32 a);\n.func g { .reg .u32 x; call "
                     "(x), f, (x); ret; }\n"
                     ".func (.reg .u32 out) f(.reg .u32 in) { add.u32 out, in, 1; ret; }\n"
                     ".func h;\n.func i { ret; }\n.alias h, i;\n"
                     ".extern .global .u32 v;\n.visible .global .u32 v = 5;\n"));
    const struct pt_func *f = function("f"), *g = function("g"), *h = function("h");
    CHECK(f && !f->is_declared_only && f->linkage == PT_LINK_VISIBLE);
    CHECK(g && operand(g, 0, 1)->kind == PT_OPND_FUNC &&
          &module.funcs.v[operand(g, 0, 1)->index] == f);
    CHECK(h && h->alias_of && &module.funcs.v[h->alias_of] == function("i"));
    CHECK_INT(symbol("v")->linkage, PT_LINK_VISIBLE);
    CHECK_INT(value(symbol("v"), 0, 4), 5);
    CHECK_INT(symbol("out")->space, PT_SPACE_REG);
    CHECK(f && f->operands.v[f->insns.v[0].operands].index == symbol("out")->reg);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void test_registers(void)
{
    CHECK(parse(HEAD ".entry k {\n.reg .b32 %r<4>, x;\n.reg .v4 .f32 v;\nmov.u32 %r3, x;\n"
                     "{ .reg .f32 %r2; mov.f32 %r2, v.z; mov.u32 %r1, %r03; }\nmov.u32 %r2, "
                     "%tid.y;\nret;\n}\n"));
    const struct pt_func *f = function("k");
    char name[16];
    pt_print_reg(f, operand(f, 0, 0)->index, name, sizeof name);
    CHECK_TEXT(name, "%r3");
    CHECK_INT(operand(f, 0, 0)->type, PT_b32);
    CHECK_INT(operand(f, 1, 0)->type, PT_f32); /* the inner %r2 */
    pt_print_reg(f, operand(f, 1, 1)->index, name, sizeof name);
    CHECK_TEXT(name, "v.z");
    CHECK_INT(operand(f, 2, 1)->index, operand(f, 0, 0)->index);
    CHECK_INT(operand(f, 3, 0)->type, PT_b32);
    CHECK_INT(operand(f, 3, 1)->kind, PT_OPND_SREG);
    CHECK_INT(operand(f, 3, 1)->index, PT_SREG_tid_y);
}

static void test_labels(void)
{
    CHECK(parse(
        HEAD ".entry k {\n.reg .b32 %r<2>;\n{ bra A; bra B; A: mov.u32 %r0, 0; bra A; }\n"
             "{ { bra B; } }\nA: bra A;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nB: ret;\n}\n"));
    const struct pt_func *f = function("k");
    static const uint32_t want[][2] = {{0, 2}, {1, 7}, {3, 2}, {4, 7}, {5, 5}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct pt_operand *o = operand(f, want[i][0], 0);
        CHECK_INT(o->kind, PT_OPND_LABEL);
        CHECK(o->index && o->index < f->labels.n);
        CHECK_INT(f->labels.v[o->index].insn, want[i][1]);
        CHECK(f->labels.v[o->index].line);
    }
    CHECK_INT(f->labels.n, 4); /* none left over */
    CHECK_INT(f->tables.v[1].targets.n, 2);
    CHECK_INT(f->labels.v[f->tables.v[1].targets.v[1]].insn, 7);
}

static void test_memory_operands(void)
{
    CHECK(parse(
        HEAD
        ".shared .u32 s[8];\n.entry k {\n.reg .b32 %r<4>;\n.reg .b64 %rd1;\n"
        "ld.global.u32 %r1, [%rd1+-4];\nld.shared.u32 %r1, [s+4+8];\nld.shared.u32 %r1, s[5];\n"
        "mov.u32 %r1, s;\nst.global.v2.u32 [%rd1], {%r1, -1};\nst.global.u32 [%rd1], "
        "{%r2};\nret;\n}\n"));
    const struct pt_func *f = function("k");
    const struct pt_operand *base = &f->operands.v[operand(f, 0, 1)->index];
    CHECK_INT(operand(f, 0, 1)->kind, PT_OPND_MEM);
    CHECK_INT(base->kind, PT_OPND_REG);
    CHECK_INT(base->imm, -4);
    base = &f->operands.v[operand(f, 1, 1)->index];
    CHECK_INT(base->kind, PT_OPND_SYM);
    CHECK_INT(base->imm, 12);
    CHECK_INT(f->operands.v[operand(f, 2, 1)->index].imm, 20);
    CHECK_INT(operand(f, 3, 1)->kind, PT_OPND_SYM);
    CHECK_INT(operand(f, 4, 1)->kind, PT_OPND_VEC);
    CHECK_INT(operand(f, 4, 1)->imm, 2);
    CHECK_INT(f->operands.v[operand(f, 4, 1)->index + 1].kind, PT_OPND_IMM);
    CHECK_INT(operand(f, 5, 1)->kind, PT_OPND_REG);
}

static void test_places(void)
{
    CHECK(parse(HEAD ".entry k {\n.loc 2 10 3\nret;\n.loc 1 5 1, function_name n, inlined_at 2 10 "
                     "3\n  exit;\n}\n"
                     ".file 1 \"a.cuh\"\n.file 2 \"b.cu\"\n.section .debug_str { n: .b8 0 }\n"));
    const struct pt_func *f = function("k");
    const struct pt_loc *first = &module.locs.v[f->insns.v[0].loc],
                        *second = &module.locs.v[f->insns.v[1].loc];
    CHECK_TEXT(module.files.v[first->file].name, "b.cu");
    CHECK_INT(first->line, 10);
    CHECK_TEXT(module.files.v[second->file].name, "a.cuh");
    CHECK_INT(second->inlined_at, f->insns.v[0].loc);
    CHECK_INT(f->insns.v[1].line, 8);
    CHECK_INT(f->insns.v[1].col, 3);
    CHECK_INT(f->end_line, 9);
}

static void test_guards(void)
{
    CHECK(parse(HEAD ".entry k {\n.reg .pred %p<2>;\n.reg .b32 %r1;\n@!%p1 mov.u32 %r1, 1;\n@%p0 "
                     "ret;\nret;\n}\n"));
    const struct pt_func *f = function("k");
    CHECK(f->insns.v[0].guard_neg && !f->insns.v[1].guard_neg);
    CHECK_INT(f->insns.v[0].guard, f->insns.v[1].guard + 1);
    CHECK_INT(f->insns.v[2].guard, PT_NONE);
}

static void test_tokens(void)
{
    static const char text[] = "@%p ld.L1::x.b8\n 0x1F,1.5; \"s\" <<";
    size_t len;
    CHECK(parse(HEAD));
    CHECK_TEXT(pt_lex_dump(text, sizeof text - 1, &module.arena, &len),
               "1:1 punct @\n1:2 name %p\n1:5 name ld\n1:7 dot .L1::x\n1:13 dot .b8\n"
               "2:2 int 0x1F\n2:6 punct ,\n2:7 f64 1.5\n2:10 punct ;\n2:12 string \"s\"\n"
               "2:16 punct <<\n2:18 end \n");
}

int main(void)
{
    test_head();
    test_sizes();
    test_initial_values();
    test_addresses();
    test_parameters();
    test_declarations();
    test_registers();
    test_labels();
    test_memory_operands();
    test_places();
    test_guards();
    test_tokens();
    pt_arena_free(&module.arena);
    return CHECK_DONE("parse");
}
