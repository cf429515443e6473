/* Entering and leaving the driver. */
#ifndef PTERA_CUDA_ENTRY_H
#define PTERA_CUDA_ENTRY_H

#include "runtime/cuda/abi.h"

/* The body of an entry: `return API(call)`. Takes the lock, tells PTERA_LOG=api of the call and its
 * result. */
#define API(call) (pt_cu_entry_begin(__func__), pt_cu_entry_end(__func__, (call)))
void pt_cu_entry_begin(const char *entry);
CUresult pt_cu_entry_end(const char *entry, CUresult result);

/* `failed` is told of calls that fail, with the lock, which the caller has, too. */
void pt_cu_entry_watch(void (*failed)(const char *entry, CUresult result));

/* An entry that works on the default stream, or on one that is given, and its twin for programs
 * whose default stream is one for each thread. `call` is called with the default stream in
 * front. */
#define PER_THREAD_API(symbol, twin, call, parameters, ...)  \
    CUresult symbol parameters                               \
    {                                                        \
        return API(call(CU_STREAM_LEGACY, __VA_ARGS__));     \
    }                                                        \
    CUresult symbol##twin parameters                         \
    {                                                        \
        return API(call(CU_STREAM_PER_THREAD, __VA_ARGS__)); \
    }

#endif
