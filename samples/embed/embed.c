/* Compiles a kernel from PTX text and runs it on an array of this program.
 *
 *     cc embed.c $(pkg-config --cflags --libs ptera) -o embed && ./embed
 */
#include <ptera.h>
#include <stdio.h>

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry square(.param .u64 values) {\n"
                           ".reg .u32 %i; .reg .u64 %p, %a; .reg .f32 %x;\n"
                           "ld.param.u64 %p, [values];\n"
                           "mov.u32 %i, %tid.x;\n"
                           "mad.wide.u32 %a, %i, 4, %p;\n"
                           "ld.f32 %x, [%a]; mul.f32 %x, %x, %x; st.f32 [%a], %x;\n"
                           "ret; }\n";

int main(void)
{
    float values[] = {1, 2, 3, 4, 5}, *address = values;
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    ptera_launch launch;
    ptera_info info = {.size = sizeof info};
    if (ptera_engine_create(NULL, &engine) || ptera_module_load(engine, "text", text, sizeof text - 1, &module) ||
        ptera_module_kernel(module, "square", 0, &kernel) || ptera_engine_info(engine, &info))
        return 2;
    ptera_launch_init(&launch);
    launch.block[0] = sizeof values / sizeof *values;
    launch.parameters = (const void *[]){&address};
    launch.n_parameters = 1;
    launch.backend = info.has_jit ? PTERA_BACKEND_JIT : PTERA_BACKEND_INTERP;
    if (ptera_kernel_launch(kernel, &launch) != PTERA_OK)
        fprintf(stderr, "%s\n", ptera_engine_error(engine));
    printf("%g %g %g %g %g\n", values[0], values[1], values[2], values[3], values[4]);
    ptera_engine_destroy(engine);
    return 0;
}
