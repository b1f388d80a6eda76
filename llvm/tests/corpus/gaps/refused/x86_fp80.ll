target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @x86_fp80(ptr %out) {
  %x = load x86_fp80, ptr %out
  store x86_fp80 %x, ptr %out
  ret void
}
