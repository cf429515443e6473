/* Modules: loading, diagnostics, variables, kernels and their parameters, text forms. */
#include "tests/api/support.h"

static const char text[] =
    HEADER
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .global .align 8 .u64 there = generic(counter) + 4;\n"
    ".global .align 4 .b8 bytes[8] = {1, 2, 3};\n"
    ".visible .const .align 4 .f32 half = 0f3F000000;\n"
    ".visible .entry first(.param .u64 out, .param .align 4 .b8 pair[8], .param .u8 small)\n"
    "{\n"
    "    .reg .b64 %rd<3>;\n"
    "    .reg .f32 %f<2>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    ld.const.f32 %f1, [half];\n"
    "    st.global.f32 [%rd1], %f1;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry second()\n"
    "{\n"
    "    .reg .b64 %rd<3>;\n"
    "    .reg .b32 %r<2>;\n"
    "    mov.u64 %rd1, half;\n"
    "    cvta.const.u64 %rd2, %rd1;\n"
    "    st.u32 [%rd2], %r1;\n"
    "    ret;\n"
    "}\n";

static void check_variables(ptera_module *module)
{
    void *address = NULL, *counter = NULL;
    size_t bytes = 0;
    CHECK_INT(ptera_module_variable(module, "counter", &counter, &bytes), PTERA_OK);
    CHECK_INT(bytes, 4);
    CHECK_INT(*(uint32_t *)counter, 5);
    CHECK_INT(ptera_module_variable(module, "there", &address, NULL), PTERA_OK);
    CHECK_INT(*(uint64_t *)address, (uintptr_t)counter + 4);
    CHECK_INT(ptera_module_variable(module, "bytes", &address, &bytes), PTERA_OK);
    CHECK_INT(bytes, 8);
    CHECK_INT(memcmp(address, "\1\2\3\0\0\0\0\0", 8), 0);
    CHECK_INT(ptera_module_variable(module, "none", &address, &bytes), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_variable(module, "there", NULL, NULL), PTERA_OK);
    CHECK_INT(ptera_module_variable(module, NULL, &address, &bytes), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_variable(NULL, "there", &address, &bytes), PTERA_ERROR_INVALID_ARGUMENT);
}

/* Every variable once, in order of the text; each is what it is by name. */
static void check_variables_by_index(ptera_module *module)
{
    static const char *const names[] = {"counter", "there", "bytes", "half"};
    enum { N = sizeof names / sizeof *names };
    for (unsigned i = 0; i < N; i++) {
        const char *name = NULL;
        void *address = NULL, *by_name = NULL;
        size_t bytes = 0, bytes_by_name = 0;
        CHECK_INT(ptera_module_variable_at(module, i, &name, &address, &bytes), PTERA_OK);
        CHECK_TEXT(name, names[i]);
        CHECK_INT(ptera_module_variable(module, names[i], &by_name, &bytes_by_name), PTERA_OK);
        CHECK(address == by_name && bytes == bytes_by_name);
    }
    CHECK_INT(ptera_module_variable_at(module, 0, NULL, NULL, NULL), PTERA_OK);
    CHECK_INT(ptera_module_variable_at(module, N, NULL, NULL, NULL), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_variable_at(NULL, 0, NULL, NULL, NULL), PTERA_ERROR_INVALID_ARGUMENT);
}

/* The host may write .const variables, a kernel may not. */
static void check_constants(ptera_engine *engine, ptera_module *module)
{
    void *half = NULL;
    float *out = new_buffer(engine, 4);
    uint32_t pair[2] = {0};
    uint8_t small = 0;
    CHECK_INT(ptera_module_variable(module, "half", &half, NULL), PTERA_OK);
    CHECK_INT(LAUNCH(kernel_of(module, "first"), 1, 1, &out, pair, &small), PTERA_OK);
    CHECK(*out == 0.5f);
    *(float *)half = 0.25f;
    CHECK_INT(LAUNCH(kernel_of(module, "first"), 1, 1, &out, pair, &small), PTERA_OK);
    CHECK(*out == 0.25f);
    CHECK_INT(launch_with(kernel_of(module, "second"), 1, 1, NULL, 0), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "at byte 0 of variable 'half' of 4 bytes");
    CHECK(*(float *)half == 0.25f);
}

