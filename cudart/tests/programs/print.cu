// What kernels print, what they assert, and what is left of a process after that.
#include <cassert>
#include "common.h"

__global__ void say(const char* text) {
    if (threadIdx.x == 0) {
        printf("%s %d %5u|%-5x|%05d %c %%\n", text, -3, 42u, 255u, 77, 'z');
        printf("%f %10.3f %e %g %lld %llu %p\n", 1.5, 2.0 / 3, 12345.678, 1e-5, -5000000000ll, 5000000000ull, (void*)0x10);
        printf("nothing to fill in\n");
    }
}
__global__ void four() { printf("thread %d\n", threadIdx.x); }
__global__ void claim(int x) { assert(x == 1); }

int main() {
    setvbuf(stdout, nullptr, _IONBF, 0);
    char* text;
    MUST(cudaMallocManaged(&text, 16));
    strcpy(text, "text");
    say<<<1, 32>>>(text);
    MUST(cudaDeviceSynchronize());
    four<<<1, 4>>>();
    MUST(cudaDeviceSynchronize());
    size_t room = 0;
    SAY(cudaDeviceGetLimit(&room, cudaLimitPrintfFifoSize));
    printf("room %zu\n", room);
    claim<<<1, 1>>>(1);
    SAY(cudaDeviceSynchronize());
    claim<<<1, 1>>>(2);
    SAY(cudaDeviceSynchronize());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    void* p;
    SAY(cudaMalloc(&p, 16));
    return 0;
}
