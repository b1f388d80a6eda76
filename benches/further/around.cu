// Indices and places that go round: rings, polygons, periodic borders, sums modulo a number, hash tables, the days of a week.
#include "../corpus/common.h"

// launch: ring_buffer grid=2 block=64 args=a,out,40,12 fill=u32
KERNEL ring_buffer(const int *in, int *out, int n, int capacity) {
  int ring[16], head = 0, tail = 0, count = 0, sum = 0;
  LOOP for (int k = 0; k < n; k++) {
    int v = in[(GID * n + k) & 8191];
    if (v & 1 && count < capacity) { ring[head & 15] = v; head = (head + 1) % capacity; count++; }
    else if (count > 0) { sum += ring[tail & 15]; tail = (tail + 1) % capacity; count--; }
  }
  out[GID] = sum + count;
}

// launch: polygon_area grid=2 block=64 args=a,out,12 fill=f32
KERNEL polygon_area(const float2 *points, float *out, int n) {
  const float2 *p = points + GID % 64 * n;
  float area = 0;
  LOOP for (int i = 0; i < n; i++) {
    float2 a = p[i], b = p[(i + 1) % n];
    area += a.x * b.y - b.x * a.y;
  }
  out[GID] = 0.5f * area;
}

// launch: periodic_laplace grid=1 block=64 args=a,out,32 fill=f32
KERNEL periodic_laplace(const float *in, float *out, int n) {
  const float *row = in + GID * n;
  LOOP for (int i = 0; i < n; i++)
    out[GID * n + i] = row[(i + n - 1) % n] - 2 * row[i] + row[(i + 1) % n];
}

// launch: mod_fibonacci grid=2 block=64 args=a,out,50,1000003 fill=u32
KERNEL mod_fibonacci(const unsigned *in, unsigned *out, int n, int m) {
  if (m <= 0) return;
  int a = in[GID] % m, b = (in[GID] >> 16) % m;
  LOOP for (int i = 0; i < n; i++) { int c = (a + b) % m; a = b; b = c; }
  out[GID] = b;
}

// launch: round_robin grid=1 block=64 args=a,b,out,40,5 fill=u32
KERNEL round_robin(const int *work, int *load, int *out, int n, unsigned workers) {
  unsigned next = 0;
  int total = 0;
  LOOP for (int i = 0; i < n; i++) {
    int w = work[GID * n + i] & 255;
    total += w * (next + 1);
    load[GID * 8 + (next & 7)] = w;
    next = (next + 1) % workers;
  }
  out[GID] = total;
}

// launch: caesar grid=1 block=64 args=a,out,64,7 fill=u32
KERNEL caesar(const unsigned char *text, unsigned char *out, int n, int key) {
  LOOP for (int i = 0; i < n; i++) {
    int c = text[GID * n + i];
    if (c >= 'a' && c <= 'z') c = 'a' + (c - 'a' + key) % 26;
    else if (c >= 'A' && c <= 'Z') c = 'A' + (c - 'A' + 13) % 26;
    out[GID * n + i] = c;
  }
}

// launch: ising_row grid=2 block=32 args=a,out,24 fill=u32
KERNEL ising_row(const signed char *spins, int *out, int n) {
  int energy = 0;
  LOOP for (int y = 0; y < n; y++)
    LOOP for (int x = 0; x < n; x++) {
      int s = spins[y * n + x] | 1;
      energy -= s * ((spins[y * n + (x + 1) % n] | 1) + (spins[(y + 1) % n * n + x] | 1));
    }
  out[GID] = energy;
}

// launch: josephus grid=2 block=64 args=a,out,50 fill=u32
KERNEL josephus(const unsigned *step, unsigned *out, int n) {
  unsigned k = step[GID] % 7 + 1, place = 0;
  LOOP for (unsigned i = 2; i <= (unsigned)n; i++) place = (place + k) % i;
  out[GID] = place;
}

// launch: weekday grid=2 block=64 args=a,out,30 fill=u32
KERNEL weekday(const unsigned *days, unsigned *out, int n) {
  unsigned d = days[GID] % 7, mondays = 0;
  LOOP for (int i = 0; i < n; i++) {
    mondays += d == 1;
    d = (d + 3) % 7;
  }
  out[GID] = mondays * 8 + d;
}

// launch: hash_linear grid=2 block=64 args=a,b,out,61 fill=u32
KERNEL hash_linear(const unsigned *keys, const unsigned *table, int *out, unsigned size) {
  unsigned key = keys[GID], slot = key * 2654435761u % size;
  int probes = 0;
  LOOP while (probes < 20 && table[slot] % 5 != key % 5) { slot = (slot + 1) % size; probes++; }
  out[GID] = slot * 32 + probes;
}
