/* What Ptera's libraries ask of Ptera's driver beyond CUDA: by cuGetExportTable, as NVIDIA's do. */
#ifndef PTERA_CUDA_VENDOR_H
#define PTERA_CUDA_VENDOR_H

#include <stddef.h>

#include "runtime/cuda/abi.h"
#include "runtime/misfit.h"

#define PT_CU_LAUNCHES_ID                                                          \
    {                                                                              \
        'P', 't', 'e', 'r', 'a', ' ', 'l', 'a', 'u', 'n', 'c', 'h', 'e', 's', 0, 1 \
    }

struct pt_cu_launches {
    enum pt_misfit (*last_misfit)(void); /* why the calling thread's last launch did not fit */
};

#define PT_CU_CALLS_ID                                                       \
    {                                                                        \
        'P', 't', 'e', 'r', 'a', ' ', 'c', 'a', 'l', 'l', 's', 0, 0, 0, 0, 1 \
    }

/* Calls of another API, of which those of the driver are a part; NULL: nobody wants to be told. */
struct pt_cu_calls {
    void (*enter)(void);
    void (*leave)(const char *call, int result);
};

#define PT_CU_BOARDS_ID                                                        \
    {                                                                          \
        'P', 't', 'e', 'r', 'a', ' ', 'b', 'o', 'a', 'r', 'd', 's', 0, 0, 0, 1 \
    }

/* A board of the machine (board.h), whatever CUDA_VISIBLE_DEVICES hides. */
struct pt_cu_board {
    char name[64];
    CUuuid uuid;
    int n_boards;     /* that there are */
    int major, minor; /* compute capability */
    int sm_mhz, memory_mhz, memory_bits;
    size_t bytes, used_bytes; /* memory; used: by this process */
};

struct pt_cu_boards {
    CUresult (*describe)(int board, struct pt_cu_board *description);
};

#endif
