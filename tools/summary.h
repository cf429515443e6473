/* `ptera exec --summary`: what a program's kernels and copies took, told at its end. */
#ifndef PTERA_TOOLS_SUMMARY_H
#define PTERA_TOOLS_SUMMARY_H

/* Runs the program at `path` and waits for it; then writes the table to `file` (NULL: standard
 * error). Returns its exit status; a program that a signal ended ends this process likewise.
 * 127: it could not be run. */
int summary_run(const char *path, char **argv, const char *file);

#endif
