/* Managed memory beyond the machine's: its pages are a file's, to which the system writes those
 * that it has no room for, and from which it reads them again. */
#ifndef PTERA_CUDA_PAGED_H
#define PTERA_CUDA_PAGED_H

struct pt_cu_range;

/* A new allocation of managed memory, nothing of which was touched yet: if there is more of it now
 * than the machine has memory it lies in a file. Where none can be had it lies in memory, as far as
 * there is some. */
void pt_cu_paged_new(struct pt_cu_range *range);

#endif
