//! Control: which instruction of which warp is next, from the group of lanes up to the grid.

mod asynchronous;
pub(in crate::engine) mod block;
mod call;
pub(in crate::engine) mod cluster;
pub(in crate::engine) mod context;
pub(crate) mod grid;
pub(in crate::engine) mod local;
pub(in crate::engine) mod region;
mod report;
mod rounds;
pub(in crate::engine) mod run;
pub(in crate::engine) mod schedule;
mod sides;
pub(in crate::engine) mod standstill;
mod step;
mod system;
pub(in crate::engine) mod warp;
