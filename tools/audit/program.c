#define _GNU_SOURCE /* dladdr */
#include "tools/audit/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Triton has a second one, ptxas-blackwell. */
static bool is_ptxas(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n < 0 ? 0 : n] = 0;
    const char *slash = strrchr(path, '/');
    return slash && !strncmp(slash + 1, "ptxas", 5);
}

/* The program `ptera`: beside this library where it was built, beside its folder where it is
 * installed. */
static bool find_ptera(char *path, size_t size)
{
    static const char *const places[] = {"ptera", "../bin/ptera"};
    Dl_info info;
    const char *slash;
    if (!dladdr((void *)audit_program_replace, &info) || !info.dli_fname ||
        !(slash = strrchr(info.dli_fname, '/')))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int folder = (int)(slash + 1 - info.dli_fname);
        int n = snprintf(path, size, "%.*s%s", folder, info.dli_fname, places[i]);
        if (n > 0 && (size_t)n < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* The arguments as the system has them: texts one after the other. NULL: they cannot be read. */
static char *read_arguments(size_t *bytes)
{
    FILE *in = fopen("/proc/self/cmdline", "r");
    char *text = NULL;
    size_t n = 0, got = in != NULL;
    while (got) {
        char *more = realloc(text, n + 4097);
        if (!more)
            break;
        text = more;
        n += got = fread(text + n, 1, 4096, in);
        text[n] = 0;
    }
    if (in)
        fclose(in);
    *bytes = n;
    return text;
}

void audit_program_replace(void)
{
    char path[PATH_MAX];
    size_t bytes, n = 0;
    char *text = is_ptxas() && find_ptera(path, sizeof path) ? read_arguments(&bytes) : NULL;
    char **arguments = text ? malloc((bytes + 2) * sizeof *arguments) : NULL;
    if (arguments) {
        for (char *at = text; at < text + bytes; at += strlen(at) + 1)
            arguments[n++] = at;
        arguments[0] = "ptxas"; /* as which `ptera` stands in for it */
        arguments[n] = NULL;
        execv(path, arguments);
    }
    free(arguments);
    free(text);
}
