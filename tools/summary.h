/* `ptera exec --summary`: what a program's kernels and copies took, told at its end. */
#ifndef PTERA_TOOLS_SUMMARY_H
#define PTERA_TOOLS_SUMMARY_H

/* Runs the program at `path` as a child; then finish(ud) is called, whatever way it ended, and
 * returns the exit status, or -1: the program's, and a program that a signal ended ends this
 * process likewise. 127: it could not be run. */
int child_run(const char *path, char **argv, int (*finish)(void *ud), void *ud);
/* Runs the program at `path` and waits for it; then writes the table to `file` (NULL: standard
 * error). Returns its exit status; a program that a signal ended ends this process likewise.
 * 127: it could not be run. */
int summary_run(const char *path, char **argv, const char *file);

#endif
