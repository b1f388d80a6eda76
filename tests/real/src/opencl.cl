// OpenCL C as clang compiles it: address spaces, vectors, barriers, local memory.
__constant float factors[4] = {1.0f, 2.5f, -3.0f, 0.125f};
__kernel void saxpy(int n, float a, __global const float *x, __global float *y)
{
    int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
    if (i < n) y[i] = a * x[i] + y[i] * factors[i & 3];
}
__kernel void reverse(__global float4 *v, __local float4 *scratch)
{
    int t = __nvvm_read_ptx_sreg_tid_x();
    scratch[t] = v[t];
    __nvvm_bar_sync(0);
    v[t] = scratch[31 - t].wzyx;
}
__kernel void statics(__global int *out, char8 c, short3 s)
{
    __local int tile[64];
    int t = __nvvm_read_ptx_sreg_tid_x();
    tile[t & 63] = out[t] + c.s5 + s.y;
    __nvvm_bar_sync(1);
    out[t] = tile[(t + 1) & 63] << c.s1;
}
