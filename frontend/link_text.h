/* Several modules become one. A text may hold modules one behind the other, each but the last
 * ended by a zero byte: pt_parse reads them into one pt_module, where a name with linkage means
 * the same thing in all of them. */
#ifndef PTERA_FRONTEND_LINK_TEXT_H
#define PTERA_FRONTEND_LINK_TEXT_H

#include "ir/arena.h"

/* A module to be linked. `name` (NULL: none) is what messages call it. */
struct pt_link_unit {
    const char *name, *text;
    size_t len;
};

/* Joins modules to such a text; each begins with a line marker (`# 1 "NAME"`) if it has a name.
 * NUL-terminated, in `arena`; *len is its length. */
char *pt_link_text_join(const struct pt_link_unit *units, uint32_t n, struct pt_arena *arena,
                   size_t *len);

#endif
