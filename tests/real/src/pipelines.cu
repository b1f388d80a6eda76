// cuda::barrier, cuda::pipeline and cooperative groups: what their waits compile to.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
using barrier_t = cuda::barrier<cuda::thread_scope_block>;

// A block-wide sum with a cuda::barrier between the steps of the tree.
extern "C" __global__ void barrier_sum(const int* in, int* out) {
  __shared__ barrier_t bar;
  __shared__ int s[256];
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  block.sync();
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  bar.arrive_and_wait();
  for (int step = 128; step > 0; step /= 2) {
    int v = threadIdx.x < step ? s[threadIdx.x + step] : 0;
    auto token = bar.arrive();
    bar.wait(std::move(token));
    if (threadIdx.x < step) s[threadIdx.x] += v;
    bar.arrive_and_wait();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// Two stages of cuda::pipeline with memcpy_async: out[i] = sum over tiles of in[tile][i] * (tile + 1).
extern "C" __global__ void pipeline_sum(const int* in, int* out, int tiles) {
  constexpr int stages = 2;
  __shared__ int s[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int fetch = 0, tile = 0; tile < tiles; tile++) {
    for (; fetch < tiles && fetch < tile + stages; fetch++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[fetch % stages], in + fetch * 128, sizeof(int) * 128, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += s[tile % stages][threadIdx.x ^ 5] * (tile + 1);
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// The same with a pipeline of each thread's own.
extern "C" __global__ void thread_pipeline(const int* in, int* out, int tiles) {
  __shared__ int s[2][128];
  auto pipe = cuda::make_pipeline();
  int sum = 0, fetch = 0;
  for (int tile = 0; tile < tiles; tile++) {
    for (; fetch < tiles && fetch < tile + 2; fetch++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[fetch % 2][threadIdx.x], in + fetch * 128 + threadIdx.x, sizeof(int), pipe);
      pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    if (tile + 1 == tiles) cuda::pipeline_consumer_wait_prior<0>(pipe);
    sum += s[tile % 2][threadIdx.x] * (tile + 1);
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// cooperative_groups::memcpy_async and wait.
extern "C" __global__ void group_copy(const int* in, int* out, int n) {
  extern __shared__ int dyn[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, dyn, in + blockIdx.x * n, sizeof(int) * n);
  cg::wait(block);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + n - 1 - i] = dyn[i] + 1;
}
