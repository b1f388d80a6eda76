/* A row of results for each function, of which libdevice has one and the math library another. */
#define D(name) double __nv_##name(double)
#define F(name) float __nv_##name##f(float)
#define BOTH(X) X(exp) X(exp2) X(exp10) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) \
    X(asinh) X(acosh) X(atanh) X(cbrt) X(rsqrt) X(erf) X(erfc) X(tgamma) X(lgamma)
#define DECLARE(name) D(name); F(name);
BOTH(DECLARE)
double __nv_pow(double, double);
double __nv_atan2(double, double);
double __nv_hypot(double, double);
double __nv_fmod(double, double);

__attribute__((nvptx_kernel)) void functions(const double *in, double *out, float *single, int count) {
    int i = __nvvm_read_ptx_sreg_tid_x();
    double x = in[i];
#define ROW(name) out[i] = __nv_##name(x); single[i] = __nv_##name##f((float)x); out += count; single += count;
    BOTH(ROW)
    double y = in[(i + 7) % count];
    out[i] = __nv_pow(x, y), out[i + count] = __nv_atan2(x, y), out[i + 2 * count] = __nv_hypot(x, y), out[i + 3 * count] = __nv_fmod(x, y);
}
