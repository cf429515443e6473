/* What kinds of chapters have alike: a kernel of a module, hashes of what it leaves. */
#ifndef PTERA_TOOLS_CONFORM_KERNEL_H
#define PTERA_TOOLS_CONFORM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "tools/conform/row.h"

/* Adds the row of a line that begins with kernel, module (a file of the set's), chapter and form.
 * `data` becomes the row's; what it is begins with the module's text. False: no memory. */
bool conform_kernel_add(const struct conform_set *set, char **field, void *data,
                        struct conform_rows *rows);
/* What such a row loads. */
char *conform_kernel_text(const struct conform_row *row);

/* Cases are lines of a table, whose kernels are in one module of the set. */
enum { CONFORM_CASE_NAME = 24 };

/* Adds the row of a case: `name` gets its number, and stays the row's, chapter and form are the
 * kernel. `data` as above. */
bool conform_kernel_add_case(const struct conform_set *set, const char *kernel,
                             char name[CONFORM_CASE_NAME], void *data, struct conform_rows *rows);
char *conform_kernel_case_text(const struct conform_row *row);
/* What came of case n, of so many bytes, in a file of the set's. False: it is not there. */
bool conform_kernel_read_outcome(const struct conform_set *set, const char *file, size_t n,
                                 void *outcome, size_t bytes);

/* A module of the kernel alone: the text's head and the kernel, as an allocation. So a driver that
 * refuses one form is asked for the others. NULL: it is not there, or no memory. */
char *conform_kernel_alone(const char *text, const char *kernel);

/* FNV-1a over bytes, and over words of 32 bits. The basis is FNV's but for files that say another
 * one. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
uint64_t conform_kernel_hash(const void *data, size_t bytes);
uint64_t conform_kernel_hash_words(const uint32_t *words, size_t n, uint64_t basis);

#endif
