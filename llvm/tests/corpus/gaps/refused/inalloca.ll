target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define internal void @takes(ptr inalloca(i64) %x) {
  ret void
}
define ptx_kernel void @inalloca(ptr %out) {
  %x = alloca inalloca i64
  call void @takes(ptr inalloca(i64) %x)
  ret void
}
