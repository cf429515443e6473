/* one step of Burgers' equations: two fields, upwind and central differences */
extern "C" __global__ void
burgers(int nx, int ny, double cx, double cy, double dx, double dy, const double *__restrict__ u,
        const double *__restrict__ v, double *__restrict__ un, double *__restrict__ vn)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int i = y * nx + x;
    double a = u[i], b = v[i];
    un[i] = a + dx * (u[i + 1] - 2 * a + u[i - 1]) + dy * (u[i + nx] - 2 * a + u[i - nx]) -
            cx * a * (a - u[i - 1]) - cy * b * (a - u[i - nx]);
    vn[i] = b + dx * (v[i + 1] - 2 * b + v[i - 1]) + dy * (v[i + nx] - 2 * b + v[i - nx]) -
            cx * a * (b - v[i - 1]) - cy * b * (b - v[i - nx]);
}
