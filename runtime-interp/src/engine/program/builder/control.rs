//! Labels, branches, calls, and the end of a body.

use super::*;

impl FunctionBuilder<'_> {
    /// A new label, to be bound later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label to the next operation.
    pub fn bind(&mut self, label: Label) {
        let here = self.builder.program.code.len() as u32;
        if self.labels[label.0 as usize].replace(here).is_some() {
            self.error("a label is bound twice");
        }
    }

    /// Jumps, in the lanes of the guard.
    pub fn branch(&mut self, target: Label) {
        self.fixups.push(self.builder.program.code.len() as u32);
        self.emit(Op::Branch(target.0));
    }

    /// Jumps if the predicate is true (or false, if negated), whatever the current guard.
    pub fn branch_if(&mut self, guard: Guard, target: Label) {
        let saved = self.guard;
        self.guard(Some(guard));
        self.branch(target);
        self.guard = saved;
    }

    /// `brx.idx`: jumps to the label that the index selects; an index past the end is a fault.
    pub fn switch(&mut self, index: Reg, targets: &[Label]) {
        self.check(index, Some(Width::W32), false);
        let table = &mut self.builder.program.targets;
        let range = Range { start: table.len() as u32, len: targets.len() as u32 };
        table.extend(targets.iter().map(|l| l.0));
        self.fixups.push(self.builder.program.code.len() as u32);
        self.emit(Op::Switch { index, targets: range });
    }

    /// The set of functions that indirect calls may reach, which must have the same formal parameters. Made once for all calls
    /// that share it, since it may have as many functions as the program.
    pub fn candidates(&mut self, mut functions: Vec<FuncId>) -> CandidatesId {
        functions.sort_unstable();
        functions.dedup();
        if let Some(known) = self.builder.candidates.get(functions.as_slice()) {
            return *known;
        }
        let all = &self.builder.program.functions;
        if let Some((first, rest)) = functions.split_first() {
            let first = &all[first.0 as usize];
            let odd = rest.iter().map(|f| &all[f.0 as usize]).find(|f| !f.same_formals(first));
            if let Some(odd) = odd {
                let message =
                    format!("`{}` and `{}` are called alike but have other parameters", first.name, odd.name);
                self.error(message);
            }
        }
        let set: Arc<[FuncId]> = functions.into();
        let id = CandidatesId(self.builder.program.candidates.len() as u32);
        self.builder.program.candidates.push(set.clone());
        self.builder.candidates.insert(set, id);
        id
    }

    /// The functions that a call may reach.
    pub fn callees<'a>(&'a self, callee: &'a Callee) -> &'a [FuncId] {
        self.builder.program.callees(callee)
    }

    /// Calls a function: `args` are copied to its formal parameters, its results to `results`.
    pub fn call(&mut self, callee: Callee, args: &[Actual], results: &[Actual]) {
        let model = match &callee {
            Callee::Direct(f) => Some(*f),
            Callee::Indirect(r, candidates) => {
                self.check(*r, Some(Width::W64), false);
                self.builder.program.candidates(*candidates).first().copied()
            }
        };
        for slot in args.iter().chain(results) {
            if let Slot::Reg(r) = *slot {
                self.check(r, None, false);
            }
        }
        let functions = &self.builder.program.functions;
        let Some(model) = model else {
            return self.emit(Op::Call(Box::new(Call { callee, args: Vec::new(), results: Vec::new() })));
        };
        let formal = &functions[model.0 as usize];
        let moved = if formal.params.len() != args.len() || formal.results.len() != results.len() {
            Err(format!(
                "`{}` takes {} arguments and gives {} results",
                formal.name,
                formal.params.len(),
                formal.results.len()
            ))
        } else {
            let passed = args
                .iter()
                .zip(&formal.params)
                .map(|(a, f)| Slot::transfer(*a, *f))
                .collect::<Option<Vec<_>>>();
            let returned = results
                .iter()
                .zip(&formal.results)
                .map(|(a, f)| Slot::transfer(*f, *a))
                .collect::<Option<Vec<_>>>();
            passed.zip(returned).ok_or_else(|| {
                format!("an argument of `{}` has another size than its parameter", formal.name)
            })
        };
        match moved {
            Ok((args, results)) => self.emit(Op::Call(Box::new(Call { callee, args, results }))),
            Err(message) => self.error(message),
        }
    }

    /// Returns from the function; in a kernel, ends the thread.
    pub fn ret(&mut self) {
        let kernel = self.function().kernel.is_some();
        self.emit(if kernel { Op::Exit } else { Op::Ret });
    }

    /// Ends the thread.
    pub fn exit(&mut self) {
        self.emit(Op::Exit);
    }

    /// Ends the launch with a fault.
    pub fn trap(&mut self) {
        self.emit(Op::Trap);
    }

    /// Ends the body. Running off its end returns.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else goes to labels")]
    pub fn finish(mut self) {
        self.guard(None);
        self.ret();
        let mut unbound = false;
        let mut place = |label: &mut u32, labels: &[Option<u32>]| match labels.get(*label as usize) {
            Some(Some(pc)) => *label = *pc,
            _ => unbound = true,
        };
        let Program { code, targets, .. } = &mut self.builder.program;
        for &pc in &self.fixups {
            match &mut code[pc as usize].op {
                Op::Branch(target) => place(target, &self.labels),
                Op::Switch { targets: range, .. } => {
                    let (start, len) = (range.start as usize, range.len as usize);
                    targets[start..start + len].iter_mut().for_each(|t| place(t, &self.labels));
                }
                _ => {}
            }
        }
        if unbound {
            self.error("a branch to a label that is nowhere");
        }
        let end = self.builder.program.code.len() as u32;
        self.builder.current = None;
        let function = self.function();
        function.end = end;
        function.shared.sort_unstable();
        function.shared.dedup();
        if function.rows * 32 > Reg::MAX_OFFSET || function.rows > MAX_ROWS {
            let (name, rows) = (function.name.clone(), function.rows);
            self.error(format!("function `{name}` has {rows} rows of registers, more than {MAX_ROWS}"));
        }
    }
}
