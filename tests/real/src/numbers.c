// Numbers of every width as clang compiles them: integers of 128 bits, bits, half, bfloat16, double, saturation, atomics.
#define KERNEL __attribute__((nvptx_kernel))
KERNEL void wide(__int128 *a, unsigned __int128 *b)
{
    a[0] = a[1] * a[2] - (a[3] << 5);
    b[0] = (b[1] >> 70) + b[2];
}
KERNEL void bits(unsigned *a, unsigned long *b)
{
    a[0] = __builtin_popcount(a[1]) + __builtin_clz(a[2]) + __builtin_ctz(a[3]) + __builtin_bitreverse32(a[4]);
    b[0] = __builtin_popcountl(b[1]) + __builtin_bitreverse64(b[3]) + __builtin_bswap64(b[4]);
    a[5] = __builtin_rotateleft32(a[6], a[7]) + __builtin_rotateright32(a[7], 5);
    a[6] = __builtin_elementwise_add_sat(a[1], a[2]) + __builtin_elementwise_sub_sat((int)a[3], (int)a[4]);
}
KERNEL void narrow(signed char *a, unsigned short *b, _Bool *c)
{
    a[0] = a[1] * a[2] / a[3];
    b[0] = b[1] % b[2] << b[3];
    c[0] = c[1] && !c[2];
}
KERNEL void longs(long *a, unsigned long *b)
{
    a[0] = a[1] / a[2] + a[3] % 10;
    b[0] = b[1] / 7 + b[2] * b[3];
}
KERNEL void floats(float *x, double *y, _Float16 *h, __bf16 *b)
{
    x[0] = __builtin_sqrtf(x[1]) / x[2] + __builtin_fmaf(x[3], x[4], 1.5f) + __builtin_floorf(x[5]);
    x[1] = __builtin_fminf(x[2], x[3]) + __builtin_copysignf(x[4], -x[5]) + __builtin_rintf(x[6]) + __builtin_roundf(x[7]);
    y[0] = __builtin_sqrt(y[1]) / y[2] + __builtin_fma(y[3], y[4], 0.1) + __builtin_ceil(y[5]) + (double)(long)y[6];
    h[0] = h[1] * h[2] + (_Float16)x[8] - (_Float16)(int)h[3];
    b[0] = b[1] * b[2] + (__bf16)x[9];
    x[10] = h[4] < h[5] ? (float)b[3] : __builtin_inff();
}
KERNEL void atomics(unsigned *a, unsigned long *b, float *f, unsigned char *c)
{
    __atomic_fetch_add(a, 1, __ATOMIC_RELAXED);
    __atomic_fetch_xor(b, 3, __ATOMIC_ACQ_REL);
    a[1] = __atomic_exchange_n(a, 4, __ATOMIC_SEQ_CST);
    unsigned expected = 3;
    __atomic_compare_exchange_n(a + 2, &expected, 5, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    __atomic_store_n(a + 3, expected, __ATOMIC_RELEASE);
    b[1] = __atomic_load_n(b + 2, __ATOMIC_ACQUIRE);
    __atomic_fetch_min((int *)a, -3, __ATOMIC_RELAXED);
    __atomic_fetch_add(c, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __nvvm_atom_add_gen_f(f, 1.0f);
}
