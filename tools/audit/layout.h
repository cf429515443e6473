/* NVIDIA's static runtime library by the code of its releases: layouts.def, which layouts.py
 * makes. */
#ifndef PTERA_AUDIT_LAYOUT_H
#define PTERA_AUDIT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit_layout {
    unsigned machine; /* EM_X86_64, EM_AARCH64 */
    unsigned major;
    const char *versions;
    uint64_t bytes;
    uint64_t key_at, key;
    const char *windows;
    uint64_t hash;
    const char *functions;
    /* What the library runs by itself, at start and at exit: sections of their own. */
    struct audit_piece {
        unsigned n, n_relocations;
        const char *numbers;
        uint64_t hash;
    } startup, exit;
};

extern const struct audit_layout audit_layouts[];
extern const size_t audit_layouts_count;

/* All functions of the runtime library in any release. */
extern const char *const audit_layout_names[];
extern const size_t audit_layout_names_count;
/* Whether a function is one that the library runs by itself. */
bool audit_layout_is_quiet(const char *name);

/* A function of a layout; begin with `rest` = layout->functions and zeroes. False past the last. */
struct audit_function {
    const char *rest;
    uint64_t offset; /* in the section */
    int name;        /* index in audit_layout_names */
    unsigned extent; /* bytes up to the next function, or as many as count */
};
bool audit_layout_next(struct audit_function *function);

/* Looks for one of the layouts in `bytes` of a machine's code, the sections of which begin at
 * multiples of 16 (of 4 on ARM) from `code`. NULL, or the layout and where it begins. */
const struct audit_layout *audit_layout_find(const struct audit_layout *layouts, size_t n,
                                             unsigned machine, const unsigned char *code,
                                             size_t bytes, size_t *begin);

/* Looks for a piece of a layout that begins at code + begin. */
struct audit_piece_found {
    size_t begin, bytes;
    const char *functions; /* their offsets: audit_layout_take */
};
bool audit_layout_find_piece(const struct audit_piece *piece, unsigned machine,
                             const unsigned char *code, size_t bytes, size_t begin,
                             struct audit_piece_found *found);
/* The next number of a string. */
uint64_t audit_layout_take(const char **text);

#endif
