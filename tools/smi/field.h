/* What `nvidia-smi --query-gpu` can be asked. */
#ifndef PTERA_SMI_FIELD_H
#define PTERA_SMI_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/nvml/abi.h"

struct smi_field {
    const char *name, *alias; /* NULL: there is no other name */
    const char *unit;         /* "": the value has none */
    const char *what;
    /* Its text without the unit. NULL, or false: it is not known. */
    bool (*write)(nvmlDevice_t device, char *out, size_t size);
};

extern const struct smi_field smi_fields[]; /* the last has no name */

/* NULL: there is no such field. */
const struct smi_field *smi_field_find(const char *name, size_t length);
/* Its text with the unit, or "[N/A]". */
void smi_field_write(const struct smi_field *field, nvmlDevice_t device, bool has_units, char *out,
                     size_t size);

#endif
