// Every function on textures and surfaces of the CUDA runtime, through bindless objects. Compiled by nvcc 13.0 with
//   nvcc -ptx -arch=sm_90 -std=c++17 bindless.cu
#include <cuda_runtime.h>

#define KERNEL(name) extern "C" __global__ void name
#define I (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(fetch_1d)(cudaTextureObject_t t, const float *at, float *out) {
  out[3 * I] = tex1Dfetch<float>(t, (int)at[I]);
  out[3 * I + 1] = tex1D<float>(t, at[I]);
  out[3 * I + 2] = tex1Dfetch<float>(t, (int)at[I] + 1);
}
KERNEL(lod_1d)(cudaTextureObject_t t, const float *at, float *out) {
  out[2 * I] = tex1DLod<float>(t, at[2 * I], at[2 * I + 1]);
  out[2 * I + 1] = tex1DGrad<float>(t, at[2 * I], 0.25f, 0.125f);
}
KERNEL(layered_1d)(cudaTextureObject_t t, const float *at, float *out) {
  out[3 * I] = tex1DLayered<float>(t, at[2 * I], (int)at[2 * I + 1]);
  out[3 * I + 1] = tex1DLayeredLod<float>(t, at[2 * I], (int)at[2 * I + 1], 1.0f);
  out[3 * I + 2] = tex1DLayeredGrad<float>(t, at[2 * I], (int)at[2 * I + 1], 0.25f, 0.25f);
}
KERNEL(fetch_2d)(cudaTextureObject_t t, const float2 *at, float4 *out) {
  out[I] = tex2D<float4>(t, at[I].x, at[I].y);
}
KERNEL(bytes_2d)(cudaTextureObject_t t, const float2 *at, uchar4 *out) {
  out[I] = tex2D<uchar4>(t, at[I].x, at[I].y);
}
KERNEL(shorts_2d)(cudaTextureObject_t t, const float2 *at, short2 *out) {
  out[I] = tex2D<short2>(t, at[I].x, at[I].y);
}
KERNEL(lod_2d)(cudaTextureObject_t t, const float4 *at, float *out) {
  out[3 * I] = tex2DLod<float>(t, at[I].x, at[I].y, at[I].z);
  out[3 * I + 1] = tex2DGrad<float>(t, at[I].x, at[I].y, make_float2(at[I].z, 0.0f), make_float2(0.0f, at[I].w));
  bool resident = false;
  float value = tex2DLod<float>(t, at[I].x, at[I].y, at[I].z, &resident);
  out[3 * I + 2] = resident ? value + 100.0f : value;
}
KERNEL(layered_2d)(cudaTextureObject_t t, const float4 *at, float *out) {
  out[3 * I] = tex2DLayered<float>(t, at[I].x, at[I].y, (int)at[I].z);
  out[3 * I + 1] = tex2DLayeredLod<float>(t, at[I].x, at[I].y, (int)at[I].z, 1.0f);
  out[3 * I + 2] = tex2DLayeredGrad<float>(t, at[I].x, at[I].y, (int)at[I].z, make_float2(0.25f, 0.0f), make_float2(0.0f, 0.25f));
}
KERNEL(gather_2d)(cudaTextureObject_t t, const float2 *at, float4 *out) {
  out[2 * I] = tex2Dgather<float4>(t, at[I].x, at[I].y, 0);
  out[2 * I + 1] = tex2Dgather<float4>(t, at[I].x, at[I].y, 3);
}
KERNEL(fetch_3d)(cudaTextureObject_t t, const float4 *at, float *out) {
  out[3 * I] = tex3D<float>(t, at[I].x, at[I].y, at[I].z);
  out[3 * I + 1] = tex3DLod<float>(t, at[I].x, at[I].y, at[I].z, at[I].w);
  out[3 * I + 2] = tex3DGrad<float>(t, at[I].x, at[I].y, at[I].z, make_float4(0.25f, 0, 0, 0), make_float4(0, 0.25f, 0, 0));
}
KERNEL(cubes)(cudaTextureObject_t t, const float4 *at, float *out) {
  out[3 * I] = texCubemap<float>(t, at[I].x, at[I].y, at[I].z);
  out[3 * I + 1] = texCubemapLod<float>(t, at[I].x, at[I].y, at[I].z, at[I].w);
  out[3 * I + 2] = texCubemapGrad<float>(t, at[I].x, at[I].y, at[I].z, make_float4(0.5f, 0, 0, 0), make_float4(0, 0.5f, 0, 0));
}
KERNEL(cube_arrays)(cudaTextureObject_t t, const float4 *at, float *out) {
  out[3 * I] = texCubemapLayered<float>(t, at[I].x, at[I].y, at[I].z, (int)at[I].w);
  out[3 * I + 1] = texCubemapLayeredLod<float>(t, at[I].x, at[I].y, at[I].z, (int)at[I].w, 1.0f);
  out[3 * I + 2] = texCubemapLayeredGrad<float>(t, at[I].x, at[I].y, at[I].z, (int)at[I].w, make_float4(0.5f, 0, 0, 0), make_float4(0, 0.5f, 0, 0));
}
KERNEL(surface_1d)(cudaSurfaceObject_t s, const int *at, int *out) {
  out[I] = surf1Dread<int>(s, at[I] * 4, cudaBoundaryModeClamp);
  surf1Dwrite((int)I, s, at[I] * 4, cudaBoundaryModeZero);
}
KERNEL(surface_2d)(cudaSurfaceObject_t s, const int2 *at, uchar4 *out) {
  uchar4 v = surf2Dread<uchar4>(s, at[I].x * 4, at[I].y, cudaBoundaryModeZero);
  out[I] = v;
  surf2Dwrite(make_uchar4(v.w, v.z, v.y, v.x), s, at[I].x * 4, at[I].y, cudaBoundaryModeZero);
}
KERNEL(surface_3d)(cudaSurfaceObject_t s, const int4 *at, float2 *out) {
  float2 v = surf3Dread<float2>(s, at[I].x * 8, at[I].y, at[I].z);
  out[I] = v;
  surf3Dwrite(make_float2(v.y, v.x), s, at[I].x * 8, at[I].y, at[I].z);
}
KERNEL(surface_layered)(cudaSurfaceObject_t s1, cudaSurfaceObject_t s2, const int4 *at, short *out) {
  short a = surf1DLayeredread<short>(s1, at[I].x * 2, at[I].z, cudaBoundaryModeClamp);
  short b = surf2DLayeredread<short>(s2, at[I].x * 2, at[I].y, at[I].z, cudaBoundaryModeClamp);
  out[I] = a + b;
  surf1DLayeredwrite(b, s1, at[I].x * 2, at[I].z, cudaBoundaryModeZero);
  surf2DLayeredwrite(a, s2, at[I].x * 2, at[I].y, at[I].z, cudaBoundaryModeZero);
}
KERNEL(surface_cube)(cudaSurfaceObject_t s1, cudaSurfaceObject_t s2, const int4 *at, int *out) {
  int a = surfCubemapread<int>(s1, at[I].x * 4, at[I].y, at[I].z);
  int b = surfCubemapLayeredread<int>(s2, at[I].x * 4, at[I].y, at[I].w);
  out[I] = a + b;
  surfCubemapwrite(b, s1, at[I].x * 4, at[I].y, at[I].z);
  surfCubemapLayeredwrite(a, s2, at[I].x * 4, at[I].y, at[I].w);
}

