// Random numbers, fractals and walks.
#include "../corpus/common.h"
#include <stdint.h>

struct Xorwow {
  uint32_t x, y, z, w, v, d;
  __device__ explicit Xorwow(uint32_t seed) : x(seed ^ 123456789u), y(362436069u), z(521288629u), w(88675123u), v(5783321u), d(6615241u) {}
  __device__ uint32_t next() {
    uint32_t t = x ^ (x >> 2);
    x = y; y = z; z = w; w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    return (d += 362437) + v;
  }
  __device__ float uniform() { return next() * 2.3283064e-10f; }
};

// launch: pi_xorwow grid=2 block=64 n=50 fill=u32
KERNEL pi_xorwow(const uint32_t *a, const uint32_t *b, float *out, int n) {
  Xorwow rng(a[GID]);
  int hits = 0;
  LOOP for (int i = 0; i < n; ++i) {
    float x = rng.uniform(), y = rng.uniform();
    if (x * x + y * y < 1.0f) hits++;
  }
  out[GID] = 4.0f * (float)hits / (float)n;
}

// launch: option_paths grid=2 block=64 n=16 fill=u32
KERNEL option_paths(const uint32_t *a, const uint32_t *b, float *payoff, int steps) {
  uint64_t s = a[GID] | 1ull << 40;
  auto uniform = [&s]() {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t r = (uint32_t)(((s >> 18u) ^ s) >> 27u), rot = s >> 59u;
    return (float)((r >> rot) | (r << ((-rot) & 31))) * 2.3283064e-10f;
  };
  float price = 100.0f;
  LOOP for (int i = 0; i < steps; ++i) {
    float u1 = fmaxf(uniform(), 1e-7f), u2 = uniform();
    float z = sqrtf(-2.0f * __logf(u1)) * __cosf(6.2831853f * u2);
    price *= __expf(0.0005f + 0.02f * z);
  }
  payoff[GID] = fmaxf(price - 100.0f, 0.0f);
}

struct Complex {
  float re, im;
  __device__ Complex(float r, float i) : re(r), im(i) {}
  __device__ float norm2() const { return re * re + im * im; }
  __device__ Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, im * o.re + re * o.im); }
  __device__ Complex operator+(const Complex &o) const { return Complex(re + o.re, im + o.im); }
};

// launch: julia_class grid=8 block=16,8 n=200 fill=f32
KERNEL julia_class(const float *p, const float *b, unsigned char *out, int limit) {
  int x = threadIdx.x + (blockIdx.x % 2) * 16, y = threadIdx.y + (blockIdx.x / 2) * 8, DIM = 32;
  float jx = 1.5f * (float)(DIM / 2 - x) / (DIM / 2), jy = 1.5f * (float)(DIM / 2 - y) / (DIM / 2);
  Complex c(-0.8f, 0.156f), z(jx, jy);
  int i = 0;
  LOOP for (i = 0; i < limit; i++) {
    z = z * z + c;
    if (z.norm2() > 1000) break;
  }
  out[(x + y * DIM) * 4] = i == limit ? 255 : i;
  out[(x + y * DIM) * 4 + 3] = 255;
}

// launch: mandel_double grid=4 block=64 n=60 fill=f32
KERNEL mandel_double(const float *a, const float *b, int *out, int maxIter) {
  int px = GID & 15, py = GID >> 4;
  double x0 = px / 16.0 * 3.5 - 2.5, y0 = py / 16.0 * 2.0 - 1.0, x = 0.0, y = 0.0, x2 = 0.0, y2 = 0.0;
  int iter = 0;
  LOOP while (x2 + y2 <= 4.0 && iter < maxIter) {
    y = 2 * x * y + y0;
    x = x2 - y2 + x0;
    x2 = x * x;
    y2 = y * y;
    iter++;
  }
  out[GID] = iter;
}

// launch: shuffle_deck grid=2 block=32 n=52 fill=u32
KERNEL shuffle_deck(const uint32_t *a, const uint32_t *b, int *out, int n) {
  unsigned char deck[52];
  uint32_t state = a[GID] | 1u;
  LOOP for (int i = 0; i < 52; ++i) deck[i] = i;
  LOOP for (int i = n - 1; i > 0; --i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    int j = state % (i + 1);
    unsigned char t = deck[i];
    deck[i] = deck[j];
    deck[j] = t;
  }
  int sum = 0;
  LOOP for (int i = 0; i < 5; ++i) sum = sum * 52 + deck[i];
  out[GID] = sum;
}

// launch: walk_lattice grid=2 block=64 n=100 fill=u32
KERNEL walk_lattice(const uint32_t *a, const uint32_t *b, int2 *out, int n) {
  static const __device__ int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
  uint32_t s = a[GID];
  int2 pos = {0, 0};
  LOOP for (int i = 0; i < n; ++i) {
    s = 1664525u * s + 1013904223u;
    int k = s >> 30;
    pos.x += dx[k];
    pos.y += dy[k];
  }
  out[GID] = pos;
}
