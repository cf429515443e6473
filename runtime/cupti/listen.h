/* Listening to the driver. Who does so is said at start (told.c): those below begin and end it. */
#ifndef PTERA_CUPTI_LISTEN_H
#define PTERA_CUPTI_LISTEN_H

#include <stdbool.h>

#include "runtime/cuda/vendor.h"
#include "runtime/cupti/abi.h"

/* `begin`: a kind of records is wanted from now on, and some of it is to be told at once. */
void pt_cupti_listen_by(const struct pt_cu_listener *listener,
                        void (*begin)(CUpti_ActivityKind kind));
/* The driver tells from now on; no longer. */
void pt_cupti_listen_start(void);
void pt_cupti_listen_stop(void);
bool pt_cupti_listen_is_on(void);
void pt_cupti_listen_begin(CUpti_ActivityKind kind);

#endif
