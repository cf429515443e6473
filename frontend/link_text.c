/* The text of several modules. */
#include "frontend/link_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Can the name stand in a line marker? */
static bool is_name(const char *name)
{
    return name && *name && !strpbrk(name, "\"\n");
}

char *pt_link_text_join(const struct pt_link_unit *units, uint32_t n, struct pt_arena *arena,
                   size_t *len)
{
    static const char marker[] = "# 1 \"%s\"\n";
    size_t size = 1;
    for (uint32_t i = 0; i < n; i++)
        size += units[i].len + sizeof marker + (units[i].name ? strlen(units[i].name) : 0) + 2;
    char *text = pt_arena_alloc(arena, size), *to = text;
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = units[i].len;
        while (bytes && !units[i].text[bytes - 1])
            bytes--;
        if (i > 0)
            *to++ = '\0';
        if (is_name(units[i].name))
            to += sprintf(to, marker, units[i].name);
        memcpy(to, units[i].text, bytes);
        to += bytes;
        *to++ = '\n';
    }
    *len = (size_t)(to - text);
    return text;
}
