// Images by texture objects: Sobel, bilateral and bicubic filters, resizing against an exact model of the hardware's
// weights, a volume seen through. The hashes are those of the pixels that an H100 makes.
#include "image.h"

#include <cmath>

enum { WIDTH = 61, HEIGHT = 43, SIDE = 20, DEPTH = 24 };

static unsigned char image[HEIGHT][WIDTH];

static void make_image(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            image[y][x] = (unsigned char)((x * 7 + y * 5) ^ (x * y / 3) ^ ((x / 9 + y / 7) % 2 ? 200 : 0));
}

__global__ void sobel(cudaTextureObject_t t, unsigned char *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int p[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            p[j][i] = tex2D<unsigned char>(t, x + i - 1, y + j - 1);
    int dx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    int dy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    int sum = (abs(dx) + abs(dy)) / 4;
    to[y * w + x] = sum > 255 ? 255 : sum;
}

__global__ void bilateral(cudaTextureObject_t t, float *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float centre = tex2D<float>(t, x + 0.5f, y + 0.5f), sum = 0, weights = 0;
    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) {
            float p = tex2D<float>(t, x + i + 0.5f, y + j + 0.5f), d = (p - centre) * 8;
            float weight = 1 / (1 + (i * i + j * j) * 0.25f) / (1 + d * d);
            sum += p * weight;
            weights += weight;
        }
    to[y * w + x] = sum / weights;
}

// Four bilinear samples, weighted as cubic B-splines are.
__global__ void bicubic(cudaTextureObject_t t, float *to, int w, int h, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= w || j >= h)
        return;
    float g[2][2], offset[2][2], at[2] = {(i + 0.5f) * scale - 0.5f, (j + 0.5f) * scale - 0.5f};
    for (int k = 0; k < 2; k++) {
        float f = at[k] - floorf(at[k]), r = 1 - f;
        float w0 = r * r * r / 6, w1 = (4 - 6 * f * f + 3 * f * f * f) / 6;
        float w3 = f * f * f / 6, w2 = 1 - w0 - w1 - w3;
        g[k][0] = w0 + w1;
        g[k][1] = w2 + w3;
        offset[k][0] = floorf(at[k]) - 0.5f + w1 / g[k][0];
        offset[k][1] = floorf(at[k]) + 1.5f + w3 / g[k][1];
    }
    float sum = 0;
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++)
            sum += g[0][x] * g[1][y] * tex2D<float>(t, offset[0][x], offset[1][y]);
    to[j * w + i] = sum;
}

__global__ void resize(cudaTextureObject_t t, float *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        to[y * w + x] = tex2D<float>(t, (x + 0.5f) / w, (y + 0.5f) / h);
}

// A ray for each pixel, from the front through the whole volume.
__global__ void march(cudaTextureObject_t t, float4 *to, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float u = (x + 0.5f) / w, v = (y + 0.5f) / h, left = 1;
    float4 sum = {0, 0, 0, 0};
    for (int i = 0; i < 48 && left > 0.02f; i++) {
        float depth = (i + 0.5f) / 48;
        float4 p = tex3D<float4>(t, u + (depth - 0.5f) * 0.3f, v - (depth - 0.5f) * 0.2f, depth);
        float alpha = p.w * 0.25f * left;
        sum.x += p.x * alpha;
        sum.y += p.y * alpha;
        sum.z += p.z * alpha;
        sum.w += alpha;
        left -= alpha;
    }
    to[y * w + x] = sum;
}

static cudaTextureObject_t make_texture(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureReadMode reading,
                                        bool is_normalized, cudaTextureAddressMode address)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc texture = {};
    cudaTextureObject_t t;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (auto &mode : texture.addressMode)
        mode = address;
    texture.filterMode = filter;
    texture.readMode = reading;
    texture.normalizedCoords = is_normalized;
    CUDA(cudaCreateTextureObject(&t, &resource, &texture, NULL));
    return t;
}

