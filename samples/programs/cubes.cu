// Cube maps by texture objects: a ball that mirrors its surroundings, with and without seams between the faces, blurred
// by mip levels, and one of several cubes. The hashes are those of the pixels that an H100 makes.
#include "image.h"

enum { SIDE = 16, CUBES = 3, LEVELS = 4 };

// What a ray from the eye meets behind the ball's surface.
static __device__ float3 mirrored(int x, int y, int w, int h)
{
    float u = (x + 0.5f) / w * 2 - 1, v = (y + 0.5f) / h * 2 - 1, r = u * u + v * v;
    if (r >= 1)
        return make_float3(u, v, 0.25f);
    float n = sqrtf(1 - r);
    return make_float3(2 * n * u, 2 * n * v, 2 * n * n - 1);
}

__global__ void reflect(cudaTextureObject_t t, float4 *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float3 d = mirrored(x, y, w, h);
    to[y * w + x] = texCubemap<float4>(t, d.x, d.y, d.z);
}

__global__ void blur(cudaTextureObject_t t, float4 *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float3 d = mirrored(x, y, w, h);
    to[y * w + x] = texCubemapLod<float4>(t, d.x, d.y, d.z, 3.0f * x / w);
}

__global__ void choose(cudaTextureObject_t t, float4 *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float3 d = mirrored(x, y, w, h);
    to[y * w + x] = texCubemapLayered<float4>(t, d.x, d.y, d.z, (x / 4 + y / 4) % CUBES);
}

// Faces of one level, `n` of them; each pixel tells where it is.
template <typename T> static std::vector<T> make_faces(int side, int n, float scale)
{
    std::vector<T> texels((size_t)side * side * n);
    for (int f = 0; f < n; f++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                T p;
                p.x = (x * 255 / side) * scale;
                p.y = (y * 255 / side) * scale;
                p.z = (f * 40 % 256) * scale;
                p.w = ((x ^ y ^ f) % 8 * 31) * scale;
                texels[((size_t)f * side + y) * side + x] = p;
            }
    return texels;
}

template <typename T> static void fill(cudaArray_t array, int side, int n, float scale)
{
    std::vector<T> texels = make_faces<T>(side, n, scale);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), side * sizeof(T), side, side);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(side, side, n);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
}

static cudaTextureDesc sampler(cudaTextureFilterMode filter, bool is_seamless)
{
    cudaTextureDesc d = {};
    d.filterMode = d.mipmapFilterMode = filter;
    d.readMode = cudaReadModeElementType;
    d.normalizedCoords = 1;
    d.seamlessCubemap = is_seamless;
    return d;
}

static void mirror_one(void)
{
    cudaChannelFormatDesc colours = cudaCreateChannelDesc<float4>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    CUDA(cudaMalloc3DArray(&resource.res.array.array, &colours, make_cudaExtent(SIDE, SIDE, 6), cudaArrayCubemap));
    fill<float4>(resource.res.array.array, SIDE, 6, 1 / 256.0f);
    static const struct {
        const char *name;
        cudaTextureFilterMode filter;
        bool is_seamless;
        uint64_t hash;
    } ways[] = {{"points", cudaFilterModePoint, false, 0x39c869b90c4b04a4},
                {"seams", cudaFilterModeLinear, false, 0x0ab52591671d1f5e},
                {"seamless", cudaFilterModeLinear, true, 0x2799f03984a8d1ce}};
    for (auto &way : ways) {
        cudaTextureDesc d = sampler(way.filter, way.is_seamless);
        cudaTextureObject_t t;
        CUDA(cudaCreateTextureObject(&t, &resource, &d, NULL));
        pixels<float4> seen(75, 61);
        reflect<<<seen.grid(), dim3(16, 8)>>>(t, seen.device, seen.w, seen.h);
        expect(way.name, seen.hash(), way.hash);
        CUDA(cudaDestroyTextureObject(t));
    }
    CUDA(cudaFreeArray(resource.res.array.array));
}

static void mirror_levels(void)
{
    cudaChannelFormatDesc colours = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc resource = {};
    cudaTextureDesc d = sampler(cudaFilterModeLinear, true);
    cudaTextureObject_t t;
    resource.resType = cudaResourceTypeMipmappedArray;
    CUDA(cudaMallocMipmappedArray(&resource.res.mipmap.mipmap, &colours, make_cudaExtent(SIDE, SIDE, 6), LEVELS,
                                  cudaArrayCubemap));
    for (int i = 0; i < LEVELS; i++) {
        cudaArray_t level;
        CUDA(cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, i));
        fill<uchar4>(level, SIDE >> i, 6, 1);
    }
    d.readMode = cudaReadModeNormalizedFloat;
    d.maxMipmapLevelClamp = LEVELS - 1;
    CUDA(cudaCreateTextureObject(&t, &resource, &d, NULL));
    pixels<float4> seen(75, 61);
    blur<<<seen.grid(), dim3(16, 8)>>>(t, seen.device, seen.w, seen.h);
    expect("levels", seen.hash(), 0xc4ed8b2a5767a077);
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeMipmappedArray(resource.res.mipmap.mipmap));
}

static void mirror_several(void)
{
    cudaChannelFormatDesc colours = cudaCreateChannelDesc<float4>();
    cudaResourceDesc resource = {};
    cudaTextureDesc d = sampler(cudaFilterModeLinear, true);
    cudaTextureObject_t t;
    resource.resType = cudaResourceTypeArray;
    CUDA(cudaMalloc3DArray(&resource.res.array.array, &colours, make_cudaExtent(SIDE, SIDE, 6 * CUBES),
                           cudaArrayCubemap | cudaArrayLayered));
    fill<float4>(resource.res.array.array, SIDE, 6 * CUBES, 1 / 256.0f);
    CUDA(cudaCreateTextureObject(&t, &resource, &d, NULL));
    pixels<float4> seen(75, 61);
    choose<<<seen.grid(), dim3(16, 8)>>>(t, seen.device, seen.w, seen.h);
    expect("several", seen.hash(), 0xbeb883b2d5b97c79);
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeArray(resource.res.array.array));
}

int main(void)
{
    mirror_one();
    mirror_levels();
    mirror_several();
    return is_wrong ? 1 : passed();
}
