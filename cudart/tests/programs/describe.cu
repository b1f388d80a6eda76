// What the runtime tells of devices and functions, and all its errors.
#include "common.h"
extern "C" cudaError_t cudaProfilerStart();

__constant__ int constants[10];
__global__ void plain(float* x) { x[threadIdx.x] = constants[threadIdx.x]; }
__global__ void __launch_bounds__(128) bounded(float* x) { x[threadIdx.x] = 1; }
__global__ void with_shared(float* x) {
    __shared__ float room[256];
    room[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = room[255 - threadIdx.x];
}

template <class F>
static void tell(const char* what, F f) {
    cudaFuncAttributes a;
    MUST(cudaFuncGetAttributes(&a, f));
    printf("%s: shared %zu local %zu threads %d dynamic %d ptx %d registers %d\n", what, a.sharedSizeBytes, a.localSizeBytes,
           a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes, a.ptxVersion, a.numRegs > 0);
}

int main() {
    int count = 0, version = 0, device = 9;
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaRuntimeGetVersion(&version));
    printf("runtime %d\n", version / 1000);
    SAY(cudaGetDevice(&device));
    SAY(cudaSetDevice(count));
    SAY(cudaSetDevice(-1));
    SAY(cudaGetLastError());
    SAY(cudaSetDevice(0));
    cudaDeviceProp p;
    SAY(cudaGetDeviceProperties(&p, 0));
    printf("%s\n%d.%d, %d multiprocessors, warps of %d\n", p.name, p.major, p.minor, p.multiProcessorCount, p.warpSize);
    printf("shared %zu %zu %zu %zu, registers %d %d\n", p.sharedMemPerBlock, p.sharedMemPerBlockOptin,
           p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock, p.regsPerBlock, p.regsPerMultiprocessor);
    printf("threads %d %d, blocks %d, block %d %d %d, grid %d %d %d\n", p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor,
           p.maxBlocksPerMultiProcessor, p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0],
           p.maxGridSize[1], p.maxGridSize[2]);
    printf("constants %zu pitch %zu alignment %zu %zu surface %zu\n", p.totalConstMem, p.memPitch, p.textureAlignment,
           p.texturePitchAlignment, p.surfaceAlignment);
    printf("1D %d %d, 2D %d %d %d %d, linear %d %d %d, gather %d %d, 3D %d %d %d, %d %d %d\n", p.maxTexture1D, p.maxTexture1DMipmap,
           p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture2DMipmap[0], p.maxTexture2DMipmap[1], p.maxTexture2DLinear[0],
           p.maxTexture2DLinear[1], p.maxTexture2DLinear[2], p.maxTexture2DGather[0], p.maxTexture2DGather[1],
           p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2], p.maxTexture3DAlt[0], p.maxTexture3DAlt[1], p.maxTexture3DAlt[2]);
    printf("cube %d, layers %d %d %d %d %d, %d %d\n", p.maxTextureCubemap, p.maxTexture1DLayered[0], p.maxTexture1DLayered[1],
           p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2], p.maxTextureCubemapLayered[0],
           p.maxTextureCubemapLayered[1]);
    printf("surfaces %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", p.maxSurface1D, p.maxSurface2D[0], p.maxSurface2D[1],
           p.maxSurface3D[0], p.maxSurface3D[1], p.maxSurface3D[2], p.maxSurface1DLayered[0], p.maxSurface1DLayered[1],
           p.maxSurface2DLayered[0], p.maxSurface2DLayered[1], p.maxSurface2DLayered[2], p.maxSurfaceCubemap,
           p.maxSurfaceCubemapLayered[0], p.maxSurfaceCubemapLayered[1]);
    printf("concurrent %d, engines %d, unified %d, bus %d, L2 %d %d, priorities %d, L1 %d %d\n", p.concurrentKernels,
           p.asyncEngineCount, p.unifiedAddressing, p.memoryBusWidth, p.l2CacheSize, p.persistingL2CacheMaxSize,
           p.streamPrioritiesSupported, p.globalL1CacheSupported, p.localL1CacheSupported);
    printf("managed %d %d %d, preemption %d, cooperative %d, pools %d, clusters %d, function pointers %d\n", p.managedMemory,
           p.concurrentManagedAccess, p.directManagedMemAccessFromHost, p.computePreemptionSupported, p.cooperativeLaunch,
           p.memoryPoolsSupported, p.clusterLaunch, p.unifiedFunctionPointers);
    tell("plain", plain);
    tell("bounded", bounded);
    tell("with shared", with_shared);
    int blocks = 0, grid = 0, block = 0;
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    printf("blocks %d\n", blocks);
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 40000));
    printf("blocks %d\n", blocks);
    MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded));
    printf("grid %d block %d\n", grid, block);
    size_t room = 0;
    MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&room, plain, 2, 128));
    printf("room %zu\n", room);
    cudaFuncAttributes a;
    SAY(cudaFuncGetAttributes(&a, (const void*)main));
    SAY(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    SAY(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
    const char* name = "";
    SAY(cudaFuncGetName(&name, (const void*)plain));
    printf("%s\n", name);
    SAY(cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, 7));
    SAY(cudaDeviceGetAttribute(&count, (cudaDeviceAttr)12345, 0));
    SAY(cudaDeviceCanAccessPeer(&count, 0, 0));
    SAY(cudaDeviceEnablePeerAccess(0, 0));
    SAY(cudaGetLastError());
    size_t limit;
    SAY(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    printf("stack %zu\n", limit);
    SAY(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    SAY(cudaDeviceGetLimit(&limit, (cudaLimit)99));
    cudaFuncCache cache;
    SAY(cudaDeviceGetCacheConfig(&cache));
    printf("cache %d\n", (int)cache);
    unsigned flags = 77;
    SAY(cudaGetDeviceFlags(&flags));
    printf("flags %u\n", flags);
    SAY(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SAY(cudaSetDeviceFlags(0x4000));
    SAY(cudaGetDeviceFlags(nullptr));
    SAY(cudaProfilerStart());
    for (int code = 0; code < 1001; code++)
        if (strcmp(cudaGetErrorName((cudaError_t)code), "unrecognized error code"))
            printf("%d %s: %s\n", code, cudaGetErrorName((cudaError_t)code), cudaGetErrorString((cudaError_t)code));
    printf("%s, %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    return 0;
}
