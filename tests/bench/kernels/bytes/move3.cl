typedef struct { float x, y, z; } vec3;
__kernel void move3(uint n, float dt, __global const vec3 *restrict force, __global vec3 *restrict pos, __global float4 *restrict vel)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    vec3 f = force[i], p = pos[i];
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
