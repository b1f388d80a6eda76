//! Kernels in the IR with known answers, run on the IR's own meaning.

use warpsmith_interp::{Device, FaultCode, Launch, Program};

fn program(text: &str) -> Program {
    let module = warpsmith_ir::parse_module(text).unwrap_or_else(|d| panic!("{d:#?}\n{text}"));
    Program::from_ir(&module).unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
}

/// Runs `k(in, out)` with a thread for each of `threads` and gives what is in `out`.
fn run<O: warpsmith_interp::Plain + Default + Clone>(
    text: &str,
    input: &[impl warpsmith_interp::Plain],
    threads: u32,
    out: usize,
) -> Vec<O> {
    let program = program(text);
    let mut device = Device::new();
    let input = device.upload(input).unwrap();
    let output = device.upload(&vec![O::default(); out]).unwrap();
    let launch = Launch::new("k").block([threads, 1, 1]).arg(input).arg(output);
    device.launch(&program, &launch).unwrap_or_else(|f| panic!("{f:?}\n{text}"));
    device.download(output).unwrap()
}

/// A kernel that loads a value of one type for each thread, computes, and stores one of another.
fn map(from: &str, to: &str, body: &str) -> String {
    let bytes = |ty: &str| warpsmith_ir::Type::from_name(ty).and_then(|t| t.bytes()).unwrap();
    format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
entry:
  %t = sreg.tid.x
  %pi = index %in, %t, {}
  %po = index %out, %t, {}
  %x = load.{from} %pi
{body}
  store %r, %po
  ret
}}
",
        bytes(from),
        bytes(to)
    )
}

#[test]
fn small_integers_wrap_at_their_width() {
    let bytes: Vec<u8> = (0..=255).collect();
    let got: Vec<u8> = run(&map("i8", "i8", "  %c = iconst.i8 200\n  %r = iadd %x, %c"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == x.wrapping_add(200)));
    let got: Vec<u8> = run(&map("i8", "i8", "  %r = ashr %x, 3"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == (*x as i8 >> 3) as u8));
    let got: Vec<i32> = run(&map("i8", "i32", "  %y = imul %x, %x\n  %r = sext.i32 %y"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == x.wrapping_mul(*x) as i8 as i32));
    let got: Vec<i64> = run(&map("i8", "i64", "  %b = icmp slt %x, 0\n  %r = sext.i64 %b"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == if (*x as i8) < 0 { -1 } else { 0 }));
    let got: Vec<u8> = run(&map("i8", "i8", "  %r = clz %x"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == x.leading_zeros() as u8));
    let got: Vec<u16> = run(&map("i8", "i16", "  %n = bnot %x\n  %r = zext.i16 %n"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == !x as u16));
    let got: Vec<u8> = run(&map("i8", "i8", "  %r = rotl %x, 11"), &bytes, 256, 256);
    assert!(bytes.iter().zip(&got).all(|(x, r)| *r == x.rotate_left(3)));
}

#[test]
fn division_is_total() {
    let pairs = [(7i32, 0), (i32::MIN, -1), (-7, 2), (7, -2), (0, 0), (i32::MIN, 0)];
    let input: Vec<i32> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let text = "kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %t = sreg.tid.x
  %pi = index %in, %t, 8
  %po = index %out, %t, 16
  %a = load.i32 %pi
  %b = load.i32 %pi + 4
  %q = sdiv %a, %b
  %m = srem %a, %b
  %uq = udiv %a, %b
  %um = urem %a, %b
  store %q, %po
  store %m, %po + 4
  store %uq, %po + 8
  store %um, %po + 12
  ret
}
";
    let got: Vec<i32> = run(text, &input, 6, 24);
    for (i, (a, b)) in pairs.into_iter().enumerate() {
        let (ua, ub) = (a as u32, b as u32);
        let expected = if b == 0 {
            [-1; 4]
        } else {
            [a.wrapping_div(b), a.wrapping_rem(b), (ua / ub) as i32, (ua % ub) as i32]
        };
        assert_eq!(got[4 * i..4 * i + 4], expected, "{a} {b}");
    }
}

