target triple = "nvptx64-nvidia-cuda"
declare float @_Z11read_imagef20ocl_image2d_depth_roDv2_i(ptr addrspace(1), <2 x i32>)
define ptx_kernel void @depth(ptr addrspace(1) %image, ptr %out) {
  %depth = call float @_Z11read_imagef20ocl_image2d_depth_roDv2_i(ptr addrspace(1) %image, <2 x i32> zeroinitializer)
  store float %depth, ptr %out
  ret void
}
