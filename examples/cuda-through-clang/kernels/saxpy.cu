// What CUDA's headers would define: none is installed.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
