//! What runs of a kernel cost and reach: counts by operation, and what is made of them.

mod counts;
pub mod coverage;
mod html;
pub mod profile;

pub use counts::{Counts, LaunchShape, Outcomes, StatementCount, TableOutcomes};
pub use coverage::Coverage;
pub use html::Page;
pub use profile::Profile;
