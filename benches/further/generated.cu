// What code generators and frameworks write: flat indices, guards, casts.
#include "../corpus/common.h"
#include <stdint.h>
// launch: fused_pointwise grid=2 block=64 args=a,b,c,out,1000 fill=f32
KERNEL fused_pointwise(const float *in0, const float *in1, const float *in2, float *out0, int n) { long xnumel = n;
  long xindex = (long)blockIdx.x * 64 + threadIdx.x; bool xmask = xindex < xnumel; long x0 = xindex % 16, x1 = xindex / 16 % 8, x2 = xindex / 128;
  float t0 = xmask ? in0[x0 + 16 * x2] : 0.0f, t1 = xmask ? in1[x1] : 0.0f, t2 = xmask ? in2[xindex] : 0.0f;
  float t3 = t0 + t1, t4 = t3 * t2, t5 = t4 * t4, t6 = t5 * 0.044715f, t7 = t6 * t4 + t4, t8 = t7 * 0.7978846f, t9 = tanhf(t8), t10 = (t9 + 1.0f) * 0.5f * t4;
  if (xmask) out0[xindex] = t10;
}
// launch: reduce_inner grid=2 block=64 args=a,out,64,20 fill=f32
KERNEL reduce_inner(const float *in0, float *out0, int xnumel, int rnumel) {
  int xindex = GID; if (xindex >= xnumel) return;
  float acc = 0.0f, mx = -INFINITY;
  LOOP for (int r = 0; r < rnumel; r++) { float v = in0[xindex * rnumel + r]; mx = fmaxf(mx, v); }
  LOOP for (int r = 0; r < rnumel; r++) { float v = in0[xindex * rnumel + r]; acc += __expf(v - mx); }
  LOOP for (int r = 0; r < rnumel; r++) { float v = in0[xindex * rnumel + r]; out0[xindex * rnumel + r] = __expf(v - mx) / acc; }
}
// launch: im2col grid=2 block=64 args=a,out,9,9,3,1,1,7 fill=f32
KERNEL im2col(const float *im, float *col, int height, int width, int ksize, int pad, int stride, int wcol) {
  int index = GID; if (index >= 100) return;
  int w_out = index % wcol, h_index = index / wcol, h_out = h_index % wcol, channel = h_index / wcol; int c_out = channel * ksize * ksize, h_in = h_out * stride - pad, w_in = w_out * stride - pad;
  float *p = col + (c_out * wcol + h_out) * wcol + w_out; const float *q = im + (channel * height + h_in) * width + w_in;
  LOOP for (int i = 0; i < ksize; i++) LOOP for (int j = 0; j < ksize; j++) { int h = h_in + i, w = w_in + j; *p = h >= 0 && w >= 0 && h < height && w < width ? q[i * width + j] : 0; p += wcol * wcol; }
}
// launch: strided_copy4 grid=2 block=64 args=a,out,3,5,7,90,18,6,1 fill=f32
KERNEL strided_copy4(const float *a, float *out, int d1, int d2, int d3, int s0, int s1, int s2, int s3) {
  LOOP for (int i = GID; i < 600; i += gridDim.x * blockDim.x) { int r = i; int i3 = r % d3; r /= d3; int i2 = r % d2; r /= d2; int i1 = r % d1; int i0 = r / d1; out[i] = a[i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3]; }
}
// launch: batchnorm_bwd grid=2 block=64 args=a,b,c,out,8,12 fill=f32
KERNEL batchnorm_bwd(const float *x, const float *dy, const float *stat, float *out, int N, int S) {
  int c = GID % 16; float mean = stat[c], inv = fabsf(stat[c + 16]) + 0.1f, s1 = 0, s2 = 0;
  LOOP for (int n = 0; n < N; n++) LOOP for (int s = 0; s < S; s++) { int i = (n * 16 + c) * S + s; float g = dy[i], xh = (x[i] - mean) * inv; s1 += g; s2 += g * xh; }
  LOOP for (int n = 0; n < N; n++) LOOP for (int s = 0; s < S; s++) { int i = (n * 16 + c) * S + s; float xh = (x[i] - mean) * inv; out[i] = inv * (dy[i] - s1 / (N * S) - xh * s2 / (N * S)); }
}
// launch: bilinear_up grid=2 block=64 args=a,out,8,8,16,16 fill=f32
KERNEL bilinear_up(const float *a, float *out, int ih, int iw, int oh, int ow) {
  int i = GID; if (i >= oh * ow) return; int y = i / ow, x = i % ow; float fy = fmaxf((y + 0.5f) * 0.5f - 0.5f, 0.0f), fx = fmaxf((x + 0.5f) * 0.5f - 0.5f, 0.0f);
  int y0 = (int)fy, x0 = (int)fx, y1 = min(y0 + 1, ih - 1), x1 = min(x0 + 1, iw - 1); float wy = fy - y0, wx = fx - x0;
  out[i] = (1 - wy) * ((1 - wx) * a[y0 * iw + x0] + wx * a[y0 * iw + x1]) + wy * ((1 - wx) * a[y1 * iw + x0] + wx * a[y1 * iw + x1]);
}
// launch: scatter_nd grid=2 block=64 args=a,b,out,32,4 fill=u32
KERNEL scatter_nd(const int *idx, const int *upd, int *out, int n, int w) {
  LOOP for (int i = GID; i < n * w; i += 128) { int r = i / w, c = i - r * w, at = idx[r]; if (at < 0) at += 64; at &= 63; atomicAdd(&out[at * w + c], upd[i]); }
}
// launch: cumsum_rows grid=2 block=64 args=a,out,20 fill=f32
KERNEL cumsum_rows(const float *a, float *out, int n) { float s = 0; const float *p = a + (size_t)GID * n; float *q = out + (size_t)GID * n; LOOP for (int i = 0; i < n; ++i) { s += p[i]; q[i] = s; } }
// launch: topk_threshold grid=2 block=64 args=a,out,24,4 fill=f32
KERNEL topk_threshold(const float *a, float *out, int n, int k) {
  const float *p = a + GID * n; float lo = -2.0f, hi = 2.0f;
  LOOP for (int it = 0; it < 12; it++) { float mid = 0.5f * (lo + hi); int c = 0; LOOP for (int i = 0; i < n; i++) c += p[i] > mid; if (c > k) lo = mid; else hi = mid; }
  out[GID] = hi;
}
