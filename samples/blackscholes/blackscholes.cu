// European option prices by the Black-Scholes formula.
// RUN: ptera run samples/blackscholes/blackscholes.ptx -g 1 -b 32 u32:8 f32:0.02 f32:0.3 fill:f32:8:30 fill:f32:8:28 fill:f32:8:1 zero:32 zero:32
__device__ static float normal_cdf(float d)
{
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float c = 0.39894228f * expf(-0.5f * d * d) * poly;
    return d > 0 ? 1 - c : c;
}

extern "C" __global__ void blackscholes(unsigned n, float rate, float volatility, const float *price,
                                        const float *strike, const float *years, float *call, float *put)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i];
    float root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float discounted = x * expf(-rate * t);
    float c1 = normal_cdf(d1), c2 = normal_cdf(d2);
    call[i] = s * c1 - discounted * c2;
    put[i] = discounted * (1 - c2) - s * (1 - c1);
}
