/* open addressing, linear probes: keys in by compare and swap, then looked up */
__device__ static inline unsigned slot_of(unsigned key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return key ^ key >> 16;
}
extern "C" __global__ void
hash_insert(unsigned n, unsigned mask, const unsigned *__restrict__ keys, unsigned *table,
            unsigned *values)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], slot = slot_of(key) & mask;
    for (;;) {
        unsigned old = atomicCAS(&table[slot], ~0u, key);
        if (old == ~0u || old == key)
            break;
        slot = (slot + 1) & mask;
    }
    values[slot] = i;
}
extern "C" __global__ void
hash_find(unsigned n, unsigned mask, const unsigned *__restrict__ keys,
          const unsigned *__restrict__ table, const unsigned *__restrict__ values,
          unsigned *__restrict__ found)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], slot = slot_of(key) & mask, result = ~0u;
    for (;;) {
        unsigned at = table[slot];
        if (at == key)
            result = values[slot];
        if (at == key || at == ~0u)
            break;
        slot = (slot + 1) & mask;
    }
    found[i] = result;
}
