// Arrays, textures and surfaces.
#include "common.h"

__global__ void read2(cudaTextureObject_t t, float* out, float dx, float scale) {
    int i = threadIdx.x, j = threadIdx.y;
    out[j * blockDim.x + i] = tex2D<float>(t, (i + dx) * scale, (j + dx) * scale);
}
__global__ void read1(cudaTextureObject_t t, int4* out) { out[threadIdx.x] = tex1Dfetch<int4>(t, threadIdx.x); }
__global__ void read3(cudaTextureObject_t t, float2* out) {
    out[threadIdx.x] = tex3D<float2>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 4 + 0.5f, threadIdx.x / 16 + 0.5f);
}
__global__ void layer(cudaTextureObject_t t, float* out) {
    out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % 4 + 0.5f, 1.5f, threadIdx.x / 4);
}
__global__ void levels(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex2DLod<float>(t, 0.4f, 0.6f, threadIdx.x * 0.5f); }
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n) {
    float v;
    surf2Dread(&v, from, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(v * 2, to, threadIdx.y * 4, threadIdx.x);
}

static void print(const char* what, const std::vector<float>& v) {
    printf("%s:", what);
    for (float x : v) printf(" %g", x);
    printf("\n");
}

int main() {
    float host[16];
    for (int i = 0; i < 16; i++) host[i] = i * i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    printf("format %d %d %d %d %d\n", format.x, format.y, format.z, format.w, (int)format.f);
    cudaArray_t array, other;
    MUST(cudaMallocArray(&array, &format, 4, 4, cudaArraySurfaceLoadStore));
    MUST(cudaMallocArray(&other, &format, 4, 4, cudaArraySurfaceLoadStore));
    MUST(cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 4, cudaMemcpyHostToDevice));
    cudaChannelFormatDesc got;
    cudaExtent extent;
    unsigned flags;
    MUST(cudaArrayGetInfo(&got, &extent, &flags, array));
    printf("info %d %d %zu %zu %zu %u\n", got.x, got.y, extent.width, extent.height, extent.depth, flags);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    cudaTextureObject_t texture;
    float* out;
    MUST(cudaMalloc(&out, 4096));
    std::vector<float> v(16);
    MUST(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read2<<<1, dim3(4, 4)>>>(texture, out, 0.5f, 1);
    MUST(cudaMemcpy(v.data(), out, 64, cudaMemcpyDeviceToHost));
    print("points", v);
    MUST(cudaDestroyTextureObject(texture));
    how.filterMode = cudaFilterModeLinear;
    MUST(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read2<<<1, dim3(4, 4)>>>(texture, out, 0.75f, 1);
    MUST(cudaMemcpy(v.data(), out, 64, cudaMemcpyDeviceToHost));
    print("linear", v);
    MUST(cudaDestroyTextureObject(texture));
    how.normalizedCoords = 1;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    MUST(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    read2<<<1, dim3(4, 4)>>>(texture, out, -1.5f, 0.25f);
    MUST(cudaMemcpy(v.data(), out, 64, cudaMemcpyDeviceToHost));
    print("wrapped", v);
    cudaTextureDesc how_back;
    MUST(cudaGetTextureObjectTextureDesc(&how_back, texture));
    printf("described %d %d %d\n", (int)how_back.filterMode, how_back.normalizedCoords, (int)how_back.addressMode[1]);
    MUST(cudaDestroyTextureObject(texture));

    cudaSurfaceObject_t from, to;
    MUST(cudaCreateSurfaceObject(&from, &resource));
    resource.res.array.array = other;
    MUST(cudaCreateSurfaceObject(&to, &resource));
    turn<<<1, dim3(4, 4)>>>(from, to, 4);
    MUST(cudaMemcpy2DFromArray(v.data(), 16, other, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
    print("turned", v);
    MUST(cudaMemcpy2DArrayToArray(array, 0, 0, other, 0, 0, 16, 2, cudaMemcpyDeviceToDevice));
    MUST(cudaMemcpy2DFromArray(v.data(), 16, array, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
    print("copied", v);

    int4 fours[8], *dfours;
    for (int i = 0; i < 8; i++) fours[i] = make_int4(i, -i, i * i, 7);
    MUST(cudaMalloc(&dfours, sizeof fours));
    MUST(cudaMemcpy(dfours, fours, sizeof fours, cudaMemcpyHostToDevice));
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = dfours;
    linear.res.linear.desc = cudaCreateChannelDesc<int4>();
    linear.res.linear.sizeInBytes = sizeof fours;
    cudaTextureDesc simple = {};
    MUST(cudaCreateTextureObject(&texture, &linear, &simple, nullptr));
    int4* back;
    MUST(cudaMallocManaged(&back, sizeof fours));
    read1<<<1, 8>>>(texture, back);
    MUST(cudaDeviceSynchronize());
    printf("fetched %d %d %d %d\n", back[5].x, back[5].y, back[5].z, back[5].w);

    cudaArray_t cube;
    format = cudaCreateChannelDesc<float2>();
    MUST(cudaMalloc3DArray(&cube, &format, make_cudaExtent(4, 4, 4)));
    std::vector<float2> twos(64);
    for (int i = 0; i < 64; i++) twos[i] = make_float2(i, -i);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(twos.data(), 32, 4, 4);
    copy.dstArray = cube;
    copy.extent = make_cudaExtent(4, 4, 4);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    resource.res.array.array = cube;
    MUST(cudaCreateTextureObject(&texture, &resource, &simple, nullptr));
    read3<<<1, 64>>>(texture, (float2*)out);
    std::vector<float2> found(64);
    MUST(cudaMemcpy(found.data(), out, 512, cudaMemcpyDeviceToHost));
    printf("cube %g %g %g\n", found[0].x, found[37].x, found[63].y);

    cudaArray_t layers;
    format = cudaCreateChannelDesc<float>();
    MUST(cudaMalloc3DArray(&layers, &format, make_cudaExtent(4, 4, 3), cudaArrayLayered));
    std::vector<float> stack(48);
    for (int i = 0; i < 48; i++) stack[i] = i;
    copy = {};
    copy.srcPtr = make_cudaPitchedPtr(stack.data(), 16, 4, 4);
    copy.dstArray = layers;
    copy.extent = make_cudaExtent(4, 4, 3);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    resource.res.array.array = layers;
    MUST(cudaCreateTextureObject(&texture, &resource, &simple, nullptr));
    layer<<<1, 12>>>(texture, out);
    v.resize(12);
    MUST(cudaMemcpy(v.data(), out, 48, cudaMemcpyDeviceToHost));
    print("layers", v);

    cudaMipmappedArray_t mipmap;
    MUST(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(4, 4, 0), 3));
    for (int level = 0; level < 3; level++) {
        cudaArray_t part;
        MUST(cudaGetMipmappedArrayLevel(&part, mipmap, level));
        std::vector<float> same(16, 10.0f * level);
        MUST(cudaMemcpy2DToArray(part, 0, 0, same.data(), 16 >> level, 16 >> level, 4 >> level, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc all = {};
    all.resType = cudaResourceTypeMipmappedArray;
    all.res.mipmap.mipmap = mipmap;
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.maxMipmapLevelClamp = 2;
    MUST(cudaCreateTextureObject(&texture, &all, &how, nullptr));
    levels<<<1, 6>>>(texture, out);
    v.resize(6);
    MUST(cudaMemcpy(v.data(), out, 24, cudaMemcpyDeviceToHost));
    print("levels", v);
    SAY(cudaFreeMipmappedArray(mipmap));
    SAY(cudaFreeArray(array));
    SAY(cudaFreeArray(nullptr));
    SAY(cudaCreateTextureObject(&texture, nullptr, &simple, nullptr));
    SAY(cudaMallocArray(nullptr, &format, 4));
    return 0;
}
