// Launches: templates, structures by value, grids of three dimensions, shared memory, recursion of the device, function pointers.
#include "common.h"

struct Triple {
    char a;
    double b;
    short c[3];
};

__global__ void add(const float* x, const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

template <class T, int N>
__global__ void scale(T* x, T by) {
    for (int k = 0; k < N; k++) x[threadIdx.x * N + k] *= by;
}

__global__ void by_value(Triple t, double* out) {
    out[0] = t.a + t.b + t.c[0] + t.c[1] + t.c[2];
}

__global__ void places(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void reverse(int* x, int n) {
    extern __shared__ int room[];
    room[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = room[n - 1 - threadIdx.x];
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursive(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

__global__ void nothing() {}
__global__ void __launch_bounds__(64) bounded() {}

int main() {
    const int n = 1000;
    std::vector<float> x(n), y(n), z(n);
    for (int i = 0; i < n; i++) x[i] = i * 0.5f, y[i] = 1000 - i;
    float *dx, *dy, *dz;
    MUST(cudaMalloc(&dx, n * 4));
    MUST(cudaMalloc(&dy, n * 4));
    MUST(cudaMalloc(&dz, n * 4));
    MUST(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyDefault));
    add<<<(n + 127) / 128, 128>>>(dx, dy, dz, n);
    MUST(cudaGetLastError());
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(z.data(), dz, n * 4, cudaMemcpyDeviceToHost));
    printf("add %g %g %llx\n", z[1], z[999], digest(z.data(), n));
    scale<float, 4><<<1, 250>>>(dz, 3.0f);
    MUST(cudaMemcpy(z.data(), dz, n * 4, cudaMemcpyDeviceToHost));
    printf("scale %g %g\n", z[1], z[999]);
    double* out;
    MUST(cudaMalloc(&out, 64));
    by_value<<<1, 1>>>(Triple{1, 2.5, {3, 4, 5}}, out);
    double sum;
    MUST(cudaMemcpy(&sum, out, 8, cudaMemcpyDeviceToHost));
    printf("by value %g\n", sum);
    int* ints;
    MUST(cudaMalloc(&ints, 2 * 3 * 4 * 5 * 3 * 2 * 4));
    places<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(ints);
    std::vector<int> found(720);
    MUST(cudaMemcpy(found.data(), ints, 720 * 4, cudaMemcpyDeviceToHost));
    printf("places %d %d %llx\n", found[31], found[719], digest(found.data(), 720));
    reverse<<<1, 256, 256 * 4>>>(ints, 256);
    MUST(cudaMemcpy(found.data(), ints, 720 * 4, cudaMemcpyDeviceToHost));
    printf("reverse %d %d\n", found[0], found[255]);
    recursive<<<1, 12>>>(ints);
    MUST(cudaMemcpy(found.data(), ints, 48, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 12; i++) printf("%d ", found[i]);
    printf("\n");
    void* arguments[] = {&dx, &dy, &dz, (void*)&n};
    SAY(cudaLaunchKernel((const void*)add, dim3(8), dim3(128), arguments, 0, 0));
    SAY(cudaLaunchKernel((const void*)main, dim3(8), dim3(128), arguments, 0, 0));
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    nothing<<<0, 1>>>();
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    nothing<<<1, 1025>>>();
    SAY(cudaGetLastError());
    nothing<<<1, dim3(1, 1, 65)>>>();
    SAY(cudaGetLastError());
    nothing<<<dim3(1, 65536), 1>>>();
    SAY(cudaGetLastError());
    nothing<<<1, 1, 49153>>>();
    SAY(cudaGetLastError());
    bounded<<<1, 65>>>();
    SAY(cudaGetLastError());
    bounded<<<1, 64>>>();
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    MUST(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    reverse<<<1, 32, 65536>>>(ints, 32);
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    SAY(cudaDeviceReset());
    return 0;
}
