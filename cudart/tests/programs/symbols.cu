// Variables: of the device, constant, managed, static, arrays.
#include "common.h"

__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
__managed__ int shared_by_both = 40;
__managed__ int list[100];
static __device__ double hidden[2] = {0.5, 0.25};
__device__ int never_set;

__global__ void use(float* out) {
    atomicAdd(&counter, (int)threadIdx.x);
    out[threadIdx.x] = table[threadIdx.x % 4] + hidden[threadIdx.x % 2];
    if (threadIdx.x == 0) shared_by_both += 2;
    list[threadIdx.x] = threadIdx.x * threadIdx.x;
}

int main() {
    printf("managed before %d\n", shared_by_both);
    shared_by_both = 50;
    float* out;
    MUST(cudaMalloc(&out, 32 * 4));
    use<<<1, 32>>>(out);
    MUST(cudaDeviceSynchronize());
    printf("managed after %d, list %d %d\n", shared_by_both, list[5], list[31]);
    int value = 0;
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("counter %d\n", value);
    float other[2] = {20, 30};
    MUST(cudaMemcpyToSymbol(table, other, sizeof other, 4));
    double halves[2];
    MUST(cudaMemcpyFromSymbolAsync(halves, hidden, sizeof halves, 0, cudaMemcpyDeviceToHost, 0));
    MUST(cudaDeviceSynchronize());
    printf("hidden %g %g\n", halves[0], halves[1]);
    use<<<1, 32>>>(out);
    float back[32];
    MUST(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    printf("table %g %g %g %g\n", back[0], back[1], back[2], back[3]);
    void* place;
    size_t size;
    MUST(cudaGetSymbolSize(&size, table));
    printf("size %zu\n", size);
    MUST(cudaGetSymbolSize(&size, list));
    printf("size %zu\n", size);
    MUST(cudaGetSymbolAddress(&place, counter));
    MUST(cudaMemset(place, 0, 4));
    MUST(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("counter %d\n", value);
    MUST(cudaGetSymbolAddress(&place, shared_by_both));
    printf("managed at its place: %d\n", place == &shared_by_both);
    int on_the_host;
    SAY(cudaGetSymbolAddress(&place, on_the_host));
    SAY(cudaMemcpyFromSymbol(&value, on_the_host, 4));
    SAY(cudaMemcpyFromSymbol(&value, counter, 8));
    SAY(cudaMemcpyFromSymbol(&value, counter, 4, 4));
    SAY(cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpyToSymbol(counter, &value, 0));
    SAY(cudaGetSymbolSize(&size, never_set));
    return 0;
}
