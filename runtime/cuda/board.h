/* The boards of the machine that there seems to be, PTERA_DEVICES of them (1), all alike:
 * runtime/device.h says which. CUDA_VISIBLE_DEVICES makes some of them a program's devices. */
#ifndef PTERA_CUDA_BOARD_H
#define PTERA_CUDA_BOARD_H

#include "runtime/cuda/abi.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/vendor.h"

/* What the environment says: the driver's profile, the number of boards, their memory. */
CUresult pt_cu_board_read(struct pt_cu_driver *driver);
void pt_cu_board_name(const struct pt_cu_driver *driver, char *name, size_t bytes);
CUuuid pt_cu_board_uuid(const struct pt_cu_driver *driver, int board);
/* Bus `board` + 1 of domain 0, as 0000:01:00.0. */
void pt_cu_board_bus_id(int board, char *id, size_t bytes);

/* For libnvidia-ml: works without cuInit, and leaves nothing initialised. */
CUresult pt_cu_board_describe(int board, struct pt_cu_board *description);

#endif
