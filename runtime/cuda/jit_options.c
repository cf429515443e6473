/* Options that programs give with an image, and the buffers for messages among them. */
#include "runtime/cuda/jit_options.h"

#include <stdio.h>
#include <string.h>

bool pt_cu_jit_options_read(struct pt_cu_jit_options *o, unsigned n, const CUjit_option *options,
                            void **values)
{
    *o = (struct pt_cu_jit_options){0};
    if (n && (!options || !values))
        return false;
    for (unsigned i = 0; i < n; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            o->info.text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            o->info.size = (uint32_t)(uintptr_t)values[i];
            o->info.size_option = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            o->error.text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            o->error.size = (uint32_t)(uintptr_t)values[i];
            o->error.size_option = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            o->wall_time = &values[i];
            break;
        case CU_JIT_MAX_REGISTERS:
            o->registers = (uint32_t)(uintptr_t)values[i];
            break;
        default: /* the others advise NVIDIA's compiler */
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return false;
        }
    }
    return true;
}

void pt_cu_jit_options_write(struct pt_cu_jit_log *log, const char *text)
{
    size_t n = 0;
    if (log->text && log->size)
        n = (size_t)snprintf(log->text, log->size, "%s", text);
    if (n >= log->size)
        n = log->size ? log->size - 1 : 0;
    if (log->size_option)
        *log->size_option = (void *)(uintptr_t)n;
}
