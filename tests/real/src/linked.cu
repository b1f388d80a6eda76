// A module of a separately compiled program: external functions, variables and arrays; aliases by weak symbols.
extern __device__ float scale(float x);
extern __device__ int table[];
extern __constant__ float factors[8];
__device__ float offset = 2.5f;
__device__ __noinline__ float shift(float x) { return x + offset; }
template <int N> __device__ __noinline__ float power(float x) { return x * power<N - 1>(x); }
template <> __device__ __noinline__ float power<0>(float x) { return 1; }
__device__ float (*hook)(float) = shift;
__global__ void linked(float *x)
{
    extern __shared__ double raw[];
    raw[threadIdx.x] = scale(x[0]);
    x[1] = shift(x[1]) * factors[threadIdx.x & 7] + table[threadIdx.x];
    x[2] = hook(x[2]) + power<3>(x[3]) + (float)raw[0];
}
