; What is refused by name.
target triple = "nvptx64-nvidia-cuda"
declare bfloat @llvm.nvvm.fma.rn.ftz.bf16(bfloat, bfloat, bfloat)
declare void @llvm.nvvm.tcgen05.fence.before.thread.sync()
declare void @llvm.nvvm.exit()
define bfloat @flushed(bfloat %x) {
  %r = call bfloat @llvm.nvvm.fma.rn.ftz.bf16(bfloat %x, bfloat %x, bfloat %x)
  ret bfloat %r
}
define void @tensor_memory() {
  call void @llvm.nvvm.tcgen05.fence.before.thread.sync()
  ret void
}
define i32 @cluster(ptr addrspace(7) %p) {
  %r = load i32, ptr addrspace(7) %p
  ret i32 %r
}
define void @ended() {
  call void @llvm.nvvm.exit()
  ret void
}
