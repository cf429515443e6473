/* What answers for functions of other releases that this library does not have: `ptera exec`
 * sends calls of NVIDIA's static runtime library here. Includes nothing of ours. */
#ifndef PTERA_CUDART_REFUSE_H
#define PTERA_CUDART_REFUSE_H

#include <stdatomic.h>

struct ptera_refusal {
    const char *name;
    atomic_bool is_told; /* that it is not supported */
};

/* Returns cudaErrorNotSupported, and says so once. */
int ptera_cudart_refuse(struct ptera_refusal *refusal);

#endif
