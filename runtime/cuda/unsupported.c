/* The entries that are not supported: each says so once. */
#include <stdatomic.h>

#include "runtime/cuda/log.h"

static CUresult refuse(const char *entry, atomic_flag *said)
{
    if (!atomic_flag_test_and_set(said))
        pt_cu_log_print("%s is not supported", entry);
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define CU(symbol, name, version, stream, types)
#define NOT_SUPPORTED(symbol, name, version, stream) \
    PTERA_CUDA_API CUresult symbol(void);            \
    CUresult symbol(void)                            \
    {                                                \
        static atomic_flag said = ATOMIC_FLAG_INIT;  \
        return refuse(#symbol, &said);               \
    }
#include "runtime/cuda/cuda.def"
#undef NOT_SUPPORTED
#undef CU
