/* Without the compiler's file: launches are interpreted, those that ask for native code are refused
 * and told why. */
#include "tests/api/support.h"

static const char text[] = HEADER ".visible .entry k(.param .u64 p)\n{\n    .reg .b64 %rd;\n"
                                  "    ld.param.u64 %rd, [p];\n"
                                  "    red.add.u32 [%rd], 1;\n    ret;\n}\n";

int main(void)
{
    setenv("PTERA_JIT_PATH", "/nowhere/libptera-jit.so", 1);
    unsetenv("PTERA_ENGINE");
    ptera_engine *engine = new_engine(1);
    ptera_kernel *kernel = kernel_of(load(engine, text), "k");
    ptera_info info = {.size = sizeof info};
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    CHECK(!info.has_jit && !info.llvm_version && !info.cache && !info.vector_lanes);
    CHECK_HAS(info.jit_error, "/nowhere/libptera-jit.so");
    unsigned word = 0, *p = &word;
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.parameters = (const void *const[]){&p};
    launch.n_parameters = 1;
    for (int backend = PTERA_BACKEND_DEFAULT; backend <= PTERA_BACKEND_INTERP; backend++) {
        launch.backend = (ptera_backend)backend;
        CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    }
    CHECK_INT(word, 3);
    launch.backend = PTERA_BACKEND_JIT;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_ERROR_INVALID_LAUNCH);
    CHECK_HAS(ptera_engine_error(engine),
              "the compiler cannot be opened: /nowhere/libptera-jit.so");
    CHECK_INT(word, 3);
    const void *data = NULL;
    size_t bytes = 0;
    CHECK_INT(ptera_kernel_emit(kernel, launch.block, 0, PTERA_EMIT_LLVM, &data, &bytes),
              PTERA_ERROR_UNSUPPORTED_PTX);
    ptera_engine_destroy(engine);
    return CHECK_DONE("nojit");
}
