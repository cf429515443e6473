/* Entering and leaving the driver. */
#ifndef PTERA_CUDA_ENTRY_H
#define PTERA_CUDA_ENTRY_H

#include "runtime/cuda/abi.h"
#include "runtime/cuda/listener.h"

/* The body of an entry: `return API(call)`. Takes the lock, tells PTERA_LOG=api of the call and its
 * result. */
#define API(call) (pt_cu_entry_begin(__func__), pt_cu_entry_end(__func__, (call)))
/* The same of an entry whose arguments are told, too: `given` is a structure of them, in their
 * order. */
#define API_GIVEN(given, call) \
    (pt_cu_listener_is_on() ? pt_cu_listener_give(&(given)) : (void)0, API(call))
void pt_cu_entry_begin(const char *entry);
CUresult pt_cu_entry_end(const char *entry, CUresult result);

/* A call of one of the libraries begins and ends for those who are told of it. */
void pt_cu_entry_enter(enum pt_cu_api api, const char *call);
void pt_cu_entry_leave(const char *call, int result);

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
/* The same of one whose arguments are told. */
#define PER_THREAD_API_GIVEN(symbol, twin, given, call, parameters, ...)  \
    CUresult symbol parameters                                            \
    {                                                                     \
        return API_GIVEN(given, call(CU_STREAM_LEGACY, __VA_ARGS__));     \
    }                                                                     \
    CUresult symbol##twin parameters                                      \
    {                                                                     \
        return API_GIVEN(given, call(CU_STREAM_PER_THREAD, __VA_ARGS__)); \
    }

#endif
