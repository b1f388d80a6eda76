//! What the tables say, asked through the public interface.

use warpsmith_isa::*;

fn parse(text: &str) -> Mnemonic {
    Mnemonic::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn context(version: (u8, u8), target: &str) -> Context {
    Context::new(Version::new(version.0, version.1), target.parse().unwrap())
}

#[test]
fn the_first_choice_of_every_form_resolves_and_prints_back() {
    for form in &FORMS {
        let mods: Vec<Mod> = form.slots.iter().map(|slot| slot.alternatives[0].modifier).collect();
        let Some(mnemonic) = Mnemonic::new(form.opcode).with_all(&mods) else {
            panic!("`{}` has more modifiers than a mnemonic holds", form.syntax);
        };
        assert_eq!(parse(&mnemonic.to_string()), mnemonic, "{}", form.syntax);
        assert!(forms(&mnemonic).next().is_some(), "{mnemonic} of `{}` fits no form", form.syntax);
    }
}

#[test]
fn every_modifier_of_a_form_leads_to_it() {
    for form in &FORMS {
        let first: Vec<Mod> = form.slots.iter().map(|slot| slot.alternatives[0].modifier).collect();
        for (n, slot) in form.slots.iter().enumerate() {
            for alternative in slot.alternatives {
                let mut mods = first.clone();
                mods[n] = alternative.modifier;
                let mnemonic = Mnemonic::new(form.opcode).with_all(&mods).expect(form.syntax);
                let found = forms(&mnemonic).any(|inst| inst.form().id() == form.id());
                assert!(found, "{mnemonic} does not match `{}`", form.syntax);
            }
        }
    }
}

#[test]
fn forms_and_operations_know_each_other() {
    for (index, form) in FORMS.iter().enumerate() {
        assert_eq!((form.id().index(), form.id().form().syntax), (index, form.syntax));
        assert_eq!(
            (form.operation.opcode(), form.operation.family().name),
            (form.opcode, form.family().name)
        );
        assert!(form.operation.forms().any(|other| other.id() == form.id()));
        assert!(
            form.operands.len() <= 16,
            "`{}` has more operands than an instruction has bits",
            form.syntax
        );
    }
    assert!(Operation::all().all(|operation| operation.forms().next().is_some()));
    assert_eq!(Operation::AddHalf.name(), "AddHalf");
}

#[test]
fn modifiers_come_in_any_order_and_print_in_the_manuals() {
    for text in ["add.ftz.rn.f32", "add.f32.rn.ftz", "add.rn.f32.ftz"] {
        assert_eq!(parse(text).canonical().to_string(), "add.rn.ftz.f32");
    }
    // Types are distinguished by their order.
    assert_ne!(parse("cvt.u32.u16").canonical(), parse("cvt.u16.u32").canonical());
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let Err(MnemonicError::UnknownOpcode { nearest }) = Mnemonic::parse("ad.f32") else {
        panic!("`ad` is not an opcode")
    };
    assert!(nearest.is_some());
    let Err(MnemonicError::UnknownModifier { range, nearest }) = Mnemonic::parse("ld.globl.u32") else {
        panic!("`.globl` is not a modifier")
    };
    assert_eq!((range, nearest), (3..8, Some(Mod::Global)));
    // A hostile name costs no more than its length.
    assert!(Mnemonic::parse(&"a.".repeat(100_000)).is_err());
}

#[test]
fn gates_name_the_version_and_the_target_that_would_do() {
    let operands = [Operand::Reg(ScalarType::B64); 3];
    let add = parse("add.rn.f32x2");
    let found = check(&add, &operands, &context((8, 6), "sm_90")).unwrap_err();
    assert_eq!(found[0].code, "I0110");
    assert_eq!(
        found[0].help.as_deref(),
        Some("the lowest target that has it is sm_100, from `.version 8.6`")
    );
    assert!(check(&add, &operands, &context((8, 6), "sm_100")).is_ok());
    let gate = forms(&add).next().unwrap().gate();
    assert_eq!(gate.lowest_version(Target::sm(120)), Some(Version::new(8, 7)));
    assert_eq!(gate.lowest_version(Target::sm(90)), None);
}

#[test]
fn families_of_targets_inherit_forwards_only() {
    let target = |name: &str| name.parse::<Target>().unwrap();
    let reached =
        [("sm_100a", true), ("sm_103f", true), ("sm_103", false), ("sm_120f", false), ("sm_110a", false)];
    for (name, reached) in reached {
        assert_eq!(target("sm_100f").features_reach(target(name)), reached, "{name}");
    }
    assert!(target("sm_101f").features_reach(target("sm_110f")));
    assert!(!target("sm_103f").features_reach(target("sm_100f")));
    for (from, reached) in
        [("sm_100f", true), ("sm_103f", true), ("sm_107f", true), ("sm_110f", false), ("sm_120f", false)]
    {
        for name in ["sm_107f", "sm_107a"] {
            assert_eq!(target(from).features_reach(target(name)), reached, "{from} {name}");
        }
        assert!(!target(from).features_reach(target("sm_107")), "{from}");
    }
    assert!(!target("sm_107f").features_reach(target("sm_103a")));
    assert_eq!(target("sm_107").since(), Some(Version::new(9, 4)));
}

#[test]
fn later_targets_have_a_stand_in() {
    let stand_in = |sm, variant| Target { sm, variant }.stand_in().map(|t| t.to_string());
    assert_eq!(stand_in(108, Variant::Base).as_deref(), Some("sm_107"));
    assert_eq!(stand_in(104, Variant::Arch).as_deref(), Some("sm_103a"));
    assert_eq!(stand_in(122, Variant::Family).as_deref(), Some("sm_121f"));
    for known_or_alone in
        [(107, Variant::Base), (90, Variant::Family), (91, Variant::Base), (130, Variant::Base)]
    {
        assert_eq!(stand_in(known_or_alone.0, known_or_alone.1), None, "{known_or_alone:?}");
    }
}

#[test]
fn rules_of_releases_hold_for_the_versions_that_only_those_know() {
    let of = |version: &str, release: Option<&str>| {
        Demand::of(
            Change::BracesOfBf16.refused(),
            version.parse().unwrap(),
            release.map(|r| r.parse().unwrap()),
        )
    };
    assert_eq!(
        [of("8.0", None), of("9.0", None), of("9.1", None)],
        [Demand::Some, Demand::Some, Demand::All]
    );
    assert_eq!([of("9.0", Some("13.0")), of("9.0", Some("13.5"))], [Demand::None, Demand::All]);
}

#[test]
fn violations_name_the_operand_and_what_would_fit() {
    let f32 = Operand::Reg(ScalarType::F32);
    let operands = [f32, f32, Operand::Reg(ScalarType::U32), Operand::Int(1)];
    let found = check(&parse("fma.rn.f32"), &operands, &context((7, 0), "sm_80")).unwrap_err();
    let places: Vec<_> = found.iter().map(|v| (v.code, v.place)).collect();
    assert_eq!(places, [("I0204", Place::Operand(2, None)), ("I0207", Place::Operand(3, None))]);
    assert!(found[0].expected.as_deref().unwrap().contains("`.f32`"), "{:?}", found[0]);
    assert_eq!(found[0].section, "9.7.3.6");
    let missing = check(&parse("fma.f32"), &[f32; 4], &context((7, 0), "sm_80")).unwrap_err();
    assert_eq!(
        (missing[0].code, missing[0].expected.as_deref()),
        ("I0104", Some("`.rn`, `.rz`, `.rm` or `.rp`"))
    );
}

#[test]
fn special_registers_and_directives_are_tabulated() {
    let tid = SpecialReg::from_name("%tid").unwrap();
    assert_eq!((tid.ty(), tid.lanes(), tid.section()), (ScalarType::U32, 4, "10.1"));
    assert!(SpecialReg::from_name("%envreg31").is_some() && SpecialReg::from_name("%envreg32").is_none());
    assert!(SpecialReg::all().all(|reg| SpecialReg::from_name(reg.name()) == Some(reg)));
    assert!(Directive::from_name(".maxntid").is_some());
}

#[test]
fn every_form_is_on_one_line_of_one_family() {
    let entries = coverage::entries();
    assert_eq!(entries.len(), FAMILIES.len());
    assert!(entries.iter().all(|entry| !entry.lines.is_empty() && entry.since().is_some()));
    let forms = entries.iter().flat_map(|entry| &entry.lines).map(|line| line.forms.len());
    assert_eq!(forms.sum::<usize>(), FORMS.len());
}

/// The codes and places of what is wrong with a mnemonic, and the mnemonic that is suggested.
fn explained(text: &str, operands: &[Operand]) -> (Vec<(&'static str, Place)>, Option<String>) {
    let found = of_text(text, operands, &context((8, 0), "sm_80"));
    let places = found.iter().map(|v| (v.code, v.place)).collect();
    let meant = found.into_iter().find_map(|v| v.fix).map(|fix| match fix.remedy {
        Remedy::Mnemonic(text) => text,
        other => panic!("{other:?}"),
    });
    (places, meant)
}

#[test]
fn misspelt_mnemonics_are_answered_by_structure_and_by_spelling() {
    let (f, r) = (Operand::Reg(ScalarType::F32), Operand::Reg(ScalarType::B32));
    let address = Operand::Address(Base::Reg(ScalarType::B64));
    let cases: [(&str, &[Operand], &str, Place, &str); 17] = [
        ("fma.f32", &[f; 4], "I0104", Place::Instruction, "fma.rn.f32"),
        ("mul.u32", &[r; 3], "I0104", Place::Instruction, "mul.lo.u32"),
        ("add", &[f; 3], "I0104", Place::Instruction, "add.f32"),
        ("add.i32", &[r; 3], "I0100", Place::Word(1), "add.s32"),
        ("and.f32", &[r; 3], "I0101", Place::Word(1), "and.b32"),
        ("add.rn.u32", &[r; 3], "I0101", Place::Word(1), "add.u32"),
        ("ld.globl.f32", &[f, address], "I0100", Place::Word(1), "ld.global.f32"),
        ("addd.u32", &[r; 3], "I0100", Place::Word(0), "add.u32"),
        ("fadd.f32", &[f; 3], "I0100", Place::Word(0), "add.f32"),
        ("ADD.f32", &[f; 3], "I0100", Place::Word(0), "add.f32"),
        ("bar.snc", &[Operand::Int(0)], "I0100", Place::Word(1), "bar.sync"),
        ("__syncthreads", &[], "I0100", Place::Word(0), "bar.sync"),
        ("cvt.f32.s32", &[f, r], "I0104", Place::Instruction, "cvt.rn.f32.s32"),
        ("cvt.rn.s32.f32", &[r, f], "I0101", Place::Word(1), "cvt.rni.s32.f32"),
        ("setp.u32", &[Operand::Reg(ScalarType::Pred), r, r], "I0104", Place::Instruction, "setp.eq.u32"),
        ("add.f32.f32", &[f; 3], "I0102", Place::Word(2), "add.f32"),
        ("add.rn.rm.f32", &[f; 3], "I0101", Place::Word(2), "add.rn.f32"),
    ];
    for (text, operands, code, place, meant) in cases {
        let (places, found) = explained(text, operands);
        assert_eq!(places.first(), Some(&(code, place)), "{text}");
        assert_eq!(found.as_deref(), Some(meant), "{text}");
    }
    // A hostile name costs no more than its length.
    assert_eq!(explained(&"add.".repeat(100_000), &[]).0, [("I0100", Place::Word(0))]);
    assert!(of_text("\u{e9}.b32", &[], &context((8, 0), "sm_80")).len() == 1);
}
