// Vectors and matrices with operators, results that are not always wanted, arrays that carry their pointers, rows that are copied as structs: how libraries
// for physics, rendering and attention are written.
#include "../corpus/common.h"
#include <string.h>

struct Vec3 {
  float x, y, z;
  __device__ float operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
};
__device__ Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ Vec3 operator*(float s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ Vec3 operator*(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ float dot(Vec3 a, Vec3 b) { Vec3 p = a * b; return p.x + p.y + p.z; }
__device__ Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

struct Mat3 {
  Vec3 column[3];
  __device__ Mat3() {}
  __device__ Mat3(Vec3 a, Vec3 b, Vec3 c) { column[0] = a; column[1] = b; column[2] = c; }
  __device__ const Vec3 &operator[](int i) const { return column[i]; }
  __device__ Vec3 &operator[](int i) { return column[i]; }
};
__device__ Vec3 operator*(const Mat3 &m, Vec3 v) { return v.x * m[0] + v.y * m[1] + v.z * m[2]; }
__device__ Mat3 operator*(const Mat3 &a, const Mat3 &b) { return Mat3(a * b[0], a * b[1], a * b[2]); }
__device__ Mat3 transpose(const Mat3 &m) {
  return Mat3({m[0].x, m[1].x, m[2].x}, {m[0].y, m[1].y, m[2].y}, {m[0].z, m[1].z, m[2].z});
}
__device__ Mat3 rotation(float w, Vec3 v) {
  Vec3 d = v * v, s = w * v, c = {v.x * v.y, v.x * v.z, v.y * v.z};
  return Mat3({1 - 2 * (d.y + d.z), 2 * (c.x + s.z), 2 * (c.y - s.y)}, {2 * (c.x - s.z), 1 - 2 * (d.x + d.z), 2 * (c.z + s.x)},
              {2 * (c.y + s.y), 2 * (c.z - s.x), 1 - 2 * (d.x + d.y)});
}

// launch: operator_springs grid=4 block=64 args=a,b,out,256,0.01 fill=f32
KERNEL operator_springs(const Vec3 *at, const Vec3 *speed, Vec3 *out, int n, float dt) {
  int i = GID;
  Vec3 force = {0, -9.8f, 0};
  LOOP for (int k = 1; k <= 2; ++k) {
    int j = (i + k) % n;
    Vec3 way = at[j] - at[i];
    float length = sqrtf(dot(way, way) + 1e-6f), stretch = length - 0.5f;
    Vec3 along = (1 / length) * way;
    force = force + (40 * stretch + 2 * dot(speed[j] - speed[i], along)) * along;
  }
  out[i] = at[i] + dt * (speed[i] + dt * force);
}

// launch: operator_basis grid=4 block=96 args=a,b,out,3 fill=f32
KERNEL operator_basis(const Vec3 *ways, const float *weights, float *out, int degree) {
  unsigned i = GID, of = i / 3, c = i % 3;
  Vec3 d = ways[of];
  const float *w = weights + of * 27;
  float sum = 0.28f * w[c];
  if (degree > 0) sum += 0.49f * (-d.y * w[1 * 3 + c] + d.z * w[2 * 3 + c] - d.x * w[3 * 3 + c]);
  if (degree > 1) {
    Vec3 q = d * d;
    sum += 1.09f * d.x * d.y * w[4 * 3 + c] - 1.09f * d.y * d.z * w[5 * 3 + c] + 0.31f * (2 * q.z - q.x - q.y) * w[6 * 3 + c] -
           1.09f * d.x * d.z * w[7 * 3 + c] + 0.54f * (q.x - q.y) * w[8 * 3 + c];
  }
  out[i] = sum;
}

__device__ void covariance(float w, Vec3 v, Vec3 scale, Mat3 *covariance, Mat3 *precision) {
  Mat3 r = rotation(w, v);
  if (covariance) {
    Mat3 m = r * Mat3({scale.x, 0, 0}, {0, scale.y, 0}, {0, 0, scale.z});
    *covariance = m * transpose(m);
  }
  if (precision) {
    Mat3 m = r * Mat3({1 / scale.x, 0, 0}, {0, 1 / scale.y, 0}, {0, 0, 1 / scale.z});
    *precision = m * transpose(m);
  }
}

// launch: operator_optional grid=4 block=64 args=a,b,out,1,0 fill=f32
KERNEL operator_optional(const Vec3 *turns, const Vec3 *scales, float *out, int covariances, int precisions) {
  int i = GID;
  Mat3 c, p;
  covariance(0.5f, turns[i], scales[i], covariances ? &c : nullptr, precisions ? &p : nullptr);
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      if (covariances) out[i * 18 + 3 * k + l] = c[k][l];
      if (precisions) out[i * 18 + 9 + 3 * k + l] = p[k][l];
    }
}

// An array and how it lies, which functions are passed by value or by reference; `union` as where it may hold a handle.
template <typename T> struct Array {
  union { T *data; unsigned long handle; };
  int shape[2], strides[2];
  __device__ Array(T *data, int rows, int columns) : data(data), shape{rows, columns}, strides{columns * int(sizeof(T)), int(sizeof(T))} {}
};
template <typename T> __device__ T &index(const Array<T> &a, int i, int j) {
  if (i < 0) i += a.shape[0];
  if (j < 0) j += a.shape[1];
  return *(T *)((char *)a.data + (size_t)(i * a.strides[0]) + (size_t)(j * a.strides[1]));
}
template <typename T> __device__ Array<T> moved(Array<T> a, long bytes) {
  Array<T> b = a;
  b.handle += bytes;
  return b;
}

// launch: operator_views grid=4 block=32 args=a,out,16,32 fill=f32
KERNEL operator_views(float *a, float *out, int rows, int columns) {
  Array<float> in(a, rows, columns), result(out, rows, columns), second = moved(in, 4096);
  int t = GID, i = t / columns, j = t % columns;
  float sum = 0;
  for (int di = -1; di <= 1; ++di)
    for (int dj = -1; dj <= 1; ++dj) sum += index(in, min(i + di, rows - 1), min(j + dj, columns - 1));
  index(result, i, j) = sum / 9 + index(second, i - 1, j - 1);
}

template <int N> struct alignas(2 * N) Halves { __half v[N]; };
template <int N> struct Floats { float v[N]; };
template <int N> __device__ Floats<N> load(const __half *p) {
  Halves<N> packed = *(const Halves<N> *)p;
  Floats<N> out;
  for (int i = 0; i < N; ++i) out.v[i] = __half2float(packed.v[i]);
  return out;
}
template <int N> __device__ void store(__half *p, Floats<N> v) {
  Halves<N> packed;
  for (int i = 0; i < N; ++i) packed.v[i] = __float2half(v.v[i]);
  *(Halves<N> *)p = packed;
}
template <int N> __device__ Floats<N> turned(const __half *p, Floats<N> c, Floats<N> s, int rotated) {
  Floats<N> v = load<N>(p + threadIdx.x * N), before;
  if (threadIdx.x * N < rotated) {
    memcpy(&before, &v, sizeof v);
    for (int i = 0; i < N; ++i) v.v[i] = v.v[i] * c.v[i] + (i % 2 ? before.v[i ^ 1] : -before.v[i ^ 1]) * s.v[i];
  }
  return v;
}

// launch: operator_rotary grid=4 block=16,4 args=a,out,128,2 fill=f16
KERNEL operator_rotary(const __half *a, __half *out, int rotated, int heads) {
  const int N = 8;
  int at = blockIdx.x * blockDim.y + threadIdx.y;
  Floats<N> c, s;
  for (int i = 0; i < N; ++i) {
    float turn = at * exp2f(-13.3f * float(2 * ((threadIdx.x * N + i) / 2)) / float(rotated));
    __sincosf(turn, &s.v[i], &c.v[i]);
  }
  LOOP for (int h = 0; h < heads; ++h) {
    size_t row = ((size_t)at * heads + h) * 128;
    Floats<N> v = turned<N>(a + row, c, s, rotated);
    store<N>(out + row + threadIdx.x * N, v);
  }
}

// launch: operator_march grid=4 block=64 args=a,out,12 fill=f32
KERNEL operator_march(const Vec3 *rays, float *out, int steps) {
  int i = GID;
  Vec3 ray = rays[i], way = (1 / sqrtf(dot(ray, ray) + 1e-6f)) * ray;
  float t = 0;
  LOOP for (int k = 0; k < steps; ++k) {
    Vec3 p = Vec3{0.1f, 0.2f, -1} + t * way;
    Vec3 q = {fabsf(p.x) - 0.4f, fabsf(p.y) - 0.3f, fabsf(p.z) - 0.2f};
    Vec3 out = {fmaxf(q.x, 0), fmaxf(q.y, 0), fmaxf(q.z, 0)};
    float box = sqrtf(dot(out, out)) + fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0), ball = sqrtf(dot(p, p)) - 0.7f;
    t += 0.5f * fminf(box, ball);
  }
  out[i] = t;
}

