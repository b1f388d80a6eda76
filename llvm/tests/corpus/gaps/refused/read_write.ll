target triple = "nvptx64-nvidia-cuda"
declare <4 x float> @_Z11read_imagef14ocl_image2d_rwDv2_i(ptr addrspace(1), <2 x i32>)
define ptx_kernel void @read_write(ptr addrspace(1) %image, ptr %out) {
  %texel = call <4 x float> @_Z11read_imagef14ocl_image2d_rwDv2_i(ptr addrspace(1) %image, <2 x i32> zeroinitializer)
  store <4 x float> %texel, ptr %out
  ret void
}
