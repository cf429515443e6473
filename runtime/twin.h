/* Memory with two addresses: `write` for the host, `read` for kernels, which may only read it. */
#ifndef PTERA_RUNTIME_TWIN_H
#define PTERA_RUNTIME_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_twin {
    uint8_t *write, *read;
    size_t bytes;
};
bool pt_twin_map(struct pt_twin *twin, size_t bytes);
void pt_twin_unmap(struct pt_twin *twin);

#endif
