//! Hot kernels as machine code of the host, through `cranelift-codegen`.
