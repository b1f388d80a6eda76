//! What a program of one kernel has: only what the kernel can reach.

use super::*;

fn entry(text: &str, name: &str) -> Result<Program, String> {
    let source = format!(".version 8.6 .target sm_90 .address_size 64\n{text}");
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Program::load_entry(&module, &source, name).map_err(|errors| errors[0].to_string())
}

/// Something that cannot be executed.
const NO: &str = ".reg .b64 %no; tex.1d.v4.f32.f32 {_, _, _, _}, [%no, {0f00000000}];";

#[test]
fn what_is_not_reached_does_not_matter() {
    let no = NO
        .replace("{_, _, _, _}", "{%n0, %n1, %n2, %n3}")
        .replace(".reg .b64 %no;", ".reg .b64 %no; .reg .f32 %n<4>;");
    let text = format!(
        ".extern .global .b32 nowhere; .extern .func elsewhere();
         .func bad() {{ {no} ret; }} .func calls() {{ call bad; ret; }} .func fine() {{ ret; }} .func lost() {{ call elsewhere; ret; }}
         .func named() {{ .reg .b32 %r; ld.global.b32 %r, [nowhere]; ret; }}
         .global .u64 table[2] = {{fine, calls}}; .global .u64 indirect = table; .func same() {{ {no} ret; }} .weak .func other(); .alias other, same;
         .visible .entry plain() {{ call fine; ret; }} .visible .entry direct() {{ call calls; ret; }}
         .visible .entry address() {{ .reg .b64 %r; mov.u64 %r, bad; ret; }} .visible .entry initial() {{ .reg .b64 %r; ld.global.u64 %r, [indirect]; ret; }}
         .visible .entry aliased() {{ call other; ret; }} .visible .entry self() {{ {no} ret; }} .visible .entry linked() {{ call lost; ret; }}
         .visible .entry variable() {{ call named; ret; }}
         .visible .entry list() {{ .reg .b64 %r; t: .calltargets fine, calls; call %r, t; ret; }}"
    );
    assert!(entry(&text, "plain").is_ok());
    for name in ["direct", "address", "initial", "aliased", "self", "list"] {
        assert!(entry(&text, name).unwrap_err().contains("`tex.1d"), "{name}");
    }
    assert!(entry(&text, "linked").unwrap_err().contains("`elsewhere`"));
    assert!(
        entry(&text, "variable").unwrap_err().contains("`nowhere` is declared .extern and defined nowhere")
    );
    // Without a kernel's name all is needed.
    assert!(entry(&text, "nobody").is_err());
}

#[test]
fn the_memory_of_other_kernels_is_not_taken() {
    let text = ".shared .b8 mine[1000]; .shared .b8 other[200000]; .shared .b8 more[100000]; .visible .entry a() { .reg .b32 %r; ld.shared.b32 %r, [mine]; ret; }
        .visible .entry b() { .reg .b32 %r; ld.shared.b32 %r, [other]; ret; }";
    let (a, b) = (entry(text, "a").unwrap(), entry(text, "b").unwrap());
    assert_eq!((a.static_shared_bytes(), b.static_shared_bytes()), (1000, 200_000));
    assert_eq!(a.kernels().collect::<Vec<_>>(), ["a"]);
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
