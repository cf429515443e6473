/* Text that kernels print: collected in one buffer an engine, handed to the print callback. */
#ifndef PTERA_RUNTIME_PRINT_H
#define PTERA_RUNTIME_PRINT_H

#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/mem.h"

enum { PT_PRINT_MAX = 1 << 20 }; /* bytes of one call's text */

struct pt_printer {
    struct pt_mem *mem; /* which text counts against, too */
    void (*print)(void *ud, const char *text, size_t bytes);
    void *ud;
    pthread_mutex_t lock;
    locale_t locale; /* "C": the decimal point does not depend on the program's locale */
    char *text;
    size_t n, cap;
};

/* One call's text while it is formatted. */
struct pt_text {
    struct pt_mem *mem;
    char *v;
    size_t n, cap;
    bool is_long, failed; /* longer than PT_PRINT_MAX; memory ran out */
};

enum pt_print_result {
    PT_PRINT_OK,
    PT_PRINT_BAD_ADDRESS, /* *bad holds it */
    PT_PRINT_NO_MEMORY,
    PT_PRINT_TOO_LONG
};

bool pt_print_init(struct pt_printer *printer, struct pt_mem *mem,
                   void (*print)(void *ud, const char *text, size_t bytes), void *ud);
void pt_print_close(struct pt_printer *printer);
/* Appends text whole; what does not fit makes the buffer go out first. Nothing is dropped. */
void pt_print_put(struct pt_printer *printer, const char *text, size_t n);
/* Text that waits goes out, and its buffer is given up. */
void pt_print_flush(struct pt_printer *printer);

/* What a call may read: count gives how many of `bytes` (> 0) bytes at `address`, beginning with
 * the first. */
struct pt_readable {
    size_t (*count)(const struct pt_readable *readable, uint64_t address, size_t bytes);
};

/* CUDA's vprintf: `format` and `args` are addresses a kernel gave. *count is its result.
 * `readable` may be NULL: all that can be read. */
enum pt_print_result pt_print_format(struct pt_printer *printer, const struct pt_readable *readable,
                                     uint64_t format, uint64_t args, int *count, uint64_t *bad);
/* The text of a failed assertion, as CUDA words it. */
struct pt_assertion {
    uint64_t message, file, function; /* addresses of strings */
    uint32_t line;
    uint32_t cta[3], thread[3];
};
enum pt_print_result pt_print_assertion(struct pt_printer *printer,
                                        const struct pt_readable *readable,
                                        const struct pt_assertion *a, uint64_t *bad);

#endif
