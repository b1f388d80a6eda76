target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@chosen = ifunc i64 (), ptr @resolver
define internal ptr @resolver() {
  ret ptr null
}
define ptx_kernel void @ifunc(ptr %out) {
  %r = call i64 @chosen()
  store i64 %r, ptr %out
  ret void
}
