struct particle { float x, y, z, vx, vy, vz, mass; };
extern "C" __global__ void particles(unsigned n, float dt, float g, particle *p)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    particle q = p[i];
    float r2 = q.x * q.x + q.y * q.y + q.z * q.z + 0.01f, f = -g / (r2 * sqrtf(r2)) * q.mass;
    q.vx += dt * f * q.x, q.vy += dt * f * q.y, q.vz += dt * f * q.z;
    q.x += dt * q.vx, q.y += dt * q.vy, q.z += dt * q.vz;
    p[i] = q;
}
