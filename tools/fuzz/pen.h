/* Work in a process of its own: what crashes or hangs there is an answer here. */
#ifndef PTERA_TOOLS_FUZZ_PEN_H
#define PTERA_TOOLS_FUZZ_PEN_H

#include <stdbool.h>
#include <stddef.h>

struct pen;

/* Runs in that process: answers requests that come from `in` to `out`, until there are none. If it
 * returns before, what is asked next is asked of a new process. */
typedef void pen_serve(const void *options, int in, int out);

/* The process starts with the first request, and again where it has ended, and after many
 * requests. NULL with errno if that cannot be. Compiled kernels are not kept: each is compiled,
 * whatever was before. */
struct pen *pen_open(pen_serve *serve, const void *options);
void pen_close(struct pen *pen);
/* Sends a request, of a head and what follows it, and waits for the answer. If there is none,
 * returns false and writes why: "hangs" (ended by pen_limit), "signal 11", "exit status 1". */
bool pen_ask(struct pen *pen, const void *head, size_t head_bytes, const void *rest,
             size_t rest_bytes, void *answer, size_t answer_bytes, char *why, size_t why_bytes);

/* For the one that serves. */

/* Ends the process after so many seconds of its CPU time, which others on the machine do not use
 * up; what waits and uses none after twenty times that. 0: no more. */
void pen_limit(unsigned seconds);
bool pen_read(int fd, void *to, size_t n);
bool pen_write(int fd, const void *from, size_t n);

#endif
