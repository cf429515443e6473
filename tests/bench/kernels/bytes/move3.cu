extern "C" __global__ void move3(unsigned n, float dt, const float3 *__restrict__ force, float3 *__restrict__ pos,
                                      float4 *__restrict__ vel)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 f = force[i], p = pos[i];
    float4 v = vel[i];
    float s = dt * v.w;
    v.x += s * f.x, v.y += s * f.y, v.z += s * f.z;
    p.x += dt * v.x, p.y += dt * v.y, p.z += dt * v.z;
    if (p.x < 0.0f || p.x > 1.0f) v.x = -v.x;
    if (p.y < 0.0f || p.y > 1.0f) v.y = -v.y;
    if (p.z < 0.0f || p.z > 1.0f) v.z = -v.z;
    pos[i] = p;
    vel[i] = v;
}
