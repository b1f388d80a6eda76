//! The instructions of PTX that do more than compute: memory, atomics, synchronisation, warp-level operations.
//!
//! [`emit`] puts one into a function, from its mnemonic and its operands. Both decoders go through here (as through
//! [`pure`](crate::pure)), so that a form means the same in PTX and in the IR's table-derived operations. What a decoder must
//! know more than operands for — branches, calls, special registers and names — is its own.
//!
//! ```
//! use warpsmith_interp::effects::{self, Source};
//! use warpsmith_interp::engine::{Address, FunctionKind, ProgramBuilder, Width};
//! use warpsmith_isa::Mnemonic;
//! let mut program = ProgramBuilder::new();
//! let kernel = program.declare("k", FunctionKind::kernel([("p", 8, 8)]));
//! let mut body = program.body(kernel);
//! let (p, old) = (body.reg(Width::W64), body.reg(Width::W32));
//! let mut emit = |text: &str, dst: &[_], src: &[_]| effects::emit(&mut body, &Mnemonic::parse(text).unwrap(), dst, src);
//! assert!(emit("ld.param.b64", &[Some(p)], &[Source::Address(Address::Absolute(0))]));
//! assert!(emit("atom.global.add.u32", &[Some(old)], &[Source::Address(Address::Reg(p, 0)), Source::Bits(1)]));
//! assert!(!emit("add.u32", &[Some(old)], &[Source::Reg(old), Source::Bits(1)]));
//! ```

mod atomic;
mod cluster;
mod mbarrier;
mod memory;
mod multimem;
mod transfer;
mod warp;

use crate::engine::{Address, Fence, FunctionBuilder, Guard, Order, Reg, Scope, Width, lanes};
use smallvec::SmallVec;
use warpsmith_isa::{Mnemonic, ScalarType, StateSpace};

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A register or constant.
    Reg(Reg),
    /// A literal, as the bits of the type it is used as.
    Bits(u64),
    /// `!p`
    Not(Reg),
    /// `[a]`
    Address(Address),
    /// `_`, an element of a vector that a store leaves alone.
    Sink,
}

/// A mnemonic as its words: the opcode's first, then all others, of the opcode and of the modifiers alike.
pub(crate) struct Words {
    head: &'static str,
    words: SmallVec<[&'static str; 12]>,
    types: SmallVec<[ScalarType; 2]>,
    space: Option<StateSpace>,
}

impl Words {
    fn new(mnemonic: &Mnemonic) -> Self {
        let mut words: SmallVec<[&'static str; 12]> = mnemonic.opcode().text().split('.').collect();
        let head = words.remove(0);
        words.extend(mnemonic.mods().iter().map(|m| m.text()));
        // `.tex` is a word of textures, and no memory that an instruction here could reach.
        let space = mnemonic.mods().iter().find_map(|m| m.space()).filter(|s| *s != StateSpace::Tex);
        Words { head, words, types: mnemonic.types().collect(), space }
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The first type named.
    fn ty(&self) -> Option<ScalarType> {
        self.types.first().copied()
    }

    /// The value that the first of the words present stands for.
    fn pick<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|(word, _)| self.has(word)).map(|(_, value)| *value)
    }

    fn scope(&self) -> Scope {
        self.scope_or(Scope::default())
    }

    fn scope_or(&self, default: Scope) -> Scope {
        let named = [
            ("cta", Scope::Cta),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Gpu),
            ("gl", Scope::Gpu),
            ("sys", Scope::Sys),
        ];
        self.pick(&named).unwrap_or(default)
    }

    /// The state spaces in order, and whether shared memory is that of the cluster.
    fn spaces(&self) -> impl Iterator<Item = (StateSpace, bool)> + '_ {
        self.words.iter().filter_map(|w| {
            Some(match *w {
                "global" => (StateSpace::Global, false),
                "shared" | "shared::cta" => (StateSpace::Shared, false),
                "shared::cluster" => (StateSpace::Shared, true),
                _ => return None,
            })
        })
    }

    fn order(&self) -> Option<Order> {
        self.pick(&[
            ("mmio", Order::Mmio),
            ("volatile", Order::Volatile),
            ("relaxed", Order::Relaxed),
            ("acquire", Order::Acquire),
            ("release", Order::Release),
            ("acq_rel", Order::AcqRel),
            ("sc", Order::SeqCst),
            ("weak", Order::Weak),
        ])
    }

    /// Elements of the vector that the instruction moves.
    fn elements(&self) -> usize {
        self.pick(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }
}

