//! Runs that stand still between instructions.

use warpsmith_interp::observe::{At, Interest, Observer, Registers, Resume, View, Waits, WarpId};
use warpsmith_interp::{Device, Fault, FaultCode, Launch, Program, Schedule};
use warpsmith_isa::StateSpace;
use warpsmith_ptx::ValidatedModule;

/// Loads a module whose header is left out. The header is one line, so that line 2 is the text's first.
fn load(text: &str) -> Program {
    let source = format!(".version 9.0 .target sm_90 .address_size 64\n{text}");
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// A kernel `k(.param .u64 out)` whose body may use `%r %rd`, `%out` being the address of the parameter's buffer.
fn kernel(body: &str) -> Program {
    load(&format!(
        ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; ld.param.u64 %out, [out];\n{body}\nret; }}"
    ))
}

/// What was executed, in order, and where it stood still.
#[derive(Default)]
struct Trace<const STOPS: bool> {
    executed: Vec<(u32, [u32; 3], u32, u32)>,
    stops: u64,
    last: Option<([u32; 3], u32, u64, u32)>,
}

impl<const STOPS: bool> Observer for Trace<STOPS> {
    fn interest(&self) -> Interest {
        Interest { stops: STOPS, ..Interest::ALL }
    }

    fn instruction(&mut self, at: &At<'_>, _: &Registers<'_>) {
        self.executed.push((at.pc, at.block, at.warp, at.mask));
    }

    fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
        let here = Some((at.block, at.warp, executed, at.pc));
        std::mem::replace(&mut self.last, here) != here
    }

    fn stopped(&mut self, view: &mut View<'_>) -> Resume {
        self.stops += 1;
        let running = view.running().unwrap();
        assert!(view.can_run(running));
        for id in view.warps() {
            let all = view.lanes(id).iter().fold(0, |mask, lanes| mask | lanes.mask);
            assert_eq!(all, view.alive(id));
        }
        Resume::Run
    }
}

fn trace<const STOPS: bool>(program: &Program, launch: &Launch) -> (Trace<STOPS>, Vec<u32>) {
    let mut device = Device::new();
    let out = device.upload(&[0u32; 64]).unwrap();
    let mut trace = Trace::default();
    device.launch_observed(program, &launch.clone().arg(out), &mut trace).unwrap();
    (trace, device.download(out).unwrap())
}

#[test]
fn stops_change_nothing() {
    // A lock that diverged lanes of several blocks take one by one, a call, and a barrier.
    let program = load(
        "
.global .u32 lock;
.func (.reg .u32 %ret) twice(.reg .u32 %x) { add.u32 %ret, %x, %x; ret; }
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 3;
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra SKIP;
LOCK:
    atom.global.cas.b32 %r2, [lock], 0, 1;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra LOCK;
    ld.volatile.global.u32 %r3, [%rd0];
    call (%r4), twice, (%r1);
    add.u32 %r3, %r3, %r4;
    st.volatile.global.u32 [%rd0], %r3;
    atom.global.exch.b32 %r2, [lock], 0;
SKIP:
    bar.sync 0;
    mad.wide.u32 %rd1, %r0, 4, %rd0;
    st.global.u32 [%rd1+4], %r1;
    ret;
}",
    );
    let plain = Launch::new("k").grid([3, 1, 1]).block([40, 1, 1]);
    let mut launches = vec![plain.clone()];
    launches.extend(Schedule::ALL.map(|schedule| {
        let launch = plain.clone().schedule(schedule).seed(7);
        // Threads that stay together contend for a lock without end, or nearly so.
        if schedule == Schedule::LowestPc { launch.grid([1; 3]).block([8, 1, 1]) } else { launch }
    }));
    for launch in launches {
        let (free, result) = trace::<false>(&program, &launch);
        let (held, same) = trace::<true>(&program, &launch);
        assert_eq!(result, same);
        assert!(free.executed == held.executed, "{:?} runs differently when stopped", launch.schedule);
        assert_eq!((free.stops, held.stops), (0, held.executed.len() as u64));
    }
}

