// The function that calls. nvcc -arch=sm_80 -rdc=true -ptx caller.cu
#include "abi.h"
__device__ __noinline__ int weigh(int x, Small s) { return x * s.a + s.b; }
extern "C" __global__ void call_all(char *out, int n) {
    long long *words = (long long *)out;
    words[0] = f_schar((signed char)(n - 100));
    words[1] = f_uchar((unsigned char)(n + 200));
    words[2] = f_short((short)(n - 30000));
    words[3] = f_bool(n > 3);
    words[4] = f_long(n, -5000000000LL, 2.5f, 1e10);
    *(Small *)(out + 40) = f_small(Small{(signed char)n, (short)(n - 100)});
    *(Mixed *)(out + 48) = f_mixed(Mixed{(signed char)n, n * 7, n * 0.25}, -3);
    *(Packed *)(out + 64) = f_packed(Packed{(signed char)n, n << 20, (short)-n});
    Row row;
    for (int i = 0; i < 9; i++) row.x[i] = i * n;
    *(Row *)(out + 72) = f_row(row, n);
    Big big;
    for (int i = 0; i < 8; i++) big.d[i] = i + n * 0.5;
    *(Big *)(out + 112) = f_big(big);
    *(Wide *)(out + 176) = f_wide(Wide{(float)n});
    Both both;
    both.i = n * 1000001;
    both.c[4] = 9;
    both.c[5] = 8;
    Both changed = f_both(both);
    *(int *)(out + 192) = changed.i;
    out[196] = changed.c[4];
    out[197] = changed.c[5];
    Nested nested = {{{1, 2}, {3, 4}}, make_float2(n, -1.0f)};
    *(Nested *)(out + 200) = f_nested(nested);
    *(float4 *)(out + 224) = f_float4(make_float4(1, 2, 3, n));
    *(One *)(out + 240) = f_one(One{(signed char)n});
    *(Three *)(out + 241) = f_three(Three{{(signed char)n, 0, 5}});
    *(Half *)(out + 244) = f_half(Half{(unsigned short)n});
    *(int *)(out + 248) = f_apply(weigh, n);
}
