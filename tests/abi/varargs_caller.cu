// A call with variable arguments. nvcc -arch=sm_80 -rdc=true -ptx varargs_caller.cu
extern "C" __device__ int total(int n, ...);
extern "C" __global__ void call_all(char *out, int n) {
    ((int *)out)[0] = total(2, n, n * 0.5, 7, 2.25);
    ((int *)out)[1] = total(1, 100, 1e3);
}
