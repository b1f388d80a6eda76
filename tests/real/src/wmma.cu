// nvcuda::wmma in every type, shape and layout: D = 2 (C + A B) of tiles within larger matrices, A in global and B in shared memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
namespace narrow = wmma::experimental;
template <class T> struct stored { using type = T; enum { per = 1 }; };
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define AMPERE
template <> struct stored<wmma::precision::tf32> { using type = float; enum { per = 1 }; };
#endif
template <> struct stored<narrow::precision::s4> { using type = int; enum { per = 8 }; };
template <> struct stored<narrow::precision::u4> { using type = int; enum { per = 8 }; };
template <> struct stored<narrow::precision::b1> { using type = int; enum { per = 32 }; };
template <class L> constexpr bool rows = false;
template <> constexpr bool rows<wmma::row_major> = true;
template <class F> __device__ void prepare(F &) {}
#ifdef AMPERE
template <class Use, int M, int N, int K, class L>
__device__ void prepare(wmma::fragment<Use, M, N, K, wmma::precision::tf32, L> &f)
{
    for (int i = 0; i < f.num_elements; i++) f.x[i] = wmma::__float_to_tf32(f.x[i]);
}
#endif
enum Op { add, saturate, by_and, by_xor };
template <Op op, class D, class A, class B> __device__ void multiply(D &d, const A &a, const B &b)
{
    if constexpr (op == add) wmma::mma_sync(d, a, b, d);
    if constexpr (op == saturate) wmma::mma_sync(d, a, b, d, true);
#ifdef AMPERE
    if constexpr (op == by_and) wmma::bmma_sync(d, a, b, d, narrow::bmmaBitOpAND, narrow::bmmaAccumulateOpPOPC);
#endif
    if constexpr (op == by_xor) wmma::bmma_sync(d, a, b, d, narrow::bmmaBitOpXOR, narrow::bmmaAccumulateOpPOPC);
}
// Two warps, a tile of rows each; two steps along K. `words` are what B has in shared memory.
template <int M, int N, int K, class T, class LA, class LB, class C, Op op, class S = typename stored<T>::type>
__device__ void product(const S *a, const S *b, C *c, unsigned lda, unsigned ldb, unsigned ldc, unsigned words)
{
    extern __shared__ __align__(32) unsigned tile[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) tile[i] = ((const unsigned *)b)[i];
    __syncthreads();
    const S *of_b = (const S *)tile;
    constexpr unsigned per = stored<T>::per;
    unsigned row = threadIdx.x / 32 * M;
    constexpr auto order = rows<LA> ? wmma::mem_row_major : wmma::mem_col_major;
    C *at = c + row * (rows<LA> ? ldc : 1);
    wmma::fragment<wmma::accumulator, M, N, K, C> d;
    wmma::load_matrix_sync(d, at, ldc, order);
    for (unsigned k = 0; k < 2 * K; k += K) {
        wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
        wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
        wmma::load_matrix_sync(fa, a + (rows<LA> ? row * lda + k : k * lda + row) / per, lda);
        wmma::load_matrix_sync(fb, of_b + (rows<LB> ? k * ldb : k) / per, ldb);
        prepare(fa);
        prepare(fb);
        multiply<op>(d, fa, fb);
    }
    for (int i = 0; i < d.num_elements; i++) d.x[i] = d.x[i] + d.x[i];
    wmma::store_matrix_sync(at, d, ldc, order);
}
#define KERNEL(NAME, M, N, K, T, LA, LB, C, OP) \
    extern "C" __global__ void NAME##_m##M##n##N##k##K##_##LA##_##LB( \
        const stored<T>::type *a, const stored<T>::type *b, C *c, unsigned lda, unsigned ldb, unsigned ldc, unsigned words) \
    { \
        product<M, N, K, T, wmma::LA##_major, wmma::LB##_major, C, OP>(a, b, c, lda, ldb, ldc, words); \
    }
#define LAYOUTS(NAME, M, N, K, T, C, OP) \
    KERNEL(NAME, M, N, K, T, row, row, C, OP) \
    KERNEL(NAME, M, N, K, T, row, col, C, OP) \
    KERNEL(NAME, M, N, K, T, col, row, C, OP) \
    KERNEL(NAME, M, N, K, T, col, col, C, OP)
#define SHAPES(NAME, T, C, OP) \
    LAYOUTS(NAME, 16, 16, 16, T, C, OP) \
    LAYOUTS(NAME, 32, 8, 16, T, C, OP) \
    LAYOUTS(NAME, 8, 32, 16, T, C, OP)
SHAPES(f16_f32, half, float, add)
SHAPES(f16_f16, half, half, add)
SHAPES(s8, signed char, int, add)
SHAPES(u8, unsigned char, int, saturate)
KERNEL(s4, 8, 8, 32, narrow::precision::s4, row, col, int, saturate)
KERNEL(u4, 8, 8, 32, narrow::precision::u4, row, col, int, add)
KERNEL(xor, 8, 8, 128, narrow::precision::b1, row, col, int, by_xor)
#ifdef AMPERE
SHAPES(bf16, __nv_bfloat16, float, add)
LAYOUTS(tf32, 16, 16, 8, wmma::precision::tf32, float, add)
LAYOUTS(f64, 8, 8, 4, double, double, add)
KERNEL(and, 8, 8, 128, narrow::precision::b1, row, col, int, by_and)
#endif
