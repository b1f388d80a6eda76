//! What the engine makes is what the rule says: the pattern of each rule as a function, the rule applied to it, and both executed.

use crate::instance::{Instance, Variable, mask, needs_place};
use crate::points::{EXHAUSTIVE, Points};
use crate::{agree, instances};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{
    self as ir, Attr, FastMath, FloatMode, Function, Inst, InstData, Module, Opcode, Type, Value, ValueList,
    meaning,
};
use warpsmith_lower::rules::demanded::Demanded;
use warpsmith_lower::rules::engine::{Facts, apply};
use warpsmith_lower::rules::known::KnownBits;
use warpsmith_lower::rules::{Condition, Fact, Kind, RULES, Rule, Term};
use warpsmith_semantics::Width;

/// The flags that rules may ask for.
const FLAGS: [FastMath; 5] =
    [FastMath::REASSOC, FastMath::NNAN, FastMath::NINF, FastMath::NSZ, FastMath::ARCP];

/// A function whose last operation is the pattern of a rule, with the constants of a point.
struct Built<'a> {
    instance: &'a Instance,
    point: &'a [u128],
    module: Module,
    values: [Option<Value>; 12],
    kinds: [Option<Type>; 6],
    /// The flag that an operation of the pattern does not get, and which of those with flags.
    withheld: Option<(usize, FastMath)>,
    flagged: usize,
}

impl<'a> Built<'a> {
    /// The pattern of a rule, without a flag if one is withheld, and its last operation.
    fn pattern(
        rule: &'static Rule,
        instance: &'a Instance,
        point: &'a [u128],
        withheld: Option<(usize, FastMath)>,
    ) -> Result<(Module, Value), String> {
        let params: Vec<String> =
            instance.variables.iter().enumerate().map(|(n, (_, ty))| format!("%p{n}: {ty}")).collect();
        let text = format!("func @f({}) {{\nentry:\n  ret\n}}\n", params.join(", "));
        let module = ir::parse_module(text).map_err(|errors| errors.to_string())?;
        let (values, kinds) = ([None; 12], [None; 6]);
        let mut built = Built { instance, point, module, values, kinds, withheld, flagged: 0 };
        let root = built.term(&rule.pattern, None);
        let module = built.module;
        ir::verify(&module).map_err(|errors| format!("the pattern is not valid: {errors}\n{module}"))?;
        Ok((module, root))
    }
}

