#include "tests/bench/case.h"
void omp_treewalk(struct bench_case *c)
{
    size_t n = c->size;
    uint32_t nodes = c->launch[0].argument[1].u, *restrict out = U(c, 2);
    float radius = c->launch[0].argument[2].f;
    const float *restrict tree = F(c, 0), *restrict query = F(c, 1);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        uint32_t stack[24], top = 0, found = 0;
        float x = query[2 * i], y = query[2 * i + 1];
        stack[top++] = 0;
        while (top) {
            uint32_t k = stack[--top], left = 2 * k + 1;
            float dx = x - tree[4 * k], dy = y - tree[4 * k + 1];
            found += dx * dx + dy * dy <= radius * radius;
            float d = tree[4 * k + 2] == 0 ? dx : dy;
            if (left < nodes && d <= radius)
                stack[top++] = left;
            if (left + 1 < nodes && d >= -radius)
                stack[top++] = left + 1;
        }
        out[i] = found;
    }
}