#[test]
fn block_parameters_move_in_parallel() {
    // Fibonacci swaps two parameters on each turn of the loop; a third rotates with them.
    let text = "kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %t = sreg.tid.x
  %zero = iconst.i32 0
  %one = iconst.i32 1
  jump loop(%t, %zero, %one, %zero, %one)
loop(%n: i32, %a: i32, %b: i32, %x: i32, %y: i32):
  %done = icmp eq %n, 0
  brif %done, out(%a, %x), turn
turn:
  %s = iadd %a, %b
  %m = isub %n, 1
  jump loop(%m, %b, %s, %y, %x)
out(%r: i32, %p: i32):
  %po = index %out, %t, 8
  store %r, %po
  store %p, %po + 4
  ret
}
";
    let got: Vec<u32> = run(text, &[0u32], 32, 64);
    let (mut a, mut b) = (0u32, 1u32);
    for n in 0..32 {
        assert_eq!((got[2 * n], got[2 * n + 1]), (a, n as u32 % 2), "{n}");
        (a, b) = (b, a.wrapping_add(b));
    }
}

#[test]
fn switches_calls_and_predicates_pass_through_functions() {
    let text = "func @pick(%c: i1, %x: i32, %y: i64) -> i64 {
entry:
  brif %c, yes, no
yes:
  %w = sext.i64 %x
  ret %w
no:
  ret %y
}
kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %t = sreg.tid.x
  %po = index %out, %t, 8
  %m = urem %t, 5
  %five = iconst.i64 5
  switch %m, other(%five), [0: zero, 1: other(%five), -1: zero, 3: three]
zero:
  %cz = icmp eq %t, 10
  %rz = call @pick(%cz, %t, %five)
  jump other(%rz)
three:
  %neg = ineg %t
  %ct = icmp ne %t, 3
  %rt = call @pick(%ct, %neg, %five)
  jump other(%rt)
other(%r: i64):
  store %r, %po
  ret
}
";
    let got: Vec<i64> = run(text, &[0u32], 32, 32);
    for (t, r) in got.into_iter().enumerate() {
        let expected = match t % 5 {
            0 if t == 10 => 10,
            3 if t != 3 => -(t as i64),
            _ => 5,
        };
        assert_eq!(r, expected, "{t}");
    }
}

#[test]
fn vectors_lie_packed() {
    let text = "kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %v = load.i8x8 %in
  %a = extract %v, 5
  %b = extract %v, 0
  %w = insert %v, %a, 3
  %u = insert %w, %b, 7
  store %u, %out
  %h = vec %a, %b
  store %h, %out + 8
  %f = load.f32x4 %in + 16
  %f0 = extract %f, 3
  %g = insert %f, %f0, 1
  store %g, %out + 16
  %bits = bitcast.i64 %v
  %wide = bitcast.i16x4 %bits
  %top = extract %wide, 3
  store %top, %out + 10
  ret
}
";
    let mut input: Vec<u8> = (0..16).map(|i| 0xa0 + i).collect();
    input.extend([1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|f| f.to_le_bytes()));
    let got: Vec<u8> = run(text, &input, 1, 32);
    assert_eq!(got[..8], [0xa0, 0xa1, 0xa2, 0xa5, 0xa4, 0xa5, 0xa6, 0xa0]);
    assert_eq!(got[8..12], [0xa5, 0xa0, 0xa6, 0xa7]);
    let floats: Vec<f32> = got[16..].chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!(floats, [1.0, 4.0, 3.0, 4.0]);
}

