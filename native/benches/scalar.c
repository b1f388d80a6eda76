/* The kernels of the bench as C, a loop over the threads of a launch each: what a compiler makes of the same work for the CPU.
   Prints for each its name, the nanoseconds of processor time of its fastest run and a sum of what it has computed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t alu_out[256];
static void alu_loop(void) {
    for (uint32_t block = 0; block < 4; block++)
        for (uint32_t tid = 0; tid < 256; tid++) {
            uint32_t x = tid, sum = 0;
            for (uint32_t i = 0; i < 4000; i++) {
                x ^= x << 13;
                x ^= x >> 17;
                x ^= x << 5;
                sum = sum * 1664525u + x;
            }
            alu_out[tid] = sum;
        }
}

static float a128[128 * 128], b128[128 * 128], c128[128 * 128];
static void product(const float *a, const float *b, float *c, uint32_t n) {
    for (uint32_t by = 0; by < n / 16; by++)
        for (uint32_t bx = 0; bx < n / 16; bx++) {
            float ta[256], tb[256], sum[256] = {0};
            for (uint32_t k0 = 0; k0 < n; k0 += 16) {
                for (uint32_t t = 0; t < 256; t++) {
                    uint32_t x = t % 16, y = t / 16;
                    ta[t] = a[(16 * by + y) * n + k0 + x];
                    tb[t] = b[(k0 + y) * n + 16 * bx + x];
                }
                for (uint32_t t = 0; t < 256; t++) {
                    float s = sum[t];
                    for (uint32_t k = 0; k < 16; k++) s = ta[t / 16 * 16 + k] * tb[k * 16 + t % 16] + s;
                    sum[t] = s;
                }
            }
            for (uint32_t t = 0; t < 256; t++) c[(16 * by + t / 16) * n + 16 * bx + t % 16] = sum[t];
        }
}
static void tiled_matrix_product(void) { product(a128, b128, c128, 128); }

static float a64[64 * 64], c64[64 * 64];
static void matmul_example(void) { product(a64, a64, c64, 64); }

static uint32_t steps_out[256];
static void divergent_loop(void) {
    for (uint32_t block = 0; block < 16; block++)
        for (uint32_t tid = 0; tid < 256; tid++) {
            uint32_t n = tid + 27, steps = 0;
            while (n != 1) {
                n = n & 1 ? 3 * n + 1 : n >> 1;
                steps++;
            }
            steps_out[tid] = steps;
        }
}

static uint8_t text[128 * 1000], digests[128 * 32];
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static uint32_t right(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint32_t padded(const uint8_t *t, uint32_t length, uint32_t p) {
    return p < length ? t[p] : p == length ? 128 : 0;
}
static void sha256(void) {
    for (uint32_t id = 0; id < 128; id++) {
        const uint8_t *t = text + 1000 * id;
        uint32_t length = 1000, blocks = (length + 8) / 64 + 1;
        uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        for (uint32_t n = 0; n < blocks; n++) {
            uint32_t w[16], s[8];
            for (uint32_t i = 0; i < 16; i++) {
                uint32_t p = 64 * n + 4 * i;
                w[i] = padded(t, length, p) << 24 | padded(t, length, p + 1) << 16 | padded(t, length, p + 2) << 8 |
                       padded(t, length, p + 3);
            }
            if (n == blocks - 1) w[15] = 8 * length;
            memcpy(s, h, sizeof s);
            for (uint32_t i = 0; i < 64; i++) {
                uint32_t word = w[i % 16];
                if (i >= 16) {
                    uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
                    word += (right(x, 7) ^ right(x, 18) ^ x >> 3) + w[(i + 9) % 16] +
                            (right(y, 17) ^ right(y, 19) ^ y >> 10);
                    w[i % 16] = word;
                }
                uint32_t t1 = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) +
                              ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + word;
                uint32_t t2 = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) +
                              ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
                memmove(s + 1, s, 7 * sizeof *s);
                s[4] += t1;
                s[0] = t1 + t2;
            }
            for (int i = 0; i < 8; i++) h[i] += s[i];
        }
        for (int i = 0; i < 32; i++) digests[32 * id + i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static uint8_t pixels[128 * 96];
static void mandelbrot(void) {
    for (uint32_t y = 0; y < 96; y++)
        for (uint32_t x = 0; x < 128; x++) {
            float cr = (float)x * 0.025f + -2.25f, ci = (float)y * 0.025f + -1.2f, r = 0, i = 0;
            uint32_t n = 0;
            float r2 = 0, i2 = 0;
            while (n < 250 && r2 + i2 <= 4.0f) {
                i = (r + r) * i + ci;
                r = r2 - i2 + cr;
                r2 = r * r;
                i2 = i * i;
                n++;
            }
            pixels[128 * y + x] = (uint8_t)n;
        }
}

static const int32_t vm_code[66] = {0,  1, 1, 1,  8,  20, 1, 1, 4, 0, 1, 1,  0, 1, 5, 0,  2, 2,  7, 2, 10, 0,
                                    0,  0, 1, 1,  0,  1,  5, 0, 8, 64, 1, 1, 9, 0, 8, 52, 1, 1,  0, 3, 4,  0,
                                    0,  1, 3, 0,  2,  2,  7, 58, 1, 1, 6, 0, 2, 2, 0, 1,  3, 0,  7, 24, 10, 0};
static const int32_t vm_starts[2] = {0, 22};
static int32_t vm_out[512];
static void small_virtual_machine(void) {
    for (int32_t tid = 0; tid < 256; tid++) {
        int32_t stack[32] = {0}, sp = 1, pc = vm_starts[tid & 1], steps = 0;
        stack[0] = (tid >> 1) + 1;
        for (int running = 1; running;) {
            int32_t op = vm_code[pc], arg = vm_code[pc + 1];
            pc += 2;
            steps++;
            switch (op) {
            case 0: stack[sp++] = arg; break;
            case 1: stack[sp] = stack[sp - 1 - arg]; sp++; break;
            case 2: stack[sp - 1 - arg] = stack[sp - 1]; sp--; break;
            case 3: stack[sp - 2] += stack[sp - 1]; sp--; break;
            case 4: stack[sp - 2] *= stack[sp - 1]; sp--; break;
            case 5: stack[sp - 2] -= stack[sp - 1]; sp--; break;
            case 6: stack[sp - 1] >>= 1; break;
            case 7: pc = arg; break;
            case 8: pc = stack[sp - 1] == 0 ? arg : pc; sp--; break;
            case 9: stack[sp - 1] &= 1; break;
            default: running = 0;
            }
        }
        vm_out[2 * tid] = stack[sp - 1];
        vm_out[2 * tid + 1] = steps;
    }
}

static void measure(const char *name, void (*kernel)(void), const void *result, size_t bytes) {
    uint64_t best = UINT64_MAX, begin = now();
    for (int runs = 0; runs < 20 || now() - begin < 500000000u; runs++) {
        uint64_t start = now();
        kernel();
        uint64_t end = now();
        if (end - start < best) best = end - start;
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes; i++) sum = sum * 31 + ((const uint8_t *)result)[i];
    printf("%s %llu %u\n", name, (unsigned long long)best, sum);
}

#define MEASURE(kernel, result) measure(#kernel, kernel, result, sizeof result)

int main(void) {
    for (uint32_t i = 0; i < 128 * 128; i++) {
        a128[i] = (float)((i ^ 1) % 7);
        b128[i] = (float)((i ^ 2) % 7);
    }
    for (uint32_t i = 0; i < 64 * 64; i++) a64[i] = (float)(i % 7);
    for (uint32_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)((i * 7) >> 3);
    MEASURE(alu_loop, alu_out);
    MEASURE(tiled_matrix_product, c128);
    MEASURE(matmul_example, c64);
    MEASURE(sha256, digests);
    MEASURE(mandelbrot, pixels);
    MEASURE(divergent_loop, steps_out);
    MEASURE(small_virtual_machine, vm_out);
    return 0;
}
