/* The log that PTERA_LOG asks for, on stderr. */
#include "runtime/cuda/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/thread.h"

static _Thread_local bool has_logged; /* since the call began */
static unsigned log_mask;

/* Reads PTERA_LOG: names in any order, between commas or blanks. */
__attribute__((constructor)) static void read_log_mask(void)
{
    static const char *const names[] = {"api", "load", "launch"};
    const char *list = getenv("PTERA_LOG");
    while (list && *list) {
        size_t n = strcspn(list, ", ");
        for (unsigned i = 0; i < 3; i++)
            if (n == strlen(names[i]) && strncmp(list, names[i], n) == 0)
                log_mask |= 1u << i;
        list += n + (list[n] != 0);
    }
}

bool pt_cu_log_is_on(enum pt_cu_log_subject what)
{
    return (log_mask & what) != 0;
}

void pt_cu_log_print(const char *format, ...)
{
    char line[PT_CU_LOG_BYTES] = "ptera: ";
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + 7, sizeof line - 8, format, args);
    va_end(args);
    size_t end = n < 0 ? 7 : (size_t)n + 7 < sizeof line - 1 ? (size_t)n + 7 : sizeof line - 2;
    if (line[end - 1] == '\n') /* as diagnostics end */
        end--;
    line[end] = '\n';
    struct pt_quiet quiet;
    has_logged = true;
    pt_thread_quiet(&quiet);
    fwrite(line, 1, end + 1, stderr);
    pt_thread_unquiet(&quiet);
}

void pt_cu_log_begin_call(void)
{
    has_logged = false;
}

bool pt_cu_log_has_written(void)
{
    return has_logged;
}
