; Functions of CUDA's libdevice that have loops, or that came late.
target triple = "nvptx64-nvidia-cuda"
declare double @__nv_norm(i32, ptr)
declare double @__nv_rnorm(i32, ptr)
declare float @__nv_normf(i32, ptr)
declare float @__nv_rnormf(i32, ptr)
declare float @__nv_frsqrt_rn(float)
declare double @__nv_erfcinv(double)
declare double @__nv_y0(double)
declare double @__nv_jn(i32, double)
declare double @__nv_rnorm4d(double, double, double, double)
declare float @__nv_cyl_bessel_i1f(float)
define ptx_kernel void @lengths(ptr %out, ptr %d, ptr %f, i32 %n) {
  %a = call double @__nv_norm(i32 %n, ptr %d)
  %b = call double @__nv_rnorm(i32 %n, ptr %d)
  %c = call float @__nv_normf(i32 %n, ptr %f)
  %c.wide = fpext float %c to double
  %r = call float @__nv_rnormf(i32 %n, ptr %f)
  %r.wide = fpext float %r to double
  %x = load float, ptr %f
  %s = call float @__nv_frsqrt_rn(float %x)
  %s.wide = fpext float %s to double
  store double %a, ptr %out
  %p1 = getelementptr double, ptr %out, i64 1
  store double %b, ptr %p1
  %p2 = getelementptr double, ptr %out, i64 2
  store double %c.wide, ptr %p2
  %p3 = getelementptr double, ptr %out, i64 3
  store double %r.wide, ptr %p3
  %p4 = getelementptr double, ptr %out, i64 4
  store double %s.wide, ptr %p4
  %e = call double @__nv_erfcinv(double 5.000000e-01)
  %p5 = getelementptr double, ptr %out, i64 5
  store double %e, ptr %p5
  %y = call double @__nv_y0(double 1.000000e+00)
  %p6 = getelementptr double, ptr %out, i64 6
  store double %y, ptr %p6
  %j = call double @__nv_jn(i32 3, double 1.000000e+00)
  %p7 = getelementptr double, ptr %out, i64 7
  store double %j, ptr %p7
  %v = call double @__nv_rnorm4d(double 1.000000e+00, double 2.000000e+00, double 2.000000e+00, double 4.000000e+00)
  %p8 = getelementptr double, ptr %out, i64 8
  store double %v, ptr %p8
  %i = call float @__nv_cyl_bessel_i1f(float 1.000000e+00)
  %i.wide = fpext float %i to double
  %p9 = getelementptr double, ptr %out, i64 9
  store double %i.wide, ptr %p9
  ret void
}
