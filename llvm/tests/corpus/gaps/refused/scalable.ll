target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @scalable(ptr %out) {
  %x = load <vscale x 4 x i32>, ptr %out
  store <vscale x 4 x i32> %x, ptr %out
  ret void
}
