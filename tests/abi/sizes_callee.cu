// nvcc -arch=sm_80 -rdc=true -ptx sizes_callee.cu
#include "sizes.h"
#define DEFINE(n) \
    __device__ S##n f_##n(S##n s, int k) { s.x[0] += k; s.x[S##n::N - 1] ^= k; return s; }
EACH(DEFINE)
__device__ __int128 f_i128(__int128 a, int k) { return a * k; }
__device__ unsigned __int128 f_u128(signed char k, unsigned __int128 a, unsigned __int128 b) { return (a ^ b) + k; }