#[test]
fn accesses_below_natural_alignment_are_split() {
    let text = "kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %x = load.i64 %in + 3 align 1
  store %x, %out + 1 align 1
  %v = load.i32x4 %in + 2 align 2
  store %v, %out + 10 align 2
  ret
}
";
    let input: Vec<u8> = (0..32).collect();
    let got: Vec<u8> = run(text, &input, 1, 32);
    assert_eq!(got[1..9], input[3..11]);
    assert_eq!(got[10..26], input[2..18]);
    assert_eq!((got[0], got[9], got[26]), (0, 0, 0));
}

#[test]
fn natural_alignment_is_checked() {
    let program =
        program("kernel @k(%p: ptr<global>) {\nentry:\n  %x = load.i32 %p + 2\n  store %x, %p\n  ret\n}\n");
    let mut device = Device::new();
    let buffer = device.upload(&[0u32; 4]).unwrap();
    let fault = device.launch(&program, &Launch::new("k").arg(buffer)).unwrap_err();
    assert_eq!(fault.code, FaultCode::Misaligned);
}

#[test]
fn memory_of_every_space() {
    let text = "const @table: [i32; 4] = [10, 20, 30, 40]
global @counter: [i32; 2] = [7, 8]
shared @tile: [i32; 32] align 16
kernel @k(%in: ptr<global>, %out: ptr<global>) {
  stack %buf: 16 align 8
entry:
  %t = sreg.tid.x
  %m = band %t, 3
  %pt = global_addr @table
  %pe = index %pt, %m, 4
  %c = load.i32 %pe
  %ps = stack_addr %buf
  store %c, %ps + 8
  %generic = addrspacecast.ptr %ps
  %back = load.i32 %generic + 8
  %tile = global_addr @tile
  %mine = index %tile, %t, 4
  store %back, %mine
  ptx.bar.sync 0
  %other = bxor %t, 31
  %theirs = index %tile, %other, 4
  %x = load.i32 %theirs
  %pg = global_addr @counter
  %pgg = addrspacecast.ptr %pg
  %g = load.i32 %pgg + 4
  %s = iadd %x, %g
  %po = index %out, %t, 4
  store %s, %po
  ret
}
";
    let got: Vec<i32> = run(text, &[0u32], 32, 32);
    for (t, r) in got.into_iter().enumerate() {
        assert_eq!(r, [10, 20, 30, 40][(31 - t) % 4] + 8, "{t}");
    }
}

#[test]
fn parameters_by_value() {
    let text = "kernel @k(%c: i8, %s: byval(12, align 4), %out: ptr<global>, %f: i8) {
entry:
  %b = trunc.i1 %f
  %a = load.i32 %s + 4
  %w = sext.i32 %c
  %x = iadd %a, %w
  %y = select %b, %x, %w
  store %y, %out
  ret
}
";
    let program = program(text);
    let mut device = Device::new();
    let out = device.upload(&[0i32]).unwrap();
    let record: Vec<u8> = [1i32, 1000, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (flag, expected) in [(1u8, 995), (0, -5)] {
        let arg = warpsmith_interp::Arg::bytes(record.clone());
        let launch = Launch::new("k").arg(-5i8).arg(arg).arg(out).arg(flag);
        device.launch(&program, &launch).unwrap();
        assert_eq!(device.download::<i32>(out).unwrap(), [expected]);
    }
}