// What the samples of the toolkit do.

struct Images {
  int width, height;
  cudaTextureObject_t source, weights;
  cudaSurfaceObject_t target;
};

// A convolution with weights in a texture; all handles in a structure passed by value.
KERNEL(convolve)(Images images, int radius) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= images.width || y >= images.height) return;
  float sum = 0.0f;
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i)
      sum += tex2D<float>(images.source, x + i + 0.5f, y + j + 0.5f) * tex1Dfetch<float>(images.weights, i + radius) * tex1Dfetch<float>(images.weights, j + radius);
  surf2Dwrite(sum, images.target, x * 4, y);
}

__device__ float w0(float a) { return (1.0f / 6.0f) * (a * (a * (-a + 3.0f) - 3.0f) + 1.0f); }
__device__ float w1(float a) { return (1.0f / 6.0f) * (a * a * (3.0f * a - 6.0f) + 4.0f); }
__device__ float w2(float a) { return (1.0f / 6.0f) * (a * (a * (-3.0f * a + 3.0f) + 3.0f) + 1.0f); }
__device__ float w3(float a) { return (1.0f / 6.0f) * (a * a * a); }

// A bicubic B-spline of sixteen texels.
KERNEL(bicubic)(cudaTextureObject_t t, const float2 *at, float *out) {
  float x = at[I].x - 0.5f, y = at[I].y - 0.5f, px = floorf(x), py = floorf(y), fx = x - px, fy = y - py;
  float u[4] = {w0(fx), w1(fx), w2(fx), w3(fx)}, v[4] = {w0(fy), w1(fy), w2(fy), w3(fy)}, sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += u[i] * v[j] * tex2D<float>(t, px + i - 0.5f, py + j - 0.5f);
  out[I] = sum;
}

// A ray through a volume, its densities coloured by a table.
KERNEL(march)(cudaTextureObject_t volume, cudaTextureObject_t colours, int width, int steps, float4 *out) {
  float x = (threadIdx.x + 0.5f) / width, y = (blockIdx.x + 0.5f) / gridDim.x;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < steps; ++i) {
    float density = tex3D<float>(volume, x, y, (i + 0.5f) / steps);
    float4 c = tex1D<float4>(colours, density);
    float a = c.w * 0.25f * (1.0f - sum.w);
    sum = make_float4(sum.x + c.x * a, sum.y + c.y * a, sum.z + c.z * a, sum.w + a);
    if (sum.w > 0.95f) break;
  }
  out[blockIdx.x * width + threadIdx.x] = sum;
}

// One step of a distance field: the nearest seed that a neighbour knows.
KERNEL(distances)(cudaTextureObject_t from, cudaSurfaceObject_t to, int size, int step) {
  int x = threadIdx.x, y = blockIdx.x;
  int2 best = make_int2(-1, -1);
  int least = 0x7fffffff;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) {
      int2 seed = tex2D<int2>(from, x + i * step, y + j * step);
      int distance = (seed.x - x) * (seed.x - x) + (seed.y - y) * (seed.y - y);
      if (seed.x >= 0 && distance < least) { least = distance; best = seed; }
    }
  surf2Dwrite(best, to, x * 8, y);
}