#[test]
fn clocks_and_copies_go_on_as_without_stops() {
    // Text costs ticks beside instructions, and copies complete by the clock of the cluster.
    let program = load(
        "
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .b8 text[20] = {97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 10, 0};
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
    .shared .align 8 .b64 object;
    .shared .b32 tile[96];
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra MADE;
    mbarrier.init.shared.b64 [object], 192;
MADE:
    bar.sync 0;
    mov.u32 %r1, tile;
    mad.lo.u32 %r1, %r0, 4, %r1;
    mov.u64 %rd1, text;
    cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, 0;
    {
        .param .b64 f; .param .b64 a; .param .b32 r;
        st.param.b64 [f], %rd1;
        st.param.b64 [a], %rd2;
        call (r), vprintf, (f, a);
    }
    cp.async.ca.shared.global [%r1], [%rd0], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [object];
    mov.u32 %r2, %clock;
    mbarrier.arrive.shared.b64 %rd3, [object];
WAIT:
    mbarrier.test_wait.shared.b64 %p1, [object], %rd3;
    @!%p1 bra WAIT;
    mov.u32 %r3, %clock;
    add.u32 %r2, %r2, %r3;
    and.b32 %r4, %r0, 31;
    mad.wide.u32 %rd4, %r4, 4, %rd0;
    setp.ge.u32 %p2, %r0, 64;
    @%p2 st.global.u32 [%rd4+4], %r2;
    ret;
}",
    );
    let plain = Launch::new("k").block([96, 1, 1]);
    let mut launches = vec![plain.clone()];
    launches.extend(Schedule::ALL.map(|schedule| plain.clone().schedule(schedule).seed(3)));
    for launch in launches {
        let (free, result) = trace::<false>(&program, &launch);
        let (held, same) = trace::<true>(&program, &launch);
        assert!(free.executed == held.executed, "{:?} runs differently when stopped", launch.schedule);
        assert_eq!(result, same, "{:?}", launch.schedule);
    }
}

/// Stops where an instruction of a mnemonic is about to be executed, and does what the test says.
struct At1<F> {
    mnemonic: &'static str,
    act: F,
    seen: Option<(u32, u64)>,
    faults: Vec<Fault>,
}

impl<F: FnMut(&mut View<'_>) -> Resume + Send> Observer for At1<F> {
    fn interest(&self) -> Interest {
        Interest { stops: true, ..Interest::ALL }
    }

    fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
        let here = Some((at.warp, executed));
        at.mnemonic() == self.mnemonic && std::mem::replace(&mut self.seen, here) != here
    }

    fn stopped(&mut self, view: &mut View<'_>) -> Resume {
        (self.act)(view)
    }

    fn faulted(&mut self, _: &mut View<'_>, fault: &Fault) {
        self.faults.push(fault.clone());
    }
}

