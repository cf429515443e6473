/* Several modules in one text: which declarations are one thing, which are errors, and how their
 * places are told. */
#include "frontend/link_text.h"
#include "frontend/parse.h"

#include "tests/unit/load.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static struct pt_module module;

static bool parse(const struct pt_link_unit *units, uint32_t n)
{
    size_t len;
    module.arena.oom = &load_oom;
    if (setjmp(load_oom))
        return false;
    const char *text = pt_link_text_join(units, n, &module.arena, &len);
    return pt_parse(&module, "all", text, len);
}

/* Links the texts, up to NULL, as a.ptx, b.ptx, c.ptx. */
static bool link_texts(const char *const *texts)
{
    static const char *const names[] = {"a.ptx", "b.ptx", "c.ptx"};
    struct pt_link_unit units[3];
    uint32_t n = 0;
    for (; texts[n]; n++)
        units[n] = (struct pt_link_unit){names[n], texts[n], strlen(texts[n])};
    if (module.arena.allocator)
        pt_arena_free(&module.arena);
    memset(&module, 0, sizeof module);
    pt_arena_init(&module.arena, &pt_malloc_allocator);
    return parse(units, n);
}
#define LINK(...) link_texts((const char *const[]){__VA_ARGS__, NULL})

/* The texts of all diagnostics. */
static const char *said(void)
{
    static char all[4096];
    size_t n = 0;
    for (uint32_t i = 0; i < module.diags.list.n; i++)
        n +=
            (size_t)snprintf(all + n, sizeof all - n, "%s",
                             pt_diag_format(&module.diags, &module.diags.list.v[i], &module.arena));
    return all;
}

/* The only function, or the only symbol outside of functions, of that name. */
static const struct pt_func *function(const char *name)
{
    static const struct pt_func none;
    const struct pt_func *found = NULL;
    for (uint32_t i = 1; i < module.funcs.n; i++) {
        if (strcmp(module.funcs.v[i].name, name) != 0)
            continue;
        CHECK(!found);
        found = &module.funcs.v[i];
    }
    CHECK(found);
    return found ? found : &none;
}

static const struct pt_symbol *symbol(const char *name)
{
    static const struct pt_symbol none;
    const struct pt_symbol *found = NULL;
    for (uint32_t i = 1; i < module.symbols.n; i++) {
        if (module.symbols.v[i].func || strcmp(module.symbols.v[i].name, name) != 0)
            continue;
        CHECK(!found);
        found = &module.symbols.v[i];
    }
    CHECK(found);
    return found ? found : &none;
}

static void test_functions(void)
{
    static const char caller[] =
        HEAD ".extern .func (.param .b32 r) f(.param .b32 a);\n"
             ".visible .entry k() {\n.reg .b32 %r<2>;\n{ .param .b32 x; .param .b32 y;\n"
             "st.param.b32 [x], 1;\ncall (y), f, (x);\nld.param.b32 %r1, [y]; }\nret;\n}\n";
    static const char callee[] =
        HEAD ".visible .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
             "ld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret;\n}\n";
    CHECK(LINK(caller, callee));
    CHECK(!function("f")->is_declared_only && function("f")->linkage == PT_LINK_VISIBLE);
    CHECK(lower_all(&module));
    CHECK(LINK(callee, caller)); /* in any order */
    CHECK(!function("f")->is_declared_only);
    CHECK(lower_all(&module));
    CHECK(LINK(caller)); /* left open: whoever launches k is told */
    CHECK(function("f")->is_declared_only);
}

static void test_twice(void)
{
    static const char f[] = HEAD "\n.visible .func f()\n{\nret;\n}\n";
    CHECK(!LINK(f, f));
    CHECK_TEXT(said(), "b.ptx:5:16: error: 'f' is already defined on line 5 of a.ptx\n"
                       ".visible .func f()\n               ^\n");
    CHECK(!LINK(HEAD ".visible .global .u32 v;\n", f, HEAD "\n.visible .const .u32 v = 1;\n"));
    CHECK_HAS(said(), "c.ptx:5:22: error: 'v' is already defined on line 4 of a.ptx\n");
    CHECK(!LINK(HEAD ".visible .global .u32 f;\n", f));
    CHECK_HAS(said(), "b.ptx:5:16: error: 'f' is a variable on line 4 of a.ptx\n");
    CHECK(!LINK(f, HEAD ".extern .func f(.param .b32 a);\n"));
    CHECK_HAS(said(), "b.ptx:4:15: error: 'f' was declared differently on line 5 of a.ptx\n");
}

static void test_local_names(void)
{
    static const char text[] =
        HEAD ".global .u32 v;\n.func f()\n{\nst.global.u32 [v], 1;\nret;\n}\n";
    CHECK(LINK(text, text, HEAD ".visible .global .u32 v;\n.visible .func f()\n{\nret;\n}\n"));
    CHECK_INT(module.funcs.n, 4);
    /* Of another module only what is declared here can be named. */
    CHECK(!LINK(HEAD ".visible .global .u32 v;\n",
                HEAD ".func f()\n{\nst.global.u32 [v], 1;\nret;\n}\n"));
    CHECK_HAS(said(), "b.ptx:6:");
}

