// Classes, operators, templates, lambdas, virtual functions, recursion, iterators, bit fields and unions: what C++ wraps around few instructions.
#include "../corpus/common.h"
#include <stdint.h>

template <typename T, int N> struct Vec {
  T v[N];
  __device__ Vec() {}
  __device__ explicit Vec(T x) { for (int i = 0; i < N; i++) v[i] = x; }
  __device__ T &operator[](int i) { return v[i]; }
  __device__ const T &operator[](int i) const { return v[i]; }
  __device__ Vec operator+(const Vec &o) const { Vec r; for (int i = 0; i < N; i++) r[i] = v[i] + o[i]; return r; }
  __device__ Vec operator*(T s) const { Vec r; for (int i = 0; i < N; i++) r[i] = v[i] * s; return r; }
  __device__ T dot(const Vec &o) const { T s = 0; for (int i = 0; i < N; i++) s += v[i] * o[i]; return s; }
};
template <typename T, int R, int C> struct Mat {
  Vec<T, C> r[R];
  __device__ Vec<T, R> operator*(const Vec<T, C> &x) const { Vec<T, R> y; for (int i = 0; i < R; i++) y[i] = r[i].dot(x); return y; }
  __device__ Mat<T, C, R> transpose() const { Mat<T, C, R> m; for (int i = 0; i < R; i++) for (int j = 0; j < C; j++) m.r[j][i] = r[i][j]; return m; }
};
// launch: cpp_matvec grid=2 block=64 args=a,b,out fill=f32
KERNEL cpp_matvec(const Mat<float, 3, 4> *a, const float *b, float *out) {
  Vec<float, 4> x; for (int i = 0; i < 4; i++) x[i] = b[GID % 8 * 4 + i];
  Vec<float, 3> y = a[GID % 8] * x;
  Vec<float, 4> z = a[GID % 8].transpose() * y + x * 0.5f;
  out[GID] = z.dot(x);
}
template <typename F> __device__ float integrate(float lo, float hi, int n, F f) {
  float s = 0, h = (hi - lo) / n;
  LOOP for (int i = 0; i < n; i++) s += f(lo + (i + 0.5f) * h);
  return s * h;
}
// launch: cpp_lambda grid=2 block=64 args=a,out,24 fill=f32
KERNEL cpp_lambda(const float *a, float *out, int n) {
  float k = a[GID], m = a[GID + 1];
  out[GID] = integrate(0.0f, 1.0f, n, [=](float x) { return k * x * x + m; }) + integrate(0.0f, 2.0f, n, [&](float x) { return fmaxf(k, x) - m; });
}
struct Shape { __device__ virtual float area() const = 0; float scale; };
struct Disc : Shape { float r; __device__ float area() const override { return 3.14159f * r * r * scale; } };
struct Rect : Shape { float w, h; __device__ float area() const override { return w * h * scale; } };
// launch: cpp_virtual grid=2 block=64 args=a,out,6 fill=f32
KERNEL cpp_virtual(const float *a, float *out, int n) {
  Disc d; Rect r; float s = 0;
  LOOP for (int i = 0; i < n; i++) {
    d.scale = r.scale = a[GID + i]; d.r = a[GID + i + 1]; r.w = a[GID + i + 2]; r.h = a[GID + i + 3];
    const Shape *p = i & 1 ? (const Shape *)&d : (const Shape *)&r;
    s += p->area();
  }
  out[GID] = s;
}
__device__ int depth(const int *left, const int *right, int node) {
  if (node < 0 || node >= 63) return 0;
  return 1 + max(depth(left, right, 2 * node + 1), depth(left, right, 2 * node + 2));
}
// launch: cpp_tree_depth grid=1 block=32 args=a,b,out fill=u32
KERNEL cpp_tree_depth(const int *a, const int *b, int *out) { out[GID] = depth(a, b, 7 + GID); }
__device__ unsigned powmod(unsigned b, unsigned e, unsigned m) { if (e == 0) return 1 % m; unsigned h = powmod((unsigned long long)b * b % m, e / 2, m); return e & 1 ? (unsigned long long)h * b % m : h; }
// launch: cpp_powmod grid=2 block=64 args=a,out fill=u32
KERNEL cpp_powmod(const unsigned *a, unsigned *out) { out[GID] = powmod(a[GID] & 0xffff, a[GID + 1] & 0xff, 65521); }
__device__ unsigned digits(unsigned n) { return n == 0 ? 0 : n % 10 + digits(n / 10); }
// launch: cpp_digits grid=2 block=64 args=a,out fill=u32
KERNEL cpp_digits(const unsigned *a, unsigned *out) { out[GID] = digits(a[GID]); }
struct Iter { const float *p; int stride; __device__ float operator*() const { return *p; } __device__ Iter &operator++() { p += stride; return *this; } __device__ bool operator!=(const Iter &o) const { return p != o.p; } };
struct Range { const float *p; int n, stride; __device__ Iter begin() const { return {p, stride}; } __device__ Iter end() const { return {p + n * stride, stride}; } };
// launch: cpp_iterator grid=2 block=32 args=a,out,20,64 fill=f32
KERNEL cpp_iterator(const float *a, float *out, int n, int stride) { float s = 0; LOOP for (float x : Range{a + GID, n, stride}) s += x * x; out[GID] = s; }
struct Quat { float w, x, y, z; };
__device__ Quat mul(Quat a, Quat b) { return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w}; }
// launch: cpp_quaternion grid=2 block=32 args=a,out,12 fill=f32
KERNEL cpp_quaternion(const Quat *a, float *out, int n) { Quat q{1, 0, 0, 0}; LOOP for (int i = 0; i < n; i++) q = mul(q, a[(GID + i) % 64]); out[GID] = q.w + q.x + q.y + q.z; }
struct Dual { float v, d; __device__ Dual(float v, float d = 0) : v(v), d(d) {} };
__device__ Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.v * b.d + a.d * b.v}; }
__device__ Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
__device__ Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.d * b.v - a.v * b.d) / (b.v * b.v)}; }
// launch: cpp_dual grid=2 block=32 args=a,out,5 fill=f32
KERNEL cpp_dual(const float *a, float *out, int n) { Dual x(a[GID], 1), s(0); LOOP for (int i = 0; i < n; i++) s = (s * x + Dual(i)) / (x * x + Dual(1)); out[GID] = s.v + s.d; }
struct Fixed { int16_t hi; uint8_t lo; uint8_t flag : 3; uint8_t kind : 5; };
// launch: cpp_bitfields grid=2 block=64 args=a,out fill=u32
KERNEL cpp_bitfields(const Fixed *a, int *out) { Fixed f = a[GID]; f.kind += f.flag; f.hi -= f.lo; f.flag ^= 5; int s = f.hi * 256 + f.lo; out[GID] = f.kind > 12 ? s : s + f.flag; }
union Word { float f; uint32_t u; struct { uint32_t m : 23, e : 8, s : 1; }; };
// launch: cpp_union grid=2 block=64 args=a,out fill=f32
KERNEL cpp_union(const float *a, float *out) { Word w; w.f = a[GID]; w.e += 2; w.s ^= 1; if (w.m & 1) w.m |= 0x100; out[GID] = w.f; }
template <typename T> struct Stack { T items[16]; int top = 0; __device__ void push(T x) { items[top++ & 15] = x; } __device__ T pop() { return items[--top & 15]; } __device__ bool empty() const { return top == 0; } };
// launch: cpp_stack grid=1 block=32 args=a,out,30 fill=u32
KERNEL cpp_stack(const int *a, int *out, int n) { Stack<int> s; LOOP for (int i = 0; i < n; i++) { int x = a[GID + i]; if (x & 1 || s.empty()) s.push(x); else s.push(s.pop() + x); if (s.top > 12) s.pop(); } int t = 0; LOOP while (!s.empty()) t = t * 3 + s.pop(); out[GID] = t; }
template <int N> __device__ int fib() { if constexpr (N < 2) return N; else return fib<N - 1>() + fib<N - 2>(); }
__constant__ float coef[5] = {1.0f, 0.5f, 0.25f, 0.125f, 0.0625f};
// launch: cpp_constexpr grid=2 block=64 args=a,out fill=f32
KERNEL cpp_constexpr(const float *a, float *out) { constexpr int F = 13; static_assert(F == 13); float s = 0, x = a[GID]; for (float c : coef) s = s * x + c; out[GID] = s + fib<10>(); }
