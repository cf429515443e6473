/* Kinds of chapters: those that there are. */
#include "tools/conform/kind.h"

#include <string.h>

#define KIND(name) extern const struct conform_kind conform_##name;
#include "tools/conform/kind.def"

const struct conform_kind *conform_kind_find(const char *name)
{
    static const struct conform_kind *const kinds[] = {
#define KIND(name) &conform_##name,
#include "tools/conform/kind.def"
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}