impl Built<'_> {
    fn func(&mut self) -> &mut Function {
        self.module.functions.values_mut().next().expect("one function")
    }

    fn add(&mut self, data: InstData, ty: Type) -> Value {
        let func = self.func();
        let block = func.layout.entry().expect("a body");
        let end = func.layout.last_inst(block).expect("a terminator");
        let inst = func.dfg.make_inst(data, &[ty]);
        func.layout.insert_inst_before(inst, end);
        func.dfg.first_result(inst).expect("a result")
    }

    fn constant(&mut self, ty: Type, bits: u128) -> Value {
        let data = match ty.is_float() {
            true => InstData::FloatConst { bits: bits as u64 },
            false => InstData::int_const(ty, bits),
        };
        self.add(data, ty)
    }

    fn at(&self, wanted: Variable) -> Option<(usize, Type)> {
        let at = self.instance.variables.iter().position(|(variable, _)| *variable == wanted)?;
        Some((at, self.instance.variables[at].1))
    }

    /// A value of which as much is known as the point says.
    fn operand(&mut self, n: u8) -> Value {
        let (at, ty) = self.at(Variable::Value(n)).expect("a variable");
        let func = self.func();
        let entry = func.layout.entry().expect("a body");
        let position = func.dfg.block_params(entry)[at];
        let mut value = position;
        for (wanted, op) in [(Variable::Zeros(n), Opcode::Band), (Variable::Ones(n), Opcode::Bor)] {
            if let Some((at, _)) = self.at(wanted) {
                let bits = if op == Opcode::Band { !self.point[at] & mask(ty) } else { self.point[at] };
                let known = self.constant(ty, bits);
                value = self.add(InstData::Binary { op, args: [value, known] }, ty);
            }
        }
        value
    }

    fn term(&mut self, term: &Term, expected: Option<Type>) -> Value {
        match *term {
            Term::Value(n, _) | Term::Constant(n, _) if self.values[usize::from(n)].is_some() => {
                self.values[usize::from(n)].expect("just looked at")
            }
            Term::Value(n, kind) => {
                let value = self.operand(n);
                self.bind(n, kind, value)
            }
            Term::Constant(n, kind) => {
                let (at, ty) = self.at(Variable::Constant(n)).expect("a variable");
                let value = self.constant(ty, self.point[at]);
                self.bind(n, kind, value)
            }
            Term::Int(value) => {
                let ty = expected.expect("a place with a type");
                self.constant(ty, value as u64 as u128 & mask(ty))
            }
            Term::Float(value) => {
                let ty = expected.expect("a place with a type");
                self.constant(ty, crate::instance::float_bits(ty, value))
            }
            Term::Fact(..) => unreachable!("patterns have none"),
            Term::Op(operation) => {
                let rules = operation.op.info().operands;
                let mut args: Vec<Option<Value>> = vec![None; operation.args.len()];
                let mut t = None;
                // Operands that say what `T` is come first, literals last.
                let rank = |arg: &Term| match arg {
                    Term::Int(_) | Term::Float(_) => 2,
                    _ => u8::from(needs_place(arg)),
                };
                for turn in 0..3 {
                    if turn == 1 && operation.op.info().result == ir::ResultRule::T {
                        t = t.or(expected);
                    }
                    for (n, arg) in operation.args.iter().enumerate().filter(|(_, arg)| rank(arg) == turn) {
                        let place = match rules[n] {
                            ir::OperandRule::T => t,
                            ir::OperandRule::Bools => Some(Type::I1),
                            ir::OperandRule::Offset | ir::OperandRule::I64 => Some(Type::I64),
                            _ => Some(Type::I32),
                        };
                        let value = self.term(arg, place);
                        if rules[n] == ir::OperandRule::T {
                            t = t.or(Some(self.func().dfg.ty(value)));
                        }
                        args[n] = Some(value);
                    }
                }
                let args: Vec<Value> = args.into_iter().flatten().collect();
                let ty = self.instance.type_of(term).expect("an operation of the pattern");
                let value = self.make(operation, &args, ty);
                if let Some(n) = operation.bound {
                    self.values[usize::from(n)] = Some(value);
                }
                value
            }
        }
    }

    fn bind(&mut self, n: u8, kind: Option<Kind>, value: Value) -> Value {
        if let Some(Kind::Variable(kind)) = kind {
            self.kinds[usize::from(kind)] = Some(self.func().dfg.ty(value));
        }
        self.values[usize::from(n)] = Some(value);
        value
    }

    fn make(&mut self, operation: &warpsmith_lower::rules::Operation, args: &[Value], ty: Type) -> Value {
        let op = operation.op;
        let data = match (operation.condition, args) {
            (Condition::Int(cond), &[a, b]) => InstData::IntCompare { cond, args: [a, b] },
            (Condition::Float(cond), &[a, b]) => InstData::FloatCompare { cond, args: [a, b] },
            _ if operation.flags != FastMath::NONE => {
                let withheld = self.withheld.filter(|(number, _)| *number == self.flagged);
                let flags = FLAGS
                    .into_iter()
                    .filter(|flag| {
                        operation.flags.contains(*flag) && withheld.is_none_or(|(_, not)| not != *flag)
                    })
                    .fold(FastMath::NONE, FastMath::union);
                self.flagged += 1;
                let args = ValueList::from_slice(args, &mut self.func().dfg.pool);
                InstData::List { op, attr: Attr::Float(FloatMode::fast(flags)), args }
            }
            (_, &[arg]) => InstData::Unary { op, arg },
            (_, &[a, b]) => InstData::Binary { op, args: [a, b] },
            (_, &[a, b, c]) => InstData::Ternary { op, args: [a, b, c] },
            _ => panic!("{op} of {} operands", args.len()),
        };
        self.add(data, ty)
    }
}

/// What a value of a function without branches is, for arguments.
fn run(func: &Function, arguments: &[u128], wanted: Value) -> u128 {
    let mut found: SecondaryMap<Value, u128> = SecondaryMap::new();
    let entry = func.layout.entry().expect("a body");
    for (param, value) in func.dfg.block_params(entry).iter().zip(arguments) {
        found[*param] = *value;
    }
    for inst in func.layout.insts(entry) {
        let Some(result) = func.dfg.first_result(inst) else { continue };
        let ty = func.dfg.ty(result);
        let args: Vec<Value> = func.dfg.args(inst).iter().map(|arg| func.dfg.resolve(*arg)).collect();
        found[result] = match &func.dfg[inst] {
            InstData::IntConst { value } => *value as i128 as u128 & mask(ty),
            InstData::FloatConst { bits } => (*bits).into(),
            data => {
                let types = args.iter().map(|arg| func.dfg.ty(*arg));
                let types: Vec<Type> = match data {
                    InstData::IntCompare { .. } => {
                        types.map(|ty| if ty.is_ptr() { Type::I64 } else { ty }).collect()
                    }
                    _ => types.collect(),
                };
                let operands: Vec<u128> = args.iter().map(|arg| found[*arg]).collect();
                let plan =
                    meaning::plan(data, &types, ty).unwrap_or_else(|| panic!("{data:?} has a meaning"));
                let width = if ty == Type::I1 { Width::Pred } else { Width::for_bits(ty.bits()) };
                plan.evaluate_to(&operands, &[width]).expect("a value")[0] & mask(ty)
            }
        };
    }
    found[func.dfg.resolve(wanted)]
}

