// The Mandelbrot set as a 256 x 256 grey picture: the buffer is a whole PGM file, header included.
// RUN: ptera run samples/mandelbrot/mandelbrot.ptx -g 16,16 -b 16,16 u32:255 zero:65551@u8:3
// EXPECT: 80 53 10
// Keep the picture with:  ptera run samples/mandelbrot/mandelbrot.ptx -g 16,16 -b 16,16 u32:255 out:mandelbrot.pgm:65551
#define SIZE 256
#define HEADER 15

extern "C" __global__ void mandelbrot(unsigned steps, unsigned char *picture)
{
    const char *header = "P5\n256 256\n255\n";
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < HEADER && y == 0)
        picture[x] = header[x];
    float cr = __fmaf_rn(x, 2.5f / SIZE, -2.0f), ci = __fmaf_rn(y, 2.5f / SIZE, -1.25f);
    float zr = 0, zi = 0;
    unsigned i = 0;
    while (i < steps) { // the roundings are spelled out: the picture is the same on every machine
        float zi2 = __fmul_rn(zi, zi);
        if (__fmaf_rn(zr, zr, zi2) > 4)
            break;
        float t = __fadd_rn(__fmaf_rn(zr, zr, -zi2), cr);
        zi = __fmaf_rn(__fadd_rn(zr, zr), zi, ci);
        zr = t;
        i++;
    }
    picture[HEADER + y * SIZE + x] = (unsigned char)(255 - i);
}
