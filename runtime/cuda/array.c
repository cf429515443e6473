/* Arrays: memory of textures and surfaces, in rows. */
#include "runtime/cuda/driver.h"

#include <stdlib.h>

void pt_cu_array_delete(CUarray array)
{
    CUarray *place = &array->ctx->arrays;
    while (*place && *place != array)
        place = &(*place)->next;
    if (*place)
        *place = array->next;
    if (!array->is_level)
        free(array->data);
    pt_cu_delete(array);
}
