__device__ unsigned twice(unsigned v) {
    return v + v;
}

__global__ void reduce(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[64];
  unsigned mine[2];
  unsigned i = blockIdx.x * 64 + threadIdx.x;
  mine[0] = in[i];
  mine[1] = twice(mine[0]);
  tile[threadIdx.x] = mine[1]; __syncthreads();
  for (unsigned s = 32; s > 0; s /= 2) {
    if (threadIdx.x < s)
      tile[threadIdx.x] += tile[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = tile[0];
}
