/* Which libraries Ptera puts in the place of NVIDIA's. */
#ifndef PTERA_AUDIT_OURS_H
#define PTERA_AUDIT_OURS_H

#include "runtime/compilers/behind.h"

/* The path of our library for the name (or path) that a program asks the dynamic loader for, or
 * NULL: what it asked for serves. */
const char *audit_ours_find(const char *name);
/* The release (13, 12, 11) whose runtime library of ours lies at `path`, or 0. */
unsigned audit_ours_release(const char *path);
/* Likewise for a path that the loader tries, where there is such a file. */
const char *audit_ours_instead(const char *path);
/* For AUDIT_BEHIND with the name of a library of ours: the path of NVIDIA's behind it, or the name,
 * for which the loader then searches. NULL for all other names. */
const char *audit_ours_behind(const char *name);

#endif
