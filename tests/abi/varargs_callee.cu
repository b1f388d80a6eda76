// A function with variable arguments. nvcc -arch=sm_80 -rdc=true -ptx varargs_callee.cu
#include <cstdarg>
extern "C" __device__ int total(int n, ...) {
    va_list rest;
    va_start(rest, n);
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        sum += va_arg(rest, int);
        sum += (int)va_arg(rest, double);
    }
    va_end(rest);
    return sum;
}
