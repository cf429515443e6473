/* What was hot in the last runs of a module, kept beside the compiled objects. It is a hint, never
 * more: whatever is wrong with it is no error, and changes no result. */
#ifndef PTERA_RUNTIME_PROFILE_H
#define PTERA_RUNTIME_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The module's text, as a hash. */
struct pt_profile_key {
    uint64_t hash[2];
};

/* A kernel that got hot in a shape. */
struct pt_profile_entry {
    uint32_t kernel; /* its index in the module */
    uint32_t block[3];
    bool math_fast, has_cluster;
    uint64_t
        interpreted_ns; /* of the launch that told: how long it was interpreted, 0: it was not */
};

enum { PT_PROFILE_ENTRIES = 256 /* of a module */ };

struct pt_profile_key pt_profile_key_make(const char *text, size_t bytes);
/* Up to PT_PROFILE_ENTRIES, the first ones first, each variant of a kernel once; how many. */
uint32_t pt_profile_read(struct pt_profile_key key, struct pt_profile_entry *entries);
void pt_profile_add(struct pt_profile_key key, const struct pt_profile_entry *entry);

#endif
