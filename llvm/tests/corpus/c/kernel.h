// Kernels that the host can run too: each works on 64 words, `p`, which both sides fill alike.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned __int128 u128;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef __int128 i128;
#ifdef __NVPTX__
#define KERNEL __attribute__((nvptx_kernel))
#else
#define KERNEL
#endif
#define NOINLINE __attribute__((noinline))
#define WIDE(n, v) (p[n] = (u64)(v), p[(n) + 1] = (u64)((u128)(v) >> 64))
