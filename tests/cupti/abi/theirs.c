/* The facts as NVIDIA's headers have them, if there are some of release 13. */
#if defined(__has_include)
#if __has_include(<cupti.h>)
#include <cupti.h>
#endif
#endif
#include "tests/cupti/abi/list.h"

#define AT(structure, ours, member) {#member, offsetof(structure, member)},
#define STRUCTURE(ours, theirs, members) members(AT, theirs)
const struct abi_fact their_facts[] = {
#if defined(CUPTI_API_VERSION) && CUPTI_API_VERSION >= 130000
    STRUCTURES(STRUCTURE) VALUES(VALUE_FACT)
#endif
        {NULL, 0}};
const unsigned n_their_facts = sizeof their_facts / sizeof *their_facts - 1;
