/* Our statement of the binary interface is NVIDIA's. */
#include "tests/cuda/abi/list.h"
#include "tests/cuda/support.h"

const struct abi_fact our_facts[] = {
    FACTS
#define X(name, ...) VALUE_FACT(CUDA_ERROR_##name)
#include "runtime/cuda/error.def"
#undef X
#define X(name, ...) VALUE_FACT(CU_DEVICE_ATTRIBUTE_##name)
#include "runtime/cuda/attribute.def"
#undef X
};
const unsigned n_our_facts = sizeof our_facts / sizeof *our_facts;

int main(void)
{
    if (!n_their_facts) {
        printf("cuda_abi: 0 passed, 0 failed, %u skipped\n", n_our_facts);
        return 0;
    }
    CHECK_INT(n_our_facts, n_their_facts);
    for (unsigned i = 0; i < n_our_facts; i++) {
        CHECK_TEXT(our_facts[i].what, their_facts[i].what);
        if (our_facts[i].value != their_facts[i].value)
            fprintf(stderr, "%s:\n", our_facts[i].what);
        CHECK_INT(our_facts[i].value, their_facts[i].value);
    }
    return CHECK_DONE("cuda_abi");
}
