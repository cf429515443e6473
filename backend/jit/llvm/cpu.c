/* The CPU that code is made for, as cpu.def describes it. */
#include "backend/jit/llvm/cpu.h"

#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <string.h>

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

static char *host, *host_features;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

/* Each of the comma-separated `needs` is among the features. */
static bool has_all(const char *features, const char *needs)
{
    while (*needs) {
        size_t n = strcspn(needs, ",");
        const char *at = features;
        while (at && (strncmp(at, needs, n) || (at[n] && at[n] != ',')))
            at = (at = strchr(at, ',')) ? at + 1 : NULL;
        if (!at)
            return false;
        needs += n + (needs[n] == ',');
    }
    return true;
}

const struct jit_cpu *jit_cpu_find(const char *level)
{
    const char *features = jit_cpu_host_features();
    for (size_t i = 0; features && i < sizeof cpus / sizeof *cpus; i++)
        if (!strcmp(cpus[i].level, level) && (!cpus[i].needs || has_all(features, cpus[i].needs)))
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

const char *jit_cpu_host(void)
{
    pthread_mutex_lock(&host_lock);
    if (!host)
        host = LLVMGetHostCPUName();
    pthread_mutex_unlock(&host_lock);
    return host;
}

const char *jit_cpu_host_features(void)
{
    pthread_mutex_lock(&host_lock);
    if (!host_features)
        host_features = LLVMGetHostCPUFeatures();
    pthread_mutex_unlock(&host_lock);
    return host_features;
}

const struct jit_machine *jit_cpu_machine(const char *name)
{
    const struct jit_machine *m = machines;
    while (strncmp(name, m->name, strlen(m->name)))
        m++;
    return m;
}
