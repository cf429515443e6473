/* Buffers: alignment, zeroes, guard pages as kernels meet them, many of them, wrong frees. */
#include <unistd.h>

#include "tests/api/support.h"

static const char poke[] = HEADER ".visible .entry poke(.param .u64 p)\n"
                                  "{\n"
                                  "    .reg .b64 %rd<2>;\n"
                                  "    .reg .b32 %r<2>;\n"
                                  "    ld.param.u64 %rd1, [p];\n"
                                  "    mov.u32 %r1, 7;\n"
                                  "    st.global.u32 [%rd1], %r1;\n"
                                  "    ret;\n"
                                  "}\n";

static void check_contents(ptera_engine *engine)
{
    static const size_t sizes[] = {1, 255, 256, 257, 4096, 4097, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = new_buffer(engine, sizes[i]);
        unsigned sum = 0;
        CHECK_INT((uintptr_t)p % 256, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            sum |= p[k];
        CHECK_INT(sum, 0);
        memset(p, 0xff, sizes[i]);
        CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    }
}

static void check_guards(ptera_engine *engine)
{
    ptera_module *module = load(engine, poke);
    ptera_kernel *kernel = kernel_of(module, "poke");
    char *p = new_buffer(engine, 1000);
    char *inside = p + 996, *behind = p + 1024, *before = (char *)((uintptr_t)p & ~UINT64_C(4095)) - 4;
    CHECK_INT(LAUNCH(kernel, 1, 1, &inside), PTERA_OK);
    CHECK_INT(p[996], 7);
    CHECK_INT(LAUNCH(kernel, 1, 1, &behind), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "24 bytes behind the end of a buffer of 1000 bytes");
    CHECK_INT(LAUNCH(kernel, 1, 1, &before), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "before a buffer of 1000 bytes");
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    CHECK_INT(LAUNCH(kernel, 1, 1, &inside), PTERA_ERROR_ILLEGAL_ADDRESS);
    ptera_module_unload(module);
}

static void check_many(ptera_engine *engine)
{
    enum { N = 2000 };
    void *p[N];
    for (int i = 0; i < N; i++)
        p[i] = new_buffer(engine, (size_t)(i % 9 + 1) * 700);
    for (int i = 0; i < N; i += 2)
        CHECK_INT(ptera_buffer_free(engine, p[i]), PTERA_OK);
    for (int i = 0; i < N; i += 2)
        p[i] = new_buffer(engine, 5000);
    for (int i = 0; i < N; i++)
        CHECK_INT(ptera_buffer_free(engine, p[i]), PTERA_OK);
}

static void check_wrong_arguments(ptera_engine *engine)
{
    void *p = NULL;
    int local;
    CHECK_INT(ptera_buffer_alloc(engine, 0, &p), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_alloc(engine, 4, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_alloc(NULL, 4, &p), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_alloc(engine, SIZE_MAX, &p), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK_INT(ptera_buffer_alloc(engine, SIZE_MAX / 4, &p), PTERA_ERROR_OUT_OF_MEMORY);
    CHECK(!p);
    CHECK_INT(ptera_buffer_free(NULL, NULL), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_free(engine, NULL), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, &local), PTERA_ERROR_INVALID_ARGUMENT);
    p = new_buffer(engine, 512);
    CHECK_INT(ptera_buffer_free(engine, (char *)p + 256), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    ptera_engine *engine = new_engine(1);
    check_contents(engine);
    check_guards(engine);
    check_many(engine);
    check_wrong_arguments(engine);
    ptera_engine_destroy(engine);
    return CHECK_DONE("memory");
}
