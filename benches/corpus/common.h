// What the kernels of the corpus share. With -DROLLED every loop stays a loop, in nvcc and in clang.
#include <cuda_fp16.h>
#ifdef ROLLED
#define LOOP _Pragma("unroll 1")
#else
#define LOOP
#endif
#define KERNEL extern "C" __global__ void
#define GID (blockIdx.x * blockDim.x + threadIdx.x)
