/* Which texels a sample of an anisotropic texture is made of, and what each column and row counts.
 *
 *     nvcc -O2 -arch=sm_90 anisotropy_run.cu -o anisotropy_run && ./anisotropy_run OUT
 *
 * A texture has texels that are 1 in one column, or one row, of one level, by channels; a lane
 * samples all of them with the same derivatives. OUT gets, for each lane of each set, its
 * coordinates and derivatives (u, v, their derivatives by x, by y: 6 floats), the number of columns
 * and rows that count (1 word), and for each of these its number (columns of level 0, its rows,
 * columns of level 1 and so on) and its weight (a word, a float). README.md tells what was read
 * from it. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

enum { SIDE = 256, LANES = 4096, ENTRIES = 400, INPUTS = 6 };

/* How derivatives are chosen: any major axis of a ratio up to 16, the other across; two at any
 * angle; as the first, small ones; only one; both alike; both opposed; of a ratio up to 2. */
enum kind { ACROSS, ANGLE, SMALL, ONE, ALIKE, OPPOSED, ROUND, KINDS };

struct set {
    unsigned limit, levels;
    bool is_mip_linear, is_optimized;
};
static const set sets[] = {{2, 1, false, true},  {4, 1, false, true}, {6, 1, false, true},
                           {16, 1, false, true}, {2, 2, true, true},  {4, 2, true, true},
                           {16, 2, true, true},  {4, 2, true, false}, {16, 2, true, false}};

struct entry {
    uint32_t which;
    float weight;
};

static void check(cudaError_t error)
{
    if (!error)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

static double uniform(uint64_t *state, double low, double high)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ z >> 31) >> 40) / (1 << 24);
}

/* In the middle of a texel, so that steps to both sides can be told. */
static void fill_lane(kind how, uint64_t seed, float *lane)
{
    uint64_t state = seed;
    double minor = how == SMALL ? uniform(&state, 0.6, 3.6) : uniform(&state, 3, 8);
    double ratio = how == ROUND ? uniform(&state, 1, 2) : uniform(&state, 1, 16);
    double angle = uniform(&state, 0, 6.28318530718), far = uniform(&state, 0.8, 1.1);
    double x = cos(angle) * minor, y = sin(angle) * minor;
    double d[] = {x * ratio, y * ratio, -y, x};
    if (how == ANGLE)
        for (double &one : d)
            one = uniform(&state, -40, 40);
    if (how == ONE)
        d[2] = d[3] = 0;
    if (how == ALIKE || how == OPPOSED) {
        d[2] = (how == ALIKE ? far : -far) * d[0] + uniform(&state, -0.3, 0.3);
        d[3] = (how == ALIKE ? far : -far) * d[1] + uniform(&state, -0.3, 0.3);
    }
    for (unsigned i = 0; i < 2; i++)
        lane[i] = (SIDE / 2 + 0.5f + (float)(int)uniform(&state, 0, 8)) / SIDE;
    for (unsigned i = 0; i < 4; i++)
        lane[2 + i] = (float)(d[i] / SIDE);
}

__global__ void sample(const cudaTextureObject_t *textures, unsigned n, const float *in,
                       uint32_t *count, entry *entries)
{
    unsigned lane = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    in += INPUTS * lane;
    entries += ENTRIES * lane;
    for (unsigned i = 0; i < n; i++) {
        float4 r = tex2DGrad<float4>(textures[i], in[0], in[1], make_float2(in[2], in[3]),
                                     make_float2(in[4], in[5]));
        float channel[] = {r.x, r.y, r.z, r.w};
        for (unsigned c = 0; c < 4; c++)
            if (channel[c] != 0 && k < ENTRIES)
                entries[k++] = {4 * i + c, channel[c]};
    }
    count[lane] = k;
}

/* Of texels that are 1 where x (or y) is first + channel, in one level of all. */
static cudaTextureObject_t make_texture(const set &s, unsigned marked, bool is_row, unsigned first)
{
    cudaMipmappedArray_t mipmap;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float4>();
    cudaResourceDesc resource = {};
    cudaTextureDesc sampler = {};
    cudaTextureObject_t texture;
    check(
        cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(SIDE, SIDE, 0), s.levels + 1));
    for (unsigned level = 0; level <= s.levels; level++) {
        unsigned side = SIDE >> level;
        std::vector<float> texels(4 * side * side);
        for (unsigned i = 0; level == marked && i < texels.size(); i++)
            texels[i] = (is_row ? i / 4 / side : i / 4 % side) == first + i % 4;
        cudaArray_t array;
        check(cudaGetMipmappedArrayLevel(&array, mipmap, level));
        check(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 16 * side, 16 * side, side,
                                  cudaMemcpyHostToDevice));
    }
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    for (auto &mode : sampler.addressMode)
        mode = cudaAddressModeClamp;
    sampler.filterMode = cudaFilterModeLinear;
    sampler.mipmapFilterMode = s.is_mip_linear ? cudaFilterModeLinear : cudaFilterModePoint;
    sampler.normalizedCoords = 1;
    sampler.maxAnisotropy = s.limit;
    sampler.maxMipmapLevelClamp = (float)s.levels - (s.levels == 1);
    sampler.disableTrilinearOptimization = !s.is_optimized;
    check(cudaCreateTextureObject(&texture, &resource, &sampler, NULL));
    return texture;
}

static void run(const set &s, FILE *to)
{
    std::vector<cudaTextureObject_t> textures;
    for (unsigned level = 0; level < s.levels; level++)
        for (unsigned axis = 0; axis < 2; axis++)
            for (unsigned first = 0; first < SIDE >> level; first += 4)
                textures.push_back(make_texture(s, level, axis, first));
    cudaTextureObject_t *all;
    float *in;
    uint32_t *count;
    entry *entries;
    check(cudaMallocManaged(&all, textures.size() * sizeof *all));
    check(cudaMallocManaged(&in, LANES * INPUTS * sizeof *in));
    check(cudaMallocManaged(&count, LANES * sizeof *count));
    check(cudaMallocManaged(&entries, LANES * ENTRIES * sizeof *entries));
    for (size_t i = 0; i < textures.size(); i++)
        all[i] = textures[i];
    for (unsigned how = 0; how < KINDS; how++) {
        for (unsigned i = 0; i < LANES; i++)
            fill_lane((kind)how, ((uint64_t)(&s - sets) * KINDS + how) * LANES + i,
                      in + INPUTS * i);
        sample<<<LANES / 64, 64>>>(all, (unsigned)textures.size(), in, count, entries);
        check(cudaDeviceSynchronize());
        for (unsigned i = 0; i < LANES; i++) {
            fwrite(in + INPUTS * i, sizeof *in, INPUTS, to);
            fwrite(count + i, sizeof *count, 1, to);
            fwrite(entries + ENTRIES * i, sizeof *entries, count[i], to);
        }
    }
    for (void *p : {(void *)all, (void *)in, (void *)count, (void *)entries})
        check(cudaFree(p));
}

int main(int argc, char **argv)
{
    FILE *to = argc > 1 ? fopen(argv[1], "wb") : NULL;
    if (!to)
        return 2;
    for (const set &s : sets)
        run(s, to);
    return fclose(to) != 0;
}
