/* A kernel calls a function of this program: a plug-in's kernel asks its host for what it cannot know.
 *
 *     cc plugin.c $(pkg-config --cflags --libs ptera) -o plugin && ./plugin
 */
#include <ptera.h>
#include <stdio.h>

/* The plug-in: PTX that declares what its host provides. */
static const char plugin[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".extern .func (.param .f64 price) price_of(.param .u32 item, .param .align 8 .b8 day[8]);\n"
                             ".visible .entry invoice(.param .u64 totals) {\n"
                             ".reg .u32 %i, %n; .reg .u64 %p, %a; .reg .f64 %x, %y;\n"
                             ".param .u32 item; .param .align 8 .b8 day[8]; .param .f64 price;\n"
                             "mov.u32 %i, %tid.x; st.param.u32 [item], %i;\n"
                             "mov.u32 %n, 2026; st.param.u32 [day], %n; mov.u32 %n, 11; st.param.u32 [day+4], %n;\n"
                             "call (price), price_of, (item, day);\n"
                             "ld.param.f64 %x, [price]; cvt.rn.f64.u32 %y, %i; mul.f64 %x, %x, %y;\n"
                             "ld.param.u64 %p, [totals]; mad.wide.u32 %a, %i, 8, %p; st.f64 [%a], %x;\n"
                             "ret; }\n";

struct day {
    int year, month;
};

static double price_of(unsigned item, struct day day)
{
    if (item >= 100)
        ptera_function_fail("there are 100 items");
    return item * 0.25 + day.month;
}

int main(void)
{
    double totals[4], *address = totals;
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    ptera_launch launch;
    if (ptera_engine_create(NULL, &engine) ||
        ptera_function_register(engine, "price_of", "f64 (u32, {s32 s32})", (void (*)(void))price_of) ||
        ptera_module_load(engine, "plugin", plugin, sizeof plugin - 1, &module) ||
        ptera_module_kernel(module, "invoice", 0, &kernel))
        return 2;
    ptera_launch_init(&launch);
    launch.block[0] = 4;
    launch.parameters = (const void *[]){&address};
    launch.n_parameters = 1;
    if (ptera_kernel_launch(kernel, &launch) != PTERA_OK)
        fprintf(stderr, "%s\n", ptera_engine_error(engine));
    printf("%g %g %g %g\n", totals[0], totals[1], totals[2], totals[3]);
    ptera_engine_destroy(engine);
    return 0;
}
