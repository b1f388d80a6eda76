// Products that are kept in variables, which several sums use.
#include "../corpus/common.h"
#include <stdint.h>
// launch: nbody_vars grid=2 block=64 args=a,out,16 fill=f32
KERNEL nbody_vars(const float4 *p, float4 *out, int n) {
  float4 me = p[GID], f = make_float4(0, 0, 0, 0);
  LOOP for (int j = 0; j < n; j++) {
    float4 o = p[j]; float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    float dx2 = dx * dx, dy2 = dy * dy, dz2 = dz * dz; float r2 = dx2 + dy2 + dz2 + 0.01f;
    float inv = rsqrtf(r2), inv3 = inv * inv * inv, s = o.w * inv3; float fx = dx * s, fy = dy * s, fz = dz * s;
    f.x += fx; f.y += fy; f.z += fz;
  }
  out[GID] = f;
}
// launch: complex_mul grid=2 block=64 args=a,b,out,12 fill=f32
KERNEL complex_mul(const float2 *a, const float2 *b, float2 *out, int n) {
  float2 s = make_float2(0, 0);
  LOOP for (int i = 0; i < n; i++) { float2 x = a[GID + i], y = b[i]; float ac = x.x * y.x, bd = x.y * y.y, ad = x.x * y.y, bc = x.y * y.x; float re = ac - bd, im = ad + bc; s.x += re; s.y += im; }
  out[GID] = s;
}
// launch: euler_flux grid=2 block=64 args=a,out,12 fill=f32
KERNEL euler_flux(const float *a, float *out, int n) {
  float acc = 0;
  LOOP for (int i = 0; i < n; i++) {
    float rho = a[GID + i] + 2.0f, u = a[GID + i + 1], v = a[GID + i + 2], e = a[GID + i + 3] + 10.0f;
    float ru = rho * u, rv = rho * v; float ke = 0.5f * (ru * u + rv * v); float p = 0.4f * (e - ke);
    float f0 = ru, f1 = ru * u + p, f2 = ru * v, f3 = (e + p) * u; acc += f0 + f1 * 0.5f + f2 * 0.25f + f3 * 0.125f + rv;
  }
  out[GID] = acc;
}
// launch: matrix_inverse3 grid=2 block=64 args=a,out fill=f32
KERNEL matrix_inverse3(const float *a, float *out) {
  const float *m = a + GID * 9; float *o = out + GID * 9;
  float c00 = m[4] * m[8] - m[5] * m[7], c01 = m[5] * m[6] - m[3] * m[8], c02 = m[3] * m[7] - m[4] * m[6];
  float d0 = m[0] * c00, d1 = m[1] * c01, d2 = m[2] * c02; float det = d0 + d1 + d2, r = 1.0f / (det + 3.0f);
  o[0] = c00 * r; o[1] = (m[2] * m[7] - m[1] * m[8]) * r; o[2] = (m[1] * m[5] - m[2] * m[4]) * r;
  o[3] = c01 * r; o[4] = (m[0] * m[8] - m[2] * m[6]) * r; o[5] = (m[2] * m[3] - m[0] * m[5]) * r;
  o[6] = c02 * r; o[7] = (m[1] * m[6] - m[0] * m[7]) * r; o[8] = (m[0] * m[4] - m[1] * m[3]) * r;
}
// launch: shallow_water grid=2 block=64 args=a,b,c,out,12 fill=f32
KERNEL shallow_water(const float *h, const float *hu, const float *hv, float *out, int n) {
  float acc = 0;
  LOOP for (int i = 1; i <= n; i++) {
    float H = fabsf(h[GID + i]) + 1.0f, U = hu[GID + i] / H, V = hv[GID + i] / H, g = 9.81f;
    float gh = 0.5f * g * H; float gh2 = gh * H; float fu = hu[GID + i] * U; float fv = hu[GID + i] * V; float F = fu + gh2; float c = sqrtf(g * H); float lam = fabsf(U) + c;
    acc += F + fv + lam;
  }
  out[GID] = acc;
}
// launch: quat_rotate grid=2 block=64 args=a,b,out,8 fill=f32
KERNEL quat_rotate(const float4 *q, const float4 *v, float4 *out, int n) {
  float4 r = v[GID];
  LOOP for (int i = 0; i < n; i++) {
    float4 k = q[i]; float xx = k.x * k.x, yy = k.y * k.y, zz = k.z * k.z, xy = k.x * k.y, xz = k.x * k.z, yz = k.y * k.z, wx = k.w * k.x, wy = k.w * k.y, wz = k.w * k.z;
    float4 t; t.x = (1 - 2 * (yy + zz)) * r.x + 2 * (xy - wz) * r.y + 2 * (xz + wy) * r.z;
    t.y = 2 * (xy + wz) * r.x + (1 - 2 * (xx + zz)) * r.y + 2 * (yz - wx) * r.z; t.z = 2 * (xz - wy) * r.x + 2 * (yz + wx) * r.y + (1 - 2 * (xx + yy)) * r.z; t.w = r.w; r = t;
  }
  out[GID] = r;
}
struct vec3 { float x, y, z; };
__device__ float dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ vec3 operator*(vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ vec3 operator+(vec3 a, vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ vec3 operator-(vec3 a, vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
// launch: raymarch grid=2 block=64 args=a,out,16 fill=f32
KERNEL raymarch(const float *a, float *out, int n) {
  vec3 o = {a[GID], a[GID + 1], -3.0f}, d = {a[GID + 2] * 0.1f, a[GID + 3] * 0.1f, 1.0f}; float t = 0;
  LOOP for (int i = 0; i < n; i++) { vec3 p = o + d * t; float s = sqrtf(dot(p, p)) - 1.0f; float pl = p.y + 1.0f; float m = fminf(s, pl); if (m < 0.001f) break; t += m; }
  out[GID] = t;
}
// launch: reflect_chain grid=2 block=64 args=a,b,out,12 fill=f32
KERNEL reflect_chain(const vec3 *a, const vec3 *b, vec3 *out, int n) {
  vec3 v = a[GID];
  LOOP for (int i = 0; i < n; i++) { vec3 m = b[i]; v = v - m * (2.0f * dot(v, m)); }
  out[GID] = v;
}
// launch: kahan_poly grid=2 block=64 args=a,out,16 fill=f32
KERNEL kahan_poly(const double *a, double *out, int n) {
  double s = 0, x = a[GID] * 1e-3;
  LOOP for (int i = 0; i < n; i++) { double t = s * x; double c = a[i] * 0.5; s = t + c; }
  out[GID] = s;
}
