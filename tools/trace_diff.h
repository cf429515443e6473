/* Two traces: where their threads part. */
#ifndef PTERA_TOOLS_TRACE_DIFF_H
#define PTERA_TOOLS_TRACE_DIFF_H

/* Compares files that `ptera trace` wrote as text, thread by thread, and tells of at most `most`
 * threads. Returns an exit status: EXIT_FAILED if they differ. */
int trace_diff(const char *a, const char *b, unsigned long most);

#endif
