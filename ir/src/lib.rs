//! Typed SSA for GPU kernels: entities, builder, text form, verifier.
