//! Facts about functions: control flow, dominators, post-dominators, loops, pointers, memory, ranges of integers, uniformity, arguments that nothing reads; and what keeps them between passes.

mod alias;
pub(crate) mod align;
mod cfg;
pub(crate) mod conditions;
mod loops;
mod memory;
mod nest;
mod postdom;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not computed may be any number")]
mod ranges;
mod uniform;
mod unread;

use crate::pass::Aspects;
pub use alias::{Access, Effect, Object, Pointer, Pointers, Root};
pub(crate) use align::{align_at, alignment_of};
pub use cfg::Cfg;
pub use loops::{Loop, Loops};
pub use memory::{Memory, Version};
pub(crate) use nest::Nest;
pub use postdom::PostDominators;
pub use ranges::{Below, Range, Ranges};
pub(crate) use ranges::{distance, exact, width};
use std::any::{Any, TypeId};
use std::sync::Arc;
pub use uniform::Uniformity;
pub use unread::Unread;
use warpsmith_ir::{Compacted, DominatorTree, Function};

/// Something that is computed from a function and kept until a pass changes what it was computed from.
///
/// A type of a crate that uses this one can be an analysis too: [`Analyses::get`] computes and keeps it like those here.
pub trait Analysis: PartialEq + Send + Sync + 'static {
    /// The name, for messages.
    const NAME: &'static str;
    /// What of a function it is computed from, directly or through other analyses.
    const READS: Aspects;

    /// Computes it. Other analyses of the function are to be had from `analyses`.
    fn compute(func: &Function, analyses: &mut Analyses) -> Self;
}

impl Analysis for Cfg {
    const NAME: &'static str = "control flow";
    const READS: Aspects = Aspects::CONTROL_FLOW;

    fn compute(func: &Function, _: &mut Analyses) -> Self {
        Cfg::compute(func)
    }
}

impl Analysis for DominatorTree {
    const NAME: &'static str = "dominators";
    const READS: Aspects = Aspects::CONTROL_FLOW;

    fn compute(func: &Function, _: &mut Analyses) -> Self {
        DominatorTree::new(func)
    }
}

impl Analysis for Loops {
    const NAME: &'static str = "loops";
    const READS: Aspects = Aspects::CONTROL_FLOW;

    fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let (cfg, dominators) = (analyses.get::<Cfg>(func), analyses.get::<DominatorTree>(func));
        Loops::compute(&cfg, &dominators)
    }
}

/// The analyses of one function that are known to hold.
///
/// ```
/// use warpsmith_ir::{self as ir, DominatorTree};
/// use warpsmith_lower::{Aspects, analysis::{Analyses, Loops}};
/// let module = ir::parse_module("func @f() {\nentry:\n  jump loop\nloop:\n  jump loop\n}\n").unwrap();
/// let func = module.functions.values().next().unwrap();
/// let mut analyses = Analyses::default();
/// assert_eq!(analyses.get::<Loops>(func).iter().count(), 1);
/// // Loops were found by dominators, which are there now.
/// let dominators = analyses.get::<DominatorTree>(func);
/// analyses.invalidate(Aspects::INSTRUCTIONS);
/// assert!(std::sync::Arc::ptr_eq(&dominators, &analyses.get::<DominatorTree>(func)));
/// analyses.invalidate(Aspects::CONTROL_FLOW);
/// assert!(!std::sync::Arc::ptr_eq(&dominators, &analyses.get::<DominatorTree>(func)));
/// ```
#[derive(Default)]
pub struct Analyses {
    held: Vec<Held>,
    notes: Notes,
}

/// What a pass notes of a function for its next run.
pub trait Note: Any + Send {
    /// Called before the function gets [new numbers](Function::compact), of which there is none for what is not in its layout.
    fn before_new_numbers(&mut self, func: &Function);

    /// Called after the function got new numbers: what was noted by old ones has to be noted by new ones, or to be forgotten.
    fn new_numbers(&mut self, func: &Function, old: &Compacted);
}

/// What passes noted of a function: it stays when analyses go.
#[derive(Default)]
struct Notes(Vec<Box<dyn Note>>);

/// A function is compacted when so many times as many instructions have been made as are in its layout...
const SPARSE: usize = 2;
/// ... and so many more.
const SPARE: usize = 64;

struct Held {
    id: TypeId,
    name: &'static str,
    reads: Aspects,
    value: Arc<dyn Any + Send + Sync>,
    /// Whether computing it again gives the same.
    holds: fn(&dyn Any, &Function) -> bool,
}

impl Analyses {
    /// An analysis of the function, which must be the one that this was asked about before.
    pub fn get<A: Analysis>(&mut self, func: &Function) -> Arc<A> {
        let id = TypeId::of::<A>();
        let known = self.held.iter().find(|held| held.id == id);
        if let Some(value) = known.and_then(|held| held.value.clone().downcast::<A>().ok()) {
            return value;
        }
        let value = Arc::new(A::compute(func, self));
        let holds = |value: &dyn Any, func: &Function| {
            value
                .downcast_ref::<A>()
                .is_some_and(|value| *value == A::compute(func, &mut Analyses::default()))
        };
        self.held.push(Held { id, name: A::NAME, reads: A::READS, value: value.clone(), holds });
        value
    }

    /// What a pass noted of the function when it ran last, empty at first. It is never dropped: the pass itself decides what of it still holds.
    pub fn notes<N: Note + Default>(&mut self) -> &mut N {
        let Notes(all) = &mut self.notes;
        let at = all.iter().position(|notes| (&**notes as &dyn Any).is::<N>()).unwrap_or_else(|| {
            all.push(Box::new(N::default()));
            all.len() - 1
        });
        (&mut *all[at] as &mut dyn Any).downcast_mut().expect("found by its type")
    }

    /// Compacts the function if passes have left many things behind in it.
    pub(crate) fn compact(&mut self, func: &mut Function) {
        if func.debug.is_some() || func.dfg.num_insts() <= SPARSE * func.layout.num_insts() + SPARE {
            return;
        }
        let Notes(notes) = &mut self.notes;
        notes.iter_mut().for_each(|note| note.before_new_numbers(func));
        if let Some(old) = func.compact() {
            notes.iter_mut().for_each(|note| note.new_numbers(func, &old));
            self.held.clear();
        }
    }

    /// Forgets what was computed from aspects that have changed.
    pub fn invalidate(&mut self, changed: Aspects) {
        self.held.retain(|held| !held.reads.intersects(changed));
    }

    /// The name of an analysis that is held and does not hold: a pass changed more than it said.
    pub(crate) fn stale(&self, func: &Function) -> Option<&'static str> {
        self.held.iter().find(|held| !(held.holds)(&*held.value, func)).map(|held| held.name)
    }
}
