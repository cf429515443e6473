// A step of a GRU: a thread a unit and batch; weights are [gate][input][unit].
float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
__kernel void gru(uint units, __global const float *x, __global const float *h, __global const float *w, __global const float *u, __global const float *bias, __global float *out)
{
    uint j = get_group_id(0) * 128 + get_local_id(0), b = get_group_id(1);
    size_t gate = (size_t)units * units;
    float r = bias[j], z = bias[units + j], n = bias[2 * units + j], m = bias[3 * units + j];
    for (uint k = 0; k < units; k++) {
        float a = x[b * units + k], c = h[b * units + k];
        __global const float *p = w + k * units + j, *q = u + k * units + j;
        r += a * p[0] + c * q[0];
        z += a * p[gate] + c * q[gate];
        n += a * p[2 * gate];
        m += c * q[2 * gate];
    }
    r = sigmoid(r);
    z = sigmoid(z);
    n = tanh(n + r * m);
    out[b * units + j] = (1 - z) * n + z * h[b * units + j];
}
