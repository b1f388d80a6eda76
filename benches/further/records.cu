// Loops over arrays of structs.
#include "../corpus/common.h"

struct Particle { float x, y, z, mass; };
struct Edge { int from, to; float weight; };
struct Box { float x0, y0, x1, y1; int kind; };
struct Node { int left, right; float split; int axis; };
struct Complex { float re, im; };
__device__ inline Complex operator*(const Complex &a, const Complex &b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ inline Complex operator+(const Complex &a, const Complex &b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline float norm(const Complex &a) { return a.re * a.re + a.im * a.im; }

// launch: records_gravity grid=4 block=64 n=64 fill=f32
KERNEL records_gravity(const Particle *a, const float *b, Particle *out, int n) {
  int i = GID;
  Particle p = a[i], force = {0, 0, 0, 0};
  LOOP for (int k = 0; k < n; ++k) {
    Particle q = a[k];
    float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float s = q.mass * inverse * inverse * inverse;
    force.x += dx * s;
    force.y += dy * s;
    force.z += dz * s;
  }
  out[i] = force;
}

// launch: records_edges grid=4 block=128 n=32 fill=u32
KERNEL records_edges(const Edge *a, const unsigned *b, unsigned *out, int n) {
  int i = GID;
  unsigned sum = 0;
  LOOP for (int k = 0; k < n; ++k) {
    Edge e = a[(i + k * 16) & 4095];
    if ((e.from & 3) == (e.to & 3)) sum += b[e.to & 4095];
    else sum ^= (unsigned)e.from;
  }
  out[i] = sum;
}

// launch: records_boxes grid=4 block=128 n=48 fill=f32
KERNEL records_boxes(const Box *a, const float2 *b, int *out, int n) {
  int i = GID, hits = 0, last = -1;
  float2 p = b[i];
  LOOP for (int k = 0; k < n; ++k) {
    const Box &box = a[k];
    if (p.x >= box.x0 && p.x < box.x1 && p.y >= box.y0 && p.y < box.y1) {
      ++hits;
      last = box.kind;
    }
  }
  out[i] = hits * 1000 + (last & 255);
}

// launch: records_tree grid=4 block=128 n=1024 fill=u32
KERNEL records_tree(const Node *a, const float *b, int *out, int n) {
  int i = GID, at = i & 63, depth = 0;
  LOOP while (depth < 20) {
    Node node = a[at];
    if ((node.axis & 15) == 7) break;
    at = (b[(i + (node.axis & 3)) & 1023] < node.split ? node.left : node.right) & (n - 1);
    ++depth;
  }
  out[i] = at * 32 + depth;
}

// launch: records_julia grid=16 block=16,16 n=64 fill=f32
KERNEL records_julia(const float *a, const float *b, int *out, int n) {
  int x = (blockIdx.x % 4) * 16 + threadIdx.x, y = (blockIdx.x / 4) * 16 + threadIdx.y;
  Complex z = {1.5f * (x - n / 2) / (n / 2), 1.5f * (y - n / 2) / (n / 2)}, c = {-0.8f, 0.156f};
  int k = 0;
  LOOP for (; k < 100; ++k) {
    z = z * z + c;
    if (norm(z) > 4) break;
  }
  out[y * n + x] = k;
}

// launch: records_polynomial grid=8 block=128 n=16 fill=f32
KERNEL records_polynomial(const Complex *a, const Complex *b, Complex *out, int n) {
  int i = GID;
  Complex z = {0.1f * a[i].re, 0.1f * a[i].im}, sum = {0, 0};
  LOOP for (int k = 0; k < n; ++k) sum = sum * z + b[k];
  out[i] = sum;
}

// launch: records_springs grid=4 block=64 n=24 fill=f32
KERNEL records_springs(const Particle *a, const float *b, Particle *out, int n) {
  int i = GID;
  Particle p = a[i], v = {0, 0, 0, 1};
  LOOP for (int k = 0; k < n; ++k) {
    float pull = -b[k] * 0.1f;
    v.x += pull * p.x; v.y += pull * p.y; v.z += pull * p.z;
    p.x += 0.01f * v.x; p.y += 0.01f * v.y; p.z += 0.01f * v.z;
    if (p.y < 0) { p.y = -p.y; v.y = -v.y; }
  }
  out[2 * i] = p;
  out[2 * i + 1] = v;
}
