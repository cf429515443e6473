/* Device functions by name. */
#include "ir/device.h"

#include <string.h>

enum pt_device_function pt_device_find(const char *name)
{
#define X(function)                   \
    if (strcmp(name, #function) == 0) \
        return PT_DEVICE_##function;
    PT_DEVICE_FUNCTIONS(X)
#undef X
    return PT_DEVICE_NONE;
}
