/* Counts of programs that use the driver: appended to the file that PTERA_PROFILE names, from which
 * `ptera profile` makes its tables, when a context or the program ends. With PTERA_PROFILE_TIME it
 * is also modelled what a GPU would take for them (--estimate); with PTERA_PROFILE_COVERAGE nothing
 * is counted but what ran, which native code does, too. PTERA_PROFILE_KERNELS, _SKIP and
 * _COUNT choose kernels and launches as PTERA_CHECK_KERNELS and the others do. */
#include "runtime/cuda/counted.h"

#include <stdio.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/variable.h"

static const char *observer(void)
{
    if (pt_cu_variable("PTERA_PROFILE_TIME"))
        return "time";
    return pt_cu_variable("PTERA_PROFILE_COVERAGE") ? "coverage" : "count";
}

void pt_cu_counted_set(ptera_options *options, char *names, size_t size)
{
    if (!pt_cu_variable("PTERA_PROFILE"))
        return;
    snprintf(names, size, "%s%s%s", options->observe ? options->observe : "",
             options->observe ? "," : "", observer());
    if (!options->observe) {
        options->check_kernels = pt_cu_variable("PTERA_PROFILE_KERNELS");
        options->check_skip = pt_cu_variable_number("PTERA_PROFILE_SKIP");
        options->check_count = pt_cu_variable_number("PTERA_PROFILE_COUNT");
    }
    options->observe = names;
}

void pt_cu_counted_end(CUcontext ctx)
{
    const char *path = pt_cu_variable("PTERA_PROFILE");
    if (path && ctx->engine && ptera_engine_counts_save(ctx->engine, path) != PTERA_OK)
        pt_cu_log_print("ptera: cannot write %s (PTERA_PROFILE)\n", path);
}

/* Contexts that are left when the program ends. */
__attribute__((destructor)) static void end_all(void)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        pt_cu_counted_end(ctx);
}