#[test]
fn floats_round_once() {
    let input = [1.0f32, 1.0 + f32::EPSILON, -2.5, f32::NAN, 3e38, 1e-45, -0.0, 65520.0];
    let got: Vec<u16> = run(&map("f32", "f16", "  %r = fptrunc.f16 %x"), &input, 8, 8);
    assert_eq!(got, [0x3c00, 0x3c00, 0xc100, 0x7fff, 0x7c00, 0, 0x8000, 0x7c00]);
    let got: Vec<i32> = run(&map("f32", "i32", "  %r = fptosi.i32 %x"), &input, 8, 8);
    assert_eq!(got, [1, 1, -2, 0, i32::MAX, 0, 0, 65520]);
    let got: Vec<u8> = run(&map("f32", "i8", "  %r = fptoui.i8 %x"), &input, 8, 8);
    assert_eq!(got, [1, 1, 0, 0, 255, 0, 0, 255]);
    let got: Vec<f32> = run(&map("f32", "f32", "  %r = ffloor %x"), &input[..3], 3, 3);
    assert_eq!(got, [1.0, 1.0, -3.0]);
    let fused = run::<f32>(
        &map("f32", "f32", "  %n = fneg %x\n  %p = fmul %x, %x\n  %q = fneg %p\n  %r = fma %x, %x, %q"),
        &input[1..2],
        1,
        1,
    );
    assert_eq!(fused, [f32::EPSILON * f32::EPSILON], "the rounding error of the product");
    let long = [(1i64 << 53) + 1, i64::MIN, -1];
    let got: Vec<f32> = run(&map("i64", "f32", "  %r = sitofp.f32 %x"), &long, 3, 3);
    assert_eq!(got, long.map(|x| x as f32));
    let halves: Vec<u16> = (0..256).map(|i| i * 257).collect();
    let got: Vec<u16> = run(&map("f16", "f16", "  %r = fsqrt %x"), &halves, 256, 256);
    for (x, r) in halves.iter().zip(got) {
        let wide = warpsmith_semantics::value::convert::single_from_f16(*x);
        let root = f32::from_bits(wide).sqrt();
        // The root of an f16 in f32 rounds on to the right f16.
        assert_eq!(r, warpsmith_semantics::value::convert::f16_from_single(root.to_bits()), "{x:#x}");
    }
}

#[test]
fn table_operations_mean_what_their_mnemonics_mean() {
    let text = "kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %t = sreg.tid.x
  %r = ptx.shfl.sync.bfly.b32 %t, 1, 31, -1
  %p = ptx.add.sat.s32 %r, 2147483640
  %old = ptx.atom.global.add.u32 [%in], %t
  %po = index %out, %t, 8
  ptx.st.global.v2.b32 [%po], {%r, %p}
  ret
}
";
    let got: Vec<u32> = run(text, &[0u32; 1], 32, 64);
    for t in 0..32u32 {
        assert_eq!(got[2 * t as usize], t ^ 1);
        assert_eq!(got[2 * t as usize + 1], (2147483640 + (t as u64 ^ 1)).min(i32::MAX as u64) as u32);
    }
    let packed = "kernel @k(%in: ptr<global>, %out: ptr<global>) {
entry:
  %a = load.f16x2 %in
  %b = ptx.add.rn.f16x2 %a, %a
  store %b, %out
  %c = load.f32 %in + 4
  %d = ptx.fma.rz.f32 %c, 0.5, %c
  %e = ptx.ex2.approx.ftz.f32 %d
  store %e, %out + 4
  ret
}
";
    let got: Vec<u32> = run(packed, &[0x4000_3c00u32, 2f32.to_bits()], 1, 2);
    assert_eq!(got, [0x4400_4000, 8f32.to_bits()]);
}

