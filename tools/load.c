/* Loading a PTX file. */
#include "tools/load.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"

static void tell(void *is_told, ptera_severity severity, const char *text)
{
    (void)severity;
    *(bool *)is_told = true;
    fprintf(stderr, "ptera: %s\n", text);
}

/* Whether the library says itself what is wrong with the environment. */
static bool is_told_why(const ptera_options *options)
{
    bool is_told = false;
    ptera_engine *engine = NULL;
    ptera_options again;
    ptera_options_init(&again);
    if (options)
        again = *options;
    again.log = tell;
    again.log_ud = &is_told;
    if (ptera_engine_create(&again, &engine) == PTERA_OK)
        ptera_engine_destroy(engine);
    return is_told;
}

int create_engine(const ptera_options *options, ptera_engine **engine)
{
    ptera_result r = ptera_engine_create(options, engine);
    const char *cpu = getenv("PTERA_CPU"), *tier = getenv("PTERA_ENGINE");
    const char *async = getenv("PTERA_ASYNC");
    if (r == PTERA_ERROR_INVALID_ARGUMENT && is_told_why(options))
        return EXIT_USAGE;
    if (r == PTERA_ERROR_INVALID_ARGUMENT && (cpu || tier || async))
        fprintf(stderr,
                "ptera: PTERA_CPU=%s is no CPU level of this build and machine, or PTERA_ENGINE=%s "
                "no engine, or "
                "PTERA_ASYNC=%s not issue or late\n",
                cpu ? cpu : "", tier ? tier : "", async ? async : "");
    else if (r != PTERA_OK)
        fprintf(stderr, "ptera: %s\n", ptera_result_text(r));
    return r == PTERA_OK ? EXIT_GOOD : r == PTERA_ERROR_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int load_module(ptera_engine *engine, const char *path, ptera_module **module)
{
    ptera_result r = ptera_module_load_file(engine, path, module);
    if (r == PTERA_OK)
        return EXIT_GOOD;
    if (r == PTERA_ERROR_INVALID_PTX)
        return EXIT_INVALID_PTX;
    if (r == PTERA_ERROR_FILE)
        fprintf(stderr, "ptera: cannot read %s: %s\n", path, strerror(errno));
    else
        fprintf(stderr, "ptera: %s: %s\n", path, ptera_result_text(r));
    return r == PTERA_ERROR_FILE ? EXIT_USAGE : EXIT_FAILED;
}

int find_kernel(ptera_module *module, const char *path, const char *name, ptera_kernel **kernel)
{
    ptera_kernel *other;
    if (name) {
        if (ptera_module_kernel(module, name, 0, kernel) == PTERA_OK)
            return EXIT_GOOD;
        fprintf(stderr, "ptera: %s has no kernel '%s'; it has:", path, name);
    } else if (ptera_module_kernel(module, NULL, 0, kernel) != PTERA_OK) {
        fprintf(stderr, "ptera: %s has no kernel\n", path);
        return EXIT_USAGE;
    } else if (ptera_module_kernel(module, NULL, 1, &other) != PTERA_OK) {
        return EXIT_GOOD;
    } else {
        fprintf(stderr, "ptera: %s has several kernels, choose one with -k:", path);
    }
    for (unsigned i = 0; ptera_module_kernel(module, NULL, i, &other) == PTERA_OK; i++)
        fprintf(stderr, " %s", ptera_kernel_name(other));
    fputc('\n', stderr);
    return EXIT_USAGE;
}

void show_diagnostics(const ptera_module *module, ptera_severity severity)
{
    ptera_diagnostic d = {.size = sizeof d};
    for (unsigned i = 0; ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        if (d.severity >= severity)
            fputs(d.text, stderr);
}
