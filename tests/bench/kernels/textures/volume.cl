constant sampler_t how = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
kernel void volume(int width, float scale, read_only image3d_t image, global float *restrict out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int i = 0; i < 64; i++) {
        int u = 200 * x + 40 * i, v = 210 * y + 30 * i, w = 5 * (x - y) + 250 * i;
        sum += read_imagef(image, how, (float4)((float)u, (float)v, (float)w, 0) * scale).x;
    }
    out[y * width + x] = sum;
}
