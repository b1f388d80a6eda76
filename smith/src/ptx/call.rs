//! Functions and calls: direct, through registers with a prototype or a list of targets, by value, and of a function that calls itself.

use super::scope::Class;
use super::{Generator, line};
use arbitrary::Result;

/// What a function takes: 32 and 64 bits, or 16 bytes by value. All return 32 bits.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    name: String,
    params: Vec<Kind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Word,
    Double,
    Bytes,
}

impl Kind {
    fn param(self, name: &str) -> String {
        match self {
            Kind::Word => format!(".param .b32 {name}"),
            Kind::Double => format!(".param .b64 {name}"),
            Kind::Bytes => format!(".param .align 8 .b8 {name}[16]"),
        }
    }
}

impl Signature {
    /// Its parameters, with `_` for their names.
    pub fn params(&self) -> impl Iterator<Item = String> {
        self.params.iter().map(|kind| kind.param("_"))
    }
}

impl Generator<'_, '_, '_> {
    /// A function, which may call those before it.
    pub(super) fn function(&mut self, name: &str) -> Result<()> {
        if self.u.ratio(1, 4)? {
            self.recursive(name);
            self.functions.push(Signature { name: name.to_owned(), params: vec![Kind::Word, Kind::Word] });
            return Ok(());
        }
        let count = self.u.int_in_range(1..=3)?;
        let params: Vec<Kind> = (0..count)
            .map(|_| self.u.choose(&[Kind::Word, Kind::Double, Kind::Bytes]).copied())
            .collect::<Result<_>>()?;
        let listed: Vec<String> =
            params.iter().enumerate().map(|(n, kind)| kind.param(&format!("p{n}"))).collect();
        self.out.push_str(&format!(".func (.param .b32 result) {name} ({})\n{{\n", listed.join(", ")));
        self.scopes.open();
        self.line(".reg .b64 %acc, %h0, %h1, %t0, %t1;");
        self.line(".reg .b32 %s0, %s1, %s2, %w<3>;");
        self.line(".reg .b16 %q0, %q1;");
        self.line(".reg .pred %c0, %c1;");
        self.line(".reg .b64 %d<3>;");
        self.line("mov.b64 %h0, 5;");
        self.line("mov.b64 %h1, 9;");
        self.line("mov.b64 %acc, 3;");
        for (n, kind) in params.iter().enumerate() {
            match kind {
                Kind::Word => {
                    line!(self, "ld.param.b32 %w{n}, [p{n}];");
                    self.scopes.add([format!("%w{n}")], Class::B32);
                }
                Kind::Double => {
                    line!(self, "ld.param.b64 %d{n}, [p{n}];");
                    self.scopes.add([format!("%d{n}")], Class::B64);
                }
                Kind::Bytes => {
                    line!(self, "ld.param.b64 %d{n}, [p{n}];");
                    line!(self, "ld.param.b32 %w{n}, [p{n}+{}];", 4 * self.u.int_in_range(0..=3)?);
                    self.scopes.add([format!("%d{n}")], Class::B64);
                    self.scopes.add([format!("%w{n}")], Class::B32);
                }
            }
        }
        self.declare()?;
        self.budget = self.u.int_in_range(2..=8)?;
        while self.budget > 0 {
            self.statement(1)?;
        }
        let result = self.register(Class::B32)?.unwrap_or_else(|| "17".to_owned());
        line!(self, "cvt.u32.u64 %s2, %acc;");
        line!(self, "xor.b32 %s2, %s2, {result};");
        line!(self, "st.param.b32 [result], %s2;");
        self.line("ret;");
        self.out.push_str("}\n");
        self.scopes.close();
        self.functions.push(Signature { name: name.to_owned(), params });
        Ok(())
    }

    /// A function that calls itself, less often each time.
    fn recursive(&mut self, name: &str) {
        self.out
            .push_str(&format!(".func (.param .b32 result) {name} (.param .b32 p0, .param .b32 p1)\n{{\n"));
        for text in [
            ".reg .b32 %left, %sum, %part;",
            ".reg .pred %more;",
            "ld.param.b32 %left, [p0];",
            "ld.param.b32 %sum, [p1];",
            "and.b32 %left, %left, 7;",
            "setp.ne.s32 %more, %left, 0;",
            "@!%more bra $done;",
            "sub.s32 %left, %left, 1;",
            "mad.lo.s32 %part, %sum, 5, %left;",
            "{",
            ".param .b32 a0;",
            ".param .b32 a1;",
            ".param .b32 r0;",
            "st.param.b32 [a0], %left;",
            "st.param.b32 [a1], %part;",
        ] {
            self.line(text);
        }
        line!(self, "call.uni (r0), {name}, (a0, a1);");
        self.line("ld.param.b32 %part, [r0];");
        self.line("}");
        self.line("xor.b32 %sum, %sum, %part;");
        self.place_label("$done");
        self.line("st.param.b32 [result], %sum;");
        self.line("ret;");
        self.out.push_str("}\n");
    }

    /// A call of one of the functions.
    pub(super) fn call(&mut self) -> Result<()> {
        let n = self.u.int_in_range(0..=self.functions.len() - 1)?;
        let Signature { name, params } = self.functions[n].clone();
        let Some(result) = self.register(Class::B32)? else { return Ok(()) };
        self.line("{");
        self.indent += 1;
        for (n, kind) in params.iter().enumerate() {
            line!(self, "{};", kind.param(&format!("a{n}")));
        }
        self.line(".param .b32 r0;");
        for (n, kind) in params.iter().enumerate() {
            let word = self.register(Class::B32)?.unwrap_or_else(|| "3".to_owned());
            let double = self.register(Class::B64)?.unwrap_or_else(|| "4".to_owned());
            match kind {
                Kind::Word => line!(self, "st.param.b32 [a{n}], {word};"),
                Kind::Double => line!(self, "st.param.b64 [a{n}], {double};"),
                Kind::Bytes => {
                    line!(self, "st.param.b64 [a{n}], {double};");
                    line!(self, "st.param.b32 [a{n}+8], {word};");
                    line!(self, "st.param.b32 [a{n}+12], {word};");
                }
            }
        }
        let list: Vec<String> = (0..params.len()).map(|n| format!("a{n}")).collect();
        let list = list.join(", ");
        match self.u.int_in_range(0..=3)? {
            0 => {
                let prototype = self.label();
                line!(self, ".reg .b64 %fp;");
                line!(self, "mov.u64 %fp, {name};");
                let kinds: Vec<String> = params.iter().map(|kind| kind.param("_")).collect();
                let text = format!("{prototype}: .callprototype (.param .b32 _) _ ({});", kinds.join(", "));
                self.line(&text);
                line!(self, "call (r0), %fp, ({list}), {prototype};");
            }
            1 => {
                let targets = self.label();
                line!(self, ".reg .b64 %fp;");
                line!(self, "mov.u64 %fp, {name};");
                self.place_table(&targets, ".calltargets", std::slice::from_ref(&name));
                line!(self, "call (r0), %fp, ({list}), {targets};");
            }
            _ => line!(self, "call (r0), {name}, ({list});"),
        }
        line!(self, "ld.param.b32 {result}, [r0];");
        self.indent -= 1;
        self.line("}");
        Ok(())
    }
}
