// Surfaces: the levels of a mipmapped array made one from the other, a volume and layers written by threads. The
// hashes are those of the texels that an H100 leaves.
#include "image.h"

#include <cstring>

enum { SIDE = 64, LEVELS = 7, LAYERS = 5 };

__global__ void halve(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    int sum[4] = {0, 0, 0, 0};
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            uchar4 p;
            surf2Dread(&p, from, (2 * x + i) * (int)sizeof p, 2 * y + j);
            sum[0] += p.x;
            sum[1] += p.y;
            sum[2] += p.z;
            sum[3] += p.w;
        }
    surf2Dwrite(make_uchar4((sum[0] + 2) / 4, (sum[1] + 2) / 4, (sum[2] + 2) / 4, (sum[3] + 2) / 4), to,
                x * (int)sizeof(uchar4), y);
}

__global__ void fill_volume(cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    surf3Dwrite(make_short2(x * 100 - y, z * 1000 + x), to, x * (int)sizeof(short2), y, z);
}

// Reads beyond the edge as far as the mode says, and writes nothing there.
__global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int side)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) - 4, y = (int)blockIdx.y - 2, layer = blockIdx.z;
    float sum = 0;
    for (int i = -2; i <= 2; i++)
        sum += surf2DLayeredread<float>(from, (x + i) * (int)sizeof sum, y, layer, cudaBoundaryModeClamp) +
               surf2DLayeredread<float>(from, x * (int)sizeof sum, y + i, layer, cudaBoundaryModeZero);
    surf2DLayeredwrite(sum / 10, to, x * (int)sizeof sum, y, layer, cudaBoundaryModeZero);
}

static cudaSurfaceObject_t make_surface(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t s;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CUDA(cudaCreateSurfaceObject(&s, &resource));
    return s;
}

static uint64_t hash_of(cudaArray_t array, size_t texel, int w, int h, int d)
{
    std::vector<unsigned char> bytes(texel * w * h * d);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(bytes.data(), texel * w, w, h);
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy3D(&copy));
    return hash_of(bytes.data(), bytes.size());
}

static void make_levels(void)
{
    static uchar4 image[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            image[y][x] = make_uchar4(x * y, x ^ y, x * 3 + y, (x * 11) ^ (y * 7));
    cudaChannelFormatDesc colours = cudaCreateChannelDesc<uchar4>();
    cudaMipmappedArray_t levels;
    CUDA(cudaMallocMipmappedArray(&levels, &colours, make_cudaExtent(SIDE, SIDE, 0), LEVELS, cudaArraySurfaceLoadStore));
    cudaArray_t level[LEVELS];
    uint64_t sum = 0;
    for (int i = 0; i < LEVELS; i++)
        CUDA(cudaGetMipmappedArrayLevel(&level[i], levels, i));
    CUDA(cudaMemcpy2DToArray(level[0], 0, 0, image, sizeof *image, sizeof *image, SIDE, cudaMemcpyHostToDevice));
    for (int i = 1; i < LEVELS; i++) {
        int side = SIDE >> i;
        cudaSurfaceObject_t from = make_surface(level[i - 1]), to = make_surface(level[i]);
        halve<<<dim3((side + 15) / 16, (side + 7) / 8), dim3(16, 8)>>>(from, to, side);
        sum = sum * 31 + hash_of(level[i], sizeof(uchar4), side, side, 1);
        CUDA(cudaDestroySurfaceObject(from));
        CUDA(cudaDestroySurfaceObject(to));
    }
    expect("levels", sum, 0xb011eca7dc1fee3a);
    CUDA(cudaFreeMipmappedArray(levels));
}

static cudaArray_t make_box(cudaChannelFormatDesc channels, int w, int h, int d, unsigned flags)
{
    cudaArray_t array;
    CUDA(cudaMalloc3DArray(&array, &channels, make_cudaExtent(w, h, d), flags | cudaArraySurfaceLoadStore));
    return array;
}

static void fill_boxes(void)
{
    cudaArray_t box = make_box(cudaCreateChannelDesc<short2>(), 24, 10, 6, 0);
    cudaSurfaceObject_t s = make_surface(box);
    fill_volume<<<dim3(10, 6), 24>>>(s);
    expect("volume", hash_of(box, sizeof(short2), 24, 10, 6), 0xae27ac64a5fc799d);
    CUDA(cudaDestroySurfaceObject(s));
    CUDA(cudaFreeArray(box));
    cudaArray_t from = make_box(cudaCreateChannelDesc<float>(), 40, 12, LAYERS, cudaArrayLayered);
    cudaArray_t to = make_box(cudaCreateChannelDesc<float>(), 40, 12, LAYERS, cudaArrayLayered);
    std::vector<float> texels(40 * 12 * LAYERS);
    for (size_t i = 0; i < texels.size(); i++)
        texels[i] = (float)(i * i % 1009) / 16;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), 40 * sizeof(float), 40, 12);
    copy.dstArray = from;
    copy.extent = make_cudaExtent(40, 12, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    cudaSurfaceObject_t a = make_surface(from), b = make_surface(to);
    blur<<<dim3(3, 16, LAYERS), 16>>>(a, b, 40);
    expect("layers", hash_of(to, sizeof(float), 40, 12, LAYERS), 0xa634191d001bfac0);
    CUDA(cudaDestroySurfaceObject(a));
    CUDA(cudaDestroySurfaceObject(b));
    CUDA(cudaFreeArray(from));
    CUDA(cudaFreeArray(to));
}

int main(void)
{
    make_levels();
    fill_boxes();
    return is_wrong ? 1 : passed();
}
