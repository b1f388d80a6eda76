// Memory of all kinds, and copies between them.
#include "common.h"

__global__ void fill(char* base, size_t pitch, int width, int height) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height) base[y * pitch + x] = x + 10 * y;
}

static void kind(const char* what, const void* place) {
    cudaPointerAttributes a;
    memset(&a, 9, sizeof a);
    cudaError_t e = cudaPointerGetAttributes(&a, place);
    printf("%s: %d type %d device %d, on the device %d, on the host %d\n", what, (int)e, (int)a.type, a.device,
           a.devicePointer == place, a.hostPointer == place);
}

int main() {
    char* pitched;
    size_t pitch;
    MUST(cudaMallocPitch(&pitched, &pitch, 50, 6));
    printf("pitch %zu\n", pitch);
    fill<<<6, 64>>>(pitched, pitch, 50, 6);
    std::vector<char> rows(50 * 6), part(8 * 3);
    MUST(cudaMemcpy2D(rows.data(), 50, pitched, pitch, 50, 6, cudaMemcpyDeviceToHost));
    printf("rows %llx\n", digest(rows.data(), rows.size()));
    MUST(cudaMemcpy2DAsync(part.data(), 8, pitched + 2 * pitch + 3, pitch, 8, 3, cudaMemcpyDefault, 0));
    MUST(cudaDeviceSynchronize());
    printf("part %d %d\n", part[0], part[23]);
    MUST(cudaMemset2D(pitched, pitch, 1, 50, 6));
    MUST(cudaMemcpy2D(rows.data(), 50, pitched, pitch, 50, 6, cudaMemcpyDeviceToHost));
    printf("rows %llx\n", digest(rows.data(), rows.size()));
    SAY(cudaMemcpy2D(rows.data(), 40, pitched, pitch, 50, 6, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(rows.data(), 50, pitched, pitch, 50, 6, (cudaMemcpyKind)9));

    cudaPitchedPtr cube;
    MUST(cudaMalloc3D(&cube, make_cudaExtent(20, 4, 3)));
    printf("cube %zu %zu %zu\n", cube.pitch, cube.xsize, cube.ysize);
    MUST(cudaMemset3D(cube, 5, make_cudaExtent(20, 4, 3)));
    std::vector<char> slices(240, 1);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = cube;
    copy.dstPtr = make_cudaPitchedPtr(slices.data(), 20, 20, 4);
    copy.extent = make_cudaExtent(10, 3, 2);
    copy.dstPos = make_cudaPos(2, 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&copy));
    printf("slices %llx\n", digest(slices.data(), slices.size()));

    void *pinned, *mapped, *managed, *plain = malloc(4096);
    MUST(cudaHostAlloc(&pinned, 4096, cudaHostAllocDefault));
    MUST(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
    MUST(cudaMallocManaged(&managed, 4096));
    kind("device", pitched);
    kind("inside", pitched + 5);
    kind("pinned", pinned);
    kind("managed", managed);
    kind("plain", plain);
    kind("null", nullptr);
    unsigned flags;
    SAY(cudaHostGetFlags(&flags, mapped));
    printf("flags %u\n", flags);
    void* seen;
    SAY(cudaHostGetDevicePointer(&seen, mapped, 0));
    fill<<<1, 64>>>((char*)seen, 0, 64, 1);
    MUST(cudaDeviceSynchronize());
    printf("mapped %d\n", ((char*)mapped)[63]);
    fill<<<1, 64>>>((char*)managed, 0, 64, 1);
    MUST(cudaDeviceSynchronize());
    printf("managed %d\n", ((char*)managed)[33]);
    void* page;
    MUST(cudaError_t(posix_memalign(&page, 4096, 8192)));
    SAY(cudaHostRegister(page, 8192, cudaHostRegisterDefault));
    SAY(cudaHostRegister(page, 8192, cudaHostRegisterDefault));
    SAY(cudaHostUnregister(page));
    SAY(cudaHostUnregister(page));

    void* soon;
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocAsync(&soon, 1000, stream));
    fill<<<1, 64, 0, stream>>>((char*)soon, 0, 64, 1);
    char at40;
    MUST(cudaMemcpyAsync(&at40, (char*)soon + 40, 1, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(soon, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("pool %d\n", at40);
    cudaMemPool_t pool;
    MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 77;
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    printf("threshold %llu\n", threshold);

    SAY(cudaMalloc(nullptr, 16));
    SAY(cudaMalloc(&soon, 0));
    printf("of nothing: %d\n", soon == nullptr);
    SAY(cudaMalloc(&soon, size_t(1) << 50));
    SAY(cudaGetLastError());
    SAY(cudaFree(nullptr));
    SAY(cudaFree((void*)16));
    SAY(cudaFree(pitched + 1));
    SAY(cudaFree(pinned));
    SAY(cudaFreeHost(pitched));
    SAY(cudaFreeHost(nullptr));
    SAY(cudaFree(managed));
    SAY(cudaFree(pitched));
    SAY(cudaFree(pitched));
    SAY(cudaFreeHost(pinned));
    SAY(cudaMemcpy(plain, cube.ptr, 16, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(cube.ptr, plain, 16, (cudaMemcpyKind)7));
    SAY(cudaMemcpy(nullptr, plain, 16, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(nullptr, cube.ptr, 16, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    SAY(cudaMemset(nullptr, 0, 0));
    SAY(cudaMemset(nullptr, 0, 4));
    size_t free_bytes, total;
    SAY(cudaMemGetInfo(&free_bytes, &total));
    printf("some is free: %d\n", free_bytes <= total && free_bytes > 0);
    SAY(cudaMemAdvise(cube.ptr, 16, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
    return 0;
}
