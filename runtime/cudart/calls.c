/* Telling the driver of calls, for its timeline and its listener. */
#include "runtime/cudart/calls.h"

const struct pt_cu_calls *pt_rt_calls;

__attribute__((constructor)) static void find_calls(void)
{
    const CUuuid id = {PT_CU_CALLS_ID};
    const void *table = NULL;
    if (cuGetExportTable(&table, &id) == CUDA_SUCCESS)
        pt_rt_calls = table;
}
