/* The subscriber, and what it wants to be called for. */
#ifndef PTERA_CUPTI_CALLBACK_H
#define PTERA_CUPTI_CALLBACK_H

#include <stdbool.h>

#include "runtime/cupti/abi.h"

bool pt_cupti_callback_is_wanted(CUpti_CallbackDomain domain, uint32_t number);
/* Calls the subscriber, if it wants that. What it does in it is told to nobody. */
void pt_cupti_callback_call(CUpti_CallbackDomain domain, uint32_t number, const void *data);
/* The thread is in a callback, or in what this library itself asks of the driver. */
bool pt_cupti_callback_is_inside(void);
void pt_cupti_callback_enter(void);
void pt_cupti_callback_leave(void);

#endif