// What the hardware computes: positions and weights in 1/256, sums in 1/65535.
static float model(float u, float v)
{
    float at[2] = {u, v};
    int first[2], upper[2], size[2] = {WIDTH, HEIGHT};
    for (int k = 0; k < 2; k++) {
        double x = floor((double)at[k] * (1 << 21)) / (1 << 21) * size[k];
        int p = (int)floor(x * 256 + 0.5) - 128, last = (size[k] - 1) * 256;
        p = p < 0 ? 0 : p > last ? last : p;
        first[k] = p >> 8;
        upper[k] = p & 255;
    }
    int x1 = first[0] + 1 < WIDTH ? first[0] + 1 : first[0], y1 = first[1] + 1 < HEIGHT ? first[1] + 1 : first[1];
    int right = upper[0], left = 256 - right;
    int w11 = (right * upper[1] + 128) / 256, w10 = right - w11;
    int w00 = (left * (256 - upper[1]) + 128) / 256, w01 = left - w00;
    int sum = image[first[1]][first[0]] * w00 + image[first[1]][x1] * w10 + image[y1][first[0]] * w01 +
              image[y1][x1] * w11;
    return (float)((sum * 257 + 128) >> 8) / 65535;
}

static void filter_images(void)
{
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &bytes, WIDTH, HEIGHT));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, image, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    cudaTextureObject_t points = make_texture(array, cudaFilterModePoint, cudaReadModeElementType, false,
                                              cudaAddressModeClamp);
    cudaTextureObject_t smooth = make_texture(array, cudaFilterModeLinear, cudaReadModeNormalizedFloat, false,
                                              cudaAddressModeClamp);
    cudaTextureObject_t unit = make_texture(array, cudaFilterModeLinear, cudaReadModeNormalizedFloat, true,
                                            cudaAddressModeClamp);
    dim3 block(16, 8);
    pixels<unsigned char> edges(WIDTH, HEIGHT);
    sobel<<<edges.grid(), block>>>(points, edges.device, WIDTH, HEIGHT);
    expect("sobel", edges.hash(), 0x989acd0f0b157680);
    pixels<float> calm(WIDTH, HEIGHT);
    bilateral<<<calm.grid(), block>>>(smooth, calm.device, WIDTH, HEIGHT);
    expect("bilateral", calm.hash(), 0xba87499554beb9cb);
    pixels<float> cubic(2 * WIDTH, 2 * HEIGHT);
    bicubic<<<cubic.grid(), block>>>(smooth, cubic.device, cubic.w, cubic.h, 0.5f);
    expect("bicubic", cubic.hash(), 0x09d192323e7f23c3);
    pixels<float> small(37, 91);
    resize<<<small.grid(), block>>>(unit, small.device, small.w, small.h);
    expect("resize", small.hash(), 0x0eea0207f11c3e72);
    for (int y = 0; y < small.h; y++)
        for (int x = 0; x < small.w; x++)
            EXPECT(small.host[y * small.w + x] == model((x + 0.5f) / small.w, (y + 0.5f) / small.h));
    CUDA(cudaDestroyTextureObject(points));
    CUDA(cudaDestroyTextureObject(smooth));
    CUDA(cudaDestroyTextureObject(unit));
    CUDA(cudaFreeArray(array));
}

static void render_volume(void)
{
    static uchar4 voxels[DEPTH][SIDE][SIDE];
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                int r = (x - 10) * (x - 10) + (y - 9) * (y - 9) + (z - 12) * (z - 12);
                voxels[z][y][x] = make_uchar4(x * 12, y * 12, z * 10, r < 80 ? 255 - 3 * r : (x ^ y ^ z) * 4);
            }
    cudaChannelFormatDesc colours = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array;
    CUDA(cudaMalloc3DArray(&array, &colours, make_cudaExtent(SIDE, SIDE, DEPTH)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(voxels, SIDE * sizeof(uchar4), SIDE, SIDE);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(SIDE, SIDE, DEPTH);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    cudaTextureObject_t t = make_texture(array, cudaFilterModeLinear, cudaReadModeNormalizedFloat, true,
                                         cudaAddressModeBorder);
    pixels<float4> seen(53, 39);
    march<<<seen.grid(), dim3(16, 8)>>>(t, seen.device, seen.w, seen.h);
    expect("volume", seen.hash(), 0xddfcc84aff8dd30d);
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeArray(array));
}

int main(void)
{
    make_image();
    filter_images();
    render_volume();
    return is_wrong ? 1 : passed();
}
