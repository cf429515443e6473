/* Our statement of CUPTI's binary interface is NVIDIA's; and every call of it is there. */
#include "tests/cupti/abi/list.h"
#include "tests/cupti/support.h"

#define AT(structure, member, theirs) {#theirs, offsetof(structure, member)},
#define STRUCTURE(ours, theirs, members) members(AT, ours)
const struct abi_fact our_facts[] = {STRUCTURES(STRUCTURE) VALUES(VALUE_FACT)};
const unsigned n_our_facts = sizeof our_facts / sizeof *our_facts;

int main(void)
{
    if (!n_their_facts) {
        printf("cupti_abi: 0 passed, 0 failed, %u skipped\n", n_our_facts);
        return 0;
    }
    CHECK_INT(n_our_facts, n_their_facts);
    for (unsigned i = 0; i < n_our_facts; i++) {
        CHECK_TEXT(our_facts[i].what, their_facts[i].what);
        if (our_facts[i].value != their_facts[i].value)
            fprintf(stderr, "%s:\n", our_facts[i].what);
        CHECK_INT(our_facts[i].value, their_facts[i].value);
    }
    return CHECK_DONE("cupti_abi");
}
