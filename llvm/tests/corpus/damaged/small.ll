; A kernel of one instruction of each kind. What single bits of its bitcode make of it is in `tests/reader.rs`.
target triple = "nvptx64-nvidia-cuda"
define float @chosen(i1 %cond, float %x, i32 %n, ptr %p) {
entry:
  switch i32 %n, label %other [ i32 1, label %other
                                i32 3, label %first ]
first:
  %sum = fadd float %x, 2.0
  %less = fcmp olt float %sum, %x
  %one = select i1 %cond, float %sum, float %x
  store float %one, ptr %p
  ret float %one
other:
  %difference = sub i32 %n, 7
  %same = icmp eq i32 %difference, %n
  store i32 %difference, ptr %p
  %y = load float, ptr %p
  ret float %y
}
