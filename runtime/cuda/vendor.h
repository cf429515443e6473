/* What Ptera's runtime library asks of Ptera's driver beyond CUDA: by cuGetExportTable, as NVIDIA's
 * does. */
#ifndef PTERA_CUDA_VENDOR_H
#define PTERA_CUDA_VENDOR_H

#include "runtime/misfit.h"

#define PT_CU_LAUNCHES_ID \
    {'P', 't', 'e', 'r', 'a', ' ', 'l', 'a', 'u', 'n', 'c', 'h', 'e', 's', 0, 1}

struct pt_cu_launches {
    enum pt_misfit (*last_misfit)(void); /* why the calling thread's last launch did not fit */
};

#endif
