"""CuPy: kernels that it has NVRTC compile, and those of the libraries in its wheel, which hold
machine code for this GPU and PTX for later ones; texture objects."""

import cupy
import numpy as np
from cupy.cuda import runtime, texture

x = np.arange(1000, dtype=np.float32)
a = cupy.asarray(x)
raw = cupy.RawKernel(
    r'extern "C" __global__ void square(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]'
    r' * a[threadIdx.x]; }',
    "square",
)
b = cupy.zeros(1000, cupy.float32)
raw((1,), (1000,), (a, b))

# resize of samples/programs/textures.cu: the same pixels, whose hash an H100 told
resize = cupy.RawKernel(
    r"""extern "C" __global__ void resize(cudaTextureObject_t t, float *to, int w, int h)
    {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x < w && y < h)
            to[y * w + x] = tex2D<float>(t, (x + 0.5f) / w, (y + 0.5f) / h);
    }""",
    "resize",
)


def image(width, height):
    column, row = np.meshgrid(np.arange(width), np.arange(height))
    chequers = np.where((column // 9 + row // 7) % 2, 200, 0)
    return ((column * 7 + row * 5) ^ (column * row // 3) ^ chequers).astype(np.uint8)


def fnv(data):
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return total


def resized(width, height):
    pixels = image(61, 43)
    channels = texture.ChannelFormatDescriptor(8, 0, 0, 0, runtime.cudaChannelFormatKindUnsigned)
    array = texture.CUDAarray(channels, pixels.shape[1], pixels.shape[0])
    array.copy_from(pixels)
    sampler = texture.TextureDescriptor(
        (runtime.cudaAddressModeClamp,) * 3,
        runtime.cudaFilterModeLinear,
        runtime.cudaReadModeNormalizedFloat,
        normalizedCoords=1,
    )
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    to = cupy.zeros((height, width), cupy.float32)
    back = np.zeros_like(pixels)
    array.copy_to(back)
    resize(
        ((width + 15) // 16, (height + 7) // 8),
        (16, 8),
        (texture.TextureObject(resource, sampler), to, np.int32(width), np.int32(height)),
    )
    return np.array_equal(back, pixels) and fnv(to.get().tobytes()) == 0x0EEA0207F11C3E72


results = [
    np.array_equal(b.get(), x * x),
    np.array_equal((a * 2 + 1).get(), x * 2 + 1),
    float(a.sum()) == x.sum(),
    np.array_equal(cupy.sort(a[::-1].copy()).get(), x),
    resized(37, 91),
]
print(f"client_cupy: {results.count(True)} passed, {results.count(False)} failed, 0 skipped")
raise SystemExit(not all(results))
