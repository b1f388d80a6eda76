//! Facts about a function that passes ask for. Each is computed from scratch when a pass needs it: on functions of the size of a
//! kernel that costs less than keeping it current would. Dominators are [`warpsmith_ir::DominatorTree`].

mod cfg;
mod loops;

pub use cfg::Cfg;
pub use loops::{Loop, Loops};
