//! Inline assembly: its text is parsed as PTX, and each instruction becomes one of the IR.
//!
//! A register, an operand of the assembly or one that the text declares, is a variable of the builder, so that guards, labels and branches in
//! the text become blocks and block parameters. What the text names besides its registers is refused.

mod instructions;
mod memory;
mod operands;

use super::function::{Builder, Values};
use super::shape::{Part, Parts, container};
use crate::error::{Error, Result};
use crate::module::body::{Call, Inst};
use crate::module::constants::InlineAsm;
use crate::module::types::Type as Llvm;
use crate::module::{GlobalValue, ValueId};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{self as ir, InstBuilder, PtxArg, Type, Value, Variable};
use warpsmith_isa::ScalarType;
use warpsmith_ptx as ptx;

/// What a constraint says of an operand.
struct Constraint {
    output: bool,
    /// It is the register of an output.
    tied: Option<usize>,
    /// `n`: the number itself, where it is one.
    immediate: bool,
    /// `*m`: the address of what lies in memory.
    memory: bool,
    ty: Type,
}

/// All bits of a register.
fn whole(ty: Type) -> Part {
    Part { ty, bits: ty.bits(), offset: 0 }
}

/// The register that a letter of a constraint denotes.
fn register_of(letter: char) -> Option<Type> {
    Some(match letter {
        'b' => Type::I1,
        'c' | 'h' => Type::I16,
        'r' => Type::I32,
        'l' | 'N' => Type::I64,
        'f' => Type::F32,
        'd' => Type::F64,
        'q' => Type::I128,
        _ => return None,
    })
}

/// The constraints of a text, without what is clobbered.
fn constraints(text: &str) -> Result<Vec<Constraint>> {
    let mut all = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty() && !part.starts_with('~')) {
        let (output, rest) = match part.strip_prefix('=') {
            Some(rest) => (true, rest),
            None => (false, part),
        };
        let rest = rest.trim_start_matches(['&', '%']);
        let (indirect, rest) = rest.strip_prefix('*').map_or((false, rest), |rest| (true, rest));
        let tied = rest.parse().ok();
        let memory = indirect && rest.contains(['m', 'o', 'V']);
        // Of alternatives, as in `rm` and `ri`, a register is the one that holds everything.
        let register = rest.chars().find_map(|letter| register_of(letter).filter(|_| !memory));
        let other = memory || tied.is_some() || rest.chars().all(|letter| "nisX".contains(letter));
        let Some(ty) = register.or(other.then_some(Type::I64)) else {
            return Err(Error::unsupported(format!("the constraint `{rest}` of inline assembly")));
        };
        all.push(Constraint { output, tied, immediate: rest.contains(['n', 'i']), memory, ty });
    }
    Ok(all)
}

/// The text with its operands in place: `$0`, `${0:x}`, `$$`.
fn substitute(text: &str, operands: &[String]) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let (number, after) = match after.strip_prefix('{') {
            Some(inner) => {
                let (inner, after) = inner.split_once('}').unwrap_or((inner, ""));
                // What clang writes for `%=`: another number in each text. Labels of one text mean nothing in another here.
                let special = match inner {
                    ":uid" => Some("0"),
                    ":comment" => Some("//"),
                    ":private" => Some("$L__"),
                    _ => None,
                };
                if let Some(special) = special {
                    out.push_str(special);
                    rest = after;
                    continue;
                }
                (inner.split(':').next().unwrap_or_default(), after)
            }
            None => {
                let end = after.bytes().take_while(u8::is_ascii_digit).count();
                after.split_at(end)
            }
        };
        let operand = number.parse().ok().and_then(|n: usize| operands.get(n));
        let operand =
            operand.ok_or_else(|| Error::unsupported(format!("operand `${number}` of inline assembly")))?;
        out.push_str(operand);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// The text without comments, which end it as nothing else does.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        let (end, len) = if rest[at..].starts_with("//") { ("\n", 0) } else { ("*/", 2) };
        rest = rest[at + 2..].find(end).map_or("", |n| &rest[at + 2 + n + len..]);
    }
    out.push_str(rest);
    out
}

