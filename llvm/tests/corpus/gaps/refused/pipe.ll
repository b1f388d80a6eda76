target triple = "nvptx64-nvidia-cuda"
declare i32 @__read_pipe_2(ptr addrspace(1), ptr, i32, i32)
define ptx_kernel void @pipe(ptr addrspace(1) %pipe, ptr %out) {
  %status = call i32 @__read_pipe_2(ptr addrspace(1) %pipe, ptr %out, i32 4, i32 4)
  ret void
}
