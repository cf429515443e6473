/* a step of a lattice Boltzmann model: D2Q9, BGK, periodic, pulling; a plane for each direction */
extern "C" __global__ void __launch_bounds__(128)
lbm(unsigned n, double omega, const double *__restrict__ in, double *__restrict__ out)
{
    unsigned x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, plane = n * n;
    if (x >= n)
        return;
    unsigned w = x == 0 ? n - 1 : x - 1, e = x == n - 1 ? 0 : x + 1;
    unsigned s = y == 0 ? n - 1 : y - 1, u = y == n - 1 ? 0 : y + 1;
    double f0 = in[y * n + x], f1 = in[plane + y * n + w], f2 = in[2 * plane + s * n + x],
           f3 = in[3 * plane + y * n + e], f4 = in[4 * plane + u * n + x],
           f5 = in[5 * plane + s * n + w], f6 = in[6 * plane + s * n + e],
           f7 = in[7 * plane + u * n + e], f8 = in[8 * plane + u * n + w];
    double rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    double ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho, uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
    double base = 1.0 - 1.5 * (ux * ux + uy * uy), a = ux + uy, b = uy - ux;
    double r0 = omega * rho * (4.0 / 9), r1 = omega * rho * (1.0 / 9), r5 = omega * rho * (1.0 / 36);
    double keep = 1.0 - omega;
    unsigned i = y * n + x;
    out[i] = keep * f0 + r0 * base;
    out[i + plane] = keep * f1 + r1 * (base + 3 * ux + 4.5 * ux * ux);
    out[i + 2 * plane] = keep * f2 + r1 * (base + 3 * uy + 4.5 * uy * uy);
    out[i + 3 * plane] = keep * f3 + r1 * (base - 3 * ux + 4.5 * ux * ux);
    out[i + 4 * plane] = keep * f4 + r1 * (base - 3 * uy + 4.5 * uy * uy);
    out[i + 5 * plane] = keep * f5 + r5 * (base + 3 * a + 4.5 * a * a);
    out[i + 6 * plane] = keep * f6 + r5 * (base + 3 * b + 4.5 * b * b);
    out[i + 7 * plane] = keep * f7 + r5 * (base - 3 * a + 4.5 * a * a);
    out[i + 8 * plane] = keep * f8 + r5 * (base - 3 * b + 4.5 * b * b);
}
