/* What variables of CUDA's say of the driver as a whole. */
#ifndef PTERA_CUDA_SETTINGS_H
#define PTERA_CUDA_SETTINGS_H

#include "runtime/cuda/driver.h"

/* Which of the boards the program's devices are, in which order, and what else the driver's
 * structure has of variables. */
CUresult pt_cu_settings_read(struct pt_cu_driver *driver);

#endif
