// A step of a GRU: a thread a unit and batch; weights are [gate][input][unit].
__device__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }
extern "C" __global__ void gru(unsigned units, const float *x, const float *h, const float *w, const float *u, const float *bias, float *out)
{
    unsigned j = blockIdx.x * 128 + threadIdx.x, b = blockIdx.y;
    size_t gate = (size_t)units * units;
    float r = bias[j], z = bias[units + j], n = bias[2 * units + j], m = bias[3 * units + j];
    for (unsigned k = 0; k < units; k++) {
        float a = x[b * units + k], c = h[b * units + k];
        const float *p = w + k * units + j, *q = u + k * units + j;
        r += a * p[0] + c * q[0];
        z += a * p[gate] + c * q[gate];
        n += a * p[2 * gate];
        m += c * q[2 * gate];
    }
    r = sigmoid(r);
    z = sigmoid(z);
    n = tanhf(n + r * m);
    out[b * units + j] = (1 - z) * n + z * h[b * units + j];
}
