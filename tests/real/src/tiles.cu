// Products of tiles as CUTLASS builds them: warps that copy, warps that multiply, stages between them. wgmma on sm_90a, tcgen05 on sm_100a.
#include <cuda.h>
#include <cuda_fp16.h>
typedef unsigned long long u64;
typedef unsigned u32;
#define INLINE static __device__ __forceinline__
INLINE u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
INLINE void init(u64 *bar, u32 count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count)); }
INLINE void expect(u64 *bar, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
[[maybe_unused]] INLINE void arrive(u64 *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory"); }
INLINE u32 in_block(const void *p, u32 rank)
{
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(p)), "r"(rank));
    return there;
}
INLINE void arrive_in(u64 *bar, u32 rank)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(bar, rank)) : "memory");
}
INLINE void wait(u64 *bar, u32 parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\n bra again;\n done: }" ::"r"(at(bar)), "r"(parity) : "memory");
}
INLINE void load(void *to, const CUtensorMap *map, u64 *bar, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                 ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(x), "r"(y) : "memory");
}
INLINE void load_to_all(void *to, const CUtensorMap *map, u64 *bar, int x, int y, unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%3, %4}], [%2], %5;"
                 ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(x), "r"(y), "h"(blocks) : "memory");
}
INLINE void store(const CUtensorMap *map, const void *from, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\n cp.async.bulk.commit_group;"
                 ::"l"(map), "r"(at(from)), "r"(x), "r"(y) : "memory");
}
INLINE void stored() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
INLINE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
INLINE void sync(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
INLINE u32 cluster_rank()
{
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
template <int BLOCKS> INLINE void sync_all()
{
    if constexpr (BLOCKS > 1)
        asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
    else
        __syncthreads();
}
struct Ring {
    int stage = 0;
    u32 phase = 0;
    __device__ __forceinline__ void next(int stages)
    {
        if (++stage == stages) stage = 0, phase ^= 1;
    }
};
constexpr int STAGES = 3;
extern __shared__ __align__(1024) unsigned char memory[];
#define MAP const __grid_constant__ CUtensorMap
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define LIST32(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define D32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define D(i) "+f"(d[i]),
// Lines of 128 bytes along K, swizzled; eight of them 1,024 bytes after the eight before.
INLINE u64 described(const void *p) { return (at(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }
INLINE void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> INLINE void pending() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// D is 64 x 64 of a warpgroup.
INLINE void multiply(float (&d)[32], u64 a, u64 b, int adds)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D32 ", %32, %33, p, 1, 1, 0, 0; }"
                 : LIST32(D) "+l"(a) : "l"(b), "r"(adds));
}
// A from registers; B has its columns side by side.
INLINE void multiply(float (&d)[32], const u32 (&a)[4], u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D32 ", {%33, %34, %35, %36}, %32, 1, 1, 1, 1;"
                 : LIST32(D) "+l"(b) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
}
struct Tiles {
    half a[STAGES][128 * 64], b[STAGES][64 * 64], d[128 * 64];
    u64 full[STAGES], empty[STAGES];
};
// D = A B, B given by columns. A block makes tiles of 128 x 64: a warp copies, two warpgroups multiply. In a cluster of two each copies half of B to both.
template <int BLOCKS>
INLINE void product(const CUtensorMap &a, const CUtensorMap &b, const CUtensorMap &d, int m, int n, int k)
{
    Tiles &s = *(Tiles *)memory;
    u32 rank = BLOCKS > 1 ? cluster_rank() : 0;
    int group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) init(&s.full[i], 1), init(&s.empty[i], 2 * BLOCKS);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    sync_all<BLOCKS>();
    int columns = n / 64, tiles = m / (128 * BLOCKS) * columns;
    Ring ring;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS) {
                int row = (tile / columns * BLOCKS + rank) * 128, column = tile % columns * 64;
                for (int step = 0; step < k; step += 64, ring.next(STAGES)) {
                    u64 *full = &s.full[ring.stage];
                    wait(&s.empty[ring.stage], ring.phase ^ 1);
                    expect(full, sizeof s.a[0] + sizeof s.b[0]);
                    load(s.a[ring.stage], &a, full, step, row);
                    if constexpr (BLOCKS > 1)
                        load_to_all(s.b[ring.stage] + rank * 32 * 64, &b, full, step, column + rank * 32, 3);
                    else
                        load(s.b[ring.stage], &b, full, step, column);
                }
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        int thread = threadIdx.x % 128, lane = thread % 32;
        for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS) {
            int row = (tile / columns * BLOCKS + rank) * 128, column = tile % columns * 64;
            float sum[32];
            int before = -1;
            for (int step = 0; step < k; step += 64, ring.next(STAGES)) {
                wait(&s.full[ring.stage], ring.phase);
                u64 of_a = described(s.a[ring.stage] + (group - 1) * 64 * 64), of_b = described(s.b[ring.stage]);
                begin();
                for (int i = 0; i < 4; i++) multiply(sum, of_a + 2 * i, of_b + 2 * i, step + i);
                commit();
                // The stage before this is no longer read: one thread says so for its warpgroup.
                pending<1>();
                if (before >= 0 && thread < BLOCKS) arrive_in(&s.empty[before], thread);
                before = ring.stage;
            }
            pending<0>();
            if (thread < BLOCKS) arrive_in(&s.empty[before], thread);
            // The tile of the last turn must be out of shared memory.
            if (threadIdx.x == 128) stored();
            sync(1, 256);
            half *of_d = s.d + (group - 1) * 64 * 64;
            for (int i = 0; i < 4; i++) {
                u32 h[4];
                for (int j = 0; j < 4; j++) {
                    half2 pair = __floats2half2_rn(sum[8 * i + 2 * j], sum[8 * i + 2 * j + 1]);
                    h[j] = *(u32 *)&pair;
                }
                // Lines of 128 bytes, swizzled.
                int line = thread / 32 * 16 + lane % 16, unit = 2 * i + lane / 16;
                asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                             ::"r"(at(of_d + line * 64 + (unit ^ line % 8) * 8)), "r"(h[0]), "r"(h[1]), "r"(h[2]), "r"(h[3])
                             : "memory");
            }
            fence_async();
            sync(1, 256);
            if (threadIdx.x == 128) store(&d, s.d, column, row);
        }
        if (threadIdx.x == 128) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    sync_all<BLOCKS>();
}
extern "C" __global__ void __launch_bounds__(384) product_alone(MAP a, MAP b, MAP d, int m, int n, int k) { product<1>(a, b, d, m, n, k); }
extern "C" __global__ void __launch_bounds__(384) __cluster_dims__(2, 1, 1) product_of_two(MAP a, MAP b, MAP d, int m, int n, int k)
{
    product<2>(a, b, d, m, n, k);
}
// Attention of 64 rows of a block to all keys, 64 wide: weights go from accumulators to A in registers, the next keys are copied meanwhile.
struct Heads {
    half q[64 * 64], k[2][64 * 64], v[2][64 * 64];
    u64 first, full[2];
};
extern "C" __global__ void __launch_bounds__(128) attention(MAP q, MAP k, MAP v, float *out, int keys, float scale)
{
    Heads &s = *(Heads *)memory;
    if (threadIdx.x == 0) {
        init(&s.first, 1), init(&s.full[0], 1), init(&s.full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&s.first, sizeof s.q);
        load(s.q, &q, &s.first, 0, blockIdx.x * 64);
        expect(&s.full[0], sizeof s.k[0] + sizeof s.v[0]);
        load(s.k[0], &k, &s.full[0], 0, 0);
        load(s.v[0], &v, &s.full[0], 0, 0);
    }
    __syncthreads();
    wait(&s.first, 0);
    float most[2] = {-1e30f, -1e30f}, total[2] = {0, 0}, o[32];
    for (int i = 0; i < 32; i++) o[i] = 0;
    Ring ring;
    for (int key = 0; key < keys; key += 64, ring.next(2)) {
        int other = ring.stage ^ 1;
        if (threadIdx.x == 0 && key + 64 < keys) {
            expect(&s.full[other], sizeof s.k[0] + sizeof s.v[0]);
            load(s.k[other], &k, &s.full[other], 0, key + 64);
            load(s.v[other], &v, &s.full[other], 0, key + 64);
        }
        wait(&s.full[ring.stage], ring.phase);
        float d[32];
        begin();
        for (int i = 0; i < 4; i++) multiply(d, described(s.q) + 2 * i, described(s.k[ring.stage]) + 2 * i, i);
        commit();
        pending<0>();
        float old[2] = {most[0], most[1]};
        for (int i = 0; i < 32; i++) d[i] *= scale, most[i / 2 % 2] = fmaxf(most[i / 2 % 2], d[i]);
        for (int row = 0; row < 2; row++)
            for (int mask = 1; mask < 4; mask *= 2) most[row] = fmaxf(most[row], __shfl_xor_sync(~0u, most[row], mask));
        for (int row = 0; row < 2; row++) total[row] *= exp2f(old[row] - most[row]);
        for (int i = 0; i < 32; i++) {
            o[i] *= exp2f(old[i / 2 % 2] - most[i / 2 % 2]);
            d[i] = exp2f(d[i] - most[i / 2 % 2]);
            total[i / 2 % 2] += d[i];
        }
        u32 a[4][4];
        for (int i = 0; i < 16; i++) {
            half2 pair = __floats2half2_rn(d[2 * i], d[2 * i + 1]);
            a[i / 4][i % 4] = *(u32 *)&pair;
        }
        begin();
        for (int i = 0; i < 4; i++) multiply(o, a[i], described(s.v[ring.stage] + i * 16 * 64));
        commit();
        pending<0>();
        __syncthreads();
    }
    for (int row = 0; row < 2; row++)
        for (int mask = 1; mask < 4; mask *= 2) total[row] += __shfl_xor_sync(~0u, total[row], mask);
    int row = blockIdx.x * 64 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (int i = 0; i < 32; i++) out[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + column + i % 2] = o[i] / total[i / 2 % 2];
}
#endif
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
INLINE void before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
INLINE void after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
// Lines of 128 bytes along K, swizzled; eight of them 1,024 bytes after the eight before.
INLINE u64 described(const void *p) { return (at(p) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }
template <int BLOCKS> INLINE void allocate(u32 *to, u32 columns)
{
    if constexpr (BLOCKS > 1)
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;\n"
                     "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::"r"(at(to)), "r"(columns) : "memory");
    else
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
                     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(at(to)), "r"(columns) : "memory");
}
template <int BLOCKS> INLINE void deallocate(u32 cells, u32 columns)
{
    if constexpr (BLOCKS > 1)
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(cells), "r"(columns));
    else
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(cells), "r"(columns));
}
template <int BLOCKS> INLINE void multiply(u32 d, u64 a, u64 b, u32 how, u32 adds)
{
    if constexpr (BLOCKS > 1)
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }"
                     ::"r"(d), "l"(a), "l"(b), "r"(how), "r"(adds) : "memory");
    else
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                     ::"r"(d), "l"(a), "l"(b), "r"(how), "r"(adds) : "memory");
}
template <int BLOCKS> INLINE void commit(u64 *bar)
{
    if constexpr (BLOCKS > 1)
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                     ::"r"(at(bar)), "h"((unsigned short)3) : "memory");
    else
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(bar)) : "memory");
}
// Of a pair of blocks, both copy, and the first one's object counts the bytes.
template <int BLOCKS> INLINE void load_of_pair(void *to, const CUtensorMap *map, u64 *bar, int x, int y)
{
    if constexpr (BLOCKS > 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%3, %4}], [%2];"
                     ::"r"(at(to)), "l"(map), "r"(in_block(bar, 0)), "r"(x), "r"(y) : "memory");
    else
        load(to, map, bar, x, y);
}
INLINE void read_cells(u32 (&v)[32], u32 cells)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, [%32];\n"
                 "tcgen05.wait::ld.sync.aligned;"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]),
                   "=r"(v[8]), "=r"(v[9]), "=r"(v[10]), "=r"(v[11]), "=r"(v[12]), "=r"(v[13]), "=r"(v[14]), "=r"(v[15]),
                   "=r"(v[16]), "=r"(v[17]), "=r"(v[18]), "=r"(v[19]), "=r"(v[20]), "=r"(v[21]), "=r"(v[22]), "=r"(v[23]),
                   "=r"(v[24]), "=r"(v[25]), "=r"(v[26]), "=r"(v[27]), "=r"(v[28]), "=r"(v[29]), "=r"(v[30]), "=r"(v[31])
                 : "r"(cells) : "memory");
}
INLINE void write_row(float *to, u32 cells, int columns)
{
    for (int c = 0; c < columns; c += 32) {
        u32 v[32];
        read_cells(v, cells + c);
        for (int i = 0; i < 32; i += 4) *(uint4 *)(to + c + i) = make_uint4(v[i], v[i + 1], v[i + 2], v[i + 3]);
    }
}
struct Tiles {
    half a[STAGES][128 * 64], b[STAGES][64 * 64];
    u64 full[STAGES], empty[STAGES], ready[2], free[2];
    u32 cells;
};
// D = A B, B given by columns: a warp copies, one thread of another multiplies, four warps write a tile while the next is made. Blocks of 128 x 64 make
// tiles alone, or a pair of blocks those of 256 x 128.
template <int BLOCKS>
INLINE void product(const CUtensorMap &a, const CUtensorMap &b, float *d, int m, int n, int k)
{
    constexpr int N = 64 * BLOCKS, M = 128 * BLOCKS;
    Tiles &s = *(Tiles *)memory;
    u32 rank = BLOCKS > 1 ? cluster_rank() : 0;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) init(&s.full[i], 1), init(&s.empty[i], 1);
        for (int i = 0; i < 2; i++) init(&s.ready[i], 1), init(&s.free[i], 128 * BLOCKS);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 2) allocate<BLOCKS>(&s.cells, 2 * N);
    before_sync();
    sync_all<BLOCKS>();
    after_sync();
    u32 cells = s.cells;
    int columns = n / N, tiles = m / M * columns;
    Ring ring, turn;
    if (warp == 0 && lane == 0) {
        for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS)
            for (int step = 0; step < k; step += 64, ring.next(STAGES)) {
                u64 *full = &s.full[ring.stage];
                wait(&s.empty[ring.stage], ring.phase ^ 1);
                if (rank == 0) expect(full, BLOCKS * (sizeof s.a[0] + sizeof s.b[0]));
                load_of_pair<BLOCKS>(s.a[ring.stage], &a, full, step, tile / columns * M + rank * 128);
                load_of_pair<BLOCKS>(s.b[ring.stage], &b, full, step, tile % columns * N + rank * 64);
            }
        // What the other block commits arrives here before this one ends.
        for (int i = 0; i < STAGES; i++, ring.next(STAGES)) wait(&s.empty[ring.stage], ring.phase ^ 1);
    } else if (warp == 1 && lane == 0 && rank == 0) {
        u32 how = 1 << 4 | N / 8 << 17 | M / 16 << 24;
        for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS, turn.next(2)) {
            wait(&s.free[turn.stage], turn.phase ^ 1);
            after_sync();
            for (int step = 0; step < k; step += 64, ring.next(STAGES)) {
                wait(&s.full[ring.stage], ring.phase);
                after_sync();
                u64 of_a = described(s.a[ring.stage]), of_b = described(s.b[ring.stage]);
                for (int i = 0; i < 4; i++) multiply<BLOCKS>(cells + turn.stage * N, of_a + 2 * i, of_b + 2 * i, how, step + i);
                commit<BLOCKS>(&s.empty[ring.stage]);
            }
            commit<BLOCKS>(&s.ready[turn.stage]);
        }
    } else if (warp >= 4) {
        int row = rank * 128 + threadIdx.x - 128;
        for (int tile = blockIdx.x / BLOCKS; tile < tiles; tile += gridDim.x / BLOCKS, turn.next(2)) {
            wait(&s.ready[turn.stage], turn.phase);
            after_sync();
            write_row(d + (tile / columns * M + row) * n + tile % columns * N, cells + (warp - 4 << 21) + turn.stage * N, N);
            before_sync();
            arrive_in(&s.free[turn.stage], 0);
        }
    }
    before_sync();
    sync_all<BLOCKS>();
    after_sync();
    if (warp == 2) deallocate<BLOCKS>(cells, 2 * N);
}
extern "C" __global__ void __launch_bounds__(256) product_alone(MAP a, MAP b, float *d, int m, int n, int k) { product<1>(a, b, d, m, n, k); }
extern "C" __global__ void __launch_bounds__(256) __cluster_dims__(2, 1, 1) product_of_two(MAP a, MAP b, float *d, int m, int n, int k)
{
    product<2>(a, b, d, m, n, k);
}
// Bytes of e4m3 with a scale for each 32 along K: a tile of 128 x 64. Scales lie as tensor memory wants them: 512 bytes for each 128 along K.
struct Scaled {
    unsigned char a[2][128 * 128], b[2][64 * 128], of_a[2][512], of_b[2][512];
    u64 full[2], empty[2], ready;
    u32 cells;
};
INLINE void load_plain(void *to, const void *from, u32 bytes, u64 *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory");
}
INLINE void copy_scales(u32 cells, const void *from)
{
    u64 lines = (at(from) & 0x3ffff) >> 4 | 8ull << 16 | 8ull << 32 | 1ull << 46;
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(cells), "l"(lines) : "memory");
}
extern "C" __global__ void __launch_bounds__(256) scaled(MAP a, MAP b, const unsigned char *of_a, const unsigned char *of_b, float *d, int n, int k)
{
    Scaled &s = *(Scaled *)memory;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) init(&s.full[i], 1), init(&s.empty[i], 1);
        init(&s.ready, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 2) allocate<1>(&s.cells, 128);
    before_sync();
    __syncthreads();
    after_sync();
    u32 cells = s.cells;
    Ring ring;
    if (warp == 0 && lane == 0) {
        for (int step = 0; step < k; step += 128, ring.next(2)) {
            u64 *full = &s.full[ring.stage];
            wait(&s.empty[ring.stage], ring.phase ^ 1);
            expect(full, sizeof s.a[0] + sizeof s.b[0] + 1024);
            load(s.a[ring.stage], &a, full, step, blockIdx.y * 128);
            load(s.b[ring.stage], &b, full, step, blockIdx.x * 64);
            load_plain(s.of_a[ring.stage], of_a + (blockIdx.y * (k / 128) + step / 128) * 512, 512, full);
            load_plain(s.of_b[ring.stage], of_b + (blockIdx.x * (k / 128) + step / 128) * 512, 512, full);
        }
    } else if (warp == 1 && lane == 0) {
        for (int step = 0; step < k; step += 128, ring.next(2)) {
            wait(&s.full[ring.stage], ring.phase);
            after_sync();
            copy_scales(cells + 64, s.of_a[ring.stage]);
            copy_scales(cells + 68, s.of_b[ring.stage]);
            for (u32 i = 0; i < 4; i++) {
                u32 how = i << 4 | 64 / 8 << 17 | 1 << 23 | 1 << 27 | i << 29;
                asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;\n"
                             "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%5], [%6], p; }"
                             ::"r"(cells), "l"(described(s.a[ring.stage]) + 2 * i), "l"(described(s.b[ring.stage]) + 2 * i), "r"(how),
                               "r"(step + i), "r"(cells + 64), "r"(cells + 68) : "memory");
            }
            commit<1>(&s.empty[ring.stage]);
        }
        commit<1>(&s.ready);
    } else if (warp >= 4) {
        wait(&s.ready, 0);
        after_sync();
        write_row(d + (blockIdx.y * 128 + threadIdx.x - 128) * n + blockIdx.x * 64, cells + (warp - 4 << 21), 64);
    }
    before_sync();
    __syncthreads();
    after_sync();
    if (warp == 2) deallocate<1>(cells, 128);
}
#endif
