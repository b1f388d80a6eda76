// nvcc -arch=sm_80 -rdc=true -ptx sizes_caller.cu
#include "sizes.h"
#define CALL(n) { \
    S##n s; \
    for (int i = 0; i < S##n::N; i++) s.x[i] = i * 7 + k; \
    s = f_##n(s, k); \
    for (int i = 0; i < S##n::N; i++) ((S##n::T *)(out + 64 * n))[i] = s.x[i]; }
extern "C" __global__ void call_all(char *out, int k) {
    EACH(CALL)
    __int128 a = f_i128(((__int128)k << 70) + 5, k);
    ((long long *)out)[0] = a;
    ((long long *)out)[1] = a >> 64;
    unsigned __int128 b = f_u128(k, a, (unsigned __int128)k << 90);
    ((long long *)out)[2] = b;
    ((long long *)out)[3] = b >> 64;
}
