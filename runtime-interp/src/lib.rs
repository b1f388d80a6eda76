//! Load a PTX module and run it on the CPU.