/// The type of a register that the text declares.
fn register_type(ty: ScalarType) -> Result<Type> {
    let float = ir::Scalar::ALL.iter().find(|scalar| scalar.isa() == ty && Type::scalar(**scalar).is_float());
    if let Some(float) = float {
        return Ok(Type::scalar(*float));
    }
    if ty == ScalarType::Pred {
        return Ok(Type::I1);
    }
    match ty.bits() {
        bits @ (8 | 16 | 32 | 64 | 128) => Ok(container(bits)),
        _ => Err(Error::unsupported(format!("a register of type `{ty}` in inline assembly"))),
    }
}

/// The pointers that a `cvta` of 64 bits converts from and to; parameters and the memory of clusters have none.
fn conversion(mnemonic: &ir::Mnemonic) -> Option<(Type, Type)> {
    use warpsmith_isa::{Mod, Opcode};
    if !mnemonic.has(Mod::U64) {
        return None;
    }
    let spaces = [
        (Mod::Global, Type::PTR_GLOBAL),
        (Mod::Shared, Type::PTR_SHARED),
        (Mod::Const, Type::PTR_CONST),
        (Mod::Local, Type::PTR_LOCAL),
    ];
    let (_, within) = spaces.into_iter().find(|(space, _)| mnemonic.has(*space))?;
    let opcode = mnemonic.opcode();
    (opcode == Opcode::Cvta)
        .then_some((within, Type::PTR))
        .or_else(|| (opcode == Opcode::CvtaTo).then_some((Type::PTR, within)))
}

/// What a text of assembly is turned into.
struct Translation<'t> {
    module: &'t ptx::Module,
    registers: FxHashMap<String, Variable>,
    /// The registers that come in with pointers, and these.
    pointers: FxHashMap<String, Value>,
    labels: FxHashMap<ptx::Symbol, ir::Block>,
    /// No access of memory moves past the text, nor within it.
    ordered: bool,
}

