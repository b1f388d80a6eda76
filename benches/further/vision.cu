// Operators of detectors and of nets on point clouds: sampled, pooled and correlated images, boxes and polygons, neighbours, losses.
#include "../corpus/common.h"

template <typename T> __device__ T bilinear(const T *in, int h, int w, T y, T x) {
  if (y < -1.0f || y > h || x < -1.0f || x > w) return 0;
  if (y <= 0) y = 0;
  if (x <= 0) x = 0;
  int y0 = (int)y, x0 = (int)x, y1, x1;
  if (y0 >= h - 1) { y1 = y0 = h - 1; y = (T)y0; } else y1 = y0 + 1;
  if (x0 >= w - 1) { x1 = x0 = w - 1; x = (T)x0; } else x1 = x0 + 1;
  T ly = y - y0, lx = x - x0, hy = 1 - ly, hx = 1 - lx;
  return hy * hx * in[y0 * w + x0] + hy * lx * in[y0 * w + x1] + ly * hx * in[y1 * w + x0] + ly * lx * in[y1 * w + x1];
}
// launch: v_roi_align grid=2 block=64 args=a,b,out,128,4,12,12,2,2 fill=f32
KERNEL v_roi_align(const float *in, const float *rois, float *out, int n, int channels, int h, int w, int ph, int pw) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    int x = i % pw, y = (i / pw) % ph, c = (i / pw / ph) % channels, r = i / pw / ph / channels;
    const float *roi = rois + r * 5;
    float x0 = roi[1] * 4 - 0.5f, y0 = roi[2] * 4 - 0.5f, rw = fmaxf(roi[3] * 8 - x0, 1.f), rh = fmaxf(roi[4] * 8 - y0, 1.f);
    float bh = rh / ph, bw = rw / pw;
    const float *src = in + ((int)fabsf(roi[0]) % 2 * channels + c) * h * w;
    int gh = (int)ceilf(rh / ph), gw = (int)ceilf(rw / pw); gh = min(gh, 3); gw = min(gw, 3);
    const float count = max(gh * gw, 1);
    float s = 0;
    LOOP for (int iy = 0; iy < gh; iy++) {
      const float yy = y0 + y * bh + (iy + .5f) * bh / gh;
      LOOP for (int ix = 0; ix < gw; ix++) { const float xx = x0 + x * bw + (ix + .5f) * bw / gw; s += bilinear(src, h, w, yy, xx); }
    }
    out[i] = s / count;
  }
}
// launch: v_roi_pool grid=2 block=64 args=a,b,out,c,128,4,12,12,2,2 fill=f32
KERNEL v_roi_pool(const float *in, const float *rois, float *out, int *arg, int n, int channels, int h, int w, int ph, int pw) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    int x = i % pw, y = (i / pw) % ph, c = (i / pw / ph) % channels, r = i / pw / ph / channels;
    const float *roi = rois + r * 5;
    float x0 = roundf(roi[1] * 4), y0 = roundf(roi[2] * 4), rw = fmaxf(roi[3] * 8 - x0 + 1, 1.f), rh = fmaxf(roi[4] * 8 - y0 + 1, 1.f);
    float bh = rh / ph, bw = rw / pw;
    int hs = min(max((int)floorf(y * bh + y0), 0), h), he = min(max((int)ceilf((y + 1) * bh + y0), 0), h);
    int ws = min(max((int)floorf(x * bw + x0), 0), w), we = min(max((int)ceilf((x + 1) * bw + x0), 0), w);
    bool empty = he <= hs || we <= ws;
    float best = empty ? 0 : -3.4e38f; int at = -1;
    const float *src = in + c * h * w;
    LOOP for (int yy = hs; yy < he; ++yy)
      LOOP for (int xx = ws; xx < we; ++xx) { int k = yy * w + xx; if (src[k] > best) { best = src[k]; at = k; } }
    out[i] = best; if (arg) arg[i] = at;
  }
}
// launch: v_psroi_hwc grid=2 block=64 args=a,b,out,128,8,12,12,2 fill=f32
KERNEL v_psroi_hwc(const float *in, const float *rois, float *out, int n, int channels, int h, int w, int p) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    int c = i % channels, x = (i / channels) % p, y = (i / channels / p) % p, r = i / channels / p / p;
    int x0 = abs((int)(rois[r * 4] * 4)) % w, y0 = abs((int)(rois[r * 4 + 1] * 4)) % h, x1 = min(w, x0 + 4 + x), y1 = min(h, y0 + 3 + y);
    float s = 0;
    LOOP for (int yy = y0; yy < y1; yy++)
      LOOP for (int xx = x0; xx < x1; xx++) s += in[(yy * w + xx) * channels + c];
    out[((r * p + y) * p + x) * channels + c] = (x1 > x0 && y1 > y0) ? s / ((x1 - x0) * (y1 - y0)) : 0;
  }
}
// launch: v_deform_im2col grid=2 block=64 args=a,b,out,128,10,10,3,3,1,1,2,10,10 fill=f32
KERNEL v_deform_im2col(const float *im, const float *off, float *col, int n, int h, int w, int kh, int kw, int pad, int stride, int channels, int ho, int wo) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    const int wc = i % wo, hc = (i / wo) % ho, c = (i / wo) / ho;
    const int hin = hc * stride - pad, win = wc * stride - pad;
    float *dst = col + (c * kh * kw * ho + hc) * wo + wc;
    const float *src = im + c * h * w;
    LOOP for (int a = 0; a < kh; ++a)
      LOOP for (int b = 0; b < kw; ++b) {
        const int oh = ((2 * (a * kw + b)) * ho + hc) * wo + wc, ow = ((2 * (a * kw + b) + 1) * ho + hc) * wo + wc;
        float y = hin + a + off[oh] * .1f, x = win + b + off[ow] * .1f, v = 0;
        if (y > -1 && x > -1 && y < h && x < w) v = bilinear(src, h, w, y, x);
        *dst = v; dst += ho * wo;
      }
  }
}
// launch: v_correlation grid=4 block=32,2 args=a,b,out,8,8,40,3,5 fill=f32
KERNEL v_correlation(const float *a, const float *b, float *out, int h, int w, int C, int patch, int k) {
  const int y = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (y >= h) return;
  const int r = patch / 2, kr = k / 2;
  LOOP for (int py = 0; py < patch; py++)
    LOOP for (int px = 0; px < patch; px++) {
      float s = 0;
      LOOP for (int i = 0; i < k; i++) {
        int y1 = y + i - kr, y2 = y1 + py - r;
        if (y1 >= 0 && y1 < h && y2 >= 0 && y2 < h)
          LOOP for (int j = 0; j < k; j++) {
            int x1 = 3 + j - kr, x2 = x1 + px - r;
            if (x1 >= 0 && x1 < w && x2 >= 0 && x2 < w)
              LOOP for (int c = lane; c < C; c += 32) s += a[(y1 * w + x1) * C + c] * b[(y2 * w + x2) * C + c];
          }
      }
      LOOP for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(0xffffffff, s, o);
      if (lane == 0) out[(py * patch + px) * h + y] = s;
    }
}
__device__ int loc(int n, int c, int y, int x, int C, int H, int W) { return x + (y + (c + n * C) * H) * W; }
// launch: v_carafe grid=2 block=64 args=a,b,out,128,5,2,8,8,2 fill=f32
KERNEL v_carafe(const float *in, const float *masks, float *out, int n, int k, int groups, int h, int w, int C) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    int W = w * 2, H = h * 2, pw = i % W, ph = (i / W) % H, c = (i / W / H) % C, b = i / W / H / C;
    int mg = c / (C / groups), dw = pw / 2, dh = ph / 2;
    int sw = dw - (k - 1) / 2, ew = dw + (k - 1) / 2 + 1, sh = dh - (k - 1) / 2, eh = dh + (k - 1) / 2 + 1;
    float v = 0;
    LOOP for (int iy = sh; iy < eh; iy++)
      LOOP for (int ix = sw; ix < ew; ix++) {
        if (iy < 0 || iy > h - 1 || ix < 0 || ix > w - 1) continue;
        int my = iy - dh + (k - 1) / 2, mx = ix - dw + (k - 1) / 2, mc = (mg * k + my) * k + mx;
        v += in[loc(b, c, iy, ix, C, h, w)] * masks[loc(b, mc, ph, pw, k * k * groups, H, W)];
      }
    out[i] = v;
  }
}
// launch: v_psamask grid=2 block=64 args=a,out,128,8,8,5,5 fill=f32
KERNEL v_psamask(const float *mask, float *buf, int n, int h, int w, int mh, int mw) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    const int x = i % w, y = (i / w) % h, b = i / w / h, hh = (mh - 1) / 2, hw = (mw - 1) / 2;
    const int ys = max(0, hh - y), ye = min(mh, h + hh - y), xs = max(0, hw - x), xe = min(mw, w + hw - x);
    LOOP for (int a = ys; a < ye; a++)
      LOOP for (int c = xs; c < xe; c++)
        buf[((b * h * w + (a + y - hh) * w + (c + x - hw)) * h + y) * w + x] = mask[((b * mh * mw + a * mw + c) * h + y) * w + x];
  }
}
// launch: v_ball_query grid=2 block=64 args=a,b,out,64,8 fill=f32
KERNEL v_ball_query(const float *centers, const float *xyz, int *idx, int n, int ns) {
  const int i = GID; if (i >= 128) return;
  const float *q = centers + i * 3; idx += i * ns;
  float cx = q[0], cy = q[1], cz = q[2]; int cnt = 0;
  LOOP for (int k = 0; k < n; ++k) {
    float x = xyz[k * 3], y = xyz[k * 3 + 1], z = xyz[k * 3 + 2];
    float d = (cx - x) * (cx - x) + (cy - y) * (cy - y) + (cz - z) * (cz - z);
    if (d == 0 || d < 1.f) {
      if (cnt == 0) { LOOP for (int l = 0; l < ns; ++l) idx[l] = k; }
      idx[cnt] = k; ++cnt;
      if (cnt >= ns) break;
    }
  }
}
__device__ void reheap(float *d, int *idx, int k) {
  int root = 0, child = 1;
  LOOP while (child < k) {
    if (child + 1 < k && d[child + 1] > d[child]) child++;
    if (d[root] > d[child]) return;
    float t = d[root]; d[root] = d[child]; d[child] = t;
    int u = idx[root]; idx[root] = idx[child]; idx[child] = u;
    root = child; child = root * 2 + 1;
  }
}
// launch: v_knn grid=1 block=64 args=a,b,out,64,8 fill=f32
KERNEL v_knn(const float *q, const float *xyz, int *out, int n, int k) {
  const int i = GID; float best[16]; int at[16];
  LOOP for (int j = 0; j < k; j++) { best[j] = 1e10f; at[j] = 0; }
  float x = q[i * 3], y = q[i * 3 + 1], z = q[i * 3 + 2];
  LOOP for (int j = 0; j < n; j++) {
    float dx = x - xyz[j * 3], dy = y - xyz[j * 3 + 1], dz = z - xyz[j * 3 + 2], d = dx * dx + dy * dy + dz * dz;
    if (d < best[0]) { best[0] = d; at[0] = j; reheap(best, at, k); }
  }
  LOOP for (int j = k - 1; j > 0; j--) {
    float t = best[0]; best[0] = best[j]; best[j] = t; int u = at[0]; at[0] = at[j]; at[j] = u;
    reheap(best, at, j);
  }
  LOOP for (int j = 0; j < k; j++) out[i * k + j] = at[j];
}
// launch: v_three_nn grid=1 block=64 args=a,b,out,c,64 fill=f32
KERNEL v_three_nn(const float *u, const float *known, float *dist, int *idx, int m) {
  int i = GID; float ux = u[i * 3], uy = u[i * 3 + 1], uz = u[i * 3 + 2];
  float b1 = 3e38f, b2 = 3e38f, b3 = 3e38f; int i1 = 0, i2 = 0, i3 = 0;
  LOOP for (int k = 0; k < m; ++k) {
    float x = known[k * 3], y = known[k * 3 + 1], z = known[k * 3 + 2];
    float d = (ux - x) * (ux - x) + (uy - y) * (uy - y) + (uz - z) * (uz - z);
    if (d < b1) { b3 = b2; i3 = i2; b2 = b1; i2 = i1; b1 = d; i1 = k; }
    else if (d < b2) { b3 = b2; i3 = i2; b2 = d; i2 = k; }
    else if (d < b3) { b3 = d; i3 = k; }
  }
  dist[i * 3] = b1; dist[i * 3 + 1] = b2; dist[i * 3 + 2] = b3; idx[i * 3] = i1; idx[i * 3 + 1] = i2; idx[i * 3 + 2] = i3;
}
// launch: v_fps grid=1 block=64 args=a,b,out,128,6 fill=f32
KERNEL v_fps(const float *set, float *temp, int *idxs, int n, int m) {
  __shared__ float dists[64]; __shared__ int dists_i[64];
  int tid = threadIdx.x, old = 0; if (tid == 0) idxs[0] = old;
  __syncthreads();
  LOOP for (int j = 1; j < m; j++) {
    int besti = 0; float best = -1, x1 = set[old * 3], y1 = set[old * 3 + 1], z1 = set[old * 3 + 2];
    LOOP for (int k = tid; k < n; k += 64) {
      float x2 = set[k * 3], y2 = set[k * 3 + 1], z2 = set[k * 3 + 2];
      float d = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1) + (z2 - z1) * (z2 - z1);
      float d2 = min(d, temp[k]); temp[k] = d2;
      besti = d2 > best ? k : besti; best = d2 > best ? d2 : best;
    }
    dists[tid] = best; dists_i[tid] = besti;
    __syncthreads();
    LOOP for (int s = 32; s > 0; s >>= 1) {
      if (tid < s) { float v1 = dists[tid], v2 = dists[tid + s]; int a = dists_i[tid], b = dists_i[tid + s]; dists[tid] = max(v1, v2); dists_i[tid] = v2 > v1 ? b : a; }
      __syncthreads();
    }
    old = dists_i[0]; if (tid == 0) idxs[j] = old;
    __syncthreads();
  }
}
// launch: v_group_points grid=2 block=64 args=a,b,out,128,4,32,4 fill=f32
KERNEL v_group_points(const float *pts, const unsigned *idx, float *out, int n, int C, int N, int ns) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    const int s = i % ns, p = (i / ns) % 8, c = (i / ns / 8) % C, b = i / ns / 8 / C;
    int at = idx[(b * 8 + p) * ns + s] % N;
    out[((b * C + c) * 8 + p) * ns + s] = pts[(b * C + c) * N + at];
  }
}
// launch: v_iou grid=2 block=64 args=a,b,out,64,2 fill=f32
KERNEL v_iou(const float *b1, const float *b2, float *out, int n, int mode) {
  LOOP for (int i = GID; i < n * n; i += blockDim.x * gridDim.x) {
    const int a = i / n, b = i % n;
    float4 p = ((const float4 *)b1)[a], q = ((const float4 *)b2)[b];
    float l = fmaxf(p.x, q.x), r = fminf(p.z, q.z), t = fmaxf(p.y, q.y), bt = fminf(p.w, q.w);
    float w = fmaxf(r - l, 0.f), h = fmaxf(bt - t, 0.f), inter = w * h, aa = (p.z - p.x) * (p.w - p.y), bb = (q.z - q.x) * (q.w - q.y);
    float base = mode == 0 ? aa + bb - inter : aa;
    out[i] = inter / fmaxf(base, 1e-3f);
  }
}
struct Pt { float x, y; };
__device__ float crs(Pt a, Pt b) { return a.x * b.y - b.x * a.y; }
__device__ Pt sub(Pt a, Pt b) { return {a.x - b.x, a.y - b.y}; }
// launch: v_rotated grid=1 block=32 args=a,b,out fill=f32
KERNEL v_rotated(const float *b1, const float *b2, float *out) {
  int i = GID; Pt p[4], q[4], v1[4], v2[4], inter[24]; int num = 0;
  LOOP for (int s = 0; s < 2; s++) {
    const float *b = s ? b2 + i * 5 : b1 + i * 5; Pt *o = s ? q : p;
    float c = cosf(b[4]) * .5f, d = sinf(b[4]) * .5f;
    o[0] = {b[0] - d * b[3] - c * b[2], b[1] + c * b[3] - d * b[2]}; o[1] = {b[0] + d * b[3] - c * b[2], b[1] - c * b[3] - d * b[2]};
    o[2] = {2 * b[0] - o[0].x, 2 * b[1] - o[0].y}; o[3] = {2 * b[0] - o[1].x, 2 * b[1] - o[1].y};
  }
  LOOP for (int k = 0; k < 4; k++) { v1[k] = sub(p[(k + 1) % 4], p[k]); v2[k] = sub(q[(k + 1) % 4], q[k]); }
  LOOP for (int a = 0; a < 4; a++)
    LOOP for (int b = 0; b < 4; b++) {
      float det = crs(v2[b], v1[a]); if (fabsf(det) <= 1e-14f) continue;
      Pt v = sub(q[b], p[a]); float t1 = crs(v2[b], v) / det, t2 = crs(v1[a], v) / det;
      if (t1 >= 0 && t1 <= 1 && t2 >= 0 && t2 <= 1) { inter[num++] = {p[a].x + v1[a].x * t1, p[a].y + v1[a].y * t1}; }
    }
  float area = 0;
  LOOP for (int k = 1; k + 1 < num; k++) area += fabsf(crs(sub(inter[k], inter[0]), sub(inter[k + 1], inter[0])));
  out[i] = area * .5f;
}
// launch: v_nms grid=2 block=64 args=a,out,100 fill=f32
KERNEL v_nms(const float *boxes, unsigned long long *mask, int n) {
  const int row = blockIdx.x, col = 0, tid = threadIdx.x;
  const int rs = min(n - row * 64, 64), cs = min(n - col * 64, 64);
  __shared__ float blk[64 * 4];
  if (tid < cs) { LOOP for (int k = 0; k < 4; k++) blk[tid * 4 + k] = boxes[(64 * col + tid) * 4 + k]; }
  __syncthreads();
  if (tid < rs) {
    const int cur = 64 * row + tid; const float *c = boxes + cur * 4; unsigned long long t = 0; int start = row == col ? tid + 1 : 0;
    LOOP for (int i = start; i < cs; i++) {
      float l = max(c[0], blk[i * 4]), r = min(c[2], blk[i * 4 + 2]), tp = max(c[1], blk[i * 4 + 1]), b = min(c[3], blk[i * 4 + 3]);
      float w = max(r - l, 0.f), h = max(b - tp, 0.f), in = w * h;
      float sa = (c[2] - c[0]) * (c[3] - c[1]), sb = (blk[i * 4 + 2] - blk[i * 4]) * (blk[i * 4 + 3] - blk[i * 4 + 1]);
      if (in > .3f * (sa + sb - in)) t |= 1ULL << i;
    }
    mask[cur * 2 + col] = t;
  }
}
// launch: v_in_polygon grid=2 block=64 args=a,b,out,16 fill=f32
KERNEL v_in_polygon(const float *pts, const float *polys, float *out, int cols) {
  const int i = GID, row = i / cols, col = i % cols; float x = pts[row * 2], y = pts[row * 2 + 1], lx, ly, rx, ry; int cross = 0; float b = 0;
  const float *pg = polys + col * 8;
  LOOP for (int k = 0, j = 3; k < 4; j = k++) {
    lx = pg[k * 2]; ly = pg[k * 2 + 1]; rx = pg[j * 2]; ry = pg[j * 2 + 1];
    if ((lx == x && ly == y) || (rx == x && ry == y)) break;
    if ((ly < y && ry >= y) || (ly >= y && ry < y)) {
      float vx = (rx - lx) * (y - ly) / (ry - ly) + lx;
      if (vx == x) { cross = 1; break; }
      if (vx > x) b += 1;
    }
  }
  out[i] = cross ? 1 : ((int)b & 1);
}
// launch: v_in_boxes grid=1 block=64 args=a,b,out,16 fill=f32
KERNEL v_in_boxes(const float *boxes, const float *pts, int *idx, int nb) {
  int p = GID; float x = pts[p * 3], y = pts[p * 3 + 1], z = pts[p * 3 + 2]; int found = -1;
  LOOP for (int k = 0; k < nb; k++) {
    const float *b = boxes + k * 7; float cx = b[0], cy = b[1], cz = b[2], xs = fabsf(b[3]), ys = fabsf(b[4]), zs = fabsf(b[5]), rz = b[6];
    cz += zs / 2;
    if (fabsf(z - cz) > zs / 2) continue;
    float ca = __cosf(-rz), sa = __sinf(-rz), dx = x - cx, dy = y - cy, lx = dx * ca + dy * -sa, ly = dx * sa + dy * ca;
    if (lx > -xs / 2 && lx < xs / 2 && ly > -ys / 2 && ly < ys / 2) { found = k; break; }
  }
  idx[p] = found;
}
// launch: v_voxel grid=1 block=64 args=a,out,64,4 fill=f32
KERNEL v_voxel(const float *pts, int *coors, int n, int nd) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    const float *p = pts + i * nd; int *c = coors + i * 3;
    int cx = floorf((p[0] + 3) / .5f), cy = floorf((p[1] + 3) / .5f), cz = floorf((p[2] + 3) / 1.f);
    if (cx < 0 || cx >= 12) { c[0] = -1; continue; }
    if (cy < 0 || cy >= 12) { c[0] = -1; c[1] = -1; continue; }
    if (cz < 0 || cz >= 6) { c[0] = -1; c[1] = -1; c[2] = -1; } else { c[0] = cz; c[1] = cy; c[2] = cx; }
  }
}
// launch: v_focal grid=2 block=64 args=a,b,out,128,8 fill=f32
KERNEL v_focal(const float *in, const unsigned *target, float *out, int n, int classes) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    int row = i / classes, c = i % classes, t = target[row] % (classes + 1);
    float fp = (t == c), fn = (t != c), p = 1.f / (1.f + expf(-in[i]));
    float tp = (1.f - p) * (1.f - p) * logf(fmaxf(p, 1.17e-38f)), tn = p * p * logf(fmaxf(1.f - p, 1.17e-38f));
    out[i] = -fp * .25f * tp - fn * .75f * tn;
  }
}
// launch: v_tin_shift grid=1 block=64 args=a,b,out,4,6,8 fill=f32
KERNEL v_tin_shift(const float *in, const unsigned *shift, float *out, int groups, int T, int HW) {
  const int hw = GID % HW, g = (GID / HW) % groups, n = GID / HW / groups, s = (int)(shift[g] % 5) - 2;
  LOOP for (int i = 0; i < T; i++) {
    int now = i + s, at = n * T * groups * HW + i * groups * HW + g * HW + hw;
    if (now < 0 || now >= T) continue;
    out[at] = in[n * T * groups * HW + now * groups * HW + g * HW + hw];
  }
}
// launch: v_assign_score grid=2 block=64 args=a,b,out,4,8,4,4 fill=f32
KERNEL v_assign_score(const float *points, const float *scores, float *out, int N, int K, int M, int O) {
  int i = GID, k = i % 4, o = (i / 4) % O, n = (i / 4 / O) % N, b = i / 4 / O / N;
  float s = 0;
  LOOP for (int m = 0; m < M; m++)
    LOOP for (int a = 0; a < 3; a++) s += points[((b * N + n) * M + m) * O * 3 + a * O + o] * scores[((b * N + n) * K + (k + a) % K) * M + m];
  out[i] = s;
}
// launch: v_upfirdn grid=2 block=64 args=a,b,out,128,8,8,2,1,4 fill=f32
KERNEL v_upfirdn(const float *x, const float *f, float *y, int n, int W, int H, int up, int down, int k) {
  LOOP for (int i = GID; i < n; i += blockDim.x * gridDim.x) {
    int ox = i % (W * up), oy = i / (W * up), midY = oy * down + up - 1 - 1, midX = ox * down + up - 1 - 1;
    int iy = min(max((int)floorf((float)midY / up), 0), H), ix = min(max((int)floorf((float)midX / up), 0), W);
    int hh = min(max((midY + k) / up, 0), H) - iy, ww = min(max((midX + k) / up, 0), W) - ix;
    int fy = midY + k - (iy + 1) * up, fx = midX + k - (ix + 1) * up;
    const float *xp = x + ix + iy * W, *fp = f + (fx & 3) + (fy & 3) * k; float v = 0;
    LOOP for (int a = 0; a < hh; a++) {
      LOOP for (int b = 0; b < ww; b++) { v += *xp * *fp; xp++; fp -= up; }
      xp += W - ww; fp += up * ww - up * k;
    }
    y[i] = v;
  }
}
// launch: v_ms_deform grid=1 block=64 args=a,b,c,out,2,3,4 fill=f32
KERNEL v_ms_deform(const float *value, const float *locs, const float *weights, float *out, int heads, int levels, int points) {
  int i = GID, c = i % 8, m = (i / 8) % heads, q = i / 8 / heads; int lp = (q * heads + m) * levels * points, wp = lp * 2; float acc = 0; int base = 0;
  LOOP for (int l = 0; l < levels; l++) {
    int h = 8 >> l, w = 8 >> l; const float *v = value + base * heads * 8;
    LOOP for (int p = 0; p < points; p++) {
      float x = fabsf(locs[wp]) * w - .5f, y = fabsf(locs[wp + 1]) * h - .5f, wt = weights[lp];
      if (y > -1 && x > -1 && y < h && x < w) {
        int y0 = floorf(y), x0 = floorf(x), y1 = y0 + 1, x1 = x0 + 1; float ly = y - y0, lx = x - x0, hy = 1 - ly, hx = 1 - lx;
        int ws = heads * 8, hs = w * ws, b = m * 8 + c; float v1 = 0, v2 = 0, v3 = 0, v4 = 0;
        if (y0 >= 0 && x0 >= 0) v1 = v[y0 * hs + x0 * ws + b];
        if (y0 >= 0 && x1 <= w - 1) v2 = v[y0 * hs + x1 * ws + b];
        if (y1 <= h - 1 && x0 >= 0) v3 = v[y1 * hs + x0 * ws + b];
        if (y1 <= h - 1 && x1 <= w - 1) v4 = v[y1 * hs + x1 * ws + b];
        acc += (hy * hx * v1 + hy * lx * v2 + ly * hx * v3 + ly * lx * v4) * wt;
      }
      wp += 2; lp += 1;
    }
    base += h * w;
  }
  out[i] = acc;
}
// launch: v_hwc_conv grid=2 block=64 args=a,b,out,6,6,8,4,3 fill=f32
KERNEL v_hwc_conv(const float *in, const float *w, float *out, int H, int W, int C, int K, int ks) {
  int i = GID, k = i % K, x = (i / K) % W, y = i / K / W; if (y >= H) return;
  float s = 0;
  LOOP for (int r = 0; r < ks; r++)
    LOOP for (int t = 0; t < ks; t++) {
      int yy = y + r - ks / 2, xx = x + t - ks / 2;
      if (yy < 0 || yy >= H || xx < 0 || xx >= W) continue;
      LOOP for (int c = 0; c < C; c++) s += in[(yy * W + xx) * C + c] * w[((r * ks + t) * C + c) * K + k];
    }
  out[i] = s;
}
// launch: v_scatter_mean grid=1 block=64 args=a,b,out,64,8 fill=f32
KERNEL v_scatter_mean(const float *feats, const unsigned *map, float *out, int n, int F) {
  LOOP for (int v = GID; v < 16; v += blockDim.x * gridDim.x)
    LOOP for (int f = 0; f < F; f++) {
      float s = 0; int cnt = 0;
      LOOP for (int i = 0; i < n; i++) if (map[i] % 16 == (unsigned)v) { s += feats[i * F + f]; cnt++; }
      out[v * F + f] = cnt ? s / cnt : 0;
    }
}
// launch: v_bn_param grid=4 block=32 args=a,out,4,4,12 fill=f32
KERNEL v_bn_param(const float *x, float *mean, int N, int C, int S) {
  int c = blockIdx.x, tid = threadIdx.x; float s = 0, q = 0;
  LOOP for (int i = tid; i < N * S; i += 32) { int at = (i / S) * C * S + c * S + i % S; float v = x[at]; s += v; q += v * v; }
  LOOP for (int o = 16; o; o >>= 1) { s += __shfl_xor_sync(~0u, s, o); q += __shfl_xor_sync(~0u, q, o); }
  if (tid == 0) { float m = s / (N * S); mean[c] = m; mean[C + c] = q / (N * S) - m * m; }
}
