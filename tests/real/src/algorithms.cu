// Small programs with known answers: `tests/programs/algorithms.rs` runs them.
#include <cstdint>
#include <cstdio>
#include <cub/cub.cuh>

// Of a block's elements: the running sums, the order, how often each byte occurs.

extern "C" __global__ void running_sums(const int *in, int *out)
{
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage storage;
    int i = blockIdx.x * 128 + threadIdx.x, sum;
    Scan(storage).InclusiveSum(in[i], sum);
    out[i] = sum;
}

extern "C" __global__ void radix_sort(const int *in, int *out)
{
    using Sort = cub::BlockRadixSort<int, 128, 4>;
    __shared__ typename Sort::TempStorage storage;
    int keys[4];
    for (int j = 0; j < 4; j++)
        keys[j] = in[threadIdx.x * 4 + j];
    Sort(storage).Sort(keys);
    for (int j = 0; j < 4; j++)
        out[threadIdx.x * 4 + j] = keys[j];
}

extern "C" __global__ void bitonic_sort(const int *in, int *out)
{
    extern __shared__ int s[];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 2; k <= n; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            int x = t ^ j;
            if (x > t && (s[t] > s[x]) == ((t & k) == 0)) {
                int swapped = s[t];
                s[t] = s[x];
                s[x] = swapped;
            }
            __syncthreads();
        }
    out[t] = s[t];
}

extern "C" __global__ void histogram(const unsigned char *in, int *out)
{
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ int counts[256];
    unsigned char items[4];
    for (int j = 0; j < 4; j++)
        items[j] = in[threadIdx.x * 4 + j];
    Histogram(storage).Histogram(items, counts);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128)
        out[i] = counts[i];
}

// The last block to finish adds what all have left.
__device__ unsigned finished;

extern "C" __global__ void sum_of_all(const int *in, int *out, int *partial, int n)
{
    __shared__ int s[128];
    __shared__ bool last;
    int sum = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++)
            total += ((volatile int *)partial)[b];
        *out = total;
    }
}

// Each thread sorts its keys with a tree of its own.

struct Node {
    int key;
    Node *left, *right;
};

__device__ Node *insert(Node *node, int key)
{
    if (!node) {
        node = (Node *)malloc(sizeof(Node));
        *node = {key, nullptr, nullptr};
    } else if (key < node->key)
        node->left = insert(node->left, key);
    else
        node->right = insert(node->right, key);
    return node;
}

__device__ int empty_into(Node *node, int *out, int count)
{
    if (!node)
        return count;
    count = empty_into(node->left, out, count);
    out[count++] = node->key;
    count = empty_into(node->right, out, count);
    free(node);
    return count;
}

extern "C" __global__ void tree_sort(const int *in, int *out, int n)
{
    Node *root = nullptr;
    for (int i = 0; i < n; i++)
        root = insert(root, in[threadIdx.x * n + i]);
    int count = empty_into(root, out + threadIdx.x * n, 0);
    if (threadIdx.x == 0)
        printf("%d keys of \"%s\", %5.2f|%-6d|%#x|%lld%%\n", count, "tree", 1.5, 7, 255, -1LL);
}

// Locks between the lanes of a warp: waiting lanes must not keep the owner from going on.

extern "C" __global__ void counted_under_a_lock(const int *, int *out, int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int *)out += 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void all_blocks_meet(const int *in, int *out, int *arrived, int *shared)
{
    if (threadIdx.x == 0) {
        shared[blockIdx.x] = in[blockIdx.x] * 3;
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x)
        out[blockIdx.x * gridDim.x + threadIdx.x] = ((volatile int *)shared)[threadIdx.x];
}

extern "C" __global__ void halves_by_compare_and_swap(const int *, unsigned short *out)
{
    for (int i = 0; i < 4; i++) {
        unsigned short seen = *(volatile unsigned short *)out, expected;
        do {
            expected = seen;
            seen = atomicCAS(out, expected, (unsigned short)(expected + 3));
        } while (seen != expected);
    }
}

// Calls: through a table, virtual, recursive, of aggregates.

typedef int (*Function)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ Function functions[3] = {add, multiply, subtract};

struct Shape {
    virtual __device__ int size(int x) = 0;
};
struct Scaled : Shape {
    int by;
    __device__ Scaled(int by) : by(by) {}
    __device__ int size(int x) override { return x * by; }
};
struct Shifted : Shape {
    __device__ int size(int x) override { return x - 1000; }
};