#[test]
fn asynchronous_copies_and_clusters() {
    let text = "
shared @s: [i32; 32] align 16
shared @b: i64 align 8
kernel @k(%in: ptr<global>, %out: ptr<global>) reqnctapercluster(2, 1, 1) {
entry:
  %t = sreg.tid.x
  %rank = sreg.cluster_ctarank
  %first = icmp eq %t, 0
  brif %first, init, ready
init:
  ptx.mbarrier.init.shared.b64 [@b], 2
  %state = ptx.mbarrier.arrive.expect_tx.shared.b64 [@b], 128
  ptx.cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [@s], [%in], 128, [@b]
  jump ready
ready:
  ptx.barrier.cluster.arrive
  ptx.barrier.cluster.wait
  %pb = global_addr @b
  %ab = ptrtoint.i64 %pb
  %other = bxor %rank, 1
  %far = ptx.mapa.shared::cluster.u64 %ab, %other
  brif %first, arrive, wait
arrive:
  ptx.mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%far]
  jump wait
wait:
  %done = ptx.mbarrier.try_wait.parity.shared.b64 [@b], 0
  brif %done, read, wait
read:
  ptx.barrier.cluster.arrive
  ptx.barrier.cluster.wait
  %p = global_addr @s
  %ps = index %p, %t, 4
  %a = ptrtoint.i64 %ps
  %there = ptx.mapa.shared::cluster.u64 %a, %other
  %old = ptx.atom.shared::cluster.add.u32 [%there], 1000
  ptx.barrier.cluster.arrive
  ptx.barrier.cluster.wait
  %x = load.i32 %ps
  %block = imul %rank, 32
  %i = iadd %block, %t
  %po = index %out, %i, 4
  store %x, %po
  ret
}
";
    let program = program(text);
    for seed in 0..10 {
        let mut device = Device::new();
        let input = device.upload(&(0..32).collect::<Vec<u32>>()).unwrap();
        let output = device.upload(&[0u32; 64]).unwrap();
        let launch = Launch::new("k").grid([2, 1, 1]).block([32, 1, 1]).arg(input).arg(output).seed(seed);
        device.launch(&program, &launch).unwrap_or_else(|f| panic!("seed {seed}: {f}"));
        let expected: Vec<u32> = (0..64).map(|i| 1000 + i % 32).collect();
        assert_eq!(device.download::<u32>(output).unwrap(), expected, "seed {seed}");
    }
}

/// The flag is of the thread and goes from one instruction to the next, also between blocks.
#[test]
fn carries() {
    let text = map(
        "i32",
        "i32",
        "  %low = ptx.add.cc.u32 %x, %x
  %odd = trunc.i1 %x
  brif %odd, more, done(%low)
more:
  %zero = iconst.i32 0
  %high = ptx.addc.u32 %zero, 5
  jump done(%high)
done(%r: i32):",
    );
    let found: Vec<u32> = run(&text, &[1u32, 0x8000_0001, 0x8000_0002, u32::MAX], 4, 4);
    assert_eq!(found, [5, 6, 4, 6]);
}

/// Bytes and halves that video instructions take and put, and operands that they negate.
#[test]
fn parts_of_registers() {
    let text = map(
        "i32",
        "i32",
        "  %seven = iconst.i32 7
  %sum = ptx.vadd.u32.u32.s32 %x:b3, %x:h0
  %r = ptx.vmad.s32.u32.s32 %sum, %seven, -%x",
    );
    let found: Vec<u32> = run(&text, &[0x0500_0003u32, 0x8000_fffe], 2, 2);
    let expected = |byte: u32, half: i16, x: u32| (byte.wrapping_add_signed(half.into()) * 7).wrapping_sub(x);
    assert_eq!(found, [expected(5, 3, 0x0500_0003), expected(0x80, -2, 0x8000_fffe)]);
}

#[test]
fn what_has_no_meaning_is_refused_by_name() {
    let refuse = |text: &str| {
        let module = warpsmith_ir::parse_module(text).unwrap_or_else(|d| panic!("{d:#?}"));
        let errors = Program::from_ir(&module).unwrap_err();
        errors.into_iter().map(|e| e.message).collect::<Vec<_>>().join("\n")
    };
    let message = refuse(
        "kernel @k(%x: i32, %o: i64) {\nentry:\n  \
         %y = ptx.createpolicy.range.fabric.L2::evict_last.b64 [%x, %o], 1, 2\n  ret\n}\n",
    );
    assert!(message.contains("ptx.createpolicy.range.fabric"), "{message}");
}

#[test]
fn a_trap_is_a_fault() {
    let program = program("kernel @k() {\nentry:\n  trap\n}\n");
    let fault = Device::new().launch(&program, &Launch::new("k")).unwrap_err();
    assert_eq!(fault.code, FaultCode::Trap);
}
