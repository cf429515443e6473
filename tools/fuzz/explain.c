#include "tools/fuzz/explain.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptera.h"
#include "tools/fuzz/gen.h"
#include "tools/fuzz/pen.h"
#include "tools/fuzz/slice.h"

enum { SECONDS = 20 };

static void print_made(const struct slice *slice, const struct gen_kernel *k, char *out, char *sums,
                       size_t at, FILE *file)
{
    bool is_out = at < k->out_bytes;
    const char *byte = is_out ? out + at : sums + (at - k->out_bytes);
    fprintf(file, "\n// What made byte %zu of %s, interpreted:\n", is_out ? at : at - k->out_bytes,
            is_out ? "out" : "sums");
    slice_print(slice, (uintptr_t)byte, "//   ", file);
}

static void run(const struct gen_kernel *k, const char *text, size_t at, FILE *file)
{
    ptera_options options;
    ptera_options_init(&options);
    options.threads = 1;
    ptera_engine *engine = NULL;
    ptera_module *module = NULL;
    ptera_kernel *kernel = NULL;
    void *out = NULL, *sums = NULL;
    struct slice *slice = slice_new();
    bool ok = slice && ptera_engine_create(&options, &engine) == PTERA_OK &&
              ptera_module_load(engine, "random.ptx", text, strlen(text), &module) == PTERA_OK &&
              ptera_module_kernel(module, "k", 0, &kernel) == PTERA_OK &&
              ptera_buffer_alloc(engine, k->out_bytes, &out) == PTERA_OK &&
              ptera_buffer_alloc(engine, k->sums_bytes, &sums) == PTERA_OK;
    const void *parameters[] = {&out, &sums, &k->s, &k->w};
    ptera_launch launch;
    ptera_launch_init(&launch);
    memcpy(launch.grid, k->grid, sizeof launch.grid);
    memcpy(launch.block, k->block, sizeof launch.block);
    launch.parameters = parameters;
    launch.n_parameters = 4;
    const ptera_tracing tracing = {.size = sizeof tracing, .step = slice_add, .ud = slice};
    if (ok && ptera_kernel_trace(kernel, &launch, &tracing) == PTERA_OK)
        print_made(slice, k, out, sums, at, file);
    slice_free(slice);
    ptera_engine_destroy(engine);
}

void explain_byte(const struct gen_kernel *kernel, const char *text, size_t at, FILE *out)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pen_limit(SECONDS);
        run(kernel, text, at, out);
        fflush(out);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        continue;
}
