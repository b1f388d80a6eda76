//! Combined observers: a pair notifies both, the first one first, and pairs nest; `Option` and references forward.

use super::*;

/// Calls a macro with every method that has no result.
macro_rules! with_methods {
    ($implement:ident, $($subject:tt)*) => {
        $implement! { $($subject)*;
            begin(launch: &LaunchView<'_>);
            counted(executions: &[Executions]);
            end(launch: &LaunchView<'_>, fault: Option<&Fault>);
            block_started(block: &BlockView);
            block_ended(block: &BlockView);
            exited(at: &At<'_>);
            instruction(at: &At<'_>, registers: &Registers<'_>);
            results(at: &At<'_>, registers: &Registers<'_>);
            access(at: &At<'_>, kind: AccessKind, access: &Access, space: StateSpace, addresses: Addresses<'_>);
            overwrites(at: &At<'_>, bytes: &Overwritten<'_>);
            stored(at: &At<'_>, registers: &Registers<'_>);
            branch(at: &At<'_>, taken: u32);
            switched(at: &At<'_>, entry: u32);
            crossed(at: &At<'_>, crossing: &Crossing<'_>);
            exchanged(at: &At<'_>, participants: &[Participant<'_>], from: Option<&[u8; 32]>);
            transfer(at: &At<'_>, number: u64, stage: Stage);
            synchronise(at: &At<'_>, sync: Sync);
            tainted(at: &At<'_>, r: Reg, frame: FrameView, undefined: u32);
            marked(at: &At<'_>, number: u32, condition: Option<u32>);
            allocated(at: &At<'_>, address: u64, bytes: u64);
            freed(at: &At<'_>, address: u64);
        }
    };
}

macro_rules! pair {
    (; $($name:ident($($arg:ident: $ty:ty),*);)*) => {
        impl<A: Observer, B: Observer> Observer for (A, B) {
            fn is_active(&self) -> bool {
                self.0.is_active() || self.1.is_active()
            }

            fn interest(&self) -> Interest {
                self.0.interest().or(self.1.interest())
            }

            $(#[inline]
            fn $name(&mut self, $($arg: $ty),*) {
                self.0.$name($($arg),*);
                self.1.$name($($arg),*);
            })*

            fn fault(&mut self, at: &At<'_>, fault: &Fault, access: Option<&BadAccess<'_>>) -> Verdict {
                let verdicts = [self.0.fault(at, fault, access), self.1.fault(at, fault, access)];
                if verdicts.contains(&Verdict::Skip) { Verdict::Skip } else { Verdict::Stop }
            }

            fn is_undefined(&mut self, at: &At<'_>, place: MemoryRange) -> bool {
                self.0.is_undefined(at, place) | self.1.is_undefined(at, place)
            }

            fn undefined_lanes(&mut self, at: &At<'_>, r: Reg, frame: FrameView) -> u32 {
                self.0.undefined_lanes(at, r, frame) | self.1.undefined_lanes(at, r, frame)
            }

            fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
                self.0.breaks(at, executed) | self.1.breaks(at, executed)
            }

            /// Each gets the stops of the other; the last one that decides how the run continues prevails.
            fn stopped(&mut self, view: &mut View<'_>) -> Resume {
                let first = self.0.stopped(view);
                match self.1.stopped(view) {
                    Resume::Run => first,
                    second => second,
                }
            }

            fn faulted(&mut self, view: &mut View<'_>, fault: &Fault) {
                self.0.faulted(view, fault);
                self.1.faulted(view, fault);
            }
        }
    };
}
with_methods!(pair,);

macro_rules! option {
    (; $($name:ident($($arg:ident: $ty:ty),*);)*) => {
        impl<O: Observer> Observer for Option<O> {
            fn is_active(&self) -> bool {
                self.as_ref().is_some_and(O::is_active)
            }

            fn interest(&self) -> Interest {
                self.as_ref().map_or(Interest::RARE, O::interest)
            }

            $(#[inline]
            fn $name(&mut self, $($arg: $ty),*) {
                if let Some(observer) = self {
                    observer.$name($($arg),*);
                }
            })*

            fn fault(&mut self, at: &At<'_>, fault: &Fault, access: Option<&BadAccess<'_>>) -> Verdict {
                self.as_mut().map_or(Verdict::Stop, |o| o.fault(at, fault, access))
            }

            fn is_undefined(&mut self, at: &At<'_>, place: MemoryRange) -> bool {
                self.as_mut().is_some_and(|o| o.is_undefined(at, place))
            }

            fn undefined_lanes(&mut self, at: &At<'_>, r: Reg, frame: FrameView) -> u32 {
                self.as_mut().map_or(0, |o| o.undefined_lanes(at, r, frame))
            }

            fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
                self.as_mut().is_some_and(|o| o.breaks(at, executed))
            }

            fn stopped(&mut self, view: &mut View<'_>) -> Resume {
                self.as_mut().map_or(Resume::Run, |o| o.stopped(view))
            }

            fn faulted(&mut self, view: &mut View<'_>, fault: &Fault) {
                if let Some(observer) = self {
                    observer.faulted(view, fault);
                }
            }
        }
    };
}
with_methods!(option,);

macro_rules! reference {
    (; $($name:ident($($arg:ident: $ty:ty),*);)*) => {
        impl<O: Observer + ?Sized> Observer for &mut O {
            fn is_active(&self) -> bool {
                (**self).is_active()
            }

            fn interest(&self) -> Interest {
                (**self).interest()
            }

            $(#[inline]
            fn $name(&mut self, $($arg: $ty),*) {
                (**self).$name($($arg),*);
            })*

            fn fault(&mut self, at: &At<'_>, fault: &Fault, access: Option<&BadAccess<'_>>) -> Verdict {
                (**self).fault(at, fault, access)
            }

            fn is_undefined(&mut self, at: &At<'_>, place: MemoryRange) -> bool {
                (**self).is_undefined(at, place)
            }

            fn undefined_lanes(&mut self, at: &At<'_>, r: Reg, frame: FrameView) -> u32 {
                (**self).undefined_lanes(at, r, frame)
            }

            fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
                (**self).breaks(at, executed)
            }

            fn stopped(&mut self, view: &mut View<'_>) -> Resume {
                (**self).stopped(view)
            }

            fn faulted(&mut self, view: &mut View<'_>, fault: &Fault) {
                (**self).faulted(view, fault);
            }
        }
    };
}
with_methods!(reference,);
