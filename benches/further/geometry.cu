// Particles, vectors and shapes.
#include "../corpus/common.h"
#include <stdint.h>

__device__ __forceinline__ float3 operator+(const float3 &a, const float3 &b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ __forceinline__ float3 operator-(const float3 &a, const float3 &b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ __forceinline__ float3 operator*(const float3 &a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ __forceinline__ float dot(const float3 &a, const float3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// launch: nbody_global grid=2 block=64 n=128 fill=f32
struct Body {
  float x, y, z, vx, vy, vz;
};
KERNEL nbody_global(const Body *p, const Body *unused, Body *out, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) {
    float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
    LOOP for (int j = 0; j < n; j++) {
      float dx = p[j].x - p[i].x;
      float dy = p[j].y - p[i].y;
      float dz = p[j].z - p[i].z;
      float distSqr = dx * dx + dy * dy + dz * dz + 1e-9f;
      float invDist = rsqrtf(distSqr);
      float invDist3 = invDist * invDist * invDist;
      Fx += dx * invDist3; Fy += dy * invDist3; Fz += dz * invDist3;
    }
    out[i].vx = p[i].vx + 0.01f * Fx; out[i].vy = p[i].vy + 0.01f * Fy; out[i].vz = p[i].vz + 0.01f * Fz;
  }
}

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
  float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
  float distSqr = dot(r, r) + 0.01f;
  float distSixth = distSqr * distSqr * distSqr;
  return ai + r * (bj.w * rsqrtf(distSixth));
}

// launch: nbody_tiles grid=2 block=64 n=128 fill=f32
KERNEL nbody_tiles(const float4 *devX, const float4 *unused, float4 *devA, int N) {
  __shared__ float4 shPosition[64];
  float3 acc = {0.0f, 0.0f, 0.0f};
  float4 myPosition = devX[GID];
  int i, tile;
  LOOP for (i = 0, tile = 0; i < N; i += 64, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    shPosition[threadIdx.x] = devX[idx];
    __syncthreads();
    LOOP for (int k = 0; k < blockDim.x; k++) acc = bodyBodyInteraction(myPosition, shPosition[k], acc);
    __syncthreads();
  }
  devA[GID] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

// launch: copy_vec4 grid=8 block=64 n=4096 fill=u32
KERNEL copy_vec4(const int *d_in, const int *unused, int *d_out, int N) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  LOOP for (int i = idx; i < N / 4; i += blockDim.x * gridDim.x) reinterpret_cast<int4 *>(d_out)[i] = reinterpret_cast<const int4 *>(d_in)[i];
  int remainder = N % 4;
  if (idx == N / 4 && remainder != 0)
    LOOP while (remainder) {
      int i = N - remainder--;
      d_out[i] = d_in[i];
    }
}

// launch: scale_vec4 grid=4 block=64 n=2048 fill=f32
KERNEL scale_vec4(const float4 *__restrict__ in, const float4 *__restrict__ b, float4 *__restrict__ out, int n) {
  LOOP for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
    float4 v = __ldg(&in[i]), w = __ldg(&b[i]);
    v.x = fmaxf(v.x * 2.f + w.x, 0.f);
    v.y = fmaxf(v.y * 2.f + w.y, 0.f);
    v.z = fmaxf(v.z * 2.f + w.z, 0.f);
    v.w = fmaxf(v.w * 2.f + w.w, 0.f);
    out[i] = v;
  }
}

struct Sphere {
  float r, g, b, radius, x, y, z;
  __device__ float hit(float ox, float oy, float *n) const {
    float dx = ox - x, dy = oy - y;
    if (dx * dx + dy * dy < radius * radius) {
      float dz = sqrtf(radius * radius - dx * dx - dy * dy);
      *n = dz / sqrtf(radius * radius);
      return dz + z;
    }
    return -2e10f;
  }
};

// launch: ray_spheres grid=4 block=8,8 n=10 fill=f32
KERNEL ray_spheres(const Sphere *s, const float *b, uchar4 *out, int n) {
  int x = threadIdx.x + (blockIdx.x & 1) * 8, y = threadIdx.y + (blockIdx.x >> 1) * 8;
  float ox = (x - 8) * 0.1f, oy = (y - 8) * 0.1f, r = 0, g = 0, bl = 0, maxz = -2e10f;
  LOOP for (int i = 0; i < n; i++) {
    float k, t = s[i].hit(ox, oy, &k);
    if (t > maxz) {
      r = s[i].r * k; g = s[i].g * k; bl = s[i].b * k;
      maxz = t;
    }
  }
  out[y * 16 + x] = make_uchar4((int)(fabsf(r) * 255), (int)(fabsf(g) * 255), (int)(fabsf(bl) * 255), 255);
}

// launch: nearest_centre grid=4 block=64 n=12 fill=f32
template <int DIM> struct Point {
  float v[DIM];
  __device__ float distance(const Point &o) const {
    float d = 0;
#pragma unroll
    for (int i = 0; i < DIM; ++i) d += (v[i] - o.v[i]) * (v[i] - o.v[i]);
    return d;
  }
};
KERNEL nearest_centre(const Point<3> *pts, const Point<3> *centres, int *assign, int k) {
  const Point<3> me = pts[GID];
  float best = 3.4e38f;
  int arg = -1;
  LOOP for (int c = 0; c < k; ++c) {
    float d = me.distance(centres[c]);
    if (d < best) best = d, arg = c;
  }
  assign[GID] = arg;
}

// launch: polygon_inside grid=4 block=64 n=20 fill=f32
KERNEL polygon_inside(const float2 *points, const float2 *poly, int *out, int n) {
  float2 p = points[GID];
  bool c = false;
  LOOP for (int i = 0, j = n - 1; i < n; j = i++) {
    if (((poly[i].y > p.y) != (poly[j].y > p.y)) && (p.x < (poly[j].x - poly[i].x) * (p.y - poly[i].y) / (poly[j].y - poly[i].y) + poly[i].x)) c = !c;
  }
  out[GID] = c;
}

// launch: bounding_box grid=4 block=128 n=1024 fill=f32
KERNEL bounding_box(const float3 *pts, const float3 *b, float *out, int n) {
  __shared__ float3 lo[128], hi[128];
  int tid = threadIdx.x;
  float3 mn = make_float3(1e30f, 1e30f, 1e30f), mx = make_float3(-1e30f, -1e30f, -1e30f);
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    float3 p = pts[i];
    mn = make_float3(fminf(mn.x, p.x), fminf(mn.y, p.y), fminf(mn.z, p.z));
    mx = make_float3(fmaxf(mx.x, p.x), fmaxf(mx.y, p.y), fmaxf(mx.z, p.z));
  }
  lo[tid] = mn;
  hi[tid] = mx;
  __syncthreads();
  LOOP for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      lo[tid].x = fminf(lo[tid].x, lo[tid + s].x); lo[tid].y = fminf(lo[tid].y, lo[tid + s].y); lo[tid].z = fminf(lo[tid].z, lo[tid + s].z);
      hi[tid].x = fmaxf(hi[tid].x, hi[tid + s].x); hi[tid].y = fmaxf(hi[tid].y, hi[tid + s].y); hi[tid].z = fmaxf(hi[tid].z, hi[tid + s].z);
    }
    __syncthreads();
  }
  if (tid == 0) {
    float *o = out + blockIdx.x * 6;
    o[0] = lo[0].x; o[1] = lo[0].y; o[2] = lo[0].z; o[3] = hi[0].x; o[4] = hi[0].y; o[5] = hi[0].z;
  }
}