static void test_weak(void)
{
#define ENTRY(linkage, insns) \
    HEAD linkage " .entry k() {\n.shared .u32 s;\n.reg .b32 %r<2>;\n" insns "ret;\n}\n"
    static const char one[] = ENTRY(".weak", ""), two[] = ENTRY(".weak", "st.shared.u32 [s], 1;\n"),
                      strong[] = ENTRY(".visible", "mov.u32 %r1, 1;\nmov.u32 %r1, 1;\n");
    CHECK(LINK(one, two));
    CHECK_INT(function("k")->insns.n, 1);
    uint32_t symbols = module.symbols.n;
    CHECK(LINK(one, two, strong));
    CHECK_INT(function("k")->insns.n, 3);
    CHECK(lower_all(&module));
    CHECK(LINK(strong, one, two));
    CHECK_INT(function("k")->insns.n, 3);
    CHECK_INT(module.symbols.n, symbols); /* nothing is left of what was dropped */
    CHECK(!LINK(HEAD ".weak .func f() { ret; }\n.weak .func f() { ret; }\n"));
    CHECK(LINK(HEAD ".weak .global .u32 w = 1;\n", HEAD ".weak .global .u32 w = 2;\n"));
    CHECK_INT(symbol("w")->init[0], 1);
    CHECK(LINK(HEAD ".weak .global .u32 w = 1;\n", HEAD ".visible .global .u32 w = 2;\n"));
    CHECK_INT(symbol("w")->init[0], 2);
    static const char alias[] = HEAD ".weak .func g() { ret; }\n.weak .func h();\n.alias h, g;\n";
    CHECK(LINK(alias, alias));
    CHECK(function("h")->alias_of);
}

static void test_variables(void)
{
    static const char user[] =
        HEAD ".extern .global .align 4 .b8 v[];\n.global .u64 p = generic(v);\n"
             ".visible .entry k() {\n.reg .b32 %r1;\nld.global.u32 %r1, [v];\nret;\n}\n";
    CHECK(LINK(user, HEAD ".visible .global .align 16 .u32 v[3] = {7, 8, 9};\n"));
    CHECK_INT(symbol("v")->size, 12);
    CHECK_INT(symbol("v")->align, 16);
    CHECK_INT(symbol("v")->init[4], 8);
    CHECK_INT(symbol("p")->relocs.n, 1);
    CHECK(!LINK(user, HEAD));
    CHECK_HAS(said(), "a.ptx:4:1: error: variable 'v' is in none of the linked modules\n");
    CHECK(!LINK(HEAD ".extern .global .u32 v[4];\n", HEAD ".visible .global .u32 v[3];\n"));
    CHECK_HAS(said(), "b.ptx:4:23: error: 'v' was declared differently on line 4 of a.ptx\n");
    CHECK(LINK(HEAD ".extern .shared .align 8 .b8 d[];\n",
               HEAD ".extern .shared .align 16 .b8 d[];\n"));
    CHECK_INT(symbol("d")->align, 16);
}

static void test_common(void)
{
    CHECK(LINK(HEAD ".common .global .u32 c[2];\n", HEAD ".common .global .u32 c[8];\n",
               HEAD ".common .global .u32 c[4];\n"));
    CHECK_INT(symbol("c")->size, 32);
    CHECK(LINK(HEAD ".common .global .u32 c;\n", HEAD ".visible .global .u32 c = 5;\n"));
    CHECK_INT(symbol("c")->init[0], 5);
}

static void test_heads(void)
{
    CHECK(LINK(".version 7.0\n.target sm_70\n.address_size 64\n", HEAD));
    CHECK_INT(module.ptx, 80);
    CHECK_INT(module.sm, 80);
    CHECK(!LINK(HEAD, ".version 8.0\n.target sm_80\n.address_size 32\n"));
    CHECK_HAS(said(), "b.ptx:1:1: error: linked modules must have the same .address_size\n");
    CHECK(!LINK(HEAD, ".version 1.4\n.target sm_13\n"));
    /* Each is read by its own version. */
    CHECK(!LINK(HEAD, ".version 3.0\n.target sm_30\n.address_size 64\n.weak .func f() { ret; }\n"));
    CHECK_HAS(said(), "b.ptx:4:1: error: '.weak' needs .version 3.1, this module says 3.0");
}

static void test_places(void)
{
    static const char text[] = HEAD ".file 1 \"%s\"\n.func f()\n{\n.loc 1 3 0\nret;\n}\n";
    char a[256], b[256];
    snprintf(a, sizeof a, text, "a.cu");
    snprintf(b, sizeof b, text, "b.cu");
    CHECK(LINK(a, b));
    CHECK_INT(module.funcs.n, 3);
    for (uint32_t i = 1; i < module.funcs.n; i++) {
        const struct pt_insn *insn = &module.funcs.v[i].insns.v[0];
        uint32_t line;
        CHECK_TEXT(pt_diag_place(&module.diags, insn->line, &line), i == 1 ? "a.ptx" : "b.ptx");
        CHECK_INT(line, 8);
        CHECK_TEXT(module.files.v[module.locs.v[insn->loc].file].name, i == 1 ? "a.cu" : "b.cu");
    }
}

int main(void)
{
    test_functions();
    test_twice();
    test_local_names();
    test_weak();
    test_variables();
    test_common();
    test_heads();
    test_places();
    pt_arena_free(&module.arena);
    return CHECK_DONE("link");
}
