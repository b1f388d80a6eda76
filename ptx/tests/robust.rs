//! Any bytes give a tree and diagnostics, in time that grows with the text; and what is printed reads back the same.

use arbitrary::{Result, Unstructured};
use std::time::{Duration, Instant};
use warpsmith_ptx::*;

/// Pieces that make random text look like PTX.
const PIECES: &[&str] = &[
    ".version 8.0\n",
    ".target sm_80\n",
    ".address_size 64\n",
    ".visible ",
    ".entry k(",
    ".func (",
    ") ",
    "{",
    "}",
    ";",
    ",",
    "\n",
    ".reg .b32 %r<4>;",
    ".global .align 4 .b8 x[4] = {1, 2};",
    ".param .b64 p",
    "mov.u32 %r1, ",
    "%r2",
    "[%rd1+4]",
    "-4",
    "0f3F800000",
    "1.5",
    "(1+2)*3",
    "@%p1 ",
    "@!",
    "L: ",
    "bra L;",
    "call (",
    ".loc 1 2 3\n",
    ".file 1 \"a\"\n",
    ".pragma \"x\";",
    ".section .debug_str {",
    ".b8 1, 2 ",
    "/*",
    "*/",
    "//",
    "\"",
    "é",
    "\0",
    ".callprototype _ (",
    ".branchtargets L;",
    "a|b",
    "!p",
    "-a",
    "x[",
    "]",
    "<",
    ">",
    "= {",
    "generic(x)",
    "0xff00(x)",
    "WARP_SZ",
    "_",
    "?",
    ":",
    "::",
    "%tid.x",
    ".v4 ",
    ".ptr .global ",
    ".alias a, b;",
    "# 1 \"a\"\n",
];

fn text(u: &mut Unstructured) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    while !u.is_empty() && text.len() < 1 << 16 {
        match u.ratio(1, 8)? {
            true => text.push(u.arbitrary()?),
            false => text.extend_from_slice(u.choose(PIECES)?.as_bytes()),
        }
    }
    Ok(text)
}

#[test]
fn any_bytes_give_a_tree_that_reads_back() {
    arbtest::arbtest(|u| {
        let text = text(u)?;
        let parsed = parse(&text);
        for finding in &parsed.diagnostics {
            assert!(
                finding.span.start <= finding.span.end && finding.span.end as usize <= text.len(),
                "{finding:?}"
            );
        }
        // The tree of a broken text is a tree all the same: it can be validated, printed and read again.
        let _ = validate(&parsed.module);
        let printed = print(&parsed.module);
        let again = parse(&printed);
        assert_eq!(again.module, parsed.module, "{printed}");
        Ok(())
    });
}

#[test]
fn any_text_that_parses_is_formatted_once() {
    arbtest::arbtest(|u| {
        let text = String::from_utf8_lossy(&text(u)?).into_owned();
        if let Ok(once) = warpsmith_ptx::format(&text) {
            assert_eq!(warpsmith_ptx::format(&once).as_ref(), Ok(&once), "{text:?}");
        }
        Ok(())
    });
}

