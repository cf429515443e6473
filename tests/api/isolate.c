/* Isolated launches against memory that is mapped but not the kernel's: the library's heap, the
 * host's stack, buffers that were freed, variables of other modules, host memory before and after
 * it is registered. */
#include <stdbool.h>
#include <sys/mman.h>

#include "tests/api/support.h"

/* Adds 1 to the word at p. */
static const char text[] = HEADER ".global .align 16 .b8 own[64];\n"
                                  ".visible .entry adds(.param .u64 p)\n"
                                  "{\n"
                                  "    .reg .b64 %rd<2>;\n"
                                  "    .reg .b32 %r<3>;\n"
                                  "    ld.param.u64 %rd1, [p];\n"
                                  "    ld.u32 %r1, [%rd1];\n"
                                  "    add.u32 %r2, %r1, 1;\n"
                                  "    st.u32 [%rd1], %r2;\n"
                                  "    ret;\n"
                                  "}\n"
                                  /* Threads take and free blocks of the heap. */
                                  ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
                                  ".extern .func free(.param .b64 p);\n"
                                  ".visible .entry churns(.param .u64 p)\n"
                                  "{\n"
                                  "    .reg .b64 %rd<6>;\n"
                                  "    .reg .b32 %r<3>;\n"
                                  "    .reg .pred %p1;\n"
                                  "    ld.param.u64 %rd1, [p];\n"
                                  "    mov.u32 %r1, %tid.x;\n"
                                  "    mul.wide.u32 %rd2, %r1, 4;\n"
                                  "    add.u64 %rd3, %rd1, %rd2;\n"
                                  "    mov.u32 %r2, 0;\n"
                                  "again:\n"
                                  "    { .param .b64 n; .param .b64 r;\n"
                                  "    st.param.b64 [n], 32;\n"
                                  "    call.uni (r), malloc, (n);\n"
                                  "    ld.param.b64 %rd4, [r]; }\n"
                                  "    st.u32 [%rd4+28], %r1;\n"
                                  "    red.global.add.u32 [%rd3], 1;\n"
                                  "    { .param .b64 a;\n"
                                  "    st.param.b64 [a], %rd4;\n"
                                  "    call.uni free, (a); }\n"
                                  "    add.u32 %r2, %r2, 1;\n"
                                  "    setp.lt.u32 %p1, %r2, 10;\n"
                                  "    @%p1 bra again;\n"
                                  "    ret;\n"
                                  "}\n";

static ptera_result launch_at(ptera_kernel *kernel, void *p, int isolate, unsigned grid,
                              unsigned block)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.grid[0] = grid;
    launch.block[0] = block;
    launch.isolate = isolate;
    launch.parameters = (const void *const[]){&p};
    launch.n_parameters = 1;
    return ptera_kernel_launch(kernel, &launch);
}

/* The kernel may touch `p` unless it is isolated, and then leaves it as it is. */
static void check_refused(ptera_engine *engine, ptera_kernel *kernel, volatile unsigned *p)
{
    unsigned before = *p;
    CHECK_INT(launch_at(kernel, (void *)p, 0, 1, 1), PTERA_OK);
    CHECK_INT(*p, before + 1);
    CHECK_INT(launch_at(kernel, (void *)p, 1, 1, 1), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_INT(*p, before + 1);
    CHECK_HAS(ptera_engine_error(engine),
              "in kernel 'adds' at k.ptx:10, CTA (0,0,0), thread (0,0,0)");
    CHECK_HAS(ptera_engine_error(engine), "this is not memory of the kernel");
    *p = before;
}

static void check_host_memory(ptera_engine *engine, ptera_kernel *kernel, ptera_kernel *other)
{
    unsigned on_stack = 5, *on_heap = calloc(1024, sizeof *on_heap);
    static unsigned in_program[4];
    check_refused(engine, kernel, &on_stack);
    check_refused(engine, kernel, on_heap);
    check_refused(engine, kernel, in_program);
    /* The library's own: the name of the other kernel. */
    uintptr_t name = (uintptr_t)ptera_kernel_name(other) / sizeof(unsigned) * sizeof(unsigned);
    check_refused(engine, kernel, (unsigned *)name);

    CHECK_INT(ptera_memory_register(engine, on_heap, 40), PTERA_OK);
    CHECK_INT(launch_at(kernel, on_heap, 1, 1, 1), PTERA_OK);
    CHECK_INT(launch_at(kernel, on_heap + 9, 1, 1, 1), PTERA_OK);
    CHECK_INT(on_heap[0] + on_heap[9], 2);
    check_refused(engine, kernel, on_heap + 10);
    launch_at(kernel, on_heap + 10, 1, 1, 1);
    CHECK_HAS(ptera_engine_error(engine),
              "0 bytes behind the end of registered host memory of 40 bytes");
    CHECK_INT(ptera_memory_unregister(engine, on_heap), PTERA_OK);
    check_refused(engine, kernel, on_heap);
    free(on_heap);
}

static void check_registering(ptera_engine *engine)
{
    char memory[64], *buffer = new_buffer(engine, 512);
    CHECK_INT(ptera_memory_register(NULL, memory, 8), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, NULL, 8), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, memory, 0), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, memory, SIZE_MAX), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, buffer + 8, 8), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, memory + 16, 16), PTERA_OK);
    CHECK_INT(ptera_memory_register(engine, memory + 31, 4), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, memory, 17), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_register(engine, memory, 16), PTERA_OK);
    CHECK_INT(ptera_memory_register(engine, memory + 32, 16), PTERA_OK);
    CHECK_INT(ptera_memory_unregister(engine, memory + 17), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_unregister(engine, buffer), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_unregister(NULL, memory), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_memory_unregister(engine, NULL), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, memory), PTERA_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < 3; i++)
        CHECK_INT(ptera_memory_unregister(engine, memory + 16 * i), PTERA_OK);
    CHECK_INT(ptera_memory_unregister(engine, memory), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_buffer_free(engine, buffer), PTERA_OK);
}

