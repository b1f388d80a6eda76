//! CUDA's driver API over the engine: a `libcuda` for machines without a GPU.
