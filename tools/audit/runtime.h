/* NVIDIA's static runtime library inside a program or library: where its functions are. */
#ifndef PTERA_AUDIT_RUNTIME_H
#define PTERA_AUDIT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/audit/elf.h"

struct audit_place {
    uint64_t address; /* less the address where the file is loaded */
    unsigned extent;  /* bytes of code that are the function's alone */
    const char *name; /* NULL: what the library runs by itself, at start or at exit */
};

struct audit_runtime {
    unsigned major;             /* of the release */
    const char *versions;       /* that have this code, or NULL: found by its symbols */
    struct audit_place *places; /* none of which is in another */
    size_t n;
};

/* False: there is none, or none that is recognised. What is found holds names of the file. */
bool audit_runtime_find(const struct elf *elf, struct audit_runtime *runtime);
void audit_runtime_free(struct audit_runtime *runtime);

#endif
