/* Findings: what checkers say of a kernel. A checker fills a pt_finding and hands it to
 * pt_services.found, as often as it sees it: the runtime tells the same one apart, counts it, and
 * puts it into words. */
#ifndef PTERA_BACKEND_FINDING_H
#define PTERA_BACKEND_FINDING_H

#include <stdbool.h>
#include <stdint.h>

enum pt_party_who { PT_PARTY_NONE, PT_PARTY_THREAD, PT_PARTY_HOST };

/* One of those who take part, and what it does. Nothing of it points into the launch, so that a
 * checker may keep it for later. */
struct pt_party {
    enum pt_party_who who;
    uint32_t func, insn; /* of the launch's module; insn UINT32_MAX: not known */
    uint32_t cta[3], thread[3];
    uint32_t use;                /* enum pt_use; 0: no access */
    bool has_address, has_value; /* it is of memory; or else of a register, or of neither: */
    bool has_register;
    uint32_t reg;      /* of func */
    uint64_t address;  /* generic */
    uint64_t bytes;    /* 0: not said */
    uint64_t value;    /* what is read or written, of up to 8 bytes */
    const char *place; /* of the host or of another module's kernel, instead of func and insn: text
                        * that lives as long as the finding is being told */
};

struct pt_finding {
    uint32_t kind; /* enum pt_finding_kind: observer.h */
    struct pt_party by, other;
    const char *detail; /* what is wrong or missing, a clause; NULL: nothing more is to be said */
};

#endif
