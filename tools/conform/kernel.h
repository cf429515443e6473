/* What kinds of chapters have alike: a kernel of a module, hashes of what it leaves. */
#ifndef PTERA_TOOLS_CONFORM_KERNEL_H
#define PTERA_TOOLS_CONFORM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* A module of the kernel alone: the text's head and the kernel, as an allocation. So a driver that
 * refuses one form is asked for the others. NULL: it is not there, or no memory. */
char *conform_kernel_alone(const char *text, const char *kernel);

/* FNV-1a over bytes, and over words of 32 bits. The basis is FNV's but for files that say another
 * one. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
uint64_t conform_kernel_hash(const void *data, size_t bytes);
uint64_t conform_kernel_hash_words(const uint32_t *words, size_t n, uint64_t basis);

#endif