#[test]
fn features_that_a_target_lacks_are_told_in_time_of_the_text() {
    let statement = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\n";
    let text = format!(
        ".version 8.0 .target sm_70 .address_size 64 .entry k() {{ .reg .b32 %r<4>;\n{} ret; }}",
        statement.repeat(300_000)
    );
    let start = Instant::now();
    let findings = validate(&parse(&text).module);
    assert_eq!(findings.len(), 1, "{:?}", findings[0]);
    assert!(findings[0].notes.iter().any(|note| note.contains("at least 10000 more")), "{:?}", findings[0]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// A module made by hand, without regard to meaning.
fn module(u: &mut Unstructured) -> Result<Module> {
    let mut m = Module::default();
    m.push_prologue(isa_version(u)?, warpsmith_isa::Target::sm(80));
    for _ in 0..u.int_in_range(0..=3)? {
        let decl = decl(u, &mut m)?;
        let item = Item::Variable(m.push_decl(decl));
        m.push_item(item);
        let mut stmts = Vec::new();
        let mut depth = 0;
        for _ in 0..u.int_in_range(0..=12)? {
            let stmt = stmt(u, &mut m)?;
            depth += i32::from(stmt == Stmt::Open) - i32::from(stmt == Stmt::Close);
            if depth < 0 {
                depth = 0;
                continue;
            }
            stmts.push(stmt);
        }
        stmts.extend(std::iter::repeat_n(Stmt::Close, depth as usize));
        let body = m.body(&stmts);
        let mut kernel = m.kernel("k", body);
        let params = [decl_of(u, &mut m, StateSpace::Param)?, decl_of(u, &mut m, StateSpace::Param)?];
        kernel.params = m.decl_list(&params);
        let directives = [
            Directive::MaxNTid(Dims::new(&[u.arbitrary()?, u.arbitrary()?])),
            Directive::MaxNReg(u.arbitrary()?),
        ];
        kernel.directives = m.directive_list(&directives);
        kernel.linkage = *u.choose(&[Linkage::Local, Linkage::Visible, Linkage::Extern, Linkage::Weak])?;
        let kernel = m.push_function(kernel);
        m.push_item(Item::Function(kernel));
    }
    Ok(m)
}

use warpsmith_diag::Span;
use warpsmith_isa::{ScalarType, StateSpace, Version};

fn isa_version(u: &mut Unstructured) -> Result<Version> {
    Ok(Version::new(u.int_in_range(1..=9)?, u.int_in_range(0..=9)?))
}

fn name(u: &mut Unstructured, m: &mut Module) -> Result<Symbol> {
    Ok(m.name(u.choose(&["%r1", "x", "L", "$a_b", "ret", "_x", "%tid"])?))
}

fn constant(u: &mut Unstructured) -> Result<Const> {
    Ok(match u.int_in_range(0..=3)? {
        0 => Const::Int { bits: u.arbitrary()?, unsigned: u.arbitrary()? },
        1 => Const::int(u.int_in_range(-3..=300)?),
        2 => Const::F32(u.arbitrary()?),
        _ => Const::F64(u.arbitrary()?),
    })
}

fn init(u: &mut Unstructured, m: &mut Module, depth: u32) -> Result<Init> {
    Ok(match u.int_in_range(0..=if depth == 0 { 2 } else { 4 })? {
        0 => Init::Const(constant(u)?),
        1 => Init::Address { name: name(u, m)?, generic: u.arbitrary()?, offset: u.int_in_range(-9..=9)? },
        2 => {
            let of = MaskOf::Address {
                name: name(u, m)?,
                generic: u.arbitrary()?,
                offset: u.int_in_range(0..=9)?,
            };
            m.mask(Mask { mask: u.arbitrary()?, of })
        }
        _ => {
            let mut elements = Vec::new();
            for _ in 0..u.int_in_range(0..=3)? {
                elements.push(init(u, m, depth - 1)?);
            }
            m.init_list(&elements)
        }
    })
}

fn decl_of(u: &mut Unstructured, m: &mut Module, space: StateSpace) -> Result<Decl> {
    let mut decl = m.decl(space, *u.choose(ScalarType::ALL)?, "a");
    decl.align = u.arbitrary()?;
    decl.vector = *u.choose(&[1, 2, 4])?;
    Ok(decl)
}

fn decl(u: &mut Unstructured, m: &mut Module) -> Result<Decl> {
    let space = *u.choose(&[StateSpace::Global, StateSpace::Const, StateSpace::Shared])?;
    let mut decl = decl_of(u, m, space)?;
    decl.managed = u.arbitrary()?;
    let mut names = Vec::new();
    for _ in 0..u.int_in_range(0..=2)? {
        let counted: bool = u.arbitrary()?;
        let dims = if counted { List::EMPTY } else { m.dim_list(&[u.arbitrary()?, Some(u.arbitrary()?)]) };
        let init = match u.arbitrary()? {
            true => {
                let init = init(u, m, 2)?;
                Some(m.init(init))
            }
            false => None,
        };
        let count = if counted { Some(u.arbitrary()?) } else { None };
        names.push(Declarator { name: name(u, m)?, count, dims, init, span: Span::NONE });
    }
    decl.names = m.declarator_list(&names);
    Ok(decl)
}

/// What may stand in braces, too.
fn element(u: &mut Unstructured, m: &mut Module) -> Result<Operand> {
    Ok(match u.int_in_range(0..=4)? {
        0 => Operand::Const(constant(u)?),
        1 => Operand::Component { name: name(u, m)?, selector: m.name("b10") },
        2 => Operand::Name(Symbol::SINK),
        _ => Operand::Name(name(u, m)?),
    })
}

fn leaf(u: &mut Unstructured, m: &mut Module) -> Result<Operand> {
    match u.ratio(1, 6)? {
        true => Ok(Operand::Offset { name: name(u, m)?, offset: u.arbitrary()? }),
        false => element(u, m),
    }
}

fn operand(u: &mut Unstructured, m: &mut Module, first: bool) -> Result<Operand> {
    let leaves = [element(u, m)?, element(u, m)?];
    Ok(match u.int_in_range(0..=8)? {
        0 if u.arbitrary()? => Operand::AddressName(name(u, m)?),
        0 => Operand::Address { name: name(u, m)?, offset: u.arbitrary()? },
        1 => Operand::AddressConst(u.arbitrary()?),
        2 => m.vector(&leaves),
        3 => {
            let elements = [Operand::Name(name(u, m)?), m.vector(&leaves), leaf(u, m)?];
            Operand::Bracket(m.operand_list(&elements))
        }
        4 => {
            let elements = [Operand::Name(name(u, m)?), Operand::Name(name(u, m)?)];
            Operand::Index(m.operand_list(&elements))
        }
        5 if first => {
            let halves = [name(u, m)?, name(u, m)?];
            m.pair(Operand::Name(halves[0]), Operand::Name(halves[1]))
        }
        6 => {
            let name = name(u, m)?;
            m.not(Operand::Name(name))
        }
        7 => {
            let name = name(u, m)?;
            m.neg(Operand::Name(name))
        }
        _ => leaf(u, m)?,
    })
}

fn stmt(u: &mut Unstructured, m: &mut Module) -> Result<Stmt> {
    Ok(match u.int_in_range(0..=8)? {
        0 => Stmt::Open,
        1 => Stmt::Close,
        2 => {
            let decl = decl(u, m)?;
            Stmt::Decl(m.push_decl(decl))
        }
        3 => Stmt::Label(name(u, m)?),
        4 => Stmt::Loc(Loc {
            at: Place { file: u.arbitrary()?, line: u.arbitrary()?, column: u.arbitrary()? },
            inlined: None,
        }),
        5 => {
            let text = m.name("nounroll");
            Stmt::Pragma(m.symbol_list(&[text]))
        }
        _ => {
            let mut operands = Vec::new();
            for index in 0..u.int_in_range(0..=4)? {
                operands.push(operand(u, m, index == 0)?);
            }
            let mut inst = m.inst(u.choose(&["add.u32", "ld.global.v4.f32", "mma.sync", "x"])?, &operands);
            inst.guard = match u.arbitrary()? {
                true => Some(Guard::new(name(u, m)?, u.arbitrary()?)),
                false => None,
            };
            Stmt::Inst(inst)
        }
    })
}

#[test]
fn what_is_printed_reads_back() {
    arbtest::arbtest(|u| {
        let mut module = module(u)?;
        let printed = print_located(&mut module);
        assert_eq!(print(&module), printed);
        let parsed = parse(&printed);
        assert_eq!(parsed.diagnostics, [], "{printed}");
        assert_eq!(parsed.module, module, "{printed}");
        // Everything is where the printer says.
        assert_eq!(check_printed(&module, &printed), Ok(()), "{printed}");
        for (index, (built, read)) in module.items().iter().zip(parsed.module.items()).enumerate() {
            assert_eq!(module.item_span(index), parsed.module.item_span(index), "{printed}");
            let (Item::Function(built), Item::Function(read)) = (built, read) else { continue };
            let (built, read) = (module[*built], parsed.module[*read]);
            assert_eq!((built.span, built.name_span), (read.span, read.name_span), "{printed}");
            let [built, read] = [built, read].map(|function| function.body.unwrap_or_default());
            for (built, read) in built.ids().zip(read.ids()) {
                assert_eq!(module.stmt_span(built), parsed.module.stmt_span(read), "{printed}");
                assert_eq!(module.guard_span(built), parsed.module.guard_span(read), "{printed}");
                let (Stmt::Inst(built), Stmt::Inst(read)) = (module[built], parsed.module[read]) else {
                    continue;
                };
                for (built, read) in built.operands.ids().zip(read.operands.ids()) {
                    assert_eq!(module.operand_span(built), parsed.module.operand_span(read), "{printed}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn modules_that_differ_are_not_equal() {
    let module = |text| parse(&format!(".version 8.0 .target sm_80 .address_size 64 {text}")).module;
    let texts = [
        "",
        ".global .b32 x;",
        ".global .b32 y;",
        ".global .b64 x;",
        ".global .b32 x = 1;",
        ".global .b32 x = 2;",
        ".const .b32 x;",
        ".global .align 8 .b32 x;",
        ".global .b32 x[1];",
        ".global .b32 x<1>;",
        ".func f() { ret; }",
        ".func f() { { ret; } }",
        ".func f() { @p ret; }",
        ".func f() { @!p ret; }",
        ".func f() { ret %a; }",
        ".func f() { ret [%a]; }",
        ".func f() { ret -%a; }",
        ".func f() { ret !%a; }",
        ".func f() { ret {%a}; }",
        ".func f() { L: ret; }",
        ".func f();",
        ".entry f() { ret; }",
        ".file 1 \"a\"",
        ".file 2 \"a\"",
        ".section .s { .b8 1 }",
        ".section .s { .b8 2 }",
        ".section .s { .b32 1 }",
        ".alias a, b;",
        ".func f() { .loc 1 1 1 ret; }",
        ".func f() { .loc 1 1 2 ret; }",
        ".func f() .noreturn { ret; }",
    ];
    for (i, a) in texts.iter().enumerate() {
        for (j, b) in texts.iter().enumerate() {
            assert_eq!(module(a) == module(b), i == j, "{a} and {b}");
        }
    }
}

/// Runs `work` on texts of one size and of eight times the size, and reports if the larger takes far longer than it may.
fn grows_linearly(what: &str, text: impl Fn(usize) -> String) {
    let time = |n| {
        let text = text(n);
        let best = (0..3).map(|_| {
            let start = Instant::now();
            let parsed = parse(&text);
            let _ = (validate(&parsed.module), print(&parsed.module));
            start.elapsed()
        });
        best.min().unwrap_or_default()
    };
    let (small, large) = (time(2_000), time(16_000));
    // Eight times the work; quadratic would be 64 times. The machine may be busy with other things.
    assert!(large < small * 32 + Duration::from_millis(200), "{what}: {small:?}, then {large:?}");
}

#[test]
fn nothing_is_quadratic() {
    let prologue = ".version 8.0 .target sm_80 .address_size 64 ";
    let wrap = |text: String| format!("{prologue}.func f() {{ {text} ret; }}");
    grows_linearly("scopes", |n| wrap("{".repeat(n) + &"}".repeat(n)));
    grows_linearly("scopes left open", |n| wrap("{".repeat(n)));
    grows_linearly("scopes with registers", |n| wrap("{ .reg .b32 %r<9>; mov.u32 %r1, %r2; }".repeat(n)));
    grows_linearly("registers in nested scopes", |n| {
        wrap("{ .reg .b32 %r<9>; mov.u32 %r1, 1;".repeat(n) + &"}".repeat(n))
    });
    grows_linearly("labels", |n| wrap((0..n).map(|i| format!("L{i}: bra L{i};")).collect()));
    grows_linearly("names with numbers", |n| {
        wrap((0..n).map(|i| format!(".reg .b32 a{i}111111;")).collect())
    });
    grows_linearly("families", |n| wrap((0..n).map(|i| format!(".reg .b32 a{i}x<9>;")).collect()));
    grows_linearly("functions", |n| {
        prologue.to_owned() + &(0..n).map(|i| format!(".func f{i}() {{ ret; }}")).collect::<String>()
    });
    grows_linearly("errors", |n| wrap("{ 1, 2 } mov {1, {2}};".repeat(n)));
    grows_linearly("parentheses", |n| {
        format!("{prologue}.global .b32 x = {}1{};", "(".repeat(n), ")".repeat(n))
    });
    grows_linearly("signs", |n| format!("{prologue}.global .b32 x = {}1;", "-".repeat(n)));
    grows_linearly("lists", |n| format!("{prologue}.global .b32 x = {}1{};", "{".repeat(n), "}".repeat(n)));
    grows_linearly("sums", |n| format!("{prologue}.global .b32 x = {}1;", "1+".repeat(n)));
    grows_linearly("choices", |n| format!("{prologue}.global .b32 x = {}1;", "1?1:".repeat(n)));
    grows_linearly("comments", |n| "/* ".repeat(n) + &"*/".repeat(n));
    grows_linearly("quotes", |n| "\"".repeat(n));
    grows_linearly("line marks", |n| "# 1 ".repeat(n));
    grows_linearly("dots", |n| ".".repeat(n) + &"::".repeat(n));
    grows_linearly("targets", |n| wrap(format!("T: .branchtargets L<4000000000>; {}", "L: ".repeat(n))));
}

#[test]
fn large_modules_are_printed_in_order() {
    // So many statements are printed on several threads.
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n\n");
    for i in 0..300 {
        text += &format!(".visible .entry k{i}()\n{{\n    .reg .b32 %r<2>;\n");
        for j in 0..200 {
            text += &format!("    add.s32 %r0, %r1, {};\n", i * j);
        }
        text += "    ret;\n}\n\n";
    }
    let parsed = parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(print(&parsed.module), text);
    assert_eq!(check_printed(&parsed.module, &text), Ok(()));
}

#[test]
fn a_text_of_another_module_is_told() {
    let module =
        |text: &str| parse(&format!(".version 8.0\n.target sm_80\n.address_size 64\n\n{text}\n")).module;
    let printed = print(&module(".global .b32 x;"));
    assert_eq!(check_printed(&module(".global .b32 x;"), &printed), Ok(()));
    let found = |text: &str| check_printed(&module(".global .b32 y;"), text).unwrap_err()[0].code;
    assert_eq!(found(&printed), "P0009");
    // The same tree, with blanks that the printer does not write.
    assert_eq!(found(".version 8.0\n.target sm_80\n.address_size 64\n\n.global .b32  y;\n"), "P0009");
    assert_eq!(found(".global .b32"), "P0101");
}
