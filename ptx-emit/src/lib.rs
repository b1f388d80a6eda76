//! Selected code to a PTX module: registers, ABI, directives.
