/* Elements that lanes send to shared memory of the cluster. */
#ifndef PTERA_BACKEND_INTERP_ASYNC_STORE_H
#define PTERA_BACKEND_INTERP_ASYNC_STORE_H

#include "backend/interp/interp.h"

/* The selector of red.async that an mbarrier counts. */
#define pt_async_store_reduce PT_LEVEL_NAME(pt_async_store_reduce)
pt_handler pt_async_store_reduce(struct pt_select *s);

#endif
