/* Operations of the system that fail when told to: fail.c takes the place of the C library's
 * functions for the whole program, its libraries included. */
#ifndef PTERA_TESTS_INJECT_FAIL_H
#define PTERA_TESTS_INJECT_FAIL_H

#include <stdbool.h>
#include <stddef.h>

enum fail_how {
    FAIL_ONCE,  /* with an error */
    FAIL_ON,    /* with an error, and all that follow */
    FAIL_INTR,  /* reads and writes alone: a signal comes in between */
    FAIL_SHORT, /* reads and writes alone: a part of the bytes */
    FAIL_HOWS
};

/* Counts operations from here on, and has the n-th fail (0: none). */
void fail_arm(enum fail_how how, long n);
/* No more fail. Returns how many there were. */
long fail_disarm(void);
bool fail_is_armed(void);
/* Writes to a descriptor what failed first, and who asked for it. */
void fail_tell(int fd);

/* What the library has of the system at one time. */
struct fail_stock {
    size_t blocks, mapped_bytes, files, threads;
};
/* What has been allocated by the libraries under test and is not freed, what they have mapped, the
 * process's descriptors and threads. */
struct fail_stock fail_stock(void);
/* Blocks that are more than when it was last called with fd < 0: who allocated them. */
void fail_tell_blocks(int fd);

#endif
