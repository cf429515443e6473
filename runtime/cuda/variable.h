/* Variables of the environment. */
#ifndef PTERA_CUDA_VARIABLE_H
#define PTERA_CUDA_VARIABLE_H

#include <stdlib.h>

/* NULL: it is not set, or empty. */
static inline const char *pt_cu_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* 0 likewise. */
static inline unsigned pt_cu_variable_number(const char *name)
{
    const char *value = pt_cu_variable(name);
    return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

#endif
