#pragma once
/* What calls return, line by line: the call as it is written, its result, and what it wrote. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The call, then its result: in two steps, since a GPU's driver ends at some calls. */
#define SAY(call) (say_call(#call), say_result((int)(call)), (void)printf("\n"))

/* Likewise, and the number that it wrote (77: nothing). */
#define GET(number, call)                                                         \
    ((number) = (__typeof__(number))77, say_call(#call), say_result((int)(call)), \
     (void)printf(" %lld\n", (long long)(number)))

/* Likewise, and whether it wrote a pointer or handle. */
#define MAKE(handle, call)                                   \
    ((handle) = 0, say_call(#call), say_result((int)(call)), \
     (void)printf(" %s\n", (handle) ? "made" : "null"))

/* Likewise, in functions that say_alone calls: where it is the one that is asked for. */
#define ALONE(call) \
    ((void)(n++ == which && (say_call(#call), say_result((int)(call)), printf("\n"))))

void say_call(const char *call);
void say_result(int result);

/* Makes each of the calls of `probes`, which returns how many it has, in a process of its own,
 * after `begin`: a driver may not survive them. Nothing was asked of the driver before. */
void say_alone(void (*begin)(void), int (*probes)(int which));

/* What parts begin with: the first device, its primary context, current, and `module`. */
void say_begin(void);
extern CUdevice device;
extern CUcontext context;
extern CUmodule module;
extern CUfunction empty, store, bounds, cluster, large; /* kernels of `module_text` */
extern const char module_text[];

/* Parts; each runs in a process of its own. */
#define PART(name) void part_##name(void);
#include "tests/hardware/driver/parts.def"
#include "tests/hardware/driver/parts_two.def"
#undef PART