/// Why a rule was not applied, or gave something else.
fn check(rule: &'static Rule, instance: &Instance, point: &[u128]) -> Result<(), String> {
    let (mut module, root) = Built::pattern(rule, instance, point, None)?;
    let before_text = module.to_string();
    let func = module.functions.values_mut().next().expect("one function");
    let before = run(func, point, root);
    let inst: Inst = func.dfg.def_inst(root).expect("an operation");
    let (mut known, uses) = (KnownBits::default(), SecondaryMap::new());
    let order = [func.layout.entry().expect("a body")];
    let demanded = rule.is_of_demanded_bits().then(|| Demanded::compute(func, &order));
    let mut facts = Facts { known: &mut known, uses: &uses, demanded: demanded.as_ref() };
    let rewrite = apply(rule, &func.dfg, inst, &mut facts)
        .ok_or_else(|| format!("does not apply to\n{before_text}"))?;
    rewrite.commit(func, inst, |_| {});
    func.dfg.resolve_aliases();
    let after = run(func, point, root);
    ir::verify(&module).map_err(|errors| format!("the replacement is not valid: {errors}\n{module}"))?;
    // The point is one where the rule was proven, so that what is left to compare is whether it was built.
    let mut values = Vec::new();
    instance.evaluate(point, &mut values).ok_or("the point is refused")?;
    let (left, right) = instance.sides(&values);
    if demanded.is_some() || (before, after) == (left, right) {
        return Ok(());
    }
    Err(format!(
        "{left:#x} becomes {right:#x}; executed, {before:#x} becomes {after:#x}:\n{before_text}{module}"
    ))
}

#[test]
fn the_engine_makes_what_rules_say() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for rule in RULES {
        // What is known or promised of the results of operations is not for a test to choose.
        let of_operations = rule.pattern.any(&|term| {
            matches!(term, Term::Op(operation) if operation.bound.is_some_and(|bound| {
                rule.conditions.iter().any(|condition| condition.any(&|term| {
                    matches!(term, Term::Fact(Fact::Zeros | Fact::Ones | Fact::Divides, n) if *n == bound)
                }))
            }))
        });
        if of_operations {
            continue;
        }
        // The widest types are those of programs.
        for instance in instances(rule).0.iter().rev().take(6) {
            let mut points = Points::new(instance, EXHAUSTIVE);
            let mut values = Vec::new();
            let point = std::iter::from_fn(|| points.next().map(<[u128]>::to_vec)).take(4000).find(|point| {
                instance.evaluate(point, &mut values).is_some()
                    && agree(instance, point, &values, rule.flags())
            });
            let Some(point) = point else { continue };
            checked += 1;
            if let Err(error) = check(rule, instance, &point) {
                wrong.push(format!("{}:{}: {}: {error}", rule.file, rule.line, rule.name));
                break;
            }
        }
    }
    assert!(checked > RULES.len(), "{checked} applications of {} rules", RULES.len());
    assert!(wrong.is_empty(), "{} rules:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_rule_asks_for_each_of_its_flags() {
    let mut tried = 0;
    for rule in RULES.iter().filter(|rule| rule.flags() != FastMath::NONE) {
        let instances = instances(rule).0;
        let instance = instances.last().expect("a type that it applies to");
        let mut points = Points::new(instance, EXHAUSTIVE);
        let mut values = Vec::new();
        let point = std::iter::from_fn(|| points.next().map(<[u128]>::to_vec))
            .take(4000)
            .find(|point| instance.evaluate(point, &mut values).is_some());
        let point = point.unwrap_or_else(|| panic!("{} applies at a point", rule.name));
        let applies = |withheld| {
            let (module, root) = Built::pattern(rule, instance, &point, withheld).expect("a pattern");
            let func = module.functions.values().next().expect("one function");
            let inst = func.dfg.def_inst(root).expect("an operation");
            let (mut known, uses) = (KnownBits::default(), SecondaryMap::new());
            apply(rule, &func.dfg, inst, &mut Facts { known: &mut known, uses: &uses, demanded: None })
                .is_some()
        };
        assert!(applies(None), "{} does not apply with all of its flags", rule.name);
        let mut asked = Vec::new();
        rule.pattern.walk(&mut |term| match term {
            Term::Op(operation) if operation.flags != FastMath::NONE => asked.push(operation.flags),
            _ => {}
        });
        // The operations are built from the innermost, each of them is left without each of its flags.
        for number in 0..asked.len() {
            for flag in FLAGS.into_iter().filter(|flag| rule.flags().contains(*flag)) {
                let text = |withheld| {
                    Built::pattern(rule, instance, &point, withheld).expect("a pattern").0.to_string()
                };
                // Not every operation of a pattern has every flag of the rule.
                if text(Some((number, flag))) != text(None) {
                    tried += 1;
                    assert!(!applies(Some((number, flag))), "{} applies without a flag of its", rule.name);
                }
            }
        }
    }
    assert!(tried > 60, "{tried} flags withheld");
}
