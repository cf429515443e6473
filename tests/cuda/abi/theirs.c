/* The facts as NVIDIA's header has them, if there is one of the version that ours states. */
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif
#include "tests/cuda/abi/list.h"

const struct abi_fact their_facts[] = {
#if defined(CUDA_VERSION) && CUDA_VERSION == 13000
    FACTS
#define X(name, ...) VALUE_FACT(CUDA_ERROR_##name)
#include "runtime/cuda/error.def"
#undef X
#define X(name, ...) VALUE_FACT(CU_DEVICE_ATTRIBUTE_##name)
#include "runtime/cuda/attribute.def"
#undef X
#endif
    {NULL, 0}};
const unsigned n_their_facts = sizeof their_facts / sizeof *their_facts - 1;