/// Emits the instruction; false if it is none of these, or has no semantics.
///
/// `dst` are the destinations in the instruction's order, elements of a vector and the two of `d|p` one by one, `None` for a
/// sink or one that is not written; `src` the sources alike. An address in `.param` space is [`Address::Absolute`] for a
/// parameter of the kernel and [`Address::Stack`] for one of a function.
pub fn emit(
    body: &mut FunctionBuilder<'_>,
    mnemonic: &Mnemonic,
    dst: &[Option<Reg>],
    src: &[Source],
) -> bool {
    let words = Words::new(mnemonic);
    let emitted = match words.head {
        "st" | "red" if words.has("async") => transfer::store(body, &words, src),
        "st" if words.has("bulk") => transfer::fill(body, &words, src),
        "ld" | "ldu" | "st" => memory::access(body, &words, dst, src),
        "cp" => transfer::copy(body, &words, src),
        "mbarrier" => mbarrier::emit(body, &words, dst, src),
        "multimem" => multimem::emit(body, &words, dst, src),
        "mapa" | "getctarank" => cluster::address(body, &words, dst, src),
        "barrier" if words.has("cluster") => cluster::barrier(body, &words),
        "clusterlaunchcontrol" if words.has("try_cancel") => transfer::try_cancel(body, &words, src),
        "clusterlaunchcontrol" => cluster::query_cancel(body, &words, dst, src),
        "atom" | "red" => atomic::emit(body, &words, dst, src),
        "cvta" | "isspacep" | "createpolicy" => memory::address(body, &words, dst, src),
        "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => {
            warp::collective(body, &words, dst, src)
        }
        "bar" | "barrier" => warp::barrier(body, &words, dst, src),
        "tensormap" if words.has("cp_fenceproxy") => memory::copy_tensor_map(body, &words, src),
        "membar" | "fence" => memory::fence(body, &words),
        "nanosleep" => {
            body.yield_turn();
            Some(())
        }
        "trap" | "brkpt" => {
            body.trap();
            Some(())
        }
        "exit" => {
            body.exit();
            Some(())
        }
        // The grids that a grid could wait for are complete before it is launched.
        "griddepcontrol" => {
            body.fence(Fence { order: Order::AcqRel, scope: Scope::Gpu });
            Some(())
        }
        "alloca" | "stacksave" | "stackrestore" => memory::stack(body, &words, dst, src),
        // Hints: to caches, to a profiler, to the allocator of registers.
        "prefetch" | "prefetchu" | "applypriority" | "discard" | "pmevent" | "setmaxnreg" => Some(()),
        _ => None,
    };
    emitted.is_some()
}

/// A source as a register; a literal as a constant of the width.
fn value(body: &mut FunctionBuilder<'_>, source: Option<&Source>, width: Width) -> Option<Reg> {
    Some(match *source? {
        Source::Reg(r) => r,
        Source::Bits(bits) => body.constant(bits.into(), width),
        Source::Not(p) => {
            let d = body.reg(Width::Pred);
            body.lanes(lanes::vector(|p: bool| !p), &[d], &[p]);
            d
        }
        Source::Address(_) | Source::Sink => return None,
    })
}

/// A predicate source with its negation.
fn predicate(body: &mut FunctionBuilder<'_>, source: Option<&Source>) -> Option<Guard> {
    Some(match *source? {
        Source::Reg(pred) => Guard { pred, negated: false },
        Source::Not(pred) => Guard { pred, negated: true },
        Source::Bits(bits) => Guard { pred: body.constant(bits.into(), Width::Pred), negated: false },
        Source::Address(_) | Source::Sink => return None,
    })
}

fn address(source: Option<&Source>) -> Option<Address> {
    match source? {
        Source::Address(address) => Some(*address),
        _ => None,
    }
}
