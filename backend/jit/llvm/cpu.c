/* The CPU that code is made for, as cpu.def describes it. */
#include "backend/jit/llvm/cpu.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
static bool looks_up_bytes(void)
{
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
}
#endif

static const struct jit_cpu cpus[] = {
#define CPU(name, ...) {.level = name, __VA_ARGS__},
#define MACHINE(...)
#include "backend/jit/llvm/cpu.def"
#undef CPU
#undef MACHINE
};

static const struct jit_machine machines[] = {
#define CPU(...)
#define MACHINE(begins, ...) {.name = begins, __VA_ARGS__},
#include "backend/jit/llvm/cpu.def"
#undef CPU
#undef MACHINE
};

const struct jit_cpu *jit_cpu_find(const char *level)
{
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        if (!strcmp(cpus[i].level, level) && (!cpus[i].is_host || cpus[i].is_host()))
            return &cpus[i];
    return NULL;
}

unsigned jit_cpu_width(const char *level)
{
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        if (!strcmp(cpus[i].level, level))
            return cpus[i].vector_bytes / 4;
    return 0;
}

/* Asked once. No lock: a forked child could find it held by a thread that it does not have. */
const char *jit_cpu_host(void)
{
    static _Atomic(char *) host;
    char *known = atomic_load(&host);
    if (known)
        return known;
    char *name = LLVMGetHostCPUName();
    if (atomic_compare_exchange_strong(&host, &known, name))
        return name;
    LLVMDisposeMessage(name);
    return known;
}

const struct jit_machine *jit_cpu_machine(const char *name)
{
    const struct jit_machine *m = machines;
    while (strncmp(name, m->name, strlen(m->name)))
        m++;
    return m;
}