__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

struct Record {
    int values[5];
    double scale;
    char tag;
};

__device__ __noinline__ Record changed(Record r, int k)
{
    r.values[k % 5] += k;
    r.scale *= 1.5;
    r.tag ^= k;
    return r;
}

extern "C" __global__ void calls(const int *in, int *out)
{
    int t = threadIdx.x;
    Scaled scaled(3);
    Shifted shifted;
    Shape *shape = t & 1 ? (Shape *)&scaled : (Shape *)&shifted;
    Record record = {{1, 2, 3, 4, 5}, 10.0, 7};
    record = changed(changed(record, t), in[t]);
    int mixed = 0;
    for (int i = 0; i < 5; i++)
        mixed = mixed * 31 + record.values[i];
    out[t * 4] = functions[t % 3](t, in[t]);
    out[t * 4 + 1] = shape->size(t);
    out[t * 4 + 2] = ackermann(t % 3, t % 7);
    out[t * 4 + 3] = mixed + (int)record.scale + record.tag;
}

// Control flow and local memory.

__constant__ int digits[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

extern "C" __global__ void bubble_sort(const int *, int *out)
{
    int a[32], t = threadIdx.x;
    for (int i = 0; i < 32; i++)
        a[i] = digits[(i + t) & 15] * i;
    for (int i = 0; i < 31; i++)
        for (int j = 0; j < 31 - i; j++)
            if (a[j] > a[j + 1]) {
                int swapped = a[j];
                a[j] = a[j + 1];
                a[j + 1] = swapped;
            }
    out[t] = a[t % 32] * 1000 + a[31 - t % 32];
}

extern "C" __global__ void switches(const int *, int *out)
{
    int t = threadIdx.x, x = 0;
    for (int i = 0; i < 40; i++) {
        switch ((t * i + i) % 9) {
        case 0: x += 1; break;
        case 1: x *= 3; break;
        case 2: x ^= 0x55; // and on
        case 3: x -= 7; break;
        case 4:
            if (x & 1)
                continue;
            x /= 3;
            break;
        case 5: x = ~x; break;
        case 6: x += i; break;
        case 7:
            if (x > 1000000)
                goto out;
        default: x = x * 5 + 1;
        }
    }
out:
    out[t] = x;
}

// 128-bit quotient, remainder, product and shift of two numbers, high words first.
extern "C" __global__ void wide_numbers(const uint64_t *in, uint64_t *out)
{
    int t = threadIdx.x;
    unsigned __int128 x = (unsigned __int128)in[t * 4] << 64 | in[t * 4 + 1];
    unsigned __int128 y = (unsigned __int128)in[t * 4 + 2] << 64 | in[t * 4 + 3];
    unsigned __int128 results[4] = {x / y, x % y, x * y, x >> (t + 20)};
    for (int i = 0; i < 4; i++) {
        out[t * 8 + 2 * i] = results[i] >> 64;
        out[t * 8 + 2 * i + 1] = results[i];
    }
}

// Functions of the mathematical library.

extern "C" __global__ void functions_f32(const float *in, float *out)
{
    float v = in[threadIdx.x], *p = out + threadIdx.x * 16;
    p[0] = sinf(v), p[1] = cosf(v), p[2] = tanf(v), p[3] = expf(v), p[4] = logf(fabsf(v)), p[5] = powf(fabsf(v), 1.7f);
    p[6] = sqrtf(fabsf(v)), p[7] = cbrtf(v), p[8] = tanhf(v), p[9] = atanf(v), p[10] = exp2f(v), p[11] = log2f(fabsf(v));
    p[12] = fmodf(v, 0.75f), p[13] = hypotf(v, 3), p[14] = v / 3.7f, p[15] = rintf(v);
}

extern "C" __global__ void functions_f64(const double *in, double *out)
{
    double v = in[threadIdx.x], *p = out + threadIdx.x * 16;
    p[0] = sin(v), p[1] = cos(v), p[2] = tan(v), p[3] = exp(v), p[4] = log(fabs(v)), p[5] = pow(fabs(v), 1.7);
    p[6] = sqrt(fabs(v)), p[7] = cbrt(v), p[8] = tanh(v), p[9] = atan(v), p[10] = exp2(v), p[11] = log2(fabs(v));
    p[12] = fmod(v, 0.75), p[13] = hypot(v, 3.0), p[14] = v / 3.7, p[15] = rint(v);
}
