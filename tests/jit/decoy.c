/* The compiler in a process that has other LLVMs: functions of LLVM's names that the program
 * exports itself, which end the test when they are called, and a whole other LLVM, loaded first and
 * for all to see. */
#include <dlfcn.h>
#include <stdlib.h>

#include "tests/api/support.h"

/* The first that the compiler would call, and some that it comes to later. */
#define DECOYS(X)                                                                               \
    X(LLVMInitializeX86TargetInfo)                                                              \
    X(LLVMInitializeX86Target) X(LLVMInitializeX86TargetMC) X(LLVMInitializeAArch64TargetInfo)  \
        X(LLVMInitializeAArch64Target) X(LLVMInitializeAArch64TargetMC) X(LLVMGetHostCPUName)   \
            X(LLVMGetDefaultTargetTriple) X(LLVMGetTargetFromTriple) X(LLVMCreateTargetMachine) \
                X(LLVMContextCreate) X(LLVMModuleCreateWithNameInContext)                       \
                    X(LLVMCreateBuilderInContext) X(LLVMSetTarget) X(LLVMAddFunction)           \
                        X(LLVMRunPasses) X(LLVMVerifyModule)                                    \
                            X(LLVMTargetMachineEmitToMemoryBuffer) X(LLVMGetBufferStart)        \
                                X(LLVMDisposeModule) X(LLVMContextDispose)                      \
                                    X(_ZN4llvm11LLVMContextC1Ev)                                \
                                        X(_ZN4llvm11raw_ostream5writeEPKcm)                     \
                                            X(_ZN4llvm15SmallVectorBaseIjE8grow_podEPvmm)

#define X(name)                                               \
    __attribute__((visibility("default"))) void name(void);   \
    void name(void)                                           \
    {                                                         \
        printf("FAILED the compiler called decoy %s\n", #name); \
        fflush(stdout);                                       \
        abort();                                              \
    }
DECOYS(X)
#undef X

static const char *const others[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so",
                                     "libLLVM.so",      "libLLVM-15.so.1", "libLLVM-14.so.1"};

static const char text[] = HEADER
    ".visible .entry k(.param .u64 count)\n{\n"
    "    .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [count];\n    red.global.add.u32 [%rd1], 1;\n    ret;\n}\n";

static void run_native(void)
{
    ptera_engine *engine = new_engine(1);
    ptera_kernel *kernel = kernel_of(load(engine, text), "k");
    uint32_t *count = new_buffer(engine, sizeof *count);
    ptera_kernel_status status = {.size = sizeof status};
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.block[0] = 64;
    launch.parameters = (const void *[]){&count};
    launch.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch), PTERA_OK);
    CHECK_INT(ptera_kernel_info(kernel, &status), PTERA_OK);
    CHECK_INT(status.native_launches, 1);
    CHECK(status.why == NULL);
    CHECK_INT(*count, 64);
    ptera_engine_destroy(engine);
}

int main(void)
{
    void *other = NULL;
    for (size_t i = 0; !other && i < sizeof others / sizeof *others; i++)
        other = dlopen(others[i], RTLD_NOW | RTLD_GLOBAL);
    if (!other) /* it comes with LLVM's package, but not into emulated machines */
        puts("skipped a whole other LLVM: its shared library is not here");
    run_native();
    printf("decoy: %d passed, %d failed, %d skipped\n", check_passed, check_failed, !other);
    return check_failed > 0;
}
