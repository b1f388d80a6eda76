// What a program compiles while it runs: no headers.
extern "C" __global__ void axpy(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

template <int WIDTH> __device__ float tile_sum(float v) {
    for (int step = WIDTH / 2; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

extern "C" __global__ void norms(const float *x, float *out, int n) {
    __shared__ float parts[32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i] * x[i];
    sum = tile_sum<32>(sum);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = tile_sum<32>(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) *out = sqrtf(sum);
    }
}

struct Histogram {
    unsigned bins[64];
};

extern "C" __global__ void count(const unsigned char *bytes, int n, Histogram *h) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h->bins[bytes[i] & 63], 1u);
}

extern "C" __global__ void waves(const double *t, double *out, float *fast) {
    int i = threadIdx.x;
    out[i] = sin(t[i]) + exp(-t[i]);
    fast[i] = __sinf(float(t[i])) + __expf(float(t[i]));
}