static void check_kernels(ptera_module *module)
{
    ptera_kernel *kernel = NULL, *same = NULL;
    CHECK_INT(ptera_module_kernel(module, NULL, 1, &kernel), PTERA_OK);
    CHECK_TEXT(ptera_kernel_name(kernel), "second");
    CHECK_INT(ptera_module_kernel(module, "second", 7, &same), PTERA_OK);
    CHECK(kernel == same);
    CHECK_INT(ptera_module_kernel(module, NULL, 2, &kernel), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_kernel(module, "third", 0, &kernel), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_kernel(NULL, "first", 0, &kernel), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_kernel(module, "first", 0, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_TEXT(ptera_kernel_name(NULL), "");
}

static void check_parameters(ptera_module *module)
{
    ptera_kernel *kernel = kernel_of(module, "first");
    ptera_parameter p = {.size = sizeof p};
    CHECK_INT(ptera_kernel_parameter(kernel, 0, &p), PTERA_OK);
    CHECK_TEXT(p.name, "out");
    CHECK_TEXT(p.type, "u64");
    CHECK_INT(p.offset, 0);
    CHECK_INT(p.bytes, 8);
    CHECK_INT(p.is_array, 0);
    CHECK_INT(ptera_kernel_parameter(kernel, 1, &p), PTERA_OK);
    CHECK_TEXT(p.type, "b8");
    CHECK_INT(p.offset, 8);
    CHECK_INT(p.bytes, 8);
    CHECK_INT(p.align, 4);
    CHECK_INT(p.is_array, 1);
    CHECK_INT(ptera_kernel_parameter(kernel, 2, &p), PTERA_OK);
    CHECK_INT(p.offset, 16);
    CHECK_INT(p.bytes, 1);
    CHECK_INT(ptera_kernel_parameter(kernel, 3, &p), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_kernel_parameter(NULL, 0, &p), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_parameter(kernel, 0, NULL), PTERA_ERROR_INVALID_ARGUMENT);
}

static void check_diagnostics(ptera_engine *engine)
{
    static const char bad[] = HEADER ".visible .entry k()\n{\n    frobnicate.u32 1, 2;\n    ret;\n"
                                     "}\n";
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    const char *out;
    CHECK_INT(ptera_module_load(engine, "bad.ptx", bad, strlen(bad), &module),
              PTERA_ERROR_INVALID_PTX);
    CHECK_INT(ptera_module_diagnostic(module, 0, &d), PTERA_OK);
    CHECK_INT(d.severity, PTERA_ERROR);
    CHECK_INT(d.line, 6);
    CHECK_INT(d.column, 5);
    CHECK_HAS(d.message, "frobnicate");
    CHECK_HAS(d.text, "bad.ptx:6:5: error: ");
    CHECK_HAS(d.text, "\n    ^");
    CHECK_INT(ptera_module_diagnostic(module, 1000, &d), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_diagnostic(module, 0, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_diagnostic(NULL, 0, &d), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_emit(module, NULL, PTERA_EMIT_IR, &out), PTERA_ERROR_INVALID_PTX);
    CHECK_INT(ptera_module_verify(module), PTERA_ERROR_INVALID_PTX);
    ptera_kernel *kernel;
    CHECK_INT(ptera_module_kernel(module, "k", 0, &kernel), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_variable(module, "v", NULL, NULL), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_function_pointer(module, "k", "void ()", (void (**)(void))&out),
              PTERA_ERROR_INVALID_ARGUMENT);
    ptera_module_unload(module);
}

/* What is not implemented keeps the kernels that may reach it from being launched, and only
 * these. */
static void check_unsupported(ptera_engine *engine)
{
    static const char texture[] =
        HEADER ".global .texref image;\n"
               ".visible .entry plain()\n{\n    ret;\n}\n"
               ".visible .entry textured()\n{\n"
               "    .reg .b32 %r<5>;\n    mov.b32 %r0, 0;\n"
               "    tex.2dms.v4.s32.s32 {%r1, %r2, %r3, %r4}, [image, {%r0, %r0, %r0, %r0}],\n"
               "    {%r0, %r0};\n"
               "    ret;\n}\n";
    const unsigned block[3] = {1, 1, 1};
    ptera_module *module = load(engine, texture);
    ptera_kernel *kernel = kernel_of(module, "textured");
    ptera_kernel_properties properties = {.size = sizeof properties};
    ptera_diagnostic d = {.size = sizeof d};
    const void *data;
    size_t bytes;
    CHECK_INT(ptera_module_diagnostic(module, 0, &d), PTERA_OK);
    CHECK_INT(d.severity, PTERA_WARNING);
    CHECK_INT(d.is_unsupported, 1);
    CHECK_INT(launch_with(kernel, 1, 1, NULL, 0), PTERA_ERROR_UNSUPPORTED_PTX);
    CHECK_HAS(ptera_engine_error(engine),
              "k.ptx:13:5: error: 'tex.2dms.v4.s32.s32' is known but not supported yet");
    CHECK_INT(ptera_kernel_properties_get(kernel, &properties), PTERA_ERROR_UNSUPPORTED_PTX);
    CHECK_INT(ptera_kernel_emit(kernel, block, 0, PTERA_EMIT_LLVM, &data, &bytes),
              PTERA_ERROR_UNSUPPORTED_PTX);
    CHECK_INT(launch_with(kernel_of(module, "plain"), 1, 1, NULL, 0), PTERA_OK);
    CHECK_INT(ptera_module_verify(module), PTERA_OK);
    ptera_module_unload(module);
}

/* What a module says of itself, and its kernel of the registers it needs; in a text of several
 * files are told apart. */
static void check_properties(ptera_engine *engine)
{
    static const char text[] =
        ".version 8.3\n.target sm_90a\n.address_size 64\n.global .b8 g[12];\n.const .b8 c[5];\n"
        ".visible .entry k(.param .u64 p)\n{\n    .reg .b64 %rd<4>;\n    ld.param.u64 %rd1, [p];\n"
        "    ld.global.u64 %rd2, [%rd1];\n    ld.global.u64 %rd3, [%rd1+8];\n"
        "    st.global.u64 [%rd1], %rd3;\n"
        "    st.global.u64 [%rd1+8], %rd2;\n    ret;\n}\n";
    static const char linked[] =
        "# 1 \"first.ptx\"\n" HEADER "\0# 1 \"second.ptx\"\n" HEADER "nothing;\n";
    ptera_module *module = load(engine, text), *two = NULL;
    ptera_module_properties m = {.size = sizeof m};
    ptera_kernel_properties k = {.size = sizeof k};
    ptera_diagnostic d = {.size = sizeof d};
    CHECK_INT(ptera_module_properties_get(module, &m), PTERA_OK);
    CHECK_INT(m.ptx_version, 83);
    CHECK_INT(m.target, 90);
    CHECK_INT(m.target_feature, 'a');
    CHECK_INT(m.global_bytes, 12);
    CHECK_INT(m.constant_bytes, 5);
    CHECK_INT(ptera_kernel_properties_get(kernel_of(module, "k"), &k), PTERA_OK);
    CHECK(k.registers >= 8 && k.registers <= 14); /* an estimate: NVIDIA's assembler has 10 */
    CHECK_INT(ptera_module_properties_get(NULL, &m), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_properties_get(module, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load(engine, "both", linked, sizeof linked - 1, &two),
              PTERA_ERROR_INVALID_PTX);
    CHECK_INT(ptera_module_diagnostic(two, 0, &d), PTERA_OK);
    CHECK_TEXT(d.file, "second.ptx");
    CHECK_INT(d.file_line, 4);
    ptera_module_unload(two);
    ptera_module_unload(module);
}

/* No text is a module without a version. */
static void check_empty(ptera_engine *engine)
{
    ptera_module *module = NULL;
    CHECK_INT(ptera_module_load(engine, "empty", NULL, 0, &module), PTERA_ERROR_INVALID_PTX);
    CHECK(module != NULL);
    ptera_module_unload(module);
}

static void check_externs(ptera_engine *engine)
{
    static const char unsized[] = HEADER ".extern .global .u32 far[];\n.visible .entry k()\n{\n"
                                         "    .reg .b32 %r<2>;\n    ld.global.u32 %r1, [far];\n"
                                         "    ret;\n}\n";
    ptera_module *module = NULL;
    ptera_diagnostic d = {.size = sizeof d};
    CHECK_INT(ptera_module_load(engine, "far.ptx", unsized, strlen(unsized), &module),
              PTERA_ERROR_INVALID_PTX);
    CHECK_INT(ptera_module_diagnostic(module, 0, &d), PTERA_OK);
    CHECK_HAS(d.text, "far.ptx:4:1: error: unresolved extern variable 'far'");
    ptera_module_unload(module);
}

static void check_emit(ptera_module *module)
{
    const char *out = NULL;
    CHECK_INT(ptera_module_emit(module, NULL, PTERA_EMIT_TOKENS, &out), PTERA_OK);
    CHECK_HAS(out, "counter");
    CHECK_INT(ptera_module_emit(module, NULL, PTERA_EMIT_AST, &out), PTERA_OK);
    CHECK_HAS(out, "second");
    CHECK_INT(ptera_module_emit(module, "first", PTERA_EMIT_IR, &out), PTERA_OK);
    CHECK_HAS(out, "st.global.f32");
    CHECK_INT(ptera_module_emit(module, "third", PTERA_EMIT_IR, &out), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_module_emit(module, NULL, (ptera_emit)9, &out), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_emit(module, NULL, PTERA_EMIT_IR, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_emit(NULL, NULL, PTERA_EMIT_IR, &out), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_verify(module), PTERA_OK);
    CHECK_INT(ptera_module_verify(NULL), PTERA_ERROR_INVALID_ARGUMENT);
}

/* Two modules in one text: the kernel of one calls the other and stores to its variable; a fault
 * names the right one. */
static void check_linked(ptera_engine *engine)
{
    static const char linked[] =
        "# 1 \"a.ptx\"\n" HEADER ".extern .func f(.param .b32 p);\n.visible .entry k()\n{\n"
        ".param .b32 a;\nst.param.b32 [a], 41;\ncall f, (a);\nret;\n}\n"
        "\0# 1 \"b.ptx\"\n" HEADER
        ".visible .global .u32 v;\n.visible .func f(.param .b32 p)\n{\n.reg .b32 %r<2>;\n"
        "ld.param.b32 %r1, [p];\nadd.s32 %r1, %r1, 1;\nst.global.u32 [v], %r1;\ntrap;\n}\n";
    ptera_module *module = NULL;
    void *v = NULL;
    CHECK_INT(ptera_module_load(engine, "linked", linked, sizeof linked, &module), PTERA_OK);
    CHECK_INT(ptera_module_variable(module, "v", &v, NULL), PTERA_OK);
    CHECK_INT(launch_with(kernel_of(module, "k"), 1, 1, NULL, 0), PTERA_ERROR_TRAP);
    CHECK(v && *(unsigned *)v == 42);
    CHECK_HAS(ptera_engine_error(engine), "trap in kernel 'k' at b.ptx:11, CTA");
    ptera_module_unload(module);
}

static void check_wrong_arguments(ptera_engine *engine)
{
    ptera_module *module = NULL;
    CHECK_INT(ptera_module_load(NULL, "k", text, 1, &module), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load(engine, NULL, text, 1, &module), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load(engine, "k", NULL, 1, &module), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load(engine, "k", text, 1, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load_file(NULL, "k.ptx", &module), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load_file(engine, NULL, &module), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load_file(engine, "k.ptx", NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_module_load_file(engine, "/does/not/exist.ptx", &module), PTERA_ERROR_FILE);
    CHECK_INT(ptera_module_load_file(engine, "/", &module), PTERA_ERROR_FILE);
    CHECK(!module);
    ptera_module_unload(NULL);
}

int main(void)
{
    ptera_engine *engine = new_engine(1);
    ptera_module *module = load(engine, text);
    check_variables(module);
    check_variables_by_index(module);
    check_kernels(module);
    check_parameters(module);
    check_emit(module);
    check_constants(engine, module);
    check_diagnostics(engine);
    check_externs(engine);
    check_unsupported(engine);
    check_properties(engine);
    check_empty(engine);
    check_linked(engine);
    check_wrong_arguments(engine);
    ptera_module_unload(module);
    load(engine, text); /* left to the engine */
    ptera_engine_destroy(engine);
    return CHECK_DONE("module");
}
