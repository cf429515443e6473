__kernel void burgers(int nx, int ny, double cx, double cy, double dx, double dy,
                      __global const double *restrict u, __global const double *restrict v,
                      __global double *restrict un, __global double *restrict vn)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int i = y * nx + x;
    double a = u[i], b = v[i];
    un[i] = a + dx * (u[i + 1] - 2 * a + u[i - 1]) + dy * (u[i + nx] - 2 * a + u[i - nx]) -
            cx * a * (a - u[i - 1]) - cy * b * (a - u[i - nx]);
    vn[i] = b + dx * (v[i + 1] - 2 * b + v[i - 1]) + dy * (v[i + nx] - 2 * b + v[i - nx]) -
            cx * a * (b - v[i - 1]) - cy * b * (b - v[i - nx]);
}
