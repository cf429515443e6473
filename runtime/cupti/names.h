/* Names: of calls, which CUPTI gives numbers, and of kernels, which records point to. */
#ifndef PTERA_CUPTI_NAMES_H
#define PTERA_CUPTI_NAMES_H

#include "runtime/cuda/vendor.h"
#include "runtime/cupti/abi.h"

/* The number of a call of one of the libraries, by its symbol; 0: it has none. */
uint32_t pt_cupti_names_number(enum pt_cu_api api, const char *symbol);
/* What a call of a domain is called; NULL: there is none of that number. */
const char *pt_cupti_names_callback(CUpti_CallbackDomain domain, uint32_t number);
/* The numbers of a domain end below this; 0: there is no such domain. */
uint32_t pt_cupti_names_end(CUpti_CallbackDomain domain);
/* A copy of a text that stays for good, the same one for equal texts; NULL: no memory. */
const char *pt_cupti_names_keep(const char *text);

#endif
