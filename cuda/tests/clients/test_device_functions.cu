// What tests of numba-cuda link with: they look for this file, and for what nvcc makes of it, in `NUMBA_CUDA_TEST_BIN_DIR`.

extern "C" __device__ int add_from_numba(unsigned *result, unsigned a, unsigned b)
{
    *result = a + b;
    return 0;
}

extern "C" __device__ unsigned add_cabi(unsigned a, unsigned b)
{
    return a + b;
}