// launch: operator_blend grid=4 block=64 args=a,b,out,40 fill=f32
KERNEL operator_blend(const Vec3 *places, const Vec3 *colors, Vec3 *out, int n) {
  int i = GID;
  float x = (i % 16) * 0.1f, y = (i / 16) * 0.1f, left = 1;
  Vec3 sum = {0, 0, 0};
  LOOP for (int k = 0; k < n; ++k) {
    Vec3 place = places[k], d = Vec3{x, y, 0} - place;
    float power = -0.5f * (d.x * d.x + d.y * d.y) - 0.1f * d.x * d.y;
    if (power > 0) continue;
    float alpha = fminf(0.99f, fabsf(place.z) * __expf(power));
    if (alpha < 1 / 255.f) continue;
    float next = left * (1 - alpha);
    if (next <= 1e-4f) break;
    sum = sum + alpha * left * colors[k];
    left = next;
  }
  out[i] = sum + left * Vec3{0.1f, 0.2f, 0.3f};
}

__device__ Vec3 turn(Vec3 axis, float w, Vec3 v) {
  Vec3 t = 2.f * cross(axis, v);
  return v + w * t + cross(axis, t);
}

// launch: operator_frames grid=4 block=64 args=a,b,out,4 fill=f32
KERNEL operator_frames(const Vec3 *axes, const Vec3 *points, Vec3 *out, int links) {
  int i = GID;
  Vec3 at = points[i];
  LOOP for (int k = 0; k < links; ++k) at = turn(axes[k], 0.3f + 0.1f * k, at) + points[k];
  out[i] = at;
}
