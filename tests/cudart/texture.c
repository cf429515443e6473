/* Texture and surface objects: what is made of them, what comes back, what is refused. */
#include "tests/cudart/support.h"

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                            size_t height, unsigned flags);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaCreateTextureObject(CUtexObject *texture, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *sampler,
                                    const CUDA_RESOURCE_VIEW_DESC *view);
cudaError_t cudaDestroyTextureObject(CUtexObject texture);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *d, CUtexObject texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *d, CUtexObject texture);
cudaError_t cudaCreateSurfaceObject(CUsurfObject *surface, const cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(CUsurfObject surface);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *d, CUsurfObject surface);

enum { UNSIGNED = 1, FLOATING = 2, AS_THEY_ARE = 0, NORMALIZED = 1 };
static const cudaChannelFormatDesc words = {32, 0, 0, 0, UNSIGNED},
                                   pairs = {16, 16, 0, 0, FLOATING};

static void of_memory(void)
{
    CUtexObject t;
    cudaResourceDesc r = {.resType = CU_RESOURCE_TYPE_PITCH2D}, r_back;
    cudaTextureDesc d = {.addressMode = {0, 1, 2},
                         .filterMode = CU_TR_FILTER_MODE_LINEAR,
                         .readMode = AS_THEY_ARE,
                         .normalizedCoords = 1,
                         .maxAnisotropy = 3,
                         .borderColor = {1, 2, 3, 4}},
                    d_back;
    OK(cudaMalloc(&r.res.pitch2D.devPtr, 4096));
    r.res.pitch2D.desc = pairs;
    r.res.pitch2D.width = 10;
    r.res.pitch2D.height = 5;
    r.res.pitch2D.pitchInBytes = 64;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaGetTextureObjectResourceDesc(&r_back, t));
    CHECK_INT(r_back.resType, CU_RESOURCE_TYPE_PITCH2D);
    CHECK_INT(r_back.res.pitch2D.devPtr == r.res.pitch2D.devPtr, 1);
    CHECK_INT(r_back.res.pitch2D.desc.x, 16);
    CHECK_INT(r_back.res.pitch2D.desc.y, 16);
    CHECK_INT(r_back.res.pitch2D.desc.f, FLOATING);
    CHECK_INT(r_back.res.pitch2D.pitchInBytes, 64);
    OK(cudaGetTextureObjectTextureDesc(&d_back, t));
    CHECK_INT(d_back.addressMode[2], CU_TR_ADDRESS_MODE_MIRROR);
    CHECK_INT(d_back.readMode, AS_THEY_ARE);
    CHECK_INT(d_back.normalizedCoords, 1);
    CHECK_INT(d_back.maxAnisotropy, 3);
    CHECK_INT(d_back.borderColor[3] == 4, 1);
    OK(cudaDestroyTextureObject(t));
    BAD_VALUE(cudaGetTextureObjectTextureDesc(&d_back, t));
    r.res.pitch2D.desc.y = 8;
    CHECK_RT(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidChannelDescriptor);
    r.res.pitch2D.desc = words;
    CHECK_RT(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidFilterSetting);
    d.filterMode = CU_TR_FILTER_MODE_POINT;
    d.readMode = NORMALIZED;
    CHECK_RT(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidNormSetting);
    BAD_VALUE(cudaCreateTextureObject(NULL, &r, &d, NULL));
    BAD_VALUE(cudaCreateTextureObject(&t, NULL, &d, NULL));
    BAD_HANDLE(cudaCreateTextureObject(&t, &r, NULL, NULL));
    OK(cudaFree(r.res.pitch2D.devPtr));
}

static void of_array(void)
{
    CUtexObject t;
    CUsurfObject s;
    cudaResourceDesc r = {.resType = CU_RESOURCE_TYPE_ARRAY}, back;
    const cudaTextureDesc d = {.filterMode = CU_TR_FILTER_MODE_POINT};
    OK(cudaMallocArray(&r.res.array, &words, 8, 8, CUDA_ARRAY3D_SURFACE_LDST));
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaGetTextureObjectResourceDesc(&back, t));
    CHECK_INT(back.res.array == r.res.array, 1);
    OK(cudaDestroyTextureObject(t));
    OK(cudaCreateSurfaceObject(&s, &r));
    OK(cudaGetSurfaceObjectResourceDesc(&back, s));
    CHECK_INT(back.res.array == r.res.array, 1);
    OK(cudaDestroySurfaceObject(s));
    BAD_VALUE(cudaGetSurfaceObjectResourceDesc(&back, s));
    BAD_VALUE(cudaCreateSurfaceObject(&s, NULL));
    BAD_VALUE(cudaCreateSurfaceObject(NULL, &r));
    r.flags = 1;
    BAD_VALUE(cudaCreateSurfaceObject(&s, &r));
    r.flags = 0;
    OK(cudaFreeArray(r.res.array));
}

int main(void)
{
    of_memory();
    of_array();
    return CHECK_DONE("cudart_texture");
}
