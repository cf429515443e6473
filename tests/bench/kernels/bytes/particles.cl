typedef struct { float x, y, z, vx, vy, vz, mass; } particle;
__kernel void particles(uint n, float dt, float g, __global particle *p)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    particle q = p[i];
    float r2 = q.x * q.x + q.y * q.y + q.z * q.z + 0.01f, f = -g / (r2 * sqrt(r2)) * q.mass;
    q.vx += dt * f * q.x, q.vy += dt * f * q.y, q.vz += dt * f * q.z;
    q.x += dt * q.vx, q.y += dt * q.vy, q.z += dt * q.vz;
    p[i] = q;
}
