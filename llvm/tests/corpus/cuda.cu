// What CUDA says beyond C: atomic operations that are relaxed, and what is asked of loops.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
__device__ static void hook(int *p) { __nvvm_atom_add_gen_i(p, 1); }
extern "C" __global__ void atomics(int *p, float *f, unsigned *u) { hook(p); __nvvm_atom_add_gen_f(f, 1.0f); u[1] = __nvvm_atom_inc_gen_ui(u, 7); p[1] = __nvvm_atom_cas_gen_i(p, 1, 2); __atomic_fetch_or(p, 4, __ATOMIC_ACQ_REL); }
extern "C" __global__ void loops(int *p, int n) {
    int s = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) s += p[i];
#pragma unroll 1
    for (int i = 0; i < n; i++) s ^= p[i];
#pragma clang loop unroll(full)
    for (int i = 0; i < 5; i++) s += p[i + 1];
#pragma unroll
    for (int i = 0; i < 6; i++) s += p[i + 2];
    p[0] = s;
}
extern "C" __global__ void stencil(float *p, int i) { p[i] = p[i + 1] + p[i - 1]; }
