typedef struct { float price; int count; ushort kind; uchar flags, pad; double total; } item;
__kernel void records(uint n, float rate, __global item *items)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    item t = items[i];
    float p = t.flags & 1 ? t.price * rate : t.price;
    items[i].total = t.total + (double)p * t.count;
    items[i].flags = t.flags ^ 2;
    items[i].count = t.count + (t.kind & 3);
}
