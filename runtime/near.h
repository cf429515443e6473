/* What lies at an address, or near it, in words. */
#ifndef PTERA_RUNTIME_NEAR_H
#define PTERA_RUNTIME_NEAR_H

#include "runtime/words.h"

/* `prefix`, and "8 bytes behind the end of a buffer of 64 bytes at 0x...". Without a `cta` its
 * windows are not looked at. False, having put nothing, if nothing is known of the address. */
bool pt_near_put(struct pt_words *w, const struct pt_cta *cta, uint64_t address,
                 const char *prefix);
/* Likewise where no launch is: of the engine's allocations. */
bool pt_near_put_record(struct pt_words *w, ptera_engine *engine, uint64_t address,
                        const char *prefix);
/* Whether the address is of memory that the process has, and no kernel was given. */
bool pt_near_is_of_host(struct pt_job *job, const struct pt_cta *cta, uint64_t address);

#endif