/* A buffer's address after it was freed and its pages were mapped for something else. */
static void check_freed_buffer(ptera_engine *engine, ptera_kernel *kernel)
{
    char *p = new_buffer(engine, 4096);
    CHECK_INT(launch_at(kernel, p, 1, 1, 1), PTERA_OK);
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
    CHECK_INT(launch_at(kernel, p, 1, 1, 1), PTERA_ERROR_ILLEGAL_ADDRESS);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    void *page = mmap(p, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK_INT(page == p, true);
    check_refused(engine, kernel, page);
    mmap(p, 4096, PROT_NONE, flags, -1, 0);
}

static void check_other_module(ptera_engine *engine, ptera_module *module, ptera_kernel *kernel)
{
    ptera_module *other = load(engine, text);
    void *own = NULL, *others = NULL;
    CHECK_INT(ptera_module_variable(module, "own", &own, NULL), PTERA_OK);
    CHECK_INT(ptera_module_variable(other, "own", &others, NULL), PTERA_OK);
    CHECK_INT(launch_at(kernel, own, 1, 1, 1), PTERA_OK);
    check_refused(engine, kernel, others);
    launch_at(kernel, others, 1, 1, 1);
    CHECK_HAS(ptera_engine_error(engine), "at byte 0 of a module's variables of 64 bytes");
    CHECK_INT(launch_at(kernel_of(other, "adds"), others, 1, 1, 1), PTERA_OK);
    ptera_module_unload(other);
}

/* Memory that comes and goes while many CTAs run on all workers. */
static void check_churn(ptera_engine *engine, ptera_module *module)
{
    unsigned *p = new_buffer(engine, 64 * sizeof *p), wrong = 0;
    ptera_kernel *kernel = kernel_of(module, "churns");
    CHECK_INT(launch_at(kernel, p, 1, 200, 64), PTERA_OK);
    CHECK_INT(launch_at(kernel, p, 0, 200, 64), PTERA_OK);
    for (int i = 0; i < 64; i++)
        wrong += p[i] != 4000;
    CHECK_INT(wrong, 0);
    CHECK_INT(launch_at(kernel, p, 1, 200, 96), PTERA_ERROR_ILLEGAL_ADDRESS);
    CHECK_HAS(ptera_engine_error(engine), "thread (64,0,0) and 31 more of warp 2");
    CHECK_HAS(ptera_engine_error(engine), "0 bytes behind the end of a buffer of 256 bytes");
    CHECK_INT(ptera_buffer_free(engine, p), PTERA_OK);
}

int main(void)
{
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        ptera_engine *engine = new_engine(threads);
        ptera_module *module = load(engine, text);
        ptera_kernel *kernel = kernel_of(module, "adds");
        check_host_memory(engine, kernel, kernel_of(module, "churns"));
        check_registering(engine);
        check_freed_buffer(engine, kernel);
        check_other_module(engine, module, kernel);
        check_churn(engine, module);
        ptera_engine_destroy(engine);
    }
    return CHECK_DONE("isolate");
}
