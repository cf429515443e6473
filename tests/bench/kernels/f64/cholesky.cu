/* right-looking Cholesky of a lower triangle, a step: the diagonal, the column, the rest */
extern "C" __global__ void chol_diagonal(unsigned n, unsigned k, double *a)
{
    a[k * n + k] = sqrt(a[k * n + k]);
}
extern "C" __global__ void chol_column(unsigned n, unsigned k, double *a)
{
    unsigned i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}
extern "C" __global__ void chol_update(unsigned n, unsigned k, double *a)
{
    unsigned j = k + 1 + blockIdx.x * 16 + threadIdx.x, i = k + 1 + blockIdx.y * 16 + threadIdx.y;
    if (i < n && j <= i)
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
}