impl Builder<'_, '_, '_> {
    /// A call of inline assembly.
    pub fn inline_asm(&mut self, inst: &Inst, call: &Call, asm: &InlineAsm) -> Result<()> {
        // An empty text holds values, and keeps the compiler from moving memory accesses: there is nothing of it in PTX, whatever holds them.
        if asm.text.trim().is_empty() && self.parts(inst.ty)?.is_empty() {
            return Ok(());
        }
        let constraints = constraints(&asm.constraints)?;
        let in_registers = |constraint: &&Constraint| constraint.output && !constraint.memory;
        let outputs = self.outputs(inst, constraints.iter().filter(in_registers).count())?;
        let mut names: Vec<String> = Vec::new();
        let mut declarations = String::new();
        let mut registers: FxHashMap<String, Variable> = FxHashMap::default();
        let mut pointers: FxHashMap<String, Value> = FxHashMap::default();
        let mut results: Vec<Variable> = Vec::new();
        let mut tied: Vec<(Variable, Value)> = Vec::new();
        let mut args = self.body.args(call).iter();
        for (n, constraint) in constraints.iter().enumerate() {
            if constraint.output && !constraint.memory {
                let name = format!("%wasm{n}");
                let variable = self.b.declare_var(constraint.ty);
                declarations.push_str(&format!(".reg .b{} {name};\n", constraint.ty.bits().max(16)));
                registers.insert(name.clone(), variable);
                results.push(variable);
                names.push(name);
                continue;
            }
            let arg = args
                .next()
                .ok_or_else(|| Error::unsupported("inline assembly with more constraints than operands"))?;
            if constraint.immediate
                && let Some(number) = self.constant_integer(*arg)
            {
                names.push(number.to_string());
                continue;
            }
            let value = self.asm_input(*arg, constraint.ty)?;
            if let Some(output) = constraint.tied {
                let variable =
                    *results.get(output).ok_or_else(|| Error::unsupported("an operand tied to no output"))?;
                names.push(names.get(output).cloned().unwrap_or_default());
                tied.push((variable, value));
                continue;
            }
            let name = format!("%wasm{n}");
            let variable = self.b.declare_var(constraint.ty);
            if self.type_of(value).is_ptr() {
                pointers.insert(name.clone(), value);
            }
            let value = self.as_register(value, constraint.ty);
            self.b.def_var(variable, value);
            declarations.push_str(&format!(".reg .b{} {name};\n", constraint.ty.bits().max(16)));
            registers.insert(name.clone(), variable);
            names.push(if constraint.memory { format!("[{name}]") } else { name });
        }
        for (n, variable) in results.iter().enumerate() {
            let ty = constraints.iter().filter(in_registers).nth(n).map_or(Type::I32, |c| c.ty);
            let value = match tied.iter().find(|(of, _)| of == variable) {
                Some((_, value)) => self.as_register(*value, ty),
                None => self.zero_of(ty),
            };
            self.b.def_var(*variable, value);
        }
        let body = substitute(&asm.text, &names)?;
        // Some end their last instruction without a semicolon.
        let code = without_comments(&body);
        let end = if code.trim_end().ends_with([';', '}', ':']) || code.trim().is_empty() { "" } else { ";" };
        let text = format!(
            ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry asm()\n{{\n{declarations}{body}\n{end}\nret;\n}}\n"
        );
        let parsed = ptx::parse(&text);
        if let Some(error) = parsed.diagnostics.iter().find(|d| d.severity == warpsmith_diag::Severity::Error)
        {
            return Err(Error::unsupported(format!(
                "inline assembly `{}`: {}",
                asm.text.trim(),
                error.message
            )));
        }
        let ordered = asm.constraints.contains("~{memory}");
        let labels = FxHashMap::default();
        let mut translation = Translation { module: &parsed.module, registers, pointers, labels, ordered };
        let function = parsed.module.functions().next().and_then(|function| function.body);
        let body = function
            .ok_or_else(|| Error::unsupported("inline assembly that closes a brace it did not open"))?;
        self.translate(&mut translation, &parsed.module[body]).map_err(|error| {
            Error::unsupported(format!("{} in inline assembly `{}`", error.message, asm.text.trim()))
        })?;
        let mut out = Values::new();
        for (variable, parts) in results.iter().zip(&outputs) {
            let value = self.b.use_var(*variable);
            let value = self.integer_of(value);
            if let [part] = parts[..] {
                let value = self.resize(value, container(part.ty.bits()));
                out.push(self.scalar_of(value, part.ty));
            } else {
                let register = whole(self.type_of(value));
                out.extend(self.regroup(&[value], &[register], parts)?);
            }
        }
        self.result(inst, &out)
    }

    /// The scalars of each of so many outputs: one each, also of an array, or those of the fields of a struct.
    fn outputs(&self, inst: &Inst, count: usize) -> Result<Vec<Parts>> {
        let parts = self.parts(inst.ty)?;
        if parts.len() == count {
            return Ok(parts.into_iter().map(|part| Parts::from_slice(&[part])).collect());
        }
        if let Llvm::Struct { fields, .. } = self.types().get(inst.ty) {
            return fields.iter().map(|field| self.parts(*field)).collect();
        }
        Ok(if parts.is_empty() { Vec::new() } else { vec![parts] })
    }

    /// An operand as one scalar: a vector as its bits, a pointer in the space that its type names.
    fn asm_input(&mut self, arg: ValueId, register: Type) -> Result<Value> {
        let ty = self.value_type(arg)?;
        let parts = self.parts(ty)?;
        let values = self.value(arg)?;
        if let ([value], [part]) = (&values[..], &parts[..]) {
            return Ok(self.pointer_as(*value, part.ty));
        }
        let bits: u32 = parts.iter().map(|part| part.bits).sum();
        if parts.is_empty() || bits > register.bits() {
            let message = format!("an operand of type `{}` of inline assembly", self.types().display(ty));
            return Err(Error::unsupported(message));
        }
        let bits = self.regroup(&values, &parts, &[whole(container(bits.next_power_of_two()))])?;
        bits.first().copied().ok_or_else(|| Error::unsupported("an operand without a value"))
    }

    /// A value as the register of a constraint.
    fn as_register(&mut self, value: Value, ty: Type) -> Value {
        if self.type_of(value) == ty {
            return value;
        }
        // The address in its own space, as LLVM passes it.
        let int =
            if self.type_of(value).is_ptr() { self.b.ins().ptrtoint(value) } else { self.integer_of(value) };
        let int = self.resize(int, container(ty.bits()));
        self.scalar_of(int, ty)
    }

    /// Makes blocks of the labels between braces, or of those outside of all.
    fn declare_labels(&mut self, t: &mut Translation<'_>, body: &[ptx::Stmt]) {
        let mut depth = 0u32;
        for stmt in body {
            if matches!(stmt, ptx::Stmt::Open) {
                depth += 1;
            } else if matches!(stmt, ptx::Stmt::Close) {
                let Some(outer) = depth.checked_sub(1) else { break };
                depth = outer;
            } else if let ptx::Stmt::Label(name) = stmt
                && depth == 0
            {
                let block = self.b.create_block();
                t.labels.insert(*name, block);
            }
        }
    }

    fn translate(&mut self, t: &mut Translation<'_>, body: &[ptx::Stmt]) -> Result<()> {
        self.declare_labels(t, body);
        // What names mean outside of the braces that have been opened.
        let mut outside: Vec<(FxHashMap<String, Variable>, FxHashMap<ptx::Symbol, ir::Block>)> = Vec::new();
        let last = body.len().saturating_sub(1);
        for (n, stmt) in body.iter().enumerate() {
            match stmt {
                ptx::Stmt::Open => {
                    outside.push((t.registers.clone(), t.labels.clone()));
                    self.declare_labels(t, &body[n + 1..]);
                }
                ptx::Stmt::Close => {
                    if let Some((registers, labels)) = outside.pop() {
                        (t.registers, t.labels) = (registers, labels);
                    }
                }
                ptx::Stmt::Decl(decl) => {
                    let decl = &t.module[*decl];
                    if decl.space != warpsmith_isa::StateSpace::Reg || decl.vector != 1 {
                        return Err(Error::unsupported("a declaration of other than scalar registers"));
                    }
                    let ty = register_type(decl.ty)?;
                    for declarator in &t.module[decl.names] {
                        let name = t.module[declarator.name].to_owned();
                        let names: Vec<String> = match declarator.count {
                            Some(count) => (0..count.min(1024)).map(|n| format!("{name}{n}")).collect(),
                            None => vec![name],
                        };
                        for name in names {
                            // Those of operands are declared in front of the text.
                            if name.starts_with("%wasm") {
                                continue;
                            }
                            let variable = self.b.declare_var(ty);
                            let zero = self.zero_of(ty);
                            self.b.def_var(variable, zero);
                            t.registers.insert(name, variable);
                        }
                    }
                }
                ptx::Stmt::Label(name) => {
                    if let Some(block) = t.labels.get(name).copied() {
                        if !self.b.is_filled() {
                            self.b.ins().jump(block, &[]);
                        }
                        self.b.switch_to_block(block);
                    }
                }
                // The `ret` behind the text.
                ptx::Stmt::Inst(_) if n == last => {}
                ptx::Stmt::Inst(inst) => self.translate_inst(t, inst)?,
                // Hints to ptxas, on what it sees and not on what becomes of it here.
                ptx::Stmt::Pragma(_) => {}
                ptx::Stmt::Loc(_)
                | ptx::Stmt::LocIntermediate(_)
                | ptx::Stmt::BranchTargets { .. }
                | ptx::Stmt::CallTargets { .. }
                | ptx::Stmt::CallPrototype(_)
                | ptx::Stmt::Target(_) => return Err(Error::unsupported("a directive")),
            }
        }
        Ok(())
    }

    fn translate_inst(&mut self, t: &Translation<'_>, inst: &ptx::Inst) -> Result<()> {
        let text = &t.module[inst.mnemonic];
        let operands = &t.module[inst.operands];
        let mnemonic = Self::mnemonic(text)?;
        let control = ir::control_flow(mnemonic.opcode()).is_some();
        let guard = match inst.guard {
            Some(guard) => Some((self.register(t, guard.predicate())?, guard.negated())),
            None => None,
        };
        if !control && guard.is_none() && !ends(mnemonic) {
            return self.translate_plain(t, text, mnemonic, operands);
        }
        let next = self.b.create_block();
        if self.ends(t, inst, mnemonic, guard, next)? {
            return Ok(());
        }
        if control {
            let [ptx::Operand::Name(label)] = operands else {
                return Err(Error::unsupported(format!("`{text}`")));
            };
            let block = *t
                .labels
                .get(label)
                .ok_or_else(|| Error::unsupported(format!("`{text}` to `{}`", &t.module[*label])))?;
            match guard {
                None => self.b.ins().jump(block, &[]),
                Some((variable, negated)) => {
                    let cond = self.b.use_var(variable);
                    let (yes, no) = if negated { (next, block) } else { (block, next) };
                    self.b.ins().brif(cond, yes, &[], no, &[])
                }
            };
            self.b.switch_to_block(next);
            return Ok(());
        }
        if let Some((variable, negated)) = guard {
            let then = self.b.create_block();
            let cond = self.b.use_var(variable);
            let (yes, no) = if negated { (next, then) } else { (then, next) };
            self.b.ins().brif(cond, yes, &[], no, &[]);
            self.b.switch_to_block(then);
            self.translate_plain(t, text, mnemonic, operands)?;
            self.b.ins().jump(next, &[]);
        }
        self.b.switch_to_block(next);
        Ok(())
    }

    /// `exit`, `ret` and `trap`, which end a block of the IR; false for all else.
    fn ends(
        &mut self,
        t: &Translation<'_>,
        inst: &ptx::Inst,
        mnemonic: ir::Mnemonic,
        guard: Option<(Variable, bool)>,
        next: ir::Block,
    ) -> Result<bool> {
        use warpsmith_isa::Opcode;
        let traps = mnemonic.opcode() == Opcode::Trap;
        if !ends(mnemonic) {
            return Ok(false);
        }
        if !traps && self.b.func().kind != ir::FuncKind::Kernel {
            return Err(Error::unsupported(format!(
                "`{}` in a function that is not a kernel",
                &t.module[inst.mnemonic]
            )));
        }
        if let Some((variable, negated)) = guard {
            let end = self.b.create_block();
            let cond = self.b.use_var(variable);
            let (yes, no) = if negated { (next, end) } else { (end, next) };
            self.b.ins().brif(cond, yes, &[], no, &[]);
            self.b.switch_to_block(end);
        }
        if traps {
            self.b.ins().trap();
        } else {
            self.b.ins().ret(&[]);
        }
        self.b.switch_to_block(next);
        Ok(true)
    }
}

/// Whether an instruction ends the thread, or the function.
fn ends(mnemonic: ir::Mnemonic) -> bool {
    use warpsmith_isa::Opcode;
    matches!(mnemonic.opcode(), Opcode::Trap | Opcode::Exit | Opcode::Ret)
}

#[cfg(test)]
mod tests {
    use super::{constraints, substitute};

    #[test]
    fn operands_are_put_in_place() {
        let names = ["%a".to_owned(), "%b".to_owned()];
        assert_eq!(substitute("add.u32 $0, ${1:x}, $$1;", &names).unwrap(), "add.u32 %a, %b, $1;");
        assert!(substitute("mov $7, 1;", &names).is_err());
        let all = constraints("=&r,=f,0,l,n,~{memory}").unwrap();
        assert_eq!(all.iter().filter(|c| c.output).count(), 2);
        assert_eq!(all.len(), 5);
        assert_eq!(all[2].tied, Some(0));
        assert!(constraints("=k").is_err());
    }
}
