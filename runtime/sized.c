/* Structs of ptera.h, which begin with their size. */
#include "runtime/sized.h"

#include <string.h>

enum { STRUCT_MAX = 4096 }; /* bytes: a size beyond it is none */

void pt_sized_init(void *to, size_t size, const void *from, size_t ours)
{
    if (!to || size < sizeof size)
        return;
    memset(to, 0, size);
    memcpy(to, from, size < ours ? size : ours);
    memcpy(to, &size, sizeof size);
}

bool pt_sized_take(void *to, size_t ours, const void *from)
{
    size_t theirs;
    memcpy(&theirs, from, sizeof theirs);
    if (theirs < sizeof theirs || theirs > STRUCT_MAX)
        return false;
    for (size_t i = ours; i < theirs; i++)
        if (((const char *)from)[i])
            return false;
    memcpy(to, from, theirs < ours ? theirs : ours);
    return true;
}

ptera_result pt_sized_give(void *to, void *from, size_t ours)
{
    size_t theirs;
    memcpy(&theirs, to, sizeof theirs);
    if (theirs < sizeof theirs)
        return PTERA_ERROR_INVALID_ARGUMENT;
    memcpy(from, &theirs, sizeof theirs);
    memcpy(to, from, theirs < ours ? theirs : ours);
    return PTERA_OK;
}
