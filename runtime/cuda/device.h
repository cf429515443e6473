/* Devices: the boards (board.h) that CUDA_VISIBLE_DEVICES shows. */
#ifndef PTERA_CUDA_DEVICE_H
#define PTERA_CUDA_DEVICE_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/**/
CUresult pt_cu_device_init(void);
bool pt_cu_device_is_valid(CUdevice device);
int pt_cu_device_attribute(CUdevice_attribute attribute, CUdevice device);

#endif
