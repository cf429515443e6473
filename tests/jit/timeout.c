/* The time limit ends native code, and the message names a line of the loop. What a launch has
 * compiled counts against its limit: here an earlier launch has, which does not loop. */
#include "tests/api/support.h"

/* A kernel that loops for ever if its parameter is not 0; the loop begins at line 10. */
#define KERNEL(name, head, loop)                                                                   \
    HEADER ".visible .entry " name "(.param .u32 n)\n{\n    .reg .pred %p;\n    .reg .b32 %r;\n"   \
           "    ld.param.u32 %r, [n]; setp.eq.u32 %p, %r, 0; @%p bra end; " head "\nagain:\n" loop \
           "end:\n    ret;\n}\n"

static void check_timeout(const char *text, const char *name, const char *place, const char *line)
{
    ptera_engine *engine = new_engine(0);
    ptera_module *module = load(engine, text);
    ptera_kernel *kernel = kernel_of(module, name);
    uint32_t n = 0;
    ptera_launch launch;
    ptera_kernel_status status = {.size = sizeof status};
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.grid[0] = 2;
    launch.block[0] = 64;
    launch.parameters = (const void *[]){&n};
    launch.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    n = 1;
    launch.timeout_seconds = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_ERROR_TIMEOUT);
    CHECK_HAS(ptera_engine_error(engine), place);
    CHECK_HAS(ptera_engine_error(engine), line);
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    CHECK_INT(status.native_launches, 2);
    CHECK_INT(status.interpreted_launches, 0);
    ptera_engine_destroy(engine);
}

int main(void)
{
    check_timeout(KERNEL("uniform", "", "    add.u32 %r, %r, 1;\n    bra again;\n"), "uniform",
                  "timeout in kernel 'uniform' at k.ptx:11, CTA (", "bra again;");
    check_timeout(KERNEL("divergent", "mov.u32 %r, %tid.x;",
                         "    and.b32 %r, %r, 15;\n    setp.ne.u32 %p, %r, 16;\n"
                         "    @%p bra again;\n"),
                  "divergent", "timeout in kernel 'divergent' at k.ptx:12, CTA (", "bra again;");
    check_timeout(KERNEL("barrier", "", "    bar.sync 0;\n    bra again;\n"), "barrier",
                  "timeout in kernel 'barrier' at k.ptx:1", "");
    return CHECK_DONE("timeout");
}
