//! Nothing: the examples are what is linked.
#![no_std]
