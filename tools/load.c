/* Loading a PTX file. */
#include "tools/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"

int create_engine(const ptera_options *options, ptera_engine **engine)
{
    ptera_result r = ptera_engine_create(options, engine);
    const char *cpu = getenv("PTERA_CPU");
    if (r == PTERA_ERROR_INVALID_ARGUMENT && cpu)
        fprintf(stderr, "ptera: PTERA_CPU=%s is no CPU level of this build and machine\n", cpu);
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

void show_diagnostics(const ptera_module *module, ptera_severity severity)
{
    ptera_diagnostic d = {.size = sizeof d};
    for (unsigned i = 0; ptera_module_diagnostic(module, i, &d) == PTERA_OK; i++)
        if (d.severity >= severity)
            fputs(d.text, stderr);
}
