// Streams, events, functions of the host, and what is asked of them.
#include "common.h"

__global__ void step(int* x, int a, int b) { x[threadIdx.x] = x[threadIdx.x] * a + b; }

static int told;
static void note(void* data) { told += *(int*)data; }
static void CUDART_CB old_note(cudaStream_t, cudaError_t status, void* data) {
    told += *(int*)data + (status == cudaSuccess ? 100 : 0);
}

int main() {
    int *x, *host;
    MUST(cudaMalloc(&x, 128));
    MUST(cudaMallocHost(&host, 128));
    cudaStream_t a, b, c;
    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithPriority(&c, cudaStreamNonBlocking, -1));
    cudaEvent_t begin, end, plain;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    MUST(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    MUST(cudaEventRecord(begin, a));
    MUST(cudaMemsetAsync(x, 0, 128, a));
    step<<<1, 32, 0, a>>>(x, 1, 5);
    MUST(cudaEventRecord(plain, a));
    MUST(cudaStreamWaitEvent(b, plain, 0));
    step<<<1, 32, 0, b>>>(x, 3, 1);
    MUST(cudaEventRecord(end, b));
    MUST(cudaStreamWaitEvent(c, end));
    step<<<1, 32, 0, c>>>(x, 2, 0);
    MUST(cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, c));
    int one = 1, ten = 10;
    MUST(cudaLaunchHostFunc(c, note, &one));
    MUST(cudaStreamAddCallback(c, old_note, &ten, 0));
    MUST(cudaStreamSynchronize(c));
    printf("%d %d, told %d\n", host[0], host[31], told);
    float time = -1;
    MUST(cudaEventSynchronize(end));
    MUST(cudaEventElapsedTime(&time, begin, end));
    printf("took time: %d\n", time >= 0);
    SAY(cudaEventElapsedTime(&time, begin, plain));
    SAY(cudaGetLastError());
    SAY(cudaEventQuery(end));
    SAY(cudaStreamQuery(a));
    SAY(cudaStreamQuery(0));
    SAY(cudaEventQuery(nullptr));
    SAY(cudaEventRecord(nullptr, a));
    SAY(cudaStreamDestroy(nullptr));
    SAY(cudaEventDestroy(nullptr));
    unsigned flags = 9;
    int priority = 9, least = 9, greatest = 9;
    SAY(cudaStreamGetFlags(b, &flags));
    SAY(cudaStreamGetPriority(c, &priority));
    SAY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("flags %u priority %d range %d %d\n", flags, priority, least, greatest);
    SAY(cudaStreamCreateWithFlags(&a, 77));
    SAY(cudaStreamCreate(nullptr));
    SAY(cudaEventCreateWithFlags(&begin, 0x1000));
    // The legacy stream waits for blocking streams, and they for it.
    cudaStream_t blocking;
    MUST(cudaStreamCreate(&blocking));
    step<<<1, 32, 0, blocking>>>(x, 0, 1);
    step<<<1, 32>>>(x, 2, 1);
    step<<<1, 32, 0, blocking>>>(x, 10, 4);
    MUST(cudaStreamSynchronize(blocking));
    MUST(cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost));
    printf("order %d\n", host[7]);
    step<<<1, 32, 0, cudaStreamPerThread>>>(x, 1, 1);
    SAY(cudaStreamSynchronize(cudaStreamPerThread));
    step<<<1, 32, 0, cudaStreamLegacy>>>(x, 1, 1);
    SAY(cudaStreamSynchronize(cudaStreamLegacy));
    MUST(cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost));
    printf("own streams %d\n", host[7]);
    cudaStreamCaptureStatus status;
    SAY(cudaStreamIsCapturing(blocking, &status));
    printf("capturing %d\n", (int)status);
    unsigned long long id;
    SAY(cudaStreamGetId(blocking, &id));
    int device = 9;
    SAY(cudaStreamGetDevice(blocking, &device));
    printf("device %d\n", device);
    SAY(cudaStreamDestroy(blocking));
    SAY(cudaFreeHost(host));
    SAY(cudaFree(x));
    return 0;
}
