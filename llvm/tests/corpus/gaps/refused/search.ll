target triple = "nvptx64-nvidia-cuda"
declare <4096 x i1> @llvm.experimental.vector.match.v4096i8.v32i8(<4096 x i8>, <32 x i8>, <4096 x i1>)
define ptx_kernel void @refused(ptr %out) {
  %v = load <4096 x i8>, ptr %out
  %m = load <4096 x i1>, ptr %out
  %f = call <4096 x i1> @llvm.experimental.vector.match.v4096i8.v32i8(<4096 x i8> %v, <32 x i8> zeroinitializer, <4096 x i1> %m)
  store <4096 x i1> %f, ptr %out
  ret void
}
