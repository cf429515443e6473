/* Records of devices, contexts and streams. */
#ifndef PTERA_CUPTI_DEVICE_H
#define PTERA_CUPTI_DEVICE_H

#include "runtime/cupti/abi.h"

/* Each adds what is wanted of it. */
void pt_cupti_device_add_devices(void);
void pt_cupti_device_add_context(CUcontext context);
void pt_cupti_device_add_stream(CUcontext context, CUstream stream);

#endif
