struct item { float price; int count; unsigned short kind; unsigned char flags, pad; double total; };
extern "C" __global__ void records(unsigned n, float rate, item *items)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    item t = items[i];
    float p = t.flags & 1 ? t.price * rate : t.price;
    items[i].total = t.total + (double)p * t.count;
    items[i].flags = t.flags ^ 2;
    items[i].count = t.count + (t.kind & 3);
}
