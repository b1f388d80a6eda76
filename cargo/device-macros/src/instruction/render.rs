//! A function's text: its head, its body on the device, a call that the linker reads, and its body on the host.

use super::generate::{Function, Item, Source};

impl Function {
    /// What the function gives, as Rust writes it.
    pub fn returned(&self) -> String {
        match self.results.as_slice() {
            [] => "()".to_owned(),
            [one] => one.whole(),
            all => format!("({})", all.iter().map(Item::whole).collect::<Vec<_>>().join(", ")),
        }
    }

    /// The parameters, as Rust writes them.
    pub fn parameters(&self) -> String {
        self.params
            .iter()
            .map(|param| format!("{}: {}", param.name, param.whole()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The results put together from the registers `out.N`, each turned into its type by `from`.
    fn assemble(&self, from: impl Fn(usize, &str) -> String) -> String {
        let mut next = 0;
        let mut take = |ty: &str| {
            next += 1;
            from(next - 1, ty)
        };
        let mut all: Vec<String> = Vec::new();
        for item in &self.results {
            let registers: Vec<String> = (0..item.count.unwrap_or(1)).map(|_| take(&item.ty)).collect();
            all.push(if item.count.is_some() {
                format!("[{}]", registers.join(", "))
            } else {
                registers.concat()
            });
        }
        if all.len() == 1 { all.remove(0) } else { format!("({})", all.join(", ")) }
    }

    /// The body on the device.
    pub fn device(&self) -> String {
        let (mut params, mut arguments) = (Vec::new(), Vec::new());
        for source in &self.sources {
            let Source::Register(from, ty) = source else { continue };
            let (ty, cast) = if ty == "bool" { ("u32", " as u32") } else { (ty.as_str(), "") };
            params.push(format!("a{}: {ty}", params.len()));
            arguments.push(format!("{from}{cast}"));
        }
        let call = format!("(unsafe {{ instruction({}) }})", arguments.join(", "));
        let (declared, arrow, result) = match (self.carrier, self.results.as_slice()) {
            (Some(carrier), _) => {
                let assembled = self.assemble(|n, ty| match ty {
                    "bool" => format!("out.0[{n}] != 0"),
                    "f32" => format!("f32::from_bits(out.0[{n}] as u32)"),
                    "f64" => format!("f64::from_bits(out.0[{n}] as u64)"),
                    ty => format!("out.0[{n}] as {ty}"),
                });
                let declared = format!("#[repr(C)] struct Out([{carrier}; {}]);", self.registers_written());
                (declared, "-> Out".to_owned(), format!("let out = {call}; {assembled}"))
            }
            (None, [one]) if one.ty == "bool" => (String::new(), "-> u32".to_owned(), format!("{call} != 0")),
            (None, [one]) if one.count.is_some() => {
                (String::new(), format!("-> {}", one.ty), format!("[{call}]"))
            }
            (None, [one]) => (String::new(), format!("-> {}", one.ty), call),
            // Several results have a carrier.
            (None, _) => (String::new(), String::new(), call),
        };
        format!(
            "{declared} unsafe extern \"C\" {{ #[link_name = {:?}] fn instruction({}) {arrow}; }} {result}",
            format!("ptx:{}|{}", self.constraints, self.text),
            params.join(", ")
        )
    }

    fn registers_written(&self) -> usize {
        self.results.iter().map(|item| item.count.unwrap_or(1)).sum()
    }

    /// The body on the host.
    pub fn host(&self) -> String {
        let bits = |source: &Source| match source {
            Source::Constant(number) => format!("{number}_i64 as u64 as u128"),
            Source::Register(from, ty) => match ty.as_str() {
                "bool" => format!("{from} as u128"),
                "f32" | "f64" => format!("{from}.to_bits() as u128"),
                "i8" => format!("{from} as u8 as u128"),
                "i16" => format!("{from} as u16 as u128"),
                "i32" => format!("{from} as u32 as u128"),
                "i64" => format!("{from} as u64 as u128"),
                ty if ty.starts_with('*') => format!("{from}.expose_provenance() as u128"),
                _ => format!("{from} as u128"),
            },
        };
        let sources: Vec<String> = self.sources.iter().map(bits).collect();
        let count = self.registers_written();
        let result = self.assemble(|n, ty| match ty {
            "bool" => format!("out[{n}] & 1 != 0"),
            "f32" => format!("f32::from_bits(out[{n}] as u32)"),
            "f64" => format!("f64::from_bits(out[{n}] as u64)"),
            ty => format!("out[{n}] as {ty}"),
        });
        let run = format!("INSTRUCTION.run(&[{}])", sources.join(", "));
        let body = match count {
            0 => format!("let [] = {run};"),
            _ => format!("let out: [u128; {count}] = {run}; {result}"),
        };
        format!(
            "static INSTRUCTION: ::warpsmith_device::host::Instruction = \
                ::warpsmith_device::host::Instruction::new({:?}, {}, {}, {}); {body}",
            self.mnemonic, self.form, self.present, self.destination_bits,
        )
    }
}
