target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@own = thread_local global i32 1
define ptx_kernel void @thread_local(ptr %out) {
  %x = load i32, ptr @own
  store i32 %x, ptr %out
  ret void
}
