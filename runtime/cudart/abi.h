/* The binary interface of CUDA's runtime library as far as it is not that of the driver library:
 * numbers and layouts that programs are compiled against, stated anew. PT_RT_MAJOR (11, 12, 13)
 * chooses the release. Names and members are CUDA's. */
#ifndef PTERA_CUDART_ABI_H
#define PTERA_CUDART_ABI_H

#include "runtime/cuda/abi.h"

#ifndef PT_RT_MAJOR
#define PT_RT_MAJOR 13
#endif

typedef enum cudaError {
    cudaSuccess = 0,
#define X(name, value, text) cudaError##name = value,
#include "runtime/cuda/runtime_error.def"
#undef X
} cudaError_t;

typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUlibrary cudaLibrary_t;
typedef CUkernel cudaKernel_t;
typedef CUfunction cudaFunction_t;
typedef CUmemoryPool cudaMemPool_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphNode cudaGraphNode_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUarray cudaArray_t;

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;

typedef struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
} cudaPitchedPtr;
typedef struct cudaExtent {
    size_t width, height, depth;
} cudaExtent;
typedef struct cudaPos {
    size_t x, y, z;
} cudaPos;
typedef struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
} cudaMemcpy3DParms;

typedef struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    int dstDevice;
    cudaExtent extent;
} cudaMemcpy3DPeerParms;

typedef enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
} cudaMemoryType;
typedef struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
#if PT_RT_MAJOR >= 13
    long reserved[8];
#endif
} cudaPointerAttributes;

typedef struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
#if PT_RT_MAJOR >= 12
    int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
#endif
} cudaFuncAttributes;

typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

typedef struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
} cudaKernelNodeParams;

/* As CUgraphNodeParams, but for kernels and copies (and conditional nodes, which have no context
 * here). */
typedef struct cudaGraphNodeParams {
    CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        cudaKernelNodeParams kernel;
        struct {
            int flags, reserved[3];
            cudaMemcpy3DParms copyParams;
        } memcpy;
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        struct {
            CUgraphConditionalHandle handle;
            CUgraphConditionalNodeType type;
            unsigned size;
            cudaGraph_t *phGraph_out;
        } conditional;
    };
    long long reserved2;
} cudaGraphNodeParams;
_Static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "");

typedef struct cudaChannelFormatDesc {
    int x, y, z, w; /* bits */
    int f;          /* what they are */
} cudaChannelFormatDesc;
typedef struct cudaExternalMemoryMipmappedArrayDesc {
    unsigned long long offset;
    cudaChannelFormatDesc formatDesc;
    cudaExtent extent;
    unsigned flags, numLevels;
} cudaExternalMemoryMipmappedArrayDesc;

#ifndef PT_RT_MAJOR
#define PT_RT_MAJOR 13 /* what a program is built for that says nothing */
#endif

typedef struct cudaResourceDesc {
    CUresourcetype resType;
    union {
        cudaArray_t array;
        CUmipmappedArray mipmap;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
#if PT_RT_MAJOR >= 13
        int reserved[32];
    } res;
    unsigned flags;
#else
    } res;
#endif
} cudaResourceDesc;
typedef struct cudaTextureDesc {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    int readMode, sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
#if PT_RT_MAJOR >= 12
    int seamlessCubemap;
#endif
} cudaTextureDesc;

typedef struct cudaDeviceProp {
    char name[256];
    CUuuid uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
#define INT(member, attribute) int member;
#define INT2(member, a, b) int member[2];
#define INT3(member, a, b, c) int member[3];
#define SIZE(member, attribute) size_t member;
#if PT_RT_MAJOR >= 13
#define OLD(member, attribute)
#define NEW(member, attribute) int member;
#else
#define OLD(member, attribute) int member;
#define NEW(member, attribute)
#endif
#include "runtime/cudart/property.def"
#undef INT
#undef INT2
#undef INT3
#undef SIZE
#undef OLD
#undef NEW
#if PT_RT_MAJOR >= 13
    int reserved[56];
#else
    int reserved[63];
#endif
} cudaDeviceProp;

#endif
