target triple = "nvptx64-nvidia-cuda"
declare void @may_throw()
declare i32 @__CxxFrameHandler3(...)
define ptx_kernel void @k() personality ptr @__CxxFrameHandler3 {
entry:
  invoke void @may_throw() to label %done unwind label %dispatch
dispatch:
  %switch = catchswitch within none [label %handler] unwind to caller
handler:
  %pad = catchpad within %switch [ptr null, i32 64, ptr null]
  catchret from %pad to label %done
done:
  ret void
}
