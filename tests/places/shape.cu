#ifdef __CUDACC__
#define KERNEL extern "C" __global__
#define INLINED static __device__ __forceinline__
#define TID threadIdx.x
#else
#define KERNEL __attribute__((nvptx_kernel))
#define INLINED static inline __attribute__((always_inline))
#define TID __nvvm_read_ptx_sreg_tid_x()
#endif

struct pair { int n; float x; struct pair *next; unsigned low : 3; };
enum mode { SLOW, FAST = 5 };
typedef unsigned long word;

INLINED float madd(float u, float v)
{
    float product = u * v;
    return product + 1.0f;
}

KERNEL void sums(struct pair *list, float scale, int count, enum mode mode, word seed)
{
    int i = TID;
    struct pair here;
    float sum = 0.0f;
    while (i < count) {
        float part = madd(scale, list[i].x);
        sum += part;
        i += 64;
    }
    here.x = sum;
    here.n = mode == FAST ? (int)seed : 0;
    list[TID].x = here.x;
    list[TID].n = here.n;
}
