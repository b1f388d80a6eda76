//! What a program of one kernel has: only what the kernel can reach.

use super::*;

fn entry(text: &str, name: &str) -> Result<Program, String> {
    let source = format!(".version 9.3 .target sm_100 .address_size 64\n{text}");
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Program::load_entry(&module, name).map_err(|errors| errors[0].to_string())
}

/// Something that cannot be executed.
const NO: &str = "fabric.wait.sync_restrict::reads;";

#[test]
fn what_is_not_reached_does_not_matter() {
    let text = format!(
        ".extern .global .b32 nowhere; .extern .func elsewhere();
         .func bad() {{ {NO} ret; }} .func calls() {{ call bad; ret; }} .func fine() {{ ret; }} .func lost() {{ call elsewhere; ret; }}
         .func named() {{ .reg .b32 %r; ld.global.b32 %r, [nowhere]; ret; }}
         .global .u64 table[2] = {{fine, calls}}; .global .u64 indirect = table; .func same() {{ {NO} ret; }} .weak .func other(); .alias other, same;
         .visible .entry plain() {{ call fine; ret; }} .visible .entry direct() {{ call calls; ret; }}
         .visible .entry address() {{ .reg .b64 %r; mov.u64 %r, bad; ret; }} .visible .entry initial() {{ .reg .b64 %r; ld.global.u64 %r, [indirect]; ret; }}
         .visible .entry aliased() {{ call other; ret; }} .visible .entry self() {{ {NO} ret; }} .visible .entry linked() {{ call lost; ret; }}
         .visible .entry variable() {{ call named; ret; }}
         .visible .entry list() {{ .reg .b64 %r; t: .calltargets fine, calls; call %r, t; ret; }}"
    );
    assert!(entry(&text, "plain").is_ok());
    for name in ["direct", "address", "initial", "aliased", "self", "list"] {
        assert!(entry(&text, name).unwrap_err().contains("`fabric.wait"), "{name}");
    }
    assert!(entry(&text, "linked").unwrap_err().contains("`elsewhere`"));
    assert!(
        entry(&text, "variable").unwrap_err().contains("`nowhere` is declared .extern and defined nowhere")
    );
    // A name that no kernel has is a mistake, not a wish for all of them.
    assert!(entry(&text, "nobody").unwrap_err().contains("no kernel `nobody`"));
}

#[test]
fn a_name_that_ends_in_digits_is_no_member_of_a_shorter_one() {
    let text = ".global .b8 text0[4] = {1, 2, 3, 4}; .global .u64 table1[1] = {generic(text0)}; .global .b32 table16 = 7; .global .b32 many<3>;
         .visible .entry longer() { .reg .b32 %r; ld.global.b32 %r, [table16]; ret; }
         .visible .entry member() { .reg .b32 %r; ld.global.b32 %r, [many2]; ret; }";
    for name in ["longer", "member"] {
        assert_eq!(entry(text, name).map(drop), Ok(()), "{name}");
    }
}

#[test]
fn the_memory_of_other_kernels_is_not_taken() {
    let text = ".shared .b8 mine[1000]; .shared .b8 other[48000]; .shared .b8 more[49000]; .visible .entry a() { .reg .b32 %r; ld.shared.b32 %r, [mine]; ret; }
        .visible .entry b() { .reg .b32 %r; ld.shared.b32 %r, [other]; ret; }";
    let (a, b) = (entry(text, "a").unwrap(), entry(text, "b").unwrap());
    assert_eq!((a.static_shared_bytes("a"), b.static_shared_bytes("b")), (Some(1000), Some(48_000)));
    assert_eq!(a.kernels().collect::<Vec<_>>(), ["a"]);
    assert_eq!(a.static_shared_bytes("b"), None);
}

#[test]
fn each_kernel_has_a_layout_of_its_own() {
    // Together the variables are larger than a block's shared memory; `common` and `dynamic` lie elsewhere in each kernel.
    let module = load(
        ".shared .b8 unused[49000], unused2[49000], unused3[49000]; .shared .b8 large[45000]; .shared .b8 larger[47000]; .shared .align 4 .b32 common; .extern .shared .align 16 .b8 dynamic[];
        .func (.reg .b32 r) place() { .reg .b64 %rd; mov.u32 r, common; st.shared.u32 [common], 7; .reg .b32 %v; cvta.shared.u64 %rd, common; ld.u32 %v, [%rd]; add.u32 r, r, %v; ret; }
        .visible .entry a(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd; ld.param.u64 %rd, [out]; st.shared.u8 [large+44999], 1; call (%r0), place;
          mov.u32 %r1, dynamic; st.shared.u32 [dynamic+12], %r1; mov.u32 %r2, %total_smem_size; st.global.v4.u32 [%rd], {%r0, %r1, %r2, 0}; ret; }
        .visible .entry b(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd; ld.param.u64 %rd, [out]; st.shared.u8 [larger+46999], 1; call (%r0), place;
          mov.u32 %r1, dynamic; st.shared.u32 [dynamic+12], %r1; mov.u32 %r2, %total_smem_size; st.global.v4.u32 [%rd], {%r0, %r1, %r2, 0}; ret; }
        .visible .entry c(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd; ld.param.u64 %rd, [out]; call (%r0), place; mov.u32 %r2, %total_smem_size;
          st.global.v4.u32 [%rd], {%r0, 0, %r2, 0}; ret; }",
    );
    let sizes = ["a", "b", "c"].map(|kernel| module.static_shared_bytes(kernel));
    assert_eq!(sizes, [Some(45_008), Some(47_008), Some(4)]);
    let mut device = levels::device();
    let out = buffer(&mut device, &[0; 4]);
    for (kernel, expected) in [
        ("a", [45_007, 45_008, 45_056, 0]),
        ("b", [47_007, 47_008, 47_104, 0]),
        ("c", [7, 0, 128, 0]),
        ("a", [45_007, 45_008, 45_056, 0]),
    ] {
        device.launch(&module, &Launch::new(kernel).dynamic_shared(16).arg(out)).unwrap();
        assert_eq!(device.download::<u32>(out).unwrap(), expected, "{kernel}");
    }
    let fault = device.launch(&module, &Launch::new("b").dynamic_shared(200_000).arg(out)).unwrap_err();
    assert!(fault.message.contains("shared memory"), "{fault}");
}

#[test]
fn an_alias_is_called_as_its_function() {
    let text = ".func (.param .b32 r) real(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }
        .func (.param .b32 r) name(.param .b32 a); .alias name, real;
        .visible .entry k(.param .u64 out) { .reg .b32 %r; .reg .b64 %rd; .param .b32 a; .param .b32 b; ld.param.u64 %rd, [out]; st.param.b32 [a], 41; call (b), name, (a);
        ld.param.b32 %r, [b]; st.global.b32 [%rd], %r; ret; }";
    assert_eq!(words(&entry(text, "k").unwrap(), 1, 1).unwrap(), [42]);
    assert_eq!(words(&load(text), 1, 1).unwrap(), [42]);
}
