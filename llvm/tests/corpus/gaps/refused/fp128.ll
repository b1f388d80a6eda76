target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @fp128(ptr %out) {
  %x = load fp128, ptr %out
  %y = fadd fp128 %x, %x
  store fp128 %y, ptr %out
  ret void
}
