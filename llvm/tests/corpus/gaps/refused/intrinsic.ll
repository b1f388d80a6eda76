target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare ptr @llvm.call.preallocated.arg(token, i32)
declare void @llvm.eh.return.i64(i64, ptr)
define ptx_kernel void @intrinsic(ptr %out) {
  call void @llvm.eh.return.i64(i64 1, ptr %out)
  ret void
}
