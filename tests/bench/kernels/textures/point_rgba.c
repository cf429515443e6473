#include "sample.h"

#ifdef __AVX2__
void omp_point_rgba(struct bench_case *c)
{
    int width = (int)c->launch[0].argument[0].u;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < width; y++)
        texture_turn_row(c, y, texture_point_rgba);
}
#endif
