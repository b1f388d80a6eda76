// Plain kernels: parameters by value, control flow, local arrays, dynamic shared memory, launch bounds, vector accesses.
struct Pair {
    int a;
    float b[4];
    double c;
};
extern __shared__ float dynamic[];
__constant__ float weights[16] = {1, 2, 3, 4.5f};
__device__ int counter = 5;
__device__ const char text[] = "text\n";
__device__ const char *pointers[2] = {text, text + 2};
__managed__ int managed = 3;

__global__ void saxpy(int n, float a, const float *__restrict__ x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void by_value(const __grid_constant__ Pair p, double *out)
{
    out[threadIdx.x] = p.a + p.b[threadIdx.x & 3] * p.c + weights[threadIdx.x & 15];
}
__global__ void choose(int *x)
{
    switch (x[threadIdx.x]) {
    case 0: x[0] = 1; break;
    case 1: x[1] = 7; break;
    case 2: x[2] = x[3]; break;
    case 3: x[4] *= 3; break;
    case 4: x[5] /= x[6]; break;
    case 5: x[6] %= x[7]; break;
    case 9: x[7] ^= 5; break;
    default: x[8] = managed;
    }
}
__global__ void local_array(int *out, int n)
{
    int a[64];
    for (int i = 0; i < 64; i++) a[i] = out[i];
    for (int i = 0; i < n; i++) a[(i * 7) & 63] += a[i & 63];
    out[n] = a[n & 63] + *pointers[n & 1];
}
__global__ void reverse(float *out)
{
    dynamic[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(256, 2) wide(float4 *a, float2 *b, int4 *c)
{
    float4 v = a[threadIdx.x];
    v.x += v.y;
    a[threadIdx.x] = v;
    b[1] = b[0];
    c[2] = c[1];
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    __nanosleep(10);
    c[0].x = clock() + clock64() + atomicAdd(&counter, 1);
    __trap();
}
