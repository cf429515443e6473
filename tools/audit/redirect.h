/* Writes jumps to our runtime library over the functions of NVIDIA's in an object that is mapped
 * and does not run yet. */
#ifndef PTERA_AUDIT_REDIRECT_H
#define PTERA_AUDIT_REDIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/audit/runtime.h"

/* Our runtime library as it is mapped: its functions by name. */
struct audit_library {
    struct audit_entry {
        const char *name;
        uint64_t address;
    } *entries;
    size_t n;
    uint64_t refuse; /* what answers for functions that it does not have */
    struct elf elf;  /* has the names */
};
/* `base`: where the file is loaded. False: it cannot be read, or is not ours. */
bool audit_library_open(struct audit_library *library, const char *path, uint64_t base);

/* The code of one function, or what it could not hold. */
struct audit_patch {
    uint64_t address; /* less the address where the file is loaded */
    unsigned bytes;
    unsigned char code[32];
};
struct audit_plan {
    struct audit_patch *patches;
    size_t n;
    struct ptera_refusal *refusals; /* the code points to them */
    size_t n_refused;
    bool is_written;
};
/* What to write for the places of a machine's code. NULL, or what is wrong. */
const char *audit_redirect_plan(const struct audit_runtime *runtime,
                                const struct audit_library *library, unsigned machine,
                                struct audit_plan *plan);
/* What written code points to stays. */
void audit_redirect_free(struct audit_plan *plan);
/* Writes it into the file's memory at `base`, which must still be as the file. All or nothing;
 * NULL, or what is wrong. */
const char *audit_redirect_write(struct audit_plan *plan, const struct elf *elf, uint64_t base);

#endif
