#include "tests/bench/case.h"
struct item {
    float price;
    int count;
    unsigned short kind;
    unsigned char flags, pad;
    double total;
};
void omp_records(struct bench_case *c)
{
    size_t n = c->launch[0].argument[0].u;
    float rate = c->launch[0].argument[1].f;
    struct item *items = AS(struct item, c, 0);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        struct item *t = items + i;
        float p = t->flags & 1 ? t->price * rate : t->price;
        t->total += (double)p * t->count;
        t->flags ^= 2;
        t->count += t->kind & 3;
    }
}
