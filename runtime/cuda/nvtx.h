/* The interface between NVTX and a tool, as version 3 of NVTX has it: the header that programs
 * compile in opens the library that NVTX_INJECTION64_PATH names, calls InitializeInjectionNvtx2,
 * and from then on the functions that this puts into its tables. */
#ifndef PTERA_CUDA_NVTX_H
#define PTERA_CUDA_NVTX_H

#include <stddef.h>
#include <stdint.h>

enum { PT_NVTX_CALLBACKS = 1 /* the export table */ };

/* Tables of functions. */
enum { PT_NVTX_CORE = 1, PT_NVTX_CUDA = 2, PT_NVTX_CUDART = 4, PT_NVTX_CORE2 = 5 };

typedef void (*pt_nvtx_function)(void);

struct pt_nvtx_callbacks {
    size_t bytes;
    int (*get)(int module, pt_nvtx_function ***table, unsigned *n);
};

struct pt_nvtx_string; /* registered */
struct pt_nvtx_domain; /* NULL: the default one */

enum pt_nvtx_payload {
    PT_NVTX_NONE,
    PT_NVTX_U64,
    PT_NVTX_I64,
    PT_NVTX_F64,
    PT_NVTX_U32,
    PT_NVTX_I32,
    PT_NVTX_F32
};
enum { PT_NVTX_ARGB = 1 };
enum { PT_NVTX_ASCII = 1, PT_NVTX_WIDE, PT_NVTX_REGISTERED };

struct pt_nvtx_attributes {
    uint16_t version, bytes;
    uint32_t category;
    int32_t colour_type;
    uint32_t colour; /* 0xAARRGGBB */
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const struct pt_nvtx_string *registered;
    } message;
};

#endif
