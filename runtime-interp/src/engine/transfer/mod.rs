//! Asynchronous transfers: copies, stores and reductions that a thread starts and the machine completes later
//! (PTX ISA 9.0, 9.7.9.12, 9.7.9.25 and 9.7.13.7).
//!
//! A transfer is put in flight and gets two times: when it reads and when it is complete. It happens when the cluster's clock has
//! come there, when a thread waits for it, or when no thread has anything else to do, and not before: a kernel that forgets to
//! wait sees the old bytes. With a seed the times are drawn, and transfers overtake each other.
//!
//! - `start`, `tensor`, `cells` and `product` check the operands of an instruction and make a [`piece::Piece`] of each lane; `warp_copy` is
//!   the short way for a plain `cp.async` of a warp.
//! - [`flight`] is the queue of a cluster.
//! - `progress` reads, writes and signals what is due; `groups` what a thread waits for.
//! - [`places`] are the ends of transfers in memory.

mod cells;
mod flight;
mod groups;
mod piece;
mod places;
mod product;
mod progress;
mod response;
mod start;
mod tensor;
mod warp_copy;

pub(crate) use response::first_block;
pub use response::is_cancelled;

pub(in crate::engine) use flight::Flight;
