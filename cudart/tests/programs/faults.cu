// A fault of a kernel stays: every call of the process after it fails, until the device is reset.
#include "common.h"

__global__ void wild(int* p) { *p = 1; }
__global__ void fine() {}

int main() {
    int* p;
    MUST(cudaMalloc(&p, 16));
    wild<<<1, 1>>>((int*)8);
    SAY(cudaDeviceSynchronize());
    SAY(cudaDeviceSynchronize());
    SAY(cudaPeekAtLastError());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    fine<<<1, 1>>>();
    SAY(cudaGetLastError());
    void* q;
    SAY(cudaMalloc(&q, 16));
    SAY(cudaFree(p));
    SAY(cudaMemset(p, 0, 4));
    cudaEvent_t event;
    SAY(cudaEventCreate(&event));
    int count;
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaGetDevice(&count));
    SAY(cudaSetDevice(0));
    cudaDeviceProp properties;
    SAY(cudaGetDeviceProperties(&properties, 0));
    SAY(cudaDeviceReset());
    SAY(cudaMalloc(&q, 16));
    fine<<<1, 1>>>();
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    return 0;
}
