//! Tests of what names mean.

use super::*;
use crate::{Item, parse};

/// The type that each name has at the first instruction of a body, or at its end. It is asked for before every statement too, so that what was found
/// once must not be what is found later.
fn types<const N: usize>(body: &str, names: [&str; N]) -> [Option<String>; N] {
    let mut module = parse(&format!(".entry k(.param .u64 p3) {{ {body} }}")).module;
    let symbols = names.map(|name| module.name(name));
    let Item::Function(function) = module.items()[0] else { panic!("not a function") };
    let mut scopes = Scopes::new(&module);
    assert_eq!(scopes.enter(function), []);
    let body = module[function].body.expect("it has braces");
    for id in body.ids().take_while(|id| !matches!(module[*id], Stmt::Inst(_))) {
        symbols.iter().for_each(|symbol| _ = scopes.lookup(*symbol));
        assert_eq!(scopes.follow(id), []);
    }
    symbols.map(|symbol| match scopes.lookup(symbol)?.binding {
        Binding::Variable(decl, _) => Some(module[decl].ty.to_string()),
        other @ (Binding::Label(_) | Binding::Function(_) | Binding::List(_) | Binding::Special(_)) => {
            Some(format!("{other:?}"))
        }
    })
}

#[test]
fn parameterised_names_are_resolved_by_their_digits() {
    let some = |ty: &str| Some(ty.to_owned());
    let found = types(".reg .b32 %r<4>; .reg .b64 %s<5>;", ["%r0", "%r03", "%r4", "%s4"]);
    assert_eq!(found, [some("b32"), some("b32"), None, some("b64")]);
    // All digits are the number, and a body's names win over the parameters'.
    let found = types(".reg .b32 %r<20>; .reg .b64 %r1<5>; .reg .f32 p<4>;", ["%r12", "p3", "p4", "%tid"]);
    assert_eq!(found, [some("b32"), some("f32"), None, some("Special(%tid)")]);
    assert_eq!(types(".reg .b64 %r1<3>;", ["%r12"]), [None]);
}

#[test]
fn inner_scopes_end() {
    let some = |ty: &str| Some(ty.to_owned());
    let body = ".reg .b64 a; .reg .b64 b<9>; { .reg .b32 a; .reg .b32 b<3>; .reg .b32 c1; } .reg .f32 %tid;";
    assert_eq!(types(body, ["a", "b1", "c1", "%tid"]), [some("b64"), some("b64"), None, some("f32")]);
    let ended = ".reg .b64 a; .reg .b64 b<9>; { .reg .b32 a; .reg .b32 b<3>; }";
    assert_eq!(types(ended, ["a", "b1"]), [some("b64"), some("b64")]);
}

#[test]
fn inner_families_hide_what_they_have() {
    let some = |ty: &str| Some(ty.to_owned());
    let outer = ".reg .b64 %r<9>; { .reg .b32 %r<5>; { .reg .b16 %r<2>;";
    let found = types(&format!("{outer} ret; }} }}"), ["%r0", "%r1", "%r2", "%r4", "%r5", "%r8", "%r9"]);
    let [inner, middle, outermost] = ["b16", "b32", "b64"].map(some);
    let all =
        [inner.clone(), inner, middle.clone(), middle.clone(), outermost.clone(), outermost.clone(), None];
    assert_eq!(found, all);
    let found = types(&format!("{outer} }} .reg .b8 %r7; ret; }}"), ["%r0", "%r5", "%r7"]);
    assert_eq!(found, [middle, outermost, some("b8")]);
}

#[test]
fn later_declarations_of_functions_are_found() {
    let module = parse(".func f(); .func f() { ret; }").module;
    let name = module.names().find("f").expect("it is declared");
    let mut scopes = Scopes::new(&module);
    for item in module.items() {
        let Item::Function(function) = *item else { panic!("not a function") };
        assert_eq!(scopes.item(item), []);
        assert_eq!(scopes.lookup(name).map(|bound| bound.binding), Some(Binding::Function(function)));
    }
    assert_eq!(module.items().len(), 2);
}

#[test]
fn the_scopes_at_a_statement() {
    let module = parse(".global .b32 x; .entry k() { .reg .b64 a; { .reg .b32 a, x; L: ret; } ret; }").module;
    let Item::Function(function) = module.items()[1] else { panic!("not a function") };
    let body = module[function].body.expect("it has braces");
    let ret: Vec<Id<Stmt>> = body.ids().filter(|id| matches!(module[*id], Stmt::Inst(_))).collect();
    let found = |at: Id<Stmt>| {
        let mut scopes = Scopes::at(&module, function, at);
        ["a", "x", "L"].map(|name| {
            let bound = scopes.lookup(module.names().find(name)?)?;
            match bound.binding {
                Binding::Variable(decl, _) => Some((module[decl].ty.bits(), bound.depth)),
                Binding::Label(_) | Binding::Function(_) | Binding::List(_) | Binding::Special(_) => {
                    Some((0, bound.depth))
                }
            }
        })
    };
    assert_eq!(found(ret[0]), [Some((32, 3)), Some((32, 3)), Some((0, 3))]);
    assert_eq!(found(ret[1]), [Some((64, 2)), Some((32, 0)), None]);
}
