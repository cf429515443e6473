__kernel void search(uint n, uint length, __global const uchar *restrict text, __global const uchar *restrict pattern, __global uchar *restrict found)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    uint k = 0;
    while (k < length && text[i + k] == pattern[k]) k++;
    found[i] = k == length;
}
