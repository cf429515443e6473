/* open addressing, linear probes: keys in by compare and swap, then looked up */
uint slot_of(uint key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return key ^ key >> 16;
}
__kernel void
hash_insert(uint n, uint mask, __global const uint *restrict keys, __global uint *table,
            __global uint *values)
{
    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i >= n)
        return;
    uint key = keys[i], slot = slot_of(key) & mask;
    for (;;) {
        uint old = atomic_cmpxchg(&table[slot], ~0u, key);
        if (old == ~0u || old == key)
            break;
        slot = (slot + 1) & mask;
    }
    values[slot] = i;
}
__kernel void
hash_find(uint n, uint mask, __global const uint *restrict keys,
          __global const uint *restrict table, __global const uint *restrict values,
          __global uint *restrict found)
{
    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i >= n)
        return;
    uint key = keys[i], slot = slot_of(key) & mask, result = ~0u;
    for (;;) {
        uint at = table[slot];
        if (at == key)
            result = values[slot];
        if (at == key || at == ~0u)
            break;
        slot = (slot + 1) & mask;
    }
    found[i] = result;
}
