constant sampler_t how = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
kernel void bilinear_f32(int width, int a, int b, int u0, int v0, read_only image2d_t image, global float *restrict out)
{
    int x = get_global_id(0), y = get_global_id(1);
    int u = a * x - b * y + u0, v = b * x + a * y + v0;
    float4 t = read_imagef(image, how, (float2)((float)u, (float)v) * (1 / 256.0f));
    out[y * width + x] = t.x;
}
