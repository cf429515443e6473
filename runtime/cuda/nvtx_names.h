/* What NVTX has names for: domains, categories, strings that are registered. */
#ifndef PTERA_CUDA_NVTX_NAMES_H
#define PTERA_CUDA_NVTX_NAMES_H

#include "runtime/cuda/nvtx.h"

enum { PT_NVTX_NAME_BYTES = 4096 /* of the longest, its end included */ };

/* Names stay as long as the process, and so do these. A domain of NULL is the default one. Where
 * there is no memory, or no name, there is nothing: NULL. */
struct pt_nvtx_domain *pt_cu_nvtx_names_domain(const char *name);
void pt_cu_nvtx_names_category(struct pt_nvtx_domain *domain, uint32_t category, const char *name);
const struct pt_nvtx_string *pt_cu_nvtx_names_register(struct pt_nvtx_domain *domain,
                                                       const char *text);
/* NULL: it has none. */
const char *pt_cu_nvtx_names_of_domain(const struct pt_nvtx_domain *domain);
const char *pt_cu_nvtx_names_of_category(const struct pt_nvtx_domain *domain, uint32_t category);
const char *pt_cu_nvtx_names_of_string(const struct pt_nvtx_string *string);
/* UTF-8 of a text, into `to`. */
const char *pt_cu_nvtx_names_narrow(const wchar_t *text, char to[PT_NVTX_NAME_BYTES]);

#endif
