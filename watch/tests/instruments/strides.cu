// Accesses whose cost is known, and a branch that a warp takes in part.
__global__ void strides(unsigned *out)
{
    unsigned i = threadIdx.x;
    tile[2 * i] = i; tile[32 * i] = i;
    unsigned v = tile[i];
    out[2 * i] = v; v = out[i]; unsigned w = out[0];
    if (i >= 8) {
        v += w;
    } else if (i > 40) {
        __trap();
    }
    out[i] = v;
}
