/* Calls of the runtime library: one number for such a call and what it asks the driver for. */
#include "tests/cupti/support.h"

int cudaMalloc(void **p, size_t bytes);
int cudaMemset(void *p, int value, size_t bytes);
int cudaFree(void *p);

int main(void)
{
    void *p = NULL;
    CUPTI_OK(cuptiActivityRegisterCallbacks(request, complete));
    CUPTI_OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    CUPTI_OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    CUPTI_OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
    CHECK_INT(cudaMalloc(&p, 256), 0);
    CHECK_INT(cudaMemset(p, 3, 256), 0);
    CHECK_INT(cudaFree(p), 0);
    CUPTI_OK(cuptiActivityFlushAll(0));
    const CUpti_ActivityAPI *call = find_call(CUPTI_ACTIVITY_KIND_RUNTIME, "cudaMemset_v3020");
    const CUpti_ActivityMemset *set = find(CUPTI_ACTIVITY_KIND_MEMSET, 0);
    CHECK(call && set && set->correlation == call->correlation && set->value == 3);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_RUNTIME), 3);
    CHECK_INT(count(CUPTI_ACTIVITY_KIND_DRIVER), 0); /* what the library calls is its own affair */
    forget();
    return CHECK_DONE("cupti_runtime");
}