fn act(
    program: &Program,
    threads: u32,
    mnemonic: &'static str,
    act: impl FnMut(&mut View<'_>) -> Resume + Send,
) -> (Result<Vec<u32>, Fault>, Vec<Fault>) {
    let mut device = Device::new();
    let out = device.upload(&vec![0u32; threads as usize]).unwrap();
    let mut observer = At1 { mnemonic, act, seen: None, faults: Vec::new() };
    let launch = Launch::new("k").block([threads, 1, 1]).arg(out);
    let result = device.launch_observed(program, &launch, &mut observer);
    (result.map(|_| device.download(out).unwrap()), observer.faults)
}

#[test]
fn registers_and_memory_are_read_and_written() {
    let program = kernel(
        ".shared .u32 s; .local .b8 l[8]; .reg .u16 %h; .reg .pred %q;
         mov.u32 %r0, %tid.x; mov.u16 %h, 7; setp.eq.u32 %q, %r0, 1; st.local.u32 [l+4], %r0; st.shared.u32 [s], 41;
         mad.wide.u32 %rd0, %r0, 4, %out; bar.sync 0;
         ld.shared.u32 %r1, [s]; ld.local.u32 %r2, [l+4]; cvt.u32.u16 %r3, %h; selp.u32 %r4, 1000, 0, %q;
         add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; st.global.u32 [%rd0], %r1;",
    );
    let (result, _) = act(&program, 40, "bar.sync", |view| {
        let id = view.running().unwrap();
        let frames = view.frames(id, 2);
        let [frame] = frames[..] else { panic!("{frames:?}") };
        let program = view.launch().program();
        let names = program.registers(frame.function).to_vec();
        let reg = |name: &str| names.iter().find(|r| &*r.name == name).unwrap().reg;
        if id.warp == 0 {
            assert_eq!(view.register(id, 2, 0, reg("%r0")), Some(2));
            assert_eq!(view.register(id, 1, 0, reg("%q")), Some(1));
            assert!(view.set_register(id, 2, 0, reg("%h"), 0x64));
            assert!(view.set_register(id, 3, 0, reg("%q"), 1));
            assert!(!view.set_register(id, 3, 1, reg("%q"), 1));
            let mut word = [0; 4];
            view.read(id, 5, StateSpace::Shared, 0, &mut word).unwrap();
            assert_eq!(u32::from_le_bytes(word), 41);
            view.read(id, 5, StateSpace::Local, 4, &mut word).unwrap();
            assert_eq!(u32::from_le_bytes(word), 5);
            view.write(id, 5, StateSpace::Local, 4, &500u32.to_le_bytes()).unwrap();
            let wrong = view.read(id, 5, StateSpace::Shared, 2, &mut word).unwrap_err();
            assert!(wrong.contains("ends 2 bytes past the end"), "{wrong}");
            assert!(view.read(id, 5, StateSpace::Global, 64, &mut word).is_err());
            assert!(view.read(id, 5, StateSpace::Local, u64::MAX, &mut word).is_err());
            assert!(view.read(id, 5, StateSpace::Const, 0, &mut word).is_err());
        } else {
            let other = WarpId { warp: 0, ..id };
            view.write(other, 5, StateSpace::Shared, 0, &42u32.to_le_bytes()).unwrap();
            assert_eq!(view.alive(id), 0xff);
            assert_eq!(view.lanes(other)[0].waits, Waits::Barrier { id: 0, arrived: true });
            assert_eq!(view.register(other, 31, 0, reg("%r0")), Some(31));
            assert_eq!(view.register(id, 31, 0, reg("%r0")), None);
        }
        Resume::Run
    });
    let expected = |i: u32| match i {
        2 => 42 + 2 + 0x64,
        5 => 42 + 500 + 7,
        1 | 3 => 42 + i + 7 + 1000,
        _ => 42 + i + 7,
    };
    assert_eq!(result.unwrap(), (0..40).map(expected).collect::<Vec<_>>());
}

#[test]
fn one_warp_goes_on_alone_and_a_launch_is_ended() {
    let program = kernel(
        "mov.u32 %r0, %tid.x; bar.sync 0; bar.sync 1; mad.wide.u32 %rd63, %r0, 4, %out; st.global.u32 [%rd63], %r0;",
    );
    let mut order = Vec::new();
    let (result, faults) = act(&program, 96, "bar.sync", |view| {
        let id = view.running().unwrap();
        order.push(id.warp);
        match order.len() {
            1 => Resume::Turn(WarpId { warp: 2, ..id }),
            2 => Resume::Turn(WarpId { warp: 1, ..id }),
            _ => Resume::Run,
        }
    });
    assert!(result.is_ok() && faults.is_empty());
    assert_eq!(order[..3], [0, 2, 1]);

    let (result, faults) = act(&program, 96, "bar.sync", |_| Resume::End);
    assert_eq!(result.unwrap_err().code, FaultCode::Interrupted);
    assert_eq!(faults[0].code, FaultCode::Interrupted);
}

#[test]
fn the_frames_of_a_fault_are_there() {
    struct Frames(Vec<String>);
    impl Observer for Frames {
        fn interest(&self) -> Interest {
            Interest { stops: true, ..Interest::RARE }
        }

        fn faulted(&mut self, view: &mut View<'_>, fault: &Fault) {
            let id = WarpId { block: fault.block.unwrap(), warp: 0 };
            let program = view.launch().program();
            let frames = view.frames(id, fault.thread.unwrap()[0]);
            self.0 = frames
                .iter()
                .map(|f| format!("{} {}", program.function_name(f.function), program.line(f.pc)))
                .collect();
        }
    }
    let program = load(
        ".func inner(.reg .u64 %p) {
            st.global.u32 [%p], 1;
            ret;
        }
        .func outer(.reg .u64 %p) {
            call inner, (%p);
            ret;
        }
        .visible .entry k(.param .u64 out) {
            .reg .b64 %rd0;
            ld.param.u64 %rd0, [out];
            call outer, (%rd0);
            ret;
        }",
    );
    let mut frames = Frames(Vec::new());
    let launch = Launch::new("k").block([32, 1, 1]).arg(1u64 << 20);
    Device::new().launch_observed(&program, &launch, &mut frames).unwrap_err();
    assert_eq!(frames.0, ["inner 3", "outer 7", "k 13"]);
}

#[test]
fn without_stops_nothing_is_asked() {
    struct Never;
    impl Observer for Never {
        fn breaks(&mut self, _: &At<'_>, _: u64) -> bool {
            panic!("asked")
        }
    }
    let program = kernel("st.global.u32 [%out], 5;");
    let mut device = Device::new();
    let out = device.upload(&[0u32]).unwrap();
    device.launch_observed(&program, &Launch::new("k").arg(out), &mut Never).unwrap();
    assert_eq!(device.download::<u32>(out).unwrap(), [5]);
}
